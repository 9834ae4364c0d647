"""The learned default for an agent's steps: the rules of `default.py`, and where an activity ends.

**What is added.** The rules know places, events, errors and time. Of a *told* step (`reduce_step.py`) more
is known:
what was done, with what, in which words, after which wait. Between two such steps an activity may end, in one
room and without any event: the pan is washed, now the table is laid. Each gap is judged once, with two
steps of hindsight, by a small network over the cues of `cues.py`; what is asked for adapts to the thread
(`activity.py`).

**What stays.** Everything the rules guarantee: manual cuts, both caps, confirmed places, the armed score,
packing, restart. One rule is added: hours of silence always cut, told or sensed, whatever the place. Up to
there a longer pause only adds evidence. The learned cut comes first and leaves to the rules the frame that
begins there. It does not wait for `min_steps`: that length keeps frames of a camera from being shredded, and
sensed steps have no learned cuts at all. A drain judges the last gaps with what there is; a step that closes
its frame itself does not.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from episodic_agent.core.boundary.contract import KEEP_LAST, Arrival, Boundary, Check, ManualCut, Record
from episodic_agent.core.boundary.conversation.model import Network, decode, sigmoid
from episodic_agent.core.boundary.steps.activity import StepActivity, reopened, settled
from episodic_agent.core.boundary.steps.baseline import StepFrame
from episodic_agent.core.boundary.steps.cues import (
    DELAY,
    FORESEEN,
    NAMES,
    PACE,
    PLACE,
    as_if,
    gap_cues,
    most_up_to,
    wait_before,
)
from episodic_agent.core.boundary.steps.default import KEEP, StepsPolicy
from episodic_agent.core.boundary.steps.memory import StepsMemory
from episodic_agent.core.boundary.steps.parameters import refuse_negative
from episodic_agent.core.boundary.steps.reduced import ToldStep, reduce_step
from episodic_agent.data import arrays
from episodic_agent.errors import InvalidInput
from episodic_agent.schemas import Observation, Reason


class StepsModel(NamedTuple):
    """A network over `cues.NAMES`, and the share of the training's gaps at each probability."""

    network: Network
    prior: Sequence[float]


@cache
def shipped() -> StepsModel:
    """Return the model that comes with the package, decoded on first use."""
    packed = arrays("boundary/steps.npz")
    return StepsModel(decode(packed["network"]), tuple(packed["prior"].tolist()))


NAME: Final = "steps-2027-02"
ACTIVITY: Final = "activity"  # what the record of a learned cut says
PAUSED: Final = "pause"  # what that of a step after hours of silence says
_SHOWN: Final = tuple(
    (name.replace(" ", "_"), NAMES.index(name))
    for name in (
        "moved",
        "things in frame R0",
        "things across",
        "unseen R0",
        "known across",
        "R1 second again",
    )
)
_MOVED, _WAIT_Z = NAMES.index("moved"), NAMES.index("wait z")
_MOVES: Final = slice(0, PLACE.index("placed"))  # what tells that the next step is elsewhere
_FORESEEN: Final = slice(NAMES.index(FORESEEN[0]), NAMES.index(FORESEEN[-1]) + 1)
_UNUSUAL: Final = 2.0  # standard deviations over the thread's usual wait


class JudgedStepGap(NamedTuple):
    """The verdict on a gap: its probability and what the cues were."""

    probability: float
    cues: NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class LearnedStepsPolicy(StepsPolicy):
    """Cut an agent's steps by the rules of `StepsPolicy`, and told ones where an activity ends as well.

    More than `pause_minutes` of event time without a step always cut (0: never). `learned` 0 leaves the
    rules alone; `predict` 0 turns off what a step was expected to be as well, in the rules and in the
    network. `model` None is the one shipped.

    >>> LearnedStepsPolicy().hindsight, LearnedStepsPolicy(min_steps=1, confirm_steps=1).hindsight
    (9, 2)
    """

    name: str = NAME
    learned: int = 1
    pause_minutes: float = 120.0
    model: StepsModel | None = None
    rising: bool = True  # False, and `passing` too: as `steps-2027-01` judged a wait and a step on the way
    passing: bool = True

    def __post_init__(self) -> None:
        StepsPolicy.__post_init__(self)
        refuse_negative(pause_minutes=self.pause_minutes)
        if self.learned not in (0, 1):
            raise InvalidInput(f"learned must be 1, or 0 for the rules alone, not {self.learned}")

    @property
    def hindsight(self) -> int:
        """Return how far back a cut may lie: to where a place was entered, or to the gap that was judged."""
        return max(self.confirm_steps, self.min_steps, DELAY + 1) - 1

    def check(self, memory: StepsMemory, arrival: Arrival) -> Check[StepsMemory]:
        """Take in one step: first the gap that has its hindsight now, then the rules."""
        seen = arrival.observation
        if self._paused(memory, seen):
            return self._after_pause(memory, arrival)
        step = reduce_step(seen, confident=self.believes(seen)) if self.learned else None
        if step is None:
            return self._ruled(memory, arrival)
        activity = memory.activity or StepActivity()
        if len(activity.right) < DELAY:
            check = self._ruled(memory, arrival)
        else:
            before = self._advance(memory, activity, step)
            after = self._ruled(before.memory, arrival)
            check = Check(after.memory, before.cuts + after.cuts, before.records + after.records)
        return Check(self._waiting(check.memory, step, check.records[-1]), check.cuts, check.records)

    def drain(self, memory: StepsMemory, cut: ManualCut) -> Check[StepsMemory]:
        """Decide what is pending with what there is, then close everything, however short."""
        decided = self._decided(memory, None)
        check = StepsPolicy.drain(self, decided.memory, cut)
        memory, activity = check.memory, check.memory.activity
        if activity is not None:
            memory = memory._replace(activity=activity._replace(frame=StepFrame()))
        return Check(memory, decided.cuts + check.cuts, (*decided.records, *check.records))

    def judge(self, activity: StepActivity, step: ToldStep | None) -> JudgedStepGap:
        """Weigh the gap before the oldest waiting step; `step` is the newest, None where none will come."""
        cues, is_doubtful = self.cues(activity, step), self._doubtful(activity, step)
        wait = wait_before(activity.left[-1], activity.right[0]) if self.rising else None
        if wait is not None and wait >= PACE:
            return JudgedStepGap(self._after_wait(activity, cues, wait, is_doubtful=is_doubtful), cues)
        if is_doubtful:
            return JudgedStepGap(0.0, cues)
        probability = self._model.network.probability(cues, activity.baseline, activity.step_baseline.pos)
        return JudgedStepGap(round(probability, 4), cues)

    def cues(self, activity: StepActivity, step: ToldStep | None) -> NDArray[np.float64]:
        """Return the cues of that gap, rounded as they are judged."""
        right = activity.right if step is None else (*activity.right, step)
        values = gap_cues(activity.frame, activity.step_baseline, activity.left, right)
        cues = np.array(values, np.float64).round(3)
        if not self.predict:  # as if all had been as usual
            cues[_FORESEEN] = self._model.network.shift[_FORESEEN].round(3)
        return cues

    def _after_wait(
        self, activity: StepActivity, cues: NDArray[np.float64], wait: float, *, is_doubtful: bool
    ) -> float:
        """Return the probability of a gap after a wait in seconds: never less than after a shorter one.

        A place in doubt is no evidence: until there is a pause the gap is none, then all else counts.
        """
        rows = as_if(cues, activity.step_baseline, activity.left[-1], activity.right)
        if not self.predict:
            rows[:, _FORESEEN] = cues[_FORESEEN]
        if is_doubtful:
            rows[:, _MOVES] = 0.0
        network, position = self._model.network, activity.step_baseline.pos
        most = most_up_to(network.logits(rows, activity.baseline, position), wait, pauses=is_doubtful)
        return 0.0 if most is None else round(sigmoid(most), 4)

    def _doubtful(self, activity: StepActivity, step: ToldStep | None) -> bool:
        """Say whether the gap lies before a place that the next steps do not confirm: that is none yet.

        So does one behind a single step elsewhere: that was on the way, and belongs to what it led to.
        """
        here, place = activity.left[-1].place, activity.right[0].place
        if not here or not place or here == place:
            return False
        if self.passing and activity.frame.size == 1:
            return True
        right = activity.right if step is None else (*activity.right, step)
        limit = min(self.confirm_steps, DELAY + 1)
        return len(right) < limit or any(one.place not in (0, place) for one in right[:limit])

    @property
    def _model(self) -> StepsModel:
        return self.model or shipped()

    def _paused(self, memory: StepsMemory, seen: Observation) -> bool:
        """Say whether a step comes after hours of silence, as far as the times of both steps are known."""
        before = memory.tail[-1].at if memory.tail else None
        if not self.pause_minutes or before is None or not seen.at_source.has_clock:
            return False
        return seen.at.timestamp() - before > 60.0 * self.pause_minutes

    def _after_pause(self, memory: StepsMemory, arrival: Arrival) -> Check[StepsMemory]:
        """Close everything before a step after a long pause, wherever that is; the step begins anew.

        At once, so that no rule that cuts behind it can leave it in the episode before: gaps that wait are
        decided with what there is. The pause is judged as well when its time has come, for what is asked for
        adapts to what the thread has said.
        """
        seen, seq = arrival.observation, arrival.observation.seq
        step = reduce_step(seen, confident=self.believes(seen)) if self.learned else None
        decided = self._decided(memory, step)
        cut = Boundary(seq, seq, Reason.TIME_GAP, 1.0, 1.0, edge=KEEP_LAST, cues={PAUSED: 1.0})
        closed = self._close(decided.memory, cut, Record(seq, PAUSED, 1.0, 1.0))
        opened = self.check(closed.memory, arrival)
        *others, own = opened.records
        if own.action == KEEP:
            own = Record(seq, PAUSED, 1.0, 1.0, own.surprise, {**own.cues, PAUSED: 1.0})
            opened = replace(opened, memory=_with_record(opened.memory, own))
        return Check(
            opened.memory, decided.cuts + closed.cuts + opened.cuts, (*decided.records, *others, own)
        )

    def _decided(self, memory: StepsMemory, step: ToldStep | None) -> Check[StepsMemory]:
        """Decide all gaps that wait; `step` is the newest, None where none will come."""
        cuts, records = list[Boundary](), list[Record]()
        while memory.activity is not None and memory.activity.right and memory.steps:
            decided = self._advance(memory, memory.activity, step)
            memory = decided.memory
            cuts.extend(decided.cuts)
            records.extend(decided.records)
        return Check(memory, tuple(cuts), tuple(records))

    def _ruled(self, memory: StepsMemory, arrival: Arrival) -> Check[StepsMemory]:
        """Let the rules judge; where they cut, the frame of told steps begins there too."""
        check = StepsPolicy.check(self, memory, arrival)
        activity = check.memory.activity
        if not check.cuts or activity is None:
            return check
        activity = reopened(activity, check.cuts[-1].before_seq)
        return replace(check, memory=check.memory._replace(activity=activity))

    def _waiting(self, memory: StepsMemory, step: ToldStep, record: Record) -> StepsMemory:
        """Put a step among those that wait, unless the rules closed its frame with it."""
        activity = memory.activity or StepActivity()
        activity = activity._replace(right=(*activity.right, step), records=(*activity.records, record))
        if not memory.steps:
            activity = reopened(activity, step.seq + 1)
        return memory._replace(activity=activity)

    def _advance(
        self, memory: StepsMemory, activity: StepActivity, step: ToldStep | None
    ) -> Check[StepsMemory]:
        """Decide the gap before the oldest waiting step and settle that step."""
        if not activity.frame.size:
            return Check(memory._replace(activity=settled(activity)))
        judged, first = self.judge(activity, step), activity.right[0].seq
        newest = activity.right[-1] if step is None else step
        promise = activity.promise.asking(self._model.prior)
        threshold = promise.asked
        is_begun = first == memory.first_seq  # a pause has cut here
        cuts = judged.probability >= threshold and not is_begun
        record = _recorded(activity.records[0], judged, threshold, cuts=cuts)
        activity = activity._replace(
            baseline=activity.baseline.add(judged.cues, judged.cues.size),
            promise=promise.add(judged.probability),
            frame=StepFrame() if cuts or is_begun else activity.frame,
        )
        memory = memory._replace(activity=settled(activity))
        if not cuts:
            return Check(memory, records=(record,))
        reason = _reason(judged)
        cut = Boundary(
            first, newest.seq, reason, judged.probability, threshold, edge=KEEP_LAST, cues=record.cues
        )
        closed = self._close(memory, cut, replace(record, action=ACTIVITY))
        return replace(closed, records=(record,))


@dataclass(frozen=True, slots=True)
class LearnedStepsPolicy202701(LearnedStepsPolicy):
    """`steps-2027-01` as it was, for frames and decisions made under it.

    A longer wait could make a cut less likely, hours of silence did not cut where the place was in doubt, and
    a single step on the way could be an episode of its own.
    """

    name: str = "steps-2027-01"
    pause_minutes: float = 0.0
    rising: bool = False
    passing: bool = False


def _with_record(memory: StepsMemory, record: Record) -> StepsMemory:
    """Return the memory with the record of the newest step, where that waits."""
    activity = memory.activity
    if activity is None or not activity.records or activity.records[-1].seq != record.seq:
        return memory
    return memory._replace(activity=activity._replace(records=(*activity.records[:-1], record)))


def _recorded(record: Record, judged: JudgedStepGap, threshold: float, *, cuts: bool) -> Record:
    """Return a step's record with the verdict on the gap before it; a cut of the rules keeps its own."""
    if record.action != KEEP:
        return record
    shown = {name: float(judged.cues[at]) for name, at in _SHOWN}
    action = ACTIVITY if cuts else KEEP
    cues = {**record.cues, ACTIVITY: judged.probability, **shown}
    return Record(record.seq, action, judged.probability, threshold, record.surprise, cues)


def _reason(judged: JudgedStepGap) -> Reason:
    """Name the plainest ground of a cut: another place, a long wait, else that something else is done."""
    if judged.cues[_MOVED]:
        return Reason.LOCATION_CHANGE
    return Reason.TIME_GAP if judged.cues[_WAIT_Z] >= _UNUSUAL else Reason.TOPIC_SHIFT

"""The default for steps: seed 000's score, made sound (docs/internals/agents.md#policies-for-steps).

What the letter lacks: a place counts once it was seen twice (`confirm_steps`), and the steps that confirm it
open the next episode; no frame is shorter than `min_steps` by a soft cut or longer than `max_steps`; an event
told twice counts once; prediction errors come from a predictor of its own where the step brings none; and
after a cut the detector arms again as soon as what happens, time aside, is calm.

Causes, first match wins: asked for (`manual`) | cap of steps | cap of duration | a confirmed place | the
score. Only the score needs the detector armed. Manual cuts and the step cap close with the step that brought
them, everything else leaves it to the next episode.
"""

from dataclasses import dataclass, field, replace
from typing import Final

from episodic_agent.core.boundary.contract import (
    DRAIN_ALL,
    KEEP_LAST,
    Arrival,
    Boundary,
    Check,
    JudgesSteps,
    ManualCut,
    Record,
)
from episodic_agent.core.boundary.steps.events import count_new, is_manual
from episodic_agent.core.boundary.steps.memory import StepsMemory, pack_memory, split, take, unpack_memory
from episodic_agent.core.boundary.steps.parameters import refuse_less_than, refuse_negative, refuse_thresholds
from episodic_agent.core.boundary.steps.predictor import learn, look, predict
from episodic_agent.core.boundary.steps.scoring import ScoringWeights, clamped, over, parts
from episodic_agent.core.boundary.steps.trail import StepNote, error_of, note_of
from episodic_agent.errors import InvalidInput
from episodic_agent.schemas import Json, Observation, Reason

NAME: Final = "steps-2026-12"
KEEP, SCORE, CAP, DURATION, PLACE, ASKED = "keep", "score", "cap", "duration", "place", "manual"
_HARD: Final = {
    ASKED: Reason.MANUAL,
    CAP: Reason.TIME_INTERVAL,
    DURATION: Reason.TIME_INTERVAL,
    PLACE: Reason.LOCATION_CHANGE,
}


@dataclass(frozen=True, slots=True)
class StepsPolicy(JudgesSteps):
    """Cut an agent's steps by place, events, prediction error and time.

    `time_interval`, `min_steps`, `max_steps` and `confirm_steps` are in steps, `max_minutes` is event time
    (0: no limit); `max_steps` 0 means twice `time_interval`; `predict` 0 turns the predictor off.

    >>> StepsPolicy().hindsight, StepsPolicy(time_interval=50).cap
    (9, 100)
    """

    high_threshold: float = 0.8
    low_threshold: float = 0.3
    time_interval: int = 100
    location_weight: float = 1.0
    event_weight: float = 0.5
    prediction_weight: float = 0.3
    time_weight: float = 0.2
    event_unit: float = 0.2
    min_steps: int = 10
    max_steps: int = 0
    max_minutes: float = 0.0
    confirm_steps: int = 2
    min_location_confidence: float = 0.5
    predict: int = 1
    name: str = NAME
    weights: ScoringWeights = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        refuse_thresholds(self.low_threshold, self.high_threshold)
        refuse_less_than(
            1, time_interval=self.time_interval, min_steps=self.min_steps, confirm_steps=self.confirm_steps
        )
        refuse_negative(
            location_weight=self.location_weight,
            event_weight=self.event_weight,
            prediction_weight=self.prediction_weight,
            time_weight=self.time_weight,
            event_unit=self.event_unit,
            max_minutes=self.max_minutes,
        )
        if not 0.0 <= self.min_location_confidence <= 1.0:
            raise InvalidInput(
                f"min_location_confidence must lie in [0, 1], not {self.min_location_confidence}"
            )
        if self.max_steps and self.max_steps < max(self.min_steps, self.confirm_steps):
            raise InvalidInput(
                f"max_steps must be 0 or at least min_steps and confirm_steps, not {self.max_steps}"
            )
        weights = ScoringWeights(
            self.location_weight,
            self.event_weight,
            self.prediction_weight,
            self.time_interval,
            time=self.time_weight,
            event_unit=self.event_unit,
        )
        object.__setattr__(self, "weights", weights)

    @property
    def cap(self) -> int:
        """Return the most steps of a frame."""
        return self.max_steps or 2 * self.time_interval

    @property
    def hindsight(self) -> int:
        """Return how far back a confirmed place may cut: to where its first step was seen."""
        return max(self.confirm_steps, self.min_steps) - 1

    def begin(self) -> StepsMemory:
        """Return the memory of an agent that has not moved yet."""
        return StepsMemory()

    def check(self, memory: StepsMemory, arrival: Arrival) -> Check[StepsMemory]:
        """Take in one step; cut before it, with it, before the place was entered, or not."""
        seen = arrival.observation
        memory, note = self._take(memory, seen)
        confirmed = memory.place.confirmed(self.confirm_steps)
        if confirmed and memory.place.since_seq <= memory.first_seq:
            # the whole frame lies in the new place (a cap came between): there is nothing to cut off
            memory, confirmed = memory._replace(place=memory.place.moved()), False
        contributions = parts(self.weights, confirmed, memory.salient, note.error, memory.steps)
        action = self._cause(memory, note, confirmed, contributions.score, asked=is_manual(seen.events))
        cues = contributions.cues() | {"prediction_error": note.error, "armed": float(memory.armed)}
        record = Record(note.seq, action, contributions.score, self.high_threshold, note.error, cues)
        if action == KEEP:
            calm = not over(contributions.content, self.low_threshold)
            return Check(memory._replace(armed=memory.armed or calm), records=(record,))
        return self._cut(memory, record, _HARD.get(action, contributions.reason))

    def drain(self, memory: StepsMemory, cut: ManualCut) -> Check[StepsMemory]:
        """Close everything, however short."""
        if not memory.steps:
            return Check(memory)
        last = memory.tail[-1].seq
        return self._close(memory, Boundary(last + 1, last, cut.reason, 1.0, 1.0, edge=DRAIN_ALL))

    def pack(self, memory: StepsMemory) -> Json:
        """Return the memory as plain JSON, usually 1 to 4 kB."""
        return pack_memory(memory)

    def unpack(self, packed: Json) -> StepsMemory:
        """Rebuild the memory; raises InvalidInput when the value was not made by `pack`."""
        try:
            return unpack_memory(packed)
        except (KeyError, TypeError, ValueError) as error:
            raise InvalidInput(f"{NAME} cannot read its packed memory: {error!r}; resegment") from error

    def believes(self, observation: Observation) -> bool:
        """Say whether the place of a step is sure enough to be counted."""
        confidence = observation.location_confidence
        return confidence is None or clamped(confidence) >= self.min_location_confidence

    def _take(self, memory: StepsMemory, observation: Observation) -> tuple[StepsMemory, StepNote]:
        """Put a step into the frame: its error, its new events and where it is."""
        salient, seen = count_new(observation.events, memory.seen)
        error, expected = error_of(observation), memory.expected
        if self.predict:
            things, where = look(observation.extras), observation.location
            error = predict(expected, where, things) if error is None else error
            expected = learn(expected, where, things)
        note = note_of(observation, error=error or 0.0, salient=salient)
        if not self.believes(observation):
            note = note._replace(label=None)
        memory = take(memory, note, self.hindsight + 1)
        place = memory.place.see(note.label, note.seq)
        return memory._replace(seen=seen, expected=expected, place=place), note

    def _cause(
        self, memory: StepsMemory, note: StepNote, confirmed: bool, score: float, *, asked: bool
    ) -> str:
        """Return why to cut, or `keep`; what keeps its last step needs two."""
        if asked:
            return ASKED
        if memory.steps >= self.cap:
            return CAP
        if memory.steps >= 2 and self._too_long(memory, note):
            return DURATION
        if memory.steps < max(self.min_steps, 2):
            return KEEP
        if confirmed:
            return PLACE
        return SCORE if memory.armed and over(score, self.high_threshold) else KEEP

    def _too_long(self, memory: StepsMemory, note: StepNote) -> bool:
        first = memory.first_at
        if not self.max_minutes or first is None or note.at is None:
            return False
        return note.at - first > 60.0 * self.max_minutes

    def _cut(self, memory: StepsMemory, record: Record, reason: Reason) -> Check[StepsMemory]:
        """Close the frame where the cause has it; hard causes are certain."""
        before, edge = record.seq, KEEP_LAST
        if record.action in (ASKED, CAP):
            before, edge = record.seq + 1, DRAIN_ALL
        elif record.action == PLACE:
            # steps without a place may lie between: no further back than the hindsight promises
            before = max(memory.place.since_seq, record.seq - self.hindsight)
            memory = memory._replace(place=memory.place.moved())
        probability = 1.0 if record.action in _HARD else record.probability
        cut = Boundary(before, record.seq, reason, probability, record.threshold, edge=edge, cues=record.cues)
        return self._close(memory, cut, record)

    def _close(self, memory: StepsMemory, cut: Boundary, *records: Record) -> Check[StepsMemory]:
        trail, rest = split(memory, cut.before_seq)
        action = records[0].action if records else str(cut.reason)
        cut = replace(cut, surprise=trail.peak, detail=trail.detail() | {"action": action})
        return Check(rest._replace(armed=False), (cut,), records)

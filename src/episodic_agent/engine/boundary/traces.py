"""What the boundary detector saw along a thread, as one value that a plot or a person can read."""

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from math import nan
from typing import Any
from uuid import UUID

from episodic_agent.core.boundary.contract import Policy, TwoThresholds
from episodic_agent.core.boundary.policies import STEP
from episodic_agent.core.boundary.steps.trail import label_of
from episodic_agent.core.language import plural
from episodic_agent.engine.boundary.explain import read_records
from episodic_agent.errors import InvalidInput, NotFound
from episodic_agent.protocols import Transaction, stored_decision
from episodic_agent.schemas import Decision, Episode, TimeSource
from episodic_agent.showing import described


@dataclass(frozen=True, slots=True)
class BoundaryTrace:
    """A thread's checks in order, one entry per observation in every sequence.

    `probability`, `threshold`, `surprise` and every cue lie in [0, 1]; NaN where nothing was checked.
    `times` holds None where the time was only assumed. `cuts` are (first seq of the new episode, reason),
    rising; `titles` names the episodes in order: the first one's, then one for each cut ("" while unknown).
    `freezes` are (seq of the check that closed an episode, reason), one for each closed episode, so the first
    of them belong to the cuts. `unit` says what an observation is, `message` or `step`; of steps `places`
    holds where each was (None: unknown). `low` is the score under which the detector arms again, NaN where
    its policy has no such threshold; `places` and `low` may be left empty. Raises
    InvalidInput when the sequences do not fit together.
    """

    seqs: Sequence[int]
    times: Sequence[datetime | None]
    actors: Sequence[str]
    texts: Sequence[str]
    probability: Sequence[float]
    threshold: Sequence[float]
    surprise: Sequence[float]
    cues: Mapping[str, Sequence[float]] = field(default_factory=dict)
    cuts: Sequence[tuple[int, str]] = ()
    titles: Sequence[str] = ()
    title: str = ""
    freezes: Sequence[tuple[int, str]] = ()
    unit: str = "message"
    places: Sequence[str | None] = ()
    low: Sequence[float] = ()

    def __repr__(self) -> str:
        return described(self, self.title, plural(len(self.seqs), self.unit), plural(len(self.cuts), "cut"))

    def __post_init__(self) -> None:
        lengths = {
            name: len(getattr(self, name))
            for name in ("times", "actors", "texts", "probability", "threshold", "surprise")
        }
        lengths |= {name: len(getattr(self, name)) for name in ("places", "low") if getattr(self, name)}
        lengths |= {f"cue {name}": len(values) for name, values in self.cues.items()}
        wrong = [name for name, length in lengths.items() if length != len(self.seqs)]
        if wrong:
            raise InvalidInput(
                f"a trace of {plural(len(self.seqs), 'observation')} has other lengths: {', '.join(wrong)}"
            )
        if any(earlier >= later for earlier, later in zip(self.seqs, self.seqs[1:], strict=False)):
            raise InvalidInput("the observations of a trace must be in rising order of seq")

    def episodes(self) -> list[tuple[int, int, str, str]]:
        """Return each episode as (index of its first observation, index past its last, title, why it began).

        Cuts outside the trace, or before its first observation, begin nothing.

        >>> flat = [0.0, 0.0, 0.0]
        >>> trace = BoundaryTrace([4, 5, 6], [None] * 3, ["a"] * 3, ["x"] * 3, flat, flat, flat,
        ...     cuts=[(6, "topic_shift")], titles=["One", "Two"])
        >>> trace.episodes()
        [(0, 2, 'One', ''), (2, 3, 'Two', 'topic_shift')]
        """
        place = {seq: index for index, seq in enumerate(self.seqs)}
        starts = [(0, self._title(0), "")] if self.seqs else []
        for number, (seq, reason) in enumerate(self.cuts, 1):
            if place.get(seq, 0) > 0:
                starts.append((place[seq], self._title(number), reason))
        ends = [start for start, _, _ in starts[1:]] + [len(self.seqs)]
        return [(start, end, title, why) for (start, title, why), end in zip(starts, ends, strict=False)]

    def between(self, first: int, last: int) -> "BoundaryTrace":
        """Return the part of a trace from one seq up to another, both included.

        >>> flat = [0.0, 0.0, 0.0]
        >>> trace = BoundaryTrace([4, 5, 6], [None] * 3, ["a"] * 3, ["x"] * 3, flat, flat, flat,
        ...     cuts=[(6, "topic_shift")], titles=["One", "Two"])
        >>> trace.between(6, 99).episodes()
        [(0, 1, 'Two', '')]
        """
        start, end = bisect_left(self.seqs, first), bisect_right(self.seqs, last)
        begun = sum(seq <= first for seq, _ in self.cuts)  # their episodes begin before the part does
        names = ("seqs", "times", "actors", "texts", "probability", "threshold", "surprise", "places", "low")
        return replace(
            self,
            **{name: getattr(self, name)[start:end] for name in names},
            cues={name: values[start:end] for name, values in self.cues.items()},
            cuts=[cut for cut in self.cuts[begun:] if cut[0] <= last],
            titles=self.titles[begun:],
            freezes=[freeze for freeze in self.freezes[begun:] if freeze[0] <= last],
        )

    def frozen_at(self, number: int) -> int | None:
        """Return the index of the check that closed an episode (0 is the first); None where none is known."""
        if number >= len(self.freezes) or not self.seqs:
            return None
        index = bisect_left(self.seqs, self.freezes[number][0])
        return index if index < len(self.seqs) and self.seqs[index] == self.freezes[number][0] else None

    def _title(self, number: int) -> str:
        return self.titles[number] if number < len(self.titles) else ""


Resolve = Callable[[str], Policy[Any]]


def trace(tx: Transaction, thread_id: UUID, resolve: Resolve) -> BoundaryTrace:
    """Return the trace of a thread; what was not decided yet is NaN.

    `resolve` finds a policy by the name that is kept with a decision; one that is not there any more (a
    detector that cannot be imported) costs only its low threshold.
    """
    thread = tx.threads.get(thread_id)
    if thread is None:
        raise NotFound(f"no thread {thread_id} in this memory")
    frame = tx.threads.frame(thread_id)
    last = frame.next_seq - 1
    observations = tx.observations.read(thread_id, 0, last)
    records = read_records(tx, thread_id, 0, last)
    checks = [records.get(o.seq) for o in observations]
    names = sorted({name for r in records.values() for name in r.cues})
    episodes = tx.episodes.list(threads=[thread_id])
    starts = [e.last_seq + 1 for e in episodes if e.last_seq < last]
    steps = thread.modality == STEP
    decisions = [stored_decision(tx, e.decision_id) for e in episodes]
    spans = [
        (e.last_seq, d.policy_version) for e, d in zip(episodes, decisions, strict=True) if d is not None
    ]
    return BoundaryTrace(
        seqs=[o.seq for o in observations],
        times=[None if o.at_source == TimeSource.ASSUMED else o.at for o in observations],
        actors=[o.actor for o in observations],
        texts=[o.text for o in observations],
        probability=[nan if r is None else r.probability for r in checks],
        threshold=[nan if r is None else r.threshold for r in checks],
        surprise=[nan if r is None else r.surprise for r in checks],
        cues={name: [nan if r is None else r.cues.get(name, nan) for r in checks] for name in names},
        cuts=[(start, episode.reason) for start, episode in zip(starts, episodes, strict=False)],
        titles=[*(e.title for e in episodes), *(["(open)"] if frame.first_seq <= last else [])],
        title=thread.origin,
        freezes=[_freeze(e, d) for e, d in zip(episodes, decisions, strict=True)],
        unit="step" if steps else "message",
        places=[label_of(o) for o in observations] if steps else (),
        low=_low([o.seq for o in observations], [*spans, (last, frame.policy)], resolve) if steps else (),
    )


def _freeze(episode: Episode, decision: Decision | None) -> tuple[int, str]:
    """Return at which observation it was decided that an episode ends, and why."""
    at = None if decision is None else decision.detail.get("decided_at_seq")
    return (at if isinstance(at, int) else episode.last_seq), episode.reason


def _low(seqs: Sequence[int], spans: Sequence[tuple[int, str]], resolve: Resolve) -> list[float]:
    """Return the low threshold at each observation; `spans` are (last seq, policy's name), rising."""
    known: dict[str, float] = {}
    for name in {name for _, name in spans}:
        try:
            policy = resolve(name)
            known[name] = float(policy.low_threshold) if isinstance(policy, TwoThresholds) else nan
        except InvalidInput:
            known[name] = nan
    result, place = [], 0
    for seq in seqs:
        while place < len(spans) - 1 and seq > spans[place][0]:
            place += 1
        result.append(known[spans[place][1]])
    return result

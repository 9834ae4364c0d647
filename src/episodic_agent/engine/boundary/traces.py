"""What the boundary detector saw along a thread, as one value that a plot or a person can read."""

from bisect import bisect_left, bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from episodic_agent.core.language import plural
from episodic_agent.errors import InvalidInput
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

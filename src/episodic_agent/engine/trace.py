"""What the boundary detector saw along a thread, as one value that a plot or a person can read."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from episodic_agent.errors import InvalidInput


@dataclass(frozen=True, slots=True)
class BoundaryTrace:
    """A thread's checks in order, one entry per observation in every sequence.

    `probability`, `threshold`, `surprise` and every cue lie in [0, 1]; NaN where nothing was checked.
    `times` holds None where the time was only assumed. `cuts` are (first seq of the new episode, reason),
    rising; `titles` names the episodes in order: the first one's, then one for each cut ("" while unknown).
    Raises InvalidInput when the sequences do not fit together.
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

    def __post_init__(self) -> None:
        lengths = {
            name: len(getattr(self, name))
            for name in ("times", "actors", "texts", "probability", "threshold", "surprise")
        }
        lengths |= {f"cue {name}": len(values) for name, values in self.cues.items()}
        wrong = [name for name, length in lengths.items() if length != len(self.seqs)]
        if wrong:
            raise InvalidInput(
                f"a trace of {len(self.seqs)} observations has other lengths: {', '.join(wrong)}"
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

    def _title(self, number: int) -> str:
        return self.titles[number] if number < len(self.titles) else ""

"""Where the agent is, believed only after a second look: a small machine over the labels of steps.

UNKNOWN -> ESTABLISHED(L) -> CANDIDATE(L', n) -> confirmed at n = `confirm_steps`. A step that does not know
its place says nothing; a step back at L takes the doubt away.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import cast

from episodic_agent.schemas import Json


@dataclass(frozen=True, slots=True)
class Place:
    """The established place and the candidate that may follow it, seen `count` times since `since_seq`."""

    established: str | None = None
    candidate: str | None = None
    count: int = 0
    since_seq: int = 0

    def see(self, label: str | None, seq: int) -> "Place":
        """Return the machine after one step; labels are compared case-folded.

        >>> place = Place().see("hall", 0).see("Kitchen", 1).see(None, 2).see("kitchen ", 3)
        >>> place.established, place.candidate, place.count, place.since_seq
        ('hall', 'kitchen', 2, 1)
        >>> place.see("Hall", 4).candidate is None
        True
        """
        folded = (label or "").strip().casefold()
        if not folded:
            return self
        if self.established is None or folded == self.established:
            return Place(folded)
        if folded == self.candidate:
            return replace(self, count=self.count + 1)
        return replace(self, candidate=folded, count=1, since_seq=seq)

    def confirmed(self, confirm_steps: int) -> bool:
        """Say whether the candidate has been seen often enough."""
        return self.candidate is not None and self.count >= confirm_steps

    def moved(self) -> "Place":
        """Return the machine with the candidate established."""
        return Place(self.candidate)


def pack_place(place: Place) -> Json:
    """Return the machine as plain JSON."""
    return [place.established, place.candidate, place.count, place.since_seq]


def unpack_place(packed: Json) -> Place:
    """Undo `pack_place`."""
    established, candidate, count, since = cast(Sequence[Json], packed)
    return Place(
        cast("str | None", established), cast("str | None", candidate), cast(int, count), cast(int, since)
    )

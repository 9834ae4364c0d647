"""What the default for steps remembers between two steps, and how it is packed without loss.

The newest steps stand apart in `tail`: a place is confirmed late, and what was seen of it by then belongs to
the next episode.
"""

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from episodic_agent.core.boundary.steps.activity import StepActivity, pack_activity, unpack_activity
from episodic_agent.core.boundary.steps.predictor import Expectations, pack_expectations, unpack_expectations
from episodic_agent.core.boundary.steps.trail import (
    StepNote,
    Trail,
    pack_trail,
    unpack_note,
    unpack_trail,
    walk,
)
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


def unpack_place(packed: Any) -> Place:
    """Undo `pack_place`."""
    return Place(*packed)


class StepsMemory(NamedTuple):
    """The open frame (its settled steps, its newest steps), the place, the arming and what to expect."""

    trail: Trail = Trail()
    tail: tuple[StepNote, ...] = ()
    place: Place = Place()
    armed: bool = True
    seen: tuple[int, ...] = ()
    expected: Expectations = Expectations()
    activity: StepActivity | None = None  # of told steps, where the policy reads them

    @property
    def steps(self) -> int:
        """Count the steps of the open frame."""
        return self.trail.steps + len(self.tail)

    @property
    def first_seq(self) -> int:
        """Return where the open frame begins; meaningless while it is empty."""
        return self.trail.first_seq if self.trail.steps else self.tail[0].seq if self.tail else 0

    @property
    def salient(self) -> int:
        """Count the salient events of the open frame."""
        return self.trail.salient + sum(note.salient for note in self.tail)

    @property
    def first_at(self) -> float | None:
        """Return the first time given in the open frame."""
        times = (self.trail.first_at, *(note.at for note in self.tail))
        return next((at for at in times if at is not None), None)


def take(memory: StepsMemory, note: StepNote, longest_tail: int) -> StepsMemory:
    """Return the memory with one more step in its frame."""
    tail = (*memory.tail, note)
    over = max(0, len(tail) - longest_tail)
    return memory._replace(trail=walk(tail[:over], memory.trail), tail=tail[over:])


def split(memory: StepsMemory, before_seq: int) -> tuple[Trail, StepsMemory]:
    """Return the trail of the steps before `before_seq` and the memory of a frame with the others."""
    closed = walk((note for note in memory.tail if note.seq < before_seq), memory.trail)
    notes = tuple(note for note in memory.tail if note.seq >= before_seq)
    return closed, memory._replace(trail=Trail(), tail=notes)


def pack_memory(memory: StepsMemory) -> Json:
    """Return the memory as plain JSON; `unpack_memory` undoes it exactly."""
    packed: dict[str, Json] = {
        "trail": pack_trail(memory.trail),
        "tail": [[*note[:-1], list(note.entities)] for note in memory.tail],
        "place": pack_place(memory.place),
        "armed": memory.armed,
        "seen": list(memory.seen),
        "expected": pack_expectations(memory.expected),
    }
    return packed if memory.activity is None else packed | {"activity": pack_activity(memory.activity)}


def unpack_memory(packed: Any) -> StepsMemory:
    """Rebuild the memory; raises KeyError, TypeError or ValueError for what `pack_memory` did not make."""
    return StepsMemory(
        unpack_trail(packed["trail"]),
        tuple(map(unpack_note, packed["tail"])),
        unpack_place(packed["place"]),
        bool(packed["armed"]),
        tuple(packed["seen"]),
        unpack_expectations(packed["expected"]),
        unpack_activity(packed["activity"]) if "activity" in packed else None,
    )

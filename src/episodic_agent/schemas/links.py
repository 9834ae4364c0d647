"""What binds episodes: a link between threads, and a recall that waits to be judged by what follows."""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from episodic_agent.showing import described


@dataclass(frozen=True, slots=True)
class Link:
    """Two threads that belong together: `later` goes on with `earlier` (seed 002, section 2).

    `basis` tells how it came about: "continuity", "matter" (the later one, over, goes on with all that the
    earlier one is an episode with), "recall" (the user asked for it) or "hand"; `label` is HIGH or UNCERTAIN.
    `at` is record time; `unlinked_at` says when it was taken back: it stays as a tombstone.
    """

    earlier: UUID
    later: UUID
    at: datetime
    basis: str = "continuity"
    label: str = "HIGH"
    decision_id: UUID | None = None
    unlinked_at: datetime | None = None

    def __repr__(self) -> str:
        return described(self, f"{self.later} goes on with {self.earlier}", self.basis, self.label)


@dataclass(frozen=True, slots=True)
class Joined:
    """The threads of a cross-thread episode, in order of creation."""

    episode_id: UUID
    threads: tuple[UUID, ...]


@dataclass(frozen=True, slots=True)
class PendingReview:
    """A recall that waits to be judged by what its thread says from `after_seq` on.

    `shown` are the ids of the episodes in the order they were shown, `policy` is that of the recall; `at` is
    record time.
    """

    id: UUID
    thread_id: UUID
    after_seq: int
    at: datetime
    query: str
    shown: tuple[UUID, ...]
    policy: str = "default"

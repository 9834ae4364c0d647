"""Threads as a store keeps them: with their open frames, their sections, and the user's timeouts."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Literal, Protocol, overload
from uuid import UUID

from episodic_agent.schemas import Frame, Section, Thread

WhichThreads = Literal["all", "current", "unfinished", "growing", "oldest"]


class Threads(Protocol):
    """Threads, their open frames and their sections (`core/compaction`)."""

    def get(self, key: UUID | str) -> Thread | None:
        """Read one, by id or by the caller's own name of it (unique in a scope)."""
        ...

    def list(
        self,
        which: WhichThreads = "all",
        *,
        ids: Sequence[UUID] | None = None,
        begun: datetime | None = None,
        limit: int | None = None,
    ) -> Sequence[Thread]:
        """Return threads by last activity, newest first, ties by id, up to a limit.

        "current" are those that a message without one may go on with: threads of messages that are open, or
        closed by silence alone; not those that the caller named and no channel ever reached, unless they
        were selected. Being selected counts as activity, and the one selected last comes beside the limit.
        "unfinished" is what time may end, longest silent first: open threads nobody chose, and threads whose
        frame holds something. "growing" are all whose frame holds something; "oldest" is every thread by when
        it began, the first one first. `begun` narrows to threads of messages that began by an event time;
        `ids` to these, in any order.
        """
        ...

    def number(self, thread_id: UUID) -> int:
        """Return the thread's small number in its scope (for `ref_of`); raises NotFound."""
        ...

    def by_numbers(self, numbers: Sequence[int]) -> Mapping[int, UUID]:
        """Return the ids of those numbers that are threads of this scope."""
        ...

    def create(self, thread: Thread, frame: Frame) -> None:
        """Write a new thread with its empty frame; raises Conflict when the origin or id is taken."""
        ...

    def save(self, changed: Thread | Frame | Section) -> None:
        """Write a thread's changed fields, a frame or a section; NotFound. A thread's origin never changes.

        A frame is written as version + 1 where the stored version is its own; Conflict otherwise. A section
        takes the place of the one that begins at the same observation.
        """
        ...

    def drop(self, thread_id: UUID, section: int | None = None) -> None:
        """Delete every row of a thread; NotFound. Drop it from the index before, and its jobs.

        With the seq that a section begins at only that row: an unknown one is gone already, and its episode
        is left alone.
        """
        ...

    def timeouts(self) -> Mapping[str, timedelta]:
        """Return the user's own timeouts by channel ("" for all channels)."""
        ...

    def set_timeout(self, channel: str, timeout: timedelta | None) -> None:
        """Keep the user's own timeout of a channel ("" for all); None takes it away."""
        ...

    @overload
    def frame(self, key: UUID) -> Frame:
        """Read the frame (in a write transaction nobody else can change it before the end); NotFound."""
        ...

    @overload
    def frame(self, key: Sequence[UUID]) -> Mapping[UUID, Frame]:
        """Read several frames at once, to look at only: others may change them; unknown ones are left out."""
        ...

    # --- sections ---------------------------------------------------------------------------------------

    def section(self, thread_id: UUID, seq: int | None = None) -> Section | None:
        """Return the section that an observation is in (or would be, behind the thread's last).

        Without one the last, which a thread's next observation joins or follows.
        """
        ...

    def sections(
        self,
        thread_id: UUID | None = None,
        *,
        grown: datetime | None = None,
        compacted: bool = False,
        limit: int | None = None,
    ) -> Sequence[Section]:
        """Return a thread's sections in order.

        `grown` asks for those of all threads nobody asked to be compacted since they grew, whose first turn
        was by an event time: oldest first, ties by thread. `compacted` asks for those (of a thread) that
        have words: newest first turn first, ties as stored last.
        """
        ...

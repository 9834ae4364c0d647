"""Threads as a store keeps them: with their frames, their sections, their links, and where they were."""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Literal, Protocol, overload
from uuid import UUID

from episodic_agent.schemas import Frame, Joined, Link, Section, Thread
from episodic_agent.schemas.places import Visit

WhichThreads = Literal["all", "current", "unfinished", "growing", "oldest"]


class Threads(Protocol):
    """Threads, their open frames, their sections, their links, and the stays that `append` writes."""

    def get(self, key: UUID | str) -> Thread | None:
        """Read one, by id or by the caller's own name of it (unique in a scope)."""
        ...

    def list(
        self,
        which: WhichThreads = "all",
        *,
        ids: Sequence[UUID] | None = None,
        begun: datetime | None = None,
        picked: Sequence[str] = (),
        limit: int | None = None,
    ) -> Sequence[Thread]:
        """Return threads by last activity, newest first, ties by id, up to a limit.

        "current" are those that a message without one may go on with: threads of messages that are open, or
        closed by silence alone; not those that a caller named, unless they were selected or something came
        to them by a channel of `picked`, on which users pick threads. (A name ends with a time where the
        message that began the thread gave it.) Being selected counts as activity, and the one selected last
        comes beside the limit.
        "unfinished" is what time may end, longest silent first: open threads nobody chose, and threads whose
        frame holds something. "growing" are all whose frame holds something; "oldest" is every thread by when
        it began, the first one first. `begun` narrows to threads of messages that began by an event time;
        `ids` to these, in any order.
        """
        ...

    def number(self, thread_id: UUID) -> int:
        """Return the thread's small number in its scope (for `ref_of`); raises NotFound."""
        ...

    def by_numbers(
        self,
        numbers: Sequence[int] | None = None,
        *,
        came_by: Callable[[tuple[str, ...]], bool] | None = None,
    ) -> Mapping[int, UUID]:
        """Return the ids of those numbers that are threads of this scope, None: of all.

        `came_by` leaves those whose channels it says pass, asked once for channels that are the same: to read
        a hundred thousand threads for theirs would take longer than to search them.
        """
        ...

    def create(self, thread: Thread, frame: Frame) -> None:
        """Write a new thread with its empty frame; raises Conflict when the origin or id is taken."""
        ...

    def save(self, changed: Thread | Frame | Section | Link | Joined) -> None:
        """Write a thread's changed fields, a frame, a section, a link, or which threads form an episode.

        NotFound for an unknown thread. A thread's origin never changes. A frame is written as version + 1
        where the stored version is its own; Conflict otherwise. A section takes the place of the one that
        begins at the same observation, a link that of what stood of the two threads. Just the threads joined
        form the cross-thread episode then (none: there is no such episode), and leave those they were in.
        """
        ...

    def drop(self, thread_id: UUID, section: int | None = None) -> None:
        """Delete every row of a thread; NotFound. Drop it from the index before, and its jobs.

        With the seq that a section begins at only that row: an unknown one is gone already, and its episode
        is left alone.
        """
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

    # --- threads that belong together, and the cross-thread episodes they form --------------------------

    def links(
        self, threads: Sequence[UUID] | None = None, *, limit: int | None = None, taken_back: bool = False
    ) -> Sequence[Link]:
        """Return the links of these threads, oldest first, ties as their threads were made.

        Without threads the newest of the scope, up to a limit, newest first. Tombstones only where wanted.
        """
        ...

    @overload
    def joined(self, key: Sequence[UUID]) -> Mapping[UUID, UUID]:
        """Return the cross-thread episode of each of these threads that is in one."""
        ...

    @overload
    def joined(self, key: UUID) -> Sequence[UUID]:
        """Return the threads of a cross-thread episode in order of creation, ties by id."""
        ...

    # --- where threads were -----------------------------------------------------------------------------

    def places(self, *, limit: int = 1000) -> Mapping[str, str]:
        """Return the scope's places by key, each with its label as written at the earliest event time.

        Where there are more, some of them.
        """
        ...

    def visits(
        self,
        *,
        place: str | None = None,
        thread_id: UUID | None = None,
        since: datetime | None = None,
        until: datetime | None = None,
    ) -> Sequence[Visit]:
        """Return stays that touch [since, until) in event time, by reference.

        `place` is a key or a label of it in any case.
        """
        ...

    def rewrite_stays(self, thread_id: UUID, visits: Sequence[Visit]) -> None:
        """Put these in the place of all stays of a thread; raises NotFound for an unknown one."""
        ...

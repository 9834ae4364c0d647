"""What happened, as a store keeps it: threads with their observations, parts and places, and episodes."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Protocol
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from episodic_agent.core.forgetting import Strength
from episodic_agent.core.interfaces.index import Cover, EpisodeMark, ObservationMark, Refs
from episodic_agent.core.places import Stay
from episodic_agent.schemas import (
    Decision,
    Encoding,
    Episode,
    EpisodeState,
    Frame,
    Observation,
    Receipt,
    Thread,
    ThreadPart,
)


class Threads(Protocol):
    """Threads, their open frames and their observations."""

    def get(self, thread_id: UUID) -> Thread | None: ...
    def many(self, thread_ids: Sequence[UUID]) -> Mapping[UUID, Thread]:
        """Read several threads at once; unknown ones are left out."""
        ...

    def by_origin(self, origin: str) -> Thread | None:
        """Find a thread by the caller's own name of it (unique in a scope)."""
        ...

    def number(self, thread_id: UUID) -> int:
        """Return the thread's small number in its scope (for `ref_of`); raises NotFound."""
        ...

    def by_numbers(self, numbers: Sequence[int]) -> Mapping[int, UUID]: ...
    def create(self, thread: Thread, frame: Frame) -> None:
        """Write a new thread with its empty frame; raises Conflict when the origin or id is taken."""
        ...

    def save(self, thread: Thread) -> None: ...
    def list(self, *, limit: int | None = None) -> Sequence[Thread]:
        """Return threads by last activity, newest first, ties by id."""
        ...

    def current(self, *, limit: int) -> Sequence[Thread]:
        """Return threads that a message without one may go on with, the most recently active first.

        Threads of messages that are open, or closed by silence alone; not those that the caller named and
        no channel ever reached, unless they were selected. Being selected counts as activity. Ties by id.
        """
        ...

    def begun(self, until: datetime, *, limit: int) -> Sequence[Thread]:
        """Return threads of messages that began by an event time, most recently active first, ties by id."""
        ...

    def unfinished(self) -> Sequence[Thread]:
        """Return what time may end: open threads nobody chose, and threads whose frame holds something.

        Longest silent first, ties by id.
        """
        ...

    def hold(self) -> None:
        """Let no other writer resolve threads of this scope before the end of this write transaction."""
        ...

    def timeouts(self) -> Mapping[str, timedelta]:
        """Return the user's own timeouts by channel ("" for all channels)."""
        ...

    def set_timeout(self, channel: str, timeout: timedelta | None) -> None:
        """Keep the user's own timeout of a channel ("" for all); None takes it away."""
        ...

    def frame(self, thread_id: UUID) -> Frame:
        """Read the frame (in a write transaction nobody else can change it before the end); NotFound."""
        ...

    def frames(self, thread_ids: Sequence[UUID]) -> Mapping[UUID, Frame]:
        """Read several frames at once, to look at only: others may change them; unknown ones are left out."""
        ...

    def save_frame(self, frame: Frame) -> None:
        """Write the frame whose stored version is `frame.version`, as version + 1; Conflict otherwise."""
        ...

    def known(self, ids: Sequence[UUID]) -> Mapping[UUID, Receipt]:
        """Return first receipts (added=False) of those observation ids that are stored already."""
        ...

    def append(self, observations: Sequence[Observation]) -> None:
        """Insert observations of one thread with consecutive seqs, and begin or go on with its stays.

        Conflict on a taken id or seq.
        """
        ...

    def observations(self, thread_id: UUID, first_seq: int, last_seq: int) -> Sequence[Observation]:
        """Read `first_seq..last_seq` (inclusive) in order; erased ones are left out."""
        ...

    def ranges(self, spans: Sequence[tuple[UUID, int, int]]) -> Sequence[Sequence[Observation]]:
        """Read several ranges (thread, first seq, last seq) at once, each as `observations` reads it."""
        ...

    def by_refs(self, refs: Sequence[int]) -> Mapping[int, Observation]: ...
    def marks(self, refs: Refs) -> Sequence[ObservationMark]:
        """Read the marks of observations in the order of refs; unknown and erased ones are left out."""
        ...

    def by_ids(self, ids: Sequence[UUID]) -> Mapping[UUID, Observation]: ...
    def save_records(self, thread_id: UUID, records: Mapping[int, bytes | None]) -> None:
        """Keep the packed record of the check at each seq; None takes one away."""
        ...

    def records(self, thread_id: UUID, first_seq: int, last_seq: int) -> Mapping[int, bytes]: ...
    def count(self) -> int:
        """Count the scope's observations."""
        ...

    def actors(self, *, limit: int = 200) -> Mapping[str, int]:
        """Return speakers of the scope with how often each spoke, most frequent first."""
        ...

    def last_at(self) -> datetime | None:
        """Return the newest event time in the scope."""
        ...

    def times(self, refs: Refs) -> NDArray[np.int64]:
        """Return event times of observation refs in microseconds since 1970 (missing: minimum int64)."""
        ...

    def between(self, start: datetime, end: datetime, *, limit: int) -> Refs:
        """Return refs of observations whose event time lies in [start, end), oldest first."""
        ...


class ThreadParts(Protocol):
    """The parts of threads, which compaction takes one by one (`core/compaction`)."""

    def at(self, thread_id: UUID, seq: int) -> ThreadPart | None:
        """Return the part that an observation is in (or would be, behind the thread's last)."""
        ...

    def last(self, thread_id: UUID) -> ThreadPart | None:
        """Return the part a thread's next observation joins or follows."""
        ...

    def of_thread(self, thread_id: UUID) -> Sequence[ThreadPart]:
        """Return a thread's parts in order."""
        ...

    def grown(self, until: datetime, *, limit: int) -> Sequence[ThreadPart]:
        """Return parts nobody asked to be compacted since they grew whose first turn was by an event time.

        Oldest first, ties by thread.
        """
        ...

    def compacted(self, *, limit: int, thread_id: UUID | None = None) -> Sequence[ThreadPart]:
        """Return parts (of a thread) that have words, newest first turn first, ties as stored last."""
        ...

    def save(self, part: ThreadPart) -> None:
        """Write a part, in place of the one that begins at the same observation; NotFound: no such thread."""
        ...

    def drop(self, thread_id: UUID, first_seq: int) -> None:
        """Delete the row of a part; an unknown one is gone already. Its episode is left alone."""
        ...


class Places(Protocol):
    """Where threads were: their stays, which `Threads.append` writes (`core/places.py`)."""

    def labels(self, *, limit: int = 1000) -> Mapping[str, str]:
        """Return the scope's places by key, each with its label as written at the earliest event time.

        Where there are more, some of them.
        """
        ...

    def stays(
        self,
        *,
        place: str | None = None,
        thread_id: UUID | None = None,
        since: datetime | None = None,
        until: datetime | None = None,
    ) -> Sequence[Stay]:
        """Return stays that touch [since, until) in event time, by reference.

        `place` is a key or a label of it in any case.
        """
        ...

    def rewrite(self, thread_id: UUID, stays: Sequence[Stay]) -> None:
        """Put these in the place of all stays of a thread; raises NotFound for an unknown one."""
        ...


class Episodes(Protocol):
    """Episodes, their encodings (versions) and the decisions that made them.

    Replaced episodes (those with a `generation_to`) stay, with their words and decisions, for undo and for
    references to them. Only `get`, `by_ids`, `encodings` and `of_thread` with a generation show them. Whoever
    deletes for good (I12) must delete them too, and the `resegment` decisions of the thread, which hold the
    frame and the records from before.
    """

    def insert(self, episode: Episode) -> None:
        """Write an episode row; inserting the same id again changes nothing (idempotent)."""
        ...

    def change(
        self,
        episode_id: UUID,
        *,
        state: EpisodeState,
        last_seq: int,
        end_at: datetime | None = None,
        reason: str | None = None,
        decision_id: UUID | None = None,
    ) -> None:
        """Move an episode that owns no observations on; what is None stays. NotFound for any other."""
        ...

    def archive(self, thread_id: UUID, first_seq: int, last_seq: int) -> int:
        """Archive the current closed event episodes that end within `first_seq..last_seq`; return how many.

        They stay as searchable as they were.
        """
        ...

    def retire(self, ids: Sequence[UUID], generation: int) -> None:
        """Let current event episodes end with the generation before this one; Conflict where one is not.

        In a write transaction nobody else writes to them before its end. What the index holds of them is
        the caller's to drop, afterwards.
        """
        ...

    def revive(self, thread_id: UUID, generation: int) -> None:
        """Undo a generation: delete what it made, make current again what it retired.

        Deletes the thread's event episodes from this generation on, with their encodings and the decisions
        about them. What it kept stays as it is. Raises NotFound for an unknown thread.
        """
        ...

    def get(self, episode_id: UUID) -> Episode | None:
        """Read one episode with its newest encoding."""
        ...

    def by_ids(self, ids: Sequence[UUID]) -> Mapping[UUID, Episode]: ...
    def of_thread(self, thread_id: UUID, *, generation: int | None = None) -> Sequence[Episode]:
        """Return the event episodes of a thread's current (or the given) generation by first_seq."""
        ...

    def of_threads(self, thread_ids: Sequence[UUID]) -> Mapping[UUID, Sequence[Episode]]:
        """Return the current event episodes of several threads at once, each as `of_thread` returns them."""
        ...

    def covering(self, refs: Refs) -> Mapping[int, EpisodeMark]:
        """Return the current event episode that owns each observation ref; none for those of open frames."""
        ...

    def marks(self, refs: Sequence[int]) -> Mapping[int, EpisodeMark]:
        """Return the marks of current event episodes by `ref_of(thread number, first_seq)`."""
        ...

    def by_refs(self, refs: Sequence[int]) -> Mapping[int, Episode]:
        """Return current event episodes by `ref_of(thread number, first_seq)`."""
        ...

    def covers(self, spans: Sequence[tuple[int, int]]) -> Sequence[Cover]:
        """Return the current event episodes that own some of these spans of refs, by reference.

        A span is a first and a last ref (inclusive) of one thread.
        """
        ...

    def recent(
        self, *, limit: int, since: datetime | None = None, before: datetime | None = None
    ) -> Sequence[Episode]:
        """Return current event episodes by end of event time, newest first, ties by id."""
        ...

    def encode(self, encoding: Encoding) -> None:
        """Append a version of an episode's words; writing the same version again changes nothing."""
        ...

    def reconsider(self, ids: Sequence[UUID]) -> None:
        """Let episodes wait to be consolidated again; unknown ones are left out."""
        ...

    def strengthen(self, before: Episode, after: Strength, last_reviewed_at: datetime) -> None:
        """Give an episode another strength and clock; Conflict where `before` is no longer so."""
        ...

    def unconsolidated(self, *, limit: int) -> Sequence[Episode]:
        """Return current event episodes that have words and are not consolidated, oldest created first.

        Ties by id.
        """
        ...

    def count_unconsolidated(self, *, limit: int | None = None) -> int:
        """Count those, up to a limit where it is given."""
        ...

    def consolidate(self, ids: Sequence[UUID], at: datetime) -> None:
        """Set `consolidated_at` of pending episodes; Conflict where one is not, or no longer, among them.

        In a write transaction nobody else writes to them before its end.
        """
        ...

    def encodings(self, episode_id: UUID) -> Sequence[Encoding]: ...
    def count(self) -> int: ...
    def decide(self, decision: Decision) -> None:
        """Write a decision; the same id again changes nothing."""
        ...

    def revoke(self, *decision_ids: UUID) -> None:
        """Delete decisions whose effect was undone; an unknown one is gone already."""
        ...

    def amend(self, decision: Decision) -> None:
        """Keep the outcome and the detail of a decision written before; raises NotFound."""
        ...

    def decision(self, decision_id: UUID) -> Decision | None: ...
    def decisions(
        self,
        *,
        subject: UUID | None = None,
        type: str | None = None,
        last: int | None = None,
        since: datetime | None = None,
    ) -> Sequence[Decision]:
        """Return decisions (from a time on) by time, then id; only the `last` so many where that is given."""
        ...

    def decided(self, type: str, since: datetime) -> int:
        """Count the decisions of a type that are younger than a time."""
        ...

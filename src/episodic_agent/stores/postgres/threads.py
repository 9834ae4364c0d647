"""Threads and their open frames, as rows.

Unlike SQLite's, these writers run side by side: reading a frame in order to write locks it, so that one
thread takes one append at a time, and nothing an append touches is shared between threads.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Final, overload
from uuid import UUID

from episodic_agent.errors import Conflict, InvalidInput
from episodic_agent.protocols import WhichThreads
from episodic_agent.schemas import Frame, Section, Thread
from episodic_agent.stores.catalogue import POSTGRES
from episodic_agent.stores.nouns import (
    CHANGING,
    FRAME,
    THREAD,
    changing_columns,
    columns_of,
    frame_columns,
    frame_of,
    thread_of,
)
from episodic_agent.stores.postgres.erasing import PostgresActors
from episodic_agent.stores.postgres.server.batches import bigints, byteas
from episodic_agent.stores.postgres.server.session import EACH, PostgresSession
from episodic_agent.stores.postgres.server.text import read_columns
from episodic_agent.stores.rows import to_microseconds
from episodic_agent.stores.tables.erasing import DroppingTable
from episodic_agent.stores.tables.timeouts import TimeoutTable

_THREADS: Final = EACH.format(f"SELECT {THREAD} FROM thread WHERE space = %s AND owner = %s")
_INSERT_THREAD: Final = (
    f"INSERT INTO thread (space, owner, number, id, origin, {CHANGING})"
    f" VALUES ({', '.join(['%s'] * (CHANGING.count(',') + 6))}) ON CONFLICT DO NOTHING"
)
_SAVE_THREAD: Final = (
    f"UPDATE thread SET {', '.join(f'{name} = %s' for name in CHANGING.split(', '))}"
    " WHERE space = %s AND owner = %s AND number = %s"
)
_CONTINUABLE: Final = (
    f"SELECT {THREAD} FROM thread WHERE space = %s AND owner = %s AND modality = 'message'"
    " AND (status = 'open' OR closed_for = 'inactivity')"
    " AND NOT (explicit AND channels = '[]' AND selected_at IS NULL)"
)
# What nobody selected is read off the index of activity; what somebody did is rarely more than a few.
_ACTIVE: Final = " ORDER BY greatest(last_activity_at, coalesce(selected_at, last_activity_at)) DESC, id"
_CURRENT: Final = (
    "SELECT * FROM ((SELECT * FROM"
    f" (({_CONTINUABLE} AND selected_at IS NULL ORDER BY last_activity_at DESC, id LIMIT %s)"
    f" UNION ALL ({_CONTINUABLE} AND selected_at IS NOT NULL)) AS t{_ACTIVE} LIMIT %s)"
    f" UNION ({_CONTINUABLE} AND selected_at IS NOT NULL ORDER BY selected_at DESC, id DESC LIMIT 1)) AS u"
    f"{_ACTIVE}"
)


class PostgresThreads(TimeoutTable, PostgresActors, DroppingTable):
    """The `Threads` of one transaction."""

    _session: PostgresSession
    tables = POSTGRES

    # --- threads ----------------------------------------------------------------------------------------

    def get(self, key: UUID | str) -> Thread | None:
        """Read one thread, by id or by the caller's own name of it."""
        if isinstance(key, str):
            return self._thread_where("origin = %s", key)
        return self._thread_where("id = %s", key.bytes)

    def list(
        self,
        which: WhichThreads = "all",
        *,
        ids: Sequence[UUID] | None = None,
        begun: datetime | None = None,
        limit: int | None = None,
    ) -> Sequence[Thread]:
        """Return the threads that are asked for, as the port says."""
        if ids is not None:
            results = self._many(ids)
        elif begun is not None:
            results = self._begun(to_microseconds(begun), limit)
        elif which == "current":
            results = self._current(limit)
        elif which == "unfinished":
            results = self._unfinished()
        else:
            results = self._all(limit)
        return [self._thread(columns) for columns in results]

    def _many(self, ids: Sequence[UUID]) -> Sequence[tuple[Any, ...]]:
        binary = byteas([identity.bytes for identity in dict.fromkeys(ids)])
        return self._session.rows(_THREADS, (binary, *self._session.keys))

    def _all(self, limit: int | None) -> Sequence[tuple[Any, ...]]:
        sql = (
            f"SELECT {THREAD} FROM thread WHERE space = %s AND owner = %s"
            " ORDER BY last_activity_at DESC, id LIMIT %s"
        )
        return self._session.rows(sql, (*self._session.keys, limit))

    def _current(self, limit: int | None) -> Sequence[tuple[Any, ...]]:
        keys = self._session.keys
        return self._session.rows(_CURRENT, (*keys, limit, *keys, limit, *keys))

    def _begun(self, until: int, limit: int | None) -> Sequence[tuple[Any, ...]]:
        sql = (
            f"SELECT {THREAD} FROM thread WHERE space = %s AND owner = %s AND modality = 'message'"
            " AND created_at <= %s ORDER BY last_activity_at DESC, id LIMIT %s"
        )
        return self._session.rows(sql, (*self._session.keys, until, limit))

    def _unfinished(self) -> Sequence[tuple[Any, ...]]:
        sql = (
            f"SELECT {columns_of(THREAD, 't')} FROM thread t JOIN frame f"
            " ON f.space = t.space AND f.owner = t.owner AND f.thread = t.number"
            " WHERE t.space = %s AND t.owner = %s"
            " AND (f.first_seq < f.next_seq OR t.status = 'open' AND NOT t.explicit)"
            " ORDER BY t.last_activity_at, t.id"
        )
        return self._session.rows(sql, self._session.keys)

    def _thread_where(self, condition: str, value: bytes | str) -> Thread | None:
        sql = f"SELECT {THREAD} FROM thread WHERE space = %s AND owner = %s AND {condition}"
        row = self._session.row(sql, (*self._session.keys, value))
        return None if row is None else self._thread(row)

    def _thread(self, columns: tuple[Any, ...]) -> Thread:
        thread = thread_of(read_columns(columns))
        self._session.remember_thread(columns[0], thread.id)
        return thread

    def number(self, thread_id: UUID) -> int:
        """Return the thread's number for `ref_of`; raises NotFound."""
        return self._session.thread_number(thread_id)

    def by_numbers(self, numbers: Sequence[int]) -> Mapping[int, UUID]:
        """Return the ids of those numbers that are threads of this scope."""
        return self._session.thread_ids(numbers)

    def create(self, thread: Thread, frame: Frame) -> None:
        """Write a new thread with its empty frame; raises Conflict when the origin or id is taken."""
        if frame.thread_id != thread.id:
            raise InvalidInput(f"the frame of thread {frame.thread_id} was given for thread {thread.id}")
        keys, number = self._session.own(), self._next_number()
        names = (number, thread.id.bytes, thread.origin)
        if self._session.execute(_INSERT_THREAD, (*keys, *names, *changing_columns(thread))) == 0:
            raise Conflict(f"a thread {thread.id} or of origin {thread.origin!r} exists already")
        self._session.remember_thread(number, thread.id)
        sql = (
            f"INSERT INTO frame (space, owner, thread, {FRAME})"
            " VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s)"
        )
        self._session.execute(sql, (*keys, number, *frame_columns(frame), frame.version))

    def _next_number(self) -> int:
        # Locks the scope's row to the end of the transaction: threads of a scope begin one by one.
        sql = "UPDATE scope SET threads = threads + 1 WHERE space = %s AND owner = %s RETURNING threads"
        row = self._session.row(sql, self._session.keys)
        if row is None:
            raise self._session.miss_scope()
        return int(row[0])

    def save(self, changed: Thread | Frame | Section) -> None:
        """Write a thread's changed fields, a section, or the frame of its own version, as version + 1."""
        if isinstance(changed, Frame):
            self._save_frame(changed)
        elif isinstance(changed, Section):
            self._save_section(changed)
        else:
            self._save_thread(changed)

    def _save_thread(self, thread: Thread) -> None:
        keys, number = self._session.own(), self._session.thread_number(thread.id)
        self._session.execute(_SAVE_THREAD, (*changing_columns(thread), *keys, number))

    # --- frames -----------------------------------------------------------------------------------------

    @overload
    def frame(self, key: UUID) -> Frame: ...

    @overload
    def frame(self, key: Sequence[UUID]) -> Mapping[UUID, Frame]: ...

    def frame(self, key: UUID | Sequence[UUID]) -> Frame | Mapping[UUID, Frame]:
        """Read a thread's frame (raises NotFound), or several at once, to look at only."""
        return self._frame(key) if isinstance(key, UUID) else self._frames(key)

    def _frame(self, thread_id: UUID) -> Frame:
        """Read a thread's frame; raises NotFound. In a write transaction nobody else can until its end."""
        sql = f"SELECT {FRAME} FROM frame WHERE space = %s AND owner = %s AND thread = %s"
        if self._session.writes:
            sql += " FOR NO KEY UPDATE"
        row = self._session.row(sql, (*self._session.keys, self._session.thread_number(thread_id)))
        if row is None:
            raise Conflict(f"thread {thread_id} was deleted just now; repeat the call")
        return frame_of(read_columns(row), thread_id)

    def _frames(self, thread_ids: Sequence[UUID]) -> Mapping[UUID, Frame]:
        numbers = self._session.find_threads(thread_ids)
        sql = f"SELECT thread, {FRAME} FROM frame WHERE space = %s AND owner = %s AND"
        sql += " thread = ANY(%s::bigint[])"
        rows = self._session.rows(sql, (*self._session.keys, bigints(list(numbers))))
        return {
            numbers[number]: frame_of(read_columns(columns), numbers[number]) for number, *columns in rows
        }

    def _save_frame(self, frame: Frame) -> None:
        keys, number = self._session.own(), self._session.thread_number(frame.thread_id)
        sql = (
            "UPDATE frame SET policy = %s, embedder = %s, next_seq = %s, first_seq = %s, cursor = %s,"
            " state = %s, question = %s, last_received_at = %s, version = version + 1"
            " WHERE space = %s AND owner = %s AND thread = %s AND version = %s"
        )
        if self._session.execute(sql, (*frame_columns(frame), *keys, number, frame.version)) == 0:
            raise Conflict(f"the frame of thread {frame.thread_id} is no longer at version {frame.version}")

    # --- the scope as a whole ---------------------------------------------------------------------------

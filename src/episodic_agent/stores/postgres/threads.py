"""Threads and their open frames, as rows.

Unlike SQLite's, these writers run side by side: reading a frame in order to write locks it, so that one
thread takes one append at a time, and nothing an append touches is shared between threads.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final
from uuid import UUID

from episodic_agent.errors import Conflict, InvalidInput
from episodic_agent.schemas import Frame, Thread
from episodic_agent.stores.catalogue import POSTGRES
from episodic_agent.stores.nouns import (
    CHANGING,
    FRAME,
    THREAD,
    changing_columns,
    columns_of,
    frame_columns,
    frame_of,
)
from episodic_agent.stores.postgres.erasing import PostgresActors
from episodic_agent.stores.postgres.links import PostgresLinks
from episodic_agent.stores.postgres.places import PostgresStays
from episodic_agent.stores.postgres.server.batches import bigints, byteas
from episodic_agent.stores.postgres.server.session import EACH, PostgresSession
from episodic_agent.stores.postgres.server.text import read_columns
from episodic_agent.stores.tables.threads import ThreadTable

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


class PostgresThreads(PostgresActors, PostgresLinks, PostgresStays, ThreadTable):
    """The `Threads` of one transaction."""

    _session: PostgresSession
    tables = POSTGRES

    # --- threads ----------------------------------------------------------------------------------------

    def _columns(self, sql: str, bindings: Sequence[Any]) -> list[tuple[Any, ...]]:
        return [read_columns(columns) for columns in self._session.rows(sql, bindings)]

    def _many(self, ids: Sequence[UUID]) -> Sequence[tuple[Any, ...]]:
        binary = byteas([identity.bytes for identity in dict.fromkeys(ids)])
        return self._columns(_THREADS, (binary, *self._session.keys))

    def _current(self, limit: int | None) -> Sequence[tuple[Any, ...]]:
        keys = self._session.keys
        return self._columns(_CURRENT, (*keys, limit, *keys, limit, *keys))

    def _begun(self, until: int, limit: int | None) -> Sequence[tuple[Any, ...]]:
        sql = (
            f"SELECT {THREAD} FROM thread WHERE space = %s AND owner = %s AND modality = 'message'"
            " AND created_at <= %s ORDER BY last_activity_at DESC, id LIMIT %s"
        )
        return self._columns(sql, (*self._session.keys, until, limit))

    def _unfinished(self) -> Sequence[tuple[Any, ...]]:
        sql = (
            f"SELECT {columns_of(THREAD, 't')} FROM thread t JOIN frame f"
            " ON f.space = t.space AND f.owner = t.owner AND f.thread = t.number"
            " WHERE t.space = %s AND t.owner = %s"
            " AND (f.first_seq < f.next_seq OR t.status = 'open' AND NOT t.explicit)"
            " ORDER BY t.last_activity_at, t.id"
        )
        return self._columns(sql, self._session.keys)

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

    def _save_thread(self, thread: Thread) -> None:
        keys, number = self._session.own(), self._session.thread_number(thread.id)
        self._session.execute(_SAVE_THREAD, (*changing_columns(thread), *keys, number))

    # --- frames -----------------------------------------------------------------------------------------

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

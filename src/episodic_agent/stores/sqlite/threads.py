"""Threads and their open frames, as rows."""

from collections.abc import Mapping, Sequence
from typing import Any, Final
from uuid import UUID

import apsw

from episodic_agent.errors import Conflict, InvalidInput, NotFound
from episodic_agent.schemas import Frame, Thread
from episodic_agent.stores.catalogue import SQLITE
from episodic_agent.stores.nouns import (
    CHANGING,
    FRAME,
    THREAD,
    changing_columns,
    columns_of,
    frame_columns,
    frame_of,
)
from episodic_agent.stores.sqlite.erasing import SqliteActors
from episodic_agent.stores.sqlite.file.session import EACH, SqliteSession, id_list, number_list
from episodic_agent.stores.sqlite.links import SqliteLinks
from episodic_agent.stores.sqlite.places import SqliteStays
from episodic_agent.stores.tables.threads import ThreadTable

_INSERT_THREAD: Final = (
    f"INSERT INTO thread (scope, id, origin, {CHANGING})"
    f" VALUES ({', '.join('?' * (CHANGING.count(',') + 4))})"
)
_SAVE_THREAD: Final = (
    f"UPDATE thread SET {', '.join(f'{name} = ?' for name in CHANGING.split(', '))}"
    " WHERE number = ? AND scope = ?"
)
_CONTINUABLE: Final = (
    f"SELECT {THREAD} FROM thread WHERE scope = ? AND modality = 'message'"
    " AND (status = 'open' OR closed_for = 'inactivity')"
    " AND NOT (explicit AND channels = '[]' AND selected_at IS NULL)"
)
# What nobody selected is read off the index of activity; what somebody did is rarely more than a few.
_ACTIVE: Final = " ORDER BY max(last_activity_at, ifnull(selected_at, last_activity_at)) DESC, id"
_CURRENT: Final = (
    f"SELECT * FROM (SELECT * FROM (SELECT * FROM (SELECT * FROM ({_CONTINUABLE} AND selected_at IS NULL"
    " ORDER BY last_activity_at DESC, id LIMIT ?)"
    f" UNION ALL {_CONTINUABLE} AND selected_at IS NOT NULL){_ACTIVE} LIMIT ?)"
    f" UNION SELECT * FROM ({_CONTINUABLE} AND selected_at IS NOT NULL"
    f" ORDER BY selected_at DESC, id DESC LIMIT 1)){_ACTIVE}"
)


class SqliteThreads(SqliteActors, SqliteLinks, SqliteStays, ThreadTable):
    """The `Threads` of one transaction."""

    _session: SqliteSession
    tables = SQLITE

    # --- threads ----------------------------------------------------------------------------------------

    def _many(self, ids: Sequence[UUID]) -> Sequence[tuple[Any, ...]]:
        sql = (
            f"SELECT {columns_of(THREAD, 't')} FROM {EACH} thread t"
            " WHERE t.scope = ? AND t.id = unhex(p.value)"
        )
        return self._session.rows(sql, (id_list(ids), self._session.number))

    def _current(self, limit: int | None) -> Sequence[tuple[Any, ...]]:
        scope, most = self._session.number, -1 if limit is None else limit
        return self._session.rows(_CURRENT, (scope, most, scope, most, scope))

    def _begun(self, until: int, limit: int | None) -> Sequence[tuple[Any, ...]]:
        sql = (
            f"SELECT {THREAD} FROM thread WHERE scope = ? AND modality = 'message' AND +created_at <= ?"
            " ORDER BY last_activity_at DESC, id LIMIT ?"
        )
        return self._session.rows(sql, (self._session.number, until, -1 if limit is None else limit))

    def _unfinished(self) -> Sequence[tuple[Any, ...]]:
        sql = (
            f"SELECT {columns_of(THREAD, 't')} FROM thread t JOIN frame f ON f.thread = t.number"
            " WHERE t.scope = ? AND (f.first_seq < f.next_seq OR t.status = 'open' AND NOT t.explicit)"
            " ORDER BY t.last_activity_at, t.id"
        )
        return self._session.rows(sql, (self._session.number,))

    def create(self, thread: Thread, frame: Frame) -> None:
        """Write a new thread with its empty frame; raises Conflict when the origin or id is taken."""
        if frame.thread_id != thread.id:
            raise InvalidInput(f"the frame of thread {frame.thread_id} was given for thread {thread.id}")
        scope = self._session.own()
        try:
            self._session.db.execute(
                _INSERT_THREAD, (scope, thread.id.bytes, thread.origin, *changing_columns(thread))
            )
        except apsw.ConstraintError as error:
            raise Conflict(f"a thread {thread.id} or of origin {thread.origin!r} exists already") from error
        number = self._session.db.last_insert_rowid()
        self._session.remember_thread(number, thread.id)
        sql = (
            "INSERT INTO frame (thread, scope, policy, embedder, next_seq, first_seq, cursor, state,"
            " question, last_received_at, version) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
        )
        self._session.db.execute(sql, (number, scope, *frame_columns(frame), frame.version))

    def _save_thread(self, thread: Thread) -> None:
        scope, number = self._session.own(), self._session.thread_number(thread.id)
        self._session.db.execute(_SAVE_THREAD, (*changing_columns(thread), number, scope))

    # --- frames -----------------------------------------------------------------------------------------

    def _frame(self, thread_id: UUID) -> Frame:
        """Read a thread's frame; raises NotFound."""
        sql = f"SELECT {FRAME} FROM frame WHERE thread = ? AND scope = ?"
        row = self._session.row(sql, (self._session.thread_number(thread_id), self._session.number))
        if row is None:
            raise NotFound(f"thread {thread_id} has no frame")
        return frame_of(row, thread_id)

    def _frames(self, thread_ids: Sequence[UUID]) -> Mapping[UUID, Frame]:
        numbers = self._session.find_threads(thread_ids)
        sql = (
            f"SELECT f.thread, {columns_of(FRAME, 'f')} FROM {EACH} frame f"
            " WHERE f.thread = p.value AND f.scope = ?"
        )
        rows = self._session.rows(sql, (number_list(numbers), self._session.number))
        return {numbers[number]: frame_of(tuple(columns), numbers[number]) for number, *columns in rows}

    def _save_frame(self, frame: Frame) -> None:
        scope, number = self._session.own(), self._session.thread_number(frame.thread_id)
        sql = (
            "UPDATE frame SET policy = ?, embedder = ?, next_seq = ?, first_seq = ?, cursor = ?, state = ?,"
            " question = ?, last_received_at = ?, version = version + 1"
            " WHERE thread = ? AND scope = ? AND version = ?"
        )
        self._session.db.execute(sql, (*frame_columns(frame), number, scope, frame.version))
        if self._session.db.changes() == 0:
            raise Conflict(f"the frame of thread {frame.thread_id} is no longer at version {frame.version}")

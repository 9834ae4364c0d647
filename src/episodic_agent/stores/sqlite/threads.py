"""Threads and their open frames, as rows."""

from collections.abc import Sequence
from typing import Any, Final
from uuid import UUID

from episodic_agent.schemas import Thread
from episodic_agent.stores.catalogue import SQLITE
from episodic_agent.stores.nouns import (
    CHANGING,
    THREAD,
    changing_columns,
    columns_of,
)
from episodic_agent.stores.rows import to_json
from episodic_agent.stores.sqlite.erasing import SqliteActors
from episodic_agent.stores.sqlite.file.session import EACH, SqliteSession, id_list
from episodic_agent.stores.sqlite.links import SqliteLinks
from episodic_agent.stores.sqlite.places import SqliteStays
from episodic_agent.stores.tables.threads import UNNAMED, ThreadTable

_INSERT_THREAD: Final = (
    f"INSERT INTO thread (scope, id, origin, {CHANGING})"
    f" VALUES ({', '.join('?' * (CHANGING.count(',') + 4))}) ON CONFLICT DO NOTHING"
)
_CONTINUABLE: Final = (
    f"SELECT {THREAD} FROM thread WHERE scope = ? AND modality = 'message'"
    " AND (status = 'open' OR closed_for = 'inactivity')"
)
# What a caller named is joined by its name alone, unless users pick threads on a channel it was reached by.
_SHARED: Final = (
    f"{_CONTINUABLE} AND selected_at IS NULL AND (NOT explicit OR channels <> '[]' AND ({UNNAMED}"
    " OR EXISTS (SELECT 1 FROM json_each(channels) c WHERE c.value IN (SELECT value FROM json_each(?)))))"
)
_SELECTED: Final = f"{_CONTINUABLE} AND selected_at IS NOT NULL"
# What nobody selected is read off the index of activity; what somebody did is rarely more than a few.
_ACTIVE: Final = " ORDER BY max(last_activity_at, ifnull(selected_at, last_activity_at)) DESC, id"
_CURRENT: Final = (
    f"SELECT * FROM (SELECT * FROM (SELECT * FROM (SELECT * FROM ({_SHARED}"
    " ORDER BY last_activity_at DESC, id LIMIT ?)"
    f" UNION ALL {_SELECTED}){_ACTIVE} LIMIT ?)"
    f" UNION SELECT * FROM ({_SELECTED} ORDER BY selected_at DESC, id DESC LIMIT 1)){_ACTIVE}"
)


class SqliteThreads(SqliteActors, SqliteLinks, SqliteStays, ThreadTable):
    """The `Threads` of one transaction."""

    _session: SqliteSession
    tables = SQLITE

    def _many(self, ids: Sequence[UUID]) -> Sequence[tuple[Any, ...]]:
        sql = (
            f"SELECT {columns_of(THREAD, 't')} FROM {EACH} thread t"
            " WHERE t.scope = ? AND t.id = unhex(p.value)"
        )
        return self._session.rows(sql, (id_list(ids), self._session.number))

    def _current(self, picked: Sequence[str], limit: int | None) -> Sequence[tuple[Any, ...]]:
        scope, most = self._session.number, -1 if limit is None else limit
        return self._session.rows(_CURRENT, (scope, to_json(picked), most, scope, most, scope))

    def _begun(self, until: int, limit: int | None) -> Sequence[tuple[Any, ...]]:
        sql = (
            f"SELECT {THREAD} FROM thread WHERE scope = ? AND modality = 'message' AND +created_at <= ?"
            " ORDER BY last_activity_at DESC, id LIMIT ?"
        )
        return self._session.rows(sql, (self._session.number, until, -1 if limit is None else limit))

    def _add(self, thread: Thread) -> int | None:
        scope, columns = self._session.own(), (thread.id.bytes, thread.origin, *changing_columns(thread))
        self._session.db.execute(_INSERT_THREAD, (scope, *columns))
        return self._session.db.last_insert_rowid() if self._session.db.changes() else None

"""Threads as rows: their open frames, stays at places, and those that form a cross-thread episode."""

from collections.abc import Mapping, Sequence
from typing import Any, Final
from uuid import UUID

from episodic_agent.protocols import ref_of
from episodic_agent.schemas import Thread
from episodic_agent.schemas.places import Visit, place_key
from episodic_agent.stores.catalogue import SQLITE
from episodic_agent.stores.nouns import (
    CHANGING,
    THREAD,
    changing_columns,
    columns_of,
    visit_columns,
    visit_label,
)
from episodic_agent.stores.rows import id_of, to_json
from episodic_agent.stores.sqlite.erasing import SqliteActors
from episodic_agent.stores.sqlite.file.session import EACH, SqliteSession, id_list
from episodic_agent.stores.tables.links import LinkTable
from episodic_agent.stores.tables.observations import VisitTable
from episodic_agent.stores.tables.threads import UNNAMED, ThreadTable
from episodic_agent.stores.terms import place_number


class SqliteLinks(LinkTable):
    """Which threads belong together."""

    _session: SqliteSession

    def _join(self, episode_id: UUID, threads: Sequence[UUID]) -> None:
        scope = self._session.own()
        numbers = [self._session.thread_number(thread) for thread in threads]
        sql = "DELETE FROM joined WHERE scope = ? AND episode = ?"
        self._session.db.execute(sql, (scope, episode_id.bytes))
        sql = (
            "INSERT INTO joined (scope, thread, episode) VALUES (?, ?, ?)"
            " ON CONFLICT (scope, thread) DO UPDATE SET episode = excluded.episode"
        )
        self._session.db.executemany(sql, [(scope, number, episode_id.bytes) for number in numbers])

    def _members(self, episode_id: UUID) -> Sequence[UUID]:
        sql = (
            "SELECT t.id FROM joined j JOIN thread t ON t.number = j.thread AND t.scope = j.scope"
            " WHERE j.scope = ? AND j.episode = ? ORDER BY t.created_at, t.id"
        )
        rows = self._session.rows(sql, (self._session.number, episode_id.bytes))
        return [id_of(identity) for (identity,) in rows]


_INSERT: Final = (
    "INSERT INTO stay (scope, place, first_ref, last_ref, label, start_at, end_at, steps)"
    " VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)"
)
# The thread's last stay goes on where it is at the same place: its row then has the first reference.
_GO_ON: Final = _INSERT.replace(
    "?3",
    "ifnull((SELECT iif(place = ?2, first_ref, NULL) FROM stay WHERE first_ref BETWEEN ?9 AND ?3"
    " AND +scope = ?1 ORDER BY first_ref DESC LIMIT 1), ?3)",
) + (
    " ON CONFLICT (first_ref) DO UPDATE SET last_ref = excluded.last_ref, steps = steps + excluded.steps,"
    " start_at = min(start_at, excluded.start_at), end_at = max(end_at, excluded.end_at)"
)
# One look-up a place, however many stays there are.
_LABELS: Final = (
    "WITH RECURSIVE found (place) AS ("
    "SELECT min(place) FROM stay WHERE scope = ?1 UNION ALL"
    " SELECT (SELECT min(place) FROM stay WHERE scope = ?1 AND place > found.place) FROM found"
    " WHERE place IS NOT NULL)"
    " SELECT (SELECT label FROM stay s WHERE s.scope = ?1 AND s.place = found.place"
    " ORDER BY start_at, first_ref LIMIT 1) FROM found WHERE place IS NOT NULL LIMIT ?2"
)


class SqliteStays(VisitTable):
    """The stays of threads, and the places they name."""

    _session: SqliteSession

    def places(self, *, limit: int = 1000) -> Mapping[str, str]:
        """Return the scope's places by key, each with its label as written at the earliest event time."""
        rows = self._session.rows(_LABELS, (self._session.number, limit))
        labels = [visit_label(label) for (label,) in rows]
        return {place_key(label): label for label in labels}

    def _insert_stays(self, visits: Sequence[Visit]) -> None:
        scope = self._session.own()
        columns = [(scope, place_number(stay.place), *visit_columns(stay)) for stay in visits]
        self._session.db.executemany(_INSERT, columns)


def go_on(session: SqliteSession, visits: Sequence[Visit]) -> None:
    """Write the stays of a chunk after those of its thread; the first may go on with the last one."""
    scope = session.own()
    columns = [
        (scope, place_number(stay.place), *visit_columns(stay), ref_of(stay.thread, 0)) for stay in visits
    ]
    session.db.executemany(_GO_ON, columns)


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

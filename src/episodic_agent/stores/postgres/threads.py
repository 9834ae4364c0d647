"""Threads with their open frames and their stays at places, as rows.

Unlike SQLite's, these writers run side by side: reading a frame in order to write locks it, so that one
thread takes one append at a time, and nothing an append touches is shared between threads.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final
from uuid import UUID

from episodic_agent.protocols import ref_of
from episodic_agent.schemas import Thread
from episodic_agent.schemas.places import Visit, place_key
from episodic_agent.stores.catalogue import POSTGRES
from episodic_agent.stores.nouns import CHANGING, THREAD, changing_columns, visit_columns, visit_label
from episodic_agent.stores.postgres.erasing import PostgresActors
from episodic_agent.stores.postgres.server.batches import bigints, byteas, read_columns, texts
from episodic_agent.stores.postgres.server.packing import Binary
from episodic_agent.stores.postgres.server.session import EACH, OWN_ROW, PostgresSession
from episodic_agent.stores.postgres.words.segments import take_out_thread
from episodic_agent.stores.tables.links import LinkTable
from episodic_agent.stores.tables.observations import VisitTable
from episodic_agent.stores.tables.threads import UNNAMED, ThreadTable
from episodic_agent.stores.terms import place_number

_TYPES: Final = ["bigint", "bigint", "bigint", "text", "bigint", "bigint", "bigint"]
_ARGUMENTS: Final = (
    f"unnest({', '.join(f'%s::{name}[]' for name in _TYPES)})"
    " WITH ORDINALITY AS g (place, first_ref, last_ref, label, start_at, end_at, steps, n)"
)
_COLUMNS: Final = "place, first_ref, last_ref, label, start_at, end_at, steps"
_INSERT: Final = (
    f"INSERT INTO stay (space, owner, {_COLUMNS}) SELECT s.space, s.owner, g.place, g.first_ref, g.last_ref,"
    f" g.label, g.start_at, g.end_at, g.steps FROM {OWN_ROW}, {_ARGUMENTS}"
)
# The thread's last stay goes on where it is at the same place: its row then has the first reference. Only the
# first of the chunk can go on with it.
_GO_ON: Final = _INSERT.replace(
    "g.first_ref,", "CASE WHEN g.n = 1 AND l.place = g.place THEN l.first_ref ELSE g.first_ref END,", 1
) + (
    " LEFT JOIN (SELECT place, first_ref FROM stay WHERE space = %s AND owner = %s"
    " AND first_ref BETWEEN %s AND %s ORDER BY first_ref DESC LIMIT 1) AS l ON true"
    " ON CONFLICT (space, owner, first_ref) DO UPDATE SET last_ref = excluded.last_ref,"
    " steps = stay.steps + excluded.steps, start_at = least(stay.start_at, excluded.start_at),"
    " end_at = greatest(stay.end_at, excluded.end_at)"
)
# One look-up a place, however many stays there are.
_NEXT: Final = (
    "(SELECT place FROM stay WHERE space = %s AND owner = %s AND place > found.place ORDER BY place LIMIT 1)"
)
_LABELS: Final = (
    "WITH RECURSIVE found (place) AS ("
    "(SELECT place FROM stay WHERE space = %s AND owner = %s ORDER BY place LIMIT 1)"
    f" UNION ALL SELECT n.place FROM found CROSS JOIN LATERAL {_NEXT} AS n)"
    " SELECT l.label FROM found CROSS JOIN LATERAL (SELECT label FROM stay"
    " WHERE space = %s AND owner = %s AND place = found.place ORDER BY start_at, first_ref LIMIT 1) AS l"
    " LIMIT %s"
)


class PostgresStays(VisitTable):
    """The stays of threads, and the places they name."""

    _session: PostgresSession

    def places(self, *, limit: int = 1000) -> Mapping[str, str]:
        keys = self._session.keys
        rows = self._session.rows(_LABELS, (*keys, *keys, *keys, limit))
        labels = [visit_label(label) for (label,) in rows]
        return {place_key(label): label for label in labels}

    def _insert_stays(self, visits: Sequence[Visit]) -> None:
        if visits:
            self._session.insert(_INSERT, (*self._session.own(), *_in_columns(visits)), len(visits))


def go_on(session: PostgresSession, visits: Sequence[Visit]) -> None:
    """Write the stays of a chunk after those of its thread; the first may go on with the last one."""
    keys, first = session.own(), visits[0].first_ref
    thread = (ref_of(visits[0].thread, 0), first)
    session.insert(_GO_ON, (*keys, *_in_columns(visits), *keys, *thread), len(visits))


def _in_columns(visits: Sequence[Visit]) -> list[Binary]:
    rows: list[tuple[Any, ...]] = [(place_number(stay.place), *visit_columns(stay)) for stay in visits]
    columns = zip(*rows, strict=True)
    return [
        texts(column) if name == "text" else bigints(column)
        for name, column in zip(_TYPES, columns, strict=True)
    ]


_OWN: Final = "space = %s AND owner = %s"


class PostgresLinks(LinkTable):
    """Which threads belong together."""

    _session: PostgresSession

    def _join(self, episode_id: UUID, threads: Sequence[UUID]) -> None:
        keys, identity = self._session.own(), episode_id.bytes
        # In one order everywhere: two writers of the same rows then wait, and never for each other.
        self._session.find_threads(threads)
        numbers = sorted(map(self._session.thread_number, threads))
        sql = f"DELETE FROM joined WHERE {_OWN} AND episode = %s AND NOT thread = ANY(%s::bigint[])"
        self._session.execute(sql, (*keys, identity, bigints(numbers)))
        sql = (
            "INSERT INTO joined (space, owner, thread, episode)"
            f" SELECT s.space, s.owner, g.n, %s::bytea FROM {OWN_ROW},"
            " unnest(%s::bigint[]) WITH ORDINALITY AS g (n, place) ORDER BY g.place"
            " ON CONFLICT (space, owner, thread) DO UPDATE SET episode = excluded.episode"
        )
        self._session.insert(sql, (identity, *keys, bigints(numbers)), len(numbers))

    def _members(self, episode_id: UUID) -> Sequence[UUID]:
        sql = f"SELECT thread FROM joined WHERE {_OWN} AND episode = %s"
        numbers = [number for (number,) in self._session.rows(sql, (*self._session.keys, episode_id.bytes))]
        sql = f"SELECT id FROM thread WHERE {_OWN} AND number = ANY(%s::bigint[]) ORDER BY created_at, id"
        rows = self._session.rows(sql, (*self._session.keys, bigints(numbers)))
        return [UUID(bytes=bytes(identity)) for (identity,) in rows]


_THREADS: Final = EACH.format(f"SELECT {THREAD} FROM thread WHERE space = %s AND owner = %s")
_INSERT_THREAD: Final = (
    f"INSERT INTO thread (space, owner, number, id, origin, {CHANGING})"
    f" VALUES ({', '.join(['%s'] * (CHANGING.count(',') + 6))}) ON CONFLICT DO NOTHING"
)
_CONTINUABLE: Final = (
    f"SELECT {THREAD} FROM thread WHERE space = %s AND owner = %s AND modality = 'message'"
    " AND (status = 'open' OR closed_for = 'inactivity')"
)
# What a caller named is joined by its name alone, unless users pick threads on a channel it was reached by.
_SHARED: Final = (
    f"{_CONTINUABLE} AND selected_at IS NULL"
    f" AND (NOT explicit OR channels <> '[]' AND ({UNNAMED.replace('%', '%%')}"
    " OR EXISTS (SELECT 1 FROM jsonb_array_elements_text(channels::jsonb) AS c WHERE c = ANY(%s))))"
)
_SELECTED: Final = f"{_CONTINUABLE} AND selected_at IS NOT NULL"
# What nobody selected is read off the index of activity; what somebody did is rarely more than a few.
_ACTIVE: Final = " ORDER BY greatest(last_activity_at, coalesce(selected_at, last_activity_at)) DESC, id"
_CURRENT: Final = (
    "SELECT * FROM ((SELECT * FROM"
    f" (({_SHARED} ORDER BY last_activity_at DESC, id LIMIT %s)"
    f" UNION ALL ({_SELECTED})) AS t{_ACTIVE} LIMIT %s)"
    f" UNION ({_SELECTED} ORDER BY selected_at DESC, id DESC LIMIT 1)) AS u"
    f"{_ACTIVE}"
)


class PostgresThreads(PostgresActors, PostgresLinks, PostgresStays, ThreadTable):
    """The `Threads` of one transaction."""

    _session: PostgresSession
    tables = POSTGRES
    _locked = " FOR NO KEY UPDATE"

    def drop(self, thread_id: UUID, section: int | None = None) -> None:
        """Delete every row of a thread (raises NotFound), or only that of the section that begins there."""
        if section is None:
            take_out_thread(self._session, self._session.thread_number(thread_id))
        super().drop(thread_id, section)

    def _columns(self, sql: str, bindings: Sequence[Any]) -> list[tuple[Any, ...]]:
        return [read_columns(columns) for columns in self._session.rows(sql, bindings)]

    def _many(self, ids: Sequence[UUID]) -> Sequence[tuple[Any, ...]]:
        binary = byteas([identity.bytes for identity in dict.fromkeys(ids)])
        return self._columns(_THREADS, (binary, *self._session.keys))

    def _current(self, picked: Sequence[str], limit: int | None) -> Sequence[tuple[Any, ...]]:
        keys = self._session.keys
        return self._columns(_CURRENT, (*keys, [*picked], limit, *keys, limit, *keys))

    def _begun(self, until: int, limit: int | None) -> Sequence[tuple[Any, ...]]:
        sql = (
            f"SELECT {THREAD} FROM thread WHERE space = %s AND owner = %s AND modality = 'message'"
            " AND created_at <= %s ORDER BY last_activity_at DESC, id LIMIT %s"
        )
        return self._columns(sql, (*self._session.keys, until, limit))

    def _next_number(self) -> int:
        # Locks the scope's row to the end of the transaction: threads of a scope begin one by one.
        sql = "UPDATE scope SET threads = threads + 1 WHERE space = %s AND owner = %s RETURNING threads"
        row = self._session.row(sql, self._session.keys)
        if row is None:
            raise self._session.miss_scope()
        return int(row[0])

    def _add(self, thread: Thread) -> int | None:
        keys, number = self._session.own(), self._next_number()
        columns = (number, thread.id.bytes, thread.origin, *changing_columns(thread))
        return number if self._session.execute(_INSERT_THREAD, (*keys, *columns)) else None

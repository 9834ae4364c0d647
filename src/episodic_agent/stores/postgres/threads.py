"""Threads and their open frames, as rows.

Unlike SQLite's, these writers run side by side: reading a frame in order to write locks it, so that one
thread takes one append at a time, and nothing an append touches is shared between threads.
"""

from collections.abc import Sequence
from typing import Any, Final
from uuid import UUID

from episodic_agent.schemas import Thread
from episodic_agent.stores.catalogue import POSTGRES
from episodic_agent.stores.nouns import CHANGING, THREAD, changing_columns
from episodic_agent.stores.postgres.erasing import PostgresActors
from episodic_agent.stores.postgres.places import PostgresStays
from episodic_agent.stores.postgres.server.batches import bigints, byteas, read_columns
from episodic_agent.stores.postgres.server.session import EACH, OWN_ROW, PostgresSession
from episodic_agent.stores.postgres.words.segments import take_out_thread
from episodic_agent.stores.tables.links import LinkTable
from episodic_agent.stores.tables.threads import UNNAMED, ThreadTable

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

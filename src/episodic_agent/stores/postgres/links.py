"""Threads that form a cross-thread episode, as rows."""

from collections.abc import Sequence
from typing import Final
from uuid import UUID

from episodic_agent.stores.postgres.server.batches import bigints
from episodic_agent.stores.postgres.server.session import OWN_ROW, PostgresSession
from episodic_agent.stores.tables.links import LinkTable

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

"""Threads that form a cross-thread episode, as rows."""

from collections.abc import Sequence
from uuid import UUID

from episodic_agent.stores.rows import id_of
from episodic_agent.stores.sqlite.file.session import SqliteSession
from episodic_agent.stores.tables.links import LinkTable


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

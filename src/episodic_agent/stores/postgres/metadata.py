"""What episodes are about, inverted: the rows of metadata, and what passes conditions on them."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from episodic_agent.schemas.chains import Condition, Term
from episodic_agent.schemas.strength import Standing
from episodic_agent.stores.postgres.server.batches import byteas, read_columns, texts
from episodic_agent.stores.postgres.server.session import OWN_ROW, PostgresSession
from episodic_agent.stores.rows import to_microseconds
from episodic_agent.stores.tables.dialect import Table
from episodic_agent.stores.tables.episodes import ConditionTable, passing_all

_OWN: Final = "space = %s AND owner = %s"
# One look-up for each value: without statistics `= ANY(…)` reads all there is of the scope.
_FULL: Final = (
    "SELECT m.episode FROM unnest(%s::text[]) AS v (value) CROSS JOIN LATERAL (SELECT episode"
    f' FROM metadata_term WHERE {_OWN} AND field = %s AND value = v.value COLLATE "C" OFFSET 0) m'
)
_PART: Final = (
    f"SELECT episode FROM metadata_term WHERE {_OWN} AND field = %s"
    " AND EXISTS (SELECT 1 FROM unnest(%s::text[]) AS v (part) WHERE strpos(value, v.part) > 0)"
)
_SPAN: Final = (
    "(e.thread::bigint << 32) | e.first_seq AS ref, (e.thread::bigint << 32) | e.last_seq,"
    " encode(e.id, 'hex'), e.start_at, e.end_at, e.stability, e.last_reviewed_at"
)
_CURRENT: Final = "kind = 'event' AND generation_to IS NULL"


class PostgresMetadata(Table):
    """The rows of episodes."""

    _session: PostgresSession

    def _describe(self, episode_id: UUID, terms: Sequence[Term]) -> None:
        """Write an episode's rows in the place of those it had."""
        keys, once = self._session.own(), list(dict.fromkeys(terms))
        sql = f"DELETE FROM metadata_term WHERE {_OWN} AND episode = %s"
        self._session.execute(sql, (*keys, episode_id.bytes))
        # Two who write the same episode at once write the same rows.
        sql = (
            "INSERT INTO metadata_term (space, owner, field, value, episode)"
            f" SELECT s.space, s.owner, t.field, t.value, %s::bytea FROM {OWN_ROW},"
            " unnest(%s::text[], %s::text[]) AS t (field, value)"
            " ON CONFLICT DO NOTHING"
        )
        columns = texts([term.field for term in once]), texts([term.value for term in once])
        self._session.insert(sql, (episode_id.bytes, *keys, *columns), len(once))


class PostgresConditions(ConditionTable):
    """Episodes that pass conditions."""

    _session: PostgresSession

    def described(self, ids: Sequence[UUID]) -> Sequence[tuple[UUID, Term]]:
        sql = (
            "SELECT DISTINCT m.* FROM unnest(%s::bytea[]) AS k (id) CROSS JOIN LATERAL (SELECT episode,"
            f" field, value FROM metadata_term WHERE {_OWN} AND episode = k.id OFFSET 0) m"
            " ORDER BY m.episode, m.field, m.value"
        )
        binary = byteas([identity.bytes for identity in ids])
        rows = self._session.rows(sql, (binary, *self._session.keys))
        return [
            (UUID(bytes=bytes(episode)), Term(field, value))
            for episode, field, value in map(read_columns, rows)
        ]

    def spans(
        self,
        fields: Sequence[Sequence[Condition]],
        *,
        since: datetime | None = None,
        until: datetime | None = None,
    ) -> Sequence[Standing]:
        conditions, values = [_OWN, _CURRENT], list[Any](self._session.keys)
        if since is not None and not fields:  # what begins then ends later: by the index on ends
            conditions.append("end_at >= %s")
            values.append(to_microseconds(since))
        for moment, condition in ((since, "start_at >= %s"), (until, "start_at < %s")):
            if moment is not None:
                conditions.append(condition)
                values.append(to_microseconds(moment))
        source = f"SELECT * FROM episode WHERE {' AND '.join(conditions)}"
        if fields:
            keys = byteas(sorted(passing_all(fields, self._passing)))
            values = [keys, *values]
            source = (
                "SELECT o.* FROM unnest(%s::bytea[]) AS k (key) CROSS JOIN LATERAL"
                f" ({source} AND id = k.key OFFSET 0) o"
            )
        sql = f"SELECT {_SPAN} FROM ({source}) e ORDER BY ref"
        return [Standing._make(columns) for columns in self._session.rows(sql, values)]

    def _passing(self, condition: Condition) -> list[bytes]:
        values, keys = texts(condition.values), self._session.keys
        if condition.contains:
            rows = self._session.rows(_PART, (*keys, condition.field, values))
        else:
            rows = self._session.rows(_FULL, (values, *keys, condition.field))
        return [bytes(episode) for (episode,) in rows]

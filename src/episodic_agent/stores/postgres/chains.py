"""Parents of episodes, links that were taken back, and the inverted table of metadata, as rows."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from episodic_agent.core.chain_records import Condition, Node, Refusal, Term
from episodic_agent.core.interfaces import Span
from episodic_agent.errors import NotFound
from episodic_agent.stores.postgres.batches import byteas, texts
from episodic_agent.stores.postgres.session import Session
from episodic_agent.stores.postgres.text import read_columns
from episodic_agent.stores.rows import optional_bytes, optional_id, to_microseconds, to_time

_OWN: Final = "space = %s AND owner = %s"
_NODE: Final = "id, parent_episode_id, start_at"
# One look-up for each value: without statistics `= ANY(…)` reads all there is of the scope.
_WHOLE: Final = (
    "SELECT m.episode FROM unnest(%s::text[]) AS v (value) CROSS JOIN LATERAL (SELECT episode"
    f' FROM metadata_term WHERE {_OWN} AND field = %s AND value = v.value COLLATE "C" OFFSET 0) m'
)
_PART: Final = (
    f"SELECT episode FROM metadata_term WHERE {_OWN} AND field = %s"
    " AND EXISTS (SELECT 1 FROM unnest(%s::text[]) AS v (part) WHERE strpos(value, v.part) > 0)"
)
_SPAN: Final = (
    "(e.thread::bigint << 32) | e.first_seq AS ref, (e.thread::bigint << 32) | e.last_seq AS last,"
    " encode(e.id, 'hex') AS name, e.start_at, e.end_at"
)
_CURRENT: Final = "kind = 'event' AND generation_to IS NULL"


class PostgresChains:
    """The `Chains` of one transaction."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def lead(self, child: UUID, parent: UUID | None) -> None:
        """Let an episode go on from another, or from none; NotFound for either. Loops are not looked for."""
        keys = self._session.own()
        if parent is not None and not self.nodes([parent]):
            raise NotFound(f"no episode {parent} in this scope to go on from")
        sql = f"UPDATE episode SET parent_episode_id = %s::bytea WHERE {_OWN} AND id = %s"
        if self._session.execute(sql, (optional_bytes(parent), *keys, child.bytes)) == 0:
            raise NotFound(f"no episode {child} in this scope")

    def nodes(self, ids: Sequence[UUID]) -> Sequence[Node]:
        """Return those of these episodes that there are, by id."""
        return self._nodes("id", ids)

    def children(self, ids: Sequence[UUID]) -> Sequence[Node]:
        """Return the episodes whose parent is one of these, by id."""
        return self._nodes("parent_episode_id", ids)

    def above(self, ids: Sequence[UUID]) -> Sequence[Node]:
        """Return these episodes and all they go on from, by id, each once though parents run in a circle."""
        return self._walked("id = walk.parent_episode_id", ids)

    def below(self, ids: Sequence[UUID]) -> Sequence[Node]:
        """Return these episodes and all that goes on from them, by id, each once."""
        return self._walked("parent_episode_id = walk.id", ids)

    def _walked(self, step: str, ids: Sequence[UUID]) -> list[Node]:
        sql = (
            f"WITH RECURSIVE walk AS (SELECT e.* FROM {_found('id = k.key')} UNION SELECT e.* FROM walk"
            f" CROSS JOIN LATERAL (SELECT {_NODE} FROM episode WHERE {_OWN} AND {step} OFFSET 0) e)"
            " SELECT * FROM walk ORDER BY id"
        )
        return self._read(sql, ids, self._session.keys)

    def _nodes(self, column: str, ids: Sequence[UUID]) -> list[Node]:
        return self._read(f"SELECT DISTINCT e.* FROM {_found(f'{column} = k.key')} ORDER BY e.id", ids)

    def _read(self, sql: str, ids: Sequence[UUID], more: Sequence[int] = ()) -> list[Node]:
        given = byteas([identity.bytes for identity in ids])
        found = self._session.rows(sql, (given, *self._session.keys, *more))
        return [Node(UUID(bytes=bytes(key)), optional_id(parent), to_time(at)) for key, parent, at in found]

    def latest(self, *, limit: int, before: datetime) -> Sequence[UUID]:
        """Return closed parts and sessions that ended at a time or before, newest end first, ties by id."""
        sql = (
            f"SELECT id FROM episode WHERE {_OWN} AND kind = 'primary' AND state <> 'open' AND end_at <= %s"
            " ORDER BY end_at DESC, id LIMIT %s"
        )
        found = self._session.rows(sql, (*self._session.keys, to_microseconds(before), limit))
        return [UUID(bytes=bytes(identity)) for (identity,) in found]

    def refuse(self, refusal: Refusal) -> None:
        """Remember that a link was taken back; the same pair again takes the other's place."""
        sql = (
            "INSERT INTO chain_refusal (space, owner, child, parent, at, by) VALUES (%s, %s, %s, %s, %s, %s)"
            " ON CONFLICT (space, owner, child, parent) DO UPDATE SET at = excluded.at, by = excluded.by"
        )
        pair = (refusal.child.bytes, refusal.parent.bytes)
        keys = self._session.own()
        self._session.execute(sql, (*keys, *pair, to_microseconds(refusal.at), refusal.by))

    def lift(self, child: UUID, parent: UUID) -> None:
        """Forget a refusal; an unknown one is gone already."""
        sql = f"DELETE FROM chain_refusal WHERE {_OWN} AND child = %s AND parent = %s"
        self._session.execute(sql, (*self._session.own(), child.bytes, parent.bytes))

    def refusals(self, child: UUID | None = None) -> Sequence[Refusal]:
        """Return the refusals of an episode, or all, oldest first, ties by child, then parent."""
        condition, more = ("", ()) if child is None else (" AND child = %s", (child.bytes,))
        sql = (
            f"SELECT child, parent, at, by FROM chain_refusal WHERE {_OWN}{condition}"
            " ORDER BY at, child, parent"
        )
        found = self._session.rows(sql, (*self._session.keys, *more))
        return [
            Refusal(UUID(bytes=bytes(one)), UUID(bytes=bytes(other)), to_time(at), by)
            for one, other, at, by in map(read_columns, found)
        ]

    def describe(self, episode_id: UUID, terms: Sequence[Term]) -> None:
        """Write an episode's rows in the place of those it had."""
        keys, once = self._session.own(), list(dict.fromkeys(terms))
        sql = f"DELETE FROM metadata_term WHERE {_OWN} AND episode = %s"
        self._session.execute(sql, (*keys, episode_id.bytes))
        # Two who write the same episode at once write the same rows.
        sql = (
            "INSERT INTO metadata_term (space, owner, field, value, episode)"
            " SELECT %s, %s, t.field, t.value, %s FROM unnest(%s::text[], %s::text[]) AS t (field, value)"
            " ON CONFLICT DO NOTHING"
        )
        columns = texts([term.field for term in once]), texts([term.value for term in once])
        self._session.execute(sql, (*keys, episode_id.bytes, *columns))

    def described(self, ids: Sequence[UUID]) -> Sequence[tuple[UUID, Term]]:
        """Return the rows of these episodes, by episode, field, value."""
        sql = (
            "SELECT DISTINCT m.* FROM unnest(%s::bytea[]) AS k (id) CROSS JOIN LATERAL (SELECT episode,"
            f" field, value FROM metadata_term WHERE {_OWN} AND episode = k.id OFFSET 0) m"
            " ORDER BY m.episode, m.field, m.value"
        )
        given = byteas([identity.bytes for identity in ids])
        found = self._session.rows(sql, (given, *self._session.keys))
        return [
            (UUID(bytes=bytes(episode)), Term(field, value))
            for episode, field, value in map(read_columns, found)
        ]

    def matching(
        self, fields: Sequence[Sequence[Condition]], among: Sequence[UUID] | None = None
    ) -> Sequence[UUID]:
        """Return the episodes (of these, where given) that pass every field by any condition, by id."""
        kept = None if among is None else frozenset(one.bytes for one in among)
        return [UUID(bytes=one) for one in sorted(self._matching(fields, kept))]

    def _matching(
        self, fields: Sequence[Sequence[Condition]], kept: frozenset[bytes] | None = None
    ) -> frozenset[bytes]:
        for field in fields:
            passed = frozenset(found for condition in field for found in self._passing(condition))
            kept = passed if kept is None else kept & passed
        return kept or frozenset()

    def spans(
        self,
        fields: Sequence[Sequence[Condition]],
        *,
        since: datetime | None = None,
        until: datetime | None = None,
    ) -> Sequence[Span]:
        """Return what the current event episodes that pass every field own, by reference."""
        conditions, given = [_OWN, _CURRENT], list[Any](self._session.keys)
        if since is not None and not fields:  # what begins then ends later: by the index on ends
            conditions.append("end_at >= %s")
            given.append(to_microseconds(since))
        for moment, condition in ((since, "start_at >= %s"), (until, "start_at < %s")):
            if moment is not None:
                conditions.append(condition)
                given.append(to_microseconds(moment))
        source = f"SELECT * FROM episode WHERE {' AND '.join(conditions)}"
        if fields:
            keys = byteas(sorted(self._matching(fields)))
            given = [keys, *given]
            source = (
                "SELECT o.* FROM unnest(%s::bytea[]) AS k (key) CROSS JOIN LATERAL"
                f" ({source} AND id = k.key OFFSET 0) o"
            )
        sql = f"SELECT {_SPAN} FROM ({source}) e ORDER BY ref"
        return [Span._make(columns) for columns in self._session.rows(sql, given)]

    def _passing(self, condition: Condition) -> list[bytes]:
        values, keys = texts(condition.values), self._session.keys
        if condition.contains:
            found = self._session.rows(_PART, (*keys, condition.field, values))
        else:
            found = self._session.rows(_WHOLE, (values, *keys, condition.field))
        return [bytes(episode) for (episode,) in found]


def _found(which: str) -> str:
    return (
        "unnest(%s::bytea[]) AS k (key) CROSS JOIN LATERAL"
        f" (SELECT {_NODE} FROM episode WHERE {_OWN} AND {which} OFFSET 0) e"
    )

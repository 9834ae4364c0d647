"""Parents of episodes, links that were taken back, and the inverted table of metadata, as rows."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from episodic_agent.core.chain_records import Condition, Node, Refusal, Term
from episodic_agent.core.interfaces import Span
from episodic_agent.errors import NotFound
from episodic_agent.stores.rows import optional_bytes, optional_id, to_json, to_microseconds, to_time
from episodic_agent.stores.sqlite.session import EACH, Session, id_list

_NODE: Final = "e.id, e.parent_episode_id, e.start_at"
_WHOLE: Final = "m.value IN (SELECT value FROM json_each(?))"
_PART: Final = "EXISTS (SELECT 1 FROM json_each(?) p WHERE instr(m.value, p.value))"
_SPAN: Final = (
    "(e.thread << 32) | e.first_seq AS ref, (e.thread << 32) | e.last_seq, lower(hex(e.id)),"
    " e.start_at, e.end_at"
)
_CURRENT: Final = "e.kind = 'event' AND e.generation_to IS NULL"


class SqliteChains:
    """The `Chains` of one transaction."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def lead(self, child: UUID, parent: UUID | None) -> None:
        """Let an episode go on from another, or from none; NotFound for either. Loops are not looked for."""
        scope = self._session.own()
        if parent is not None and not self.nodes([parent]):
            raise NotFound(f"no episode {parent} in this scope to go on from")
        sql = "UPDATE episode SET parent_episode_id = ? WHERE scope = ? AND id = ?"
        self._session.db.execute(sql, (optional_bytes(parent), scope, child.bytes))
        if not self._session.db.changes():
            raise NotFound(f"no episode {child} in this scope")

    def nodes(self, ids: Sequence[UUID]) -> Sequence[Node]:
        """Return those of these episodes that there are, by id."""
        sql = f"SELECT DISTINCT {_NODE} FROM {EACH} episode e WHERE e.scope = ? AND e.id = unhex(p.value)"
        return self._nodes(sql, ids)

    def children(self, ids: Sequence[UUID]) -> Sequence[Node]:
        """Return the episodes whose parent is one of these, by id."""
        sql = (
            # without statistics all of a scope looks as few as the children of one
            f"SELECT DISTINCT {_NODE} FROM {EACH} episode e INDEXED BY episode_parent"
            " WHERE e.scope = ? AND e.parent_episode_id = unhex(p.value)"
        )
        return self._nodes(sql, ids)

    def above(self, ids: Sequence[UUID]) -> Sequence[Node]:
        """Return these episodes and all they go on from, by id, each once though parents run in a circle."""
        return self._walked("episode e WHERE e.scope = ? AND e.id = walk.parent", ids)

    def below(self, ids: Sequence[UUID]) -> Sequence[Node]:
        """Return these episodes and all that goes on from them, by id, each once."""
        return self._walked(
            "episode e INDEXED BY episode_parent WHERE e.scope = ? AND e.parent_episode_id = walk.id", ids
        )

    def _walked(self, step: str, ids: Sequence[UUID]) -> list[Node]:
        sql = (
            f"WITH RECURSIVE walk (id, parent, at) AS (SELECT {_NODE} FROM {EACH} episode e"
            " WHERE e.scope = ? AND e.id = unhex(p.value)"
            f" UNION SELECT {_NODE} FROM walk CROSS JOIN {step}) SELECT id, parent, at FROM walk ORDER BY id"
        )
        scope = self._session.number
        return _read(self._session.rows(sql, (id_list(ids), scope, scope)))

    def _nodes(self, sql: str, ids: Sequence[UUID]) -> list[Node]:
        return _read(self._session.rows(f"{sql} ORDER BY e.id", (id_list(ids), self._session.number)))

    def latest(self, *, limit: int, before: datetime) -> Sequence[UUID]:
        """Return closed parts and sessions that ended at a time or before, newest end first, ties by id."""
        sql = (
            "SELECT id FROM episode WHERE scope = ? AND kind = 'primary' AND state <> 'open' AND end_at <= ?"
            " ORDER BY end_at DESC, id LIMIT ?"
        )
        found = self._session.rows(sql, (self._session.number, to_microseconds(before), limit))
        return [UUID(bytes=identity) for (identity,) in found]

    def refuse(self, refusal: Refusal) -> None:
        """Remember that a link was taken back; the same pair again takes the other's place."""
        sql = (
            "INSERT INTO chain_refusal (scope, child, parent, at, by) VALUES (?, ?, ?, ?, ?)"
            " ON CONFLICT (scope, child, parent) DO UPDATE SET at = excluded.at, by = excluded.by"
        )
        pair = (refusal.child.bytes, refusal.parent.bytes)
        self._session.db.execute(sql, (self._session.own(), *pair, to_microseconds(refusal.at), refusal.by))

    def lift(self, child: UUID, parent: UUID) -> None:
        """Forget a refusal; an unknown one is gone already."""
        sql = "DELETE FROM chain_refusal WHERE scope = ? AND child = ? AND parent = ?"
        self._session.db.execute(sql, (self._session.own(), child.bytes, parent.bytes))

    def refusals(self, child: UUID | None = None) -> Sequence[Refusal]:
        """Return the refusals of an episode, or all, oldest first, ties by child, then parent."""
        sql = "SELECT child, parent, at, by FROM chain_refusal WHERE scope = ?"
        bindings: list[Any] = [self._session.number]
        if child is not None:
            sql, bindings = f"{sql} AND child = ?", [*bindings, child.bytes]
        found = self._session.rows(f"{sql} ORDER BY at, child, parent", bindings)
        return [Refusal(UUID(bytes=one), UUID(bytes=other), to_time(at), by) for one, other, at, by in found]

    def describe(self, episode_id: UUID, terms: Sequence[Term]) -> None:
        """Write an episode's rows in the place of those it had."""
        scope = self._session.own()
        sql = "DELETE FROM metadata_term WHERE scope = ? AND episode = ?"
        self._session.db.execute(sql, (scope, episode_id.bytes))
        sql = "INSERT INTO metadata_term (scope, field, value, episode) VALUES (?, ?, ?, ?)"
        rows = [(scope, term.field, term.value, episode_id.bytes) for term in dict.fromkeys(terms)]
        self._session.db.executemany(sql, rows)

    def described(self, ids: Sequence[UUID]) -> Sequence[tuple[UUID, Term]]:
        """Return the rows of these episodes, by episode, field, value."""
        sql = (
            f"SELECT DISTINCT m.episode, m.field, m.value FROM {EACH} metadata_term m"
            " WHERE m.scope = ? AND m.episode = unhex(p.value) ORDER BY m.episode, m.field, m.value"
        )
        found = self._session.rows(sql, (id_list(ids), self._session.number))
        return [(UUID(bytes=episode), Term(field, value)) for episode, field, value in found]

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
        source, conditions, given = "episode e", ["e.scope = ?", _CURRENT], [self._session.number]
        bindings: list[Any] = []
        if fields:
            source, bindings = f"{EACH} episode e", [to_json([key.hex() for key in self._matching(fields)])]
            conditions.append("e.id = unhex(p.value)")
        elif since is not None:  # what begins then ends later: by the index on ends
            conditions.append("e.end_at >= ?")
            given.append(to_microseconds(since))
        for moment, condition in ((since, "e.start_at >= ?"), (until, "e.start_at < ?")):
            if moment is not None:
                conditions.append(condition)
                given.append(to_microseconds(moment))
        sql = f"SELECT {_SPAN} FROM {source} WHERE {' AND '.join(conditions)} ORDER BY ref"
        return [Span._make(columns) for columns in self._session.rows(sql, (*bindings, *given))]

    def _passing(self, condition: Condition) -> list[bytes]:
        value = _PART if condition.contains else _WHOLE
        sql = f"SELECT m.episode FROM metadata_term m WHERE m.scope = ? AND m.field = ? AND {value}"
        found = self._session.rows(sql, (self._session.number, condition.field, to_json(condition.values)))
        return [episode for (episode,) in found]


def _read(rows: Sequence[tuple[Any, ...]]) -> list[Node]:
    return [Node(UUID(bytes=key), optional_id(parent), to_time(at)) for key, parent, at in rows]

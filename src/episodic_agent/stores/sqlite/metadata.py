"""What episodes are about, inverted: the rows of metadata, and what passes conditions on them."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from episodic_agent.schemas.chains import Condition, Term
from episodic_agent.schemas.strength import Standing
from episodic_agent.stores.rows import id_of, to_json, to_microseconds
from episodic_agent.stores.sqlite.file.session import EACH, SqliteSession, id_list
from episodic_agent.stores.tables.dialect import Table
from episodic_agent.stores.tables.spans import ConditionTable, passing_all

_FULL: Final = "m.value IN (SELECT value FROM json_each(?))"
_PART: Final = "EXISTS (SELECT 1 FROM json_each(?) p WHERE instr(m.value, p.value))"
_SPAN: Final = (
    "(e.thread << 32) | e.first_seq AS ref, (e.thread << 32) | e.last_seq, lower(hex(e.id)),"
    " e.start_at, e.end_at, e.stability, e.last_reviewed_at"
)
_CURRENT: Final = "e.kind = 'event' AND e.generation_to IS NULL"


class SqliteMetadata(Table):
    """The rows of episodes."""

    _session: SqliteSession

    def _describe(self, episode_id: UUID, terms: Sequence[Term]) -> None:
        """Write an episode's rows in the place of those it had."""
        scope = self._session.own()
        sql = "DELETE FROM metadata_term WHERE scope = ? AND episode = ?"
        self._session.db.execute(sql, (scope, episode_id.bytes))
        sql = "INSERT INTO metadata_term (scope, field, value, episode) VALUES (?, ?, ?, ?)"
        rows = [(scope, term.field, term.value, episode_id.bytes) for term in dict.fromkeys(terms)]
        self._session.db.executemany(sql, rows)


class SqliteConditions(ConditionTable):
    """Episodes that pass conditions."""

    _session: SqliteSession

    def described(self, ids: Sequence[UUID]) -> Sequence[tuple[UUID, Term]]:
        """Return the rows of these episodes, by episode, field, value."""
        sql = (
            f"SELECT DISTINCT m.episode, m.field, m.value FROM {EACH} metadata_term m"
            " WHERE m.scope = ? AND m.episode = unhex(p.value) ORDER BY m.episode, m.field, m.value"
        )
        rows = self._session.rows(sql, (id_list(ids), self._session.number))
        return [(id_of(episode), Term(field, value)) for episode, field, value in rows]

    def spans(
        self,
        fields: Sequence[Sequence[Condition]],
        *,
        since: datetime | None = None,
        until: datetime | None = None,
    ) -> Sequence[Standing]:
        """Return where the current event episodes that pass every field stand, by reference."""
        source, conditions, numbers = "episode e", ["e.scope = ?", _CURRENT], [self._session.number]
        bindings: list[Any] = []
        if fields:
            passed = [key.hex() for key in passing_all(fields, self._passing)]
            source, bindings = f"{EACH} episode e", [to_json(passed)]
            conditions.append("e.id = unhex(p.value)")
        elif since is not None:  # what begins then ends later: by the index on ends
            conditions.append("e.end_at >= ?")
            numbers.append(to_microseconds(since))
        for moment, condition in ((since, "e.start_at >= ?"), (until, "e.start_at < ?")):
            if moment is not None:
                conditions.append(condition)
                numbers.append(to_microseconds(moment))
        sql = f"SELECT {_SPAN} FROM {source} WHERE {' AND '.join(conditions)} ORDER BY ref"
        return [Standing._make(columns) for columns in self._session.rows(sql, (*bindings, *numbers))]

    def _passing(self, condition: Condition) -> list[bytes]:
        value = _PART if condition.contains else _FULL
        sql = f"SELECT m.episode FROM metadata_term m WHERE m.scope = ? AND m.field = ? AND {value}"
        rows = self._session.rows(sql, (self._session.number, condition.field, to_json(condition.values)))
        return [episode for (episode,) in rows]

"""The decisions that made episodes, links and chains, as rows."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from episodic_agent.errors import NotFound
from episodic_agent.schemas import Decision
from episodic_agent.stores.nouns import DECISION, decision_columns, decision_of
from episodic_agent.stores.rows import to_microseconds
from episodic_agent.stores.tables.dialect import EVERY, Table, placed, row_of

_PUT: Final = (
    f"INSERT INTO decision (:keys, {DECISION}) VALUES (:own, {placed(DECISION)})"
    " ON CONFLICT (:keys, id) DO NOTHING"
)
_AMEND: Final = "UPDATE decision SET outcome = :outcome, body = :body WHERE :mine AND id = :id"


class DecisionTable(Table):
    """Who decided what, from what, and how it turned out."""

    def decide(self, decision: Decision, *, amend: bool = False) -> None:
        """Write a decision, or amend its outcome and detail."""
        columns = row_of(DECISION, decision_columns(decision))
        if not amend:
            self._session.change(_PUT, **columns)
        elif not self._session.change(_AMEND, **columns):
            raise NotFound(f"no decision {decision.id} in this scope")

    def revoke(self, *decision_ids: UUID) -> None:
        self._session.own()
        if decision_ids:
            ids = [one.bytes for one in decision_ids]
            self._session.change("DELETE FROM decision WHERE :mine AND id IN :ids(ids)", ids=ids)

    def decisions(
        self,
        *,
        ids: Sequence[UUID] | None = None,
        subject: UUID | None = None,
        type: str | None = None,
        last: int | None = None,
        since: datetime | None = None,
    ) -> Sequence[Decision]:
        if ids is not None:
            sql = f"SELECT {DECISION} FROM decision WHERE :mine AND id IN :ids(ids)"
            results = self._session.read(sql, ids=[one.bytes for one in ids])
            return sorted(map(decision_of, results), key=lambda one: (one.at, one.id))
        conditions: list[str] = [":mine"]
        values: dict[str, Any] = {"last": EVERY if last is None else last}
        if subject is not None:
            conditions.append("subject = :subject")
            values["subject"] = subject.bytes
        if type is not None:
            # The index of types is not for the few of a subject: it would lead past everybody else's.
            conditions.append(_of_type(type) if subject is None else "type = :type")
            values["type"] = type
        if since is not None:
            conditions.append("at >= :since")
            values["since"] = to_microseconds(since)
        sql = f"SELECT {DECISION} FROM decision WHERE {' AND '.join(conditions)} ORDER BY at DESC, id DESC"
        results = self._session.read(f"{sql} LIMIT :last", **values)
        return [decision_of(columns) for columns in reversed(results)]


def _of_type(type: str) -> str:
    """Ask for a type; what the index of types leaves out is said in its own words."""
    return "type = :type" if type == "boundary" else "type = :type AND type <> 'boundary'"

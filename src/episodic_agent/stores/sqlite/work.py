"""What work for turns took: a row for each piece of it, by the first observation it was for."""

from collections.abc import Sequence
from datetime import datetime
from typing import Final
from uuid import UUID

from episodic_agent.core.interfaces import LONGEST_RUN
from episodic_agent.schemas import WorkRow
from episodic_agent.stores.nouns import WORK, work_columns, work_of
from episodic_agent.stores.rows import to_microseconds
from episodic_agent.stores.sqlite.session import Session

_PUT: Final = (
    f"INSERT INTO work (scope, {WORK}) VALUES (?, ?, ?, ?, ?, ?)"
    " ON CONFLICT (scope, first_ref, at, name)"
    " DO UPDATE SET last_ref = excluded.last_ref, body = excluded.body"
)
_OF: Final = (
    f"SELECT {WORK} FROM work WHERE scope = ? AND first_ref > ? AND first_ref <= ? AND last_ref >= ?"
    " ORDER BY at, first_ref, name"
)


class SqliteWork:
    """The `Work` of one transaction."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def put(self, rows: Sequence[WorkRow]) -> None:
        """Keep rows; one of the same first reference, time and name takes the place of another."""
        scope = self._session.own()
        self._session.db.executemany(_PUT, [(scope, *work_columns(row)) for row in rows])

    def of(self, first_ref: int, last_ref: int) -> Sequence[WorkRow]:
        """Return the rows for any of a thread's observations `first_ref..last_ref`, by time, then place."""
        bounds = (first_ref - LONGEST_RUN, last_ref, first_ref)
        return [work_of(found) for found in self._session.rows(_OF, (self._session.number, *bounds))]

    def drop(self, before: datetime) -> None:
        """Delete what was done before a time."""
        sql = "DELETE FROM work WHERE scope = ? AND at < ?"
        self._session.db.execute(sql, (self._session.own(), to_microseconds(before)))

    def named(self, first: UUID, last: UUID, *, limit: int) -> Sequence[UUID]:
        """Return the ids of observations that lie in `first..last`, in order: those that begin alike."""
        sql = "SELECT id FROM observation WHERE scope = ? AND id BETWEEN ? AND ? ORDER BY id LIMIT ?"
        found = self._session.rows(sql, (self._session.number, first.bytes, last.bytes, limit))
        return [UUID(bytes=identity) for (identity,) in found]

"""What work for turns took: a row for each piece of it, by the first observation it was for."""

from collections.abc import Sequence
from datetime import datetime
from typing import Final
from uuid import UUID

from episodic_agent.core.interfaces import LONGEST_RUN
from episodic_agent.schemas import WorkRow
from episodic_agent.stores.nouns import WORK, work_columns, work_of
from episodic_agent.stores.postgres.session import Session
from episodic_agent.stores.postgres.text import read_columns
from episodic_agent.stores.rows import to_microseconds

_PUT: Final = (
    f"INSERT INTO work (space, owner, {WORK}) VALUES (%s, %s, %s, %s, %s, %s, %s)"
    " ON CONFLICT (space, owner, first_ref, at, name)"
    " DO UPDATE SET last_ref = excluded.last_ref, body = excluded.body"
)
_OF: Final = (
    f"SELECT {WORK} FROM work WHERE space = %s AND owner = %s AND first_ref > %s AND first_ref <= %s"
    ' AND last_ref >= %s ORDER BY at, first_ref, name COLLATE "C"'
)
_NAMED: Final = (
    "SELECT id FROM observation WHERE space = %s AND owner = %s AND id BETWEEN %s AND %s ORDER BY id LIMIT %s"
)


class PostgresWork:
    """The `Work` of one transaction."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def put(self, rows: Sequence[WorkRow]) -> None:
        """Keep rows; one of the same first reference, time and name takes the place of another."""
        keys = self._session.own()
        # In one order everywhere: two writers of the same rows then wait, and never for each other.
        for row in sorted(rows, key=lambda row: (row.first_ref, row.at, row.name)):
            self._session.execute(_PUT, (*keys, *work_columns(row)))

    def of(self, first_ref: int, last_ref: int) -> Sequence[WorkRow]:
        """Return the rows for any of a thread's observations `first_ref..last_ref`, by time, then place."""
        found = self._session.rows(_OF, (*self._session.keys, first_ref - LONGEST_RUN, last_ref, first_ref))
        return [work_of(read_columns(columns)) for columns in found]

    def drop(self, before: datetime) -> None:
        """Delete what was done before a time."""
        sql = "DELETE FROM work WHERE space = %s AND owner = %s AND at < %s"
        self._session.execute(sql, (*self._session.own(), to_microseconds(before)))

    def named(self, first: UUID, last: UUID, *, limit: int) -> Sequence[UUID]:
        """Return the ids of observations that lie in `first..last`, in order: those that begin alike."""
        found = self._session.rows(_NAMED, (*self._session.keys, first.bytes, last.bytes, limit))
        return [UUID(bytes=identity) for (identity,) in found]

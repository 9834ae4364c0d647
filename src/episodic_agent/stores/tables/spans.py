"""What work for turns took: a row for each piece of it, by the first observation it was for."""

from collections.abc import Sequence
from datetime import datetime
from typing import Final

from episodic_agent.protocols import LONGEST_RUN
from episodic_agent.schemas import WorkRow
from episodic_agent.stores.nouns import WORK, work_columns, work_of
from episodic_agent.stores.rows import to_microseconds
from episodic_agent.stores.tables.dialect import Table, placed, row_of

_PUT: Final = (
    f"INSERT INTO work (:keys, {WORK}) VALUES (:own, {placed(WORK)})"
    " ON CONFLICT (:keys, first_ref, at, name)"
    " DO UPDATE SET last_ref = excluded.last_ref, body = excluded.body"
)
_OF: Final = (
    f"SELECT {WORK} FROM work WHERE :mine AND first_ref > :least AND first_ref <= :last"
    " AND last_ref >= :first ORDER BY at, first_ref, name:exact"
)


class SpanTable(Table):
    """How long pieces of work took, and what they found."""

    def put_spans(self, spans: Sequence[WorkRow]) -> None:
        """Keep rows; one of the same first reference, time and name takes the place of another."""
        ordered = sorted(spans, key=lambda span: (span.first_ref, span.at, span.name))
        self._session.change_all(_PUT, [row_of(WORK, work_columns(span)) for span in ordered])

    def spans(self, first_ref: int, last_ref: int) -> Sequence[WorkRow]:
        """Return the rows for any of a thread's observations `first_ref..last_ref`, by time, then place."""
        least = first_ref - LONGEST_RUN
        return [
            work_of(columns)
            for columns in self._session.read(_OF, least=least, first=first_ref, last=last_ref)
        ]

    def drop_spans(self, before: datetime) -> None:
        """Delete what was done before a time."""
        self._session.change("DELETE FROM work WHERE :mine AND at < :before", before=to_microseconds(before))

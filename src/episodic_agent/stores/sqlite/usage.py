"""What language models cost, counted by day, stage and model."""

from collections.abc import Sequence
from datetime import date
from typing import Final

import apsw

from episodic_agent.schemas import ModelUse
from episodic_agent.stores.nouns import USE, use_columns, use_of
from episodic_agent.stores.rows import to_day
from episodic_agent.stores.sqlite.connection import rows
from episodic_agent.stores.sqlite.session import Session

_ADD: Final = (
    f"INSERT INTO usage (scope, {USE}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"
    " ON CONFLICT (scope, day, stage, model) DO UPDATE SET calls = calls + excluded.calls,"
    " failures = failures + excluded.failures, prompt_tokens = prompt_tokens + excluded.prompt_tokens,"
    " completion_tokens = completion_tokens + excluded.completion_tokens,"
    " microseconds = microseconds + excluded.microseconds"
)
_OF_SPACE: Final = (
    "SELECT day, stage, model, sum(calls), sum(failures), sum(prompt_tokens), sum(completion_tokens),"
    " sum(microseconds) FROM usage WHERE scope IN (SELECT number FROM scope WHERE space = ?)"
    " AND day BETWEEN ? AND ? GROUP BY day, stage, model ORDER BY day, stage, model"
)


class SqliteUsage:
    """The `Usage` of one transaction."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def add(self, uses: Sequence[ModelUse]) -> None:
        """Add to what is counted already."""
        scope = self._session.own()
        self._session.db.executemany(_ADD, [(scope, *use_columns(use)) for use in uses])

    def totals(self, first: date, last: date) -> Sequence[ModelUse]:
        """Return what the scope cost on each day of `first..last` (inclusive), by day, stage, model."""
        sql = f"SELECT {USE} FROM usage WHERE scope = ? AND day BETWEEN ? AND ? ORDER BY day, stage, model"
        return [
            use_of(found)
            for found in self._session.rows(sql, (self._session.number, to_day(first), to_day(last)))
        ]


def usage_of_space(db: apsw.Connection, space: str, first: date, last: date) -> Sequence[ModelUse]:
    """Return what all users of a space cost on each day of `first..last`."""
    return [use_of(found) for found in rows(db, _OF_SPACE, (space, to_day(first), to_day(last)))]

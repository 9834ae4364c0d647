"""What language models cost, counted by day, stage and model."""

from collections.abc import Sequence
from datetime import date
from typing import Final

from episodic_agent.schemas import ModelUse
from episodic_agent.stores.nouns import USE, use_columns, use_of
from episodic_agent.stores.postgres.session import Connection, Session, key_of
from episodic_agent.stores.postgres.text import read_columns
from episodic_agent.stores.rows import to_day

_ADD: Final = (
    f"INSERT INTO usage AS u (space, owner, {USE}) VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s, %s)"
    " ON CONFLICT (space, owner, day, stage, model) DO UPDATE SET calls = u.calls + excluded.calls,"
    " failures = u.failures + excluded.failures, prompt_tokens = u.prompt_tokens + excluded.prompt_tokens,"
    " completion_tokens = u.completion_tokens + excluded.completion_tokens,"
    " microseconds = u.microseconds + excluded.microseconds"
)
_OF_SCOPE: Final = (
    f"SELECT {USE} FROM usage WHERE space = %s AND owner = %s AND day BETWEEN %s AND %s"
    ' ORDER BY day, stage COLLATE "C", model COLLATE "C"'
)
_OF_SPACE: Final = (
    "SELECT day, stage, model, sum(calls), sum(failures), sum(prompt_tokens), sum(completion_tokens),"
    " sum(microseconds) FROM usage WHERE space = %s AND day BETWEEN %s AND %s"
    ' GROUP BY day, stage, model ORDER BY day, stage COLLATE "C", model COLLATE "C"'
)


class PostgresUsage:
    """The `Usage` of one transaction."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def add(self, uses: Sequence[ModelUse]) -> None:
        """Add to what is counted already."""
        keys = self._session.own()
        # In one order everywhere: two writers of the same rows then wait, and never for each other.
        for use in sorted(uses, key=lambda use: (use.day, use.stage, use.model)):
            self._session.execute(_ADD, (*keys, *use_columns(use)))

    def totals(self, first: date, last: date) -> Sequence[ModelUse]:
        """Return what the scope cost on each day of `first..last` (inclusive), by day, stage, model."""
        found = self._session.rows(_OF_SCOPE, (*self._session.keys, to_day(first), to_day(last)))
        return [use_of(read_columns(columns)) for columns in found]


def usage_of_space(db: Connection, space: str, first: date, last: date) -> Sequence[ModelUse]:
    """Return what all users of a space cost on each day of `first..last`."""
    found = db.execute(_OF_SPACE, (key_of(space), to_day(first), to_day(last))).fetchall()
    return [use_of(read_columns(columns)) for columns in found]

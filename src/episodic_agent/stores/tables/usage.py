"""What language models cost, counted by day, stage and model."""

from collections.abc import Sequence
from datetime import date
from typing import Final

from episodic_agent.schemas import ModelUse
from episodic_agent.stores.nouns import USE, use_columns, use_of
from episodic_agent.stores.rows import to_day
from episodic_agent.stores.tables.dialect import Table, placed, row_of

_COUNTED: Final = USE.split(", ")[3:]
_ADD: Final = (
    f"INSERT INTO usage (:keys, {USE}) VALUES (:own, {placed(USE)})"
    " ON CONFLICT (:keys, day, stage, model) DO UPDATE SET "
    + ", ".join(f"{name} = usage.{name} + excluded.{name}" for name in _COUNTED)
)
_TOTALS: Final = (
    f"SELECT {USE} FROM usage WHERE :mine AND day BETWEEN :first AND :last"
    " ORDER BY day, stage:exact, model:exact"
)


class UsageTable(Table):
    """What the scope's calls of models cost."""

    def add_usage(self, uses: Sequence[ModelUse]) -> None:
        """Add to what is counted already."""
        ordered = sorted(uses, key=lambda use: (use.day, use.stage, use.model))
        self._session.change_all(_ADD, [row_of(USE, use_columns(use)) for use in ordered])

    def usage(self, first: date, last: date) -> Sequence[ModelUse]:
        """Return what the scope cost on each day of `first..last` (inclusive), by day, stage, model."""
        return [
            use_of(columns) for columns in self._session.read(_TOTALS, first=to_day(first), last=to_day(last))
        ]

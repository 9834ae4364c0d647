"""What stores keep of chains and metadata: the small values the port speaks in."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID


@dataclass(frozen=True, slots=True)
class TreeNode:
    """An episode in a chain: its parent, if any, and its event time."""

    id: UUID
    parent: UUID | None
    start_at: datetime


@dataclass(frozen=True, slots=True)
class Refusal:
    """A link that a human or an agent took back: this pair is never proposed again.

    `at` is record time, `by` who took it back.
    """

    child: UUID
    parent: UUID
    at: datetime
    by: str = ""


@dataclass(frozen=True, slots=True, order=True)
class Term:
    """A row of the inverted table: which field of an episode's metadata has which value, folded."""

    field: str
    value: str


@dataclass(frozen=True, slots=True)
class Condition:
    """One field and the folded values of which any will do; `contains`: a part of a value is enough."""

    field: str
    values: tuple[str, ...]
    contains: bool = False

    def holds(self, terms: Sequence[Term]) -> bool:
        """Say whether any of an episode's terms fits."""
        own = [term.value for term in terms if term.field == self.field]
        if self.contains:
            return any(value in one for one in own for value in self.values)
        return any(one in self.values for one in own)

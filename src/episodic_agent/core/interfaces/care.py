"""What is kept of care: pins, what is suppressed or put away, what expires, and who lets what go."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Protocol

from episodic_agent.core.retention import Standing


class MarkKind(StrEnum):
    """What a mark says of the observations in its span."""

    PINNED = "pinned"
    SUPPRESSED = "suppressed"
    ARCHIVED = "archived"


@dataclass(frozen=True, slots=True, order=True)
class Mark:
    """A span of observation refs of one thread (inclusive) that is pinned, suppressed or archived, and why.

    Of a whole thread it reaches to the last ref its number allows, so that later observations are in it.
    `at` is record time.
    """

    first_ref: int
    last_ref: int
    kind: MarkKind
    at: datetime
    reason: str = ""


@dataclass(frozen=True, slots=True)
class SuppressedWords:
    """Words that are not to be shown, as they were given; `at` is record time."""

    words: str
    at: datetime
    reason: str = ""


class Care(Protocol):
    """Pins, suppressions, expiries and the retention policy of a scope (docs/forgetting.md)."""

    def mark(self, mark: Mark) -> None:
        """Mark a span; what was marked as the same kind inside it gives way."""
        ...

    def release(self, kind: MarkKind, first_ref: int, last_ref: int) -> int:
        """Take a kind of mark from a span; what a mark reaches beyond it stays. Return how many it met."""
        ...

    def marks(self, *kinds: MarkKind) -> Sequence[Mark]:
        """Return the marks (of these kinds), by kind, then by reference."""
        ...

    def touched(self, kinds: Sequence[MarkKind], spans: Sequence[tuple[int, int]]) -> Mapping[int, Mark]:
        """Return by the place of a span the mark of these kinds that meets it, of the first kind that does.

        A span is a first and a last ref (inclusive) of one thread.
        """
        ...

    def in_force(self, now: datetime) -> tuple[bool, bool]:
        """Tell whether anything of the scope is hidden (suppressed, archived, expired), and whether pinned.

        By far the most scopes hold neither, and recall then asks no more.
        """
        ...

    def words(self) -> Sequence[SuppressedWords]:
        """Return the suppressed words, in the order they were suppressed."""
        ...

    def suppress_words(self, words: SuppressedWords) -> None:
        """Suppress words; those that differ in case alone take the place of one another."""
        ...

    def unsuppress_words(self, words: str) -> bool:
        """Take words (in any case) from the list; tell whether they were on it."""
        ...

    def expired(self, spans: Sequence[tuple[int, int]], now: datetime) -> Sequence[int]:
        """Return the refs in these spans whose time has come and that are not erased yet, rising."""
        ...

    def due(self, now: datetime, *, limit: int) -> Sequence[int]:
        """Return the refs whose time came first, to be erased, by time."""
        ...

    def settle(self, refs: Sequence[int]) -> None:
        """Let these expire no more: they are erased."""
        ...

    def expiring(self) -> int:
        """Count the observations that expire some day."""
        ...

    def policy(self) -> str | None:
        """Return the scope's own retention policy, as it was set; None where it has none."""
        ...

    def set_policy(self, policy: str | None) -> None:
        """Keep a retention policy of the scope's own, None for none; it is looked at as soon as may be."""
        ...

    def take_turn(self, now: datetime, every: timedelta) -> bool:
        """Tell whether retention was not looked at for so long, and say that it is looked at now.

        Of several who ask at once one is told so. A time in the future is none (a clock was set back).
        """
        ...

    def look_again(self) -> None:
        """Let the next who asks take a turn: there is more to do than one has done."""
        ...

    def standings(self) -> Sequence[Standing]:
        """Return what retention reads of all current event episodes, by reference."""
        ...

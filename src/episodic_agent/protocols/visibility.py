"""What is kept of care: pins, what is suppressed or put away, what expires, and who lets what go."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Protocol
from uuid import UUID

from episodic_agent.schemas.erasures import Tombstone


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


class VisibilityRecords(Protocol):
    """What is pinned, hidden or expires in a scope, and what is erased for good (docs/forgetting.md)."""

    def mark(self, what: Mark | SuppressedWords) -> None:
        """Mark a span, or suppress words.

        What was marked as the same kind inside the span gives way; words that differ in case alone take the
        place of one another.
        """
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

    def unsuppress_words(self, words: str) -> bool:
        """Take words (in any case) from the list; tell whether they were on it."""
        ...

    def expired(
        self, spans: Sequence[tuple[int, int]] | None, now: datetime, *, limit: int | None = None
    ) -> Sequence[int]:
        """Return the refs in these spans whose time has come and that are not erased yet, rising.

        Without spans (None) those of the scope, up to a limit, by time.
        """
        ...

    def settle(self, refs: Sequence[int]) -> None:
        """Let these expire no more: they are erased."""
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

    # --- erasing for good (I12): what is derived is the engine's to derive again ------------------------

    def erase(self, thread_id: UUID, seqs: Sequence[int], at: datetime) -> int:
        """Leave tombstones in the place of a thread's observations; return how many were none yet.

        Their check records, what their work took and the turns of skills that begin with them go too; how
        often their actors spoke is put right. Index, stays and episodes are left alone.
        """
        ...

    def erased(self, thread_id: UUID, first_seq: int, last_seq: int) -> Sequence[Tombstone]:
        """Return the tombstones of `first_seq..last_seq` (inclusive) in order."""
        ...

    def remove(self, episode_ids: Sequence[UUID], *, words_only: bool = False) -> None:
        """Delete episodes, replaced ones too, with their words and the decisions about them.

        `words_only` deletes every version of their words, and who decided them where others make them up.
        """
        ...

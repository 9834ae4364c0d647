"""What a scope's upkeep goes by: later work, what is pinned, hidden or expires, and what the user set."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from enum import StrEnum
from typing import Final, Protocol, TypeAlias, overload
from uuid import UUID

from episodic_agent.schemas import Job, ModelUse, PendingReview, WorkRow

LONGEST_RUN: Final = 256  # observations that one row of work is for, at most


class MarkKind(StrEnum):
    """What a mark says of the observations in its span."""

    PINNED = "pinned"
    SUPPRESSED = "suppressed"
    ARCHIVED = "archived"
    EDITED = "edited"  # its author said it otherwise since; what stands around it is not concerned


@dataclass(frozen=True, slots=True, order=True)
class Mark:
    """A span of observation refs of one thread (inclusive), what is said of it (`MarkKind`), and why.

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


@dataclass(frozen=True, slots=True)
class OwnTimeout:
    """How long a thread of a channel ("" for all) may be silent, as the user set it; None sets it no more."""

    channel: str
    lasts: timedelta | None


@dataclass(frozen=True, slots=True)
class OwnRetention:
    """The rules of the user's own retention policy, as they were set; None sets it no more."""

    rules: str | None


@dataclass(frozen=True, slots=True)
class OwnSettings:
    """What a user set for all of their memory.

    `timeouts` are by channel ("" for all); `retention` are the rules of a policy, None without one of their
    own; `words` are the suppressed ones, in the order they were suppressed.
    """

    timeouts: Mapping[str, timedelta]
    retention: str | None
    words: Sequence[SuppressedWords]


UpkeepNoun: TypeAlias = (
    PendingReview | ModelUse | WorkRow | Mark | SuppressedWords | OwnTimeout | OwnRetention
)


class UpkeepRecords(Protocol):
    """Jobs, pending reviews and ledgers; marks and expiries (docs/forgetting.md); the user's own settings."""

    def put(self, *records: UpkeepNoun) -> None:
        """Let a recall be judged by what its thread says next, count what models cost, keep what work took.

        A recall of the same id again changes nothing, one of an unknown thread raises NotFound. What models
        cost is added up by day, stage and model. What work for turns took (docs/internals/tracing.md) is not
        exported, and dropped when old: one of the same first reference, time and name takes the place of
        another. A mark takes the place of what was marked as the same kind inside its span, a timeout that of
        its channel, words that of the same in any case. A retention policy is looked at as soon as may be.
        """
        ...

    def settings(self) -> OwnSettings:
        """Return what the user set for all of their memory."""
        ...

    # --- jobs -------------------------------------------------------------------------------------------

    def ask(
        self, kind: str, key: str, serial: str, *, now: datetime, run_after: datetime | None = None
    ) -> None:
        """Ask for work; a second request for a waiting (kind, key) coalesces with the first."""
        ...

    def drop(self, *done: Job | UUID | PendingReview, before: datetime | None = None) -> None:
        """Delete jobs, recalls that are judged, and what work took that was done `before` a time.

        A claimed job in the transaction of its effect: Conflict when its token is not ours. By id one that
        waits or is dead: NotFound, Conflict while it is being done. Recalls that are gone change nothing.
        """
        ...

    def put_back(
        self, job: Job | UUID | None = None, *, error: str | None = None, retry_at: datetime | None = None
    ) -> None:
        """Give a claimed job back; Conflict when its token is not ours.

        Without an error it is untried: it waits again and the claim counts as no attempt. With one it waits
        for `retry_at`, or is among the dead letters when None. By id it is one that waits or is dead, which
        gets all its attempts back and is due at `retry_at`: NotFound, Conflict while it is being done.
        Without a job all of the scope that are claimed are given back, and no job says any more what went
        wrong: no worker keeps what it read.
        """
        ...

    def jobs(
        self, *, state: str | None = None, kinds: Sequence[str] | None = None, limit: int | None = None
    ) -> Sequence[Job]:
        """Return jobs (of a state, of kinds) by the time they are due, then in order of asking."""
        ...

    # --- recalls that wait to be judged, and what work took and cost ------------------------------------

    def reviews(self, thread_id: UUID | None = None) -> Sequence[PendingReview]:
        """Return what waits in a thread, oldest first; without one in all threads, thread by thread."""
        ...

    def usage(self, first: date, last: date) -> Sequence[ModelUse]:
        """Return what the scope cost on each day of `first..last` (inclusive), by day, stage, model."""
        ...

    def spans(self, first_ref: int, last_ref: int) -> Sequence[WorkRow]:
        """Return the rows for any of a thread's observations `first_ref..last_ref`, by time, then place."""
        ...

    # --- what is pinned, hidden, or goes some day -------------------------------------------------------

    @overload
    def release(self, what: MarkKind, first_ref: int, last_ref: int) -> int:
        """Take a kind of mark from a span; what a mark reaches beyond it stays. Return how many it met."""
        ...

    @overload
    def release(self, what: str | Sequence[int]) -> int:
        """Suppress words (in any case) no more, or let these refs expire no more; return how many did."""
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

    def expired(
        self, spans: Sequence[tuple[int, int]] | None, now: datetime, *, limit: int | None = None
    ) -> Sequence[int]:
        """Return the refs in these spans whose time has come and that are not erased yet, rising.

        Without spans (None) those of the scope, up to a limit, by time.
        """
        ...

    def take_turn(self, now: datetime, every: timedelta) -> bool:
        """Tell whether retention was not looked at for so long, and say that it is looked at now.

        Of several who ask at once one is told so. A time in the future is none (a clock was set back).
        """
        ...

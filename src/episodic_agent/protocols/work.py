"""Later work of a scope, recalls that wait to be judged, and what work took and cost."""

from collections.abc import Sequence
from datetime import date, datetime
from typing import Final, Protocol
from uuid import UUID

from episodic_agent.schemas import Job, ModelUse, PendingReview, WorkRow

LONGEST_RUN: Final = 256  # observations that one row of work is for, at most


class Work(Protocol):
    """Jobs, pending reviews, and the ledgers of time and tokens."""

    # --- jobs -------------------------------------------------------------------------------------------

    def ask(
        self, kind: str, key: str, serial: str, *, now: datetime, run_after: datetime | None = None
    ) -> None:
        """Ask for work; a second request for a waiting (kind, key) coalesces with the first."""
        ...

    def drop(self, *done: Job | UUID | PendingReview, before: datetime | None = None) -> None:
        """Delete jobs, recalls that are judged, and what work took that was done `before` a time.

        What is gone already of the latter two changes nothing.

        A claimed job in the transaction of its effect: Conflict when its token is not ours. By id one that
        waits or is dead: NotFound, Conflict while it is being done.
        """
        ...

    def put_back(
        self, job: Job | UUID | None = None, *, error: str | None = None, retry_at: datetime | None = None
    ) -> None:
        """Give a claimed job back; Conflict when its token is not ours.

        None gives all of the scope that anybody claimed back, untried, and blanks what is said of errors in
        any job of the scope: no worker keeps what it read.

        Without an error it is untried: it waits again and the claim counts as no attempt. With one it waits
        for `retry_at`, or is among the dead letters when None. By id it is one that waits or is dead, which
        gets all its attempts back and is due at `retry_at`: NotFound, Conflict while it is being done.
        """
        ...

    def jobs(
        self, *, state: str | None = None, kinds: Sequence[str] | None = None, limit: int | None = None
    ) -> Sequence[Job]:
        """Return jobs (of a state, of kinds) by the time they are due, then in order of asking."""
        ...

    # --- recalls that wait to be judged, and what work took and cost ------------------------------------

    def put(self, *records: PendingReview | ModelUse | WorkRow) -> None:
        """Let a recall be judged by what its thread says next, count what models cost, keep what work took.

        A recall of the same id again changes nothing, one of an unknown thread raises NotFound. What models
        cost is added up by day, stage and model. What work for turns took (docs/internals/tracing.md) is not
        exported, and dropped when old: one of the same first reference, time and name takes the place of
        another.
        """
        ...

    def reviews(self, thread_id: UUID | None = None) -> Sequence[PendingReview]:
        """Return what waits in a thread, oldest first; without one in all threads, thread by thread."""
        ...

    def usage(self, first: date, last: date) -> Sequence[ModelUse]:
        """Return what the scope cost on each day of `first..last` (inclusive), by day, stage, model."""
        ...

    def spans(self, first_ref: int, last_ref: int) -> Sequence[WorkRow]:
        """Return the rows for any of a thread's observations `first_ref..last_ref`, by time, then place."""
        ...

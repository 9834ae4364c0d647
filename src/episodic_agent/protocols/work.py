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

    def finish(self, job: Job) -> None:
        """Delete a claimed job in the transaction of its effect; Conflict when its token is not ours."""
        ...

    def put_back(self, job: Job, *, error: str | None = None, retry_at: datetime | None = None) -> None:
        """Give a claimed job back; Conflict when its token is not ours.

        Without an error it is untried: it waits again and the claim counts as no attempt. With one it waits
        for `retry_at`, or is among the dead letters when None.
        """
        ...

    def take_back(self) -> None:
        """Take every claimed job of the scope back and blank its errors: no worker keeps what it read."""
        ...

    def jobs(self, *, state: str | None = None) -> Sequence[Job]:
        """Return jobs (of a state) by the time they are due, then in order of asking."""
        ...

    def retry(self, job_id: UUID, *, now: datetime) -> None:
        """Make a waiting or dead job due now with all its attempts back; raises NotFound."""
        ...

    def cancel(self, job_id: UUID) -> None:
        """Delete a waiting or dead job; raises NotFound, Conflict while it is being done."""
        ...

    # --- recalls that wait to be judged by what is said after them --------------------------------------

    def put_review(self, pending: PendingReview) -> None:
        """Let a recall be judged by what its thread says next; the same id again changes nothing.

        Raises NotFound for an unknown thread.
        """
        ...

    def reviews(self, thread_id: UUID | None = None) -> Sequence[PendingReview]:
        """Return what waits in a thread, oldest first; without one in all threads, thread by thread."""
        ...

    def drop_reviews(self, judged: Sequence[PendingReview]) -> None:
        """Take away what is judged; what is gone already changes nothing."""
        ...

    # --- what work took and cost ------------------------------------------------------------------------

    def add_usage(self, uses: Sequence[ModelUse]) -> None:
        """Add to what language models cost, by day, stage and model."""
        ...

    def usage(self, first: date, last: date) -> Sequence[ModelUse]:
        """Return what the scope cost on each day of `first..last` (inclusive), by day, stage, model."""
        ...

    def put_spans(self, spans: Sequence[WorkRow]) -> None:
        """Keep what work for turns took (docs/internals/tracing.md): not exported, and dropped when old.

        One of the same first reference, time and name takes the place of another.
        """
        ...

    def spans(self, first_ref: int, last_ref: int) -> Sequence[WorkRow]:
        """Return the rows for any of a thread's observations `first_ref..last_ref`, by time, then place."""
        ...

    def drop_spans(self, before: datetime) -> None:
        """Delete what was done before a time."""
        ...

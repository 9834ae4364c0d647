"""The plain tables of upkeep: recalls that wait to be judged, what models cost, what work took."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from datetime import date, datetime
from typing import Final
from uuid import UUID

from episodic_agent.errors import InvalidInput
from episodic_agent.protocols import (
    LONGEST_RUN,
    Mark,
    OwnRetention,
    OwnTimeout,
    SuppressedWords,
    UpkeepNoun,
)
from episodic_agent.schemas import Job, ModelUse, PendingReview, WorkRow
from episodic_agent.stores.nouns import (
    PENDING,
    USE,
    WORK,
    pending_columns,
    pending_of,
    use_columns,
    use_of,
    work_columns,
    work_of,
)
from episodic_agent.stores.rows import to_day, to_microseconds
from episodic_agent.stores.tables.dialect import Table, placed, row_of
from episodic_agent.stores.tables.visibility import VisibilityTable

_PUT_REVIEW: Final = (
    f"INSERT INTO pending_review (:keys, {PENDING}) VALUES (:own, {placed(PENDING)})"
    " ON CONFLICT (:keys, thread, after, id) DO NOTHING"
)
_REVIEWS: Final = f"SELECT {PENDING} FROM pending_review WHERE :mine"
_OLDEST_FIRST: Final = "ORDER BY thread, after, at, id"
_DROP_REVIEW: Final = (
    "DELETE FROM pending_review WHERE :mine AND thread = :thread AND after = :after AND id = :id"
)
_COUNTED: Final = USE.split(", ")[3:]
_ADD_USE: Final = (
    f"INSERT INTO usage (:keys, {USE}) VALUES (:own, {placed(USE)})"
    " ON CONFLICT (:keys, day, stage, model) DO UPDATE SET "
    + ", ".join(f"{name} = usage.{name} + excluded.{name}" for name in _COUNTED)
)
_TOTALS: Final = (
    f"SELECT {USE} FROM usage WHERE :mine AND day BETWEEN :first AND :last"
    " ORDER BY day, stage:exact, model:exact"
)
_PUT_SPAN: Final = (
    f"INSERT INTO work (:keys, {WORK}) VALUES (:own, {placed(WORK)})"
    " ON CONFLICT (:keys, first_ref, at, name)"
    " DO UPDATE SET last_ref = excluded.last_ref, body = excluded.body"
)
_SPANS_OF: Final = (
    f"SELECT {WORK} FROM work WHERE :mine AND first_ref > :least AND first_ref <= :last"
    " AND last_ref >= :first ORDER BY at, first_ref, name:exact"
)


_RECALLED: Final = (
    "DELETE FROM job WHERE :mine AND state = 'leased' AND (kind, key) IN"
    " (SELECT kind, key FROM job WHERE :mine AND state = 'waiting')",
    "UPDATE job SET state = 'waiting', token = token + 1, lease_owner = NULL, lease_until = NULL"
    " WHERE :mine AND state = 'leased'",
    "UPDATE job SET last_error = '' WHERE :mine AND last_error <> ''",
)


class LedgerTable(Table, ABC):
    """Reviews and ledgers; the rows of jobs each store has its own way with."""

    def drop(self, *done: Job | UUID | PendingReview, before: datetime | None = None) -> None:
        if before is not None:
            at = to_microseconds(before)
            self._session.change("DELETE FROM work WHERE :mine AND at < :before", before=at)
        self._drop_reviews([judged for judged in done if isinstance(judged, PendingReview)])
        for job in done:
            if isinstance(job, Job):
                self._finish(job)
            elif isinstance(job, UUID):
                self._cancel(job)

    def put_back(
        self, job: Job | UUID | None = None, *, error: str | None = None, retry_at: datetime | None = None
    ) -> None:
        if job is None:
            for sql in _RECALLED:
                self._session.change(sql)
        elif isinstance(job, Job):
            self._put_back(job, error, retry_at)
        elif retry_at is None:
            raise InvalidInput(f"job {job} is put back by its id: say when it is due, with retry_at")
        else:
            self._retry(job, to_microseconds(retry_at))

    @abstractmethod
    def _put_back(self, job: Job, error: str | None, retry_at: datetime | None) -> None:
        """Give a claimed job back; Conflict when its token is not ours."""

    @abstractmethod
    def _retry(self, job_id: UUID, due: int) -> None:
        """Make a waiting or dead job due with all its attempts back; NotFound, Conflict as it is done."""

    @abstractmethod
    def _finish(self, job: Job) -> None:
        """Delete a claimed job; Conflict when its token is not ours."""

    @abstractmethod
    def _cancel(self, job_id: UUID) -> None:
        """Delete a waiting or dead job; NotFound, Conflict while it is being done."""

    def _put_review(self, pending: PendingReview) -> None:
        number = self._session.thread_number(pending.thread_id)
        self._session.change(_PUT_REVIEW, **row_of(PENDING, pending_columns(pending, number)))

    def reviews(self, thread_id: UUID | None = None) -> Sequence[PendingReview]:
        if thread_id is None:
            results = self._session.read(f"{_REVIEWS} {_OLDEST_FIRST}")
        else:
            number = self._session.find_thread(thread_id)
            if number is None:
                return []
            results = self._session.read(f"{_REVIEWS} AND thread = :thread {_OLDEST_FIRST}", thread=number)
        threads = self._session.thread_ids([columns[1] for columns in results])
        return [pending_of(columns, threads[columns[1]]) for columns in results]

    def _drop_reviews(self, judged: Sequence[PendingReview]) -> None:
        for review in sorted(judged, key=lambda one: (one.thread_id.bytes, one.after_seq, one.id.bytes)):
            number = self._session.thread_number(review.thread_id)
            self._session.change(_DROP_REVIEW, thread=number, after=review.after_seq, id=review.id.bytes)

    def _add_usage(self, uses: Sequence[ModelUse]) -> None:
        ordered = sorted(uses, key=lambda use: (use.day, use.stage, use.model))
        self._session.change_all(_ADD_USE, [row_of(USE, use_columns(use)) for use in ordered])

    def usage(self, first: date, last: date) -> Sequence[ModelUse]:
        return [
            use_of(columns) for columns in self._session.read(_TOTALS, first=to_day(first), last=to_day(last))
        ]

    def _put_spans(self, spans: Sequence[WorkRow]) -> None:
        ordered = sorted(spans, key=lambda span: (span.first_ref, span.at, span.name))
        self._session.change_all(_PUT_SPAN, [row_of(WORK, work_columns(span)) for span in ordered])

    def spans(self, first_ref: int, last_ref: int) -> Sequence[WorkRow]:
        least = first_ref - LONGEST_RUN
        return [
            work_of(columns)
            for columns in self._session.read(_SPANS_OF, least=least, first=first_ref, last=last_ref)
        ]


class UpkeepTable(LedgerTable, VisibilityTable):
    """Everything of `UpkeepRecords` but jobs."""

    def put(self, *records: UpkeepNoun) -> None:
        """Keep recalls that wait, what models cost, what work took, marks, and what the user set."""
        for record in records:
            if isinstance(record, PendingReview):
                self._put_review(record)
            elif isinstance(record, Mark):
                self._mark(record)
            elif isinstance(record, SuppressedWords):
                self._suppress(record)
            elif isinstance(record, OwnTimeout | OwnRetention):
                self._set(record)
        if uses := [record for record in records if isinstance(record, ModelUse)]:
            self._add_usage(uses)
        if spans := [record for record in records if isinstance(record, WorkRow)]:
            self._put_spans(spans)

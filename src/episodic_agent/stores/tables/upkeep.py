"""The plain tables of upkeep: what the user set and hid, recalls that wait, what models and work took.

Marks of one kind never overlap, so that of those a span may meet the one that begins last before its end is
the only one to look at. How marks of many spans are looked up at once, each store does its own way.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from datetime import date, datetime, timedelta
from typing import Any, Final, overload
from uuid import UUID

from episodic_agent.errors import InvalidInput
from episodic_agent.protocols import (
    LONGEST_RUN,
    Mark,
    MarkKind,
    OwnRetention,
    OwnSettings,
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
from episodic_agent.stores.rows import span_microseconds, to_day, to_microseconds, to_time
from episodic_agent.stores.tables.dialect import EVERY, Table, placed, row_of

MARK: Final = "kind, first_ref, last_ref, at, reason"
_PUT: Final = f"INSERT INTO span_mark (:keys, {MARK}) VALUES (:own, {placed(MARK)})"
_MET: Final = (
    f"SELECT {MARK} FROM span_mark WHERE :mine AND kind = :kind AND first_ref <= :last"
    " AND first_ref >= coalesce((SELECT max(first_ref) FROM span_mark"
    " WHERE :mine AND kind = :kind AND first_ref <= :first), :first) AND last_ref >= :first"
)
_DROP: Final = "DELETE FROM span_mark WHERE :mine AND kind = :kind AND first_ref = :first"
_IN_FORCE: Final = (
    "SELECT EXISTS (SELECT 1 FROM span_mark WHERE :mine AND kind IN ('suppressed', 'archived', 'edited'))"
    " OR EXISTS (SELECT 1 FROM suppressed_words WHERE :mine)"
    " OR EXISTS (SELECT 1 FROM expiry WHERE :mine AND at <= :now),"
    " EXISTS (SELECT 1 FROM span_mark WHERE :mine AND kind = 'pinned')"
)
_SUPPRESS: Final = (
    "INSERT INTO suppressed_words (:keys, folded, words, at, reason)"
    " VALUES (:own, :folded, :words, :at, :reason) ON CONFLICT (:keys, folded) DO UPDATE"
    " SET words = excluded.words, at = excluded.at, reason = excluded.reason"
)
_TIMEOUT, _RETENTION, _WORDS = range(3)
_SETTINGS: Final = (
    f"SELECT {_TIMEOUT}, channel, lasts, '' FROM timeout WHERE :mine"
    f" UNION ALL SELECT {_RETENTION}, policy, 0, '' FROM retention WHERE :mine AND policy IS NOT NULL"
    f" UNION ALL SELECT {_WORDS}, words, at, reason FROM suppressed_words WHERE :mine"
)
_PUT_TIMEOUT: Final = (
    "INSERT INTO timeout (:keys, channel, lasts) VALUES (:own, :channel, :lasts)"
    " ON CONFLICT (:keys, channel) DO UPDATE SET lasts = excluded.lasts"
)
_POLICY: Final = (
    "INSERT INTO retention (:keys, policy, checked_at) VALUES (:own, :policy, 0)"
    " ON CONFLICT (:keys) DO UPDATE SET policy = excluded.policy, checked_at = 0"
)
_TURN: Final = (
    "INSERT INTO retention (:keys, policy, checked_at) VALUES (:own, NULL, :now)"
    " ON CONFLICT (:keys) DO UPDATE SET checked_at = excluded.checked_at"
    " WHERE retention.checked_at <= :before OR retention.checked_at > excluded.checked_at"
)


class VisibilityTable(Table):
    """What is pinned, hidden, or goes some day."""

    locked = ""  # what ends a read whose rows nobody else may change before the end

    def _mark(self, mark: Mark) -> None:
        self.release(mark.kind, mark.first_ref, mark.last_ref)
        self._session.change(_PUT, **row_of(MARK, _columns(mark)))

    def _suppress(self, what: SuppressedWords) -> None:
        at, folded = to_microseconds(what.at), what.words.casefold()
        self._session.change(_SUPPRESS, folded=folded, words=what.words, at=at, reason=what.reason)

    @overload
    def release(self, what: MarkKind, first_ref: int, last_ref: int) -> int: ...

    @overload
    def release(self, what: str | Sequence[int]) -> int: ...

    def release(self, what: MarkKind | str | Sequence[int], first_ref: int = 0, last_ref: int = 0) -> int:
        """Take a kind of mark from a span, words from the suppressed ones, or refs from what expires."""
        if isinstance(what, MarkKind):
            return self._unmark(what, first_ref, last_ref)
        if isinstance(what, str):
            sql = "DELETE FROM suppressed_words WHERE :mine AND folded = :folded"
            return self._session.change(sql, folded=what.casefold())
        sql = "DELETE FROM expiry WHERE :mine AND ref IN :numbers(refs)"
        return self._session.change(sql, refs=list(what))

    def _unmark(self, kind: MarkKind, first_ref: int, last_ref: int) -> int:
        self._session.own()
        span = {"kind": kind.value, "first": first_ref, "last": last_ref}
        marks = [mark_of(columns) for columns in self._session.read(_MET + self.locked, **span)]
        for mark in marks:
            self._session.change(_DROP, kind=kind.value, first=mark.first_ref)
            for first, last in ((mark.first_ref, first_ref - 1), (last_ref + 1, mark.last_ref)):
                if first <= last:
                    rest = Mark(first, last, kind, mark.at, mark.reason)
                    self._session.change(_PUT, **row_of(MARK, _columns(rest)))
        return len(marks)

    def marks(self, *kinds: MarkKind) -> Sequence[Mark]:
        sql = f"SELECT {MARK} FROM span_mark WHERE :mine AND kind IN :texts(kinds) ORDER BY kind, first_ref"
        results = self._session.read(sql, kinds=[kind.value for kind in kinds or MarkKind])
        return [mark_of(columns) for columns in results]

    def touched(self, kinds: Sequence[MarkKind], spans: Sequence[tuple[int, int]]) -> Mapping[int, Mark]:
        marks: dict[int, Mark] = {}
        for place, *columns in self._touching([kind.value for kind in kinds], spans):
            marks.setdefault(place, mark_of(columns))
        return marks

    @abstractmethod
    def _touching(self, kinds: Sequence[str], spans: Sequence[tuple[int, int]]) -> list[tuple[Any, ...]]:
        """Look up (place of the span, columns of the mark), by the order of the kinds."""

    def in_force(self, now: datetime) -> tuple[bool, bool]:
        """Tell whether anything is hidden (by marks, words, its time), and whether anything is pinned."""
        [(hidden, pinned)] = self._session.read(_IN_FORCE, now=to_microseconds(now))
        return bool(hidden), bool(pinned)

    def expired(
        self, spans: Sequence[tuple[int, int]] | None, now: datetime, *, limit: int | None = None
    ) -> Sequence[int]:
        at = to_microseconds(now)
        if spans is not None:
            return [ref for (ref,) in self._expired(spans, at)]
        sql = "SELECT ref FROM expiry WHERE :mine AND at <= :now ORDER BY at, ref LIMIT :limit"
        return [ref for (ref,) in self._session.read(sql, now=at, limit=EVERY if limit is None else limit)]

    @abstractmethod
    def _expired(self, spans: Sequence[tuple[int, int]], now: int) -> list[tuple[Any, ...]]:
        """Look up the refs in spans, rising."""

    def settings(self) -> OwnSettings:
        timeouts: dict[str, timedelta] = {}
        retention: str | None = None
        words: list[SuppressedWords] = []
        for kind, text, at, reason in self._session.read(_SETTINGS):
            if kind == _TIMEOUT:
                timeouts[text] = timedelta(microseconds=at)
            elif kind == _RETENTION:
                retention = text
            else:
                words.append(SuppressedWords(text, to_time(at), reason))
        words.sort(key=lambda one: (one.at, one.words.casefold()))
        return OwnSettings(dict(sorted(timeouts.items())), retention, words)

    def _set(self, changed: OwnTimeout | OwnRetention) -> None:
        if isinstance(changed, OwnRetention):
            self._session.change(_POLICY, policy=changed.rules)
        elif changed.lasts is None:
            sql = "DELETE FROM timeout WHERE :mine AND channel = :channel"
            self._session.change(sql, channel=changed.channel)
        else:
            lasts = span_microseconds(changed.lasts)
            self._session.change(_PUT_TIMEOUT, channel=changed.channel, lasts=lasts)

    def take_turn(self, now: datetime, every: timedelta) -> bool:
        times = {"now": to_microseconds(now), "before": to_microseconds(now - every)}
        return self._session.change(_TURN, **times) > 0


def _columns(mark: Mark) -> tuple[str, int, int, int, str]:
    return mark.kind.value, mark.first_ref, mark.last_ref, to_microseconds(mark.at), mark.reason


def mark_of(columns: Sequence[Any]) -> Mark:
    """Build a mark from the `MARK` columns."""
    kind, first, last, at, reason = columns
    return Mark(first, last, MarkKind(kind), to_time(at), reason)


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

"""Pins, suppressions, expiries and retention, as rows.

Marks of one kind never overlap, so that of those a span may meet the one that begins last before its end is
the only one to look at. How marks of many spans are looked up at once, each store does its own way.
"""

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, Final, overload

from episodic_agent.protocols import (
    Mark,
    MarkKind,
    OwnRetention,
    OwnSettings,
    OwnTimeout,
    SuppressedWords,
)
from episodic_agent.stores.rows import span_microseconds, to_microseconds, to_time
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

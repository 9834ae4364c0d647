"""Pins, suppressions, expiries and retention, as rows.

Marks of one kind never overlap, so that of those a span may meet the one that begins last before its end is
the only one to look at.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, Final

from episodic_agent.core.interfaces import Mark, MarkKind, SuppressedWords
from episodic_agent.core.retention import Standing
from episodic_agent.schemas import Observation
from episodic_agent.stores.rows import to_json, to_microseconds, to_time
from episodic_agent.stores.sqlite.session import Session, number_list

_MARK: Final = "kind, first_ref, last_ref, at, reason"
_PUT: Final = f"INSERT INTO span_mark (scope, {_MARK}) VALUES (?, ?, ?, ?, ?, ?)"
_FROM, _TO = "(p.value ->> 0)", "(p.value ->> 1)"
_TOUCHED: Final = (
    "SELECT p.key, s.kind, s.first_ref, s.last_ref, s.at, s.reason"
    " FROM json_each(?1) k CROSS JOIN json_each(?2) p CROSS JOIN span_mark s"
    " WHERE s.scope = ?3 AND s.kind = k.value AND s.first_ref = (SELECT max(x.first_ref) FROM span_mark x"
    f" WHERE x.scope = ?3 AND x.kind = k.value AND x.first_ref <= {_TO}) AND s.last_ref >= {_FROM}"
)
_IN_FORCE: Final = (
    "SELECT EXISTS (SELECT 1 FROM span_mark WHERE scope = ?1 AND kind IN ('suppressed', 'archived'))"
    " OR EXISTS (SELECT 1 FROM suppressed_words WHERE scope = ?1)"
    " OR EXISTS (SELECT 1 FROM expiry WHERE scope = ?1 AND at <= ?2),"
    " EXISTS (SELECT 1 FROM span_mark WHERE scope = ?1 AND kind = 'pinned')"
)
_TURN: Final = (
    "INSERT INTO retention (scope, policy, checked_at) VALUES (?1, NULL, ?2)"
    " ON CONFLICT (scope) DO UPDATE SET checked_at = excluded.checked_at"
    " WHERE retention.checked_at <= ?3 OR retention.checked_at > ?2"
)
_STANDINGS: Final = (
    "SELECT lower(hex(id)), (thread << 32) | first_seq AS ref, (thread << 32) | last_seq, end_at, stability,"
    " last_reviewed_at FROM episode WHERE scope = ? AND kind = 'event' AND generation_to IS NULL ORDER BY ref"
)


class SqliteCare:
    """The `Care` of one transaction."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def mark(self, mark: Mark) -> None:
        """Mark a span; what was marked as the same kind inside it gives way."""
        self.release(mark.kind, mark.first_ref, mark.last_ref)
        self._session.db.execute(_PUT, (self._session.own(), *_columns(mark)))

    def release(self, kind: MarkKind, first_ref: int, last_ref: int) -> int:
        """Take a kind of mark from a span; what a mark reaches beyond it stays."""
        scope = self._session.own()
        sql = (
            f"SELECT {_MARK} FROM span_mark WHERE scope = ?1 AND kind = ?2 AND first_ref <= ?4"
            " AND first_ref >= ifnull((SELECT max(first_ref) FROM span_mark"
            " WHERE scope = ?1 AND kind = ?2 AND first_ref <= ?3), ?3) AND last_ref >= ?3"
        )
        found = [_mark_of(row) for row in self._session.rows(sql, (scope, kind.value, first_ref, last_ref))]
        for mark in found:
            sql = "DELETE FROM span_mark WHERE scope = ? AND kind = ? AND first_ref = ?"
            self._session.db.execute(sql, (scope, kind.value, mark.first_ref))
            for first, last in ((mark.first_ref, first_ref - 1), (last_ref + 1, mark.last_ref)):
                if first <= last:
                    rest = Mark(first, last, kind, mark.at, mark.reason)
                    self._session.db.execute(_PUT, (scope, *_columns(rest)))
        return len(found)

    def marks(self, *kinds: MarkKind) -> Sequence[Mark]:
        """Return the marks (of these kinds), by kind, then by reference."""
        sql = (
            f"SELECT {_MARK} FROM span_mark WHERE scope = ?"
            " AND kind IN (SELECT value FROM json_each(?)) ORDER BY kind, first_ref"
        )
        wanted = to_json(list(kinds or MarkKind))
        return [_mark_of(row) for row in self._session.rows(sql, (self._session.number, wanted))]

    def touched(self, kinds: Sequence[MarkKind], spans: Sequence[tuple[int, int]]) -> Mapping[int, Mark]:
        """Return by the place of a span the mark of these kinds that meets it."""
        bindings = (to_json(list(kinds)), to_json(spans), self._session.number)
        found: dict[int, Mark] = {}
        for place, *columns in self._session.rows(_TOUCHED, bindings):
            found.setdefault(place, _mark_of(tuple(columns)))
        return found

    def in_force(self, now: datetime) -> tuple[bool, bool]:
        """Tell whether anything is hidden (suppressed, archived, expired), and whether anything is pinned."""
        found = self._session.row(_IN_FORCE, (self._session.number, to_microseconds(now)))
        return (False, False) if found is None else (bool(found[0]), bool(found[1]))

    def words(self) -> Sequence[SuppressedWords]:
        """Return the suppressed words, in the order they were suppressed."""
        sql = "SELECT words, at, reason FROM suppressed_words WHERE scope = ? ORDER BY at, folded"
        found = self._session.rows(sql, (self._session.number,))
        return [SuppressedWords(words, to_time(at), reason) for words, at, reason in found]

    def suppress_words(self, words: SuppressedWords) -> None:
        """Suppress words; those that differ in case alone take the place of one another."""
        sql = (
            "INSERT INTO suppressed_words (scope, folded, words, at, reason) VALUES (?, ?, ?, ?, ?)"
            " ON CONFLICT (scope, folded) DO UPDATE"
            " SET words = excluded.words, at = excluded.at, reason = excluded.reason"
        )
        row = (words.words.casefold(), words.words, to_microseconds(words.at), words.reason)
        self._session.db.execute(sql, (self._session.own(), *row))

    def unsuppress_words(self, words: str) -> bool:
        """Take words (in any case) from the list; tell whether they were on it."""
        sql = "DELETE FROM suppressed_words WHERE scope = ? AND folded = ?"
        self._session.db.execute(sql, (self._session.own(), words.casefold()))
        return self._session.db.changes() > 0

    def expired(self, spans: Sequence[tuple[int, int]], now: datetime) -> Sequence[int]:
        """Return the refs in these spans whose time has come and that are not erased yet, rising."""
        sql = (
            "SELECT DISTINCT e.ref FROM json_each(?) p CROSS JOIN expiry e"
            f" WHERE e.scope = ? AND e.ref BETWEEN {_FROM} AND {_TO} AND e.at <= ? ORDER BY e.ref"
        )
        bindings = (to_json(spans), self._session.number, to_microseconds(now))
        return [ref for (ref,) in self._session.rows(sql, bindings)]

    def due(self, now: datetime, *, limit: int) -> Sequence[int]:
        """Return the refs whose time came first, to be erased, by time."""
        sql = "SELECT ref FROM expiry WHERE scope = ? AND at <= ? ORDER BY at, ref LIMIT ?"
        found = self._session.rows(sql, (self._session.number, to_microseconds(now), limit))
        return [ref for (ref,) in found]

    def settle(self, refs: Sequence[int]) -> None:
        """Let these expire no more: they are erased."""
        sql = "DELETE FROM expiry WHERE scope = ? AND ref IN (SELECT value FROM json_each(?))"
        self._session.db.execute(sql, (self._session.own(), number_list(refs)))

    def expiring(self) -> int:
        """Count the observations that expire some day."""
        found = self._session.row("SELECT count(*) FROM expiry WHERE scope = ?", (self._session.number,))
        return 0 if found is None else int(found[0])

    def policy(self) -> str | None:
        """Return the scope's own retention policy, as it was set."""
        found = self._session.row("SELECT policy FROM retention WHERE scope = ?", (self._session.number,))
        return None if found is None else found[0]

    def set_policy(self, policy: str | None) -> None:
        """Keep a retention policy of the scope's own, None for none; it is looked at as soon as may be."""
        sql = (
            "INSERT INTO retention (scope, policy, checked_at) VALUES (?, ?, 0)"
            " ON CONFLICT (scope) DO UPDATE SET policy = excluded.policy, checked_at = 0"
        )
        self._session.db.execute(sql, (self._session.own(), policy))

    def take_turn(self, now: datetime, every: timedelta) -> bool:
        """Tell whether retention was not looked at for so long, and say that it is looked at now."""
        times = (to_microseconds(now), to_microseconds(now - every))
        self._session.db.execute(_TURN, (self._session.own(), *times))
        return self._session.db.changes() > 0

    def look_again(self) -> None:
        """Let the next who asks take a turn."""
        sql = "UPDATE retention SET checked_at = 0 WHERE scope = ?"
        self._session.db.execute(sql, (self._session.own(),))

    def standings(self) -> Sequence[Standing]:
        """Return what retention reads of all current event episodes, by reference."""
        return [Standing._make(row) for row in self._session.rows(_STANDINGS, (self._session.number,))]


def keep_expiries(session: Session, refs: Sequence[int], observations: Sequence[Observation]) -> None:
    """Note when observations that are just stored are to be erased; most never are."""
    sql = "INSERT INTO expiry (scope, ref, at) VALUES (?, ?, ?)"
    timed = [
        (session.number, ref, to_microseconds(o.expires_at))
        for ref, o in zip(refs, observations, strict=True)
        if o.expires_at is not None
    ]
    if timed:
        session.db.executemany(sql, timed)


def _columns(mark: Mark) -> tuple[str, int, int, int, str]:
    return mark.kind.value, mark.first_ref, mark.last_ref, to_microseconds(mark.at), mark.reason


def _mark_of(columns: tuple[Any, ...]) -> Mark:
    kind, first, last, at, reason = columns
    return Mark(first, last, MarkKind(kind), to_time(at), reason)

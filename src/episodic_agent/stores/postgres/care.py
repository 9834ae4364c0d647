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
from episodic_agent.stores.postgres.batches import bigints, texts
from episodic_agent.stores.postgres.session import Session
from episodic_agent.stores.postgres.text import read_columns
from episodic_agent.stores.rows import to_microseconds, to_time

_MARK: Final = "kind, first_ref, last_ref, at, reason"
_WHOSE: Final = "WHERE space = %s AND owner = %s"
_PUT: Final = f"INSERT INTO span_mark (space, owner, {_MARK}) VALUES (%s, %s, %s, %s, %s, %s, %s)"
_MET: Final = (
    f"SELECT {_MARK} FROM span_mark {_WHOSE} AND kind = %s AND first_ref <= %s"
    f" AND first_ref >= coalesce((SELECT max(first_ref) FROM span_mark {_WHOSE} AND kind = %s"
    " AND first_ref <= %s), %s) AND last_ref >= %s FOR UPDATE"
)
_TOUCHED: Final = (
    "SELECT p.place - 1, s.* FROM unnest(%s::text[]) WITH ORDINALITY AS k (kind, rank)"
    " CROSS JOIN unnest(%s::bigint[], %s::bigint[]) WITH ORDINALITY AS p (first_ref, last_ref, place)"
    f" CROSS JOIN LATERAL (SELECT {_MARK} FROM span_mark {_WHOSE} AND kind = k.kind"
    " AND first_ref <= p.last_ref ORDER BY first_ref DESC LIMIT 1) AS s"
    " WHERE s.last_ref >= p.first_ref ORDER BY k.rank"
)
_IN_FORCE: Final = (
    f"SELECT EXISTS (SELECT FROM span_mark {_WHOSE} AND kind IN ('suppressed', 'archived'))"
    f" OR EXISTS (SELECT FROM suppressed_words {_WHOSE})"
    f" OR EXISTS (SELECT FROM expiry {_WHOSE} AND at <= %s),"
    f" EXISTS (SELECT FROM span_mark {_WHOSE} AND kind = 'pinned')"
)
_TURN: Final = (
    "INSERT INTO retention (space, owner, policy, checked_at) VALUES (%s, %s, NULL, %s)"
    " ON CONFLICT (space, owner) DO UPDATE SET checked_at = excluded.checked_at"
    " WHERE retention.checked_at <= %s OR retention.checked_at > excluded.checked_at"
)
_STANDINGS: Final = (
    "SELECT encode(id, 'hex'), (thread::bigint << 32) | first_seq AS ref, (thread::bigint << 32) | last_seq,"
    f" end_at, stability, last_reviewed_at FROM episode {_WHOSE} AND kind = 'event'"
    " AND generation_to IS NULL ORDER BY ref"
)
_KEEP: Final = (
    "INSERT INTO expiry (space, owner, ref, at)"
    " SELECT %s, %s, g.* FROM unnest(%s::bigint[], %s::bigint[]) AS g"
)


class PostgresCare:
    """The `Care` of one transaction."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def mark(self, mark: Mark) -> None:
        """Mark a span; what was marked as the same kind inside it gives way."""
        self.release(mark.kind, mark.first_ref, mark.last_ref)
        self._session.execute(_PUT, (*self._session.own(), *_columns(mark)))

    def release(self, kind: MarkKind, first_ref: int, last_ref: int) -> int:
        """Take a kind of mark from a span; what a mark reaches beyond it stays."""
        keys = self._session.own()
        bindings = (*keys, kind.value, last_ref, *keys, kind.value, first_ref, first_ref, first_ref)
        found = [_mark_of(columns) for columns in self._session.rows(_MET, bindings)]
        for mark in found:
            sql = f"DELETE FROM span_mark {_WHOSE} AND kind = %s AND first_ref = %s"
            self._session.execute(sql, (*keys, kind.value, mark.first_ref))
            for first, last in ((mark.first_ref, first_ref - 1), (last_ref + 1, mark.last_ref)):
                if first <= last:
                    rest = Mark(first, last, kind, mark.at, mark.reason)
                    self._session.execute(_PUT, (*keys, *_columns(rest)))
        return len(found)

    def marks(self, *kinds: MarkKind) -> Sequence[Mark]:
        """Return the marks (of these kinds), by kind, then by reference."""
        sql = f"SELECT {_MARK} FROM span_mark {_WHOSE} AND kind = ANY(%s::text[]) ORDER BY kind, first_ref"
        wanted = texts([kind.value for kind in kinds or MarkKind])
        return [_mark_of(columns) for columns in self._session.rows(sql, (*self._session.keys, wanted))]

    def touched(self, kinds: Sequence[MarkKind], spans: Sequence[tuple[int, int]]) -> Mapping[int, Mark]:
        """Return by the place of a span the mark of these kinds that meets it."""
        firsts, lasts = bigints([first for first, _ in spans]), bigints([last for _, last in spans])
        wanted = texts([kind.value for kind in kinds])
        found: dict[int, Mark] = {}
        bindings = (wanted, firsts, lasts, *self._session.keys)
        for place, *columns in self._session.rows(_TOUCHED, bindings):
            found.setdefault(place, _mark_of(tuple(columns)))
        return found

    def in_force(self, now: datetime) -> tuple[bool, bool]:
        """Tell whether anything is hidden (suppressed, archived, expired), and whether anything is pinned."""
        keys = self._session.keys
        found = self._session.row(_IN_FORCE, (*keys, *keys, *keys, to_microseconds(now), *keys))
        return (False, False) if found is None else (bool(found[0]), bool(found[1]))

    def words(self) -> Sequence[SuppressedWords]:
        """Return the suppressed words, in the order they were suppressed."""
        sql = f"SELECT words, at, reason FROM suppressed_words {_WHOSE} ORDER BY at, folded"
        found = [read_columns(columns) for columns in self._session.rows(sql, self._session.keys)]
        return [SuppressedWords(words, to_time(at), reason) for words, at, reason in found]

    def suppress_words(self, words: SuppressedWords) -> None:
        """Suppress words; those that differ in case alone take the place of one another."""
        sql = (
            "INSERT INTO suppressed_words (space, owner, folded, words, at, reason)"
            " VALUES (%s, %s, %s, %s, %s, %s) ON CONFLICT (space, owner, folded) DO UPDATE"
            " SET words = excluded.words, at = excluded.at, reason = excluded.reason"
        )
        row = (words.words.casefold(), words.words, to_microseconds(words.at), words.reason)
        self._session.execute(sql, (*self._session.own(), *row))

    def unsuppress_words(self, words: str) -> bool:
        """Take words (in any case) from the list; tell whether they were on it."""
        sql = f"DELETE FROM suppressed_words {_WHOSE} AND folded = %s"
        return self._session.execute(sql, (*self._session.own(), words.casefold())) > 0

    def expired(self, spans: Sequence[tuple[int, int]], now: datetime) -> Sequence[int]:
        """Return the refs in these spans whose time has come and that are not erased yet, rising."""
        sql = (
            "SELECT DISTINCT e.ref FROM unnest(%s::bigint[], %s::bigint[]) AS p (first_ref, last_ref)"
            f" CROSS JOIN LATERAL (SELECT ref FROM expiry {_WHOSE}"
            " AND ref BETWEEN p.first_ref AND p.last_ref AND at <= %s) AS e ORDER BY e.ref"
        )
        firsts, lasts = bigints([first for first, _ in spans]), bigints([last for _, last in spans])
        bindings = (firsts, lasts, *self._session.keys, to_microseconds(now))
        return [ref for (ref,) in self._session.rows(sql, bindings)]

    def due(self, now: datetime, *, limit: int) -> Sequence[int]:
        """Return the refs whose time came first, to be erased, by time."""
        sql = f"SELECT ref FROM expiry {_WHOSE} AND at <= %s ORDER BY at, ref LIMIT %s"
        bindings = (*self._session.keys, to_microseconds(now), limit)
        return [ref for (ref,) in self._session.rows(sql, bindings)]

    def settle(self, refs: Sequence[int]) -> None:
        """Let these expire no more: they are erased."""
        sql = f"DELETE FROM expiry {_WHOSE} AND ref = ANY(%s::bigint[])"
        self._session.execute(sql, (*self._session.own(), bigints([*refs])))

    def expiring(self) -> int:
        """Count the observations that expire some day."""
        found = self._session.row(f"SELECT count(*) FROM expiry {_WHOSE}", self._session.keys)
        return 0 if found is None else int(found[0])

    def policy(self) -> str | None:
        """Return the scope's own retention policy, as it was set."""
        found = self._session.row(f"SELECT policy FROM retention {_WHOSE}", self._session.keys)
        return None if found is None else found[0]

    def set_policy(self, policy: str | None) -> None:
        """Keep a retention policy of the scope's own, None for none; it is looked at as soon as may be."""
        sql = (
            "INSERT INTO retention (space, owner, policy, checked_at) VALUES (%s, %s, %s, 0)"
            " ON CONFLICT (space, owner) DO UPDATE SET policy = excluded.policy, checked_at = 0"
        )
        self._session.execute(sql, (*self._session.own(), policy))

    def take_turn(self, now: datetime, every: timedelta) -> bool:
        """Tell whether retention was not looked at for so long, and say that it is looked at now."""
        bindings = (*self._session.own(), to_microseconds(now), to_microseconds(now - every))
        return self._session.execute(_TURN, bindings) > 0

    def look_again(self) -> None:
        """Let the next who asks take a turn."""
        self._session.execute(f"UPDATE retention SET checked_at = 0 {_WHOSE}", self._session.own())

    def standings(self) -> Sequence[Standing]:
        """Return what retention reads of all current event episodes, by reference."""
        return [Standing._make(row) for row in self._session.rows(_STANDINGS, self._session.keys)]


def keep_expiries(session: Session, refs: Sequence[int], observations: Sequence[Observation]) -> None:
    """Note when observations that are just stored are to be erased; most never are."""
    timed = [
        (ref, to_microseconds(o.expires_at))
        for ref, o in zip(refs, observations, strict=True)
        if o.expires_at is not None
    ]
    if timed:
        columns = bigints([ref for ref, _ in timed]), bigints([at for _, at in timed])
        session.execute(_KEEP, (*session.keys, *columns))


def _columns(mark: Mark) -> tuple[str, int, int, int, str]:
    return mark.kind.value, mark.first_ref, mark.last_ref, to_microseconds(mark.at), mark.reason


def _mark_of(columns: tuple[Any, ...]) -> Mark:
    kind, first, last, at, reason = read_columns(columns)
    return Mark(first, last, MarkKind(kind), to_time(at), reason)

"""What can be read of a damaged file, saved in a new one; the damaged file is left as it is.

Rows are copied table by table, around what cannot be read. Then the copy is made whole: an observation that
is lost leaves a tombstone in its place, a thread whose episodes have a hole is segmented again from there.
"""

import os
import secrets
from collections.abc import Iterator, Sequence
from contextlib import closing
from datetime import datetime
from itertools import groupby
from pathlib import Path
from typing import Any, Final
from uuid import UUID

import apsw

from episodic_agent.core.language import plural
from episodic_agent.errors import StoreError
from episodic_agent.protocols import FACTS, ref_of, split_ref
from episodic_agent.stores.fact_rows import FACT, fact_of
from episodic_agent.stores.nouns import OBSERVATION, observation_of
from episodic_agent.stores.rows import to_microseconds
from episodic_agent.stores.sqlite.file.backup import first_problem
from episodic_agent.stores.sqlite.file.connection import SqliteOptions, accept, open_connection, row, rows
from episodic_agent.stores.sqlite.file.content import altered
from episodic_agent.stores.sqlite.file.migrate import Migration, migrate

_LAST_SEQ: Final = 0xFFFFFFFF
_NAMED: Final = 200  # observations named one by one
_ENDLESS: Final = 1 << 40  # more rows than any table has
_COPIED: Final = "saved."  # the schema that rows are copied to
_READING: Final = (
    apsw.CorruptError,
    apsw.IOError,
    apsw.ConstraintError,
    apsw.MismatchError,
    apsw.NotADBError,
)
_MANY: Final = 100_000  # observations a frame may count behind the last that is stored
_UNREAD: Final = "cannot be read"
_WORDS: Final = frozenset({"subject", "attribute", "value", "body"})  # the columns of a fact that hold text
_TEXTS: Final = frozenset(place for place, name in enumerate(FACT.split(", ")) if name in _WORDS)


def salvage(path: Path, migrations: Sequence[Migration], now: datetime) -> list[str]:
    """Save what can be read of a file in a new one beside it; return what was saved and what was lost.

    Raises StoreError where nothing can be.
    """
    target = _free_name(path)
    options = SqliteOptions(synchronous="off")
    try:
        os.close(os.open(target, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
        with closing(open_connection(target, options)) as made:
            migrate(made, str(target), migrations)
            made.pragma("journal_mode", "DELETE")
        with closing(apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READWRITE)) as db:
            texts = _Rescue(db, target).run()
        with closing(open_connection(target, options)) as copy:
            texts += _Mending(copy, to_microseconds(now)).run()
            accept(copy)
            if wrong := first_problem(copy):
                texts.append(f"the copy is not sound either: {wrong}")
            remaining = row(copy, "SELECT count(*) FROM observation WHERE erased_at IS NULL")
    except apsw.Error as error:
        _remove(target)
        raise StoreError(f"nothing of {path} can be read ({error}); restore a backup") from error
    saved = (
        f"what can be read of {path} is saved in {target} "
        f"({plural(remaining[0] if remaining else 0, 'observation')});"
        f" {path} is left as it is. `episodic --db {target} doctor --repair` derives what is missing there"
    )
    return [saved, *texts]


def _free_name(path: Path) -> Path:
    for number in range(1, 1000):
        name = f"{path.stem}.salvaged{'' if number == 1 else f'-{number}'}{path.suffix or '.db'}"
        if not (target := path.with_name(name)).exists():
            return target
    raise StoreError(f"a thousand copies lie beside {path}; remove some")


def _remove(target: Path) -> None:
    for suffix in ("", "-wal", "-shm", "-journal"):
        target.with_name(target.name + suffix).unlink(missing_ok=True)


class _Rescue:
    """Copies rows from a damaged database to a new one of the newest schema."""

    def __init__(self, db: apsw.Connection, target: Path) -> None:
        self._db = db
        db.pragma("foreign_keys", "OFF")
        db.execute("ATTACH ? AS saved", (str(target),))
        db.execute("PRAGMA saved.synchronous = OFF; PRAGMA saved.journal_mode = MEMORY")

    def run(self) -> list[str]:
        answer = []
        names = [
            name for (name,) in rows(self._db, "SELECT name FROM saved.sqlite_schema WHERE type = 'table'")
        ]
        for name in names:
            if name == "migration" or name.startswith("sqlite_"):
                continue
            if not self._copy_table(name):
                self._pieces(name)
                if name == "observation":
                    self._observations()
                answer.append(f"some rows of `{name}` {_UNREAD}")
        self._copy_table("sqlite_sequence")  # numbers are never given twice
        return answer

    def _columns(self, table: str) -> str:
        theirs = {name for _, name, *_ in rows(self._db, f"PRAGMA main.table_info({table})")}
        ours = [name for _, name, *_ in rows(self._db, f"PRAGMA saved.table_info({table})")]
        return ", ".join(name for name in ours if name in theirs)

    def _copy(self, table: str, rest: str, bindings: Sequence[int] = ()) -> bool:
        if not (names := self._columns(table)):
            return True  # an older schema has no such table
        sql = f"INSERT OR IGNORE INTO {_COPIED}{table} ({names}) SELECT {names} FROM main.{table} {rest}"
        try:
            self._db.execute(sql, bindings)
        except _READING:
            return False
        return True

    def _copy_table(self, table: str) -> bool:
        if table == "sqlite_sequence":
            self._db.execute(f"DELETE FROM {_COPIED}{table}")
        return self._copy(table, "")

    def _pieces(self, table: str) -> None:
        """Copy from both ends of a table to where it cannot be read."""
        key = self._key(table)
        for way in ("", " DESC"):
            order = "ORDER BY " + ", ".join(f"{name}{way}" for name in key) + " LIMIT ?"
            read, step = 0, 1
            while read < _ENDLESS and self._copy(table, order, (read + step,)):
                read, step = read + step, step * 2
            while step > 1:
                step //= 2
                if self._copy(table, order, (read + step,)):
                    read += step

    def _key(self, table: str) -> list[str]:
        columns = rows(self._db, f"PRAGMA saved.table_info({table})")
        return [name for *_, name in sorted((c[5], c[1]) for c in columns if c[5])] or ["rowid"]

    def _observations(self) -> None:
        """Copy what lies between damaged pages: frames tell which observations there are."""
        for thread, count in rows(self._db, "SELECT thread, next_seq FROM saved.frame"):
            self._between(ref_of(thread, 0), ref_of(thread, count - 1))

    def _between(self, first: int, last: int) -> None:
        if first > last or self._copy("observation", "WHERE ref BETWEEN ? AND ?", (first, last)):
            return
        if first < last:
            middle = (first + last) // 2
            self._between(first, middle)
            self._between(middle + 1, last)


class _Mending:
    """Makes a copy with holes a memory that is whole, as far as it goes."""

    def __init__(self, db: apsw.Connection, now: int) -> None:
        self._db = db
        self._now = now
        self._changed: list[int] = []  # refs of observations that do not say what they said
        db.pragma("foreign_keys", "OFF")

    def run(self) -> list[str]:
        self._db.execute("BEGIN IMMEDIATE")
        self._owners()
        texts = list(self._altered())
        texts += self._holes()
        texts += self._facts()
        self._made_text()
        self._covers()
        self._dangling()
        self._db.execute("COMMIT")
        return [
            *texts[:_NAMED],
            *([plural(len(texts) - _NAMED, "more observation")] if len(texts) > _NAMED else []),
        ]

    def _owners(self) -> None:
        """Give threads and frames back to observations whose own are lost."""
        self._db.execute(
            "INSERT INTO scope (number, space, user_id)"
            " SELECT DISTINCT scope, 'default', 'salvaged ' || scope FROM observation"
            " WHERE scope NOT IN (SELECT number FROM scope);"
            "INSERT INTO thread (number, scope, id, origin, status, modality, channels, generation,"
            " created_at, last_activity_at) SELECT ref >> 32, min(scope), randomblob(16),"
            " 'salvaged ' || (ref >> 32), 'open', 'message', '[]', 0, min(at), max(at) FROM observation"
            " WHERE ref >> 32 NOT IN (SELECT number FROM thread) GROUP BY ref >> 32;"
            "INSERT INTO frame (thread, scope, policy, embedder, next_seq, first_seq, cursor, state, version)"
            " SELECT number, scope,"
            " ifnull((SELECT policy FROM frame GROUP BY policy ORDER BY count(*) DESC), 'default'),"
            " ifnull((SELECT embedder FROM frame GROUP BY embedder ORDER BY count(*) DESC), ''),"
            " 0, 0, 0, x'', 1 FROM thread WHERE number NOT IN (SELECT thread FROM frame);"
        )
        for number, *_, count, _ in self._threads():
            results = row(self._db, _STORED, _bounds(number))
            stored, end = results or (0, 0)
            # a count that is damaged itself tells of millions
            real = max(count, end) if count <= end + _MANY + stored else end
            self._db.execute("UPDATE frame SET next_seq = ? WHERE thread = ?", (real, number))
        self._db.execute(
            "DELETE FROM actor; INSERT INTO actor (scope, name, spoke) SELECT scope, actor, count(*)"
            " FROM observation WHERE erased_at IS NULL GROUP BY scope, actor"
        )

    def _threads(self) -> list[tuple[Any, ...]]:
        sql = (
            "SELECT t.number, t.scope, t.id, t.origin, f.next_seq, f.first_seq FROM thread t"
            " JOIN frame f ON f.thread = t.number"
        )
        return rows(self._db, sql)

    def _altered(self) -> Iterator[str]:
        for number, scope, identity, origin, *_ in self._threads():
            for seq, named in altered(self._db, scope, UUID(bytes=identity), *_bounds(number)):
                ref = ref_of(number, seq)
                if self._readable(ref, UUID(bytes=identity)):
                    self._changed.append(ref)
                    text = f"thread {origin}: observation {seq} ({named}) is not what was stored"
                    yield f"{text}; it is saved as it reads"
                else:
                    self._db.execute("DELETE FROM observation WHERE ref = ?", (ref,))

    def _readable(self, ref: int, thread: UUID) -> bool:
        """Tell whether an observation can be read, with signs in place of bytes that are no text."""
        results = row(self._db, "SELECT CAST(text AS BLOB) FROM observation WHERE ref = ?", (ref,))
        if results is None or results[0] is None:
            return False
        text = bytes(results[0]).decode("utf-8", "replace")
        sql = "UPDATE observation SET text = ?, erased_at = NULL, content_hash = NULL WHERE ref = ?"
        self._db.execute(sql, (text, ref))
        try:
            sql = f"SELECT {OBSERVATION} FROM observation WHERE ref = ?"
            return bool([observation_of(columns, thread) for columns in rows(self._db, sql, (ref,))])
        except StoreError:
            return False

    def _holes(self) -> Iterator[str]:
        """Leave a tombstone where an observation is missing."""
        for number, scope, _, origin, count, _ in self._threads():
            there = {split_ref(ref)[1] for (ref,) in rows(self._db, _REFS, _bounds(number))}
            for seq in sorted(set(range(count)) - there):
                blank = (ref_of(number, seq), scope, secrets.token_bytes(16), self._now)
                self._db.execute(_TOMBSTONE, blank)
                for table in ("document", "vector"):
                    self._db.execute(_UNINDEXED.format(table), (scope, blank[0]))
                yield f"thread {origin}: observation {seq} is lost"

    def _facts(self) -> Iterator[str]:
        """Drop facts that cannot be read or rest on changed words; let what they rest on be read again."""
        changed = {
            bytes(identity)
            for ref in self._changed
            for (identity,) in rows(self._db, "SELECT id FROM observation WHERE ref = ?", (ref,))
        }
        dropped = 0
        for number, *columns in rows(self._db, _FACTS):
            proofs = rows(self._db, _PROOFS, (number,))
            if _is_told((number, *columns), proofs) and not changed & {bytes(one) for one, _ in proofs}:
                continue
            for observation, _ in proofs:
                self._db.execute(_READ_AGAIN, (observation,))
            self._db.execute(_DROP_FACT, {"fact": number, "kind": FACTS})
            dropped += 1
        if dropped:
            yield f"{plural(dropped, 'fact')} could not be kept; the words are read for facts again"

    def _made_text(self) -> None:
        """Put signs in place of bytes that are no text."""
        self._db.create_scalar_function("as_text", _as_text, 1, deterministic=True)
        for (table,) in rows(self._db, "SELECT name FROM sqlite_schema WHERE type = 'table'"):
            for _, column, kind, *_ in rows(self._db, f"PRAGMA table_info({table})"):
                if kind != "TEXT":
                    continue
                made = f"as_text(CAST({column} AS BLOB))"
                sql = f"UPDATE OR IGNORE {table} SET {column} = {made} WHERE typeof({column}) = 'text'"
                self._db.execute(f"{sql} AND {made} IS NOT NULL")

    def _covers(self) -> None:
        """Let a thread whose episodes have a hole be segmented again from the hole on."""
        for number, _, _, _, count, first in self._threads():
            gone = {
                split_ref(ref)[1]
                for (ref,) in rows(self._db, f"{_REFS} AND erased_at IS NOT NULL", _bounds(number))
            }
            expected = 0
            for begins, ends in rows(self._db, _COVER, (number,)):
                while expected < begins and expected in gone:
                    expected += 1
                if begins != expected or ends < begins or ends >= count:
                    break
                expected = ends + 1
            else:
                while expected < first and expected in gone:
                    expected += 1
                if expected == first:
                    continue
            self._db.execute(_FROM_HERE, {"thread": number, "seq": expected})

    def _dangling(self) -> None:
        """Delete rows that refer to what is lost, and let episodes without their words be worded again."""
        self._db.execute(
            "UPDATE episode SET encoding_version = 0 WHERE encoding_version > 0"
            " AND NOT EXISTS (SELECT 1 FROM encoding"
            " WHERE encoding.scope = episode.scope AND encoding.episode = episode.id)"
        )
        for _ in range(100):
            broken = rows(self._db, "PRAGMA foreign_key_check")
            if not broken:
                return
            for (table, parent), results in groupby(
                sorted(broken, key=repr), key=lambda one: (one[0], one[2])
            ):
                self._drop(table, parent, [number for _, number, *_ in results])

    def _drop(self, table: str, parent: str, numbers: Sequence[int | None]) -> None:
        if None not in numbers:
            self._db.executemany(f"DELETE FROM {table} WHERE rowid = ?", [(number,) for number in numbers])
            return
        pairs = [
            (ours, theirs or "number")
            for _, _, of, ours, theirs, *_ in rows(self._db, f"PRAGMA foreign_key_list({table})")
            if of == parent
        ]
        ours, theirs = (", ".join(names) for names in zip(*pairs, strict=True))
        self._db.execute(f"DELETE FROM {table} WHERE ({ours}) NOT IN (SELECT {theirs} FROM {parent})")


def _as_text(*values: Any) -> str | None:
    """Return bytes that are no text as one, with signs for what cannot be read; None for a text."""
    (content,) = map(bytes, values)
    try:
        content.decode()
    except UnicodeDecodeError:
        return content.decode("utf-8", "replace")
    return None


def _is_told(columns: tuple[Any, ...], proofs: Sequence[tuple[bytes, bytes]]) -> bool:
    """Tell whether a fact and what proves it can be read; `columns` are `FACT`, texts as bytes."""
    try:
        texts = [
            one.decode() if isinstance(one, bytes) and place in _TEXTS else one
            for place, one in enumerate(columns)
        ]
        return bool(fact_of(tuple(texts), tuple((one, body.decode()) for one, body in proofs)).fact.evidence)
    except (StoreError, ValueError, LookupError, TypeError):
        return False


_STORED: Final = (
    "SELECT count(*), ifnull(max(ref) & 0xffffffff, -1) + 1 FROM observation WHERE ref BETWEEN ? AND ?"
)
_REFS: Final = "SELECT ref FROM observation WHERE ref BETWEEN ? AND ?"
_TOMBSTONE: Final = (
    "INSERT INTO observation (ref, scope, id, at, received_at, at_source, kind, actor, erased_at)"
    " VALUES (?, ?, ?, 0, 0, 'assumed', 'message', '', ?)"
)
# Texts as bytes: bytes that are no text raise nothing so.
_FACTS: Final = (
    f"SELECT {', '.join(f'CAST({name} AS BLOB)' if name in _WORDS else name for name in FACT.split(', '))}"
    " FROM fact"
)
_PROOFS: Final = "SELECT observation, CAST(body AS BLOB) FROM fact_evidence WHERE fact = ? ORDER BY place"
_READ_AGAIN: Final = (
    "UPDATE episode SET consolidated_at = NULL WHERE (thread, id) IN (SELECT e.thread, e.id"
    " FROM observation o JOIN episode e ON e.thread = o.ref >> 32"
    " AND o.ref & 0xffffffff BETWEEN e.first_seq AND e.last_seq"
    " WHERE o.id = ? AND e.kind = 'event' AND e.generation_to IS NULL)"
)
_DROP_FACT: Final = (
    "DELETE FROM document WHERE ref = :fact AND stream IN (SELECT number FROM stream WHERE kind = :kind"
    " AND scope = (SELECT scope FROM fact WHERE number = :fact));"
    "DELETE FROM vector WHERE ref = :fact AND stream IN (SELECT number FROM stream WHERE kind = :kind"
    " AND scope = (SELECT scope FROM fact WHERE number = :fact));"
    "DELETE FROM fact_move WHERE now = (SELECT id FROM fact WHERE number = :fact)"
    " AND scope = (SELECT scope FROM fact WHERE number = :fact);"
    "DELETE FROM fact_evidence WHERE fact = :fact;"
    "DELETE FROM fact WHERE number = :fact"
)
_UNINDEXED: Final = (
    "DELETE FROM {} WHERE stream IN (SELECT number FROM stream WHERE scope = ? AND kind = 'o') AND ref = ?"
)
_COVER: Final = (
    "SELECT first_seq, last_seq FROM episode WHERE thread = ? AND kind = 'event' AND generation_to IS NULL"
    " ORDER BY first_seq"
)
_FROM_HERE: Final = (
    "DELETE FROM encoding WHERE (scope, episode) IN (SELECT scope, id FROM episode WHERE thread = :thread"
    " AND kind = 'event' AND generation_to IS NULL AND last_seq >= :seq);"
    "DELETE FROM episode WHERE thread = :thread AND kind = 'event' AND generation_to IS NULL"
    " AND last_seq >= :seq;"
    "UPDATE frame SET first_seq = :seq, cursor = :seq, state = x'', question = NULL, version = version + 1"
    " WHERE thread = :thread"
)


def _bounds(number: int) -> tuple[int, int]:
    return ref_of(number, 0), ref_of(number, _LAST_SEQ)

"""Erasing in a file: the statements, the sweep that leaves nothing in free pages, the look for residue."""

import mmap
from collections.abc import Sequence
from contextlib import closing
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Final

import apsw

from episodic_agent.errors import StoreError
from episodic_agent.schemas import Scope
from episodic_agent.schemas.erasures import Erasure, Sweep
from episodic_agent.stores.catalogue import SQLITE
from episodic_agent.stores.faults import reach
from episodic_agent.stores.rows import as_made, in_small, key_of, to_json
from episodic_agent.stores.sqlite.file.connection import (
    LOG,
    SqliteConnections,
    holds,
    open_connection,
    row,
    rows,
    stands_in,
)
from episodic_agent.stores.sqlite.file.session import SqliteSession
from episodic_agent.stores.tables.erasing import (
    ERASURE,
    ActorTable,
    ErasingTable,
    drop_scope,
    erasure_of,
    record,
    settling,
)

_PATIENCE: Final = timedelta(seconds=2)  # for readers that hold the log: whoever asks waits for this
DELETED: Final = "rows deleted"
REWRITTEN: Final = "rows deleted, file rewritten, log emptied"
_BESIDE: Final = (LOG, "-journal")  # what SQLite keeps beside the file that holds words


class SqliteActors(ActorTable):
    """How often everybody spoke."""

    def _silence(self, number: int, actor: str, count: int) -> None:
        del number  # actors are counted over all threads
        sql = "UPDATE actor SET spoke = spoke - :count WHERE :mine AND name = :name"
        self._session.alter(sql, name=actor, count=count)
        self._session.alter("DELETE FROM actor WHERE :mine AND name = :name AND spoke <= 0", name=actor)


class SqliteErasing(SqliteActors, ErasingTable):
    """Erasing in a file."""

    _unrecorded = ("UPDATE observation SET cues = NULL WHERE :also AND ref BETWEEN :first AND :last",)


def erase_scope(connections: SqliteConnections, scope: Scope, erasure: Erasure) -> Erasure:
    """Delete everything of a scope in one transaction; return the receipt with its counts."""
    # checked, each thread deleted would have other tables read whole
    with connections.writing(references=False) as db:
        reach("after-begin")
        session = SqliteSession(db, scope, write=True)
        erasure = replace(erasure, counts=drop_scope(session, SQLITE))
        reach("mid-erasure")
        record(session, erasure)
        reach("before-commit")
    reach("after-commit")
    return erasure


def erasures(connections: SqliteConnections, space: str, scope: Scope | None) -> list[Erasure]:
    """Return the receipts of a space, or of one user, oldest first."""
    sql = f"SELECT {ERASURE} FROM erasure WHERE space = ? AND owner = ifnull(?, owner) ORDER BY at, id"
    owner = None if scope is None else key_of(scope.user_id)
    with connections.borrow() as db:
        return [erasure_of(columns) for columns in rows(db, sql, (key_of(space), owner))]


def settle(connections: SqliteConnections, space: str, erasure: Erasure) -> None:
    """Keep how a receipt stands now."""
    with connections.writing() as db:
        db.execute(*settling(erasure, key_of(space), "?"))


def sweep(connections: SqliteConnections) -> Sweep:
    """Rewrite the file without its free pages, empty the log; say what stands in the way.

    Overwriting what is deleted is not enough: pages that were split or merged keep copies of their rows.
    """
    reach("before-sweep")
    try:
        hindrance = _rewrite(connections)
    except (StoreError, apsw.Error) as error:
        hindrance = f"the file could not be rewritten: {error}"
    reach("after-sweep")
    return Sweep(hindrance, DELETED if hindrance else REWRITTEN)


def _rewrite(connections: SqliteConnections) -> str:
    options = replace(connections.options, busy_timeout=_PATIENCE)
    with connections.borrow_to_write() as lent, closing(open_connection(connections.path, options)) as db:
        connections.look(lent)
        db.pragma("temp_store", "FILE")  # the copy is as large as what is kept
        try:
            db.execute("BEGIN IMMEDIATE")  # tells a writer from a reader
            db.execute("ROLLBACK")
            if held := _empty_log(db):  # it would take in the whole file, and again at each new try
                return held
            db.execute("VACUUM")
            return _empty_log(db)
        except (apsw.BusyError, apsw.LockedError):
            return "another process writes to the file"
        except apsw.FullError:
            return "no room for a copy of the file; free some space"


def _empty_log(db: apsw.Connection) -> str:
    """Empty the log into the file; say who hinders it, "" where nobody does."""
    busy = row(db, "PRAGMA wal_checkpoint(TRUNCATE)")
    return "" if busy is not None and not busy[0] else "a reader holds the log of the file"


def residue(connections: SqliteConnections, texts: Sequence[str]) -> list[str]:
    """Return those of some strings that stand in the file or beside it and in no observation that is kept."""
    path = str(connections.path)
    results = [text for text in texts if holds(path, spellings(text)) or _beside(path, text)]
    with connections.borrow() as db:
        return [text for text in results if not _is_kept(db, text)]


def _beside(path: str, text: str) -> bool:
    for file in (Path(path + suffix) for suffix in _BESIDE):
        if file.exists() and file.stat().st_size:
            with file.open("rb") as opened, mmap.mmap(opened.fileno(), 0, access=mmap.ACCESS_READ) as held:
                if any(stands_in(held, spelled) for spelled in spellings(text)):
                    return True
    return False


def spellings(text: str) -> list[bytes]:
    """Return how a text may stand in the file: as it is, as an index or a title writes it, and inside JSON.

    >>> spellings("é!")
    [b'\\xc3\\xa9!', b'\\xc3\\x89!', b'\\\\u00e9!', b'\\\\u00c9!']
    """
    ways = as_made(text)
    plain = [way.encode("utf-8", "surrogatepass") for way in ways]
    return list(dict.fromkeys([*plain, *(to_json(way)[1:-1].encode() for way in ways)]))


def _is_kept(db: apsw.Connection, text: str) -> bool:
    ways = in_small(text)
    anywhere = " OR ".join(["instr(lower(text), ?) > 0"] * len(ways))
    return row(db, f"SELECT 1 FROM observation WHERE {anywhere} LIMIT 1", tuple(ways)) is not None

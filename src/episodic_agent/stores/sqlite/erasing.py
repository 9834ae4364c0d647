"""Erasing in a file: the statements, the sweep that leaves nothing in free pages, the look for residue."""

import mmap
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any, Final
from uuid import UUID

import apsw

from episodic_agent.core.erasing import Erasure
from episodic_agent.schemas import Scope
from episodic_agent.stores.catalogue import SQLITE, bound
from episodic_agent.stores.erasing import ERASURE, ErasingRows, erasure_of
from episodic_agent.stores.faults import reach
from episodic_agent.stores.keys import key_of, keys_of
from episodic_agent.stores.rows import optional_microseconds, to_json
from episodic_agent.stores.sqlite.connection import Connections, open_connection, row, rows
from episodic_agent.stores.sqlite.session import Session

_PATIENCE: Final = timedelta(seconds=2)  # for readers that hold the log: whoever asks waits for this
_BESIDE: Final = ("", "-wal", "-shm", "-journal")  # the file and what SQLite keeps beside it


class SqliteErasing(ErasingRows):
    """The `Erasing` of one transaction."""

    tables = SQLITE
    place = "instr"
    records = ("UPDATE observation SET cues = NULL WHERE :mine AND ref BETWEEN :first AND :last",)

    def __init__(self, session: Session) -> None:
        self._session = session

    def read(self, sql: str, **values: Any) -> list[tuple[Any, ...]]:
        """Run a query."""
        return self._session.rows(*self._bound(sql, values))

    def write(self, sql: str, **values: Any) -> int:
        """Run a statement; return how many rows it changed."""
        self._session.must_write()
        self._session.db.execute(*self._bound(sql, values))
        return self._session.db.changes()

    def _bound(self, sql: str, values: dict[str, Any]) -> tuple[str, list[Any]]:
        mine = "number = ?" if sql.startswith("DELETE FROM scope") else "scope = ?"
        return bound(sql, "?", (mine, [self._session.number]), values)

    def number(self, thread_id: UUID) -> int:
        """Return a thread's number; raises NotFound."""
        return self._session.thread_number(thread_id)

    def keys(self) -> tuple[int, int]:
        """Return the hashes of the space's and the user's names."""
        return keys_of(self._session.scope)

    def _silence(self, number: int, actor: str, count: int) -> None:
        del number  # actors are counted over all threads
        sql = "UPDATE actor SET spoke = spoke - :count WHERE :mine AND name = :name"
        self.write(sql, name=actor, count=count)
        self.write("DELETE FROM actor WHERE :mine AND name = :name AND spoke <= 0", name=actor)


def erase_scope(connections: Connections, scope: Scope, erasure: Erasure) -> Erasure:
    """Delete everything of a scope in one transaction; return the receipt with its counts."""
    with _without_references(connections) as db:
        db.execute("BEGIN IMMEDIATE")
        reach("after-begin")
        erasing = SqliteErasing(Session(db, scope, write=True))
        erasure = replace(erasure, counts=erasing.drop_scope())
        reach("mid-erasure")
        erasing.record(erasure)
        reach("before-commit")
        db.execute("COMMIT")
    reach("after-commit")
    return erasure


@contextmanager
def _without_references(connections: Connections) -> Iterator[apsw.Connection]:
    """Lend a connection that checks no references: each thread deleted would have other tables read whole."""
    with connections.borrow_to_write() as db:
        db.pragma("foreign_keys", "OFF")
        try:
            yield db
        finally:
            if db.in_transaction:
                db.execute("ROLLBACK")
            db.pragma("foreign_keys", "ON")


def erasures(connections: Connections, space: str, scope: Scope | None) -> list[Erasure]:
    """Return the receipts of a space, or of one user, oldest first."""
    sql = f"SELECT {ERASURE} FROM erasure WHERE space = ? AND owner = ifnull(?, owner) ORDER BY at, id"
    owner = None if scope is None else key_of(scope.user_id)
    with connections.borrow() as db:
        return [erasure_of(columns) for columns in rows(db, sql, (key_of(space), owner))]


def settle(connections: Connections, space: str, erasure: Erasure) -> None:
    """Keep how a receipt stands now."""
    sql = "UPDATE erasure SET state = ?, done_at = ?, residue = ?, waits_for = ? WHERE space = ? AND id = ?"
    done = optional_microseconds(erasure.done_at)
    changed = (erasure.state, done, erasure.residue, erasure.waits_for, key_of(space), erasure.id.bytes)
    with connections.borrow_to_write() as db:
        db.execute(sql, changed)


def sweep(connections: Connections) -> str:
    """Rewrite the file without its free pages, empty the log; return what stands in the way, "" if nothing.

    Overwriting what is deleted is not enough: pages that were split or merged keep copies of their rows.
    """
    reach("before-sweep")
    options = replace(connections.options, busy_timeout=_PATIENCE)
    with connections.borrow_to_write(), closing(open_connection(connections.path, options)) as db:
        db.pragma("temp_store", "FILE")  # the copy is as large as what is kept
        try:
            db.execute("VACUUM")
            busy = row(db, "PRAGMA wal_checkpoint(TRUNCATE)")
        except (apsw.BusyError, apsw.LockedError):
            return "another process writes to the file"
        except apsw.FullError:
            return "no room for a copy of the file; free some space"
    reach("after-sweep")
    return "" if busy is not None and not busy[0] else "a reader holds the log of the file"


def residue(connections: Connections, texts: Sequence[str]) -> list[str]:
    """Return those of some strings that stand in the file or beside it and in no observation that is kept."""
    found = [text for text in texts if any(_holds(path, text) for path in _files(connections.path))]
    with connections.borrow() as db:
        return [text for text in found if not _is_kept(db, text)]


def _files(path: Path) -> list[Path]:
    beside = [path.with_name(path.name + suffix) for suffix in _BESIDE]
    return [one for one in beside if one.exists() and one.stat().st_size]


def _holds(path: Path, text: str) -> bool:
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as held:
        return any(held.find(spelled) >= 0 for spelled in spellings(text))


def spellings(text: str) -> list[bytes]:
    """Return how a text may stand in the file: as it is, and inside JSON.

    >>> spellings("é!")
    [b'\\xc3\\xa9!', b'\\\\u00e9!']
    """
    plain, escaped = text.encode("utf-8", "surrogatepass"), to_json(text)[1:-1].encode()
    return list(dict.fromkeys([plain, escaped]))


def _is_kept(db: apsw.Connection, text: str) -> bool:
    return row(db, "SELECT 1 FROM observation WHERE instr(text, ?) LIMIT 1", (text,)) is not None

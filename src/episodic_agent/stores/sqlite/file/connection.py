"""Connections to one database file: opened with the right settings, lent to one thread at a time.

Writers of one process queue on a lock of their own; other processes' writers are waited for by polling.
"""

import logging
import os
import random
import threading
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any, Final
from weakref import WeakValueDictionary

import apsw

from episodic_agent.errors import InvalidInput, StoreDamaged, StoreError, StoreUnavailable
from episodic_agent.private import create
from episodic_agent.stores.sqlite.file.files import (
    LOG,
    Files,
    Identity,
    LogMark,
    holds_something,
    identity_of,
    lost,
)

_PAGE_CACHE_KIB: Final = 16 * 1024
_PAGE_BYTES: Final = 8192  # five vectors of 384 dimensions fill one page to 95 %; of 4096, two only to 75 %
_CHECKPOINT_PAGES: Final = 2000  # 16 MiB of log between checkpoints: an import then syncs less often
_LOG_LIMIT_BYTES: Final = 64 << 20
_KEPT_CONNECTIONS: Final = 8
_SHORT_WAIT_SECONDS: Final = 0.005
_SILENT_SECONDS: Final = 2.0  # of a wait for another process; whoever waits longer is told why
DAMAGED: Final = "restore a backup, or save what can be read with `episodic doctor --repair`"
_THROW_AWAY: Final = "off"
_SYNCHRONOUS: Final = ("normal", "full", _THROW_AWAY)

log = logging.getLogger(__name__)

# After a fork the child must neither use nor close the parent's connections: closing would drop the parent's
# file locks. They are parked here so that nothing collects them.
_inherited: list[object] = []


def rows(db: apsw.Connection, sql: str, bindings: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
    """Run a query and return all its rows."""
    try:
        return db.execute(sql, bindings).fetchall()
    except UnicodeDecodeError as error:
        raise _unreadable(db, error) from error


def every(db: apsw.Connection, sql: str, bindings: Iterable[Sequence[Any]]) -> list[tuple[Any, ...]]:
    """Run a query once for each of the bindings and return all rows, in the order of the bindings."""
    try:
        return db.executemany(sql, bindings).fetchall()
    except UnicodeDecodeError as error:
        raise _unreadable(db, error) from error


def row(db: apsw.Connection, sql: str, bindings: Sequence[Any] = ()) -> tuple[Any, ...] | None:
    """Run a query and return its first row."""
    try:
        return db.execute(sql, bindings).fetchone()
    except UnicodeDecodeError as error:
        raise _unreadable(db, error) from error


def _unreadable(db: apsw.Connection, error: UnicodeDecodeError) -> StoreError:
    return StoreDamaged(f"{db.filename} is damaged: a text in it is none ({error}); {DAMAGED}")


@contextmanager
def all_or_nothing(db: apsw.Connection) -> Iterator[None]:
    """Undo what the block wrote when it raises, inside an open transaction that may go on."""
    db.execute("SAVEPOINT step")
    is_stored = False
    try:
        yield
        is_stored = True
    finally:
        # A full disk has rolled back the whole transaction already, the savepoint with it.
        if db.in_transaction:
            if not is_stored:
                db.execute("ROLLBACK TO step")
            db.execute("RELEASE step")


@dataclass(frozen=True, slots=True)
class SqliteOptions:
    """How connections are opened: durability, patience, and the largest size the file may reach."""

    synchronous: str = "normal"
    busy_timeout: timedelta = timedelta(seconds=30)
    max_bytes: int | None = None

    def __post_init__(self) -> None:
        if self.synchronous not in _SYNCHRONOUS:
            known = ", ".join(_SYNCHRONOUS)
            raise InvalidInput(f"synchronous must be one of {known}, not {self.synchronous!r}")


def translate(error: apsw.Error, path: str, waited: timedelta) -> StoreError:
    """Say what a database error means for the caller and what to do about it."""
    seconds = waited.total_seconds()
    match error:
        case apsw.BusyError() | apsw.LockedError():
            return StoreUnavailable(f"{path} has been locked by another process for {seconds:g} s; try again")
        case apsw.FullError():
            return StoreUnavailable(f"no room left to write {path}; free some space and repeat the call")
        case apsw.ReadOnlyError() | apsw.PermissionsError():
            return StoreUnavailable(f"{path} is read-only; allow this user to write to it and its folder")
        case apsw.CantOpenError():
            return StoreUnavailable(f"cannot open {path}; check that its folder exists and may be written to")
        case apsw.NotADBError():
            return StoreError(f"{path} is not a SQLite database; choose another path")
        case apsw.CorruptError():
            return StoreDamaged(f"{path} is damaged ({error}); {DAMAGED}")
        case apsw.IOError():
            return StoreUnavailable(f"reading or writing {path} failed ({error}); check the disk")
        case _:
            return StoreError(f"{path}: {error}")


def open_connection(
    path: Path, options: SqliteOptions, *, create: bool = False, vfs: str | None = None
) -> apsw.Connection:
    """Open one connection with the house's settings; raises apsw errors as they come."""
    flags = apsw.SQLITE_OPEN_READWRITE | (apsw.SQLITE_OPEN_CREATE if create else 0)
    db = apsw.Connection(str(path), flags=flags, vfs=vfs, statementcachesize=256)
    db.set_busy_handler(_LockPatience(options.busy_timeout, str(path)))
    db.pragma("trusted_schema", "OFF")
    db.pragma("foreign_keys", "ON")
    # Forgetting is complete (I12): what is deleted is overwritten, not only unlinked.
    db.pragma("secure_delete", "ON")
    db.pragma("cache_size", -_PAGE_CACHE_KIB)
    db.pragma("temp_store", "MEMORY")
    db.pragma("page_size", _PAGE_BYTES)  # of a new file only
    db.pragma("synchronous", options.synchronous)
    db.pragma("wal_autocheckpoint", _CHECKPOINT_PAGES)
    db.pragma("journal_size_limit", _LOG_LIMIT_BYTES)
    if options.max_bytes is not None:
        db.pragma("max_page_count", max(1, options.max_bytes // int(db.pragma("page_size"))))
    return db


def keep_log(db: apsw.Connection, patience: timedelta) -> None:
    """Switch a new file to write-ahead logging; the file remembers it.

    When several processes make the file together, SQLite refuses all but one at once, without asking the
    busy handler; so the patience is ours.
    """
    deadline = time.monotonic() + patience.total_seconds()
    while True:
        try:
            db.pragma("journal_mode", "WAL")
            return
        except apsw.BusyError:
            if time.monotonic() >= deadline:
                raise
            time.sleep(_SHORT_WAIT_SECONDS)


class _LockPatience:
    """Wait for another process's lock in short uneven naps; a wait that is long says so once.

    SQLite's own handler naps ever longer, up to 0.1 s: with six busy writers and readers the longest wait for
    a turn was 2 to 5 s with it, and is about half a second with this one.
    """

    def __init__(self, patience: timedelta, path: str) -> None:
        self._patience = patience.total_seconds()
        self._path = path
        self._deadline = 0.0
        self._is_told = False

    def __call__(self, earlier_calls: int) -> bool:
        now = time.monotonic()
        if earlier_calls == 0:
            self._deadline = now + self._patience
            self._is_told = False
        elif now >= self._deadline:
            return False
        elif not self._is_told and now >= self._deadline - self._patience + _SILENT_SECONDS:
            self._is_told = True
            log.warning(
                "%s is locked by another process; waiting for it, at most %g s", self._path, self._patience
            )
        time.sleep(random.uniform(0.1, 0.5) * _SHORT_WAIT_SECONDS)
        return True


class WriterQueue:
    """One writer at a time in this process; a thread that already writes is refused instead of hanging."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._holder: int | None = None

    @contextmanager
    def turn(self, path: str, patience: timedelta) -> Iterator[None]:
        """Hold the turn; raises StoreUnavailable when it does not come within `patience`."""
        me = threading.get_ident()
        if self._holder == me:
            raise StoreError(f"a write transaction on {path} is already open in this thread; end it first")
        if not self._lock.acquire(timeout=patience.total_seconds()):
            seconds = patience.total_seconds()
            raise StoreUnavailable(f"{path} has been locked by another thread for {seconds:g} s; try again")
        self._holder = me
        try:
            yield
        finally:
            self._holder = None
            self._lock.release()


# Two stores on one file in one process share their queue.
_queues: WeakValueDictionary[tuple[int, str], WriterQueue] = WeakValueDictionary()
_queues_lock = threading.Lock()


class SqliteConnections:
    """A small pool for one file and one process; made anew after a fork.

    The file is made by the first connection, if need be, and must stay the same file from then on.
    """

    def __init__(self, path: Path, options: SqliteOptions) -> None:
        self.path = path
        self.options = options
        self._idle: list[apsw.Connection] = []
        self._files: dict[apsw.Connection, Files] = {}
        self._opened: Identity | None = None
        self._mark = LogMark(path)
        self._closed = False
        self._lock = threading.Lock()
        self._process = os.getpid()
        self._queue = self._shared_queue()

    def _shared_queue(self) -> WriterQueue:
        key = (os.getpid(), os.path.realpath(self.path))
        with _queues_lock:
            queue = _queues.get(key)
            if queue is None:
                _queues[key] = queue = WriterQueue()
            return queue

    def _notice_fork(self) -> None:
        if os.getpid() == self._process:
            return
        _inherited.extend([*self._files, self._mark])
        self._idle, self._files, self._mark = [], {}, LogMark(self.path)
        self._lock = threading.Lock()
        self._process = os.getpid()
        self._queue = self._shared_queue()

    @contextmanager
    def borrow(self, *, look: bool = True) -> Iterator[apsw.Connection]:
        """Lend a connection; database errors leave as StoreError, an open transaction is rolled back.

        Raises StoreError also where the files are no longer those that were opened: whoever does not want to
        `look` at the end has looked before.
        """
        self._notice_fork()
        try:
            db = self._take()
            try:
                yield db
                if look:
                    self.look(db)
            finally:
                self._give_back(db)
        except apsw.Error as error:
            raise translate(error, str(self.path), self.options.busy_timeout) from error

    @contextmanager
    def fresh(self) -> Iterator[apsw.Connection]:
        """Lend a new connection, and close it then: one that was used still has pages it read before."""
        self._notice_fork()
        try:
            db = self._connect()
            try:
                yield db
            finally:
                self._close(db)
        except apsw.NotADBError as error:  # it was one when it was opened first
            raise StoreDamaged(f"{self.path} is damaged ({error}); {DAMAGED}") from error
        except apsw.Error as error:
            raise translate(error, str(self.path), self.options.busy_timeout) from error

    @contextmanager
    def borrow_to_write(self) -> Iterator[apsw.Connection]:
        """Lend a connection while no other thread of this process may write."""
        self._notice_fork()
        with self._queue.turn(str(self.path), self.options.busy_timeout), self.borrow(look=False) as db:
            yield db

    def make_file(self) -> None:
        """Create a missing file so that only its owner may read it; SQLite gives its log the same mode.

        Raises StoreError where its log is there: a new file would take it for nothing, and delete it.
        """
        if not os.path.lexists(self.path) and holds_something(f"{self.path}{LOG}"):
            raise StoreError(
                f"{self.path} is missing, but its log {self.path}{LOG} is there and may hold what was"
                " acknowledged: put the file back beside it, or move the log away to begin anew"
            )
        # In the queue's turn: no other thread has locks on a file that is being made.
        with self._queue.turn(str(self.path), self.options.busy_timeout), suppress(OSError):
            create(self.path)  # where that fails, SQLite says why

    @contextmanager
    def writing(self, *, references: bool = True) -> Iterator[apsw.Connection]:
        """Lend a connection in a write transaction, which is committed when the block ends.

        Without `references` none are checked. Nothing is committed to a file that is no longer the one that
        was opened: StoreError.
        """
        with self.borrow_to_write() as db:
            if self.options.synchronous != _THROW_AWAY:
                self._mark.set(db)
            if not references:
                db.pragma("foreign_keys", "OFF")
            try:
                db.execute("BEGIN IMMEDIATE")
                yield db
                self.look(db)
                db.execute("COMMIT")
            finally:
                if not references:
                    if db.in_transaction:
                        db.execute("ROLLBACK")
                    db.pragma("foreign_keys", "ON")

    def look(self, db: apsw.Connection) -> None:
        """Raise StoreError where the files of a connection are no longer those that it opened."""
        self._files[db].look(db)

    def _take(self) -> apsw.Connection:
        with self._lock:
            if self._closed:
                raise StoreError(f"the store on {self.path} is closed; open it again")
            if self._idle:
                return self._idle.pop()
        return self._connect()

    def _connect(self) -> apsw.Connection:
        if self._opened is not None and identity_of(str(self.path)) is None:
            raise StoreError(lost(str(self.path)))
        db = open_connection(self.path, self.options, create=self._opened is None)
        if self._opened is None:
            self._opened = identity_of(str(self.path))
        self._files[db] = Files(self.path, self._opened)
        return db

    def _give_back(self, db: apsw.Connection) -> None:
        if db.in_transaction:
            # A failing disk may refuse even this; closing the connection then rolls back.
            with suppress(apsw.Error):
                db.execute("ROLLBACK")
        with self._lock:
            if not self._closed and not db.in_transaction and len(self._idle) < _KEPT_CONNECTIONS:
                self._idle.append(db)
                return
        self._close(db)

    def _close(self, db: apsw.Connection) -> None:
        self._files.pop(db, None)
        db.close()

    def close(self) -> None:
        """Close what is idle now and the lent connections when they come back."""
        self._notice_fork()
        with self._lock:
            self._closed = True
            idle, self._idle = self._idle, []
        self._mark.close()
        for db in idle:
            self._close(db)

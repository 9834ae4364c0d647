"""Connections to one database file: opened with the right settings, lent to one thread at a time.

Writers of one process queue on a lock of their own; other processes' writers are waited for by polling.

The files are watched: whether they are still those that were opened, whether a log was lost. SQLite goes on
writing into a file that was deleted or replaced, and takes a file whose log was deleted for a whole one. What
was acknowledged since would be gone without a word. The mark of the log (`LogMark`) is a bit of
`user_version`. It stands in the database file itself while the log may hold what the file does not, and in
the log it is taken away again at once: whoever reads file and log together, as SQLite does when it folds the
log in, never sees it. A mark that is seen is a missing log, but where a process was killed in the few
milliseconds of marking and another program then folded its log in.

A database may be in memory alone, of one process: nothing of it is ever written to a disk.
"""

import logging
import mmap
import os
import random
import re
import threading
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import timedelta
from itertools import count
from pathlib import Path
from typing import Any, Final
from weakref import WeakValueDictionary

import apsw

from episodic_agent.errors import InvalidInput, StoreDamaged, StoreError, StoreUnavailable
from episodic_agent.private import create
from episodic_agent.stores.faults import reach
from episodic_agent.stores.rows import to_time

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


LOG: Final = "-wal"
_INDEX: Final = "-shm"  # of the log, shared by all processes
_MARK: Final = 1 << 24  # added to the number of the schema
_VERSION_AT: Final = 60  # where a file's header keeps `user_version`, four bytes
_AGAIN_AFTER_SECONDS: Final = 1.0  # where a reader keeps the mark out of the file
_OTHERS_SECONDS: Final = 0.5  # for another process that is setting its mark right now
_NAP_SECONDS: Final = 0.02
_CHUNK_BYTES: Final = 4 << 20
_FAR: Final = 24  # bytes on either side of a text: more digits no number is written with
_FRACTION: Final = re.compile(rb"\d\.\d{8,}")

Identity = tuple[int, int]


def identity_of(path: str) -> Identity | None:
    """Return what tells a file from every other on this machine, None where there is none."""
    try:
        result = os.stat(path)
    except OSError:
        return None
    return result.st_dev, result.st_ino


def open_beside(path: str) -> apsw.VFSFile:
    """Open a database's file to read its bytes while connections of this process use it.

    Through SQLite: closing a descriptor of one's own would drop the locks of all these connections.
    """
    return apsw.VFSFile("", os.path.abspath(path), [apsw.SQLITE_OPEN_MAIN_DB | apsw.SQLITE_OPEN_READONLY, 0])


def holds(path: str, data: Sequence[bytes]) -> bool:
    """Tell whether some bytes stand in a database's file."""
    overlap = max(map(len, data)) - 1
    file = open_beside(path)
    try:
        size = file.xFileSize()
        pieces = (
            file.xRead(min(_CHUNK_BYTES + overlap, size - start), start)
            for start in range(0, size, _CHUNK_BYTES)
        )
        return any(stands_in(piece, one) for piece in pieces for one in data)
    finally:
        file.xClose()


def stands_in(data: "bytes | mmap.mmap", text: bytes) -> bool:
    """Tell whether a text stands in some bytes; digits inside the fraction of a computed number are none.

    A fraction is one from eight digits on: nobody's code or phone number is written so.

    >>> stands_in(b'{"score": 0.8134721955}', b"4721"), stands_in(b"the code is 4721", b"4721")
    (False, True)
    """
    place = data.find(text)
    while place >= 0:
        around = data[max(place - _FAR, 0) : place + len(text) + _FAR]
        if not text.isdigit() or text in _FRACTION.sub(b" ", around):
            return True
        place = data.find(text, place + 1)
    return False


def schema_version(stored: int) -> int:
    """Return the number of the schema in a `user_version`.

    >>> schema_version(13), schema_version(13 | 1 << 24)
    (13, 13)
    """
    return stored & ~_MARK


class Files:
    """The files that one connection holds open: the database, its log, and the index of the log."""

    def __init__(self, path: Path, opened: Identity | None) -> None:
        self._path = str(path)
        self._opened = {} if opened is None else {"": opened}
        self._watched = ("", LOG, _INDEX)

    def look(self, db: apsw.Connection) -> None:
        """Raise StoreError where a name leads to another file than it did, or to none.

        Ask when `db` has read or written: the log is opened by the first statement that does.
        """
        for suffix in self._watched:
            there, opened = identity_of(self._path + suffix), self._opened.get(suffix)
            if there == opened:
                continue
            if opened is None and there is not None and not (suffix and db.readonly("main")):
                self._opened[suffix] = there
            elif opened is not None:
                raise StoreError(lost(self._path, suffix, replaced=there is not None))


def lost(path: str, suffix: str = "", *, replaced: bool = False) -> str:
    """Say that a file that is open is gone or another one, and what to do."""
    seen = "was replaced by another file" if replaced else "was deleted or moved away"
    rest = "nothing of this call is kept"
    if suffix:
        return (
            f"{path}{suffix} {seen} while {path} was open: {rest}; end every program that uses it in an"
            " orderly way (that saves what the log held), then open it again"
        )
    return f"{path} {seen} while it was open: {rest}; put it back or restore a backup, then open it again"


class LogMark:
    """Says in the database file itself that its log may hold more than it."""

    def __init__(self, path: Path) -> None:
        self._path = os.path.abspath(path)
        self._file: apsw.VFSFile | None = None
        self._not_before = 0.0

    def set(self, db: apsw.Connection) -> None:
        """Set the mark where it is not set, before a transaction writes to the log.

        Between two checkpoints that costs one look at four bytes. While a reader keeps the mark out of the
        file it is tried again later, and a log lost meanwhile may go unnoticed.
        """
        if self._is_set() or time.monotonic() < self._not_before:
            return
        _change(db, marked=True)  # what another process refuses is not asked again: each asking waits
        try:
            reach("marked-log")
            db.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchall()
            reach("marked-file")
        finally:
            _change(db, marked=False)
        if not self._is_set():
            self._not_before = time.monotonic() + _AGAIN_AFTER_SECONDS

    def _is_set(self) -> bool:
        if self._file is None:
            self._file = open_beside(self._path)
        return bool(int.from_bytes(self._file.xRead(4, _VERSION_AT), "big") & _MARK)

    def close(self) -> None:
        """Let go of the file."""
        if self._file is not None:
            self._file.xClose()
            self._file = None


def lost_log(db: apsw.Connection, path: str) -> str:
    """Return what is to be said of a file whose log is missing, "" of a sound one.

    A process that was killed while it set its mark leaves it in a log that is there: it is taken away.
    """
    deadline = time.monotonic() + _OTHERS_SECONDS
    while (left := _version(db)) & _MARK and time.monotonic() < deadline:
        time.sleep(_NAP_SECONDS)
    if not left & _MARK:
        return ""
    if holds_something(path + LOG):
        accept(db)
        return ""
    last = db.execute("SELECT max(last_received_at) FROM frame").get
    since = "" if last is None else f" after {_time(last)}"
    return (
        f"the log of {path} ({path}{LOG}) is missing: it was deleted, or the file was copied without it, and"
        f" what was acknowledged{since} may be lost"
    )


def accept(db: apsw.Connection) -> None:
    """Take the mark away: what is there is all there is. A file that cannot be written to keeps it."""
    with suppress(apsw.ReadOnlyError):
        _change(db, marked=False)


def _change(db: apsw.Connection, *, marked: bool) -> None:
    if db.in_transaction:  # the one before it failed
        db.execute("ROLLBACK")
    db.execute("BEGIN IMMEDIATE")  # nobody changes the schema's number meanwhile
    number = schema_version(_version(db))
    db.execute(f"PRAGMA user_version = {number | _MARK if marked else number}")
    db.execute("COMMIT")


def _version(db: apsw.Connection) -> int:
    return int(db.pragma("user_version"))


def _time(microseconds: int) -> str:
    return f"{to_time(microseconds):%Y-%m-%d %H:%M:%S} UTC"


def holds_something(path: str) -> bool:
    """Tell whether a file is there and not empty."""
    try:
        return os.stat(path).st_size > 0
    except OSError:
        return False


_names: Final = count(1)
_OPTIONS: Final = SqliteOptions(synchronous="off")


class ScratchConnections(SqliteConnections):
    """Connections that share a database in memory, which is gone with the last of them."""

    def __init__(self) -> None:
        # a name that begins with "/" is shared by the connections of the process
        super().__init__(Path(f"/episodic-scratch-{next(_names)}"), _OPTIONS)
        self._anchor = self._connect()

    def make_file(self) -> None:
        """Make nothing: there is no file."""

    def look(self, db: apsw.Connection) -> None:
        """Look at nothing: no other process can take the place of it."""

    def _connect(self) -> apsw.Connection:
        return open_connection(self.path, self.options, create=True, vfs="memdb")

    def close(self) -> None:
        """Close what is idle; the database is gone when the lent connections have come back."""
        super().close()
        self._anchor.close()

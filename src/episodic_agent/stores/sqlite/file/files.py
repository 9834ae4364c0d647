"""The files of a database, watched: whether they are still those that were opened, whether a log was lost.

SQLite goes on writing into a file that was deleted or replaced, and takes a file whose log was deleted for a
whole one. What was acknowledged since would be gone without a word.

The mark of the log (`LogMark`) is a bit of `user_version`. It stands in the database file itself while the
log may hold what the file does not, and in the log it is taken away again at once: whoever reads file and log
together, as SQLite does when it folds the log in, never sees it. A mark that is seen is a missing log, but
where a process was killed in the few milliseconds of marking and another program then folded its log in.
"""

import mmap
import os
import re
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final

import apsw

from episodic_agent.errors import StoreError
from episodic_agent.stores.faults import reach
from episodic_agent.stores.rows import to_time

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

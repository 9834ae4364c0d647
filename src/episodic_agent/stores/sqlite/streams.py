"""Index rows in commit order, and the copies of them a process keeps in memory.

A *stream* is all index rows of one (scope, kind, embedder); the words have the embedder ''. Rows get their
place `n` from a counter in the stream's own row, so within a stream n grows with commit order and is never
used twice. Taking rows away (a drop, a replacement) raises the stream's `epoch`. A transaction reads
(epoch, last) in its own snapshot and compares them with the copy in memory:

- same epoch, smaller `last` in memory: only the rows in between are read and put at the end;
- larger `last` in memory (another thread has seen more): the rows beyond the snapshot are hidden;
- older epoch in memory: the copy is read again;
- newer epoch in memory, or rows written in this very transaction: a private copy, thrown away at its end.
"""

import threading
from collections import OrderedDict
from dataclasses import dataclass, replace
from typing import Final, Generic, Protocol, TypeVar

import apsw

from episodic_agent.stores.sqlite.file.session import SqliteSession

_PLACES: Final = 1 << 36  # rows a stream can ever have; n = base + place
_BASES: Final = 1 << 27  # streams there can ever be
WORDS: Final = ""  # the embedder of the words' stream


@dataclass(frozen=True, slots=True)
class StreamRow:
    """A stream's row as one snapshot sees it; `width` is the vectors' dimensions (0 for words).

    Row `n` of the index is the stream's `base` and the row's place in it.
    """

    number: int
    base: int
    width: int
    epoch: int
    last: int


class Streams:
    """The streams one transaction has looked at or written to."""

    def __init__(self, session: SqliteSession) -> None:
        self._session = session
        self._seen: dict[tuple[str, str], StreamRow] = {}
        self.written: set[int] = set()

    def find(self, kind: str, embedder: str) -> StreamRow | None:
        """Return a stream of the scope, or None while nothing was ever indexed in it."""
        stream = self._seen.get((kind, embedder))
        if stream is not None:
            return stream
        own = "scope = ? AND kind = ? AND embedder = ?"
        sql = f"SELECT number, base, width, epoch, places FROM stream WHERE {own}"
        row = self._session.row(sql, (self._session.number, kind, embedder))
        if row is None:
            return None
        self._seen[kind, embedder] = stream = StreamRow(*row)
        return stream

    def open(self, kind: str, embedder: str, width: int) -> StreamRow:
        """Return a stream for writing, made at its first use."""
        scope = self._session.own()
        stream = self.find(kind, embedder)
        if stream is None:
            db, columns = self._session.db, "scope, kind, embedder, width, epoch, places, base"
            db.execute(
                f"INSERT INTO stream ({columns}) VALUES (?, ?, ?, ?, 0, 0, 0)", (scope, kind, embedder, width)
            )
            number = db.last_insert_rowid()
            # Downwards: messages, the first to be indexed and by far the most, then go to the end of a table,
            # which fills its pages; rows put between others leave a tenth of theirs free.
            base = (_BASES - number) * _PLACES
            db.execute("UPDATE stream SET base = ? WHERE number = ?", (base, number))
            stream = StreamRow(number, base, width, epoch=0, last=0)
            self._seen[kind, embedder] = stream
        return stream

    def of_kind(self, kind: str) -> list[tuple[str, StreamRow]]:
        """Return (embedder, stream) of all streams of a kind: the words' and every embedder's."""
        sql = "SELECT embedder FROM stream WHERE scope = ? AND kind = ?"
        names = [name for (name,) in self._session.rows(sql, (self._session.number, kind))]
        pairs = [(name, self.find(kind, name)) for name in names]
        return [(name, stream) for name, stream in pairs if stream is not None]

    def grow(self, kind: str, embedder: str, *, added: int, removed: int) -> int:
        """Book rows written to a stream and return the n of the first of them."""
        stream = self._seen[kind, embedder]
        first = stream.base + stream.last + 1
        grown = replace(stream, last=stream.last + added, epoch=stream.epoch + (removed > 0))
        sql = "UPDATE stream SET places = ?, epoch = ? WHERE number = ?"
        self._session.db.execute(sql, (grown.last, grown.epoch, grown.number))
        self._seen[kind, embedder] = grown
        self.written.add(grown.number)
        return first


class Copy(Protocol):
    """The rows of one stream in memory."""

    def read(self, db: apsw.Connection, stream: StreamRow, after: int) -> None:
        """Append the rows with after < place <= stream.last."""
        ...

    @property
    def nbytes(self) -> int:
        """Return the bytes its arrays take."""
        ...


CopyT = TypeVar("CopyT", bound=Copy)


class _ShelfSlot(Generic[CopyT]):
    """One stream's place on the shelf. Its lock is held while rows are read, not while they are searched."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.copy: CopyT | None = None
        self.epoch = -1
        self.last = 0


class Shelf(Generic[CopyT]):
    """Copies of streams under one budget in bytes, the least recently used given up first."""

    def __init__(self, make: type[CopyT], budget: int) -> None:
        self._make = make
        self._budget = budget
        self._lock = threading.Lock()
        self._places: OrderedDict[int, _ShelfSlot[CopyT]] = OrderedDict()
        self._sizes: dict[int, int] = {}

    def copy_of(self, db: apsw.Connection, stream: StreamRow, *, private: bool) -> CopyT:
        """Return a copy that holds at least the rows this snapshot sees (mind those beyond `stream.last`)."""
        if private:
            return self._read_whole(db, stream)
        with self._lock:
            place = self._places.setdefault(stream.number, _ShelfSlot())
            self._places.move_to_end(stream.number)
        with place.lock:
            if place.copy is not None and place.epoch > stream.epoch:
                return self._read_whole(db, stream)
            if place.copy is None or place.epoch < stream.epoch:
                place.copy, place.epoch, place.last = self._read_whole(db, stream), stream.epoch, stream.last
            elif place.last < stream.last:
                # Off the shelf meanwhile: a reading that fails half way must not leave its rows there.
                copy, place.copy = place.copy, None
                copy.read(db, stream, place.last)
                place.copy, place.last = copy, stream.last
            copy = place.copy
        self._weigh(stream.number, copy.nbytes)
        return copy

    def _read_whole(self, db: apsw.Connection, stream: StreamRow) -> CopyT:
        copy = self._make()
        copy.read(db, stream, 0)
        return copy

    def _weigh(self, number: int, nbytes: int) -> None:
        with self._lock:
            if number in self._places:
                self._sizes[number] = nbytes
            # The one in use stays, even if it alone is over the budget.
            while sum(self._sizes.values()) > self._budget and len(self._places) > 1:
                oldest, _ = self._places.popitem(last=False)
                self._sizes.pop(oldest, None)

    @property
    def nbytes(self) -> int:
        """Return the bytes the copies take."""
        with self._lock:
            return sum(self._sizes.values())

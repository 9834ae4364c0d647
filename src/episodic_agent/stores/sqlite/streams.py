"""Index rows in commit order, and the copies of them a process keeps in memory.

A *stream* is all index rows of one (scope, kind, embedder); the words have the embedder ''. Rows get their
place `n` from a counter in the stream's own row, so within a stream n grows with commit order and is never
used twice. Taking rows away (a drop, a replacement) raises the stream's `epoch`. A transaction reads (epoch,
last) in its own snapshot and compares them with the copy in memory:

- same epoch, smaller `last` in memory: only the rows in between are read and put at the end;
- larger `last` in memory (another thread has seen more): the rows beyond the snapshot are hidden;
- older epoch in memory: the copy is read again;
- newer epoch in memory, or rows written in this very transaction: a private copy, thrown away at its end.

The *words* of a stream are an inverted index made from its document rows, and BM25 over it. Its *vectors* are
a matrix with an exact scan; of a large stream their sketches. A hundred and thirty thousand vectors of 384
numbers are scanned as they are in a few milliseconds; a million take a hundred, and a gigabyte and a half.
Above `LARGE` rows a process keeps of each vector the signs of its numbers (a bit each) and its numbers in a
byte each. A query is compared with all signs (the count of those that differ goes with the angle: Charikar
2002), the nearest by sign are ordered by their bytes, and the best of these are scored from the rows of the
file: scores are exact, and what is left out is what neither signs nor bytes showed among the nearest. `python
-m benchmarks.large_scope` measures how much that is.
"""

import threading
from bisect import bisect_right
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, islice
from typing import Final, Generic, Protocol, TypeVar

import apsw
import numpy as np
from numpy.typing import NDArray

from episodic_agent.core.vectors import as_floats, scales
from episodic_agent.protocols import Refs, Scores
from episodic_agent.schemas import Vector
from episodic_agent.stores.scoring import LongIntegers as Integers
from episodic_agent.stores.scoring import SortedRefs, best, best_of_each, grown, products, term_scores, unit
from episodic_agent.stores.sqlite.file.session import EACH, SqliteSession, number_list
from episodic_agent.stores.terms import term_hash, wide_counts

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


_BATCH: Final = 8192
_SMALL: Final = 4096  # segments below this many postings are always merged

Hashes = NDArray[np.uint64]
Counts = NDArray[np.uint16]


def _number(term: str) -> np.uint64:
    return np.uint64(int.from_bytes(term_hash(term), "little"))


class Segment:
    """Postings sorted by term; never changed."""

    def __init__(self, hashes: Hashes, rows: NDArray[np.int32], counts: Counts) -> None:
        order = np.argsort(hashes, kind="stable")
        in_order = hashes[order]
        first = np.ones(len(hashes), dtype=np.bool_)
        first[1:] = in_order[1:] != in_order[:-1]
        starts = np.flatnonzero(first)
        self.hashes = in_order[starts]
        self.offsets = np.append(starts, len(hashes))
        self.rows = rows[order]
        self.counts = counts[order]

    def __len__(self) -> int:
        return len(self.rows)

    def find(self, term: np.uint64) -> slice:
        """Return where a term's postings lie."""
        place = int(self.hashes.searchsorted(term))
        if place == len(self.hashes) or self.hashes[place] != term:
            return slice(0, 0)
        return slice(int(self.offsets[place]), int(self.offsets[place + 1]))

    def joined(self, other: "Segment") -> "Segment":
        """Return one segment with the postings of both."""
        hashes = [np.repeat(part.hashes, np.diff(part.offsets)) for part in (self, other)]
        rows = np.concatenate((self.rows, other.rows))
        return Segment(np.concatenate(hashes), rows, np.concatenate((self.counts, other.counts)))

    @property
    def nbytes(self) -> int:
        """Return the bytes the arrays take."""
        return self.hashes.nbytes + self.offsets.nbytes + self.rows.nbytes + self.counts.nbytes


class SqliteWords:
    """An inverted index that grows at the end: a few segments, each at least twice as large as the next."""

    def __init__(self) -> None:
        self.count = 0
        self._places: Integers = np.empty(0, dtype=np.int64)
        self._refs: Integers = np.empty(0, dtype=np.int64)
        self._lengths: NDArray[np.int32] = np.empty(0, dtype=np.int32)
        self._segments: tuple[Segment, ...] = ()
        self._sorted: tuple[int, SortedRefs] = (-1, SortedRefs(self._refs))

    def read(self, db: apsw.Connection, stream: StreamRow, after: int) -> None:
        """Append the documents with after < place <= stream.last."""
        base = stream.base
        sql = "SELECT n, ref, length, terms, counts FROM document WHERE n > ? AND n <= ?"
        cursor = iter(db.execute(sql, (base + after, base + stream.last)))
        hashes: list[Hashes] = []
        rows: list[NDArray[np.int32]] = []
        counts: list[Counts] = []
        while batch := list(islice(cursor, _BATCH)):
            start = self.count
            self._append(batch, base)
            hashes.append(np.frombuffer(b"".join([entry[3] for entry in batch]), dtype="<u8"))
            sizes = [len(entry[3]) // 8 for entry in batch]
            packed = [wide_counts(entry[4], size) for entry, size in zip(batch, sizes, strict=True)]
            counts.append(np.frombuffer(b"".join(packed), dtype="<u2"))
            rows.append(np.repeat(np.arange(start, self.count, dtype=np.int32), sizes))
        if hashes:
            self._add(Segment(np.concatenate(hashes), np.concatenate(rows), np.concatenate(counts)))

    def _append(self, batch: list[tuple[int, int, int, bytes, bytes]], base: int) -> None:
        start, end = self.count, self.count + len(batch)
        self._places = grown(self._places, start, end)
        self._refs = grown(self._refs, start, end)
        self._lengths = grown(self._lengths, start, end)
        self._places[start:end] = [entry[0] - base for entry in batch]
        self._refs[start:end] = [entry[1] for entry in batch]
        self._lengths[start:end] = [entry[2] for entry in batch]
        self.count = end

    def _add(self, segment: Segment) -> None:
        segments = [*self._segments, segment]
        while len(segments) > 1 and len(segments[-2]) < max(_SMALL, 2 * len(segments[-1])):
            last = segments.pop()
            segments[-1] = segments[-1].joined(last)
        self._segments = tuple(segments)

    @property
    def nbytes(self) -> int:
        """Return the bytes the arrays take."""
        own = self._places.nbytes + self._refs.nbytes + self._lengths.nbytes
        return own + sum(segment.nbytes for segment in self._segments)

    def view(self, last: int) -> "WordsView":
        """Return the documents a snapshot whose stream ends at `last` may see."""
        visible = int(np.searchsorted(self._places[: self.count], last, side="right"))
        count, ordered = self._sorted
        if count != visible:
            ordered = SortedRefs(self._refs[:visible])
            self._sorted = (visible, ordered)
        return WordsView(self._refs[:visible], self._lengths[:visible], self._segments, ordered)


class WordsView:
    """One snapshot's documents. Remembers the last query: recall asks for its best, then for given refs."""

    def __init__(
        self, refs: Integers, lengths: NDArray[np.int32], segments: tuple[Segment, ...], ordered: SortedRefs
    ) -> None:
        self._refs = refs
        self._lengths = lengths
        self._segments = segments
        self._ordered = ordered
        self._asked: object = None
        self._answer: Scores = np.empty(0, dtype=np.float32)

    @property
    def documents(self) -> int:
        """Count the documents."""
        return len(self._refs)

    @property
    def average_length(self) -> float:
        """Return the mean length in terms, 0 without documents."""
        return float(self._lengths.mean()) if len(self._lengths) else 0.0

    def frequencies(self, terms: Iterable[str]) -> dict[str, int]:
        """Count the documents that hold each term."""
        return {term: sum(len(rows) for rows, _ in self._postings(term)) for term in terms}

    def best(
        self, weights: Mapping[str, float], k1: float, b: float, average_length: float, limit: int
    ) -> tuple[Refs, Scores]:
        """Return the best documents with a score above 0, falling, ties by ref."""
        scores = self._scores(weights, k1, b, average_length)
        held = np.flatnonzero(scores > 0)
        return best(self._refs[held], scores[held], limit)

    def of(
        self, weights: Mapping[str, float], refs: Refs, k1: float, b: float, average_length: float
    ) -> Scores:
        """Return the scores of given refs, 0 where no term occurs."""
        places, there = self._ordered.find(refs)
        scores: NDArray[np.float32] = np.zeros(len(refs), dtype=np.float32)
        rows = self._ordered.order[places[there]]
        scores[there] = self._scores(weights, k1, b, average_length)[rows]
        return scores

    def _scores(self, weights: Mapping[str, float], k1: float, b: float, average_length: float) -> Scores:
        """Return BM25 of every document, in row order."""
        asked = (tuple(weights.items()), k1, b, average_length)
        if asked != self._asked:
            total = np.zeros(len(self._refs))
            for term, weight in weights.items():
                for rows, counts in self._postings(term):
                    # A term has one posting a document, so plain indexed addition is exact.
                    total[rows] += term_scores(
                        weight, counts, self._lengths[rows], k1=k1, b=b, average_length=average_length
                    )
            self._asked, self._answer = asked, total.astype(np.float32)
        return self._answer

    def _postings(self, term: str) -> Iterable[tuple[NDArray[np.int32], Counts]]:
        target = _number(term)
        for segment in self._segments:
            where = segment.find(target)
            rows, counts = segment.rows[where], segment.counts[where]
            if len(rows) and rows[-1] >= len(self._refs):  # a term's rows rise
                # Another thread has read further than this snapshot sees.
                seen = rows < len(self._refs)
                rows, counts = rows[seen], counts[seen]
            yield rows, counts


_BATCH_OF_VECTORS: Final = 4096
_SMALLEST_BLOCK: Final = 256
_LARGEST_BLOCK: Final = 16_384
LARGE: Final = 1 << 17  # rows; a stream with fewer is held as it is
_NEAR: Final = 1 << 14  # rows chosen by sign: the sixtieth of 51,000 messages held .998 of the best ten
_SPARE: Final = 200  # rows scored from the file beyond the limit
_STEPS: Final = 127  # a byte holds -127 to 127

Words = NDArray[np.uint64]
Rows = Callable[[Integers], Vector]  # reads the rows at some places of a stream, [n, d], in their order


class Matrix:
    """Rows as they were given, in commit order; grows at the end, never changes below.

    The rows lie in blocks, so that growing never copies them: moving 150 MB stops a recall for 0.3 s. From
    `LARGE` rows on their sketches are held instead.
    """

    large = LARGE  # rows; smaller in tests

    def __init__(self) -> None:
        self.count = 0
        self._sketches: Sketches | None = None
        self._places: Integers = np.empty(0, dtype=np.int64)
        self._refs: Integers = np.empty(0, dtype=np.int64)
        self._scales: Vector = np.empty(0, dtype=np.float32)
        self._blocks: tuple[Vector, ...] = ()
        self._sorted: tuple[int, SortedRefs] = (-1, SortedRefs(self._refs))

    def read(self, db: apsw.Connection, stream: StreamRow, after: int) -> None:
        """Append the rows with after < place <= stream.last."""
        base = stream.base
        span = (base + after, base + stream.last)
        if after == 0:
            # The first reading is the large one: one block for all of it.
            expected = db.execute("SELECT count(*) FROM vector WHERE n > ? AND n <= ?", span).get
            if expected > self.large:
                self._sketches = Sketches(stream.width, expected)
            else:
                self._blocks = (np.empty((expected, stream.width), dtype=np.float32),)
        cursor = db.execute("SELECT n, ref, half FROM vector WHERE n > ? AND n <= ?", span)
        while batch := list(islice(cursor, _BATCH_OF_VECTORS)):
            self._append(batch, base)

    def _append(self, batch: list[tuple[int, int, bytes]], base: int) -> None:
        start, end = self.count, self.count + len(batch)
        vectors = _read([half for _, _, half in batch])
        self._refs = grown(self._refs, start, end)
        self._places = grown(self._places, start, end)
        self._scales = grown(self._scales, start, end)
        if self._sketches is None and end > self.large:
            sketches, before = Sketches(vectors.shape[1], end), 0
            for block in self._blocks:
                held = block[: start - before]
                sketches.append(before, held)
                before += len(held)
            # whole before it is seen, and the blocks go last: others look while this is done
            self._sketches, self._blocks = sketches, ()
        if self._sketches is None:
            self._fill(vectors)
        else:
            self._sketches.append(start, vectors)
        self._scales[start:end] = scales(vectors)
        self._refs[start:end] = [ref for _, ref, _ in batch]
        self._places[start:end] = [n - base for n, _, _ in batch]
        self.count = end

    def _fill(self, vectors: Vector) -> None:
        """Write rows behind the last one, in a new block where the last is full."""
        free = sum(map(len, self._blocks)) - self.count
        if free:
            place = len(self._blocks[-1]) - free
            self._blocks[-1][place : place + len(vectors)] = vectors[:free]
        rest = vectors[free:]
        if len(rest):
            room = max(len(rest), _SMALLEST_BLOCK, min(self.count, _LARGEST_BLOCK))
            block = np.empty((room, vectors.shape[1]), dtype=np.float32)
            block[: len(rest)] = rest
            self._blocks = (*self._blocks, block)

    @property
    def nbytes(self) -> int:
        """Return the bytes the arrays take, spare room included."""
        rows = sum(block.nbytes for block in self._blocks)
        rows += 0 if self._sketches is None else self._sketches.nbytes
        return rows + self._refs.nbytes + self._places.nbytes + self._scales.nbytes

    def view(self, last: int, rows: Rows) -> "MatrixView | SketchView":
        """Return the rows a snapshot whose stream ends at `last` may see; `rows` reads them from the file."""
        blocks = self._blocks  # before it is asked whether there are sketches instead
        visible = int(np.searchsorted(self._places[: self.count], last, side="right"))
        count, ordered = self._sorted
        if count != visible:
            ordered = SortedRefs(self._refs[:visible])
            self._sorted = (visible, ordered)
        if self._sketches is not None:
            return SketchView(self._sketches, self._places[:visible], self._refs[:visible], ordered, rows)
        return MatrixView(blocks, self._scales[:visible], ordered)


class MatrixView:
    """One snapshot's vectors. Remembers the last query: recall asks for its best, then for given refs."""

    def __init__(self, blocks: Sequence[Vector], scales: Vector, ordered: SortedRefs) -> None:
        self._blocks = blocks
        self._starts = [0, *accumulate(map(len, blocks))]
        self._scales = scales
        self._ordered = ordered
        self._asked: bytes | None = None
        self._answer: Scores = np.empty(0, dtype=np.float32)

    def best(self, query: Vector, limit: int) -> tuple[Refs, Scores]:
        """Return the best refs by cosine (best row counts), falling, ties by ref."""
        return best(self._ordered.refs, self._similarities(query), limit)

    def of(self, query: Vector, refs: Refs) -> Scores:
        """Return cosines of given refs, NaN where there is no vector."""
        places, there = self._ordered.find(refs)
        scores: NDArray[np.float32] = np.full(len(refs), np.nan, dtype=np.float32)
        scores[there] = self._similarities(query)[places[there]]
        return scores

    def first_rows(self, refs: Sequence[int]) -> dict[int, Vector]:
        """Return the first row of each ref that has one; chunks are written, and so read, in their order."""
        targets = np.asarray(refs, dtype=np.int64)
        places, there = self._ordered.find(targets)
        rows = self._ordered.order[self._ordered.starts[places[there]]]
        return {ref: self._row(row) for ref, row in zip(targets[there].tolist(), rows.tolist(), strict=True)}

    def all_rows(self, refs: Sequence[int]) -> dict[int, Vector]:
        """Return all rows of each ref that has any, [n, d], in the order of their chunks."""
        targets = np.asarray(refs, dtype=np.int64)
        places, there = self._ordered.find(targets)
        return {
            ref: np.stack([self._row(row) for row in self._ordered.rows(place)])
            for ref, place in zip(targets[there].tolist(), places[there].tolist(), strict=True)
        }

    def _row(self, row: int) -> Vector:
        block = bisect_right(self._starts, row) - 1
        results: Vector = self._blocks[block][row - self._starts[block]]
        return results.copy()

    def _similarities(self, query: Vector) -> Scores:
        """Return the cosine of each distinct ref, in the order of refs."""
        vector = unit(query)
        asked = vector.tobytes()
        if asked != self._asked:
            cosines = self._products(vector) * self._scales
            self._asked, self._answer = asked, best_of_each(cosines, self._ordered)
        return self._answer

    def _products(self, query: Vector) -> Vector:
        results: Vector = np.empty(len(self._scales), dtype=np.float32)
        for start, block in zip(self._starts, self._blocks, strict=False):
            into = results[start : start + len(block)]
            products(block[: len(into)], query, into)
        return results


def stored_rows(db: apsw.Connection, stream: StreamRow) -> Rows:
    """Return what reads a stream's rows from the file, in the transaction that `db` is in."""
    base = stream.base
    sql = f"SELECT v.half FROM {EACH} vector v WHERE v.n = p.value"

    def read(places: Integers) -> Vector:
        return _read([half for (half,) in db.execute(sql, (number_list(places + base),))], stream.width)

    return read


def _read(halves: Sequence[bytes], width: int = -1) -> Vector:
    return as_floats(np.frombuffer(b"".join(halves), dtype="<f2").reshape(len(halves), width))


class Sketches:
    """The signs and the bytes of rows that grow at the end."""

    def __init__(self, width: int, room: int) -> None:
        words = -(-width // 64)
        self.signs: tuple[Words, ...] = tuple(np.empty(room, dtype=np.uint64) for _ in range(words))
        self.codes: NDArray[np.int8] = np.empty((room, width), dtype=np.int8)
        self.weights: Vector = np.empty(room, dtype=np.float32)  # make products of bytes cosines

    def append(self, start: int, vectors: Vector) -> None:
        """Put rows [n, d] behind the `start` that are there."""
        end = start + len(vectors)
        self.signs = tuple(grown(column, start, end) for column in self.signs)
        self.codes, self.weights = grown(self.codes, start, end), grown(self.weights, start, end)
        for column, words in zip(self.signs, signs_of(vectors).T, strict=True):
            column[start:end] = words
        largest = np.abs(vectors).max(axis=1, keepdims=True)
        steps = np.divide(_STEPS, largest, out=np.zeros_like(largest), where=largest > 0)
        self.codes[start:end] = np.rint(vectors * steps)
        self.weights[start:end] = scales(vectors) * (largest[:, 0] / _STEPS)

    @property
    def nbytes(self) -> int:
        """Return the bytes the arrays take, spare room included."""
        return sum(column.nbytes for column in self.signs) + self.codes.nbytes + self.weights.nbytes


def signs_of(vectors: Vector) -> Words:
    """Return which numbers of each row [n, d] are above 0, a bit each, as words [n, ceil(d / 64)].

    >>> signs_of(np.array([[1.0, -1.0, 2.0]], dtype=np.float32)).shape
    (1, 1)
    """
    packed = np.packbits(vectors > 0, axis=1)
    missing = -packed.shape[1] % 8
    return np.ascontiguousarray(np.pad(packed, ((0, 0), (0, missing)))).view(np.uint64)


class SketchView:
    """One snapshot's vectors of a large stream; its best are looked for by their sketches."""

    near = _NEAR  # smaller in tests

    def __init__(
        self, sketches: Sketches, places: Integers, refs: Integers, ordered: SortedRefs, rows: Rows
    ) -> None:
        """Take each row's place in the stream and its ref, their order, and what reads rows from the file."""
        self._signs, self._codes, self._weights = sketches.signs, sketches.codes, sketches.weights
        self._places = places
        self._refs = refs
        self._ordered = ordered
        self._rows = rows

    def best(self, query: Vector, limit: int) -> tuple[Refs, Scores]:
        """Return the best refs by cosine (best row counts), falling, ties by ref."""
        vector, count = unit(query), len(self._places)
        if limit <= 0 or not vector.any():
            refs = self._ordered.refs[: max(limit, 0)]
            return refs, np.zeros(len(refs), dtype=np.float32)
        near, scored = max(self.near, 64 * limit), limit + max(limit // 2, _SPARE)
        while True:
            likely = self._nearest(vector, near)
            if len(likely) > scored:
                worth = self._by_bytes(likely, vector)
                likely = np.sort(likely[np.argpartition(-worth, scored)[:scored]])
            refs = np.unique(self._refs[likely])
            if len(refs) >= limit or near >= count:
                return best(refs, self.of(query, refs), limit)
            near, scored = 4 * near, 4 * scored  # several rows a ref

    def of(self, query: Vector, refs: Refs) -> Scores:
        """Return cosines of given refs (best row), NaN where there is no vector."""
        vector = unit(query)
        scores: NDArray[np.float32] = np.full(len(refs), np.nan, dtype=np.float32)
        for start in range(0, len(refs), _BATCH_OF_VECTORS):
            batch = np.asarray(refs[start : start + _BATCH_OF_VECTORS], dtype=np.int64)
            places, there = self._ordered.find(batch)
            rows = [row for place in np.unique(places[there]).tolist() for row in self._ordered.rows(place)]
            if rows:
                stored = self._rows(self._places[rows])
                held = SortedRefs(self._refs[rows])
                cosines = best_of_each(products(stored, vector) * scales(stored), held)
                scores[start : start + _BATCH_OF_VECTORS][there] = cosines[held.find(batch[there])[0]]
        return scores

    def first_rows(self, refs: Sequence[int]) -> dict[int, Vector]:
        """Return the first row of each ref that has one; chunks are written, and so read, in their order."""
        return {ref: rows[0] for ref, rows in self.all_rows(refs).items()}

    def all_rows(self, refs: Sequence[int]) -> dict[int, Vector]:
        """Return all rows of each ref that has any, [n, d], in the order of their chunks."""
        targets = np.asarray(refs, dtype=np.int64)
        places, there = self._ordered.find(targets)
        return {
            ref: self._rows(self._places[self._ordered.rows(place)])
            for ref, place in zip(targets[there].tolist(), places[there].tolist(), strict=True)
        }

    def _nearest(self, vector: Vector, count: int) -> Integers:
        """Return the `count` rows whose signs differ in the fewest numbers, and those level with the last."""
        visible = len(self._places)
        if count >= visible:
            return np.arange(visible)
        differing = np.zeros(visible, dtype=np.uint16)
        for column, word in zip(self._signs, signs_of(vector[None])[0], strict=True):
            differing += np.bitwise_count(column[:visible] ^ word)
        farthest = np.searchsorted(np.bincount(differing).cumsum(), count)
        return np.flatnonzero(differing <= farthest)

    def _by_bytes(self, rows: Integers, vector: Vector) -> Vector:
        """Return about the cosine of each row, from its bytes."""
        results: Vector = np.empty(len(rows), dtype=np.float32)
        for start in range(0, len(rows), _BATCH_OF_VECTORS):
            batch = rows[start : start + _BATCH_OF_VECTORS]
            products(self._codes[batch].astype(np.float32), vector, results[start : start + len(batch)])
        return results * self._weights[rows]

"""The vectors of one stream in memory and the exact scan over them; of a large one their sketches.

A hundred and thirty thousand vectors of 384 numbers are scanned as they are in a few milliseconds; a million
take a hundred, and a gigabyte and a half. Above `LARGE` rows a process keeps of each vector the signs of its
numbers (a bit each) and its numbers in a byte each. A query is compared with all signs (the count of those
that differ goes with the angle: Charikar 2002), the nearest by sign are ordered by their bytes, and the best
of these are scored from the rows of the file: scores are exact, and what is left out is what neither
signs nor bytes showed among the nearest. `python -m benchmarks.large_scope` measures how much that is.
"""

from bisect import bisect_right
from collections.abc import Callable, Sequence
from itertools import accumulate, islice
from typing import Final

import apsw
import numpy as np
from numpy.typing import NDArray

from episodic_agent.core.vectors import as_floats, scales
from episodic_agent.protocols import Refs, Scores
from episodic_agent.schemas import Vector
from episodic_agent.stores.arrays import Integers, SortedRefs, best, grown
from episodic_agent.stores.scoring import best_of_each, products, unit
from episodic_agent.stores.sqlite.file.session import EACH, number_list
from episodic_agent.stores.sqlite.streams import StreamRow

_BATCH: Final = 4096
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
        while batch := list(islice(cursor, _BATCH)):
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
        for start in range(0, len(refs), _BATCH):
            batch = np.asarray(refs[start : start + _BATCH], dtype=np.int64)
            places, there = self._ordered.find(batch)
            rows = [row for place in np.unique(places[there]).tolist() for row in self._ordered.rows(place)]
            if rows:
                stored = self._rows(self._places[rows])
                held = SortedRefs(self._refs[rows])
                cosines = best_of_each(products(stored, vector) * scales(stored), held)
                scores[start : start + _BATCH][there] = cosines[held.find(batch[there])[0]]
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
        for start in range(0, len(rows), _BATCH):
            batch = rows[start : start + _BATCH]
            products(self._codes[batch].astype(np.float32), vector, results[start : start + len(batch)])
        return results * self._weights[rows]

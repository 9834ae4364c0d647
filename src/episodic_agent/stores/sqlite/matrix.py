"""The vectors of one stream in memory and the exact scan over them; of a large one their sketches."""

from bisect import bisect_right
from collections.abc import Sequence
from itertools import accumulate, islice
from typing import Final

import apsw
import numpy as np
from numpy.typing import NDArray

from episodic_agent.protocols import Refs, Scores
from episodic_agent.schemas import Vector
from episodic_agent.stores.arrays import Integers, SortedRefs, best, grown
from episodic_agent.stores.scoring import best_of_each, products, scales, unit
from episodic_agent.stores.sqlite.sketches import LARGE, Rows, Sketches, SketchView
from episodic_agent.stores.sqlite.streams import PLACES, StreamRow

_BATCH: Final = 4096
_SMALLEST_BLOCK: Final = 256
_LARGEST_BLOCK: Final = 16_384


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
        base = stream.number * PLACES
        span = (base + after, base + stream.last)
        if after == 0:
            # The first reading is the large one: one block for all of it.
            expected = db.execute("SELECT count(*) FROM vector WHERE n > ? AND n <= ?", span).get
            if expected > self.large:
                self._sketches = Sketches(stream.width, expected)
            else:
                self._blocks = (np.empty((expected, stream.width), dtype=np.float32),)
        cursor = db.execute("SELECT n, ref, v FROM vector WHERE n > ? AND n <= ?", span)
        while batch := list(islice(cursor, _BATCH)):
            self._append(batch, base)

    def _append(self, batch: list[tuple[int, int, bytes]], base: int) -> None:
        start, end = self.count, self.count + len(batch)
        vectors: Vector = np.frombuffer(b"".join([v for _, _, v in batch]), dtype="<f4").reshape(
            len(batch), -1
        )
        self._refs = grown(self._refs, start, end)
        self._places = grown(self._places, start, end)
        self._scales = grown(self._scales, start, end)
        if self._sketches is None and end > self.large:
            self._sketches, before = Sketches(vectors.shape[1], end), 0
            for block in self._blocks:
                held = block[: start - before]
                self._sketches.append(before, held)
                before += len(held)
            self._blocks = ()
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
        visible = int(np.searchsorted(self._places[: self.count], last, side="right"))
        count, ordered = self._sorted
        if count != visible:
            ordered = SortedRefs(self._refs[:visible])
            self._sorted = (visible, ordered)
        if self._sketches is not None:
            return SketchView(self._sketches, self._places[:visible], self._refs[:visible], ordered, rows)
        return MatrixView(self._blocks, self._scales[:visible], ordered)


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

"""Scores, in the one order of operations all stores share: the same rows give the same bits.

BM25 is added up in float64 term by term and rounded once to float32; cosines are float32 all the way, from
rows that are kept in half precision (`core/vectors.py`).

Beside them the array work both stores share: the best of many scores, and which row has which ref.
"""

from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from episodic_agent.protocols import Scores
from episodic_agent.schemas import Vector

LongIntegers = NDArray[np.int64]
_Scalar = TypeVar("_Scalar", bound=np.generic)


def grown(array: NDArray[_Scalar], used: int, needed: int) -> NDArray[_Scalar]:
    """Return `array` with room for `needed` rows, half as much again when it must move.

    A view handed out earlier keeps the old array; rows below `used` are never written again.
    """
    if needed <= len(array):
        return array
    larger = np.empty((max(needed, len(array) * 3 // 2), *array.shape[1:]), dtype=array.dtype)
    larger[:used] = array[:used]
    return larger


def best(
    refs: LongIntegers, scores: NDArray[np.float32], limit: int
) -> tuple[LongIntegers, NDArray[np.float32]]:
    """Return the `limit` highest scores with their refs, falling, ties by ref.

    >>> best(np.array([9, 5, 7]), np.array([1, 1, 2], dtype=np.float32), 2)[0].tolist()
    [7, 5]
    """
    if limit <= 0:
        return refs[:0], scores[:0]
    if len(scores) > limit:
        lowest = np.partition(scores, len(scores) - limit)[len(scores) - limit]
        chosen = np.flatnonzero(scores >= lowest)
        refs, scores = refs[chosen], scores[chosen]
    order = np.lexsort((refs, -scores))[:limit]
    return refs[order], scores[order]


class SortedRefs:
    """Which row has which ref: rows in the order of their refs, each ref once."""

    def __init__(self, refs: LongIntegers) -> None:
        # Stable, so that the rows of one ref keep their order; nearly sorted refs are sorted in one pass.
        self.order = np.argsort(refs, kind="stable")
        self.straight = bool((self.order == np.arange(len(refs))).all())
        in_order = refs[self.order]
        is_first = np.ones(len(refs), dtype=np.bool_)
        is_first[1:] = in_order[1:] != in_order[:-1]
        self.starts = np.flatnonzero(is_first)
        self.refs: LongIntegers = in_order[self.starts]

    @property
    def repeated(self) -> bool:
        """Tell whether some ref has several rows."""
        return len(self.refs) < len(self.order)

    def rows(self, place: int) -> list[int]:
        """Return the rows of the ref at a place among `refs`, in their order."""
        end = self.starts[place + 1] if place + 1 < len(self.starts) else len(self.order)
        return [int(row) for row in self.order[self.starts[place] : end]]

    def find(self, target: LongIntegers) -> tuple[LongIntegers, NDArray[np.bool_]]:
        """Return for each wanted ref its place among `refs`, and whether it is there at all."""
        if not len(self.refs):
            return np.zeros(len(target), dtype=np.int64), np.zeros(len(target), dtype=np.bool_)
        places = np.minimum(np.searchsorted(self.refs, target), len(self.refs) - 1)
        return places, self.refs[places] == target


Floats = NDArray[np.float64]
Integers = NDArray[np.integer]


def term_scores(
    weight: float, counts: Integers, lengths: Integers, *, k1: float, b: float, average_length: float
) -> Floats:
    """Return what one term adds to the BM25 of the documents that hold it; `weight` is its idf.

    >>> term_scores(2.0, np.array([1]), np.array([10]), k1=1.2, b=0.75, average_length=10).tolist()
    [2.0]
    """
    relative = lengths / average_length if average_length > 0 else np.ones(len(lengths))
    damping = k1 * (1 - b + b * relative)
    added: Floats = weight * (k1 + 1) * counts / (counts + damping)
    return added


def unit(query: Vector) -> Vector:
    """Return a query as float32 [d] of length 1 (a zero query as it is).

    >>> unit(np.array([0.0, 4.0])).tolist()
    [0.0, 1.0]
    """
    vector: Vector = np.ascontiguousarray(query, dtype=np.float32).reshape(-1)
    length = np.float32(np.linalg.norm(vector))
    return (vector / length).astype(np.float32) if length > 0 else vector


def products(rows: Vector, query: Vector, out: Vector | None = None) -> Vector:
    """Return the inner products of rows [n, d] with a query [d]."""
    into: Vector = np.empty(len(rows), dtype=np.float32) if out is None else out
    # Not matmul: the threads of a BLAS go on spinning after each of a recall's small products, which
    # on a busy machine trebles the time of a recall. A scan is bound by memory in any case.
    np.einsum("ij,j->i", rows, query, out=into)
    return into


def best_of_each(cosines: Scores, ordered: SortedRefs) -> Scores:
    """Return each distinct ref's best score, in the order of `ordered.refs`, from scores in row order.

    >>> best_of_each(np.array([1, 3, 2], dtype=np.float32), SortedRefs(np.array([8, 4, 8]))).tolist()
    [3.0, 2.0]
    """
    if not ordered.straight:
        cosines = cosines[ordered.order]
    if ordered.repeated:
        cosines = np.maximum.reduceat(cosines, ordered.starts)
    return cosines

"""Scores, in the one order of operations all stores share: the same rows give the same bits.

BM25 is added up in float64 term by term and rounded once to float32; cosines are float32 all the way,
from rows that are kept in half precision (`core/vectors.py`).
"""

import numpy as np
from numpy.typing import NDArray

from episodic_agent.protocols import Scores
from episodic_agent.schemas import Vector
from episodic_agent.stores.arrays import SortedRefs

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

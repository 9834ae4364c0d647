"""How well the words and vectors on the two sides of a gap belong together."""

import math
from collections.abc import Collection, Mapping, Sequence
from itertools import repeat
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from episodic_agent.schemas import Vector

DIMENSIONS: Final = 384  # longer vectors are folded down to this, so that the packed memory stays small
MOST_COUNTED: Final = 255
_RARITY: Final = tuple(1.0 / math.sqrt(max(1, n)) for n in range(MOST_COUNTED + 1))


def compact(vector: Vector) -> Vector:
    """Return the unit vector of at most 384 dimensions as it survives packing (rounded to float16).

    Longer vectors are folded with fixed signs (a sparse random projection), which keeps cosines within a few
    hundredths. A zero vector stays zero.

    >>> [round(float(x), 2) for x in compact(np.array([3.0, 4.0], np.float32))]
    [0.6, 0.8]
    >>> compact(np.ones(1000, np.float32)).shape
    (384,)
    """
    plain = np.asarray(vector, dtype=np.float32)
    if plain.size > DIMENSIONS:
        pieces = -(-plain.size // DIMENSIONS)
        padded = np.zeros(pieces * DIMENSIONS, np.float32)
        padded[: plain.size] = plain
        signs = np.where(np.arange(padded.size) * 2_654_435_761 % 4_294_967_296 < 2_147_483_648, 1.0, -1.0)
        plain = (padded * signs.astype(np.float32)).reshape(pieces, DIMENSIONS).sum(axis=0)
    wide = plain.astype(np.float64)  # squares of tiny floats vanish in float32
    norm = math.sqrt(wide.dot(wide))
    if not 1e-30 < norm < float("inf"):
        return np.zeros(plain.size, np.float32)
    return (plain / np.float32(norm)).astype(np.float16).astype(np.float32)


class Pairs(NamedTuple):
    """Which rows to compare: the numbers of both, and their places in the flat table of all pairs."""

    first: NDArray[np.intp]
    other: NDArray[np.intp]
    flat: NDArray[np.intp]

    @classmethod
    def of(cls, pairs: Sequence[tuple[int, int]], rows: int) -> "Pairs":
        """Return pairs of row numbers, below `rows`, in the form `cosines` takes."""
        items, other = np.array(pairs, np.intp).reshape(-1, 2).T.copy()
        return cls(items, other, items * rows + other)


def cosines(rows: Sequence[Vector], pairs: Pairs) -> NDArray[np.float64]:
    """Return the cosines of pairs of rows (zero rows give 0), rounded to four decimals.

    >>> cosines([np.array([1, 0], np.float32), np.array([3, 4], np.float32)], Pairs.of([(0, 1)], 2)).tolist()
    [0.6]
    """
    matrix = np.concatenate(rows, dtype=np.float32).reshape(len(rows), -1)
    products = (
        matrix @ matrix.T
    )  # of all pairs: one call costs less than picking out those that are asked for
    lengths = np.sqrt(products.diagonal())
    if 0.0 in lengths.tolist():  # cheaper than to ask numpy
        lengths[lengths == 0.0] = 1.0
    results = products.take(pairs.flat)
    results /= lengths.take(pairs.first) * lengths.take(pairs.other)
    return results.astype(np.float64).round(4)


class PairWeights(dict[frozenset[int], float]):
    """The weights of sets of terms, each computed when first asked for.

    A term weighs less the more units of the thread had it.

    >>> PairWeights({1: 4})[frozenset({1, 2})]
    1.5
    """

    __slots__ = ("_counts",)

    def __init__(self, counts: Mapping[int, int]) -> None:
        self._counts = counts

    def __missing__(self, terms: frozenset[int]) -> float:
        weight = sum(map(_RARITY.__getitem__, map(self._counts.get, terms, repeat(0))))
        self[terms] = weight
        return weight


def overlap(numbers: frozenset[int], other: frozenset[int], weights: PairWeights) -> float:
    """Return the cosine of two weighed sets of terms.

    >>> overlap(frozenset({1, 2}), frozenset({2, 3}), PairWeights({}))
    0.5
    >>> overlap(frozenset({1}), frozenset(), PairWeights({}))
    0.0
    """
    if numbers.isdisjoint(other):  # most are: spares the weights
        return 0.0
    return decimals(weights[numbers & other] / math.sqrt(weights[numbers] * weights[other]), 1e4)


def decimals(value: float, scale: float) -> float:
    """Return a value rounded to 1 / scale: as `round` does but for ties, in a third of the time.

    >>> decimals(0.12346, 1e4), decimals(-2.5, 1.0)
    (0.1235, -2.0)
    """
    return round(value * scale) / scale


def share_unseen(terms: Collection[int], seen: Mapping[int, int], since: int) -> float:
    """Return the share of terms not seen at or after position `since`; .5 for no terms at all (says nothing).

    >>> share_unseen([1, 2, 3, 4], {1: 9, 2: 3}, 5)
    0.75
    """
    if not terms:
        return 0.5
    place = seen.get
    return decimals(len([term for term in terms if place(term, -1) < since]) / len(terms), 1e4)


def share_new(terms: frozenset[int], seen: Mapping[int, int]) -> float:
    """Return the share of terms never seen, as `share_unseen` does.

    >>> share_new(frozenset({1, 2, 3, 4}), {1: 9, 2: 3})
    0.5
    """
    return decimals(len(terms.difference(seen)) / len(terms), 1e4) if terms else 0.5

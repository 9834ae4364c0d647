"""How well the words and vectors on the two sides of a gap belong together."""

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Final, NamedTuple

import numpy as np

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


def cosines(rows: Sequence[Vector]) -> list[list[float]]:
    """Return the cosine of every pair of rows (zero rows give 0), rounded to four decimals.

    >>> cosines([np.array([1, 0], np.float32), np.array([3, 4], np.float32)])
    [[1.0, 0.6], [0.6, 1.0]]
    """
    matrix = np.concatenate(rows, dtype=np.float32).reshape(len(rows), -1)
    products = matrix @ matrix.T
    lengths = np.sqrt(products.diagonal())
    lengths[~(lengths > 0)] = 1.0
    products /= lengths[:, None] * lengths
    found: list[list[float]] = products.astype(np.float64).round(4).tolist()
    return found


class Bag(NamedTuple):
    """A set of terms and its weight in the thread."""

    terms: frozenset[int]
    weight: float


def weighed(terms: Iterable[int], counts: Mapping[int, int]) -> Bag:
    """Return distinct terms with their weight: a term weighs less the more units of the thread had it.

    >>> weighed([1, 2, 2], {1: 4}).weight
    1.5
    """
    distinct = frozenset(terms)
    return Bag(distinct, _weight(distinct, counts))


def overlap(one: Bag, other: Bag, counts: Mapping[int, int]) -> float:
    """Return the cosine of two weighed sets of terms.

    >>> overlap(weighed([1, 2], {}), weighed([2, 3], {}), {})
    0.5
    >>> overlap(weighed([1], {}), weighed([], {}), {})
    0.0
    """
    shared = one.terms & other.terms
    if not shared:
        return 0.0
    return round(_weight(shared, counts) / math.sqrt(one.weight * other.weight), 4)


def _weight(terms: Iterable[int], counts: Mapping[int, int]) -> float:
    rarity, count = _RARITY, counts.get
    return sum([rarity[count(term, 0)] for term in terms])


def share_unseen(terms: Sequence[int], seen: Mapping[int, int], since: int) -> float:
    """Return the share of terms not seen at or after position `since`; .5 for no terms at all (says nothing).

    >>> share_unseen([1, 2, 3, 4], {1: 9, 2: 3}, 5)
    0.75
    """
    if not terms:
        return 0.5
    place = seen.get
    return round(len([term for term in terms if place(term, -1) < since]) / len(terms), 4)

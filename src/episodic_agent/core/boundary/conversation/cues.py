"""Cues of a boundary in a conversation: each a small pure function of words, vectors or times.

*Cohesion*: how well the words and vectors on the two sides of a gap belong together. *Surprise*: how badly
the frame so far predicted a message, on seed 003's scale, kept true for lines in context. *Baseline*: what is
usual in a thread, the running mean of every cue, so that a gap is read against its own thread.

*Rate*: how often a thread should be cut, what was expected so far against what is usual for its length.
Networks rank gaps well and miss how often to cut: on a kind of talk they never saw all probabilities of a
thread are too low or too high together. But how many topics a thread has depends far less on its kind than on
its length, and grows slower than it. So the sum of the probabilities so far is held against that. Talk that
carries its times is somebody's own, not a dialogue collected to be labelled: its sittings are short, and what
opens one is seldom over after a message or two. There a brief frame speaks against an end.
"""

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


_SCALE: Final = 0.7  # boundaries that n messages have so far, about _SCALE * n ** _GROWTH, in every set
_GROWTH: Final = 0.55
_WINDOW: Final = 100  # messages; beyond, a thread is judged by its newest
_LIKE: Final = 0.3  # boundaries added on both sides, so that little can be said of little
_STRENGTH: Final = 1.6
_LATE: Final = 10  # messages after which this is believed by half: a short talk may well have one topic
_MOST: Final = 0.8  # log-odds; a gap of probability .2 is never cut
_LEAST: Final = -2.0
_WELL: Final = 8  # messages; a frame of so many may end as well as a longer one
_EVEN: Final = 7  # messages after which a frame's length says nothing either way


def smoothed(position: int) -> float:
    """Return how many boundaries the first `position` messages of a thread usually have.

    >>> round(smoothed(12), 1), round(smoothed(26), 1), smoothed(100) == smoothed(9000)
    (2.7, 4.2, True)
    """
    return _SCALE * math.pow(min(position, _WINDOW), _GROWTH)


def counted(expected: float, probability: float, position: int) -> float:
    """Return the sum of probabilities with one more gap, faded as the window asks.

    >>> counted(2.0, 0.5, 10), counted(30.0, 0.5, 700)
    (2.5, 30.2)
    """
    value = expected if position < _WINDOW else expected * (1.0 - 1.0 / _WINDOW)
    return round(value + probability, 4)


def leaning(expected: float, position: int) -> float:
    """Return the log-odds to add to a gap's: above 0 where less was expected so far than is usual.

    >>> leaning(smoothed(20), 20), leaning(0.2, 20)
    (0.0, 0.8)
    """
    ratio = (smoothed(position) + _LIKE) / (expected + _LIKE)
    return min(_MOST, max(_LEAST, _STRENGTH * belief(position, _LATE) * math.log(ratio)))


def ripeness(size: int) -> float:
    """Return the log-odds that a frame of so many messages adds to its end: these odds grow as it does.

    >>> round(ripeness(1), 1), round(ripeness(4), 1), round(ripeness(8), 1), ripeness(500) == ripeness(8)
    (-1.9, -0.6, 0.1, True)
    """
    return math.log(min(max(size, 1), _WELL) / _EVEN)


def belief(messages: int, half: float) -> float:
    """Return how far a thread of so many messages is held to the usual number of boundaries.

    >>> belief(10, 10), belief(5, 10), round(belief(100, 10), 2)
    (0.5, 0.2, 0.99)
    """
    return messages * messages / (messages * messages + half * half)


TRUST: Final = 6.0  # what is usual in the training material counts like so many gaps of the thread
_WINDOW_OF_MEANS: Final = 50.0  # older gaps fade
_LONGEST: Final = 300  # messages; beyond, a thread is just long


class BaselineCues(NamedTuple):
    """The mean of each cue over the gaps judged so far; `with_vectors` counts those that had vectors."""

    means: Vector
    seen: float = 0.0
    with_vectors: float = 0.0

    def add(self, cues: NDArray[np.float64], lexical: int) -> "BaselineCues":
        """Return the means with one more gap; `lexical` is how many cues need no vector.

        >>> usual = BaselineCues(np.zeros(3, np.float32)).add(np.array([1.0, 2.0]), 2)
        >>> usual.add(np.array([3.0, 2.0, 5.0]), 2).means.tolist()
        [2.0, 2.0, 5.0]
        """
        seen, size = min(self.seen + 1.0, _WINDOW_OF_MEANS), cues.size
        full = size > lexical
        with_vectors = min(self.with_vectors + full, _WINDOW_OF_MEANS)
        moved = self.means.copy()
        known = moved[:size]
        step = cues.astype(np.float32)
        step -= known
        if not full or with_vectors == seen:
            step /= seen
        else:
            step[:lexical] /= seen
            step[lexical:] /= with_vectors
        known += step
        return BaselineCues(
            moved.astype(np.float16).astype(np.float32), seen, with_vectors
        )  # as it is packed

    def shares(self, lexical: int, size: int) -> Vector | float:
        """Return how far each of `size` cues' means is trusted over the training material's, in [0, 1).

        >>> BaselineCues(np.zeros(3, np.float32), 6.0, 6.0).shares(2, 3)
        0.5
        """
        share = self.seen / (self.seen + TRUST)
        if size <= lexical or self.with_vectors == self.seen:
            return share
        trusted = np.full(size, share, np.float32)
        trusted[lexical:] = self.with_vectors / (self.with_vectors + TRUST)
        return trusted


def how_far(position: int) -> float:
    """Return the log of how many messages the thread has: long talks change their topic less often.

    >>> how_far(1), how_far(10**6) == how_far(300)
    (0.0, True)
    """
    return math.log(min(max(position, 1), _LONGEST))


def novelty(similarity: float | None, unseen: float) -> float:
    """Return how new a message is to the frame, in [0, 1], from its standardised similarity and its words.

    `similarity` is in standard deviations of the embedder's neighbours (None: no vectors, words alone).

    >>> novelty(0.0, 0.5), novelty(-2.0, 1.0), novelty(None, 0.25)
    (0.5, 0.93, 0.1625)
    """
    if similarity is None:
        return round(0.65 * unseen, 4)
    by_vector = min(1.0, max(0.0, 0.5 - 0.2 * similarity))
    return round(0.7 * by_vector + 0.3 * unseen if unseen != 0.5 else by_vector, 4)


def surprise(new: float, content: float, reaction: float, answered: float) -> float:
    """Return the surprise of a message, in [0, 1].

    `new` is its novelty, `content` the weight of its content (an acknowledgement has next to none),
    `reaction` 0, .7 (pivot) or 1 (revelation), `answered` the novelty of the last message with content:
    "I had no idea" measures what it answers, or what it goes on to tell.

    >>> surprise(0.9, 0.02, 0.0, 0.9) < 0.05
    True
    >>> surprise(0.5, 0.3, 0.7, 0.6), surprise(0.5, 0.3, 1.0, 0.9)
    (0.69, 0.975)
    """
    plain = new * content
    if reaction >= 1.0:
        return round(min(1.0, max(plain, 0.75 + 0.25 * max(answered, new))), 4)
    if reaction > 0.0:
        return round(min(0.85, max(plain, 0.6 + 0.15 * max(answered, new))), 4)
    return round(plain, 4)

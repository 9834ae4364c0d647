"""What the store hands to the fusion: parallel arrays over a few hundred candidates."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np

from episodic_agent.core.ranking.bm25 import FloatArray, IntArray

PER_LEG: Final = 100
NEAR: Final = 20


def _empty() -> FloatArray:
    return np.zeros(0)


@dataclass(frozen=True, slots=True)
class Candidates:
    """Hold observations that may answer a query: arrays with one entry for each id, or none at all.

    `bm25` is 0 only where no term is shared, not outside the leg's best 100; `cosine` is that of the
    observation's best vector, NaN where it has none. `*_before` and `*_after` are those of seq - 1 and
    seq + 1 in the same thread, 0 (or NaN) where there is none, `gap_*` the seconds between, 0 where times
    are unknown. `at` is event time in seconds since 1970, NaN where assumed. `episode` is an index into
    `Episodes`, -1 for none. `phrase` is the share of the query's quoted phrases the text holds; `parts` has
    one row of BM25 scores for each of `Query.parts`.
    """

    ids: Sequence[str]
    bm25: FloatArray
    cosine: FloatArray
    bm25_before: FloatArray = field(default_factory=_empty)
    bm25_after: FloatArray = field(default_factory=_empty)
    cosine_before: FloatArray = field(default_factory=_empty)
    cosine_after: FloatArray = field(default_factory=_empty)
    gap_before: FloatArray = field(default_factory=_empty)
    gap_after: FloatArray = field(default_factory=_empty)
    actors: Sequence[str] = ()
    at: FloatArray = field(default_factory=_empty)
    episode: IntArray = field(default_factory=lambda: np.zeros(0, np.int64))
    phrase: FloatArray = field(default_factory=_empty)
    parts: FloatArray = field(default_factory=_empty)

    def __len__(self) -> int:
        return len(self.ids)


@dataclass(frozen=True, slots=True)
class Episodes:
    """Hold the episodes of the candidates and those found by their own text; arrays as in `Candidates`.

    `bm25` and `cosine` are of title, summary and metadata; `retrievability` in (0, 1], 1 for an open frame;
    `thread` numbers the threads, any integers.
    """

    ids: Sequence[str]
    bm25: FloatArray
    cosine: FloatArray
    retrievability: FloatArray
    thread: IntArray

    def __len__(self) -> int:
        return len(self.ids)


def no_episodes() -> Episodes:
    """Return an empty set of episodes, for a scope that has only an open frame."""
    return Episodes((), np.zeros(0), np.zeros(0), np.zeros(0), np.zeros(0, np.int64))


def choose(bm25: Mapping[int, float], cosine: FloatArray, before: IntArray, after: IntArray) -> IntArray:
    """Return the rows worth fusing: the best 100 of each leg and the neighbours of the best 20 of each.

    `cosine` has one entry a row of the scope (NaN: not embedded), `before` and `after` the rows of its
    neighbours or -1. Ties are broken by the lower row. Sorted, without repetition.

    >>> choose({2: 1.0}, np.array([0.9, 0.1, 0.1]), np.array([-1, 0, 1]), np.array([1, 2, -1])).tolist()
    [0, 1, 2]
    """
    matched = np.fromiter(bm25.keys(), np.int64, len(bm25))
    lexical = _best(np.fromiter(bm25.values(), np.float64, len(bm25)), PER_LEG, matched)
    known = np.where(np.isnan(cosine), -np.inf, cosine)
    dense = _best(known, PER_LEG)
    dense = dense[known[dense] > -np.inf]
    seeds = np.concatenate([lexical[:NEAR], dense[:NEAR]])
    near = np.concatenate([before[seeds], after[seeds]])
    rows: IntArray = np.unique(np.concatenate([lexical, dense, near[near >= 0]]))
    return rows


def _best(values: FloatArray, count: int, rows: IntArray | None = None) -> IntArray:
    """Return the rows (places, unless given) of the greatest values, greatest first, without sorting all."""
    named = np.arange(len(values)) if rows is None else rows
    if len(values) > 4 * count:
        edge = np.partition(values, len(values) - count)[len(values) - count]
        named, values = named[values >= edge], values[values >= edge]
    order: IntArray = named[np.lexsort((named, -values))][:count]
    return order


def gather(values: Mapping[int, float], rows: IntArray) -> FloatArray:
    """Return each row's score out of a sparse leg, 0 where it has none (row -1: no neighbour).

    >>> gather({3: 1.5}, np.array([3, -1, 4])).tolist()
    [1.5, 0.0, 0.0]
    """
    return np.fromiter((values.get(row, 0.0) for row in rows.tolist()), np.float64, len(rows))


def take(values: FloatArray, rows: IntArray) -> FloatArray:
    """Return each row's value out of a full leg, 0 for row -1 (no neighbour).

    >>> take(np.array([0.2, 0.4]), np.array([1, -1])).tolist()
    [0.4, 0.0]
    """
    if len(values) == 0:
        return np.zeros(len(rows))
    return np.where(rows >= 0, values[rows], 0.0)

"""BM25: one formula for every store, SQL or numpy.

score(q, d) = sum over terms t of idf(t) * tf * (k1 + 1) / (tf + k1 * (1 - b + b * length / average))
idf(t)      = ln(1 + (N - df + .5) / (df + .5))

N documents of one kind in the scope, df of them with the term, tf occurrences of it in d, `length` the number
of d's terms with repetitions and `average` its mean over the N documents. idf is never negative, so a term in
every document adds little and hurts nothing.
"""

from collections.abc import Iterable, Mapping, Sequence
from math import log
from typing import Final, TypeAlias

import numpy as np
import numpy.typing as npt

from episodic_agent.core.language.terms import HAN_PARTICLES

FloatArray: TypeAlias = npt.NDArray[np.float64]
IntArray: TypeAlias = npt.NDArray[np.int64]

K1: Final = 1.2
B: Final = 0.75
COMMON_SHARE: Final = 0.2
PARTICLE_SHARE: Final = 0.5
# Below this many documents a common term costs nothing to look up, and dropping it lost .01-.02 of recall@10.
COMMON_FROM: Final = 2000


def idf(df: int, count: int) -> float:
    """Return a term's weight from its document frequency among `count` documents.

    >>> round(idf(1, 10), 4), round(idf(10, 10), 4)
    (1.9924, 0.0465)
    """
    df = min(max(df, 0), count)
    return log(1 + (count - df + 0.5) / (df + 0.5))


def term_weight(term: str, df: int, count: int) -> float:
    """Return a query term's weight: its idf, half of it for a Chinese bigram with a particle.

    Of a bigram like 的时 or 是什 half is grammar, and it may span two words.

    >>> term_weight("上海", 1, 10) == 2 * term_weight("的上", 1, 10) == idf(1, 10)
    True
    """
    particle = len(term) > 1 and not term.isascii() and not HAN_PARTICLES.isdisjoint(term)
    return idf(df, count) * (PARTICLE_SHARE if particle else 1.0)


def term_score(weight: float, tf: float, length: float, average: float) -> float:
    """Return what one term adds to one document's score; `weight` is the term's idf.

    >>> round(term_score(2.0, tf=1, length=10, average=10), 4)
    2.0
    """
    norm = K1 * (1 - B + B * length / average) if average > 0 else K1
    return weight * tf * (K1 + 1) / (tf + norm)


def kept_terms(dfs: Mapping[str, int], count: int) -> dict[str, int]:
    """Return the terms worth looking up, in order: those that occur, without very common ones.

    A term in more than 20 % of 2,000 or more documents is dropped as long as a rarer one remains.

    >>> kept_terms({"tea": 40, "day": 900, "absent": 0}, 2000)
    {'tea': 40}
    >>> kept_terms({"day": 900}, 2000)
    {'day': 900}
    """
    present = {term: df for term, df in dfs.items() if df > 0}
    if count < COMMON_FROM:
        return present
    rare = {term: df for term, df in present.items() if df <= COMMON_SHARE * count}
    return rare or present


def ceiling(dfs: Mapping[str, int], count: int, terms: Iterable[str] | None = None) -> float:
    """Return the score of an average document that holds each query term once: the scale of coverage.

    `dfs` holds every query term, absent ones with 0: a question about nothing stored has a high ceiling and
    low scores. `terms` limits the sum (`Query.content` leaves date terms out).

    >>> round(ceiling({"tea": 1, "absent": 0}, 10), 4)
    5.0835
    """
    chosen = dfs if terms is None else [term for term in terms if term in dfs]
    return sum(term_weight(term, dfs[term], count) for term in chosen)


def scores(
    postings: Sequence[tuple[IntArray, FloatArray]], lengths: FloatArray, average: float | None = None
) -> FloatArray:
    """Return every document's score from the postings of the query's terms: (rows, tf) pairs.

    `lengths` has one entry a document; `average` is their mean unless given. The reference for the SQL form.

    >>> scores([(np.array([1]), np.array([1.0]))], np.array([2.0, 2.0])).round(4).tolist()
    [0.0, 0.6931]
    """
    count = len(lengths)
    result = np.zeros(count)
    if count == 0:
        return result
    mean = float(lengths.mean()) if average is None else average
    norms = K1 * (1 - B + B * lengths / mean) if mean > 0 else np.full(count, K1)
    for rows, tf in postings:
        result[rows] += idf(len(rows), count) * tf * (K1 + 1) / (tf + norms[rows])
    return result

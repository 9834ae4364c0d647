"""What the engine is compared with: plain rules for boundaries, plain BM25 and plain vectors for recall."""

import math
from collections import Counter
from collections.abc import Sequence
from datetime import timedelta
from itertools import pairwise
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from episodic_agent.core.language import tokens
from episodic_agent.engine.evaluate.cases import LabelledUnit
from episodic_agent.schemas import Vector

Floats: TypeAlias = NDArray[np.float64]
Mask: TypeAlias = NDArray[np.bool_]

SILENCE, PAUSE = timedelta(hours=6), timedelta(minutes=5)
BLOCK = 3  # units on each side of a gap: set once, by eye on none of the data
K1, B = 1.2, 0.75


def no_boundary(units: Sequence[LabelledUnit]) -> list[int]:
    """Cut nowhere."""
    return [0] * len(units)


def long_silence(units: Sequence[LabelledUnit]) -> list[int]:
    """Cut where more than six hours passed since the unit before; nowhere without times."""
    return _silences(units, SILENCE)


def short_silence(units: Sequence[LabelledUnit]) -> list[int]:
    """Cut where more than five minutes passed: of 1, 2, 5, 10 and 30, the best for the homes."""
    return _silences(units, PAUSE)


def _silences(units: Sequence[LabelledUnit], least: timedelta) -> list[int]:
    starts = [0] * len(units)
    for n in range(1, len(units)):
        before, here = units[n - 1].at, units[n].at
        starts[n] = int(before is not None and here is not None and here - before > least)
    return starts


def another_room(units: Sequence[LabelledUnit]) -> list[int]:
    """Cut at every step that is told of another place than the one before."""
    return [0, *(int(here.location != before.location) for before, here in pairwise(units))][: len(units)]


def lexical_depth(units: Sequence[LabelledUnit]) -> list[int]:
    """Cut at deep valleys of word overlap, in the manner of TextTiling (Hearst 1997), with units for blocks.

    Offline: it sees the whole stream, and its threshold (mean - spread / 2 of the stream's depths) too.
    """
    counts = [Counter(tokens(u.text)) for u in units]
    return _valleys(
        [_overlap(counts[max(0, n - BLOCK) : n], counts[n : n + BLOCK]) for n in range(1, len(units))]
    )


def vector_depth(vectors: Sequence[Vector]) -> list[int]:
    """Cut at deep valleys of the cosine between blocks of two units' vectors; offline too."""
    rows = np.array(vectors, np.float64)
    sums = [(rows[max(0, n - 2) : n].sum(0), rows[n : n + 2].sum(0)) for n in range(1, len(rows))]
    return _valleys([float(a @ b) / max(float(np.linalg.norm(a) * np.linalg.norm(b)), 1e-9) for a, b in sums])


def _valleys(overlap: Sequence[float]) -> list[int]:
    """Cut where the depth is over mean - spread / 2 of all depths and the curve has a local minimum."""
    if len(overlap) < 2:
        return [0] * (len(overlap) + 1)
    depths = np.array([_climb(overlap[n::-1]) + _climb(overlap[n:]) for n in range(len(overlap))])
    enough = depths >= max(float(depths.mean() - depths.std() / 2), 1e-9)
    valley = [_is_valley(overlap, n) for n in range(len(overlap))]
    return [0, *(int(e and v) for e, v in zip(enough, valley, strict=True))]


def _overlap(left: Sequence[Counter[str]], right: Sequence[Counter[str]]) -> float:
    """Return the cosine of two blocks' word counts."""
    a, b = sum(left, Counter[str]()), sum(right, Counter[str]())
    shared = sum(count * b[word] for word, count in a.items() if word in b)
    lengths = math.sqrt(sum(c * c for c in a.values()) * sum(c * c for c in b.values()))
    return shared / lengths if lengths else 0.0


def _climb(overlap: Sequence[float]) -> float:
    """Return how far the overlap rises from its first value before it falls again."""
    top = overlap[0]
    for value in overlap[1:]:
        if value < top:
            break
        top = value
    return top - overlap[0]


def _is_valley(overlap: Sequence[float], n: int) -> bool:
    before = overlap[n - 1] if n else math.inf
    after = overlap[n + 1] if n + 1 < len(overlap) else math.inf
    return overlap[n] <= before and overlap[n] < after


class Bm25:
    """Plain BM25 over bare texts: no names, no dates, no neighbours, no fusion (k1 1.2, b 0.75)."""

    def __init__(self, texts: Sequence[str], language: str | None = None) -> None:
        self._language = language
        self._size = len(texts)
        counted = [Counter(tokens(text, language)) for text in texts]
        lengths = np.array([c.total() for c in counted], np.float64)
        self._norms = K1 * (1 - B + B * lengths / max(float(lengths.mean()) if texts else 0.0, 1e-9))
        postings: dict[str, tuple[list[int], list[int]]] = {}
        for row, counts in enumerate(counted):
            for term, count in counts.items():
                rows, frequencies = postings.setdefault(term, ([], []))
                rows.append(row)
                frequencies.append(count)
        self._postings = {t: (np.array(r), np.array(f, np.float64)) for t, (r, f) in postings.items()}

    def scores(self, query: str) -> Floats:
        """Return every text's score.

        >>> Bm25(["green tea", "coffee"]).scores("tea?").round(2).tolist()
        [0.61, 0.0]
        """
        result = np.zeros(self._size)
        for term in dict.fromkeys(tokens(query, self._language)):
            if term in self._postings:
                rows, tf = self._postings[term]
                idf = math.log(1 + (self._size - len(rows) + 0.5) / (len(rows) + 0.5))
                result[rows] += idf * tf * (K1 + 1) / (tf + self._norms[rows])
        return result


def cosines(matrix: Vector, query: Vector) -> Floats:
    """Return each row's cosine with the query; rows are of unit length or zero."""
    results: Floats = (matrix @ query).astype(np.float64)
    return results


def top(scores: Floats, limit: int, allowed: Mask | None = None, *, above: float = -math.inf) -> list[int]:
    """Return the rows of the highest scores over `above` among the allowed ones, ties by row.

    >>> top(np.array([0.1, 0.9, 0.9, 0.0]), 3, above=0.0)
    [1, 2, 0]
    """
    rows = np.flatnonzero(scores > above if allowed is None else (scores > above) & allowed)
    order = np.lexsort((rows, -scores[rows]))[:limit]
    chosen: list[int] = rows[order].tolist()
    return chosen

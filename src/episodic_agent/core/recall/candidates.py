"""What the store hands to the fusion: parallel arrays over a few hundred candidates."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np

from episodic_agent.core.recall.bm25 import FloatArray, IntArray

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
    are unknown. `at` is event time in seconds since 1970, NaN where assumed; `moment` is the same with
    assumed times kept, for order only. `episode` is an index into `EpisodeArrays`, -1 for none. `phrase` is
    the share of the query's quoted phrases the text holds, or 1 where a query that is words to look for
    stands there; `parts` has one row of BM25 scores for each of
    `Query.parts`; `octets` is the text's length in UTF-8; `held` is the share of the question's words,
    weighed by rarity, that the text holds; `place` is 1 for what was observed at a place the query names;
    `where` 1 for what may tell where something is, read where that is asked for, and `sighted` 1 for what
    says where the thing that is asked for was.
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
    moment: FloatArray = field(default_factory=_empty)
    octets: FloatArray = field(default_factory=_empty)
    held: FloatArray = field(default_factory=_empty)
    place: FloatArray = field(default_factory=_empty)
    where: FloatArray = field(default_factory=_empty)
    sighted: FloatArray = field(default_factory=_empty)

    def __len__(self) -> int:
        return len(self.ids)


@dataclass(frozen=True, slots=True)
class EpisodeArrays:
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


def no_episodes() -> EpisodeArrays:
    """Return an empty set of episodes, for a scope that has only an open frame."""
    return EpisodeArrays((), np.zeros(0), np.zeros(0), np.zeros(0), np.zeros(0, np.int64))

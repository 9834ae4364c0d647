"""How sure recall is: whether the question is answered here at all, and whether a hit is evidence.

Two logistic curves fitted on development data: questions with evidence against questions of *other* sets
asked of the same memory. They belong to the default embedder's cosines: with another one only words are
counted. They keep about 98 % of the answerable questions and turn away about two thirds of the foreign
ones. They cannot see that a question about something well known here asks for the one detail that was never
mentioned: such questions look answerable to any score without a language model.
"""

from dataclasses import dataclass
from math import exp, sqrt
from typing import Final

import numpy as np

from episodic_agent.core.ranking.bm25 import FloatArray
from episodic_agent.core.ranking.candidates import Candidates
from episodic_agent.core.ranking.fusion import Fused, dense_share
from episodic_agent.core.ranking.query import Query
from episodic_agent.core.ranking.weights import DEFAULT_WEIGHTS

ABSTENTION_THRESHOLD: Final = 0.1
"""Below this nothing relevant is reported; about 2 % of answerable development questions fall under it."""

_COSINE: Final = 16.7
_COVERAGE: Final = 6.1
_BIAS: Final = -11.6
_COVERAGE_ALONE: Final = 15.0  # no embedder, or not its script: set by hand on Chinese data
_BIAS_ALONE: Final = -4.7
# Bias and weight of the logarithm of the rank: of an answered question's hits, .55 at rank 1, .2 at 5.
_HIT: Final = (0.22, -0.98)
CALIBRATED_FOR: Final = "minilm"  # the family of embedder names whose cosines the curve was fitted on


@dataclass(frozen=True, slots=True)
class Confidence:
    """Hold the probabilities that the question is answered in the scope and that each hit is evidence."""

    answerable: float
    hits: FloatArray

    def abstains(self, threshold: float = ABSTENTION_THRESHOLD) -> bool:
        """Say whether to answer that nothing relevant is stored.

        >>> Confidence(0.05, np.zeros(0)).abstains()
        True
        """
        return self.answerable < threshold


def support(cosine: float, coverage: float, *, dense: bool = True) -> float:
    """Return the probability that a question with such a best cosine and coverage is answered in the scope.

    `coverage` is a BM25 score as a share of the query's `bm25.ceiling`; `dense=False` leaves the cosine out.

    >>> support(0.2, 0.2) < 0.1 < support(0.5, 0.6)
    True
    """
    covered = sqrt(min(max(coverage, 0.0), 1.5))
    if dense:
        return _logistic(_COSINE * max(cosine, 0.0) + _COVERAGE * covered + _BIAS)
    return _logistic(_COVERAGE_ALONE * covered + _BIAS_ALONE)


def assess(
    query: Query, found: Candidates, fused: Fused, ceiling: float, *, embedder: str = CALIBRATED_FOR
) -> Confidence:
    """Return how sure recall is of a fused result; `ceiling` is `bm25.ceiling` of the query's content terms.

    `embedder` names whose cosines these are: another scale than the fitted one is not looked at.
    No candidates, or none that shares a word or is near in meaning, give a probability near 0.
    """
    if not len(found) or not float(fused.scores.max()) > 0:
        return Confidence(0.0, np.zeros(len(found)))
    known = embedder.startswith(CALIBRATED_FOR) and bool(np.isfinite(found.cosine).any())
    dense = known and dense_share(query) == DEFAULT_WEIGHTS.dense
    cosine = np.nan_to_num(found.cosine)
    coverage = found.bm25 / ceiling if ceiling > 0 else np.zeros(len(found))
    if not dense and not float(coverage.max()) > 0:
        return Confidence(0.0, np.zeros(len(found)))
    answerable = support(float(cosine.max()), float(coverage.max()), dense=dense)
    ranks = np.empty(len(found))
    ranks[fused.order] = np.arange(1, len(found) + 1)
    bias, by_rank = _HIT
    return Confidence(answerable, answerable / (1 + np.exp(-(bias + by_rank * np.log(ranks)))))


def _logistic(value: float) -> float:
    return 1 / (1 + exp(-value))

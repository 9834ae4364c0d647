"""How sure recall is: whether the question is answered here at all, and whether a hit is evidence.

Logistic curves fitted on development data: questions with evidence against questions of *other* sets and of
*other people* asked of the same memory. One scale has to hold for a chat of sixty lines and a phone's ten
thousand records, so beside the best cosine and the best share of the question's words they look at what does
not depend on the size of the memory: how far the best cosines stand out from the ones behind them, and
whether the question names somebody or something never mentioned here. The cosines are the default embedder's:
those of another are brought to its scale by a calibration (`core/calibration.py`), and without one only words
are counted.

They cannot see that a question about something well known here asks for the one detail that was never
mentioned: such questions look answerable to any score without a language model.
"""

from dataclasses import dataclass, replace
from math import exp, log1p, sqrt
from typing import Final

import numpy as np

from episodic_agent.core.language.terms import BIGRAM_SCRIPTS
from episodic_agent.core.recall.bm25 import FloatArray
from episodic_agent.core.recall.due import AGAIN
from episodic_agent.core.recall.fusion import Candidates, Fused, dense_share
from episodic_agent.core.recall.policies import DEFAULT_WEIGHTS
from episodic_agent.core.recall.query import Query
from episodic_agent.data import numbers

ABSTENTION_THRESHOLD: Final = 0.2
"""That of `recall-2026-12`: about 2 % of answerable development questions fall under it."""

CALIBRATED_FOR: Final = "minilm"  # the family of embedder names whose cosines the curve was fitted on
STANDING_OUT: Final = 50  # how many of the best cosines are compared with the next one, at most a quarter

NARROW: Final = 20  # candidates under which a filter left hardly a choice
# Added to the log-odds there. What stands out of two texts cannot be told, and who names the half hour and is
# told that nothing was there has been told something false: a tenth of LLQA's windows were.
_ASKED_FOR: Final = 1.5

_FEW: Final = 20  # texts in which a name that is missing says half as much as in very many

_NOWHERE: Final = 3.25  # as a name that nothing holds

# Bias and weight of the logarithm of the rank: of an answered question's hits, .55 at rank 1, .2 at 5.
_HIT: Final = (0.22, -0.98)
_WELL_KNOWN: Final = 0.9  # of the vector leg's full share


@dataclass(frozen=True, slots=True)
class Signs:
    """Hold what speaks for an answer: the curves' inputs.

    `cosine` is the best one, None where cosines say nothing; `lift` is how far the best cosines stand above
    the next ones, 0 or more. `held` is the greatest share of the question's words in one text, in [0, 1];
    `coverage` the best BM25 score as a share of the query's `bm25.ceiling`. `unknown`: how much it says, in
    [0, 1], that it names something that nothing here holds (`surprise_at_strangers`), 0 where it does not.
    `bigrams`: its script is cut into bigrams. `documents`: how many texts it was asked of, None where their
    number says nothing. `narrow`: a filter of the caller's left so few that there was hardly a choice.
    `literal`: words to look for stand in a text as they are, None for a question.
    """

    held: float
    coverage: float = 0.0
    cosine: float | None = None
    lift: float = 0.0
    unknown: float = 0.0
    bigrams: bool = False
    documents: int | None = None
    narrow: bool = False
    literal: bool | None = None


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

    def at_least(self, likely: float, shares: FloatArray) -> "Confidence":
        """Return no less confidence than what is known besides: how likely the best of it answers.

        `shares` are how much of that each candidate has, in [0, 1].

        >>> Confidence(0.1, np.array([0.1, 0.3])).at_least(0.6, np.array([1.0, 0.0])).hits.tolist()
        [0.6, 0.3]
        """
        return Confidence(max(self.answerable, likely), np.maximum(self.hits, likely * shares))


def surprise_at_strangers(documents: int) -> float:
    """Return how much it says, in [0, 1], that a name stands in none of so many texts.

    Of three messages it says next to nothing, of a thousand nearly all that the curves were fitted with.

    >>> [round(surprise_at_strangers(count), 2) for count in (0, 3, 20, 1000)]
    [0.0, 0.02, 0.5, 1.0]
    """
    return documents**2 / (documents**2 + _FEW**2)


def support(signs: Signs) -> float:
    """Return the probability that a question with such signs is answered in the scope.

    In scripts cut into bigrams some text of a large memory holds a share of any question by chance. So the
    share is read against the number of texts, where that is known (`tools/train_recall.py` fits it).

    >>> support(Signs(0.2, cosine=0.2)) < 0.1 < 0.9 < support(Signs(0.9, cosine=0.7, lift=0.1))
    True
    >>> round(support(Signs(0.9)), 2), round(support(Signs(0.9, unknown=1.0)), 2)
    (0.92, 0.31)
    """
    evidence = _evidence(signs) + (_ASKED_FOR if signs.narrow else 0.0)
    if signs.literal:  # what an embedder makes of a word is no reason to pass over the word
        evidence = max(evidence, _evidence(Signs(held=1.0)))
    elif signs.literal is False and signs.bigrams:  # of 宜川路, 宜 and 路 stand in 宜山路
        evidence -= _NOWHERE * surprise_at_strangers(signs.documents or 0)
    return _logistic(evidence)


def by_size(held: float, documents: int) -> dict[str, float]:
    """Return what the curve of scripts cut into bigrams reads, by the names of its weights.

    >>> by_size(0.25, 0)
    {'bias': 1.0, 'held': 0.5, 'documents': 0.0}
    """
    return {"bias": 1.0, "held": sqrt(max(held, 0.0)), "documents": log1p(documents)}


def _evidence(signs: Signs) -> float:
    """Return the log-odds that a question with such signs is answered, whatever was filtered."""
    if signs.cosine is not None:
        return (
            7.9 * max(signs.cosine, 0.0) + 13.0 * signs.lift + 3.65 * signs.held - 2.5 * signs.unknown - 6.15
        )
    if signs.bigrams and signs.documents is not None:
        weights = numbers("recall/confidence.bigrams")
        return sum(weights[name] * value for name, value in by_size(signs.held, signs.documents).items())
    if signs.bigrams:
        # Bigrams overlap by chance in long texts, so length has to count; and there are no capitals.
        return 6.3 * sqrt(min(max(signs.coverage, 0.0), 1.5)) - 2.5
    # Words alone are sure of less: one threshold stands where two stood (.15 with vectors, .2 without).
    level = 1.8 if signs.documents is None else 2.15
    return 4.7 * signs.held - 3.25 * signs.unknown - level


def assess(
    query: Query,
    candidates: Candidates,
    fused: Fused,
    ceiling: float,
    *,
    unknown: float = 0.0,
    known: bool = True,
    share: float | None = None,
    documents: int | None = None,
    filtered: bool = False,
) -> Confidence:
    """Return how sure recall is of a fused result; `ceiling` is `bm25.ceiling` of the query's content terms.

    `unknown` says how much it tells that the question names something nothing in the scope holds; `known`
    that the cosines are on the fitted scale: on another they are not looked at. `share` is the vector leg's
    where it was measured: cosines speak only where the embedder knows the language well. `documents` are
    those of the scope, `filtered` says that the caller filtered them.
    No candidates, or none that shares a word or is near in meaning, give a probability near 0.
    """
    if not len(candidates) or not float(fused.scores.max()) > 0:
        return Confidence(0.0, np.zeros(len(candidates)))
    answerable = answerability(
        query,
        candidates,
        ceiling,
        unknown=unknown,
        known=known,
        share=share,
        documents=documents,
        filtered=filtered,
    )
    if not answerable:
        return Confidence(0.0, np.zeros(len(candidates)))
    ranks = np.empty(len(candidates))
    ranks[fused.order] = np.arange(1, len(candidates) + 1)
    bias, by_rank = _HIT
    return Confidence(answerable, answerable / (1 + np.exp(-(bias + by_rank * np.log(ranks)))))


def answerability(
    query: Query,
    candidates: Candidates,
    ceiling: float,
    *,
    unknown: float = 0.0,
    known: bool = True,
    share: float | None = None,
    documents: int | None = None,
    filtered: bool = False,
) -> float:
    """Return the probability that some of the candidates answer, as `assess` reads them: 0 where none may."""
    signs = _read(query, candidates, ceiling, unknown=unknown, known=known, share=share)
    signs = replace(signs, documents=documents, narrow=filtered and len(candidates) < NARROW)
    bears = signs.cosine is not None or signs.literal or max(signs.coverage, signs.held) > 0
    return support(signs) if bears else 0.0


def certain(shares: FloatArray) -> Confidence:
    """Return the confidence in candidates that are what is asked for: all that was said, or is due, then.

    `shares` are how close each is to that time, in [0, 1]: in opening hours there is half as much.
    """
    answerable = support(Signs(held=1.0))
    return Confidence(answerable, answerable * np.where(shares < AGAIN, 0.5, 1.0))


def _read(
    query: Query,
    candidates: Candidates,
    ceiling: float,
    *,
    unknown: float,
    known: bool,
    share: float | None,
) -> Signs:
    coverage = float(candidates.bm25.max()) / ceiling if ceiling > 0 else 0.0
    signs = Signs(
        held=float(candidates.held.max()) if len(candidates.held) else min(coverage, 1.0),
        coverage=coverage,
        unknown=unknown,
        bigrams=query.script in BIGRAM_SCRIPTS,
        literal=bool(candidates.phrase.any()) if query.literal and not query.phrases else None,
    )
    # All are 0 where the embedder knows no piece of the question: that tells nothing either.
    known = known and bool(np.nan_to_num(candidates.cosine).any())
    # "What did we do yesterday?" has no content: any cosine of it is chance.
    known = known and (bool(query.content) or not query.time)
    # Where strangers are as near as elsewhere answers, the curve of cosines does not hold.
    trusted = dense_share(query) if share is None else share
    if not known or trusted < _WELL_KNOWN * DEFAULT_WEIGHTS.dense:
        return signs
    cosines = -np.sort(-np.nan_to_num(candidates.cosine))
    return replace(signs, cosine=float(cosines[0]), lift=_lift(cosines))


def _lift(falling: FloatArray) -> float:
    """Return the mean of the best cosines less the one behind them: near 0 where nothing stands out."""
    count = min(STANDING_OUT, max(len(falling) // 4, 1))
    return float(falling[:count].mean() - falling[min(count, len(falling) - 1)])


def _logistic(value: float) -> float:
    return 1 / (1 + exp(-value))

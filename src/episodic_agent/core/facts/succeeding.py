"""Which of the texts that answer a question takes the place of which: of two, is the later what holds?

"When do we fly?" is nearest to the first message that told a day; "she got us two nights off, so it's the
20th" shares hardly a word with it. By themselves the two tell too little (`core/facts/changing.py`): between
all that was said pairs are many and changes few. Beside a question they are a dozen texts that bear on one
matter, and the question says which part of it: a weighed sum over each two reads how well both answer, how
near they are to each other, what lies between, and whether the later sounds like news of a change. A second
judge tells questions for how something was before: there nothing is moved. All are made by
`tools/train_succeeding.py`.
"""

from collections import Counter
from collections.abc import Sequence
from datetime import datetime
from functools import cache
from math import log
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from episodic_agent.core.facts.stating import SHORT, likely
from episodic_agent.core.language import tokens
from episodic_agent.core.recall.alone import QUESTION_MARKS
from episodic_agent.data import arrays
from episodic_agent.schemas import Vector

WEIGHTS: Final = "recall/succeeding.npz"
REPORTING: Final = "recall/changes.npz"
BEFORE: Final = "recall/asked_before.npz"
ANSWERING: Final = 12  # texts, the best, that are weighed against each other
SUCCEEDS: Final = 0.3  # from which the later of two stands before the earlier
ASKED_BEFORE: Final = 0.5  # from which a question asks for what was before
FEATURES: Final = (
    "share", "later share", "ratio", "place", "later place", "cosine", "asked", "later asked", "common",
    "asked terms", "later asked terms", "change", "later figures", "same speaker", "days", "newest",
    "newer ones", "asks", "later asks", "change and cosine", "change and share", "cosine and share",
)  # fmt: skip
_MOST_COMMON: Final = 6.0  # rarity of shared terms beyond which more of it says nothing new
_FAR: Final = 4.0  # log-odds beyond which a judge is not believed
_A_DAY: Final = 86_400
Floats = NDArray[np.float64]


class AnsweringText(NamedTuple):
    """A text that answers a question: who said it when, its share of the best one's score, its vector [384].

    `change` is how likely it reports a change (`change_of`); None where it can change nothing.
    """

    text: str
    speaker: str
    at: datetime
    share: float
    vector: Vector
    change: float | None


def change_of(text: str, vector: Vector | None = None) -> float:
    """Return how likely a message reports that something changed, in [0, 1].

    `vector` [384] is that of the judges' embedder, None: none.
    """
    return likely(REPORTING, text, vector)


def share_at(place: int) -> float:
    """Return the share of the best one's score that a text in a place from 0 on has in most answers."""
    shares = _judge().shares
    return float(shares[min(place, len(shares) - 1)])


def asks_before(question: str, vector: Vector | None = None) -> bool:
    """Tell whether a question is for how something was before it changed.

    >>> asks_before("What was the old door code?"), asks_before("What is the door code?")
    (True, False)
    """
    return len(question) <= SHORT and likely(BEFORE, question, vector) >= ASKED_BEFORE


def succeeding(question: str, vector: Vector, some: Sequence[AnsweringText]) -> Floats:
    """Return how likely each text (column) takes the place of each other (row), [n, n] in [0, 1].

    0 where it is not the later, or can change nothing. `some` are in the order of their scores, best first.
    """
    result = np.zeros((len(some), len(some)))
    pairs, rows = features(question, vector, some)
    if pairs:
        judge = _judge()
        sums = (rows - judge.means) / judge.scales @ judge.weights + judge.base
        result[tuple(np.array(pairs).T)] = 1.0 / (1.0 + np.exp(-np.clip(sums, -30.0, 30.0)))
    return result


def features(
    question: str, vector: Vector, some: Sequence[AnsweringText]
) -> tuple[list[tuple[int, int]], Floats]:
    """Return places of an earlier and a later text, and what each two are judged by, as `FEATURES` has it."""
    pairs = [
        (n, m)
        for n, earlier in enumerate(some)
        for m, later in enumerate(some)
        if later.at > earlier.at and later.change is not None
    ]
    if not pairs:
        return [], np.zeros((0, len(FEATURES)))
    terms = [frozenset(tokens(one.text)) for one in some]
    asked = frozenset(tokens(question))
    counts = Counter(term for row in terms for term in row)
    rarity = {term: log((len(some) + 1) / (count + 0.5)) for term, count in counts.items()}

    def common(first: frozenset[str], other: frozenset[str]) -> float:
        return min(sum(rarity.get(term, 0.0) for term in sorted(first & other)), _MOST_COMMON)

    vectors = np.stack([np.asarray(one.vector, float) for one in some])
    nearness, to_question = vectors @ vectors.T, vectors @ np.asarray(vector, float)
    times = np.array([one.at.timestamp() for one in some])
    asks = [float(one.text.rstrip().endswith(QUESTION_MARKS)) for one in some]
    rows = []
    for n, m in pairs:
        earlier, later, cosine = some[n], some[m], float(nearness[n, m])
        change = _certainty(later.change or 0.0)
        rows.append(
            [
                earlier.share,
                later.share,
                log((later.share + 1e-3) / (earlier.share + 1e-3)),
                float(np.log1p(n)),
                float(np.log1p(m)),
                cosine,
                float(to_question[n]),
                float(to_question[m]),
                common(terms[n], terms[m]),
                common(asked, terms[n]),
                common(asked, terms[m]),
                change,
                float(any(sign.isdigit() for sign in later.text)),
                float(earlier.speaker == later.speaker),
                float(np.log1p((times[m] - times[n]) / _A_DAY)),
                float(times[m] == times.max()),
                float(np.log1p((times > times[m]).sum())),
                asks[n],
                asks[m],
                change * cosine,
                change * later.share,
                cosine * later.share,
            ]
        )
    return pairs, np.array(rows)


def _certainty(share: float) -> float:
    return float(np.clip(np.log(max(share, 1e-6) / max(1.0 - share, 1e-6)), -_FAR, _FAR))


class _SuccessionWeights(NamedTuple):
    """What two texts are weighed by: the usual features and their spread, [k], the weights [k], the base.

    `shares` are what the texts of an answer mostly have of the best one's score, best first.
    """

    means: Floats
    scales: Floats
    weights: Floats
    base: float
    shares: Floats


@cache
def _judge() -> _SuccessionWeights:
    shipped = arrays(WEIGHTS)
    names = ("means", "scales", "weights", "shares")
    means, scales, weights, shares = (shipped[name].astype(np.float64) for name in names)
    return _SuccessionWeights(means, scales, weights, float(shipped["base"]), shares)

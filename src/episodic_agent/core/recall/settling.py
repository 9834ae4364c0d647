"""Whether what somebody took on is settled since: done, handed over, or no longer wanted.

"Got the back room, 4 till 10" settles "I'll ring the Riverside" and shares no word with it; "don't forget the
Riverside" shares its rarest and settles nothing. A judge reads whether a message reports that something is
settled at all; boosted trees over the pair, beside all else that was taken on, whether it is this: well in
one thread, seldom where another tells of it. Both are made by `tools/train_commitments.py`.

How its session ended tells it, too: a decision in words of the promise that says something is done ("19
euros refunded"), not that it is to come ("refund promised by the 31st"), or success once it was due.
"""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from functools import cache, lru_cache
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from episodic_agent.core.facts.stating import likely, vector_of
from episodic_agent.core.recall.alone import QUESTION_MARKS
from episodic_agent.core.recall.due import due_by
from episodic_agent.data import arrays
from episodic_agent.schemas import Vector

REPORTING: Final = "recall/settled.npz"
PAIRING: Final = "recall/settled_pairs.npz"
DECIDED: Final = "recall/settled_decided.npz"
DONE: Final = 0.5  # from which a decision says that something is done,
DONE_WELL: Final = 0.3  # and where its session ended well
SHARED: Final = 0.3  # share of a decision's words, by rarity, that what it settles has
_FAR: Final = 4.0  # log-odds beyond which a judge is not believed
_BEYOND: Final = 40  # messages of a thread from which on it does not matter how many stand between
_SHORT: Final = 6  # words of a message that says only by its place what it is about


class Report(NamedTuple):
    """A message beside something that was taken on before it.

    `length` counts its words. `likelihood`: it reports that something is settled; `takes_on`: it takes
    something on itself. `cosine` is how near its words are, `with_before` these and the message before it,
    `margin` how much nearer the nearer of both is than to the next of all that was taken on; `held` is which
    share of the words that were taken on, by rarity, it holds, `held_margin` how much more of them than of
    the next, `held_near` which share the messages before it hold. `between` counts the messages between in
    one thread (None: it stands in another), `others_between` what else was taken on between; `in_stream`:
    they stand in one thread, or in two that silence parted. `by_whose`: whoever took it on says it;
    `by_asker`: who had asked for it.
    """

    text: str
    length: int
    likelihood: float
    takes_on: float
    cosine: float
    with_before: float
    margin: float
    held: float
    held_margin: float
    held_near: float
    between: int | None
    others_between: int
    in_stream: bool
    by_whose: bool
    by_asker: bool
    days: float


FEATURES: Final = (
    "reports", "takes on", "cosine", "with before", "margin", "terms", "terms margin", "terms near",
    "in the thread", "in the stream", "between", "others between", "the last", "by whose", "by the asker",
    "days", "asks", "short", "short and last", "reports and margin", "reports and terms", "reports and last",
)  # fmt: skip


def reports(text: str, vector: Vector | None = None) -> float:
    """Return how likely a message reports that something is settled, in [0, 1].

    `vector` [384] is that of the judges' embedder, None: none.
    """
    return likely(REPORTING, text, vector)


def towards_reports() -> Vector:
    """Return the direction [384] in the judges' embedder's space in which reports lie."""
    return vector_of(REPORTING)


def says_done(decision: str, at: datetime, *, well: bool) -> bool:
    """Tell whether a decision of a session that ended at `at` says that something is done, and not to come.

    `well`: the session ended with success.

    >>> from datetime import UTC
    >>> at = datetime(2026, 10, 23, tzinfo=UTC)
    >>> [says_done(text, at, well=True) for text in ("report sent", "refund of 12 promised until 31 October")]
    [True, False]
    """
    due = due_by(decision, at)
    return (due is None or due <= at.date()) and likely(DECIDED, decision) >= (DONE_WELL if well else DONE)


def pieces_settled(
    decided: Iterable[str], pieces: Sequence[frozenset[str]], weights: Mapping[str, float]
) -> list[int]:
    """Return the places of those pieces that the words of a decision settle: the ones that share most.

    A piece is words of what was taken on. `weights` are of words by rarity, of those that are known; a piece
    shares more than `SHARED` of all.

    >>> crown, bill = frozenset({"crown", "lab"}), frozenset({"bill"})
    >>> pieces_settled(["crown", "fitted"], [crown, bill], {"crown": 2.0})
    [0]
    """
    known = {term: weights[term] for term in decided if term in weights}
    shares = [sum(weight for term, weight in known.items() if term in piece) for piece in pieces]
    best = max(shares, default=0.0)
    return (
        [n for n, share in enumerate(shares) if share == best] if best > SHARED * sum(known.values()) else []
    )


def settling(some: Sequence[Report]) -> NDArray[np.float64]:
    """Return how likely each of some messages settles what it stands beside, in [0, 1]."""
    if not some:
        return np.zeros(0)
    return _pairing().likely(features(some))


def features(some: Sequence[Report]) -> NDArray[np.float64]:
    """Return what messages beside something taken on are judged by, a row each, as `FEATURES` names it."""
    return np.array([_features(report) for report in some])


def _features(report: Report) -> list[float]:
    reported, takes_on = _certainty(report.likelihood), _certainty(report.takes_on)
    between = _BEYOND if report.between is None else min(report.between, _BEYOND)
    short = float(report.length <= _SHORT)
    last = float(report.between is not None and not report.others_between)
    return [
        reported,
        takes_on,
        report.cosine,
        report.with_before,
        report.margin,
        report.held,
        report.held_margin,
        report.held_near,
        float(report.between is not None),
        float(report.in_stream),
        float(np.log1p(between)),
        float(np.log1p(report.others_between)),
        last,
        float(report.by_whose),
        float(report.by_asker),
        float(np.log1p(max(report.days, 0.0))),
        float(report.text.rstrip().endswith(QUESTION_MARKS)),
        short,
        short * last,
        report.likelihood * max(report.margin, 0.0),
        report.likelihood * max(report.held_margin, 0.0),
        report.likelihood * last,
    ]


@lru_cache(maxsize=4096)  # a message is judged beside each thing that was taken on
def _certainty(share: float) -> float:
    """Return the log-odds of a likelihood, as far as its judge is believed."""
    return float(np.clip(np.log(max(share, 1e-6) / max(1.0 - share, 1e-6)), -_FAR, _FAR))


class PairTrees(NamedTuple):
    """Boosted trees over a pair's features.

    A report is believed by its words where it stands next, by what it names where it stands far away.
    Each array is [trees, nodes], a tree's root first: what a node asks (`feature` at most `threshold`), where
    it leads (`left`, `right`; a leaf to itself), and what it adds to the log-odds, which begin at `base`.
    """

    feature: NDArray[np.intp]
    threshold: NDArray[np.float64]
    left: NDArray[np.intp]
    right: NDArray[np.intp]
    value: NDArray[np.float64]
    base: float
    depth: int

    def likely(self, rows: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the probability of each row of features, [n]."""
        trees = np.arange(len(self.feature))
        at = np.zeros((len(rows), len(trees)), np.intp)
        beside = np.arange(len(rows))[:, None]
        for _ in range(self.depth):
            below = rows[beside, self.feature[trees, at]] <= self.threshold[trees, at]
            at = np.where(below, self.left[trees, at], self.right[trees, at])
        result: NDArray[np.float64] = 1.0 / (1.0 + np.exp(-(self.value[trees, at].sum(axis=1) + self.base)))
        return result


@cache
def _pairing() -> PairTrees:
    shipped = arrays(PAIRING)
    feature, left, right = (shipped[name].astype(np.intp) for name in ("feature", "left", "right"))
    threshold, value = (shipped[name].astype(np.float64) for name in ("threshold", "value"))
    return PairTrees(feature, threshold, left, right, value, float(shipped["base"]), int(shipped["depth"]))

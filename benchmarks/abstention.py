"""Curves of abstention: at each share of recall kept, how many unanswerable questions are answered still.

Three kinds of questions nothing answers: the set's own without evidence, those of other cases of the same
set (`sibling`) and those of other sets (`foreign`). Answerable questions weigh the recall at 10 they have.
Errors: both sides drawn anew by question, threshold and all.
"""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from benchmarks.baselines import Floats
from benchmarks.uncertainty import Estimate
from episodic_agent.core.evaluation.retrieval import rounded
from episodic_agent.core.recall import ABSTENTION_THRESHOLD
from episodic_agent.errors import InvalidInput

SEED: Final = 7
KEPT: Final = (0.8, 0.85, 0.9, 0.92, 0.95, 0.98)
KINDS: Final = ("own", "sibling", "foreign")
ROUNDS: Final = 200
SHIPPED: Final = "shipped"  # the threshold in force, beside those that keep a share
FEWEST: Final = 5  # unanswerable questions; a share of fewer is a story

Row: TypeAlias = dict[str, Any]


Confidences: TypeAlias = Sequence[float] | NDArray[np.float64]
Answerable: TypeAlias = tuple[Confidences, Confidences]  # confidences and the recall each is worth


@dataclass(frozen=True)
class Sides:
    """The confidences of a set: of answerable questions with the recall each is worth, and of the others."""

    sure: Floats
    worth: Floats
    others: Mapping[str, Floats]

    @classmethod
    def of(cls, answerable: Sequence[tuple[float, float]], others: Mapping[str, Sequence[float]]) -> "Sides":
        """Take (confidence, recall) of the answerable and confidences of the others by kind."""
        sure, worth = (np.array([pair[n] for pair in answerable], np.float64) for n in (0, 1))
        kinds = {kind: np.array(others[kind]) for kind in KINDS if len(others.get(kind, ())) >= FEWEST}
        return cls(sure, worth, kinds)

    def area(self, kind: str) -> Estimate:
        """Return the area under the ROC curve."""
        return self._drawn(kind, lambda sure, _, other: roc_area(sure, other))

    def false_at(self, kind: str, value: float) -> Estimate:
        """Return the share still answered under this set's own threshold."""

        def share(sure: Floats, worth: Floats, other: Floats) -> float:
            return false_share(other, threshold_keeping([(sure, worth)], value))

        return self._drawn(kind, share)

    def _drawn(self, kind: str, figure: Callable[[Floats, Floats, Floats], float]) -> Estimate:
        other, lot = self.others[kind], np.random.default_rng(SEED)
        drawn = []
        for _ in range(ROUNDS):
            mine, theirs = (lot.integers(0, len(side), len(side)) for side in (self.sure, other))
            if self.worth[mine].sum() > 0.0:
                drawn.append(figure(self.sure[mine], self.worth[mine], other[theirs]))
        low, high = np.quantile(drawn, [0.025, 0.975])
        value = figure(self.sure, self.worth, other)
        return Estimate(value, float(np.std(drawn)), float(low), float(high))


def curves(sides: Mapping[str, Sides]) -> Iterator[tuple[str, Row]]:
    """Yield a row a set, under its own thresholds and those common to all sets, which weigh the same."""
    judged = {name: side for name, side in sides.items() if side.worth.sum() > 0.0 and side.others}
    if not judged:
        return
    pairs = [(side.sure, side.worth) for side in judged.values()]
    common = {f"{kept:g}": threshold_keeping(pairs, kept) for kept in KEPT}
    common[SHIPPED] = ABSTENTION_THRESHOLD
    for name, side in judged.items():
        row: Row = {"answerable": len(side.sure), "kept_by_common": {}, "kinds": {}}
        for text, level in common.items():
            row["kept_by_common"][text] = rounded(kept_share((side.sure, side.worth), level))
        for kind, other in side.others.items():
            row["kinds"][kind] = {
                "questions": len(other),
                "roc": side.area(kind).as_json(),
                "own": {f"{kept:g}": side.false_at(kind, kept).as_json() for kept in KEPT},
                "common": {kept: rounded(false_share(other, level)) for kept, level in common.items()},
            }
        yield f"abstention | {name}", row
    yield "abstention thresholds", {kept: rounded(level) for kept, level in common.items()}


def kept_share(answerable: Answerable, threshold: float) -> float:
    """Return the share of recall that is left when questions under the threshold get no answer.

    >>> kept_share(([0.9, 0.5, 0.1], [1.0, 0.5, 0.5]), 0.5)
    0.75
    """
    confidences, worth = (np.asarray(side, np.float64) for side in answerable)
    total = float(worth.sum())
    return float(worth[confidences >= threshold].sum()) / total if total else math.nan


def false_share(unanswerable: Confidences, threshold: float) -> float:
    """Return the share of unanswerable questions that are answered at a threshold; NaN if there are none.

    >>> false_share([0.9, 0.1], 0.5)
    0.5
    """
    confidences = np.asarray(unanswerable, np.float64)
    return float((confidences >= threshold).mean()) if confidences.size else math.nan


def threshold_keeping(sets: Sequence[Answerable], value: float) -> float:
    """Return the highest threshold that keeps a share of the recall, the mean over sets that weigh the same.

    Equal confidences fall on one side together. Raises InvalidInput for a NaN, a share outside (0, 1] or a
    set without any recall to keep.

    >>> easy, hard = ([0.9, 0.8], [1.0, 1.0]), ([0.4, 0.2], [1.0, 1.0])
    >>> threshold_keeping([easy], 1.0), threshold_keeping([easy, hard], 0.75), threshold_keeping([hard], 0.5)
    (0.8, 0.4, 0.4)
    """
    if not 0.0 < value <= 1.0:
        raise InvalidInput("the share of recall to keep lies above 0 and up to 1")
    confidences = [np.asarray(one, np.float64) for one, _ in sets]
    worth = [np.asarray(recall, np.float64) for _, recall in sets]
    if not sets or any(np.isnan(one).any() for one in (*confidences, *worth)):
        raise InvalidInput("a threshold needs confidences and recall that are numbers")
    if any(recall.sum() <= 0.0 for recall in worth):
        raise InvalidInput("a set without any recall has nothing to keep; leave it out")
    flat = np.concatenate(confidences)
    share = np.concatenate([recall / recall.sum() / len(sets) for recall in worth])
    order = np.argsort(-flat, kind="stable")
    reached = np.cumsum(share[order])
    place = int(np.searchsorted(reached, value - 1e-9))
    return float(flat[order][min(place, len(flat) - 1)])


def roc_area(answerable: Confidences, unanswerable: Confidences) -> float:
    """Return how often an answerable question is surer than an unanswerable one, ties counted half.

    The area under the ROC curve (Mann and Whitney 1947): .5 is chance; NaN if either side is empty.

    >>> roc_area([0.9, 0.4], [0.4, 0.1]), roc_area([], [0.1])
    (0.875, nan)
    """
    surer, other = np.asarray(answerable, np.float64), np.sort(np.asarray(unanswerable, np.float64))
    if not surer.size or not other.size:
        return math.nan
    below, upto = np.searchsorted(other, surer, "left"), np.searchsorted(other, surer, "right")
    return float((below + upto).mean() / 2 / other.size)

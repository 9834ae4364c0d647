"""How well confidence tells the questions a memory can answer from those it cannot, at every threshold.

`score_abstention` judges one threshold, the one in force. Here the threshold moves: at each share of recall
kept on answerable questions, how many unanswerable ones are still answered. A question whose evidence was
not found anyhow loses nothing by silence, so a question weighs as much recall as it has.
"""

import math
from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from episodic_agent.errors import InvalidInput

Confidences: TypeAlias = Sequence[float] | NDArray[np.float64]
Answerable: TypeAlias = tuple[Confidences, Confidences]  # confidences and the recall each is worth


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

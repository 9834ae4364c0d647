"""Curves of abstention: at each share of recall kept, how many unanswerable questions are answered still.

Three kinds of questions nothing answers: the set's own without evidence, those of other cases of the same
set (`sibling`) and those of other sets (`foreign`). Answerable questions weigh the recall at 10 they have.
Errors: both sides drawn anew by question, threshold and all.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

import numpy as np

from benchmarks.baselines import Floats
from episodic_agent.core.evaluation.abstention import false_share, kept_share, roc_area, threshold_keeping
from episodic_agent.core.evaluation.summary import rounded
from episodic_agent.core.evaluation.uncertainty import Estimate
from episodic_agent.core.recall import ABSTENTION_THRESHOLD

SEED: Final = 7
KEPT: Final = (0.8, 0.85, 0.9, 0.92, 0.95, 0.98)
KINDS: Final = ("own", "sibling", "foreign")
ROUNDS: Final = 200
SHIPPED: Final = "shipped"  # the threshold in force, beside those that keep a share
FEWEST: Final = 5  # unanswerable questions; a share of fewer is a story

Row: TypeAlias = dict[str, Any]


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

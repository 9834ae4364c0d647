"""Where the two judges differed: who was right, and what the one who lost should be told."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from episodic_agent.core.tuning.records import LabelledDecision, TuningRules
from episodic_agent.data import texts

ALGORITHM: Final = "algorithm"
MODEL: Final = "model"


@dataclass(frozen=True, slots=True)
class TuningFinding:
    """A side that loses most disagreements with a feature: how many, its share lost, and what to tell it.

    `line` is guidance for a new prompt version where the model loses; where the algorithm does, its weights
    are what to change.
    """

    feature: str
    side: str
    cases: int
    lost: float
    line: str


def findings(decisions: Sequence[LabelledDecision], rules: TuningRules) -> tuple[TuningFinding, ...]:
    """Return what disagreements teach, the clearest first; features count as present above 0.

    >>> from datetime import UTC, datetime
    >>> at = datetime(2026, 1, 5, tzinfo=UTC)
    >>> one = LabelledDecision(0.8, 0.7, True, {"temporal_marker": 1.0}, "CORRECT", 1.0, at, opinion=False)
    >>> [(f.side, f.cases, f.lost) for f in findings([one] * 6, TuningRules())]
    [('model', 6, 1.0)]
    """
    differing = [d for d in decisions if d.opinion is not None and d.opinion != (d.score > d.threshold)]
    names = sorted({name for d in differing for name in d.features if name in texts("tuning/signals")})
    result = []
    for name in names:
        some = [d for d in differing if d.features.get(name, 0.0) > 0.0]
        if len(some) < rules.least_disagreements:
            continue
        total = sum(d.strength for d in some)
        model_lost = sum(d.strength for d in some if d.opinion != d.truth) / total if total else 0.0
        for side, lost in ((MODEL, model_lost), (ALGORITHM, 1.0 - model_lost)):
            if total and lost >= rules.losing_share:
                result.append(TuningFinding(name, side, len(some), round(lost, 4), _line(name, some)))
    return tuple(sorted(result, key=lambda f: (-f.lost, -f.cases, f.feature)))


def _line(name: str, some: Sequence[LabelledDecision]) -> str:
    """Say which way the loser errs with a feature: whether it links too seldom or too often."""
    signal = texts("tuning/signals")[name]
    linked = sum(d.strength for d in some if d.truth)
    often = "more" if linked >= sum(d.strength for d in some) / 2 else "less"
    return f"A message with {signal} goes on with the earlier conversation {often} often than it seems."

"""What tuning learns from and what it leaves behind: labelled decisions, rules, settings, records."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final

from episodic_agent.errors import InvalidInput
from episodic_agent.schemas import Json

CORRECT: Final = "CORRECT"
INCORRECT: Final = "INCORRECT"


@dataclass(frozen=True, slots=True)
class LabelledDecision:
    """An automatic verdict whose outcome is known: of linking, a boundary, a chain.

    `score` in [0, 1] was positive above `threshold`; `verdict` is what was done, which differs where a second
    judge prevailed. `outcome` is CORRECT or INCORRECT, `strength` how sure that is (1 words, .5 behaviour).
    `opinion` is the second judge's verdict, None where it did not speak.
    """

    score: float
    threshold: float
    verdict: bool
    features: Mapping[str, float]
    outcome: str
    strength: float
    at: datetime
    opinion: bool | None = None

    @property
    def truth(self) -> bool:
        """Say whether the positive verdict would have been right."""
        return self.verdict == (self.outcome == CORRECT)


@dataclass(frozen=True, slots=True)
class TuningRules:
    """The guard rails of tuning (seed 002, section 2.4).

    `window` holds how many of the latest labelled decisions count: users change. Noise alone would walk the
    threshold along a flat optimum; two rails hold it. `certainty` is how many standard deviations the
    decisions a change turns right must be ahead of those it turns wrong: one, so that a miss may be traded
    for three false alarms, as in the document's own example. `reluctance` is what each hundredth between a
    threshold and the untuned one must save in errors.
    """

    lowest: float = 0.50
    highest: float = 0.90
    largest_move: float = 0.05
    false_positive_cost: float = 1.0
    false_negative_cost: float = 1.0
    least_labelled: int = 20
    least_of_each: int = 5
    least_for_weights: int = 200
    least_weight: float = 0.05
    probation: int = 50
    window: int = 250
    certainty: float = 1.0
    reluctance: float = 0.5
    losing_share: float = 0.6
    least_disagreements: int = 5

    def __post_init__(self) -> None:
        if not 0.0 <= self.lowest < self.highest <= 1.0:
            raise InvalidInput(f"lowest {self.lowest} and highest {self.highest} must rise within [0, 1]")
        if min(self.false_positive_cost, self.false_negative_cost) <= 0.0:
            raise InvalidInput("costs of errors must be above 0")


@dataclass(frozen=True, slots=True)
class PolicySetting:
    """What tuning may change of one type of decision; `weights` None where there are none to tune."""

    threshold: float
    weights: Mapping[str, float] | None = None
    guidance: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Rates:
    """Weighted accuracy and error rates of a threshold on labelled decisions, and the counts behind them.

    The rates count decisions, FP / (FP + TN) and FN / (FN + TP), 0 where nothing could go wrong; accuracy and
    cost weigh each by how sure its outcome is.
    """

    accuracy: float
    false_positive_rate: float
    false_negative_rate: float
    labelled: int
    positives: int
    negatives: int
    cost: float = field(default=0.0, compare=False)


@dataclass(frozen=True, slots=True)
class TuningRecord:
    """One run's entry in the history: seed 002's record, the counts behind it, and both settings."""

    tuning_date: datetime
    decision_type: str
    reason: str
    before: PolicySetting
    after: PolicySetting
    rates_before: Rates
    rates_after: Rates
    kind: str = "tuned"

    def as_json(self) -> dict[str, Json]:
        """Return seed 002's record, its fields by their names, with counts and what else changed."""
        metrics: dict[str, Json] = {}
        for name in ("accuracy", "false_positive_rate", "false_negative_rate"):
            metrics[f"{name}_before"] = round(getattr(self.rates_before, name), 4)
            metrics[f"{name}_after"] = round(getattr(self.rates_after, name), 4)
        return {
            "tuning_date": self.tuning_date.date().isoformat(),
            "previous_threshold": self.before.threshold,
            "new_threshold": self.after.threshold,
            "reason": self.reason,
            "metrics": metrics,
            "counts": {
                "labelled": self.rates_before.labelled,
                "positives": self.rates_before.positives,
                "negatives": self.rates_before.negatives,
            },
            "decision_type": self.decision_type,
            "kind": self.kind,
            "previous_weights": None if self.before.weights is None else dict(self.before.weights),
            "new_weights": None if self.after.weights is None else dict(self.after.weights),
            "guidance": list(self.after.guidance),
        }


def rates(decisions: Sequence[LabelledDecision], threshold: float, rules: TuningRules) -> Rates:
    """Return how a threshold does on labelled decisions.

    >>> from datetime import UTC
    >>> at = datetime(2026, 1, 5, tzinfo=UTC)
    >>> some = [LabelledDecision(s, 0.7, s > 0.7, {}, o, 1.0, at) for s, o in
    ...         ((0.9, CORRECT), (0.71, INCORRECT), (0.4, CORRECT), (0.6, CORRECT))]
    >>> rates(some, 0.7, TuningRules()).accuracy, rates(some, 0.72, TuningRules()).accuracy
    (0.75, 1.0)
    """
    total, wrong = 0.0, [0.0, 0.0]  # by truth: negatives, positives
    counts, errors = [0, 0], [0, 0]
    for decision in decisions:
        counts[decision.truth] += 1
        total += decision.strength
        if (decision.score > threshold) != decision.truth:
            errors[decision.truth] += 1
            wrong[decision.truth] += decision.strength
    return Rates(
        accuracy=1.0 - sum(wrong) / total if total else 0.0,
        false_positive_rate=errors[0] / counts[0] if counts[0] else 0.0,
        false_negative_rate=errors[1] / counts[1] if counts[1] else 0.0,
        labelled=len(decisions),
        positives=counts[1],
        negatives=counts[0],
        cost=wrong[0] * rules.false_positive_cost + wrong[1] * rules.false_negative_cost,
    )

"""Learning thresholds, weights and guidance from outcomes, under guard rails, for any type of decision."""

from episodic_agent.core.tuning.disagreements import Finding, findings
from episodic_agent.core.tuning.records import (
    CORRECT,
    INCORRECT,
    LabelledDecision,
    Rates,
    Rules,
    Setting,
    TuningRecord,
    rates,
)
from episodic_agent.core.tuning.runs import EVERY, Tuning, rollback, run
from episodic_agent.core.tuning.thresholds import best_threshold
from episodic_agent.core.tuning.weighting import Scorer, best_weights

__all__ = [
    "CORRECT",
    "EVERY",
    "INCORRECT",
    "Finding",
    "LabelledDecision",
    "Rates",
    "Rules",
    "Scorer",
    "Setting",
    "Tuning",
    "TuningRecord",
    "best_threshold",
    "best_weights",
    "findings",
    "rates",
    "rollback",
    "run",
]

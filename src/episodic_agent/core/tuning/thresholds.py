"""Find the threshold that would have cost least, a small step at a time."""

import math
from collections.abc import Sequence
from typing import Final

from episodic_agent.core.tuning.records import LabelledDecision, TuningRules, rates

STEP: Final = 0.01
_SAME: Final = 1e-9


def best_threshold(
    decisions: Sequence[LabelledDecision], current: float, rules: TuningRules, home: float | None = None
) -> float:
    """Return the threshold to adopt, the current one where none is certainly better.

    The grid has steps of .01 within the rules' bounds and reach; ties go to the nearest. A change must raise
    weighted accuracy, pay for its distance from `home` (the threshold before any tuning, by default the
    current one), and turn clearly more decisions right than wrong.

    >>> from datetime import UTC, datetime
    >>> at = datetime(2026, 1, 5, tzinfo=UTC)
    >>> some = [LabelledDecision(s, 0.7, s > 0.7, {}, o, 1.0, at) for s, o in
    ...         ((0.9, "CORRECT"), *[(0.715, "INCORRECT")] * 4, (0.4, "CORRECT"))]
    >>> best_threshold(some, 0.7, TuningRules())
    0.72
    """
    before = rates(decisions, current, rules)
    anchor = current if home is None else home
    best, cheapest = current, before.cost + rules.reluctance * abs(current - anchor) / STEP
    for candidate in _grid(current, rules):
        distance = abs(candidate - anchor) / STEP
        cost = rates(decisions, candidate, rules).cost + rules.reluctance * distance
        nearer = abs(candidate - current) < abs(best - current) - _SAME
        if cost < cheapest - _SAME or (cost < cheapest + _SAME and nearer):
            best, cheapest = candidate, cost
    better = rates(decisions, best, rules).accuracy > before.accuracy + _SAME
    return best if better and _certain(decisions, current, best, rules) else current


def clearly_better(
    decisions: Sequence[LabelledDecision], old: Sequence[bool], new: Sequence[bool], certainty: float
) -> bool:
    """Say whether new verdicts beat old ones on the decisions where they differ, beyond what chance explains.

    Each differing decision is a coin of its strength; `certainty` counts standard deviations of fair coins.
    """
    gain = spread = 0.0
    for decision, was, now in zip(decisions, old, new, strict=True):
        if was != now:
            gain += decision.strength if now == decision.truth else -decision.strength
            spread += decision.strength**2
    return gain > 0.0 and gain >= certainty * math.sqrt(spread)


def _grid(current: float, rules: TuningRules) -> list[float]:
    """Return the thresholds in reach, in whole hundredths."""
    lowest = max(rules.lowest, current - rules.largest_move)
    highest = min(rules.highest, current + rules.largest_move)
    first, last = math.ceil(lowest / STEP - _SAME * 100), math.floor(highest / STEP + _SAME * 100)
    return [round(n * STEP, 2) for n in range(first, last + 1)]


def _certain(decisions: Sequence[LabelledDecision], old: float, new: float, rules: TuningRules) -> bool:
    return clearly_better(
        decisions, [d.score > old for d in decisions], [d.score > new for d in decisions], rules.certainty
    )

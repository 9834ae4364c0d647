"""Find weights of a weighted sum that decide better, moving a twentieth from one to another at a time."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import permutations
from typing import Final, TypeAlias

from episodic_agent.core.tuning.records import LabelledDecision, TuningRules, rates
from episodic_agent.core.tuning.thresholds import clearly_better

PARTS: Final = 20  # weights are twentieths: steps of .05
_SAME: Final = 1e-9

Scorer: TypeAlias = Callable[[Mapping[str, float], Mapping[str, float]], float]
"""From weights and a decision's features to its score."""


def best_weights(
    decisions: Sequence[LabelledDecision],
    weights: Mapping[str, float],
    threshold: float,
    score: Scorer,
    rules: TuningRules,
) -> dict[str, float]:
    """Return weights by coordinate search, the given ones where nothing is certainly better.

    Each weight stays at least `rules.least_weight` and their sum 1. Fewer labelled decisions than
    `rules.least_for_weights` change nothing.
    """
    arguments = dict(weights)
    if len(decisions) < rules.least_for_weights or abs(sum(arguments.values()) - 1.0) > _SAME * 1000:
        return arguments
    parts = {name: round(weight * PARTS) for name, weight in arguments.items()}
    if sum(parts.values()) != PARTS:
        return arguments
    least = max(1, round(rules.least_weight * PARTS))
    best, cheapest = parts, _cost(decisions, parts, threshold, score, rules)
    while True:
        moves = [move for move in _moves(best) if min(move.values()) >= least]
        costs = [_cost(decisions, move, threshold, score, rules) for move in moves]
        if not costs or min(costs) >= cheapest - _SAME:
            break
        cheapest = min(costs)
        best = moves[costs.index(cheapest)]
    values = _weights(best)
    old = [score(arguments, d.features) > threshold for d in decisions]
    new = [score(values, d.features) > threshold for d in decisions]
    return values if clearly_better(decisions, old, new, rules.certainty) else arguments


def _moves(parts: Mapping[str, int]) -> list[dict[str, int]]:
    """Return every way to move one part, in the order of names so that equal moves are always the same."""
    return [{**parts, giver: parts[giver] - 1, taker: parts[taker] + 1}
            for giver, taker in permutations(sorted(parts), 2)]  # fmt: skip


def _weights(parts: Mapping[str, int]) -> dict[str, float]:
    return {name: round(count / PARTS, 2) for name, count in parts.items()}


def _cost(
    decisions: Sequence[LabelledDecision],
    parts: Mapping[str, int],
    threshold: float,
    score: Scorer,
    rules: TuningRules,
) -> float:
    weights = _weights(parts)
    return rates(rescored(decisions, weights, score), threshold, rules).cost


def rescored(
    decisions: Sequence[LabelledDecision], weights: Mapping[str, float], score: Scorer
) -> list[LabelledDecision]:
    """Return decisions with the scores that other weights would have given."""
    return [replace(decision, score=score(weights, decision.features)) for decision in decisions]

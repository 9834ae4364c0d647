"""Learn thresholds, weights and guidance from outcomes, under guard rails, for any type of decision.

`run` takes labelled decisions, the setting in force and its history, and returns what would change and the
record of it in seed 002's form (section 2.4 there); `rollback` goes back. A dry run is a run that nobody
stores.

**Rules of the room.**
1. Only what is clearly better is adopted: by more decisions turned right than chance would turn, and never
   more than .05 of a threshold in a run.
2. One thing at a time, threshold or weights: a change of both could not be judged, or taken back, apart.
3. A change is on probation for fifty labelled decisions and taken back if it does worse.
4. Behaviour weighs half of what words or a hand say; silence is no label.
5. Too few labels change nothing, and the reason says what is missing.
6. Where two judges disagree, the one that loses three cases of five with a sign gets a line of guidance.

**To add** a tuner for another verdict, label its decisions, say in `TuningRules` how far its threshold may
go, and give `run` a function that scores by other weights, if its weights may move.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from itertools import permutations
from typing import Final, TypeAlias

from episodic_agent.core.language import plural
from episodic_agent.data import texts
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


PARTS: Final = 20  # weights are twentieths: steps of .05

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


EVERY: Final = 100  # decisions between two runs
MOST_GUIDANCE: Final = 5  # lines; a prompt that explains everything explains nothing


@dataclass(frozen=True, slots=True)
class Tuning:
    """What a run would change: the setting to use from now on and, where it differs, the record to keep.

    `reason` says in one line what was found; `findings` are the disagreements' lessons.
    """

    setting: PolicySetting
    record: TuningRecord | None
    reason: str
    findings: tuple[TuningFinding, ...] = ()

    @property
    def changed(self) -> bool:
        """Say whether there is anything to store."""
        return self.record is not None


def run(
    decision_type: str,
    decisions: Sequence[LabelledDecision],
    setting: PolicySetting,
    at: datetime,
    *,
    history: Sequence[TuningRecord] = (),
    rules: TuningRules | None = None,
    score: Scorer | None = None,
) -> Tuning:
    """Return what to change, given every labelled decision of a type in order of time.

    A change made before is on probation first: once fifty labelled decisions are younger than it, it is kept
    or taken back, and only then is anything else tuned. `score` turns weights and features into a score;
    without it, or where the setting has no weights, only the threshold is tuned.
    """
    rules = rules or TuningRules()
    change, jury = _probation(decisions, history, rules)
    if change is not None and (verdict := _judged(change, jury, at, rules, score)) is not None:
        return replace(verdict, setting=verdict.setting if verdict.changed else setting)
    recent = list(decisions[-rules.window :])
    lacking = _lacking(recent, rules)
    learnt = findings(recent, rules)
    if lacking:
        return Tuning(setting, None, lacking, learnt)
    home = history[0].before.threshold if history else setting.threshold
    after = replace(
        setting,
        threshold=best_threshold(_scored(recent, setting, score), setting.threshold, rules, home),
        guidance=_guided(setting.guidance, learnt),
    )
    if score is not None and setting.weights is not None and after.threshold == setting.threshold:
        # one thing at a time: a change of both could not be judged, or taken back, apart
        weights = best_weights(recent, setting.weights, setting.threshold, score, rules)
        after = replace(after, weights=weights)
    if after == setting:
        return Tuning(setting, None, "nothing would be clearly better", learnt)
    before_rates = rates(_scored(recent, setting, score), setting.threshold, rules)
    after_rates = rates(_scored(recent, after, score), after.threshold, rules)
    reason = _reason(setting, after, before_rates, after_rates)
    record = TuningRecord(at, decision_type, reason, setting, after, before_rates, after_rates)
    return Tuning(after, record, reason, learnt)


def rollback(history: Sequence[TuningRecord], at: datetime) -> TuningRecord:
    """Return the record that takes the last change back; raises InvalidInput where there is none.

    Records that were taken back, and the taking back itself, do not count: asked again, it goes back further.
    """
    standing = _standing(history)
    if not standing:
        raise InvalidInput("there is no tuning to take back; `episodic tune history` shows what was tuned")
    last = standing[-1]
    reason = f"taken back by hand: the change of {last.tuning_date.date().isoformat()}"
    now, then = last.rates_after, last.rates_before
    return TuningRecord(at, last.decision_type, reason, last.after, last.before, now, then, "rollback")


def _standing(history: Sequence[TuningRecord]) -> list[TuningRecord]:
    """Return the changes that are in force, oldest first."""
    standing: list[TuningRecord] = []
    for record in history:
        if record.kind == "rollback":
            del standing[-1:]
        elif record.kind == "tuned":
            standing.append(record)
    return standing


def _moved(record: TuningRecord) -> bool:
    """Say whether a record changed how decisions are scored; guidance alone needs no probation."""
    return (record.before.threshold, record.before.weights) != (record.after.threshold, record.after.weights)


def _probation(
    decisions: Sequence[LabelledDecision], history: Sequence[TuningRecord], rules: TuningRules
) -> tuple[TuningRecord | None, list[LabelledDecision]]:
    """Return the last change while it can still be taken back, and the labelled decisions that judge it."""
    if not history or history[-1].kind != "tuned" or not _moved(history[-1]):
        return None, []
    younger = [decision for decision in decisions if decision.at > history[-1].tuning_date]
    return history[-1], younger[: rules.probation]


def _judged(
    change: TuningRecord,
    jury: Sequence[LabelledDecision],
    at: datetime,
    rules: TuningRules,
    score: Scorer | None,
) -> Tuning | None:
    """Return the verdict on a change: wait, take it back, or None to go on.

    Old and new are compared on the same decisions: harder days are no reason to go back.
    """
    if len(jury) < rules.probation:
        reason = (
            f"the last change is on probation: {len(jury)} of "
            f"{plural(rules.probation, 'labelled decision')} since"
        )
        return Tuning(change.after, None, reason)
    old = rates(_scored(jury, change.before, score), change.before.threshold, rules)
    new = rates(_scored(jury, change.after, score), change.after.threshold, rules)
    if new.accuracy >= old.accuracy:
        return None
    reason = f"taken back: accuracy {new.accuracy:.1%} against {old.accuracy:.1%} on the next {len(jury)}"
    setting = replace(change.before, guidance=change.after.guidance)
    record = TuningRecord(at, change.decision_type, reason, change.after, setting, new, old, "rollback")
    return Tuning(setting, record, reason)


def _lacking(decisions: Sequence[LabelledDecision], rules: TuningRules) -> str:
    """Say what is missing for a run, "" when nothing is."""
    positives = sum(decision.truth for decision in decisions)
    fewer = min(positives, len(decisions) - positives)
    if len(decisions) < rules.least_labelled:
        return (
            f"{plural(len(decisions), 'labelled decision is', 'labelled decisions are')} too few; "
            f"{rules.least_labelled} are needed"
        )
    if fewer < rules.least_of_each:
        return (
            f"only {plural(fewer, 'labelled decision')} of one kind; {rules.least_of_each} of each are needed"
        )
    return ""


def _scored(
    decisions: Sequence[LabelledDecision], setting: PolicySetting, score: Scorer | None
) -> list[LabelledDecision]:
    """Return decisions as a setting would score them today: older ones were scored by other weights."""
    if score is None or setting.weights is None:
        return list(decisions)
    return rescored(decisions, setting.weights, score)


def _guided(guidance: tuple[str, ...], learnt: Sequence[TuningFinding]) -> tuple[str, ...]:
    """Return the guidance with the lines of what the model loses, the latest lessons last."""
    lines = [finding.line for finding in learnt if finding.side == MODEL]
    fresh = [line for line in dict.fromkeys(lines) if line not in guidance]
    return (*guidance, *fresh)[-MOST_GUIDANCE:] if fresh else guidance


def _reason(before: PolicySetting, after: PolicySetting, old: Rates, new: Rates) -> str:
    """Return the record's sentence, about the rate that changed most."""
    answer = []
    names = {"False positive rate": "false_positive_rate", "False negative rate": "false_negative_rate"}
    by_change = sorted(names, key=lambda n: getattr(new, names[n]) - getattr(old, names[n]))
    for name in by_change[:1]:
        was, now = getattr(old, names[name]), getattr(new, names[name])
        if now < was:
            answer.append(f"{name} was {was:.0%}, reduced to {now:.0%}")
    if after.weights != before.weights:
        answer.append("weights changed")
    if after.guidance != before.guidance:
        answer.append(f"guidance added: {plural(len(after.guidance), 'line')}")
    return "; ".join(answer) or f"accuracy {old.accuracy:.1%}, now {new.accuracy:.1%}"

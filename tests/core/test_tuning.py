"""Tuning: what the grid finds, what the guard rails refuse, the record, the way back, two thousand decisions."""

import math
import random
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from episodic_agent.core.links.policies import seed_score
from episodic_agent.core.tuning import (
    LabelledDecision,
    PolicySetting,
    TuningRecord,
    TuningRules,
    best_threshold,
    best_weights,
    findings,
    rates,
    rollback,
    run,
)
from episodic_agent.errors import InvalidInput

START = datetime(2025, 11, 7, tzinfo=UTC)
CURRENT = PolicySetting(0.7)


def decision(
    score: float,
    truth: bool,
    *,
    minute: int = 0,
    strength: float = 1.0,
    features: Mapping[str, float] | None = None,
    opinion: bool | None = None,
    threshold: float = 0.7,
) -> LabelledDecision:
    verdict = score > threshold
    outcome = "CORRECT" if verdict == truth else "INCORRECT"
    at = START + timedelta(minutes=minute)
    return LabelledDecision(score, threshold, verdict, features or {}, outcome, strength, at, opinion)


def between_70_and_72() -> list[LabelledDecision]:
    """Twenty right links, eighty right refusals, and seven false positives between .70 and .72."""
    return [
        *(decision(0.75 + n / 100, True) for n in range(20)),
        *(decision(0.2 + n / 200, False) for n in range(80)),
        *(decision(0.702 + n * 0.0025, False) for n in range(7)),
    ]


def test_false_positives_between_70_and_72_move_the_threshold_to_72() -> None:
    tuning = run("link", between_70_and_72(), CURRENT, START)
    assert tuning.setting.threshold == 0.72
    assert tuning.record is not None
    assert tuning.record.as_json() == {
        "tuning_date": "2025-11-07",
        "previous_threshold": 0.7,
        "new_threshold": 0.72,
        "reason": "False positive rate was 8%, reduced to 0%",
        "metrics": {
            "accuracy_before": 0.9346,
            "accuracy_after": 1.0,
            "false_positive_rate_before": 0.0805,
            "false_positive_rate_after": 0.0,
            "false_negative_rate_before": 0.0,
            "false_negative_rate_after": 0.0,
        },
        "counts": {"labelled": 107, "positives": 20, "negatives": 87},
        "decision_type": "link",
        "kind": "tuned",
        "previous_weights": None,
        "new_weights": None,
        "guidance": [],
    }


def test_a_dry_run_is_a_run_that_nobody_stores() -> None:
    decisions = between_70_and_72()
    before = list(decisions)
    assert run("link", decisions, CURRENT, START) == run("link", decisions, CURRENT, START)
    assert decisions == before
    assert PolicySetting(0.7) == CURRENT


@pytest.mark.parametrize(
    ("decisions", "reason"),
    [
        (between_70_and_72()[:19], "19 labelled decisions are too few; 20 are needed"),
        ([decision(0.71, False)] * 30 + [decision(0.9, True)] * 4, "only 4 labelled decisions of one kind"),
    ],
)
def test_too_few_labels_change_nothing_and_say_what_is_missing(
    decisions: list[LabelledDecision], reason: str
) -> None:
    tuning = run("link", decisions, CURRENT, START)
    assert not tuning.changed
    assert tuning.setting == CURRENT
    assert tuning.reason.startswith(reason)


def test_a_run_moves_the_threshold_by_five_hundredths_at_most() -> None:
    decisions = [decision(0.85, False, minute=n) for n in range(30)] + [decision(0.95, True)] * 30
    decisions += [decision(0.745, False)] * 5
    assert run("link", decisions, CURRENT, START).setting.threshold == 0.75


def test_missed_links_lower_the_threshold_to_the_nearest_that_is_as_good() -> None:
    decisions = [decision(0.685, True)] * 8 + [decision(0.9, True)] * 20 + [decision(0.3, False)] * 20
    assert best_threshold(decisions, 0.7, TuningRules()) == 0.68


def test_costs_decide_where_errors_of_both_kinds_are_traded() -> None:
    mixed = [decision(0.71, True)] * 6 + [decision(0.715, False)] * 20 + [decision(0.9, True)] * 20
    assert best_threshold(mixed, 0.7, TuningRules()) == 0.72
    assert best_threshold(mixed, 0.7, TuningRules(false_negative_cost=5.0)) == 0.7


def test_weak_labels_weigh_half() -> None:
    decisions = [decision(0.9, True), decision(0.71, False, strength=0.5), decision(0.3, False, strength=0.5)]
    assert rates(decisions, 0.7, TuningRules()).accuracy == pytest.approx(1.5 / 2.0)
    assert rates(decisions, 0.7, TuningRules()).false_positive_rate == pytest.approx(0.5)


def test_two_errors_saved_for_one_made_are_noise_and_move_nothing() -> None:
    rest = [decision(0.9, True)] * 30 + [decision(0.3, False)] * 30
    assert (
        best_threshold([decision(0.71, False)] * 2 + [decision(0.705, True), *rest], 0.7, TuningRules())
        == 0.7
    )
    assert (
        best_threshold([decision(0.71, False)] * 3 + [decision(0.705, True), *rest], 0.7, TuningRules())
        == 0.71
    )


@given(
    st.lists(st.tuples(st.floats(0.0, 1.0), st.booleans(), st.sampled_from([0.5, 1.0])), max_size=80),
    st.integers(50, 90),
)
def test_a_new_threshold_is_in_bounds_in_reach_and_better_on_what_it_saw(
    raw: list[tuple[float, bool, float]], hundredths: int
) -> None:
    rules, current = TuningRules(), hundredths / 100
    decisions = [decision(s, t, strength=w) for s, t, w in raw]
    value = best_threshold(decisions, current, rules)
    assert rules.lowest <= value <= rules.highest
    assert abs(value - current) <= rules.largest_move + 1e-9
    if value != current:
        assert rates(decisions, value, rules).accuracy > rates(decisions, current, rules).accuracy


def test_the_same_tuner_serves_boundaries_and_chains() -> None:
    for kind in ("boundary", "chain"):
        record = run(kind, between_70_and_72(), CURRENT, START).record
        assert record is not None
        assert record.decision_type == kind


def test_other_bounds_serve_a_score_whose_threshold_lies_elsewhere() -> None:
    decisions = [decision(0.46, False)] * 9 + [decision(0.9, True)] * 20 + [decision(0.1, False)] * 20
    assert best_threshold(decisions, 0.45, TuningRules(lowest=0.25, highest=0.75)) == 0.46


def test_rules_that_contradict_themselves_are_refused() -> None:
    with pytest.raises(InvalidInput, match="lowest"):
        TuningRules(lowest=0.9, highest=0.5)
    with pytest.raises(InvalidInput, match="costs"):
        TuningRules(false_positive_cost=0.0)


# --- probation and the way back


def after_a_change(later: Sequence[LabelledDecision]) -> tuple[TuningRecord, list[LabelledDecision]]:
    first = run("link", between_70_and_72(), CURRENT, START)
    assert first.record is not None
    return first.record, [*between_70_and_72(), *later]


def later(score: float, truth: bool, count: int) -> list[LabelledDecision]:
    return [decision(score, truth, minute=n + 1, threshold=0.72) for n in range(count)]


def test_a_change_is_on_probation_for_fifty_labelled_decisions() -> None:
    record, decisions = after_a_change(later(0.705, False, 49))
    tuning = run("link", decisions, record.after, START, history=[record])
    assert not tuning.changed
    assert tuning.setting.threshold == 0.72
    assert "49 of 50" in tuning.reason


def test_a_change_that_does_worse_on_the_next_fifty_is_taken_back() -> None:
    record, decisions = after_a_change(later(0.71, True, 50))
    tuning = run("link", decisions, record.after, START, history=[record])
    assert tuning.setting.threshold == 0.7
    assert tuning.record is not None
    assert tuning.record.kind == "rollback"
    assert tuning.reason == "taken back: accuracy 0.0% against 100.0% on the next 50"


def test_a_change_that_does_well_on_the_next_fifty_stays() -> None:
    record, decisions = after_a_change(later(0.71, False, 50))
    tuning = run("link", decisions, record.after, START, history=[record])
    assert tuning.setting.threshold == 0.72
    assert tuning.record is None


def test_a_rollback_by_hand_restores_and_asked_again_goes_back_further() -> None:
    first = run("link", between_70_and_72(), CURRENT, START).record
    assert first is not None
    second = replace(first, before=first.after, after=PolicySetting(0.74))
    back = rollback([first, second], START)
    assert (back.after.threshold, back.kind) == (0.72, "rollback")
    assert rollback([first, second, back], START).after == CURRENT
    with pytest.raises(InvalidInput, match="no tuning to take back"):
        rollback([first, second, back, rollback([first, second, back], START)], START)


# --- weights


SEED_WEIGHTS = {"keyword": 0.3, "entity": 0.3, "topic": 0.2, "recency": 0.2}


def keywords_mislead(count: int) -> list[LabelledDecision]:
    """Chance words look like a link; topics tell."""
    draw = random.Random(7)
    result = []
    for n in range(count):
        truth = draw.random() < 0.5
        features = {
            "keyword": draw.uniform(0.4, 1.0),
            "entity": draw.uniform(0.5, 1.0),
            "topic": draw.uniform(0.8, 1.0) if truth else draw.uniform(0.0, 0.5),
            "recency": draw.uniform(0.5, 1.0),
        }
        result.append(decision(seed_score(SEED_WEIGHTS, features), truth, minute=n, features=features))
    return result


@pytest.mark.slow
def test_weights_move_in_twentieths_to_what_tells_and_still_sum_to_one() -> None:
    decisions = keywords_mislead(300)
    values = best_weights(decisions, SEED_WEIGHTS, 0.7, seed_score, TuningRules())
    assert values["topic"] > 0.2
    assert sum(values.values()) == pytest.approx(1.0)
    assert min(values.values()) >= 0.05
    assert all((weight * 20) == pytest.approx(round(weight * 20)) for weight in values.values())


def test_weights_are_not_tuned_below_two_hundred_labels() -> None:
    assert best_weights(keywords_mislead(199), SEED_WEIGHTS, 0.7, seed_score, TuningRules()) == SEED_WEIGHTS


@pytest.mark.slow
def test_a_run_changes_threshold_or_weights_but_never_both() -> None:
    setting = PolicySetting(0.7, SEED_WEIGHTS)
    tuning = run("link", keywords_mislead(300), setting, START, score=seed_score)
    assert tuning.record is not None
    moved = (tuning.setting.threshold != 0.7, tuning.setting.weights != SEED_WEIGHTS)
    assert sum(moved) == 1


# --- disagreements


def test_disagreements_on_temporal_markers_give_the_prompt_that_guidance() -> None:
    marked = [decision(0.8, True, features={"temporal_marker": 1.0}, opinion=False) for _ in range(6)]
    agreed = [decision(0.9, True, opinion=True)] * 20 + [decision(0.2, False, opinion=False)] * 20
    tuning = run("link", [*marked, *agreed], CURRENT, START)
    assert len(tuning.setting.guidance) == 1
    assert "temporal marker" in tuning.setting.guidance[0]
    assert "more often" in tuning.setting.guidance[0]
    assert tuning.setting.threshold == 0.7
    again = run(
        "link", [*marked, *agreed], tuning.setting, START, history=[tuning.record] if tuning.record else []
    )
    assert again.setting.guidance == tuning.setting.guidance


def test_the_side_that_loses_three_fifths_is_named() -> None:
    lost = [decision(0.8, False, features={"shared": 2.0}, opinion=False) for _ in range(4)]
    won = [decision(0.8, True, features={"shared": 1.0}, opinion=False) for _ in range(1)]
    reported_findings = findings([*lost, *won], TuningRules())
    assert [(f.side, f.feature, f.cases, f.lost) for f in reported_findings] == [
        ("algorithm", "shared", 5, 0.8)
    ]
    assert findings([*lost[:3], *won, *won], TuningRules())[0].lost == 0.6
    assert findings([*lost[:2], *won, *won], TuningRules()) == ()


# --- two thousand decisions


def normal(x: float) -> float:
    return 0.5 * (1.0 + math.erf(x / math.sqrt(2.0)))


class DriftingUser:
    """Links score around one mean, the rest around another; from decision 600 to 800 both move up."""

    spread = 0.08

    def __init__(self, seed: int, drifts: bool) -> None:
        self._draw, self._drifts = random.Random(seed), drifts

    def means(self, n: int) -> tuple[float, float]:
        moved = min(1.0, max(0.0, (n - 600) / 200)) if self._drifts else 0.0
        return 0.80 + 0.06 * moved, 0.60 + 0.12 * moved

    def accuracy(self, n: int, threshold: float) -> float:
        yes, no = self.means(n)
        return 0.5 * (1 - normal((threshold - yes) / self.spread)) + 0.5 * normal(
            (threshold - no) / self.spread
        )

    def decide(self, n: int, threshold: float) -> LabelledDecision | None:
        """Return a labelled decision in three of five cases; a weak label is wrong once in ten."""
        truth = self._draw.random() < 0.5
        score = min(1.0, max(0.0, self._draw.gauss(self.means(n)[0 if truth else 1], self.spread)))
        if self._draw.random() > 0.6:
            return None
        strength = 1.0 if self._draw.random() < 0.3 else 0.5
        seen = truth if strength == 1.0 or self._draw.random() > 0.1 else not truth
        return decision(score, seen, minute=n, strength=strength, threshold=threshold)


def lived(user: DriftingUser) -> list[float]:
    """Return the threshold in force at each of 2,000 decisions, tuned every hundred."""
    setting, history, labelled, thresholds = CURRENT, [], [], []
    for n in range(2000):
        thresholds.append(setting.threshold)
        decision = user.decide(n, setting.threshold)
        labelled += [] if decision is None else [decision]
        if n % 100 == 99:
            tuned = run("link", labelled, setting, START + timedelta(minutes=n), history=history)
            setting = tuned.setting
            history += [] if tuned.record is None else [tuned.record]
    return thresholds


@pytest.mark.parametrize("seed", range(8))
def test_accuracy_recovers_from_a_drifting_user_and_never_falls_two_points_below_the_start(seed: int) -> None:
    user = DriftingUser(seed, drifts=True)
    thresholds = lived(user)
    for begin in range(0, 2000, 200):
        block = range(begin, begin + 200)
        tuned = sum(user.accuracy(n, thresholds[n]) for n in block) / 200
        left_alone = sum(user.accuracy(n, 0.7) for n in block) / 200
        assert tuned > left_alone - 0.02
    assert user.accuracy(1999, thresholds[-1]) > user.accuracy(1999, 0.7) + 0.05
    best = max(user.accuracy(1999, t / 100) for t in range(50, 91))
    assert user.accuracy(1999, thresholds[-1]) > best - 0.05


@pytest.mark.parametrize("seed", range(8))
def test_noise_alone_does_not_walk_the_threshold(seed: int) -> None:
    user = DriftingUser(seed, drifts=False)
    thresholds = lived(user)
    assert max(abs(t - 0.7) for t in thresholds) <= 0.05 + 1e-9
    assert all(user.accuracy(n, thresholds[n]) > user.accuracy(n, 0.7) - 0.02 for n in range(0, 2000, 50))

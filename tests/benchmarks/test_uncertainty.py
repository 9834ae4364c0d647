"""Standard errors against what theory says they are, and curves of abstention against brute force."""

import math

import numpy as np
import pytest
from builders.examples import share
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import roc_auc_score

from benchmarks.abstention import false_share, kept_share, roc_area, threshold_keeping
from benchmarks.uncertainty import (
    Estimate,
    bootstrap_sums,
    by_case,
    compare_streams,
    difference_of_means,
    estimate_streams,
    mean_of_estimates,
    mean_of_sums,
)
from episodic_agent.core.evaluation.segmentation import score_stream, score_streams
from episodic_agent.errors import InvalidInput


def streams(seed: int, count: int, rate: float = 0.3) -> tuple[list[list[int]], list[list[int]]]:
    lot = np.random.default_rng(seed)
    truth = [[0, *(lot.random(14) < rate).astype(int).tolist()] for _ in range(count)]
    guess = [[0, *(int(s) if lot.random() < 0.7 else 1 - s for s in one[1:])] for one in truth]
    return truth, guess


def test_the_error_of_a_mean_is_its_spread_over_the_root_of_the_number():
    values = np.random.default_rng(1).normal(3.0, 2.0, 400)
    estimate = bootstrap_sums(by_case(values, range(400)), mean_of_sums, seed=1)
    assert estimate.value == pytest.approx(values.mean())
    assert estimate.error == pytest.approx(values.std() / 20, rel=0.1)
    assert (estimate.high - estimate.low) / estimate.error == pytest.approx(2 * 1.96, rel=0.1)


@pytest.mark.slow
def test_the_interval_covers_the_truth_about_as_often_as_it_says():
    lot = np.random.default_rng(2)
    hits = 0
    for seed in range(200):
        estimate = bootstrap_sums(
            by_case(lot.normal(0.0, 1.0, 60), range(60)), mean_of_sums, seed, rounds=300
        )
        hits += estimate.low <= 0.0 <= estimate.high
    assert 0.88 <= hits / 200 <= 0.98


def test_cases_that_belong_together_are_drawn_together():
    lot = np.random.default_rng(3)
    of_person = np.repeat(lot.normal(0.0, 1.0, 20), 50)  # fifty questions of each person, all alike
    together = bootstrap_sums(by_case(of_person, np.repeat(np.arange(20), 50).tolist()), mean_of_sums, seed=3)
    apart = bootstrap_sums(by_case(of_person, range(1000)), mean_of_sums, seed=3)
    assert together.error == pytest.approx(apart.error * math.sqrt(50), rel=0.15)


def test_a_paired_difference_is_surer_than_the_two_sides():
    lot = np.random.default_rng(4)
    hard = lot.normal(0.5, 0.3, 300)
    ours, theirs = hard + 0.05 + lot.normal(0, 0.02, 300), hard
    sides = [by_case(side, range(300)) for side in (ours, theirs)]
    estimate = bootstrap_sums(np.hstack(sides), difference_of_means, seed=4)
    assert estimate.value == pytest.approx(0.05, abs=0.01)
    assert estimate.error < bootstrap_sums(sides[0], mean_of_sums, seed=4).error / 5
    assert estimate.low > 0


def test_estimates_of_streams_are_the_figures_of_the_report():
    truth, guess = streams(5, 60)
    rows = [score_stream(*pair) for pair in zip(truth, guess, strict=True)]
    estimates = estimate_streams(rows, seed=5, empty_f1=0.0)
    report = score_streams(truth, guess, empty_f1=0.0)
    for name, estimate in estimates.items():
        assert estimate.value == pytest.approx(getattr(report, name)), name
        assert 0.0 < estimate.error < 0.1, name
        assert estimate.low < estimate.value < estimate.high, name


@pytest.mark.slow
def test_pooled_f1_is_drawn_by_dialogue_like_a_bootstrap_by_hand():
    truth, guess = streams(6, 40)
    rows = [score_stream(*pair) for pair in zip(truth, guess, strict=True)]
    lot = np.random.default_rng(6)
    by_hand = []
    for _ in range(200):
        drawn = lot.integers(0, 40, 40)
        report = score_streams([truth[n] for n in drawn], [guess[n] for n in drawn])
        by_hand.append(report.segeval_f1)
    estimate = estimate_streams(rows, seed=6, names=("segeval_f1",))["segeval_f1"]
    assert estimate.error == pytest.approx(float(np.std(by_hand)), rel=0.2)


def test_a_system_compared_with_itself_gains_nothing_for_sure():
    truth, guess = streams(7, 30)
    rows = [score_stream(*pair) for pair in zip(truth, guess, strict=True)]
    perfect = [score_stream(one, one) for one in truth]
    same = compare_streams(rows, rows, seed=7)["score"]
    assert (same.value, same.error) == (0.0, 0.0)
    better = compare_streams(perfect, rows, seed=7)["segeval_f1"]
    assert better.low > 0.0
    assert better.value == pytest.approx(1.0 - score_streams(truth, guess).segeval_f1)


def test_streams_that_do_not_pair_up_are_refused():
    row = score_stream([0, 1], [0, 0])
    with pytest.raises(InvalidInput, match="as many streams"):
        compare_streams([row], [row, row], seed=0)


def test_one_case_tells_nothing_of_its_error():
    estimate = bootstrap_sums([[0.5, 1.0]], mean_of_sums, seed=0)
    assert (estimate.value, math.isnan(estimate.error), estimate.as_json()["se"]) == (0.5, True, None)


def test_the_same_seed_gives_the_same_error_and_another_seed_about_the_same():
    cases = by_case(np.random.default_rng(8).random(100), range(100))
    estimate, two, other = (bootstrap_sums(cases, mean_of_sums, seed) for seed in (1, 1, 2))
    assert estimate == two != other
    assert estimate.error == pytest.approx(other.error, rel=0.15)


@pytest.mark.parametrize("cases", [[], [1.0, 2.0], [[]]])
def test_what_cannot_be_drawn_is_refused(cases):
    with pytest.raises((InvalidInput, IndexError)):
        bootstrap_sums(cases, mean_of_sums, seed=0)


def test_a_mean_over_sets_is_unknown_where_one_set_is():
    estimate = mean_of_estimates([Estimate(1.0, 0.1, 0.9, 1.1), Estimate(0.0, math.nan, math.nan, math.nan)])
    assert estimate.value == 0.5
    assert math.isnan(estimate.error)
    with pytest.raises(InvalidInput):
        mean_of_estimates([])


# --- abstention ---

confidences = st.lists(st.integers(0, 12).map(lambda n: n / 12), min_size=1, max_size=30)


@settings(max_examples=share(60), deadline=None, derandomize=True)
@given(confidences, confidences)
def test_the_roc_area_is_scikit_learns(surer, other):
    labels = [1] * len(surer) + [0] * len(other)
    assert roc_area(surer, other) == pytest.approx(float(roc_auc_score(labels, [*surer, *other])))


@settings(max_examples=share(200), deadline=None, derandomize=True)
@given(
    st.lists(st.tuples(st.integers(0, 9).map(float), st.sampled_from([0.0, 0.25, 1.0])), min_size=1),
    st.sampled_from([0.5, 0.8, 0.92, 1.0]),
)
def test_the_threshold_is_the_highest_that_keeps_the_recall(pairs, kept):
    sure, worth = [c for c, _ in pairs], [w for _, w in pairs]
    if not sum(worth):
        with pytest.raises(InvalidInput, match="nothing to keep"):
            threshold_keeping([(sure, worth)], kept)
        return
    value = threshold_keeping([(sure, worth)], kept)
    assert kept_share((sure, worth), value) >= kept - 1e-9
    higher = [c for c in sure if c > value]
    assert all(kept_share((sure, worth), c) < kept - 1e-9 for c in higher)


def test_sets_weigh_the_same_under_a_common_threshold_whatever_their_size():
    small, large = ([0.9], [1.0]), ([0.5] * 99, [1.0] * 99)
    assert threshold_keeping([small, large], 0.5) == 0.9
    assert threshold_keeping([small, large], 0.51) == 0.5


@pytest.mark.parametrize(
    ("sets", "kept"),
    [([], 0.9), ([([math.nan], [1.0])], 0.9), ([([0.5], [1.0])], 0.0), ([([0.5], [1.0])], 1.1)],
)
def test_a_threshold_that_cannot_be_found_is_refused(sets, kept):
    with pytest.raises(InvalidInput):
        threshold_keeping(sets, kept)


def test_a_question_without_recall_loses_nothing_by_silence():
    assert kept_share(([0.9, 0.1], [1.0, 0.0]), 0.5) == 1.0
    assert threshold_keeping([([0.9, 0.1], [1.0, 0.0])], 1.0) == 0.9
    assert math.isnan(false_share([], 0.5))
    assert false_share([0.5], 0.5) == 1.0

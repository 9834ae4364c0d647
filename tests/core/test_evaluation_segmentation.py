"""Boundary figures: equal to the two packages they claim to equal, and sensible where those give up."""

import json
import math
import random
from collections.abc import Sequence
from itertools import chain, pairwise

import numpy as np
import pytest
import segeval
from builders.examples import share
from hypothesis import given, settings
from hypothesis import strategies as st
from nltk.metrics.segmentation import pk as nltk_pk
from nltk.metrics.segmentation import windowdiff as nltk_windowdiff
from sklearn.metrics import f1_score

from episodic_agent.core.evaluation.segmentation import (
    boundary_f1,
    match_count,
    score_stream,
    score_streams,
    window_size,
)
from episodic_agent.errors import InvalidInput

RATES = (0.0, 0.02, 0.1, 0.25, 0.5, 0.9, 1.0)


def random_pair(seed: int, shortest: int = 3) -> tuple[list[int], list[int]]:
    """Two streams of one length; the first unit may be marked, which must not matter."""
    source = random.Random(seed)
    units = source.randint(shortest, 60)
    rates = source.choice(RATES), source.choice(RATES)
    reference, hypothesis = ([int(source.random() < rate) for _ in range(units)] for rate in rates)
    return reference, hypothesis


def masses(starts: Sequence[int]) -> list[int]:
    cuts = [0, *(i for i in range(1, len(starts)) if starts[i]), len(starts)]
    return [end - begin for begin, end in pairwise(cuts)]


def ends(starts: Sequence[int]) -> str:
    return "".join(map(str, [*starts[1:], 0]))


paired = st.integers(3, 80).flatmap(
    lambda n: st.tuples(*[st.lists(st.integers(0, 1), min_size=n, max_size=n)] * 2)
)


def assert_agrees_with_segeval(reference: Sequence[int], hypothesis: Sequence[int]) -> None:
    row = score_stream(reference, hypothesis)
    truth, guess = masses(reference), masses(hypothesis)
    assert window_size(reference) == segeval.compute_window_size(truth)
    assert row.segeval_pk == pytest.approx(float(segeval.pk(guess, truth)), abs=1e-12)
    assert row.segeval_wd == pytest.approx(float(segeval.window_diff(guess, truth)), abs=1e-12)


def assert_agrees_with_nltk(reference: Sequence[int], hypothesis: Sequence[int]) -> None:
    row = score_stream(reference, hypothesis)
    truth, guess = ends(reference), ends(hypothesis)
    k = max(2, round(len(truth) / (truth.count("1") + 1) / 2))
    assert row.pk == pytest.approx(nltk_pk(truth, guess, k=k), abs=1e-12)
    assert row.wd == pytest.approx(nltk_windowdiff(truth, guess, k=k), abs=1e-12)


@pytest.mark.hypothesis  # the slow suite tries all of them
def test_three_thousand_random_streams_agree_with_segeval():
    for seed in range(share(3000)):
        assert_agrees_with_segeval(*random_pair(seed))


@pytest.mark.hypothesis
def test_three_thousand_random_streams_agree_with_nltk():
    for seed in range(share(3000)):
        assert_agrees_with_nltk(*random_pair(seed, shortest=2))


def extremes(units: int) -> Sequence[tuple[list[int], list[int]]]:
    """Every pairing of no boundary, all boundaries, one at the first or last gap, and a random half."""
    source = random.Random(units)
    first, last = ([int(n == place) for n in range(units)] for place in (1, units - 1))
    some = [0, *(int(source.random() < 0.5) for _ in range(units - 1))]
    sides = [[0] * units, [1] * units, first, last, some]
    return [(one, other) for one in sides for other in sides]


@pytest.mark.slow
def test_streams_without_and_full_of_boundaries_agree_with_both_packages_at_every_length():
    for units in range(2, 42):
        for pair in extremes(units):
            assert_agrees_with_nltk(*pair)
            if units > 2:  # of two units segeval has no window: Pk is 0 and WindowDiff fails to divide
                assert_agrees_with_segeval(*pair)


def test_of_two_units_segeval_has_a_pk_of_zero_and_nothing_to_divide_by_for_windowdiff():
    for reference, hypothesis in extremes(2):
        row = score_stream(reference, hypothesis)
        truth, guess = masses(reference), masses(hypothesis)
        assert (row.segeval_pk, row.segeval_wd) == (float(segeval.pk(guess, truth)), 0.0)
        with pytest.raises(ArithmeticError):
            segeval.window_diff(guess, truth)


def test_the_random_streams_hold_the_hard_cases():
    pairs = [random_pair(seed, shortest=2) for seed in range(3000)]
    inner = [sum(side[1:]) / (len(side) - 1) for pair in pairs for side in pair]
    assert min(len(pair[0]) for pair in pairs) == 2
    assert sum(rate == 0 for rate in inner) > 500
    assert sum(rate == 1 for rate in inner) > 500
    assert sum(reference[1:] == hypothesis[1:] for reference, hypothesis in pairs) > 100


@settings(max_examples=share(200), deadline=None, derandomize=True)
@given(paired)
def test_any_pair_of_streams_agrees_with_both_packages(pair):
    assert_agrees_with_segeval(*pair)
    assert_agrees_with_nltk(*pair)


def test_a_long_stream_with_more_segments_than_small_integers_agrees_with_segeval():
    source = random.Random(5)
    reference, hypothesis = ([int(source.random() < 0.5) for _ in range(1500)] for _ in range(2))
    assert sum(reference) > 600
    assert_agrees_with_segeval(reference, hypothesis)


@pytest.mark.parametrize(
    ("units", "boundaries_at", "k"),
    [
        (10, [], 5),
        (5, [], 2),
        (7, [], 4),
        (6, [3], 2),
        (10, [5], 2),
        (14, [7], 4),
        (1, [], 2),
        (3, [1, 2], 2),
    ],
)
def test_the_window_is_half_the_mean_segment_rounded_half_to_even(units, boundaries_at, k):
    assert window_size([int(i in boundaries_at) for i in range(units)]) == k


def test_pk_and_windowdiff_of_a_shifted_boundary_match_a_count_by_hand():
    # Ends at 3 and at 4 of 8 units, k = 2. Seven windows; those starting at 2 and 4 see one side only.
    row = score_stream([0, 0, 0, 0, 1, 0, 0, 0], [0, 0, 0, 0, 0, 1, 0, 0])
    assert (row.pk, row.wd) == (2 / 7, 2 / 7)
    assert (row.segeval_pk, row.segeval_wd) == (2 / 6, 2 / 6)


def test_windowdiff_sees_a_second_boundary_that_pk_does_not():
    row = score_stream([0, 0, 1, 0, 0, 0], [0, 1, 1, 0, 0, 0])
    assert (row.pk, row.wd) == (0.0, 1 / 5)


@settings(max_examples=share(100), deadline=None, derandomize=True)
@given(paired)
def test_the_first_unit_never_counts(pair):
    reference, hypothesis = pair
    assert score_stream([0, *reference[1:]], [1, *hypothesis[1:]]) == score_stream(reference, hypothesis)


@settings(max_examples=share(100), deadline=None, derandomize=True)
@given(paired)
def test_a_stream_matches_itself_perfectly_and_every_figure_stays_in_range(pair):
    reference, hypothesis = pair
    same = score_streams([reference], [reference])
    assert (same.pk, same.wd, same.f1, same.score, same.density) == (0.0, 0.0, 1.0, 1.0, 1.0)
    other = score_streams([reference], [hypothesis])
    assert 0.0 <= other.pk <= other.wd <= 1.0
    assert 0.0 <= other.f1 <= other.f1_tol1 <= other.f1_tol2 <= 1.0
    assert 0.0 <= other.score <= 1.0


@pytest.mark.parametrize(
    ("reference", "hypothesis", "nltk_errors", "segeval_errors"),
    [
        ([0], [1], (0.0, 0.0), (0.0, 0.0)),
        ([0, 1], [0, 0], (1.0, 1.0), (0.0, 0.0)),
        ([0, 0], [0, 0], (0.0, 0.0), (0.0, 0.0)),
        ([0, 1, 1], [0, 0, 0], (1.0, 1.0), (1.0, 1.0)),
    ],
)
def test_a_stream_too_short_for_a_window_has_no_error(reference, hypothesis, nltk_errors, segeval_errors):
    row = score_stream(reference, hypothesis)
    assert (row.pk, row.wd) == nltk_errors
    assert (row.segeval_pk, row.segeval_wd) == segeval_errors


def test_f1_is_averaged_per_stream_and_pooled_for_segeval():
    reference = [[0, 1, 0, 0], [0, 1, 1, 1, 1, 1, 1, 1]]
    hypothesis = [[0, 1, 0, 0], [0, 0, 0, 0, 0, 0, 0, 1]]
    report = score_streams(reference, hypothesis)
    assert report.f1 == pytest.approx((1.0 + 0.25) / 2)
    assert report.segeval_f1 == pytest.approx(2 * 2 / (8 + 2))
    assert report.density == pytest.approx(2 / 8)


@pytest.mark.slow
def test_f1_agrees_with_scikit_learn_under_both_rules_of_averaging():
    pairs = [random_pair(seed, shortest=2) for seed in range(300)]
    reference, hypothesis = zip(*([[0, *side[1:]] for side in pair] for pair in pairs), strict=True)
    report = score_streams(reference, hypothesis, empty_f1=0.0)
    each = [f1_score(*pair, zero_division=0) for pair in zip(reference, hypothesis, strict=True)]
    assert report.f1 == pytest.approx(float(np.mean(each)))
    pooled = f1_score(list(chain.from_iterable(reference)), list(chain.from_iterable(hypothesis)))
    assert report.segeval_f1 == pytest.approx(pooled)


@pytest.mark.parametrize(
    ("hypothesis", "empty_f1", "f1"),
    [([0, 0, 0], 1.0, 1.0), ([0, 0, 0], 0.0, 0.0), ([0, 1, 0], 1.0, 0.0), ([0, 1, 0], 0.0, 0.0)],
)
def test_a_stream_without_boundaries_is_perfect_only_when_none_is_predicted(hypothesis, empty_f1, f1):
    report = score_streams([[0, 0, 0]], [hypothesis], empty_f1=empty_f1)
    assert (report.f1, report.f1_tol1, report.f1_tol2, report.segeval_f1) == (f1, f1, f1, f1)


def test_the_score_weighs_f1_as_much_as_both_errors_together():
    report = score_streams([[0, 0, 0, 1, 0, 0]], [[0, 0, 1, 1, 0, 0]])
    assert report.score == pytest.approx((2 * (2 / 3) + (1 - report.pk) + (1 - report.wd)) / 4)


def test_means_over_streams_give_each_stream_the_same_weight():
    short, long = ([0, 0, 1, 0], [0, 1, 0, 0]), ([0, *[0] * 20, 1, *[0] * 20], [0] * 42)
    report = score_streams(*zip(short, long, strict=True))
    rows = [score_stream(*short), score_stream(*long)]
    assert report.pk == pytest.approx((rows[0].pk + rows[1].pk) / 2)
    assert report.segeval_wd == pytest.approx((rows[0].segeval_wd + rows[1].segeval_wd) / 2)
    assert report.units == 46


@pytest.mark.parametrize(
    ("reference", "hypothesis", "tolerance", "pairs"),
    [
        ([], [1], 2, 0),
        ([3, 5], [4, 6], 1, 2),
        ([3, 5], [4], 1, 1),
        ([4], [3, 5], 1, 1),
        ([2, 4], [4, 6], 2, 2),
        ([2, 4], [4, 6], 1, 1),
        ([1, 2, 3], [1, 2, 3], 0, 3),
    ],
)
def test_each_boundary_has_at_most_one_partner_within_the_tolerance(reference, hypothesis, tolerance, pairs):
    assert match_count(reference, hypothesis, tolerance) == pairs


def most_pairs(left: list[int], right: list[int], tolerance: int) -> int:
    """Maximum bipartite matching by augmenting paths (Kuhn), knowing nothing of order."""
    partner: dict[int, int] = {}

    def augment(number: int, seen: set[int]) -> bool:
        for other in right:
            if abs(number - other) <= tolerance and other not in seen:
                seen.add(other)
                if other not in partner or augment(partner[other], seen):
                    partner[other] = number
                    return True
        return False

    return sum(augment(one, set()) for one in left)


positions = st.lists(st.integers(0, 25), unique=True, max_size=14).map(sorted)


@settings(max_examples=share(300), deadline=None, derandomize=True)
@given(positions, positions, st.integers(0, 4))
def test_the_matching_is_a_maximum_matching(left, right, tolerance):
    assert match_count(left, right, tolerance) == most_pairs(left, right, tolerance)


def test_predicting_nothing_and_predicting_everything_show_in_the_density():
    reference = [[0, 0, 1, 0, 0, 0], [0, 0, 0, 1, 0, 0]]
    assert score_streams(reference, [[0] * 6] * 2).density == 0.0
    assert score_streams(reference, [[1] * 6] * 2).density == 5.0


def test_an_infinite_density_becomes_null_in_json():
    report = score_streams([[0, 0, 0]], [[0, 1, 0]])
    assert math.isinf(report.density)
    assert json.loads(json.dumps(report.as_json(), allow_nan=False))["density"] is None


def test_a_report_as_json_has_the_agreed_keys_and_six_decimals():
    results = score_streams([[0, 0, 0, 1, 0, 0, 1]], [[0, 0, 1, 0, 0, 0, 1]]).as_json()
    assert list(results) == [
        "streams", "units", "pk", "wd", "f1", "f1_tol1", "f1_tol2", "score", "density", "segeval",
    ]  # fmt: skip
    assert results["segeval"] == {"pk": 0.4, "wd": 0.4, "f1": 0.5}
    assert results["pk"] == 0.333333


def test_arrays_and_tuples_score_like_lists():
    reference, hypothesis = random_pair(11)
    expected = score_streams([reference], [hypothesis])
    assert score_streams([np.array(reference)], [np.array(hypothesis, dtype=bool)]) == expected
    assert score_streams((tuple(reference),), (tuple(hypothesis),)) == expected


@pytest.mark.parametrize(
    ("reference", "hypothesis"),
    [
        ([], []),
        ([[0, 1]], []),
        ([[0, 1]], [[0, 1, 0]]),
        ([[]], [[]]),
        ([[0, 1]], [[0.2, 0.7]]),
        ([[0, 2]], [[0, 1]]),
        ([[[0], [1]]], [[0, 1]]),
    ],
)
def test_what_cannot_be_scored_is_refused(reference, hypothesis):
    with pytest.raises(InvalidInput):
        score_streams(reference, hypothesis)


def test_f1_counts_a_missing_side_as_zero():
    assert (boundary_f1(0, 3, 0), boundary_f1(0, 0, 3), boundary_f1(2, 2, 4)) == (0.0, 0.0, 2 / 3)

"""Figures of threads against examples worked out by hand."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from episodic_agent.core.evaluation.threads import (
    clusters_of,
    match_links,
    match_threads,
    one_to_one,
    scaled_variation,
    score_threads,
)
from episodic_agent.errors import InvalidInput

TRUTH = {1: "a", 2: "a", 3: "a", 4: "b", 5: "b", 6: "c"}
GUESS = {1: "x", 2: "x", 3: "y", 4: "y", 5: "y", 6: "z"}


def test_links_are_counted_as_pairs() -> None:
    overlap = match_links([(1, 1), (2, 1), (3, 2), (4, 4)], [(1, 1), (2, 1), (3, 1)])
    assert (overlap.precision, overlap.recall, overlap.f1) == (2 / 3, 2 / 4, 4 / 7)


def test_a_message_may_answer_several_and_is_found_by_any() -> None:
    overlap = match_links([(3, 1), (3, 2)], [(3, 2)])
    assert (overlap.precision, overlap.recall) == (1.0, 0.5)


def test_threads_follow_from_links_in_any_order() -> None:
    links = [(4, 3), (2, 1), (3, 1), (5, 5), (6, 5)]
    assert clusters_of([1, 2, 3, 4, 5, 6], links) == {1: 1, 2: 1, 3: 1, 4: 1, 5: 5, 6: 5}
    assert clusters_of([2, 3], [(2, 1), (3, 1)]) == {2: 2, 3: 3}  # what lies outside joins nothing


def test_variation_of_information_by_hand() -> None:
    # joint: (a,x)2 (a,y)1 (b,y)2 (c,z)1; sizes a3 b2 c1, x2 y3 z1
    unknown = (
        2 / 6 * (math.log2(3 / 2) + math.log2(2 / 2))
        + 1 / 6 * (math.log2(3 / 1) + math.log2(3 / 1))
        + 2 / 6 * (math.log2(2 / 2) + math.log2(3 / 2))
    )
    assert scaled_variation(TRUTH, GUESS) == pytest.approx(1 - unknown / math.log2(6))


def test_one_to_one_pairs_threads_for_the_greatest_overlap() -> None:
    assert one_to_one(TRUTH, GUESS) == pytest.approx(5 / 6)  # a-x 2, b-y 2, c-z 1
    greedy_fails = {n: "p" if n < 5 else "q" for n in range(8)}
    other = {n: "u" if n in (0, 1, 2, 5, 6, 7) else "v" for n in range(8)}
    assert one_to_one(greedy_fails, other) == pytest.approx(5 / 8)  # p-v 2 and q-u 3, not p-u 3 and q-v 0


def test_exact_threads_leave_single_messages_out() -> None:
    overlap = match_threads(TRUTH, {1: "x", 2: "x", 3: "x", 4: "y", 5: "z", 6: "z"})
    assert (overlap.labelled, overlap.predicted, overlap.matched) == (2, 2, 1)
    assert overlap.f1 == 0.5


def test_streams_are_pooled_by_counts_and_by_messages() -> None:
    items = ([1, 2], [(1, 1), (2, 1)], [(1, 1), (2, 1)])
    other = ([1, 2, 3, 4], [(1, 1), (2, 1), (3, 3), (4, 3)], [(1, 1), (2, 2), (3, 3), (4, 4)])
    report = score_threads([items, other])
    assert (report.links.matched, report.links.labelled) == (4, 6)
    assert report.exact.recall == pytest.approx(1 / 3)
    assert report.one_to_one == pytest.approx((2 * 1.0 + 4 * 0.5) / 6)
    assert report.scaled_vi == pytest.approx((2 * 1.0 + 4 * 0.5) / 6)
    assert report.as_json()["link_f1"] == pytest.approx(4 / 6, abs=1e-6)


CLUSTERINGS = st.integers(1, 12).flatmap(
    lambda n: st.tuples(*(st.lists(st.integers(0, 4), min_size=n, max_size=n) for _ in range(2)))
)


@given(CLUSTERINGS)
def test_figures_are_symmetric_bounded_and_perfect_only_for_the_same(
    pair: tuple[list[int], list[int]],
) -> None:
    numbers, other = (dict(enumerate(labels)) for labels in pair)
    assert scaled_variation(numbers, other) == pytest.approx(scaled_variation(other, numbers))
    assert one_to_one(numbers, other) == pytest.approx(one_to_one(other, numbers))
    assert -1e-9 <= scaled_variation(numbers, other) <= 1.0
    assert 0.0 < one_to_one(numbers, other) <= 1.0
    assert one_to_one(numbers, {key: f"n{label}" for key, label in numbers.items()}) == 1.0
    assert scaled_variation(numbers, {key: f"n{label}" for key, label in numbers.items()}) == pytest.approx(
        1.0
    )


def test_clusterings_of_different_messages_are_refused() -> None:
    with pytest.raises(InvalidInput, match="same messages"):
        one_to_one({1: "a"}, {2: "a"})
    with pytest.raises(InvalidInput, match="at least one"):
        scaled_variation({}, {})
    with pytest.raises(InvalidInput, match="at least one stream"):
        score_threads([])

"""Ranking: how far an embedder is trusted, the second round, sureness by size, and policies by name."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from episodic_agent.core.recall import (
    DEFAULT_WEIGHTS,
    RECALL_2026_12,
    WEIGHTS_2026_12,
    Candidates,
    Fused,
    Query,
    Signs,
    assess,
    diversify,
    fuse,
    measured_share,
    no_episodes,
    strangers_cosine,
    support,
    trust,
    with_replaced,
    with_second,
    with_statements,
)
from episodic_agent.core.recall.fusion import TERMS, shared_terms
from episodic_agent.core.recall.policies import FUSING, policy_name
from episodic_agent.errors import InvalidInput

PLAIN = Query("tea", "tea", ("tea",), ("tea",))
CHINESE = Query("茶", "茶", ("茶",), ("茶",), script="han")


def found(cosines: list[float], bm25: list[float] | None = None) -> Candidates:
    ids = [f"o{number:02}" for number in range(len(cosines))]
    return Candidates(ids, np.array(bm25 or [0.0] * len(cosines)), np.array(cosines))


# --- trust


def test_trust_falls_as_strangers_come_near() -> None:
    assert [round(trust(cosine), 2) for cosine in (0.1, 0.25, 0.375, 0.5, 0.7)] == [1.0, 1.0, 0.5, 0.0, 0.0]


@given(st.floats(-1, 1), st.floats(-1, 1))
def test_trust_is_a_share_and_never_rises_with_nearer_strangers(one: float, other: float) -> None:
    near, far = max(one, other), min(one, other)
    assert 0.0 <= trust(near) <= trust(far) <= 1.0


def test_the_vector_leg_is_measured_in_the_memory_not_by_the_script() -> None:
    known, unknown = found([0.1] * 15 + [0.6] * 5), found([0.6] * 15 + [0.8] * 5)
    assert measured_share(CHINESE, known) == measured_share(PLAIN, known) == DEFAULT_WEIGHTS.dense
    assert measured_share(PLAIN, unknown) == DEFAULT_WEIGHTS.dense_foreign


def test_where_strangers_cannot_be_told_the_script_decides() -> None:
    few = found([0.6] * 5)
    assert strangers_cosine(few) is None
    assert measured_share(PLAIN, few) == 0.5
    assert measured_share(CHINESE, few) == 0.2
    assert measured_share(CHINESE, found([0.1] * 30), known=False) == 0.2
    assert measured_share(CHINESE, found([0.1] * 30), WEIGHTS_2026_12) == 0.2
    assert strangers_cosine(found([float("nan")] * 30)) is None


def test_a_share_that_is_given_weighs_the_legs() -> None:
    candidates = found([0.0, 0.9], [2.0, 0.0])
    assert fuse(PLAIN, candidates, no_episodes(), share=0.1).order.tolist() == [0, 1]
    assert fuse(PLAIN, candidates, no_episodes(), share=0.9).order.tolist() == [1, 0]


def test_equal_vectors_are_duplicates_only_where_the_last_word_agrees() -> None:
    vectors = np.array([[1, 0], [1, 0], [0, 1]], np.float32)
    order = np.array([0, 1, 2])
    assert diversify(order, vectors)[0].tolist() == [0, 2, 1]
    assert diversify(order, vectors, same=lambda one, other: False)[0].tolist() == [0, 1, 2]
    assert diversify(order, vectors, same=lambda one, other: {one, other} == {0, 1})[0].tolist() == [0, 2, 1]


# --- the second round


def test_rare_words_of_the_first_hits_lead_on_and_common_own_and_lonely_ones_do_not() -> None:
    hits = [(1.0, {"porto": 1, "trip": 1, "day": 1, "alone": 1}), (0.5, {"porto": 1, "hotel": 1})]
    weights = shared_terms(hits, {"porto": 3, "trip": 9, "day": 95, "alone": 1, "hotel": 3}, 100, {"trip"})
    assert set(weights) == {"porto", "day", "hotel"}
    assert weights["porto"] > weights["hotel"] > weights["day"]


def test_no_more_than_a_few_terms_are_looked_for() -> None:
    counts = {f"t{n:03}": 1 for n in range(100)}
    assert len(shared_terms([(1.0, counts)], dict.fromkeys(counts, 2), 1000, ())) == TERMS
    assert shared_terms([], {}, 10, ()) == {}
    assert shared_terms([(0.0, counts)], dict.fromkeys(counts, 2), 1000, ()) == {}


UNIT = st.floats(0, 1, allow_nan=False)


@given(st.lists(st.tuples(UNIT, UNIT), min_size=1, max_size=8))
def test_a_second_round_keeps_scores_in_bounds_and_only_lifts(pairs: list[tuple[float, float]]) -> None:
    scores, shared = (np.array(side) for side in zip(*pairs, strict=True))
    ids = [f"o{n}" for n in range(len(pairs))]
    first = Fused(scores, np.lexsort((ids, -scores)), {"lexical": scores})
    second = with_second(first, shared, ids, DEFAULT_WEIGHTS)
    assert ((second.scores >= 0) & (second.scores <= 1)).all()
    gained = second.scores * (1 + DEFAULT_WEIGHTS.second) - scores
    assert (gained >= -1e-9).all()
    assert (gained <= DEFAULT_WEIGHTS.second * scores.max() + 1e-9).all()


def test_nothing_shared_changes_nothing() -> None:
    first = Fused(np.array([0.2, 0.4]), np.array([1, 0]), {"lexical": np.array([0.2, 0.4])})
    assert with_second(first, np.zeros(2), ("a", "b"), DEFAULT_WEIGHTS) is first


@given(st.lists(st.tuples(UNIT, UNIT), min_size=1, max_size=8))
def test_statements_are_lifted_by_their_likelihood_and_nothing_else_moves(
    pairs: list[tuple[float, float]],
) -> None:
    scores, stating = (np.array(side) for side in zip(*pairs, strict=True))
    ids = [f"o{n}" for n in range(len(pairs))]
    first = Fused(scores, np.lexsort((ids, -scores)), {"lexical": scores})
    lifted = with_statements(first, stating, ids, DEFAULT_WEIGHTS)
    weight = DEFAULT_WEIGHTS.states
    assert np.allclose(lifted.scores, scores * (1 + weight * stating) / (1 + weight))


# --- how sure


@given(
    scores=st.lists(st.floats(0, 1), min_size=4, max_size=8),
    pairs=st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), max_size=4),
)
@example(scores=[0.0, 1.0, 0.0, 0.0], pairs=[(0, 1), (1, 2)])
def test_what_took_the_place_of_a_hit_stands_there_and_nothing_else_moves(
    scores: list[float], pairs: list[tuple[int, int]]
) -> None:
    newest_first = sorted({(old, new) for old, new in pairs if old < new}, reverse=True)
    first = Fused(np.array(scores), np.argsort(scores)[::-1], {"lexical": np.array(scores)})
    ids = [str(n) for n in range(len(scores))]
    moved = with_replaced(first, [(old, [new]) for old, new in newest_first], ids)
    summed = sum(moved.legs.values())
    replaced = {old for old, _ in newest_first}
    for old, new in newest_first:
        assert summed[old] <= summed[new]
        # what was itself replaced stands behind what took its place
        assert summed[new] >= scores[new] or new in replaced
    still = [n for n in range(len(scores)) if n not in {one for pair in newest_first for one in pair}]
    assert summed[still] == pytest.approx(np.array(scores)[still])
    assert moved.scores.min() >= 0


def test_what_changed_twice_is_told_where_it_was_told_first() -> None:
    scores = np.array([0.9, 0.1, 0.2, 0.5])
    first = Fused(scores, np.array([0, 3, 2, 1]), {"lexical": scores})
    moved = with_replaced(first, [(1, [2]), (0, [1])], list("abcd"))
    assert moved.order.tolist() == [2, 1, 0, 3]


def test_a_share_of_bigrams_says_less_in_a_large_memory() -> None:
    small, large = (support(Signs(0.2, bigrams=True, documents=count)) for count in (10, 10_000))
    assert small > large
    assert support(Signs(0.05, bigrams=True, documents=500)) < support(
        Signs(0.5, bigrams=True, documents=500)
    )


def test_a_narrow_filter_speaks_for_an_answer_and_a_wide_one_does_not() -> None:
    def sure(candidates: Candidates, *, filtered: bool) -> float:
        fused = fuse(PLAIN, candidates, no_episodes())
        return assess(PLAIN, candidates, fused, 4.0, filtered=filtered).answerable

    few, many = found([0.3, 0.1], [1.0, 0.0]), found([0.3] + [0.1] * 29, [1.0] + [0.0] * 29)
    assert sure(few, filtered=True) > sure(few, filtered=False)
    assert sure(many, filtered=True) == sure(many, filtered=False)


def test_cosines_are_not_asked_where_strangers_are_near() -> None:
    candidates = found([0.9] + [0.5] * 29)
    fused = fuse(PLAIN, candidates, no_episodes())
    near = assess(PLAIN, candidates, fused, 4.0, share=0.2).answerable
    assert near < assess(PLAIN, candidates, fused, 4.0, share=0.5).answerable


# --- policies


def test_default_is_the_newest_and_the_older_stays_by_name() -> None:
    assert [policy_name(name) for name in ("default", "recall-2026-12", "rrf-decay")] == [
        "recall-2027-01",
        "recall-2026-12",
        "seed-003",
    ]
    with pytest.raises(InvalidInput, match="no recall policy 'newest'; there are default, recall-2027-01"):
        policy_name("newest")


def test_the_older_policy_has_one_round_its_threshold_and_its_weights() -> None:
    older = FUSING["recall-2026-12"]
    assert older is RECALL_2026_12
    assert (older.rounds, older.threshold, older.measured) == (1, 0.2, False)
    assert older.weights == replace(
        DEFAULT_WEIGHTS, known_below=0.0, foreign_from=0.0, second=0.0, states=0.0, order=0.5, occasions=False
    )

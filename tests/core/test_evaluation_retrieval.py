"""Ranking, abstention and interval figures, against hand counts and a second way of computing them."""

import json
import math

import numpy as np
import pytest
from builders.examples import share
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import ndcg_score

from episodic_agent.core.evaluation.retrieval import (
    METRICS,
    QuestionResult,
    evidence_ranks,
    false_recall_at,
    question_metrics,
    rounded,
    score_abstention,
    score_by_type,
    score_questions,
)
from episodic_agent.errors import InvalidInput

TWENTY = [f"m{i}" for i in range(20)]

answered = st.builds(
    QuestionResult,
    ranked=st.lists(st.integers(0, 60), max_size=60),
    evidence=st.sets(st.integers(0, 70), min_size=1, max_size=8),
)


@pytest.mark.parametrize(
    ("evidence", "metric", "value"),
    [
        ({"m0"}, "recall@1", 1.0),
        ({"m1"}, "recall@1", 0.0),
        ({"m0", "m4", "m9", "gone"}, "recall@3", 0.25),
        ({"m0", "m4", "m9", "gone"}, "recall@5", 0.5),
        ({"m0", "m4", "m9", "gone"}, "recall@10", 0.75),
        ({"m0", "m4", "m9", "gone"}, "recall@50", 0.75),
        ({"m0", "m1"}, "recall@1", 0.5),
        ({"m4", "gone"}, "any@3", 0.0),
        ({"m4", "gone"}, "any@5", 1.0),
        ({"m4", "gone"}, "all@50", 0.0),
        ({"m4", "m9"}, "all@5", 0.0),
        ({"m4", "m9"}, "all@10", 1.0),
        ({"m2", "m4"}, "mrr", 1 / 3),
        ({"gone"}, "mrr", 0.0),
        ({"m1"}, "ndcg@5", 1 / math.log2(3)),
        ({"m5"}, "ndcg@5", 0.0),
        ({"m5"}, "ndcg@10", 1 / math.log2(7)),
        ({"m0", "m1"}, "ndcg@5", 1.0),
        ({"m1", "m2"}, "ndcg@5", (1 / math.log2(3) + 1 / 2) / (1 + 1 / math.log2(3))),
    ],
)
def test_one_question_scores_as_counted_by_hand(evidence, metric, value):
    assert question_metrics(QuestionResult(TWENTY, evidence))[metric] == pytest.approx(value)


def test_ndcg_of_more_evidence_than_places_can_still_be_perfect():
    row = question_metrics(QuestionResult(TWENTY, set(TWENTY[:8])))
    assert row["ndcg@5"] == 1.0
    assert row["recall@5"] == 5 / 8


@settings(max_examples=share(100), deadline=None, derandomize=True)
@given(st.permutations(list(range(30))), st.sets(st.integers(0, 29), min_size=1, max_size=12))
def test_ndcg_agrees_with_scikit_learn(order, evidence):
    relevance = [[float(item in evidence) for item in order]]
    descending = [list(range(len(order), 0, -1))]
    row = question_metrics(QuestionResult(order, evidence))
    for k in (5, 10):
        assert row[f"ndcg@{k}"] == pytest.approx(ndcg_score(relevance, descending, k=k))


@settings(max_examples=share(100), deadline=None, derandomize=True)
@given(answered)
def test_figures_stay_in_range_and_never_fall_as_k_grows(result):
    row = question_metrics(result)
    assert tuple(row) == METRICS
    assert all(0.0 <= value <= 1.0 + 1e-12 for value in row.values())
    for name in ("recall", "any", "all"):
        values = [row[f"{name}@{k}"] for k in (1, 3, 5, 10, 25, 50)]
        assert values == sorted(values)
    assert all(row[f"all@{k}"] <= row[f"recall@{k}"] <= row[f"any@{k}"] for k in (1, 3, 5, 10, 25, 50))


def test_a_repeated_id_counts_once_at_its_first_place():
    assert evidence_ranks(["s1", "s1", "s1", "s2", "s2"], ["s2", "s2"]) == [2]
    row = question_metrics(QuestionResult(["s1", "s1", "s1", "s2"], ["s2", "s2"]))
    assert (row["recall@3"], row["all@3"], row["mrr"]) == (1.0, 1.0, 0.5)


def test_nothing_found_scores_zero_everywhere():
    assert set(question_metrics(QuestionResult([], {"a"})).values()) == {0.0}


def test_questions_without_evidence_do_not_enter_the_means():
    result, unanswerable = QuestionResult(["a"], {"a"}), QuestionResult(["a"], [])
    report = score_questions([result, unanswerable, unanswerable])
    assert report.questions == 1
    assert report.values["recall@1"] == 1.0


def test_each_question_weighs_the_same_however_much_evidence_it_has():
    many, result = QuestionResult(TWENTY, {"m0", "x", "y", "z"}), QuestionResult(TWENTY, {"m0"})
    assert score_questions([many, result]).values["recall@10"] == pytest.approx((0.25 + 1.0) / 2)


def test_a_report_without_answerable_questions_is_null_not_zero():
    results = score_questions([QuestionResult(["a"], [])]).as_json()
    assert results == {"questions": 0, **dict.fromkeys(METRICS)}


def test_a_report_as_json_names_every_metric_with_six_decimals():
    results = score_questions(
        [QuestionResult(TWENTY, {"m2"}), QuestionResult(TWENTY, {"m2", "x", "y"})]
    ).as_json()
    assert tuple(results) == ("questions", *METRICS)
    assert (results["recall@1"], results["recall@3"], results["mrr"]) == (0.0, 0.666667, 0.333333)
    assert json.loads(json.dumps(results, allow_nan=False)) == results


def test_types_are_scored_apart_and_types_without_evidence_are_left_out():
    results = [
        QuestionResult(["a"], {"a"}, "when"),
        QuestionResult(["a"], {"b"}, "when"),
        QuestionResult(["a"], {"a"}, "how many"),
        QuestionResult(["a"], [], "abstention"),
    ]
    reports = score_by_type(results)
    assert [(name, r.questions, r.values["recall@1"]) for name, r in reports.items()] == [
        ("how many", 1, 1.0),
        ("when", 2, 0.5),
    ]


def judged(confidence: float, *, evidence: bool, abstained: bool = False) -> QuestionResult:
    return QuestionResult(["a"], ["a"] if evidence else [], "", abstained, confidence)


def test_abstention_counts_wrong_silence_and_false_recall_apart():
    results = [
        *(judged(0.9, evidence=True, abstained=i < 1) for i in range(4)),
        *(judged(0.1, evidence=False, abstained=i < 3) for i in range(5)),
    ]
    report = score_abstention(results)
    assert (report.answerable, report.unanswerable) == (4, 5)
    assert report.false_recall == pytest.approx(2 / 5)
    assert report.wrong_abstention == pytest.approx(1 / 4)
    assert report.false_recall_at == {0.9: 0.0, 0.8: 0.0}


def test_false_recall_at_a_fixed_recall_reads_the_threshold_off_the_answerable():
    # Ten answerable at 1.0, 0.9 .. 0.1: keeping nine asks for 0.2, keeping eight for 0.3.
    answerable = [judged(i / 10, evidence=True) for i in range(1, 11)]
    unanswerable = [judged(c, evidence=False) for c in (0.05, 0.2, 0.25, 0.3)]
    assert score_abstention(answerable + unanswerable).as_json() == {
        "answerable": 10,
        "unanswerable": 4,
        "false_recall": 1.0,
        "wrong_abstention": 0.0,
        "false_recall@0.9": 0.75,
        "false_recall@0.8": 0.25,
    }


@pytest.mark.parametrize(
    ("answerable", "unanswerable", "kept", "rate"),
    [
        ([0.5] * 10, [0.5, 0.4], 0.5, 0.5),
        ([0.5], [0.5, 0.6], 0.01, 1.0),
        ([0.9, 0.1], [0.5], 1.0, 1.0),
        ([0.9, 0.1], [0.5], 0.5, 0.0),
        ([i / 10 for i in range(1, 11)], [0.35], 0.7, 0.0),
        (list(range(1, 101)), [45.5], 0.55, 0.0),
        (list(range(1, 101)), [45.5], 0.56, 1.0),
    ],
)
def test_equal_confidences_fall_on_one_side_and_shares_round_up_to_whole_questions(
    answerable, unanswerable, kept, rate
):
    assert false_recall_at(answerable, unanswerable, kept) == rate


confidences = st.lists(st.floats(-5, 5), min_size=1, max_size=20)


@settings(max_examples=share(100), deadline=None, derandomize=True)
@given(confidences, confidences, st.sampled_from([0.5, 0.8, 0.9, 1.0]))
def test_the_threshold_equals_the_best_one_of_a_full_sweep(answerable, unanswerable, kept):
    rates = [
        np.mean([c >= threshold for c in unanswerable])
        for threshold in answerable
        if np.mean([c >= threshold for c in answerable]) >= kept - 1e-9
    ]
    assert false_recall_at(answerable, unanswerable, kept) == pytest.approx(min(rates))


def test_a_kind_of_question_that_is_absent_gives_null_not_zero():
    only_answerable = score_abstention([judged(0.5, evidence=True)]).as_json()
    assert (only_answerable["false_recall"], only_answerable["false_recall@0.9"]) == (None, None)
    assert only_answerable["wrong_abstention"] == 0.0
    assert score_abstention([]).as_json()["wrong_abstention"] is None


@pytest.mark.parametrize(
    "call",
    [
        lambda: question_metrics(QuestionResult(["a"], [])),
        lambda: false_recall_at([0.5], [0.5], 0.0),
        lambda: false_recall_at([0.5], [0.5], 1.1),
        lambda: score_abstention([judged(math.nan, evidence=True)]),
    ],
)
def test_what_cannot_be_scored_is_refused(call):
    with pytest.raises(InvalidInput):
        call()


@pytest.mark.parametrize(
    ("value", "shown"), [(1 / 3, 0.333333), (math.nan, None), (-math.inf, None), (2, 2.0)]
)
def test_a_report_holds_only_numbers_json_can_say(value, shown):
    assert rounded(value) == shown

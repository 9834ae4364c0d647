"""The score of mentions: exact and overlapping spans, a label's second kind, optional labels."""

import pytest

from benchmarks.entity_quality import Labels, MentionScore, score_mentions

LABELS = Labels(
    spans=((0, 8, "place"), (10, 14, "organisation"), (20, 25, "time")),
    also={(10, 14, "organisation"): "product"},
    optional=((30, 35, "place"),),
)


def test_all_right_is_one() -> None:
    scores = score_mentions([(LABELS, LABELS.spans)])
    assert {kind: score.f1 for kind, score in scores.items()} == {
        "all": 1,
        "organisation": 1,
        "place": 1,
        "time": 1,
    }


def test_nothing_found_is_nothing_and_divides_by_nothing() -> None:
    score = score_mentions([(LABELS, [])])["all"]
    assert (score.precision, score.recall, score.f1) == (0.0, 0.0, 0.0)
    assert score_mentions([])["all"] == MentionScore()


def test_a_span_that_only_overlaps_is_a_hit_only_where_overlap_is_asked_for() -> None:
    predicted = [(0, 7, "place")]
    assert score_mentions([(LABELS, predicted)])["place"] == MentionScore(0, 1, 1)
    assert score_mentions([(LABELS, predicted)], exact=False)["place"] == MentionScore(1, 0, 0)


def test_the_kind_must_agree_or_be_the_one_the_label_allows() -> None:
    assert score_mentions([(LABELS, [(10, 14, "product")])])["organisation"].hits == 1
    assert score_mentions([(LABELS, [(10, 14, "place")])])["all"] == MentionScore(0, 3, 1)


def test_a_prediction_on_an_optional_label_counts_neither_way() -> None:
    assert score_mentions([(LABELS, [(31, 33, "person")])])["all"].wrong == 0
    assert score_mentions([(LABELS, [(36, 38, "person")])])["all"].wrong == 1


def test_one_prediction_satisfies_one_label_only() -> None:
    labels = Labels(((0, 5, "place"), (6, 10, "place")), {})
    assert score_mentions([(labels, [(0, 10, "place")])], exact=False)["place"] == MentionScore(1, 1, 0)


def test_texts_are_pooled() -> None:
    score = score_mentions([(LABELS, LABELS.spans), (LABELS, [])])["all"]
    assert (score.hits, score.missed) == (3, 3)
    assert score.as_json()["f1"] == pytest.approx(2 / 3, abs=1e-6)
    assert score.as_json()["labels"] == 6

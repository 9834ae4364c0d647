"""What words change in their conversation: the judge's features, and what it is asked with."""

from datetime import UTC, datetime, timedelta

import numpy as np
import pytest

from episodic_agent.core.facts.changing import SpokenBefore, SpokenNow, features, likelihoods
from episodic_agent.core.facts.replacing import JudgedStatement
from episodic_agent.schemas import Vector
from episodic_agent.schemas.facts import Category

AT = datetime(2026, 3, 2, tzinfo=UTC)
EAST, NORTH = np.eye(384, dtype=np.float32)[:2]


def statement(text: str, vector: Vector | None, day: int = 0) -> JudgedStatement:
    return JudgedStatement(text, AT + timedelta(days=day), Category.EXPERIENCE, vector)


RENT = SpokenBefore(statement("the rent is €650", EAST), "jo", same_sitting=False)
SISTER = SpokenBefore(statement("my sister lives in Bonn", NORTH), "ana", same_sitting=True)


def test_each_is_judged_beside_its_rivals() -> None:
    now = SpokenNow(statement("€700 from March", EAST, 3), "jo", ["the landlord rang about the rent"])
    row = features(now, [RENT, SISTER])
    assert row["near"].tolist() == [1.0, 0.0]
    assert row["near, margin"].tolist() == [1.0, -1.0]
    assert row["near, best"].tolist() == [1.0, 0.0]
    assert row["shared in talk"][0] > row["shared"].max() == row["shared in talk"][1] == 0
    assert row["both money"].tolist() == [1.0, 0.0]
    assert row["same speaker"].tolist() == [1.0, 0.0]
    assert row["same sitting"].tolist() == [0.0, 1.0]


def test_what_was_said_just_before_counts_most() -> None:
    spoken = statement("700 now", EAST + NORTH, 3)
    for vectors, nearer in (((EAST, NORTH), 1), ((NORTH, EAST), 0)):
        row = features(SpokenNow(spoken, "jo", ["a", "b"], vectors, 2), [RENT, SISTER])
        assert int(row["talk near"].argmax()) == nearer


def test_a_likelihood_is_given_for_each_and_the_best_for_its_own_matter() -> None:
    now = SpokenNow(statement("the rent is 700 euros now", EAST, 3), "jo")
    first, second = likelihoods(now, [RENT, SISTER])
    assert 0.0 <= second < first <= 1.0
    assert likelihoods(now, [SISTER, RENT]) == pytest.approx([second, first])
    assert likelihoods(now, []) == []


def test_what_has_no_vector_is_named() -> None:
    now = SpokenNow(statement("the rent is 700 euros now", None), "jo")
    with pytest.raises(ValueError, match="no vector of 'the rent is 700 euros now'"):
        likelihoods(now, [RENT])

"""Links that learn, through the engine: a short life, and two thousand links of users who drift."""

import pytest

from benchmarks.tuning_simulation import BLOCK, USERS, User, live, printed


def test_a_life_is_lived_through_the_engine() -> None:
    results = live(USERS[-1], 0, links=30)
    assert results["labelled"] > 10
    assert results["wrong_labels"] < results["labelled"] / 3
    assert (results["thresholds"], results["changes"], len(results["accuracy"])) == ([0.7], 0, 1)
    row = {**results, "lives": 1}
    assert printed("stays", row).count("\n") == 2


@pytest.mark.slow
@pytest.mark.parametrize("user", USERS[:1], ids=lambda user: user.name)
def test_accuracy_recovers_from_a_drift_and_is_never_two_points_below_no_tuning(user: User) -> None:
    results = live(user, 1)
    assert len(results["accuracy"]) == 2000 // BLOCK
    assert results["worst_below_untuned"] < 0.02
    assert results["end"] > results["end_best"] - 0.05
    assert results["end"] > results["end_untuned"] + 0.05

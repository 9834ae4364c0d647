"""Links that learn, through the engine: a short life, and two thousand links of users who drift."""

import pytest

from benchmarks.tuning_simulation import BLOCK, USERS, User, live, printed


def test_a_life_is_lived_through_the_engine() -> None:
    found = live(USERS[-1], 0, links=30)
    assert found["labelled"] > 10
    assert found["wrong_labels"] < found["labelled"] / 3
    assert (found["thresholds"], found["changes"], len(found["accuracy"])) == ([0.7], 0, 1)
    row = {**found, "lives": 1}
    assert printed("stays", row).count("\n") == 2


@pytest.mark.slow
@pytest.mark.parametrize("user", USERS[:2], ids=lambda user: user.name)
def test_accuracy_recovers_from_a_drift_and_is_never_two_points_below_no_tuning(user: User) -> None:
    found = live(user, 1)
    assert len(found["accuracy"]) == 2000 // BLOCK
    assert found["worst_below_untuned"] < 0.02
    assert found["end"] > found["end_best"] - 0.05
    assert found["end"] > found["end_untuned"] + 0.05

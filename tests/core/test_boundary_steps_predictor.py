"""The built-in predictor: what surprises in a place, and what no longer does."""

import json
from collections.abc import Sequence

import pytest
from builders.steps import step
from hypothesis import given
from hypothesis import strategies as st

from episodic_agent.core.boundary.contract import Arrival
from episodic_agent.core.boundary.machine import run
from episodic_agent.core.boundary.policies import policy
from episodic_agent.core.boundary.steps.predictor import (
    Expectations,
    learn,
    look,
    pack_expectations,
    predict,
    unpack_expectations,
)
from episodic_agent.schemas import Json

MUG, CAT, DOOR = "mug", "cat", {"guid": "door", "state": "shut"}
OPEN_DOOR = {"guid": "door", "state": "open"}


def visited(looks: Sequence[Sequence[Json]], place: str | None = "kitchen") -> Expectations:
    known = Expectations()
    for entities in looks:
        known = learn(known, place, look({"entities": entities}))
    return known


def error(known: Expectations, entities: Sequence[Json], place: str | None = "kitchen") -> float:
    return predict(known, place, look({"entities": entities}))


KNOWN = visited([[MUG, CAT, DOOR]] * 15)


@pytest.mark.parametrize(
    ("entities", "least", "most"),
    [
        ([MUG, CAT, DOOR], 0.0, 0.0),
        ([DOOR, CAT, MUG], 0.0, 0.0),
        ([CAT, DOOR], 0.9, 1.0),
        ([MUG, CAT, DOOR, "dog"], 0.45, 0.5),
        ([MUG, CAT, OPEN_DOOR], 0.5, 0.6),
        ([MUG, CAT, OPEN_DOOR, "dog"], 0.7, 0.8),
        ([], 0.99, 1.0),
    ],
)
def test_what_is_missing_unexpected_or_changed_surprises(
    entities: Sequence[Json], least: float, most: float
) -> None:
    assert least <= error(KNOWN, entities) <= most


def test_nothing_surprises_in_a_place_that_is_new_or_still_being_explored() -> None:
    assert error(KNOWN, [CAT], "hall") == 0.0
    exploring = visited([[f"thing {n}"] for n in range(10)])
    assert error(exploring, ["thing 99"]) == 0.0


def test_the_same_loss_surprises_once_not_for_ever() -> None:
    known, errors = KNOWN, []
    for _ in range(4):
        errors.append(error(known, [MUG, DOOR]))
        known = learn(known, "kitchen", look({"entities": [MUG, DOOR]}))
    assert errors[0] > 0.9
    assert errors[1:] == [0.0, 0.0, 0.0]


def test_a_place_is_remembered_while_the_agent_is_elsewhere() -> None:
    known = KNOWN
    for _ in range(30):
        known = learn(known, "Hall", look({"entities": ["lamp"]}))
    assert error(known, [MUG, CAT], " KITCHEN ") > 0.9


def test_things_that_come_and_go_are_not_expected() -> None:
    known = visited([[MUG, CAT] if n % 2 else [MUG] for n in range(20)])
    assert error(known, [MUG]) < 0.5


def test_what_cannot_be_seen_and_what_is_no_entity_is_left_out() -> None:
    assert look({}) is None
    assert look({"entities": "mug"}) is None
    assert look({"objects": ["mug"]}) is None
    assert look({"entities": [None, {"state": "open"}, {"label": "cat", "is_visible": False}]}) == {}
    assert look({"entities": []}) == {}


def test_steps_without_entities_are_never_surprising() -> None:
    rules = policy("steps")
    done = run(rules.begin(), [Arrival(step(n, "A"), None) for n in range(30)], rules)
    assert {record.surprise for record in done.records} == {0.0}


def test_the_factor_lives_in_the_default_and_a_steps_own_error_goes_first() -> None:
    calm = [step(n, entities=[MUG, CAT]) for n in range(12)]
    odd = [step(12, entities=["dog"]), step(13, entities=["dog"], error=0.25)]
    rules = policy("steps-2026-12")
    records = run(rules.begin(), [Arrival(one, None) for one in [*calm, *odd]], rules).records
    assert records[12].cues["prediction"] > 0.27
    assert records[13].surprise == 0.25
    silent = policy("steps-2026-12", predict=0)
    without = run(silent.begin(), [Arrival(one, None) for one in [*calm, *odd]], silent).records
    assert without[12].cues["prediction"] == 0.0


entities = st.lists(
    st.one_of(st.sampled_from([MUG, CAT, DOOR, OPEN_DOOR]), st.integers(0, 60).map("thing {}".format)),
    max_size=9,
)


@given(st.lists(st.tuples(st.sampled_from(["A", "B", None, *map(str, range(20))]), entities), max_size=60))
def test_errors_stay_in_their_range_and_packing_is_exact_and_small(
    walk: list[tuple[str | None, list[Json]]],
) -> None:
    known = Expectations()
    for place, seen in walk:
        assert 0.0 <= error(known, seen, place) <= 1.0
        known = learn(known, place, look({"entities": seen}))
    packed = json.dumps(pack_expectations(known))
    assert unpack_expectations(json.loads(packed)) == known
    assert len(packed) < 9_000
    assert len(known.rooms) <= 12

"""Perception: what changed between two readings, and what a step says."""

import json
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from episodic_agent.agents.perception.changes import World, perceive
from episodic_agent.agents.perception.records import reading_as_json, reading_from_json
from episodic_agent.core.ingest import read_item
from episodic_agent.errors import InvalidInput
from episodic_agent.schemas import Entity, Json, Kind, Reading

MUG, DOOR = Entity("m1", "mug"), Entity("d1", "door", "door", "closed")


def steps(*readings: Reading) -> list[dict[str, Json]]:
    world, answer = World(), []
    for reading in readings:
        world, step = perceive(world, reading)
        answer.append(step)
    return answer


def kinds(step: dict[str, Json]) -> list[str]:
    return [f"{e['type']} {e['entity']}" for e in step["events"]]  # type: ignore[index, call-overload, union-attr]


def test_coming_into_a_room_is_no_appearance_of_everything_in_it() -> None:
    answers = steps(Reading(0, place="hall"), Reading(1, place="kitchen", entities=(MUG, DOOR)))
    assert kinds(answers[1]) == []


def test_what_comes_and_goes_within_a_stay_is_told() -> None:
    answers = steps(
        Reading(0, place="kitchen", entities=(DOOR,)),
        Reading(1, place="Kitchen ", entities=(DOOR, MUG)),
        Reading(2, place="kitchen", entities=(DOOR,)),
    )
    assert [kinds(step) for step in answers] == [[], ["appearance mug"], ["disappearance mug"]]
    assert answers[2]["text"] == "In the kitchen: the mug disappeared"


def test_a_thing_that_flickers_is_one_event_of_the_stay() -> None:
    flicker = [Reading(n, place="kitchen", entities=(MUG,) if n % 2 else ()) for n in range(6)]
    answers = steps(*flicker)
    ids = {e["id"] for step in answers for e in step["events"] if e["type"] == "appearance"}  # type: ignore[index, call-overload, union-attr]
    assert ids == {"appearance:m1:1"}


def test_a_changed_state_is_told_wherever_it_is_noticed() -> None:
    answers = steps(
        Reading(0, place="hall", entities=(DOOR,)),
        Reading(1, place="kitchen", entities=(Entity("d1", "door", "door", "open"),), action="go in"),
    )
    assert kinds(answers[1]) == ["state_change door"]
    assert answers[1]["text"] == "In the kitchen: go in; the door is open"


def test_a_change_the_sensor_reports_is_not_told_twice() -> None:
    reported: dict[str, Json] = {"type": "state_change", "entity": "door", "entity_id": "d1", "new": "open"}
    answers = steps(
        Reading(0, place="hall", entities=(DOOR,)),
        Reading(1, place="hall", entities=(Entity("d1", "door", "door", "open"),), changes=(reported,)),
    )
    assert kinds(answers[1]) == ["state_change door"]


def test_a_new_world_remembers_no_state_of_the_old_one() -> None:
    answers = steps(
        Reading(0, place="hall", entities=(DOOR, MUG)),
        Reading(1, place="hall", entities=(Entity("d1", "door", "door", "open"),), restarts=True),
    )
    assert kinds(answers[1]) == []


def test_a_step_is_accepted_as_an_observation_with_all_it_knows() -> None:
    at = datetime(2026, 3, 1, 9, tzinfo=UTC)
    (step,) = steps(
        Reading(7, at, "kitchen", 0.8, (MUG,), action="open fridge", prediction_error=0.4, extras={"x": 1})
    )
    item = read_item(step)
    assert (item.kind, item.actor, item.at, item.location, item.location_confidence) == (
        Kind.STEP, "agent", at, "kitchen", 0.8,
    )  # fmt: skip
    assert item.text == "In the kitchen: open fridge"
    assert item.prediction_error == 0.4
    assert (item.extras["x"], item.extras["frame"], item.extras["action"]) == (1, 7, "open fridge")
    assert item.extras["entities"] == [{"id": "m1", "label": "mug"}]


def test_a_reading_in_which_nothing_is_known_still_says_something() -> None:
    for blank in ("", " ", "\r"):
        assert read_item(steps(Reading(0, text=blank))[0]).text == "Nothing happens"
    assert read_item(steps(Reading(0, place="hall", text=" "))[0]).text == "In the hall"


names = st.text(min_size=1, max_size=8).map(str.strip).filter(bool)
entities = st.builds(
    Entity, id=names, label=names, category=st.text(max_size=4), state=st.text(max_size=4),
    visible=st.booleans(), distance=st.none() | st.floats(0, 100),
)  # fmt: skip
readings = st.builds(
    Reading,
    number=st.integers(0, 10**9),
    at=st.none() | st.datetimes(datetime(1900, 1, 2), datetime(2199, 1, 1), timezones=st.just(UTC)),
    place=st.none() | names,
    confidence=st.floats(0, 1),
    entities=st.lists(entities, max_size=3).map(tuple),
    changes=st.lists(st.fixed_dictionaries({"type": names}), max_size=2).map(tuple),
    action=st.text(max_size=5),
    text=st.text(max_size=5),
    prediction_error=st.none() | st.floats(0, 1),
    restarts=st.booleans(),
    extras=st.dictionaries(st.sampled_from(["a", "b"]), st.integers(), max_size=2),
)


@given(readings)
def test_a_recorded_reading_comes_back_as_it_was(reading: Reading) -> None:
    clean = reading_from_json(reading_as_json(reading))  # repaired once: NUL and lone surrogates
    line = json.dumps(reading_as_json(clean))
    assert reading_from_json(json.loads(line)) == clean
    assert (clean.number, clean.at, clean.confidence) == (reading.number, reading.at, reading.confidence)


@given(st.lists(readings, max_size=6))
def test_any_stream_of_readings_makes_steps_that_can_be_taken_in(stream: list[Reading]) -> None:
    for step in steps(*stream):
        assert read_item(step).kind is Kind.STEP


@pytest.mark.parametrize(
    ("raw", "told"),
    [
        ([], "a reading is an object with a number, not a list"),
        ({"place": "hall"}, "a reading needs `number`"),
        ({"number": 1, "entities": "mug"}, "entities must be a list"),
        ({"number": 1, "entities": [{"label": "mug"}]}, "an entity needs an `id`"),
        ({"number": 1, "changes": [3]}, "changes must hold objects"),
        ({"number": 1, "at": "yesterday-ish"}, "cannot read the time"),
        ({"number": 1, "place": ["hall"]}, "place must be a text"),
        ({"number": 1, "confidence": "high"}, "confidence must be a number"),
    ],
)
def test_what_is_no_reading_is_refused_by_name(raw: object, told: str) -> None:
    with pytest.raises(InvalidInput, match=told):
        reading_from_json(raw)


def test_numbers_that_are_none_are_no_reason_to_lose_a_reading() -> None:
    read = reading_from_json({"number": 1, "prediction_error": float("nan"), "confidence": 7})
    assert (read.prediction_error, read.confidence) == (None, 1.0)

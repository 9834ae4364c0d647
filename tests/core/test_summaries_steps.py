"""The words of episodes of steps: places and what happened, in order, each said once."""

from builders.steps import step

from episodic_agent.core.episodes.extractive import encode_steps
from episodic_agent.core.episodes.steps import step_metadata, step_summary, step_title
from episodic_agent.schemas import Json, Observation


def changed(entity: str, new: str) -> dict[str, Json]:
    return {"type": "state_change", "entity": entity, "new": new}


def acting(seq: int, place: str | None, action: str, *events: dict[str, Json]) -> Observation:
    return step(seq, place, events=events, extras={"action": action})


MORNING = [
    *(acting(n, "kitchen", "go forward") for n in range(4)),
    acting(4, "kitchen", "open the fridge", changed("fridge", "open")),
    acting(5, "kitchen", "take the milk out", {"type": "appearance", "entity": "mug"}),
    *(acting(n, "hall", "go forward") for n in range(6, 10)),
    acting(10, "hall", "go forward", changed("front door", "open")),
]


def test_the_title_names_the_place_and_what_tells_most() -> None:
    assert (
        step_title(MORNING, "kitchen")
        == "Kitchen: the fridge is open, take the milk out; hall: the front door is open"
    )


def test_the_summary_tells_what_happened_in_order_place_by_place() -> None:
    assert step_summary(MORNING) == (
        "In the kitchen: the fridge is open; take the milk out; a mug appeared. "
        "In the hall: the front door is open."
    )


def test_a_walk_where_nothing_happens_is_told_by_its_places() -> None:
    walk = [acting(n, "hall" if n < 9 else "lab", "go forward") for n in range(10)]
    assert step_title(walk, "hall") == "Hall: 10 steps"
    assert step_summary(walk) == "9 steps in the hall, then 1 step in the lab."


def test_an_agent_that_knows_no_place_is_on_the_way() -> None:
    nowhere = [acting(0, None, "pick up the red key"), acting(1, "unknown", "wait")]
    words = encode_steps(nowhere)
    assert words.title == "On the way: pick up the red key"
    assert words.summary == "On the way: pick up the red key."
    assert words.metadata["location"] == "unknown"


def test_a_step_given_as_text_alone_is_told_by_its_own_words() -> None:
    assert step_summary([step(0, "lab")]) == "In the lab: step 0."


def test_the_same_thing_is_said_once_for_every_stay() -> None:
    lamp = [
        acting(n, place, "", changed("lamp", "on")) for n, place in enumerate(["lab", "lab", "den", "lab"])
    ]
    assert step_summary(lamp) == (
        "In the lab: the lamp is on. In the den: the lamp is on. In the lab: the lamp is on."
    )


def test_a_title_says_a_thing_once() -> None:
    doors = [acting(n, place, "", changed("door", "open")) for n, place in enumerate(["lab", "den", "lab"])]
    assert step_title(doors, "lab") == "Lab: the door is open"


def test_no_episode_is_too_long_to_be_told() -> None:
    busy = [acting(n, f"room {n % 7}", f"put thing number {n} on the shelf") for n in range(900)]
    words = encode_steps(busy)
    assert len(words.title) <= 120
    assert len(words.summary) < 2000
    assert words.metadata["step_count"] == 900


def test_what_the_decision_knows_is_taken_and_the_rest_is_counted() -> None:
    arguments: dict[str, Json] = {"location": "Kitchen", "location_path": ["Kitchen"], "edge": "drain_all"}
    answers = step_metadata(MORNING, arguments)
    assert answers == {
        "location": "Kitchen",
        "location_path": ["Kitchen"],
        "step_count": 11,
        "entities": [],
        "salient_events": 3,
    }


def test_steps_of_every_shape_are_told_somehow() -> None:
    odd = [
        step(0, "", events=[{}]),
        step(1, None, events=[{"type": ""}], extras={"action": 5}),
        step(2, "x" * 200, extras={"action": " "}),
    ]
    words = encode_steps(odd)
    assert words.title
    assert words.summary

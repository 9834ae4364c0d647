"""Simulated worlds: rooms are places, doors and things are what happens, and a seed repeats everything."""

from itertools import islice

import pytest

from episodic_agent import Memory
from episodic_agent.agents.perception.changes import World, perceive
from episodic_agent.agents.sensors.gymnasium import GymnasiumSensor
from episodic_agent.agents.sensors.minigrid import MiniGridSensor, room_name
from episodic_agent.errors import InvalidInput, SensorError
from episodic_agent.schemas import Reading

LEVEL = "BabyAI-KeyCorridorS3R3-v0"


def play(seed: int, count: int = 300, level: str = LEVEL) -> list[Reading]:
    sensor = MiniGridSensor(level, seed=seed)
    readings = list(islice(sensor, count))
    sensor.close()
    return readings


def test_the_same_seed_plays_the_same_run_and_another_seed_another() -> None:
    assert play(3, 80) == play(3, 80)
    assert play(3, 80) != play(4, 80)


def test_an_agent_walks_through_rooms_opens_doors_and_carries_keys() -> None:
    world, happened = World(), set()
    readings = play(3)
    for reading in readings:
        world, step = perceive(world, reading)
        happened |= {(e["type"], str(e["entity"]).split()[-1], e.get("new")) for e in step["events"]}  # type: ignore[index, call-overload, union-attr]
    assert {r.place for r in readings} >= {"middle room", "north room", "east room"}
    assert {("state_change", "door", "open"), ("state_change", "key", "carried")} <= happened


def test_the_planner_does_its_missions_and_each_is_a_new_world() -> None:
    sensor = MiniGridSensor(LEVEL, seed=1)
    readings = list(islice(sensor, 300))
    begun = [r.number for r in readings if r.restarts]
    assert sensor.counts["missions"] == len(begun) > 2
    assert sensor.counts["done"] >= len(begun) - 1
    assert [r.number for r in readings] == list(range(300))


def test_in_a_doorway_the_place_is_not_sure() -> None:
    sure = {r.confidence for r in play(3) if r.text == ""}
    assert sure == {1.0, 0.4}


@pytest.mark.parametrize(
    "level", ["MiniGrid-FourRooms-v0", "MiniGrid-MultiRoom-N4-S5-v1", "MiniGrid-DoorKey-8x8-v0"]
)
def test_worlds_without_a_planner_are_walked_at_random_by_the_seed(level: str) -> None:
    assert play(5, 60, level) == play(5, 60, level)
    assert all(r.place for r in play(5, 60, level))


def test_rooms_are_named_by_where_they_lie() -> None:
    names = [room_name(c, r, 3, 3) for r in range(3) for c in range(3)]
    assert len(set(names)) == 9
    assert room_name(0, 0, 1, 1) == "middle room"
    assert room_name(3, 1, 4, 2) == "room D2"


def test_any_environment_gives_readings_with_rewards_and_endings() -> None:
    sensor = GymnasiumSensor("CartPole-v1", seed=2)
    readings = list(islice(sensor, 120))
    assert [r.number for r in readings] == list(range(120))
    ends = [str(c["new"]) for r in readings for c in r.changes if c["entity"] == "episode"]
    assert all(end.startswith("terminated after ") for end in ends)
    assert len(set(ends)) > 1
    assert {c["entity"] for r in readings for c in r.changes} == {"episode"}  # the same reward every step
    assert readings[0].action.startswith("action ")
    assert sensor.counts["worlds"] == sum(r.restarts for r in readings) > 1
    assert len(readings[0].extras["observation"]) == 4  # type: ignore[arg-type]


def test_an_environment_that_is_not_there_is_named() -> None:
    with pytest.raises(SensorError, match="no environment 'BabyAI-Nowhere-v0'"):
        MiniGridSensor("BabyAI-Nowhere-v0")
    with pytest.raises(SensorError, match="no MiniGrid world; use --sensor gymnasium:CartPole-v1"):
        MiniGridSensor("CartPole-v1")


def test_a_seed_no_environment_takes_is_refused() -> None:
    with pytest.raises(InvalidInput, match="a seed must lie between 0 and"):
        next(iter(MiniGridSensor(LEVEL, seed=-1)))


def test_an_action_is_said_by_the_name_its_environment_has_for_it() -> None:
    sensor = GymnasiumSensor("MiniGrid-Empty-5x5-v0", seed=1)
    names = {reading.action for reading in islice(sensor, 60)}
    assert names <= {"left", "right", "forward", "pickup", "drop", "toggle", "done"}


def test_runs_of_a_world_without_places_are_called_by_how_they_went() -> None:
    with Memory.open(":memory:") as memory:
        robot = memory.user("robot")
        robot.run(GymnasiumSensor("CartPole-v1", seed=2), thread="cart", steps=120)
        titles = [card.title for card in robot.episodes.list(thread="cart")]
    assert not [title for title in titles if title.startswith("On the way")]
    assert len(set(titles)) > 2

"""What an agent's run costs: its sensor, the core, the detectors, and the whole with a store.

A planner walks through the rooms of MiniGrid (nothing is drawn), mission after mission; a new mission is a
new world whose rooms have the same names. Processor time is counted too, which other programs disturb less.
"""

import time
from collections.abc import Iterator, Sequence
from functools import partial
from importlib.metadata import version
from itertools import islice, pairwise
from typing import Any
from uuid import UUID

from benchmarks.speed import Spent, fresh, spread, timed
from benchmarks.users import mine
from episodic_agent.agents.perception.changes import World, perceive
from episodic_agent.core.boundary.contract import Arrival, Policy
from episodic_agent.core.boundary.machine import run
from episodic_agent.core.boundary.steps.default import StepsPolicy
from episodic_agent.core.ingest import read_item
from episodic_agent.protocols import Embedder, Sensor
from episodic_agent.schemas import Observation, Reading
from episodic_agent.wiring import Memory, resolve_policy, utc_now
from episodic_agent.wiring.agents import make_sensor

STEPS, QUICK_STEPS = 10_000, 1_000
ROUNDS, QUICK_ROUNDS = 3, 1
SEED = 3
POLICIES = ("stub", "seed-000", "steps")


class Given:
    """A sensor of readings that are there already, so that what reads them is timed alone."""

    name = "given"

    def __init__(self, readings: Sequence[Reading]) -> None:
        self._readings = readings
        self.counts: dict[str, int] = {}

    def __iter__(self) -> Iterator[Reading]:
        return iter(self._readings)

    def close(self) -> None:
        """Do nothing: there is nothing to close."""


def measure(embedder: Embedder, *, quick: bool = False) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield (key, figures) of every part of a run, and of the whole."""
    count, rounds = (QUICK_STEPS, QUICK_ROUNDS) if quick else (STEPS, ROUNDS)
    plays = [timed_play(count) for _ in range(rounds)]
    readings, counts, _ = plays[0]
    versions = {name: version(name) for name in ("minigrid", "gymnasium")}
    spent = rates(count, [spent for _, _, spent in plays])
    yield "sensor alone", {"steps": count, **counts, **spent, "versions": versions}
    yield "core alone (steps)", {**core(readings, rounds), **confirmed(readings)}
    for name in POLICIES:
        yield f"detector {name}", detector(readings, name, rounds)
    for label, chosen in (("words only", "none"), ("hashing embedder", "hashing"), (embedder.name, embedder)):
        yield f"whole run, {label}", whole(readings, chosen, rounds)
    yield "whole run with its sensor, words only", live(count, rounds)


def timed_play(count: int) -> tuple[list[Reading], dict[str, int], Spent]:
    """Let the planner walk; return the readings, what the sensor counted and what it took."""
    sensor = make_sensor("minigrid", seed=SEED)
    readings: list[Reading] = []
    spent = timed(lambda: readings.extend(islice(sensor, count)))
    sensor.close()
    return readings, dict(sensor.counts), spent


def rates(count: int, spent: Sequence[Spent]) -> dict[str, Any]:
    """Return steps per second, on the clock and of processor time.

    >>> rates(100, [Spent(2.0, 1.0)])["steps_per_processor_second"]["median"]
    100.0
    """
    return {
        "steps_per_second": spread([count / one.wall for one in spent]),
        "steps_per_processor_second": spread([count / one.processor for one in spent]),
    }


def core(readings: Sequence[Reading], rounds: int) -> dict[str, Any]:
    """Time what needs no store: perception, reading the step, the detector."""
    policy = resolve_policy("steps")
    spent = [timed(lambda: _check(policy, _observed(readings))) for _ in range(rounds)]
    return {"steps": len(readings), **rates(len(readings), spent)}


def _observed(readings: Sequence[Reading]) -> list[Observation]:
    world, result, now = World(), [], utc_now()
    for seq, reading in enumerate(readings):
        world, step = perceive(world, reading)
        item = read_item(step, default_actor="agent")
        result.append(
            Observation(
                UUID(int=seq), UUID(int=1), seq, now, now, item.actor, item.text, kind=item.kind,
                location=item.location, location_confidence=item.location_confidence, events=item.events,
                prediction_error=item.prediction_error, extras=item.extras,
            )
        )  # fmt: skip
    return result


def _check(policy: Policy[Any], observations: Sequence[Observation]) -> int:
    memory, cuts = policy.begin(), 0
    for observation in observations:
        step = run(memory, [Arrival(observation, None)], policy)
        memory, cuts = step.memory, cuts + len(step.cuts)
    return cuts


def detector(readings: Sequence[Reading], name: str, rounds: int) -> dict[str, Any]:
    """Time a policy alone over the observations of a run."""
    policy, observations = resolve_policy(name), _observed(readings)
    cuts: list[int] = []
    spent = [timed(lambda: cuts.append(_check(policy, observations))) for _ in range(rounds)]
    each = [1_000_000 * one.processor / len(readings) for one in spent]
    return {"steps": len(readings), "cuts": cuts[0], "microseconds_per_step": spread(each)}


def whole(readings: Sequence[Reading], embedder: "str | Embedder", rounds: int) -> dict[str, Any]:
    """Time a run into a fresh file, titles and summaries included, and count what became of its steps."""
    spent: list[Spent] = []
    results: dict[str, Any] = {}
    for _ in range(rounds):
        with fresh() as path, Memory.open(path, embedder=embedder) as memory:
            mine(memory).add("a first message loads what is loaded once", thread="warm")
            stamps: list[float] = []
            spent.append(timed(partial(_run, memory, Given(readings), stamps)))
            results = {"steps_told": len(readings), **_stored(memory), **_pace(stamps)}
    return {**results, **rates(len(readings), spent)}


def live(count: int, rounds: int) -> dict[str, Any]:
    """Time a run that walks and remembers at once."""
    spent: list[Spent] = []
    for _ in range(rounds):
        with fresh() as path, Memory.open(path, embedder="none") as memory:
            spent.append(timed(partial(_run, memory, make_sensor("minigrid", seed=SEED), [], count)))
    return {"steps": count, **rates(count, spent)}


def _run(memory: Memory, sensor: Sensor, stamps: list[float], steps: int | None = None) -> None:
    mine(memory).run(
        sensor, thread="m", policy="steps", steps=steps, watch=lambda _: stamps.append(time.process_time())
    )


def confirmed(readings: Sequence[Reading]) -> dict[str, int]:
    """Count the changes of room, those policy `steps` believed within two steps, and rooms only passed.

    A change is a step sure of another room than the last change; it is to be believed once the next step is
    sure of the same room. A room that is left with the next step is passed.
    """
    policy = StepsPolicy()
    memory, believed = policy.begin(), []
    for observation in _observed(readings):
        memory = run(memory, [Arrival(observation, None)], policy).memory
        place = memory.place
        believed.append(place.candidate if place.confirmed(policy.confirm_steps) else place.established)
    rooms = [
        (one.place or "") if one.confidence >= policy.min_location_confidence else "" for one in readings
    ]
    changes = within = passed = 0
    here = rooms[0]
    for number, (room, following) in enumerate(pairwise(rooms)):
        if room and room != here:
            here = room
            changes += room == following
            passed += room != following
            within += room == following and believed[number + 1] == room.casefold()
    return {"changes_of_room": changes, "confirmed_within_two_steps": within, "rooms_passed": passed}


def _stored(memory: Memory) -> dict[str, int]:
    cards = mine(memory).episodes.list(thread="m")
    held = [card.observations for card in cards]
    return {"steps_stored": sum(held), "episodes": len(cards)}


def _pace(stamps: Sequence[float]) -> dict[str, float]:
    """Return steps per processor second in the first and the last thousand."""
    part = min(1_000, len(stamps) // 2)
    first, last = (
        part / max(b - a, 1e-9) for a, b in ((stamps[0], stamps[part]), (stamps[-part - 1], stamps[-1]))
    )
    return {
        "first_thousand_per_processor_second": round(first),
        "last_thousand_per_processor_second": round(last),
    }

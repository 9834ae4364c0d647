"""What changed between two readings: appearances, disappearances, changed states, and who said so.

A sensor that reports its own changes is believed. Beside that a change is derived wherever two readings of
the same place disagree about an entity. Coming into another place is no appearance of everything in it: the
list is compared only with the last reading of the same stay.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime

from episodic_agent.core.ingest.words import action_words, check_step, is_finite, step_text, type_name
from episodic_agent.errors import InvalidInput
from episodic_agent.schemas import Entity, Json, Reading

STATE_CHANGE = "state_change"
APPEARANCE = "appearance"
DISAPPEARANCE = "disappearance"


@dataclass(frozen=True, slots=True)
class World:
    """What was perceived up to now: the place, who is in sight there, and the last known state of everything.

    `visit` counts the places entered; with an entity's id it names an event, so that something that flickers
    in and out of sight is one event of the stay.
    """

    place: str | None = None
    visit: int = 0
    present: Mapping[str, Entity] = field(default_factory=dict)
    states: Mapping[str, str] = field(default_factory=dict)
    begun: bool = False


def perceive(world: World, reading: Reading) -> tuple[World, dict[str, Json]]:
    """Return the world after a reading, and the step it amounts to, in the fields `UserMemory.add` reads.

    >>> world, _ = perceive(World(), Reading(0, place="kitchen"))
    >>> _, step = perceive(world, Reading(1, place="kitchen", entities=(Entity("m1", "mug"),)))
    >>> step["text"], step["events"][0]["id"]
    ('In the kitchen: a mug appeared', 'appearance:m1:1')

    Raises InvalidInput for a reading with a part of the wrong kind, by the name of its field.
    """
    check_reading(reading)
    moved = not world.begun or reading.restarts or _folded(reading.place) != _folded(world.place)
    stay = world.visit + 1 if moved else world.visit
    present = {e.id: e for e in reading.entities if e.visible}
    events = [dict(change) for change in reading.changes]
    pairs = {(str(change.get("type")), str(change.get("entity_id"))) for change in reading.changes}
    known = {} if reading.restarts else world.states
    derived = [*_state_changes(known, reading), *([] if moved else _turnover(world.present, present, stay))]
    events.extend(e for e in derived if (str(e["type"]), str(e["entity_id"])) not in pairs)
    states = dict(known) | {e.id: e.state for e in reading.entities if e.state}
    after = World(reading.place, stay, present, states, begun=True)
    return after, _step(reading, present, events)


def check_reading(reading: Reading) -> None:
    """Raise InvalidInput for a reading with a part of the wrong kind: which, and what it may be.

    >>> check_reading(Reading(1, place=3))
    Traceback (most recent call last):
    ...
    episodic_agent.errors.InvalidInput: place must be a text or None, not a number
    """
    if reading.place is not None and not isinstance(reading.place, str):
        raise InvalidInput(f"place must be a text or None, not {type_name(reading.place)}")
    if not isinstance(reading.text, str):
        raise InvalidInput(f"text must be a text, not {type_name(reading.text)}")
    if not isinstance(reading.action, str) and not action_words(reading.action):
        raise InvalidInput(f"action must be a text or a finite number, not {type_name(reading.action)}")
    if not is_finite(reading.confidence) or not 0 <= reading.confidence <= 1:
        raise InvalidInput(f"confidence must be a number between 0 and 1, not {reading.confidence!r}")
    if reading.prediction_error is not None and (
        isinstance(reading.prediction_error, bool) or not isinstance(reading.prediction_error, int | float)
    ):
        raise InvalidInput(f"prediction_error must be a number, not {type_name(reading.prediction_error)}")
    if reading.at is not None and not isinstance(reading.at, datetime):
        raise InvalidInput(f"at must be a datetime or None, not {type_name(reading.at)}")
    for name, parts, kind in (
        ("entities", reading.entities, Entity),
        ("changes", reading.changes, Mapping),
    ):
        wrong = (
            [one for one in parts if not isinstance(one, kind)]
            if isinstance(parts, list | tuple)
            else [parts]
        )
        if wrong:
            called = "Entity" if kind is Entity else "objects with a type"
            raise InvalidInput(f"{name} must be a tuple of {called}, not of {type_name(wrong[0])}")
    if not isinstance(reading.extras, Mapping):
        raise InvalidInput(f"extras must be an object, not {type_name(reading.extras)}")
    check_step({"outcome": reading.outcome, "reward": reading.reward})


def _state_changes(states: Mapping[str, str], reading: Reading) -> Iterator[dict[str, Json]]:
    for entity in reading.entities:
        before = states.get(entity.id, "")
        if before and entity.state and entity.state != before:
            yield {
                "type": STATE_CHANGE,
                "id": f"{STATE_CHANGE}:{entity.id}:{reading.number}",
                "entity": entity.label,
                "entity_id": entity.id,
                "old": before,
                "new": entity.state,
            }


def _turnover(
    before: Mapping[str, Entity], after: Mapping[str, Entity], visit: int
) -> Iterator[dict[str, Json]]:
    for kind, here, there in ((APPEARANCE, after, before), (DISAPPEARANCE, before, after)):
        for key, entity in here.items():
            if key not in there:
                named: dict[str, Json] = {"entity": entity.label, "entity_id": key}
                yield {"type": kind, "id": f"{kind}:{key}:{visit}", **named}


def _step(reading: Reading, present: Mapping[str, Entity], events: list[dict[str, Json]]) -> dict[str, Json]:
    ended: dict[str, Json] = {"outcome": reading.outcome, "reward": reading.reward}
    words = step_text({"action": reading.action, "events": events, **ended}, reading.place, reading.text)
    step: dict[str, Json] = {
        "kind": "step",
        "text": words if words.strip() else "Nothing happens",
        "action": reading.action,
        "events": [dict(event) for event in events],
        "entities": [_seen(entity) for entity in present.values()],
        "location_confidence": reading.confidence,
        "frame": reading.number,
    }
    if reading.extras:
        step["extras"] = dict(reading.extras)  # apart: a sensor's own words must not pass for a step's fields
    if reading.place:
        step["location"] = reading.place
    if reading.at is not None:
        step["at"] = reading.at.isoformat()
    if reading.prediction_error is not None:
        step["prediction_error"] = reading.prediction_error
    return step | {name: value for name, value in ended.items() if value is not None}


def _seen(entity: Entity) -> dict[str, Json]:
    texts = {"id": entity.id, "label": entity.label, "category": entity.category, "state": entity.state}
    return {key: value for key, value in texts.items() if value}


def _folded(place: str | None) -> str:
    return (place or "").strip().casefold()

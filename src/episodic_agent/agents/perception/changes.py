"""What changed between two readings: appearances, disappearances, changed states, and who said so.

A sensor that reports its own changes is believed. Beside that a change is derived wherever two readings of
the same place disagree about an entity. Coming into another place is no appearance of everything in it: the
list is compared only with the last reading of the same stay.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from episodic_agent.core.ingest.words import step_words
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
    """
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
    text = step_words({"action": reading.action, "events": events}, reading.place)
    words = reading.text if reading.text.strip() else text
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
    return step


def _seen(entity: Entity) -> dict[str, Json]:
    texts = {"id": entity.id, "label": entity.label, "category": entity.category, "state": entity.state}
    return {key: value for key, value in texts.items() if value}


def _folded(place: str | None) -> str:
    return (place or "").strip().casefold()

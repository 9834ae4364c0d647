"""A Unity scene's frame as a reading: what is missing is tolerated, what cannot be is refused by name.

{protocol_version, frame_id, timestamp (ISO or epoch), camera?, current_room_guid|null,
 current_room_label?, entities?[{guid, label?, category?, position, distance, is_visible|visible,
 interactable_type, interactable_state|state}],
 state_changes?[{entity_guid, change_type, old_value, new_value, timestamp}]}
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from episodic_agent.agents.perception.changes import STATE_CHANGE
from episodic_agent.core.ingest.item import Cleaner
from episodic_agent.core.ingest.times import read_time
from episodic_agent.core.ingest.words import type_name
from episodic_agent.errors import InvalidInput
from episodic_agent.schemas import Entity, Json, Reading

SPOKEN: Final = "1"  # the major version of the protocol that is understood
_REQUIRED: Final = ("protocol_version", "frame_id", "timestamp")
_ROOM_CONFIDENCE: Final = 1.0  # a scene knows which room the agent is in


def read_frame(raw: object) -> Reading:
    """Read one frame; raises InvalidInput naming what is missing or cannot be read.

    >>> frame = {"protocol_version": "1.0", "frame_id": 4, "timestamp": 1700000000.0}
    >>> read_frame(frame | {"current_room_guid": "r1", "current_room_label": "Kitchen"}).place
    'Kitchen'
    """
    if not isinstance(raw, Mapping):
        raise InvalidInput(f"a frame is an object, not {type_name(raw)}")
    missing = [name for name in _REQUIRED if raw.get(name) is None]
    if missing:
        raise InvalidInput(f"the frame has no {', '.join(missing)}")
    version = str(raw["protocol_version"])
    if version.split(".", maxsplit=1)[0] != SPOKEN:
        raise InvalidInput(
            f"the scene speaks protocol {version}, understood is {SPOKEN}.x; update the scene's plugin"
        )
    fields = Cleaner().mapping(raw)
    labels = dict(_labels(fields))
    guid, label = fields.get("current_room_guid"), fields.get("current_room_label")
    room = str(label or guid or "").strip()
    camera = fields.get("camera")
    return Reading(
        number=_frame_id(fields["frame_id"]),
        at=read_time(fields["timestamp"]).at,
        place=room or None,
        confidence=_ROOM_CONFIDENCE if room else 0.0,
        entities=tuple(_entity(one) for one in _list(fields, "entities") if _guid(one)),
        changes=tuple(_change(one, labels) for one in _list(fields, "state_changes")),
        extras={
            **({"room_guid": str(guid)} if guid else {}),
            **({"camera": camera} if camera is not None else {}),
        },
    )


def _frame_id(value: Json) -> int:
    if isinstance(value, bool) or not isinstance(value, int | float) or not float(value).is_integer():
        raise InvalidInput(f"frame_id must be a whole number, not {type_name(value)}")
    return int(value)


def _labels(fields: Mapping[str, Json]) -> Iterator[tuple[str, str]]:
    for items in _list(fields, "entities"):
        if _guid(items):
            yield _guid(items), _label(items)


def _list(fields: Mapping[str, Json], name: str) -> list[Mapping[str, Json]]:
    value = fields.get(name)
    if value is None:
        return []
    if isinstance(value, str) or not isinstance(value, Sequence):
        raise InvalidInput(f"{name} must be a list, not {type_name(value)}")
    return [one for one in value if isinstance(one, Mapping)]


def _guid(entity: Mapping[str, Json]) -> str:
    return str(entity.get("guid") or "")


def _label(entity: Mapping[str, Json]) -> str:
    return str(entity.get("label") or entity.get("category") or entity.get("guid"))


def _entity(fields: Mapping[str, Json]) -> Entity:
    seen = fields.get("is_visible", fields.get("visible"))
    state = fields.get("interactable_state", fields.get("state"))
    distance = fields.get("distance")
    known = isinstance(distance, int | float) and not isinstance(distance, bool)
    return Entity(
        id=_guid(fields),
        label=_label(fields),
        category=str(fields.get("category") or fields.get("interactable_type") or ""),
        state="" if state is None else str(state),
        visible=seen is not False,
        distance=float(distance) if known and math.isfinite(float(distance)) else None,  # type: ignore[arg-type]
    )


def _change(fields: Mapping[str, Json], labels: Mapping[str, str]) -> Mapping[str, Json]:
    """Return a reported change as an event; its own name is kept beside the kind the detector knows."""
    guid, named = str(fields.get("entity_guid") or ""), str(fields.get("change_type") or "")
    old, new, at = fields.get("old_value"), fields.get("new_value"), fields.get("timestamp")
    kind = named if named in ("appearance", "disappearance", "movement") else STATE_CHANGE
    event: dict[str, Json] = {
        "type": kind,
        "id": f"{kind}:{guid}:{named}:{new}:{at}",
        "entity": labels.get(guid, guid),
        "entity_id": guid,
        "change": named,
    }
    if old is not None:
        event["old"] = old
    if new is not None:
        event["new"] = new
    return event

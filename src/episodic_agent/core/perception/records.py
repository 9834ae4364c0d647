"""Readings as JSON and back, without loss: what `--record` writes and a replay reads.

Numbers that are none (NaN, infinity) are dropped on the way in: a sensor may lie, a record must be JSON.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import Final

from episodic_agent.core.intake.clean import Cleaner
from episodic_agent.core.intake.times import read_time
from episodic_agent.core.intake.words import type_name
from episodic_agent.errors import InvalidInput
from episodic_agent.schemas import Entity, Json, Reading

_FIELDS: Final = frozenset(field.name for field in fields(Reading))


def reading_as_json(reading: Reading) -> dict[str, Json]:
    """Return a reading as plain JSON, defaults left out.

    >>> reading_as_json(Reading(3, place="hall"))
    {'number': 3, 'place': 'hall'}
    """
    told: dict[str, Json] = {"number": reading.number}
    if reading.at is not None:
        told["at"] = reading.at.isoformat()
    if reading.place is not None:
        told["place"] = reading.place
    if reading.confidence != 1.0:
        told["confidence"] = reading.confidence
    if reading.entities:
        told["entities"] = [_entity_as_json(entity) for entity in reading.entities]
    if reading.changes:
        told["changes"] = [dict(change) for change in reading.changes]
    if reading.prediction_error is not None:
        told["prediction_error"] = reading.prediction_error
    if reading.restarts:
        told["restarts"] = True
    for name, value in (("action", reading.action), ("text", reading.text), ("extras", dict(reading.extras))):
        if value:
            told[name] = value
    return told


def reading_from_json(raw: object) -> Reading:
    """Read a recorded reading; raises InvalidInput naming the field that cannot be.

    >>> reading_from_json({"number": 3, "place": "hall"}).place
    'hall'
    """
    if not isinstance(raw, Mapping):
        raise InvalidInput(f"a reading is an object with a number, not {type_name(raw)}")
    cleaner = Cleaner()
    told = cleaner.mapping(raw)
    number = told.get("number")
    if isinstance(number, bool) or not isinstance(number, int):
        raise InvalidInput(f"a reading needs `number`, a whole number, not {type_name(number)}")
    extras = {k: v for k, v in told.items() if k not in _FIELDS}
    given = told.get("extras")
    at = told.get("at")
    return Reading(
        number=number,
        at=None if at is None else read_time(at).at,
        place=_word(told, "place") or None,
        confidence=1.0 if told.get("confidence") is None else finite(told["confidence"], "confidence"),
        entities=tuple(_entity(one) for one in _objects(told, "entities")),
        changes=tuple(_objects(told, "changes")),
        action=_word(told, "action"),
        text=_word(told, "text"),
        prediction_error=None
        if told.get("prediction_error") is None
        else finite(told["prediction_error"], "prediction_error"),
        restarts=told.get("restarts") is True,
        extras={**extras, **(given if isinstance(given, Mapping) else {})},
    )


def finite(value: object, name: str) -> float:
    """Return a number clamped to [0, 1]; NaN is 0 (seed 000's rule); InvalidInput for what is no number.

    >>> finite(7, "confidence"), finite(float("nan"), "confidence")
    (1.0, 0.0)
    """
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise InvalidInput(f"{name} must be a number between 0 and 1, not {type_name(value)}")
    return 0.0 if math.isnan(value) else float(min(1.0, max(0.0, value)))


def _entity_as_json(entity: Entity) -> dict[str, Json]:
    told: dict[str, Json] = {"id": entity.id, "label": entity.label}
    if entity.category:
        told["category"] = entity.category
    if entity.state:
        told["state"] = entity.state
    if not entity.visible:
        told["visible"] = False
    if entity.distance is not None:
        told["distance"] = entity.distance
    return told


def _entity(given: Mapping[str, Json]) -> Entity:
    key = _word(given, "id")
    if not key:
        raise InvalidInput("an entity needs an `id`")
    distance = given.get("distance")
    return Entity(
        id=key,
        label=_word(given, "label") or key,
        category=_word(given, "category"),
        state=_word(given, "state"),
        visible=given.get("visible") is not False,
        distance=float(distance)
        if isinstance(distance, int | float) and not isinstance(distance, bool) and math.isfinite(distance)
        else None,
    )


def _word(given: Mapping[str, Json], name: str) -> str:
    value = given.get(name)
    if value is None:
        return ""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise InvalidInput(f"{name} must be a text, not {type_name(value)}")
    return str(value)


def _objects(given: Mapping[str, Json], name: str) -> list[Mapping[str, Json]]:
    value = given.get(name)
    if value is None:
        return []
    if isinstance(value, str) or not isinstance(value, Sequence):
        raise InvalidInput(f"{name} must be a list of objects, not {type_name(value)}")
    for one in value:
        if not isinstance(one, Mapping):
            raise InvalidInput(f"{name} must hold objects, not {type_name(one)}")
    return [one for one in value if isinstance(one, Mapping)]

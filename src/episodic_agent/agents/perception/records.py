"""Readings as JSON and back, without loss: what `--record` writes and a replay reads.

Numbers that are none (NaN, infinity) are dropped on the way in: a sensor may lie, a record must be JSON.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import Final

from episodic_agent.core.ingest.clean import Cleaner
from episodic_agent.core.ingest.times import read_time
from episodic_agent.core.ingest.words import type_name
from episodic_agent.errors import InvalidInput
from episodic_agent.schemas import Entity, Json, Reading

_FIELDS: Final = frozenset(field.name for field in fields(Reading))


def reading_as_json(reading: Reading) -> dict[str, Json]:
    """Return a reading as plain JSON, defaults left out.

    >>> reading_as_json(Reading(3, place="hall"))
    {'number': 3, 'place': 'hall'}
    """
    answers: dict[str, Json] = {"number": reading.number}
    if reading.at is not None:
        answers["at"] = reading.at.isoformat()
    if reading.place is not None:
        answers["place"] = reading.place
    if reading.confidence != 1.0:
        answers["confidence"] = reading.confidence
    if reading.entities:
        answers["entities"] = [_entity_as_json(entity) for entity in reading.entities]
    if reading.changes:
        answers["changes"] = [dict(change) for change in reading.changes]
    if reading.prediction_error is not None:
        answers["prediction_error"] = reading.prediction_error
    if reading.restarts:
        answers["restarts"] = True
    for name, value in (("action", reading.action), ("text", reading.text), ("extras", dict(reading.extras))):
        if value:
            answers[name] = value
    return answers


def reading_from_json(raw: object) -> Reading:
    """Read a recorded reading; raises InvalidInput naming the field that cannot be.

    >>> reading_from_json({"number": 3, "place": "hall"}).place
    'hall'
    """
    if not isinstance(raw, Mapping):
        raise InvalidInput(f"a reading is an object with a number, not {type_name(raw)}")
    cleaner = Cleaner()
    answers = cleaner.mapping(raw)
    number = answers.get("number")
    if isinstance(number, bool) or not isinstance(number, int):
        raise InvalidInput(f"a reading needs `number`, a whole number, not {type_name(number)}")
    extras = {k: v for k, v in answers.items() if k not in _FIELDS}
    arguments = answers.get("extras")
    at = answers.get("at")
    return Reading(
        number=number,
        at=None if at is None else read_time(at).at,
        place=_word(answers, "place") or None,
        confidence=1.0 if answers.get("confidence") is None else finite(answers["confidence"], "confidence"),
        entities=tuple(_entity(one) for one in _objects(answers, "entities")),
        changes=tuple(_objects(answers, "changes")),
        action=_word(answers, "action"),
        text=_word(answers, "text"),
        prediction_error=None
        if answers.get("prediction_error") is None
        else finite(answers["prediction_error"], "prediction_error"),
        restarts=answers.get("restarts") is True,
        extras={**extras, **(arguments if isinstance(arguments, Mapping) else {})},
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
    answers: dict[str, Json] = {"id": entity.id, "label": entity.label}
    if entity.category:
        answers["category"] = entity.category
    if entity.state:
        answers["state"] = entity.state
    if not entity.visible:
        answers["visible"] = False
    if entity.distance is not None:
        answers["distance"] = entity.distance
    return answers


def _entity(arguments: Mapping[str, Json]) -> Entity:
    key = _word(arguments, "id")
    if not key:
        raise InvalidInput("an entity needs an `id`")
    distance = arguments.get("distance")
    return Entity(
        id=key,
        label=_word(arguments, "label") or key,
        category=_word(arguments, "category"),
        state=_word(arguments, "state"),
        visible=arguments.get("visible") is not False,
        distance=float(distance)
        if isinstance(distance, int | float) and not isinstance(distance, bool) and math.isfinite(distance)
        else None,
    )


def _word(arguments: Mapping[str, Json], name: str) -> str:
    value = arguments.get(name)
    if value is None:
        return ""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise InvalidInput(f"{name} must be a text, not {type_name(value)}")
    return str(value)


def _objects(arguments: Mapping[str, Json], name: str) -> list[Mapping[str, Json]]:
    value = arguments.get(name)
    if value is None:
        return []
    if isinstance(value, str) or not isinstance(value, Sequence):
        raise InvalidInput(f"{name} must be a list of objects, not {type_name(value)}")
    for item in value:
        if not isinstance(item, Mapping):
            raise InvalidInput(f"{name} must hold objects, not {type_name(item)}")
    return [one for one in value if isinstance(one, Mapping)]

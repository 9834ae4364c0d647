"""Readings as JSON and back, without loss: what `--record` writes and a replay reads.

Numbers that are none (NaN, infinity) are dropped on the way in: a sensor may lie, a record must be JSON.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import Final, TypedDict

from episodic_agent.core.ingest.item import Cleaner
from episodic_agent.core.ingest.times import read_time
from episodic_agent.core.ingest.words import check_step, type_name
from episodic_agent.errors import InvalidInput
from episodic_agent.schemas import Entity, Json, Reading

_FIELDS: Final = frozenset(field.name for field in fields(Reading))
# What other programs call the fields of readings, as `add` takes it; what can be none of them is an extra.
_ALSO: Final[Mapping[str, str]] = {
    **dict.fromkeys(("timestamp", "time", "ts", "created_at"), "at"),
    **dict.fromkeys(("location", "location_label", "room"), "place"),
    **{"events": "changes", "content": "text", "objects": "entities"},
}
_FIRST_SECOND: Final = 1e8  # since 1970: a smaller number counts from where a world began


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
    ended = {"outcome": reading.outcome, "reward": reading.reward}
    return answers | {name: value for name, value in ended.items() if value is not None}


def reading_from_json(raw: object) -> Reading:
    """Read a recorded reading, by the usual names of its fields too; other keys are its extras.

    Raises InvalidInput naming the field that cannot be.

    >>> reading_from_json({"number": 3, "place": "hall"}).place
    'hall'
    """
    if not isinstance(raw, Mapping):
        raise InvalidInput(f"a reading is an object with a number, not {type_name(raw)}")
    cleaner = Cleaner()
    fields_read = cleaner.mapping(raw)
    answers = {name: value for name, value in fields_read.items() if name not in _ALSO}
    for name, value in fields_read.items():
        if name in _ALSO:
            meant = _ALSO[name] if _is_meant(_ALSO[name], value) else name
            answers.setdefault(meant, value)
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
        **_ended(answers),
    )


class _Ended(TypedDict):
    outcome: str | bool | None
    reward: float | None


def _ended(arguments: Mapping[str, Json]) -> _Ended:
    outcome, reward = arguments.get("outcome"), arguments.get("reward")
    check_step({"outcome": outcome, "reward": reward})
    return {
        "outcome": outcome if isinstance(outcome, str | bool) else None,
        "reward": float(reward) if isinstance(reward, int | float) else None,
    }


def _is_meant(name: str, value: Json) -> bool:
    """Tell whether what stands under another name can be a field."""
    several = list(value) if isinstance(value, list | tuple) else []
    match name:
        case "at":
            since = isinstance(value, int | float) and not isinstance(value, bool) and value >= _FIRST_SECOND
            return since or isinstance(value, str)
        case "changes":
            return bool(several) and all(isinstance(one, Mapping) for one in several)
        case "entities":
            return bool(several) and all(isinstance(one, str) and one.strip() for one in several)
    return isinstance(value, str)


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
    value = [{"id": one} if name == "entities" and isinstance(one, str) else one for one in value]
    for item in value:
        if not isinstance(item, Mapping):
            raise InvalidInput(f"{name} must hold objects, not {type_name(item)}")
    return [one for one in value if isinstance(one, Mapping)]

"""Read a model's answer leniently: what does not fit the schema is left out, the rest of it is kept.

Servers that take no schema, and small models, answer in their own way: a key too many, "Good" for "good",
"0.9" for 0.9, 95 for .95. What was meant is plain, and a second question costs as much as the first. Which of
the fields must be there is for who asked to say.
"""

import math
import re
from collections.abc import Mapping, Sequence
from typing import Final

from episodic_agent.schemas import Json

_NONE: Final = object()  # what cannot be read; None is a value
_TRUE: Final = ("true", "yes")
_FALSE: Final = ("false", "no")
_NULL: Final = ("", "null", "none", "n/a")
_PERCENT: Final = (10, 100)  # above a tenth of it no other scale than per cent is likely
_NUMBER: Final = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?", re.IGNORECASE)


def fitted(value: Mapping[str, Json], schema: Mapping[str, Json]) -> dict[str, Json]:
    """Return an answer as far as it fits its schema: fields that do not are left out, never refused.

    >>> schema = {"type": "object", "properties": {
    ...     "sure": {"type": "number", "minimum": 0, "maximum": 1},
    ...     "rating": {"type": "string", "enum": ["good", "hard"]},
    ...     "yes": {"type": "boolean"}}}
    >>> fitted({"Sure": "0.9", "rating": "Good", "yes": "true", "note": "hm"}, schema)
    {'sure': 0.9, 'rating': 'good', 'yes': True}
    >>> fitted({"sure": 95, "rating": "superb", "yes": None}, schema)
    {'sure': 0.95}
    """
    result = _object(value, schema)
    return result if isinstance(result, dict) else {}


def _read(value: Json, schema: Mapping[str, Json]) -> object:
    """Return a value as its schema wants it, `_NONE` where nothing of that kind can be made of it."""
    named = schema.get("type")
    kinds = [str(kind) for kind in named] if isinstance(named, list) else [str(named)]
    if "null" in kinds and (value is None or (isinstance(value, str) and value.strip().lower() in _NULL)):
        return None
    if value is None:
        return _NONE
    for kind in kinds:
        read = _READERS.get(kind)
        result = _NONE if read is None else read(value, schema)
        if result is not _NONE:
            return result
    return _NONE


def _object(value: Json, schema: Mapping[str, Json]) -> object:
    if not isinstance(value, Mapping):
        return _NONE
    properties = schema.get("properties")
    known = properties if isinstance(properties, Mapping) else {}
    by_word = {_word(name): one for name, one in value.items()}
    values: dict[str, object] = {}
    for name, target in known.items():
        supplied = value[name] if name in value else by_word.get(_word(name), _NONE)
        if supplied is not _NONE and isinstance(target, Mapping):
            read = _read(supplied, target)  # type: ignore[arg-type]
            if read is not _NONE:
                values[name] = read
    return values if values or not value else _NONE


def _array(value: Json, schema: Mapping[str, Json]) -> object:
    items = schema.get("items")
    targets = items if isinstance(items, Mapping) else {}
    arguments = value if isinstance(value, Sequence) and not isinstance(value, str) else [value]
    read = [one for one in (_read(one, targets) for one in arguments) if one is not _NONE]
    return read if read or not arguments else _NONE


def _boolean(value: Json, _schema: Mapping[str, Json]) -> object:
    if isinstance(value, bool):
        return value
    word = _word(value) if isinstance(value, str) else ""
    return True if word in _TRUE else False if word in _FALSE else _NONE


def _number(value: Json, schema: Mapping[str, Json]) -> object:
    if isinstance(value, str):
        text = value.strip()
        share = text.endswith("%")
        text = text.rstrip("% ")
        if not _NUMBER.fullmatch(text):
            return _NONE
        value = float(text) / (100 if share else 1)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return _NONE
    least, most = schema.get("minimum"), schema.get("maximum")
    if (least, most) == (0, 1) and _PERCENT[0] < value <= _PERCENT[1]:
        value = value / _PERCENT[1]
    low = least if isinstance(least, int | float) else -math.inf
    high = most if isinstance(most, int | float) else math.inf
    return value if low <= value <= high and abs(value) < math.inf else _NONE


def _string(value: Json, schema: Mapping[str, Json]) -> object:
    words = schema.get("enum")
    if isinstance(words, list):
        by_word = {_word(str(word)): word for word in words}
        return by_word.get(_word(value), _NONE) if isinstance(value, str) else _NONE
    return value if isinstance(value, str) else _NONE


def _word(text: str) -> str:
    """Return a name or an enumerated word without case, quotes, stops and the way its parts are joined."""
    return "_".join(re.findall(r"\w+", text.casefold().replace("_", " ")))


_READERS: Final = {
    "object": _object,
    "array": _array,
    "boolean": _boolean,
    "number": _number,
    "string": _string,
}

"""Read a model's answer leniently: what does not fit the schema is left out, the rest of it is kept.

Servers that take no schema, and small models, answer in their own way: after thinking aloud, in a fence, with
a comma too many, a key too many, "Good" for "good", "0.9" for 0.9, 95 for .95. What was meant is plain, and a
second question costs as much as the first. Which of the fields must be there is for who asked to say.
"""

import ast
import json
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any, Final, NoReturn

from episodic_agent.schemas import Json

_NONE: Final = object()  # what cannot be read; None is a value
_TRUE: Final = ("true", "yes", "1")
_FALSE: Final = ("false", "no", "0")
_NULL: Final = ("", "null", "none", "n/a")
_PERCENT: Final = (10, 100)  # above a tenth of it no other scale than per cent is likely
_NUMBER: Final = re.compile(r"[-+]?(?:\d+[.,]?\d*|[.,]\d+)(?:e[-+]?\d+)?", re.IGNORECASE)
_EXPLAINED: Final = re.compile(r"[-–—:;,.(]")  # "good - it was used"
_LISTED: Final = re.compile(r"[,;\n、，；]")
_FENCED: Final = re.compile(r"```[\w-]*[ \t]*\r?\n(.*?)```", re.DOTALL)
_OBJECT: Final = re.compile(r"\{\s*[\"'“}]")
_THOUGHT: Final = re.compile(  # from the beginning: searched for at each character, it costs their square
    r"\A.*</(?:think(?:ing)?|thoughts?|reason(?:ing)?|analysis|reflection)>", re.DOTALL
)
_TEXT: Final = r'"(?:[^"\\]|\\.)*"'
_LOOSE: Final = re.compile(rf"{_TEXT}|,(?=\s*[}}\]])|\b(?:True|False|None)\b|//[^\n]*", re.DOTALL)
_WRITTEN: Final = {"True": "true", "False": "false", "None": "null"}
_LONGEST_LITERAL: Final = 100_000  # characters that are read as Python wrote them
_TAKEN: Final = ("type", "description", "enum", "properties", "required", "additionalProperties", "items")
_LIMITS: Final = {
    "maximum": "from {minimum} to {maximum}",
    "maxLength": "at most {maxLength} characters",
    "maxItems": "at most {maxItems}",
}
_DEEPEST: Final = 2  # objects around an answer, as {"answer": {…}}


STRING: Final[Mapping[str, Json]] = {"type": "string"}
STRING_OR_NULL: Final[Mapping[str, Json]] = {"type": ["string", "null"]}
BOOLEAN: Final[Mapping[str, Json]] = {"type": "boolean"}
SHARE: Final[Mapping[str, Json]] = {"type": "number", "minimum": 0, "maximum": 1}
STRINGS: Final[Mapping[str, Json]] = {"type": "array", "items": STRING}


def closed(properties: Mapping[str, Json]) -> Mapping[str, Json]:
    """Return the schema of an object that has all of these fields, in this order, and no other."""
    required: list[Json] = list(properties)
    return {"type": "object", "additionalProperties": False, "required": required, "properties": properties}


def one_of(words: Iterable[str]) -> Mapping[str, Json]:
    """Return the schema of a string that is one of some words."""
    return {"type": "string", "enum": list(words)}


def read_answer(text: str, schema: Mapping[str, Json]) -> dict[str, Json]:
    """Return what an answer's text holds of a schema, {} where it holds nothing of it.

    Of several objects the fullest counts, of equals the last: a draft comes first.

    >>> schema = {"type": "object", "properties": {"yes": {"type": "boolean"}}}
    >>> read_answer("<think>{} or not?</think>Sure:\\n```json\\n{'yes': True,}\\n```", schema)
    {'yes': True}
    >>> read_answer("I cannot", schema)
    {}
    """
    after = _THOUGHT.sub("", text, count=1)
    for piece in dict.fromkeys((after, text)):
        values = list(values_in(piece))
        items = [one for one in values if isinstance(one, Mapping) and one]
        results = [fitted(one, schema) for one in (*values, items)]
        best = max(enumerate(results), key=lambda pair: (_size(pair[1]), pair[0]), default=(0, {}))[1]
        if best:
            return best
    return {}


def values_in(text: str) -> Iterator[Any]:
    """Yield the JSON objects and lists of an answer: the whole, those in fences, then those in prose.

    >>> list(values_in('Sure! {"a": 1,} Anything else?')), list(values_in("I cannot"))
    ([{'a': 1}], [])
    """
    for piece in (text, *_FENCED.findall(text)):
        full = _loaded(piece.strip().lstrip("\ufeff"))
        if isinstance(full, dict | list):
            yield full
            if piece is text:
                return
    start = _OBJECT.search(text)
    while start:
        end = _end_of(text, start.start())
        if end is None:
            return  # cut off: what stands inside it is a part, not the answer
        result = _loaded(text[start.start() : end])
        if isinstance(result, dict):
            yield result
        start = _OBJECT.search(text, end)


def fitted(value: Json, schema: Mapping[str, Json]) -> dict[str, Json]:
    """Return an answer as far as it fits its schema: fields that do not are left out, never refused.

    An answer inside another object is taken out of it; where the schema is of one list, the list alone and
    one of its items alone are answers too.

    >>> schema = {"type": "object", "properties": {
    ...     "sure": {"type": "number", "minimum": 0, "maximum": 1},
    ...     "rating": {"type": "string", "enum": ["good", "hard"]},
    ...     "yes": {"type": "boolean"}}}
    >>> fitted({"Sure": "0.9", "rating": "Good", "yes": "true", "note": "hm"}, schema)
    {'sure': 0.9, 'rating': 'good', 'yes': True}
    >>> fitted({"sure": 95, "rating": "superb", "yes": None}, schema)
    {'sure': 0.95}
    >>> fitted({"answer": {"yes": True}}, schema)
    {'yes': True}
    """
    for shaped in _shapes(value, schema):
        result = _object(shaped, schema)
        if isinstance(result, dict) and result:
            return result
    return {}


def strict(schema: Mapping[str, Json]) -> dict[str, Json]:
    """Return a schema as the strictest servers take it: every property required, no other, limits in words.

    Limits are checked when an answer is read. A property that may be missing may be null instead.

    >>> strict({"type": "number", "minimum": 0, "maximum": 1})
    {'type': 'number', 'description': 'from 0 to 1'}
    >>> strict({"type": "object", "required": [], "properties": {"x": {"type": "string"}}})["properties"]
    {'x': {'type': ['string', 'null']}}
    """
    plain: dict[str, Json] = {name: one for name, one in schema.items() if name in _TAKEN}
    limits = [words.format(**schema) for name, words in _LIMITS.items() if name in schema]
    if limits and "description" not in schema:
        plain["description"] = ", ".join(limits)
    if isinstance(items := schema.get("items"), Mapping):
        plain["items"] = strict(items)
    if isinstance(properties := schema.get("properties"), Mapping):
        needed = schema.get("required")
        names = needed if isinstance(needed, list) else []
        plain["properties"] = {
            name: strict(one) if name in names else _nullable(strict(one))
            for name, one in properties.items()
            if isinstance(one, Mapping)
        }
        plain |= {"required": list(properties), "additionalProperties": False}
    return plain


def _nullable(schema: Mapping[str, Json]) -> dict[str, Json]:
    named, words = schema.get("type"), schema.get("enum")
    kinds = list(named) if isinstance(named, list) else [named]
    nullable: dict[str, Json] = {**schema, "type": [*kinds, *(["null"] if "null" not in kinds else [])]}
    return nullable if not isinstance(words, list) or None in words else {**nullable, "enum": [*words, None]}


def _shapes(value: Any, schema: Mapping[str, Json]) -> Iterator[Json]:
    """Yield a value as an answer it may be: itself, its one list, or what it wraps."""
    for _ in range(_DEEPEST + 1):
        listed = _only_list(schema)
        if isinstance(value, Mapping):
            yield value
            if listed and _is_item(value, schema, listed):
                yield {listed: [value]}
        elif isinstance(value, list) and listed and value:
            yield {listed: value}
        inside = (
            [one for one in value.values() if isinstance(one, Mapping)]
            if isinstance(value, Mapping)
            else value
        )
        if not isinstance(inside, list) or len(inside) != 1:
            return
        value = inside[0]


def _only_list(schema: Mapping[str, Json]) -> str:
    """Return the name of the list of objects that is all a schema has, "" where it has more."""
    properties = schema.get("properties")
    named = list(properties.items()) if isinstance(properties, Mapping) else []
    if len(named) != 1 or not isinstance(named[0][1], Mapping):
        return ""
    items = named[0][1].get("items")
    return named[0][0] if isinstance(items, Mapping) and items.get("type") == "object" else ""


def _is_item(value: Mapping[str, Any], schema: Mapping[str, Json], listed: str) -> bool:
    items: Any = schema["properties"][listed]["items"]  # type: ignore[index,call-overload]
    held = _object(value, items)
    return isinstance(held, dict) and len(held) > 1


def _size(value: object) -> int:
    """Return how many values an answer holds, at whatever depth."""
    if isinstance(value, Mapping):
        return sum(1 + _size(one) for one in value.values())
    return sum(1 + _size(one) for one in value) if isinstance(value, list) else 0


def cut(text: str, most: int) -> str:
    """Return a text on one line of at most so many characters, cut between words where there are some.

    >>> cut("Book a  table", 20), cut("Book a table for two", 15), cut("订一张两个人的桌子", 4)
    ('Book a table', 'Book a table', '订一张两')
    """
    line = " ".join(text.split())
    if len(line) <= most:
        return line
    start, _, rest = line[: most + 1].rpartition(" ")
    return (start if len(start) > len(rest) else line[:most]).rstrip(" ,;:–—-")


# --- the text --------------------------------------------------------------------------------------------


def _end_of(text: str, start: int) -> int | None:
    """Return where the object that begins at `start` ends, None where it does not."""
    depth = 0
    for match in re.compile(rf"{_TEXT}|[{{}}]", re.DOTALL).finditer(text, start):
        depth += {"{": 1, "}": -1}.get(match[0], 0)
        if not depth:
            return match.end()
    return None


def _loaded(text: str) -> Any:
    """Return what a text means as JSON, or nearly: a comma too many, Python's words, other quotes."""
    with suppress(ValueError, RecursionError):
        return _decoded(text)
    straight = text if '"' in text else text.replace("“", '"').replace("”", '"')
    with suppress(ValueError, RecursionError):
        return _decoded(_LOOSE.sub(_as_json, straight))
    if text.startswith(("{'", "[{'")) and len(text) <= _LONGEST_LITERAL:
        with suppress(ValueError, SyntaxError, RecursionError, MemoryError):
            return json.loads(json.dumps(ast.literal_eval(text), allow_nan=False))
    return None


def _as_json(match: re.Match[str]) -> str:
    text = match[0]
    return text if text.startswith('"') else _WRITTEN.get(text, "")


def _no_number(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON")


def _decoded(text: str) -> Any:
    return json.loads(text, parse_constant=_no_number, strict=False)


# --- the values ------------------------------------------------------------------------------------------


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
    by_name = {_name(name): one for name, one in value.items()}
    values: dict[str, object] = {}
    for name, target in known.items():
        supplied = value[name] if name in value else by_name.get(_name(name), _NONE)
        if supplied is not _NONE and isinstance(target, Mapping):
            read = _read(supplied, target)  # type: ignore[arg-type]
            if read is not _NONE:
                values[name] = read
    return values if values or not value else _NONE


def _array(value: Json, schema: Mapping[str, Json]) -> object:
    items = schema.get("items")
    targets = items if isinstance(items, Mapping) else {}
    if isinstance(value, str):
        arguments: Sequence[Json] = [piece.strip() for piece in _LISTED.split(value) if piece.strip()]
    else:
        arguments = value if isinstance(value, Sequence) else [value]
    read = [one for one in (_read(one, targets) for one in arguments) if one is not _NONE]
    return read if read or not arguments else _NONE


def _boolean(value: Json, _schema: Mapping[str, Json]) -> object:
    if isinstance(value, bool):
        return value
    if not isinstance(value, str | int):
        return _NONE
    words = _first_words(str(value))
    return True if words & set(_TRUE) else False if words & set(_FALSE) else _NONE


def _number(value: Json, schema: Mapping[str, Json]) -> object:
    if isinstance(value, str):
        text = value.strip()
        share = text.endswith("%")
        text = text.rstrip("% ")
        if not _NUMBER.fullmatch(text):
            return _NONE
        value = float(text.replace(",", ".")) / (100 if share else 1)
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
        by_word = {_word(str(word)): word for word in words if word is not None}
        meant = (
            [by_word[word] for word in _first_words(value) if word in by_word]
            if isinstance(value, str)
            else []
        )
        return meant[0] if meant else _NONE
    if isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < math.inf:
        return str(value)
    return value if isinstance(value, str) else _NONE


def _first_words(text: str) -> set[str]:
    """Return what a word may be that stands alone, or before its explanation: "good - it was used"."""
    return {_word(text), _word(_EXPLAINED.split(text, maxsplit=1)[0])}


def _word(text: str) -> str:
    """Return an enumerated word without case, quotes, stops and the way its parts are joined."""
    return "_".join(re.findall(r"\w+", text.casefold().replace("_", " ")))


def _name(text: str) -> str:
    """Return a property's name without case and joints: "isBoundary" is "is_boundary"."""
    return _word(text).replace("_", "")


_READERS: Final = {
    "object": _object,
    "array": _array,
    "boolean": _boolean,
    "number": _number,
    "string": _string,
}

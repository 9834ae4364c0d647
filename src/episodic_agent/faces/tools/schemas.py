"""The JSON Schemas of tools: how they are written, and how arguments are checked against them."""

from collections.abc import Mapping
from typing import Any, Final

from episodic_agent.errors import InvalidInput

Schema = Mapping[str, Any]
_TYPES: Final[Mapping[str, tuple[type, ...]]] = {
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "array": (list,),
    "object": (dict,),
}


def text(description: str, **more: Any) -> Schema:
    """Return the schema of a text."""
    return {"type": "string", "description": description, **more}


def count(description: str, default: int, most: int) -> Schema:
    """Return the schema of how many are wanted."""
    return {
        "type": "integer", "description": description, "minimum": 1, "maximum": most, "default": default
    }  # fmt: skip


def texts(description: str) -> Schema:
    """Return the schema of a list of texts."""
    return {"type": "array", "items": {"type": "string"}, "description": description, "default": []}


def names(description: str) -> Schema:
    """Return the schema of names that may be left out: an empty list is none of them."""
    return {"type": "array", "items": {"type": "string"}, "description": description, "minItems": 1}


def arguments(required: tuple[str, ...] = (), **properties: Schema) -> Schema:
    """Return the schema of a tool's arguments; it takes no others."""
    return {
        "type": "object",
        "properties": properties,
        "required": list(required),
        "additionalProperties": False,
    }


def recalled(name: str = "", item: Schema | None = None, **properties: Schema) -> Schema:
    """Return the schema of an answer that holds memory: a list of items, beside what else is told."""
    listed: dict[str, Schema] = {}
    if item is not None:
        listed = {name: {"type": "array", "items": item}, "left_out": {"type": "integer"}}
    shown = {"begin": {"type": "string"}, **properties, **listed, "end": {"type": "string"}}
    return {"type": "object", "properties": shown, "required": list(shown)}


def nothing_of(schema: Schema) -> dict[str, Any] | None:
    """Return the data of an answer that lists nothing; None where an answer is more than lists and numbers.

    >>> nothing_of(recalled("facts", shape(fact="string"), confidence={"type": "number"}))
    {'confidence': 0, 'facts': [], 'left_out': 0}
    >>> nothing_of(shape(id="string"))
    """
    blank: dict[str, type] = {"array": list, "integer": int, "number": int}
    types = {n: str(one.get("type")) for n, one in schema["properties"].items() if n not in ("begin", "end")}
    return {n: blank[kind]() for n, kind in types.items()} if blank.keys() >= {*types.values()} else None


def shape(**properties: str) -> Schema:
    """Return the schema of an object whose fields all are there; "?" behind a type allows null.

    >>> shape(title="string", end="string?")["properties"]["end"]
    {'type': ['string', 'null']}
    """
    types = {n: {"type": [t[:-1], "null"] if t.endswith("?") else t} for n, t in properties.items()}
    return {"type": "object", "properties": types, "required": list(properties)}


def checked(name: str, supplied: object, schema: Schema) -> dict[str, Any]:
    """Return the arguments of a call with defaults in place; InvalidInput names what is wrong and allowed.

    >>> checked("recent", {}, arguments(limit=count("how many", 5, 9)))
    {'limit': 5}
    """
    properties: Mapping[str, Schema] = schema["properties"]
    if supplied is None:
        supplied = {}
    if not isinstance(supplied, Mapping):
        raise InvalidInput(f"{name} takes an object of arguments, not {type(supplied).__name__}")
    unknown = [key for key in supplied if key not in properties]
    if unknown:
        takes = ", ".join(properties)
        raise InvalidInput(f"{name} takes no argument {unknown[0]!r}; it takes {takes}")
    read = {key: value for key, value in supplied.items() if value is not None}
    missing = [key for key in schema["required"] if key not in read]
    if missing:
        raise InvalidInput(f"{name} needs {missing[0]!r}: {properties[missing[0]]['description']}")
    for key, value in read.items():
        _check(f"{name}: {key}", value, properties[key])
    defaults = {key: one["default"] for key, one in properties.items() if "default" in one}
    return {**defaults, **read}


def _check(where: str, value: Any, schema: Schema) -> None:
    kinds = _TYPES[schema["type"]]
    if not isinstance(value, kinds) or (isinstance(value, bool) and bool not in kinds):
        raise InvalidInput(f"{where} is of type {schema['type']}, not {type(value).__name__}")
    if isinstance(value, str) and not value.strip() and schema.get("minLength"):
        raise InvalidInput(f"{where} is empty; give some words")
    if isinstance(value, list) and not all(isinstance(one, str) for one in value):
        raise InvalidInput(f"{where} is a list of texts")
    if "enum" in schema and value not in schema["enum"]:
        raise InvalidInput(f"{where} is one of {', '.join(schema['enum'])}, not {value!r}")
    least, most = schema.get("minimum"), schema.get("maximum")
    if (least is not None and value < least) or (most is not None and value > most):
        raise InvalidInput(f"{where} lies from {least} to {most}, not {value}")

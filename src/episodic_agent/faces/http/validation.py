"""What of a request has the wrong form, in plain words: the field, what was seen, and what is taken.

The routes of seed 003 answer with the validator's own words, as they always did.
"""

import json
from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from typing import Any, Final

from pydantic import BaseModel

Fault = Mapping[str, Any]  # one error of the validator: its `type`, `loc`, `input`, `msg` and `ctx`
_SHOWN: Final = 40  # characters of a value in a message
_JSON: Final = "a JSON object, with the header content-type: application/json"
_KINDS: Final[Mapping[str, str]] = {
    "bool": "true or false",
    "date": "a day, as 2026-03-01",
    "dict": "a JSON object",
    "float": "a number",
    "int": "a whole number",
    "list": "a list",
    "model": "a JSON object",
    "string": "a text",
    "uuid": "an id",
}
_BOUNDS: Final[Mapping[str, tuple[str, str]]] = {
    "greater_than_equal": ("ge", "{} or more"),
    "less_than_equal": ("le", "at most {}"),
    "greater_than": ("gt", "more than {}"),
    "less_than": ("lt", "less than {}"),
    "string_too_long": ("max_length", "at most {} characters"),
}


def explained(
    faults: Sequence[Fault], in_body: Sequence[str] = (), in_query: Sequence[str] = ()
) -> list[dict[str, str]]:
    """Return what is wrong as `where` (dotted) and `problem` (a sentence without its full stop).

    `in_body` and `in_query` name the fields there are, for whoever named another one or in another place.

    >>> fault = {"type": "int_parsing", "loc": ("query", "limit"), "input": "ten", "msg": "…"}
    >>> explained([fault])
    [{'where': 'query.limit', 'problem': "`limit` is a whole number, not 'ten'"}]
    """
    return [
        {"where": ".".join(map(str, place)), "problem": _problem(place, group, in_body, in_query)}
        for place, group in _by_field(faults).items()
    ]


def unread(cause: BaseException | None) -> str:
    """Return why a body was not read as JSON; `cause` is what reading it raised.

    >>> unread(RecursionError()).partition(", with the header")[0]
    'the body is nested too deeply; send a JSON object in UTF-8'
    """
    if isinstance(cause, UnicodeDecodeError):
        problem = f"is not in UTF-8 (byte 0x{cause.object[cause.start]:02x} at {cause.start})"
    elif isinstance(cause, RecursionError):
        problem = "is nested too deeply"
    else:
        problem = "cannot be read"
    return f"the body {problem}; send {_JSON.replace(',', ' in UTF-8,', 1)}"


def taken_by(params: Sequence[Any]) -> list[str]:
    """Return the names of what a route takes, in a body or behind the path: a model stands for its fields."""
    names: list[str] = []
    for param in params:
        form = param.field_info.annotation
        is_model = isinstance(form, type) and issubclass(form, BaseModel)
        names += [*form.model_fields] if is_model else [param.alias]
    return names


def _by_field(faults: Sequence[Fault]) -> Mapping[tuple[Any, ...], list[Fault]]:
    """Return the faults of each field; what may be of two kinds has one for either.

    Where one of the kinds fits as far as to what is in it, only what is wrong in it is told.
    """
    fields: dict[tuple[Any, ...], list[Fault]] = {}
    for fault in faults:
        place = tuple(part for part in fault["loc"] if not _is_kind_of_field(part))
        fields.setdefault(place, []).append(fault)
    deeper = {place[:length] for place in fields for length in range(len(place))}
    return {place: together for place, together in fields.items() if place not in deeper}


def _is_kind_of_field(part: str | int) -> bool:
    """Tell whether a part of a place is a kind that the field may be of, and no name: "str", "list[str]"."""
    return isinstance(part, str) and part.partition("[")[0] in ("str", "int", "float", "list")


def _problem(
    place: Sequence[Any], faults: Sequence[Fault], in_body: Sequence[str], in_query: Sequence[str]
) -> str:
    fault = faults[0]
    match fault["type"]:
        case "json_invalid":
            return f"the body is no JSON ({fault['ctx']['error'].lower()} at character {place[-1]})"
        case "missing" if len(place) == 1:
            return f"the body is missing; send {_JSON}"
        case "missing":
            return f"{_name(place)} is missing"
        case "extra_forbidden":
            return _unknown(place, in_body, in_query)
        case "string_too_short" | "too_short" if not fault.get("input"):
            return f"{_name(place)} is empty"
        case "value_error":
            return f"{_name(place)}: {fault['ctx']['error']}"
    if isinstance(fault.get("input"), bytes):
        return f"{_name(place)} is not read as JSON; send {_JSON}"
    accepted = list(dict.fromkeys(filter(None, map(_accepted, faults))))
    if not accepted:
        return f"{_name(place)}: {fault['msg']}"
    return f"{_name(place)} is {' or '.join(accepted)}, not {_seen(fault)}"


def _unknown(place: Sequence[Any], in_body: Sequence[str], in_query: Sequence[str]) -> str:
    """Say what to do about a field that is not there: it may stand elsewhere, or be written otherwise.

    >>> _unknown(("body", "as_of"), ["query"], ["as_of"])
    'there is no `as_of` in the body; it stands in the query: `?as_of=…`'
    >>> _unknown(("query", "limt"), ["query"], ["limit"]), _unknown(("query", "wat"), [], [])
    ('there is no `limt`; did you mean `limit`?', 'there is no `wat`; nothing is taken behind the path')
    """
    name = str(place[-1])
    here, there = (in_query, in_body) if place[0] == "query" else (in_body, in_query)
    if len(place) == 2 and name in there:
        if place[0] == "query":
            return f"there is no `{name}` in the query; it stands in the body"
        return f"there is no `{name}` in the body; it stands in the query: `?{name}=…`"
    if not here:
        return f"there is no `{name}`" + ("; nothing is taken behind the path" if place[0] == "query" else "")
    close = get_close_matches(name, here, n=1)
    return f"there is no `{name}`; " + (
        f"did you mean `{close[0]}`?" if close else f"there are {', '.join(here)}"
    )


def _accepted(fault: Fault) -> str:
    """Return what a field takes, "" where the validator has a rule that has no words here."""
    if kind := _kind(fault):
        return kind
    details = fault.get("ctx", {})
    if fault["type"] in _BOUNDS:
        name, words = _BOUNDS[fault["type"]]
        return words.format(details[name])
    if fault["type"] == "too_long":
        return f"a list of at most {details['max_length']}"
    return f"{details['expected']}" if fault["type"] in ("literal_error", "enum") else ""


def _kind(fault: Fault) -> str:
    name, _, rule = fault["type"].partition("_")
    if rule == "attributes_type":  # of a model
        rule = "type"
    return _KINDS.get(name, "") if rule in ("type", "parsing", "from_float", "from_datetime_parsing") else ""


def _name(place: Sequence[Any]) -> str:
    """Return what a field is called; `place` begins with where in the request it stands.

    >>> _name(("body", "messages", 0, "role")), _name(("header", "idempotency-key")), _name(("body",))
    ('`messages[0].role`', 'the header `idempotency-key`', 'the body')
    """
    if len(place) == 1:
        return f"the {place[0]}"
    name = "".join(f"[{one}]" if isinstance(one, int) else f".{one}" for one in place[1:])
    return ("the header " if place[0] == "header" else "") + f"`{name.lstrip('.')}`"


def _seen(fault: Fault) -> str:
    """Return a value as it was sent, shortened; a number behind a path comes as a text.

    >>> [_seen({"type": "int_type", "input": value}) for value in (True, "ten", [1])]
    ['true', "'ten'", '[1]']
    >>> _seen({"type": "greater_than_equal", "input": "-1"})
    '-1'
    """
    value = fault.get("input")
    if fault["type"] == "too_long":
        return f"{fault['ctx']['actual_length']}"
    if isinstance(value, str):
        shown = value if fault["type"] in _BOUNDS else repr(value)
    else:
        shown = json.dumps(value, ensure_ascii=False, default=repr)
    return shown if len(shown) <= _SHOWN else f"{shown[: _SHOWN - 1]}…"

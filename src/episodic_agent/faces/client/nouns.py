"""JSON as the values that verbs return: `showing.plain` the other way round, by the types of the fields."""

import dataclasses
import math
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from datetime import date, datetime, timedelta
from enum import Enum
from functools import cache
from types import NoneType, UnionType
from typing import Any, Final, Literal, TypeVar, Union, get_args, get_origin, get_type_hints
from uuid import UUID

from episodic_agent.engine.chains.sequences import EpisodeSequence, Sequenced
from episodic_agent.errors import UnreadableAnswer

NAMES: Final = {"Json": Any, "Sequence": Sequence, "Mapping": Mapping, "UUID": UUID}
LISTS: Final = (list, tuple, Sequence, Iterable, set, frozenset)
_SCALARS: Final[Mapping[type, str]] = {int: "count", bool: "changed", str: "text", UUID: "id"}


def read_answer(annotation: Any, answer: Any) -> Any:
    """Return what a verb of this return type returned, from the JSON of its route."""
    if annotation is NoneType:
        return None
    if isinstance(annotation, type) and annotation in _SCALARS:
        return read_value(annotation, answer[_SCALARS[annotation]])
    if is_list(annotation):
        item = Sequenced if annotation is EpisodeSequence else get_args(annotation)[0]
        items = [read_value(item, one) for one in answer["items"]]
        return EpisodeSequence(items) if annotation is EpisodeSequence else items
    return read_value(annotation, answer)


def is_list(annotation: Any) -> bool:
    """Tell whether a return type is a list.

    >>> is_list(Sequence[int]), is_list(int)
    (True, False)
    """
    return annotation is EpisodeSequence or get_origin(annotation) in LISTS


def read_value(annotation: Any, value: Any) -> Any:
    """Return a value of a type from its JSON.

    >>> read_value(datetime | None, "2026-03-02T09:00:00+00:00").hour, read_value(tuple[int, ...], [1, 2])
    (9, (1, 2))
    """
    if isinstance(annotation, TypeVar):
        return value
    origin, inner = get_origin(annotation), get_args(annotation)
    if origin in (Union, UnionType):
        return _one_of(inner, value)
    if origin is Literal or annotation is Any or annotation is object:
        return value
    if origin in (Mapping, dict) or annotation in (Mapping, dict):
        key, item = inner or (str, Any)
        return {read_value(key, name): read_value(item, one) for name, one in _checked(dict, value).items()}
    if origin in LISTS:
        return _listed(origin, inner, _checked(list, value))
    return _plain(annotation, value) if isinstance(annotation, type) else value


def _plain(kind: type, value: Any) -> Any:
    if kind is float:
        return math.nan if value is None else value * 1.0  # what was not decided yet is null
    if value is None or kind in (str, int, bool):
        return _checked(kind, value)
    if dataclasses.is_dataclass(kind):
        return _noun(kind, value)
    if issubclass(kind, datetime | date):
        return kind.fromisoformat(value)
    if kind is timedelta:
        return timedelta(seconds=value)
    return kind(value) if issubclass(kind, UUID | Enum) else value


def _checked(kind: type, value: Any) -> Any:
    """Return a value of JSON's own kinds; TypeError for one of another kind."""
    if value is None or isinstance(value, kind):
        return value
    raise TypeError(f"a {type(value).__name__} where a {kind.__name__} should be")


def _noun(noun: type, value: Any) -> Any:
    hints = _hints(noun)
    if not isinstance(value, Mapping):
        raise UnreadableAnswer(f"the server sent no {noun.__name__}; are client and server of one version?")
    known = {field.name for field in dataclasses.fields(noun) if field.init}
    try:
        return noun(**{name: read_value(hints[name], one) for name, one in value.items() if name in known})
    except (TypeError, ValueError) as error:
        raise UnreadableAnswer(
            f"the server's {noun.__name__} cannot be read ({error}); are client and server of one version?"
        ) from error


def _one_of(kinds: Sequence[Any], value: Any) -> Any:
    """Read a value as the first of several types that it can be of."""
    if value is None:
        return None
    for kind in kinds:
        if kind is NoneType or (kind is str and not isinstance(value, str)):
            continue
        with suppress(TypeError, ValueError, AttributeError, UnreadableAnswer):
            return read_value(kind, value)
    return value


def _listed(origin: Any, inner: Sequence[Any], value: Any) -> Any:
    if origin is tuple and not (len(inner) == 2 and inner[1] is Ellipsis):
        return tuple(read_value(kind, one) for kind, one in zip(inner, value, strict=True))
    items = [read_value(inner[0] if inner else Any, one) for one in value]
    if origin in (set, frozenset):
        return origin(items)
    return items if origin is list else tuple(items)


@cache
def _hints(noun: type) -> Mapping[str, Any]:
    return get_type_hints(noun, localns=NAMES)

"""The nouns as pydantic models, made from the dataclasses: what an answer looks like, said once.

`model_of` turns a return type into what OpenAPI can describe; `shown` turns the value into that JSON.
"""

import dataclasses
import math
from collections.abc import Iterable, Mapping, Sequence
from datetime import date, timedelta
from enum import Enum
from functools import cache
from inspect import cleandoc
from types import NoneType, UnionType
from typing import Any, Final, ForwardRef, Literal, Union, get_args, get_origin, get_type_hints
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field, create_model

from episodic_agent.engine.chains.sequences import EpisodeSequence, Sequenced
from episodic_agent.engine.results import Recall
from episodic_agent.faces.shapes import recall_json
from episodic_agent.showing import plain

LISTS: Final = (list, tuple, Sequence, Iterable, set, frozenset)
# `Json` refers to itself by its name, which only some modules know
_KINDS: Final = (str, int, bool, UUID, date, Enum)
_JSON: Final = {str, int, float, bool}  # who takes all of them takes any JSON
_NAMES: Final = {"Json": Any, "Sequence": Sequence, "Mapping": Mapping, "UUID": UUID}


class AnswerMessage(BaseModel):
    """A message that proves an answer; `id` is your own where you gave one."""

    id: str
    actor: str
    text: str
    at: str
    score: float
    legs: dict[str, float] | None = None


class AnswerEpisode(BaseModel):
    """An episode that answers, with the messages that prove it; scores lie in [0, 1]."""

    episode_id: UUID
    title: str
    summary: str
    score: float
    confidence: float
    start_at: str
    end_at: str
    state: str
    retrievability: float
    key_moment: bool
    observations: list[AnswerMessage]
    legs: dict[str, float] | None = None
    reason: str | None = Field(default=None, description="Why it is hidden, of one that is.")


class SearchAnswer(BaseModel):
    """What answers a question: facts, episodes, and the best messages over all.

    Where nothing is relevant `abstained` is true, `hits` is empty and the last of `notes` says why.
    """

    facts: list[dict[str, Any]]
    hits: list[AnswerEpisode]
    observations: list[AnswerMessage]
    abstained: bool
    confidence: float
    notes: list[str]
    commitments: list[dict[str, Any]] | None = Field(
        default=None,
        description="What was taken on, where that is asked for: open by the day due, then settled.",
    )
    candidates: list[AnswerEpisode] | None = None
    suppressed: list[AnswerEpisode] | None = None


class Counted(BaseModel):
    """How many things it was done to."""

    count: int


class Changed(BaseModel):
    """Whether there was anything to do."""

    changed: bool


class TextAnswer(BaseModel):
    """An answer in words, as Markdown."""

    text: str


class IdAnswer(BaseModel):
    """An id."""

    id: UUID


_SCALARS: Final[Mapping[type, type[BaseModel]]] = {
    int: Counted,
    bool: Changed,
    str: TextAnswer,
    UUID: IdAnswer,
}


def answer_model(annotation: Any) -> Any:
    """Return the model of what a verb returns, its items aside where it is a list; None for nothing."""
    if annotation is NoneType:
        return None
    if annotation is Recall:
        return SearchAnswer
    if isinstance(annotation, type) and annotation in _SCALARS:
        return _SCALARS[annotation]
    return _form(annotation)


def item_type(annotation: Any) -> Any:
    """Return what a list is of; None for what is no list.

    >>> item_type(Sequence[int]), item_type(int)
    (<class 'int'>, None)
    """
    if annotation is EpisodeSequence:
        return Sequenced
    origin = get_origin(annotation)
    return get_args(annotation)[0] if origin in LISTS else None


@cache
def page_of(item: Any) -> type[BaseModel]:
    """Return the model of a page of such items."""
    name = (
        f"Page{getattr(item, '__name__', 'Item').title()}" if not _is_noun(item) else f"{item.__name__}Page"
    )
    following = Field(description="Give it as `cursor` for the next page; null on the last.")
    page: type[BaseModel] = create_model(
        name,
        __doc__=f"A page of a list of {getattr(item, '__name__', 'items')}.",
        items=(list[_form(item)], ...),  # type: ignore[misc, arg-type]
        next=(str | None, following),
    )
    return page


def shown(value: Any) -> Any:
    """Return what a verb returned as JSON; a number that is none (not decided yet) is null."""
    if isinstance(value, Recall):
        explained = any(hit.legs for hit in (*value.hits, *value.candidates))
        answer = recall_json(value, explain=explained, suppressed=bool(value.suppressed))
        return _finite(plain(answer))
    if isinstance(value, bool):
        return {"changed": value}
    if isinstance(value, int):
        return {"count": value}
    if isinstance(value, str):
        return {"text": value}
    if isinstance(value, UUID):
        return {"id": str(value)}
    return shown_item(value)


def shown_item(value: Any) -> Any:
    """Return a noun, or what a list holds, as JSON."""
    return _finite(plain(value))


def _finite(value: Any) -> Any:
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {key: _finite(inner) for key, inner in value.items()}
    return [_finite(inner) for inner in value] if isinstance(value, list) else value


def _is_noun(value: Any) -> bool:
    return isinstance(value, type) and dataclasses.is_dataclass(value)


_building: list[type] = []


def _form(annotation: Any) -> Any:
    """Return a type as pydantic may describe it; what it cannot is anything."""
    origin, inner = get_origin(annotation), get_args(annotation)
    if annotation in (None, NoneType):
        return None
    if origin in (Union, UnionType):
        forms = [_form(choice) for choice in inner]
        return Any if Any in forms or set(inner) >= _JSON else Union[tuple(forms)]  # noqa: UP007
    if origin is Literal:
        return annotation
    if _is_noun(annotation):
        return ForwardRef(annotation.__name__) if annotation in _building else noun_model(annotation)
    if origin in LISTS:
        item = _form(inner[0]) if _is_list(origin, inner) else Any
        return list[item]  # type: ignore[valid-type]
    if origin in (Mapping, dict):
        value = _form(inner[1])
        return dict[str, value]  # type: ignore[valid-type]
    if annotation is float:
        return float | None  # what was not decided yet is null
    if annotation is timedelta:
        return float
    return annotation if isinstance(annotation, type) and issubclass(annotation, _KINDS) else Any


def _is_list(origin: Any, inner: Sequence[Any]) -> bool:
    """Tell a list of one kind from a pair of different things."""
    return origin is not tuple or (len(inner) == 2 and inner[1] is Ellipsis)


@cache
def noun_model(noun: type) -> type[BaseModel]:
    """Return the model of a noun, with its docstring: the fields of the dataclass and no others."""
    _building.append(noun)
    try:
        hints = get_type_hints(noun, localns=_NAMES)
        fields: dict[str, Any] = {f.name: (_form(hints[f.name]), ...) for f in dataclasses.fields(noun)}
    finally:
        _building.remove(noun)
    model: type[BaseModel] = create_model(
        noun.__name__,
        __config__=ConfigDict(protected_namespaces=()),
        __doc__=cleandoc(noun.__doc__ or ""),
        **fields,
    )
    model.model_rebuild(_types_namespace={noun.__name__: model})
    return model

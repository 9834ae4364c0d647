"""The routes of `/v1`, each made from its verb: parameters, answer and description are the verb's."""

import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from functools import cache, partial
from http import HTTPStatus
from operator import attrgetter
from types import NoneType, UnionType
from typing import Annotated, Any, Final, Literal, Union, get_args, get_origin, get_type_hints

from fastapi import APIRouter, Body, Depends, Path, Query, Request, Response
from pydantic import ConfigDict, Field, create_model
from pydantic.config import JsonDict

from episodic_agent.engine.context.assembling import ThreadContext
from episodic_agent.engine.jobs.operations import Operation
from episodic_agent.engine.memory import Memory
from episodic_agent.engine.results import DetailedRecall, Recall
from episodic_agent.engine.user import UserMemory
from episodic_agent.faces.http.v1.asking import (
    AS_OF,
    answered,
    for_http,
    memory_of,
    name_in_path,
    needs,
    refuse_past,
    v1_router,
)
from episodic_agent.faces.http.v1.nouns import (
    LISTS,
    answer_model,
    item_type,
    noun_model,
    page_of,
    shown,
    shown_item,
)
from episodic_agent.faces.http.v1.pages import DEFAULT_PAGE, LARGEST_PAGE, page
from episodic_agent.faces.verbs import (
    BODIES,
    OF_SPACE,
    OF_USER,
    PLACEHOLDER,
    USER,
    VerbRoute,
    operation_name,
    verb_of,
)
from episodic_agent.schemas.keys import Role

_LARGEST: Final = (1 << 31) - 1
Endpoint = Callable[..., Response]


@cache  # their models take a second to make
def verb_routes() -> APIRouter:
    """Return the routes of the table."""
    router = v1_router()
    for base, rows in ((USER, OF_USER), ("", OF_SPACE)):
        for row in rows:
            add_verb(router, base, row)
    return router


def add_verb(router: APIRouter, base: str, row: VerbRoute) -> None:
    """Add one route of the table; `base` is what its path begins with."""
    owner = UserMemory if base else Memory
    verb = verb_of(owner, row.verb)
    hints = get_type_hints(verb)
    parameters = inspect.signature(verb).parameters
    unnamed = [name for name, one in parameters.items() if one.kind is one.POSITIONAL_ONLY and name != "self"]
    call = VerbCall(row, hints["return"], tuple(unnamed), takes_limit="limit" in hints, of_user=bool(base))
    about = inspect.getdoc(verb) or ""
    router.add_api_route(
        base + row.path,
        _endpoint(call, _parameters(base, call, parameters, hints)),
        methods=[row.method],
        response_model=call.model,
        status_code=HTTPStatus.NO_CONTENT if call.model is None else HTTPStatus.OK,
        operation_id=operation_name(base, row),
        summary=about.partition("\n")[0].rstrip("."),
        description=about,
        tags=[row.verb.rpartition(".")[0] or "memory" if base else "space"],
        dependencies=[Depends(needs(row.role, reads=call.has_past))],
        openapi_extra={"x-role": row.role.value, "x-verb": row.verb},
    )


@dataclass(frozen=True, slots=True)
class VerbCall:
    """How a request becomes a call of a verb, and what it returned an answer.

    `unnamed` are the parameters the verb takes by their place alone.
    """

    row: VerbRoute
    returns: Any
    unnamed: tuple[str, ...]
    takes_limit: bool
    of_user: bool

    @property
    def has_past(self) -> bool:
        """Tell whether the route can be asked what was known at a moment (`as_of`)."""
        reads = self.row.role is Role.READ or self.row.method == "GET"
        return self.of_user and reads and not self.row.now_only

    @property
    def item(self) -> Any:
        """Return what the answer lists; None for an answer that is no list."""
        return item_type(self.returns)

    @property
    def paged(self) -> bool:
        """Tell whether the list may be read page by page: what is asked by POST answers at once."""
        return self.item is not None and self.row.method == "GET"

    @property
    def model(self) -> Any:
        """Return the model of the answer; None for none."""
        if self.item is not None:
            return page_of(self.item)
        return noun_model(DetailedRecall) if self.row.detailed else answer_model(self.returns)

    def answer(
        self, memory: Memory, user: str, arguments: Mapping[str, Any], as_of: str | None = None
    ) -> Any:
        """Call the verb and return what it says as JSON, as of a moment where one is given."""
        holder = memory.user(user) if self.of_user else memory
        if as_of is not None and isinstance(holder, UserMemory):
            holder = holder.as_of(as_of)
        full = {**arguments, **self.row.set_to}
        verb = partial(attrgetter(self.row.verb)(holder), *(full.pop(name) for name in self.unnamed))
        if not self.paged:
            result = verb(**full)
            if isinstance(result, Operation) and result.error:
                result = replace(result, error=for_http(result.error))
            if isinstance(result, Recall | ThreadContext):
                result = replace(result, notes=tuple(map(for_http, result.notes)))
            if self.row.detailed:
                return {"contents": {}, **shown_item(result)}  # where no detail was asked for, none of them
            listed = None if self.item is None else [shown_item(item) for item in result]
            return shown(result) if listed is None else {"items": listed, "next": None}
        limit, cursor = full.pop("limit"), full.pop("cursor")
        listing = {
            "user": user,
            "path": self.row.path,
            **arguments,
            "limit": 0,
            "cursor": "",
            **({} if as_of is None else {"as_of": as_of}),
        }
        items, following = page(lambda count: self._first(verb, full, count), limit, cursor, listing)
        return {"items": [shown_item(item) for item in items], "next": following}

    def _first(self, verb: Callable[..., Any], arguments: Mapping[str, Any], count: int) -> Sequence[Any]:
        """Return the first so many items of a list."""
        results = verb(**arguments, limit=count) if self.takes_limit else verb(**arguments)
        return [*reversed(results)][:count] if self.row.newest_first else list(results)[:count]


_LISTED: Final = ("where", "only")  # one text or several


def _parameters(
    base: str, call: VerbCall, taken: Mapping[str, inspect.Parameter], hints: Mapping[str, Any]
) -> list[inspect.Parameter]:
    """Return the parameters of a route: those in its path, and one model of all the others."""
    row = call.row
    in_path = PLACEHOLDER.findall(base + row.path)
    hidden = {"self", *in_path, *row.without, *row.set_to, *row.unsent, *(("limit",) if call.paged else ())}
    fields: dict[str, Any] = {
        name: (_taken(hints[name]), ... if one.default is inspect.Parameter.empty else _default(one.default))
        for name, one in taken.items()
        if name not in hidden
    }
    sent = row.method in BODIES
    for name in (*row.narrow, *(one for one in ("only",) if one in fields)):
        fields[name] = (str | list[str] | None if sent and name in _LISTED else str | None, None)
    for name in _LISTED if not sent else ():  # behind the path once for each: the last alone asks for more
        fields |= {name: (list[str] | None, None)} if name in fields else {}
    if call.paged:
        fields["limit"] = (int, Field(DEFAULT_PAGE, ge=1, le=LARGEST_PAGE, description="Items of a page."))
        fields["cursor"] = (str | None, Field(None, description="`next` of the page before."))
    parameters = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, annotation=Annotated[str, Path(min_length=1)])
        for name in in_path
    ]
    if call.has_past and not sent:  # of what is sent in the body it stands behind the path all the same
        fields["as_of"] = (str | None, Field(None, description=AS_OF))
    past = [_PAST] if call.has_past and sent else []
    return [_REQUEST, *parameters, *past, *_asked(operation_name(base, row), row, fields, sent=sent)]


_PAST: Final = inspect.Parameter(
    "as_of",
    inspect.Parameter.KEYWORD_ONLY,
    annotation=Annotated[str | None, Query(description=AS_OF)],
    default=None,
)
_REQUEST: Final = inspect.Parameter("request", inspect.Parameter.KEYWORD_ONLY, annotation=Request)


def _asked(
    name: str, row: VerbRoute, fields: Mapping[str, Any], *, sent: bool
) -> Iterator[inspect.Parameter]:
    """Yield the parameter that holds what is sent in the body, or asked for behind the path."""
    if not fields:
        return
    examples: JsonDict = {"examples": [dict(row.example)]} if row.example else {}
    model = create_model(
        "".join(part.title() for part in name.split("_")) + "Request",
        __config__=ConfigDict(
            extra="forbid",
            strict=sent,
            allow_inf_nan=False,
            json_schema_extra=examples,
            protected_namespaces=(),
        ),
        **fields,
    )
    needed = any(field.is_required() for field in model.model_fields.values())
    yield inspect.Parameter(
        "asked",
        inspect.Parameter.KEYWORD_ONLY,
        annotation=Annotated[model, Body() if sent else Query()],
        default=inspect.Parameter.empty if needed or not sent else model(),
    )


def _taken(annotation: Any) -> Any:
    """Return what a request may give for a parameter: texts for ids, times and names of kinds.

    >>> _taken(str | float | None), _taken(Sequence[str])
    (str | None, list[str])
    """
    origin, inner = get_origin(annotation), get_args(annotation)
    if origin in (Union, UnionType):
        kinds = [one for one in inner if one is not NoneType]
        form = str if str in kinds else _taken(kinds[0])
        return form | None if NoneType in inner else form
    if origin is Literal or annotation in (bool, float, date):
        return annotation
    if annotation is int:
        return Annotated[int, Field(ge=-_LARGEST, le=_LARGEST)]
    return list[str] if origin in LISTS else str


def _default(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value


def _endpoint(call: VerbCall, parameters: Sequence[inspect.Parameter]) -> Endpoint:
    """Return the function of a route, whose signature says what FastAPI reads and describes."""

    def endpoint(**values: Any) -> Response:
        request, asked = values.pop("request"), values.pop("asked", None)
        as_of = values.pop("as_of", None)
        if not call.has_past:
            refuse_past(request)
        named = {name: name_in_path(name, value) for name, value in values.items()}
        user = named.pop("user", "")
        arguments = {} if asked is None else {name: getattr(asked, name) for name in type(asked).model_fields}
        as_of = arguments.pop("as_of", as_of)
        answer = call.answer(memory_of(request), user, {**named, **arguments}, as_of)
        if call.model is None:
            return Response(status_code=HTTPStatus.NO_CONTENT)
        return answered(request, answer)

    endpoint.__signature__ = inspect.Signature(list(parameters))  # type: ignore[attr-defined]
    return endpoint

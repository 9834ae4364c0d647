"""A call of a verb as requests and the reading of their answers; nothing is sent here.

A call is a generator: it yields requests, is sent their answers, and returns what the verb returns. Who runs
it may block or await.
"""

import dataclasses
import inspect
import math
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, fields, replace
from datetime import date, datetime, timedelta
from enum import Enum
from functools import cache, cached_property
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, Final, Literal, TypeAlias, TypeVar, Union, get_args, get_origin, get_type_hints
from urllib.parse import quote
from uuid import UUID

from episodic_agent.engine.chains.sequences import EpisodeSequence, Sequenced
from episodic_agent.engine.filters import Filter
from episodic_agent.engine.jobs.operations import Operation, operation_id
from episodic_agent.engine.memory import Memory
from episodic_agent.engine.results import DetailedRecall, ImportReport
from episodic_agent.engine.user import UserMemory
from episodic_agent.errors import InvalidInput, UnreadableAnswer
from episodic_agent.faces.verbs import BODIES, OF_SPACE, OF_USER, PLACEHOLDER, ROOMS, VerbRoute, verb_of
from episodic_agent.schemas import Receipt

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


LARGEST_PAGE: Final = 200
MOST_MESSAGES: Final = 1000  # of one request
_NUMBERS: Final = (int, float, bool)
_INSTEAD: Final = {  # verbs of the handle without a route
    "run": "a sensor is a device beside the program: open the memory where it is (`Memory.open`)",
    "only": "give `only` to a verb that takes it; the service holds whole memories",
    "episodes.contents": "read `episodes.messages` of each",
    "sections.ids": "`sections.list` has them",
    "jobs.reembed": "run `episodic jobs reembed` beside the database, with the new embedder",
    "jobs.worker": "a worker is a process beside the database: `episodic worker`",
    "doctor": "run `episodic doctor` beside the database",
    "backup": "run `episodic backup` (or pg_dump) beside the database",
    "keys": "run `episodic keys` beside the database: no key makes keys",
}


@dataclass(frozen=True, slots=True)
class HttpCall:
    """A request: where to, what is asked behind the path or sent as JSON, or a file that is sent as it is."""

    method: str
    path: str
    asked: Mapping[str, Any] = field(default_factory=dict)
    body: Any = None
    headers: Mapping[str, str] = field(default_factory=dict)
    file: Path | None = None


Call: TypeAlias = Generator[HttpCall, Any, Any]  # yields requests, takes the JSON of their answers


def asked_too(call: Call, more: Mapping[str, Any]) -> Call:
    """Ask the same with more behind the path."""
    answer = None
    try:
        while True:
            step = call.send(answer)
            answer = yield replace(step, asked={**step.asked, **more})
    except StopIteration as result:
        return result.value


class VerbOverHttp:
    """A verb of the handle, or of the whole memory, by the routes it has."""

    def __init__(self, owner: type, name: str, rows: Sequence[VerbRoute]) -> None:
        self.owner = owner
        self.name = name
        self.rows = sorted(
            rows, key=lambda row: (row.detailed, len(PLACEHOLDER.findall(row.path))), reverse=True
        )

    @cached_property
    def function(self) -> Callable[..., Any]:
        """The function it mirrors, whose signature and documentation it has."""
        return verb_of(self.owner, self.name)

    @cached_property
    def hints(self) -> Mapping[str, Any]:
        """The types of its parameters and of what it returns."""
        return get_type_hints(self.function)

    def arguments(self, *values: Any, **named: Any) -> dict[str, Any]:
        """Return what a call says, by the names of the parameters, a filter by its fields."""
        signature = inspect.signature(self.function)
        bound = signature.bind(None, *values, **named).arguments
        bound.pop("self", None)
        narrow = dict(bound.pop("narrow", {}))
        if (narrowing := bound.pop("filter", None)) is not None:
            if not isinstance(narrowing, Filter):
                raise InvalidInput(f"`filter` is a Filter, not {type(narrowing).__name__}")
            narrow = {one.name: getattr(narrowing, one.name) for one in fields(Filter)} | narrow
        unknown = [name for name in narrow if name not in Filter.__dataclass_fields__]
        if unknown:
            raise TypeError(f"unexpected keyword {unknown[0]!r}")
        return {**bound, **narrow}

    def call(self, base: str, *values: Any, **named: Any) -> Call:
        """Return the requests of a call; `base` is what their paths begin with."""
        arguments = self.arguments(*values, **named)
        present = {name: value for name, value in arguments.items() if value is not None}
        row = self._row(present)
        in_path = PLACEHOLDER.findall(row.path)
        path = base + PLACEHOLDER.sub(lambda match: quoted(present[match[1]]), row.path)
        rest = {name: value for name, value in present.items() if name not in (*in_path, *row.set_to)}
        self._check(row, rest)
        sent = row.method in BODIES
        asked = {
            name: sendable(value, self.hints.get(name, str | list[str]))
            for name, value in rest.items()
            if name not in row.unsent
        }
        if is_list(self.hints["return"]) and row.method == "GET":
            answer = yield from self._pages(row, path, asked)
        else:
            answer = yield HttpCall(row.method, path, {} if sent else asked, asked if sent else None)
        if row.detailed:
            recall = read_value(DetailedRecall, {"contents": {}, **answer})
            return recall if answer.get("contents") else _without_contents(recall, self.hints["return"])
        return read_answer(self.hints["return"], answer)

    def _row(self, present: Mapping[str, Any]) -> VerbRoute:
        """Return the route of a call: the one whose path its arguments fill."""
        for row in self.rows:
            filled = all(name in present for name in PLACEHOLDER.findall(row.path))
            if filled and all(present.get(name) == value for name, value in row.set_to.items()):
                return row
        named = ", ".join(sorted({name for row in self.rows for name in PLACEHOLDER.findall(row.path)}))
        raise InvalidInput(f"`{self.name}` needs one of {named}")

    def _check(self, row: VerbRoute, rest: Mapping[str, Any]) -> None:
        """Raise InvalidInput for what cannot be sent, unless it is what the verb assumes anyway."""
        assumed = inspect.signature(self.function).parameters
        for name in (*row.without, *row.unsent):
            if name in rest and (name not in assumed or rest[name] != assumed[name].default):
                raise InvalidInput(f"`{name}` of `{self.name}` cannot be sent over HTTP; leave it out")

    def _pages(self, row: VerbRoute, path: str, asked: Mapping[str, Any]) -> Call:
        """Read a list page by page, as far as it was asked for, in the order that Python returns it."""
        items: list[Any] = []
        most = asked.get("limit")
        cursor: str | None = None
        while True:
            size = LARGEST_PAGE if most is None else max(1, min(LARGEST_PAGE, most - len(items)))
            more = {} if cursor is None else {"cursor": cursor}
            page = yield HttpCall(row.method, path, {**asked, "limit": size, **more})
            items += page["items"]
            cursor = page["next"]
            if cursor is None or (most is not None and len(items) >= most):
                return {"items": items[::-1] if row.newest_first else items}


def _without_contents(recall: DetailedRecall, kind: type) -> Any:
    return kind(**{one.name: getattr(recall, one.name) for one in fields(kind)})


@cache
def verbs(owner: type) -> Mapping[str, VerbOverHttp]:
    """Return the verbs of a handle (`UserMemory`) or a memory (`Memory`) that have routes, by name."""
    rows: dict[str, list[VerbRoute]] = {}
    for row in OF_USER if owner is UserMemory else OF_SPACE:
        rows.setdefault(row.verb, []).append(row)
    rows["search"] = [row for row in rows.get("search", ()) if row.detailed]
    return {name: VerbOverHttp(owner, name, several) for name, several in rows.items() if several}


def rooms(owner: type) -> Sequence[str]:
    """Return the rooms of a handle or a memory that have verbs here."""
    return [room for room in ROOMS if any(name.startswith(f"{room}.") for name in verbs(owner))]


def missing(owner: type, path: str) -> AttributeError:
    """Return the error for a verb that is not here: what to do instead, where the handle has it."""
    instead = _INSTEAD.get(path, "")
    kind = "Client" if owner is Memory else "its users"
    return AttributeError(
        f"`{path}` has no route{'; ' + instead if instead else ''}" if instead else f"{kind} have no `{path}`"
    )


# --- what no table can say --------------------------------------------------------------------------------


def add_call(base: str, *values: Any, **named: Any) -> Call:
    """Add messages, up to 1000 a request (each of which is kept whole or not at all)."""
    bound = inspect.signature(UserMemory.add).bind(None, *values, **named)
    bound.apply_defaults()
    arguments = bound.arguments
    items, wait, key = arguments["items"], arguments["wait"], arguments["idempotency_key"]
    if arguments["progress"] is not None:
        raise InvalidInput("`progress` cannot be sent over HTTP; leave it out")
    own = {name: _text(arguments[name]) for name in ("timestamp", "id") if arguments[name] is not None}
    listed = [items] if isinstance(items, str | Mapping) else list(items)
    if "id" in own and len(listed) != 1:
        raise InvalidInput("`id` names one item; give ids inside the messages of a list")
    messages = [_message(item, arguments["role"], own) for item in listed]
    about = {
        name: _text(arguments[name])
        for name in ("thread", "channel", "source", "ttl", "expires_at")
        if arguments[name] is not None
    }
    if key is not None and len(messages) > MOST_MESSAGES:
        raise InvalidInput(
            f"an idempotency key is of one request of at most {MOST_MESSAGES} messages; send fewer"
        )
    headers = {} if key is None else {"Idempotency-Key": key}
    receipts: list[Receipt] = []
    for start in range(0, len(messages), MOST_MESSAGES):
        body = {"messages": messages[start : start + MOST_MESSAGES], **about}
        answer = yield HttpCall("POST", f"{base}/messages", {"wait": sendable(wait, bool)}, body, headers)
        receipts += [read_value(Receipt, one) for one in answer["receipts"]]
    return receipts


def _message(item: Any, role: str, own: Mapping[str, Any]) -> Any:
    if isinstance(item, str):
        return {"role": role, "content": item, **own}
    if not isinstance(item, Mapping):
        raise InvalidInput(f"give a text, a message or a list of them, not {type(item).__name__}")
    return {**own, **{name: _text(value) for name, value in item.items()}}


def import_call(base: str, *values: Any, **named: Any) -> Call:
    """Send a file to be imported; again it adds nothing."""
    arguments = inspect.signature(UserMemory.import_file).bind(None, *values, **named).arguments
    return read_value(ImportReport, (yield _import(base, arguments, wait=True)))


def import_later_call(base: str, *values: Any, **named: Any) -> Call:
    """Send a file to be imported, and do not wait until it is."""
    arguments = inspect.signature(ROOMS["jobs"].import_file).bind(None, *values, **named).arguments  # type: ignore[attr-defined]
    return read_value(Operation, (yield _import(base, arguments, wait=False)))


def _import(base: str, arguments: dict[str, Any], *, wait: bool) -> HttpCall:
    arguments.pop("self")
    path = Path(arguments.pop("path")).expanduser()
    for name in ("progress", "then"):
        if arguments.pop(name, None) is not None:
            raise InvalidInput(f"`{name}` cannot be sent over HTTP; leave it out")
    if not path.is_file():
        what = "a folder: send a zip of it" if path.is_dir() else "not there"
        raise InvalidInput(f"{str(path)!r} is {what}")
    asked = {
        name: sendable(_text(value), bool | str) for name, value in arguments.items() if value is not None
    }
    asked["dry_run"] = sendable(bool(arguments.get("dry_run")), bool)
    asked["wait"] = sendable(wait, bool)
    return HttpCall("POST", f"{base}/import", {"name": path.name, **asked}, file=path)


def follow_call(base: str, receipts: Sequence[Receipt]) -> Call:
    """Ask how the work that follows from messages stands."""
    return (yield from verbs(UserMemory)["jobs.operation"].call(base, operation_id(receipts)))


# each with the verb it mirrors
SPECIAL: Final[Mapping[str, tuple[Callable[..., Call], Callable[..., Any]]]] = {
    "add": (add_call, UserMemory.add),
    "import_file": (import_call, UserMemory.import_file),
    "jobs.import_file": (import_later_call, ROOMS["jobs"].import_file),  # type: ignore[attr-defined]
    "jobs.follow": (follow_call, ROOMS["jobs"].follow),  # type: ignore[attr-defined]
}


# --- values -----------------------------------------------------------------------------------------------


def quoted(name: Any) -> str:
    """Return a name as it stands in a path.

    >>> quoted("ana/work")
    'ana%2Fwork'
    """
    return quote(str(_text(name)), safe="")


def sendable(value: Any, kind: Any) -> Any:
    """Return a value as JSON that the route takes; a number is text where texts may stand, too.

    >>> sendable(5, int), sendable(5.0, str | float | None), sendable(timedelta(days=1), str | timedelta)
    (5, '5.0', '86400.0')
    """
    if isinstance(value, Sequence) and not isinstance(value, str | bytes):
        return [sendable(one, kind) for one in value]
    if isinstance(value, _NUMBERS) and not isinstance(value, Enum):
        return value if _takes_numbers_only(kind) else str(value)
    return _text(value) if not isinstance(value, timedelta) else str(value.total_seconds())


def _takes_numbers_only(kind: Any) -> bool:
    if get_origin(kind) in (Union, UnionType):
        return all(one in _NUMBERS or one is NoneType for one in get_args(kind))
    return kind in _NUMBERS


def _text(value: Any) -> Any:
    """Return what JSON has no form for as text; anything else as it is."""
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, timedelta):
        return value.total_seconds()
    if isinstance(value, UUID):
        return str(value)
    return value.value if isinstance(value, Enum) else value

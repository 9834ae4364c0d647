"""The project's own export: JSON lines, a header and then one typed noun a line, lossless.

`{"format": "episodic-agent", "version": 3, …}` then `{"type": "observation", …}` and so on. Ids are UUID
strings, times ISO 8601 in UTC with microseconds, bytes base64; numbers that are none ("nan", "inf") are
strings where a number belongs. Reading gives back equal nouns: what a field holds is told by its type in
`schemas/__init__.py`, so a new field needs nothing here.
"""

import base64
import json
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import MISSING, dataclass, field, fields, is_dataclass
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, Final, TypeAlias, Union, cast, get_args, get_origin, get_type_hints
from uuid import UUID

from episodic_agent.core.ingest import IntakeLimits, check_size
from episodic_agent.engine.files.opening import NORMAL, Unreadable, excerpt, inspect, lines
from episodic_agent.errors import InvalidInput, TooLarge
from episodic_agent.protocols import SuppressedWords
from episodic_agent.schemas import (
    Decision,
    Encoding,
    Episode,
    Frame,
    Joined,
    Json,
    Link,
    Observation,
    PendingReview,
    Scope,
    Section,
    Thread,
    values,
)
from episodic_agent.schemas.chains import Refusal
from episodic_agent.schemas.erasures import Tombstone
from episodic_agent.schemas.facts import Fact, FactTombstone
from episodic_agent.schemas.skills import SkillState

FORMAT: Final = "episodic-agent"
VERSION: Final = 3  # 1 had neither parts of threads nor skills, 2 no facts


@dataclass(frozen=True, slots=True)
class CheckRecord:
    """What the boundary machine saw at one observation, packed as the store keeps it (I6)."""

    thread_id: UUID
    seq: int
    packed: bytes


@dataclass(frozen=True, slots=True)
class SkillLine:
    """A skill, what may become one, or what was forgotten; `evidence` are turns as "thread:seq"."""

    id: UUID
    pattern: str
    state: SkillState
    created_at: datetime
    skill: Mapping[str, Json]
    evidence: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class FactLine:
    """A fact, and since when the memory holds it (record time)."""

    fact: Fact
    created_at: datetime


@dataclass(frozen=True, slots=True)
class Moved:
    """The id of a fact whose evidence another one holds now."""

    id: UUID
    holder: UUID


@dataclass(frozen=True, slots=True)
class MarkLine:
    """What is pinned, suppressed or archived, from one observation to another; None: to the thread's end."""

    thread_id: UUID
    kind: str
    at: datetime
    reason: str = ""
    first_id: UUID | None = None
    last_id: UUID | None = None


@dataclass(frozen=True, slots=True)
class RetentionLine:
    """The user's own retention policy, as its rules."""

    policy: str


Noun: TypeAlias = (
    Thread
    | Observation
    | Frame
    | Episode
    | Encoding
    | Decision
    | CheckRecord
    | Section
    | PendingReview
    | Link
    | Joined
    | SkillLine
    | FactLine
    | Moved
    | FactTombstone
    | MarkLine
    | SuppressedWords
    | RetentionLine
    | Refusal
    | Tombstone
)
TYPES: Final[Mapping[str, type[Noun]]] = {
    "thread": Thread,
    "observation": Observation,
    "record": CheckRecord,
    "frame": Frame,
    "episode": Episode,
    "encoding": Encoding,
    "decision": Decision,
    "part": Section,
    "recall": PendingReview,
    "link": Link,
    "joined": Joined,
    "skill": SkillLine,
    "fact": FactLine,
    "moved_fact": Moved,
    "deleted_fact": FactTombstone,
    "mark": MarkLine,
    "suppressed_words": SuppressedWords,
    "retention": RetentionLine,
    "refused_chain": Refusal,
    "erased": Tombstone,
}
_HINTS: Final[dict[type[Any], Mapping[str, Any]]] = {}
_NAMES: Final = {noun: name for name, noun in TYPES.items()}


@dataclass(frozen=True, slots=True)
class Header:
    """Whose memory an export holds, when it was made, and how many lines of each type follow.

    `timeouts` are the user's own by channel ("" for all), in seconds.
    """

    scope: Scope
    exported_at: datetime
    counts: Mapping[str, int]
    version: int = VERSION
    timeouts: Mapping[str, timedelta] = field(default_factory=dict)


def header_line(
    scope: Scope,
    exported_at: datetime,
    counts: Mapping[str, int],
    timeouts: Mapping[str, timedelta] | None = None,
) -> str:
    """Write the first line of an export.

    >>> header_line(Scope("ana"), datetime(2024, 3, 1, tzinfo=UTC), {"thread": 1})[:58]
    '{"format": "episodic-agent", "version": 3, "space": "defau'
    """
    head = {
        "format": FORMAT,
        "version": VERSION,
        "space": scope.space,
        "user_id": scope.user_id,
        "exported_at": _time(exported_at),
        "counts": dict(counts),
    }
    if timeouts:
        head["timeouts"] = {channel: timeout.total_seconds() for channel, timeout in timeouts.items()}
    return json.dumps(head, ensure_ascii=False)


def export_lines(nouns: Iterable[Noun]) -> Iterator[str]:
    """Write nouns as lines (without line ends), in the order given: threads before what is in them."""
    for noun in nouns:
        yield json.dumps(to_json(noun), ensure_ascii=False, allow_nan=False)


def read_header(path: Path, limits: IntakeLimits = NORMAL) -> Header:
    """Read an export's first line; raises InvalidInput when it is no export or of a newer version."""
    first = next(lines(inspect(path, limits=limits)), None)
    try:
        head = json.loads(first[1]) if isinstance(first, tuple) else None
    except (ValueError, RecursionError):
        head = None
    if not isinstance(head, Mapping) or head.get("format") != FORMAT:
        raise InvalidInput(f"{path} is not an export of this project (no header on its first line)")
    if not isinstance(head.get("version"), int) or head["version"] > VERSION:
        raise InvalidInput(
            f"{path} has export version {head.get('version')}; this program reads up to {VERSION}"
        )
    if not isinstance(head.get("counts", {}), Mapping):
        raise InvalidInput(f"{path} has a damaged header: its counts are no object")
    try:
        scope = Scope(str(head.get("user_id", "default")), str(head.get("space", "default")))
        made, counts = _decode(datetime, head["exported_at"]), head.get("counts", {})
        timeouts = {str(c): timedelta(seconds=s) for c, s in dict(head.get("timeouts", {})).items()}
        return Header(scope, made, counts, head["version"], timeouts)
    except (KeyError, TypeError, ValueError, OverflowError) as error:
        raise InvalidInput(f"{path} has a damaged header: {error}") from error


def read_export(path: Path, limits: IntakeLimits = NORMAL) -> Iterator[Noun | Unreadable]:
    """Stream an export's nouns; lines that hold none are reported and the next one read.

    The header is checked at the call (InvalidInput, see `read_header`).
    """
    read_header(path, limits)
    return _nouns(path, limits)


def to_json(noun: Noun) -> dict[str, object]:
    """Turn a noun into the object of its line.

    >>> to_json(CheckRecord(UUID(int=1), 4, b"hi"))["packed"]
    'aGk='
    """
    return {"type": _NAMES[type(noun)], **_fields(noun)}


def from_json(line: Mapping[str, object]) -> Noun:
    """Turn a line's object back into its noun; raises InvalidInput naming the field that does not fit.

    >>> record = CheckRecord(UUID(int=1), 4, b"hi")
    >>> from_json(to_json(record)) == record
    True
    """
    noun: type[Any] | None = TYPES.get(str(line.get("type")))
    if noun is None:
        raise InvalidInput(f"unknown type {line.get('type')!r}; known: {', '.join(TYPES)}")
    return cast(Noun, _of_fields(noun, line, str(line["type"])))


def _fields(value: Any) -> dict[str, object]:
    """Return a dataclass as an object; a value that equals its default is left out: most of most do."""
    line: dict[str, object] = {}
    for each in fields(value):
        held = getattr(value, each.name)
        if not (each.default is not MISSING and held == each.default and type(held) is type(each.default)):
            line[_key(each.name)] = _encode(held)
    return line


def _of_fields(noun: type[Any], line: Mapping[str, object], name: str) -> Any:
    """Undo `_fields`; raises InvalidInput naming the field that does not fit."""
    values = {}
    for each in fields(noun):
        if (key := _key(each.name)) not in line:
            if each.default is MISSING and each.default_factory is MISSING:
                raise InvalidInput(f"the {name} has no {key}")
            continue
        try:
            values[each.name] = _decode(_hints(noun)[each.name], line[key])
        except (TypeError, ValueError, OverflowError) as error:
            raise InvalidInput(f"the {name}'s {key} does not fit: {error}") from error
    return noun(**values)


def _hints(noun: type[Any]) -> Mapping[str, Any]:
    if noun not in _HINTS:
        # `Json` speaks of itself and of what only its own module imports
        _HINTS[noun] = get_type_hints(noun, localns=vars(values))
    return _HINTS[noun]


def _key(field: str) -> str:
    return "decision_type" if field == "type" else field  # `type` names the noun itself


def _nouns(path: Path, limits: IntakeLimits) -> Iterator[Noun | Unreadable]:
    for entry in lines(inspect(path, limits=limits)):
        if isinstance(entry, Unreadable):
            yield entry
            continue
        number, line = entry
        if number == 1 or not line.strip():
            continue
        try:
            value = json.loads(line)
            noun = from_json(value if isinstance(value, dict) else {})
            if isinstance(noun, Observation):
                check_size("its text", noun.text, limits.message)
            yield noun
        except TooLarge as error:
            raise TooLarge(f"{path}, line {number}: {error}") from error
        except InvalidInput as error:
            yield Unreadable(number, str(error), excerpt(line))
        except (ValueError, RecursionError):
            yield Unreadable(number, "the line is not JSON or breaks off", excerpt(line))


def _time(value: datetime) -> str:
    return value.astimezone(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")


def _encode(value: object) -> object:
    match value:
        case datetime():
            return _time(value)
        case timedelta():
            return value.total_seconds()
        case UUID():
            return str(value)
        case bytes():
            return base64.b64encode(value).decode("ascii")
        case StrEnum():
            return value.value
        case float() if not math.isfinite(value):
            return str(value)
        case str():
            return value
        case Mapping():
            return {str(key): _encode(inner) for key, inner in value.items()}
        case Sequence():
            return [_encode(inner) for inner in value]
    return _fields(value) if is_dataclass(value) else value


def _decode(hint: Any, value: Any) -> Any:  # type hints are values of no common type
    origin = get_origin(hint)
    if origin in (Union, UnionType):
        return _decode_union(get_args(hint), value)
    if origin in (tuple, Sequence):
        if not isinstance(value, list):
            raise TypeError("a list is needed")
        return tuple(_decode(get_args(hint)[0], inner) for inner in value)
    if origin is Mapping:
        if not isinstance(value, dict):
            raise TypeError("an object is needed")
        return {key: _decode(get_args(hint)[1], inner) for key, inner in value.items()}
    if is_dataclass(hint) and isinstance(hint, type):
        if not isinstance(value, dict):
            raise TypeError("an object is needed")
        return _of_fields(hint, value, hint.__name__.lower())
    return _decode_scalar(hint, value) if isinstance(hint, type) else value


def _decode_union(options: Sequence[Any], value: Any) -> Any:
    """Decode an optional field; a union of plain JSON values (`Json`) stays as it is."""
    supplied = [option for option in options if option is not NoneType]
    if value is None or len(supplied) > 1:
        return value
    return _decode(supplied[0], value)


def _decode_scalar(hint: type[Any], value: Any) -> Any:
    if hint is float and type(value) is int:
        return float(value)
    if hint is timedelta and type(value) in (int, float):
        return timedelta(seconds=value)
    if type(value) is hint:
        return value
    if not isinstance(value, str):
        raise TypeError(f"{hint.__name__} is needed, not {type(value).__name__}")
    if hint is datetime:
        return datetime.fromisoformat(value).astimezone(UTC)
    if hint is bytes:
        return base64.b64decode(value, validate=True)
    if hint in (UUID, float) or issubclass(hint, StrEnum):
        return hint(value)
    raise TypeError(f"{hint.__name__} is needed, not a string")

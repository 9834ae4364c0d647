"""What a caller gives, cleaned: strings, chat messages, tool calls and steps become one shape, `Item`.

Field names of the common chat formats are synonyms (`FIELDS`); what is not recognised is kept in `extras`, as
repaired, plain JSON. Nothing is guessed silently: a time that cannot be, an empty text or a value of the
wrong kind is refused by name, and so is what is too large (`IntakeLimits`). Text is repaired here, once, so
that no later room ever meets a NUL or a lone surrogate.
"""

import difflib
import json
import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, datetime, timedelta, tzinfo
from functools import cache, lru_cache
from typing import Any, Final

from episodic_agent.core.ingest.times import Moment, place, read_clock, read_time
from episodic_agent.core.ingest.words import (
    DEPTH,
    LONGEST_NUMBER,
    SAYING,
    ToolUse,
    as_plain,
    check_kind,
    describe,
    spoken,
    step_text,
    tool_uses,
    type_name,
)
from episodic_agent.core.language import repair
from episodic_agent.core.strength import read_span
from episodic_agent.errors import InvalidInput, TooLarge
from episodic_agent.schemas import Json, Kind, TimeSource


class Cleaner:
    """Repair every string that passes and remember whether one had to be."""

    def __init__(self) -> None:
        self.repaired = False

    def text(self, text: str) -> str:
        """Return the text with what no database can hold replaced."""
        clean, changed = repair(text)
        self.repaired = self.repaired or changed
        return clean

    def mapping(self, value: Mapping[object, object]) -> dict[str, Json]:
        """Return an object of plain JSON with repaired keys and values."""
        return {self.text(str(key)): self.json(inner) for key, inner in value.items()}

    def json(self, value: object, depth: int = 0) -> Json:
        """Turn a caller's value into plain JSON; what JSON has no word for becomes its text, NaN null."""
        if depth > DEPTH:
            raise InvalidInput(f"a value is nested deeper than {DEPTH} levels; send it flatter")
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, int) and value.bit_length() > LONGEST_NUMBER:  # Python cannot print the longest
            raise InvalidInput(f"a number has {value.bit_length()} bits; send it as a string")
        own = as_plain(value)
        if own is not value:
            return self.json(own, depth + 1)
        if value is None or isinstance(value, bool | int):
            return value
        if isinstance(value, float):
            return value if math.isfinite(value) else None
        if isinstance(value, Mapping):
            return {self.text(str(key)): self.json(inner, depth + 1) for key, inner in value.items()}
        if isinstance(value, Sequence | set | frozenset) and not isinstance(value, bytes | bytearray):
            return [self.json(inner, depth + 1) for inner in value]
        return value.isoformat() if isinstance(value, date) else self.text(str(value))


LARGEST: Final = 1_000_000
_LINES: Final = 64  # messages of the largest size that one line, or one conversation in a list, may hold


@dataclass(frozen=True, slots=True)
class IntakeLimits:
    """Bounds of what is taken in, each with the setting that raises it.

    `message` is how many bytes the text of a message may have as UTF-8, and how many all that comes with it
    (EPISODIC_MESSAGE_BYTES). `unpacked` is how many bytes a packed file may unpack to
    (EPISODIC_UNPACKED_BYTES), `ratio` how many times its own size (EPISODIC_UNPACKED_RATIO).
    """

    message: int = LARGEST
    unpacked: int = 4_000_000_000
    ratio: int = 200

    @property
    def line(self) -> int:
        """Return how many characters are held at once: of a line, or of an element of a list."""
        return _LINES * max(self.message, LARGEST)

    @property
    def too_long(self) -> str:
        """Say what is wrong with more than that."""
        return f"longer than {self.line:,} characters; divide it, or raise EPISODIC_MESSAGE_BYTES"


def check_size(what: str, text: str, largest: int) -> None:
    """Raise TooLarge for a text of more than `largest` bytes as UTF-8.

    >>> check_size("the text", "tea", 2)
    Traceback (most recent call last):
    ...
    episodic_agent.errors.TooLarge: the text has 3 bytes, more than the 2 a message may have; \
send it in parts, or raise EPISODIC_MESSAGE_BYTES
    """
    if len(text) * 4 > largest:  # no character takes more: nearly every text is small enough
        size = len(text.encode("utf-8", "replace"))
        if size > largest:
            raise TooLarge(too_large(what, f"{size:,}", largest))


def too_large(what: str, size: str, largest: int) -> str:
    """Say that something is too large, and what to do about it."""
    return (
        f"{what} has {size} bytes, more than the {largest:,} a message may have; "
        "send it in parts, or raise EPISODIC_MESSAGE_BYTES"
    )


# What each field may be called, in the order they are looked for. `message` is also the envelope of some
# agent logs ({"uuid": …, "message": {"role": …, "content": …}}), unwrapped before anything else.
FIELDS: Final[Mapping[str, tuple[str, ...]]] = {
    "speaker": ("name", "speaker", "author", "actor", "from", "sender", "user_name", "username"),
    "role": ("role",),
    "text": ("content", "text", "message", "body", "value"),
    "at": (
        "timestamp", "at", "time", "created_at", "date", "datetime", "ts", "epoch", "sent_at", "create_time",
    ),
    "id": ("id", "external_id", "message_id", "msg_id", "uuid"),
    "conversation": (
        "conversation_id", "conversation", "thread_id", "thread", "session_id", "session", "sessionId",
        "chat_id", "chat",
    ),
    "channel": ("channel", "platform"),
    "location": ("location", "location_label", "room", "place"),
    "location_confidence": ("location_confidence",),
    "prediction_error": ("prediction_error", "prediction_error_magnitude"),
    "events": ("events",),
    "kind": ("kind",),
    "at_source": ("at_source",),
    "ttl": ("ttl",),
    "expires_at": ("expires_at",),
}  # fmt: skip
_TOOL_KEYS: Final = frozenset(
    (
        "tool_calls", "function_call", "tool_call_id", "call_id", "arguments", "input", "result", "output",
        "error", "is_error",
    )
)  # fmt: skip
_TELLING_KEYS: Final = ("action", "events", "objects")
_STEP_KEYS: Final = (*_TELLING_KEYS, *FIELDS["location"])
_BESIDE: Final = ("outcome", "reward", "position", "entities", "frame")  # read or kept of a step, too
# What names of none are meant to be in a step: said in text, and by nothing else, they would be lost.
_MEANT_OF_STEP: Final[Mapping[str, str]] = {
    **{name: name for name in ("action", "objects", *_BESIDE)},
    **{"object": "objects", "event": "events", "entity": "entities"},
    **dict.fromkeys(("success", "succeeded", "successful", "failed", "failure"), "outcome"),
}
_SPEAKING_KEYS: Final = ("role", "speaker", "author", "from", "sender", "name")
# The field that each name gives, and the place of each name in the order they are looked for.
_FIELD_OF: Final = {name: meant for meant, names in FIELDS.items() for name in names}
_NAMES: Final = tuple(_FIELD_OF)
_KNOWN: Final = frozenset((*_FIELD_OF, *_TOOL_KEYS, *_STEP_KEYS, *_BESIDE, "extras"))
_ORDER: Final = {name: place for place, name in enumerate(_FIELD_OF)}
LIVE: Final = timedelta(hours=1)  # as far as the clocks of those who talk may lie apart
_NEAR: Final = 0.8  # how alike a misspelt name is, as difflib counts
_NEARER: Final = 0.9  # of several words: `channel_id` and `created_by` are names of their own
_SHORTEST: Final = 4  # letters of a name that is told from others by its letters
_ROLES: Final = ("user", "assistant", "system", "developer", "tool", "function")
_NO_NAMES: Final = (Mapping, list, tuple, set, bytes)
EMPTY: Final = "the text is empty"


@dataclass(frozen=True, slots=True)
class Item:
    """One thing a caller wants remembered, normalised but not yet placed in a thread.

    `at` is aware UTC, None (with `at_source` assumed) where nobody knows it; `utc_offset` is in seconds
    east of UTC; `location_confidence` and `prediction_error` lie in [0, 1]. `conversation` is the caller's
    name of the chat, `title` what its people call it. `repaired` tells that characters no database can hold
    were replaced. It is to be erased
    `ttl` after its time, or at `expires_at`; one of the two at most. `local` tells that its time was written
    without a zone, `edited` what its platform says of when it was written anew ("": it was not),
    `also` what its speaker is called besides (an address, the name of an account). `says_same` tells
    whether an earlier text says the same: whom it mentions may be called otherwise now.
    """

    actor: str
    text: str
    at: datetime | None = None
    at_source: TimeSource = TimeSource.ASSUMED
    utc_offset: int | None = None
    external_id: str | None = None
    kind: Kind = Kind.MESSAGE
    channel: str | None = None
    location: str | None = None
    location_confidence: float | None = None
    events: tuple[Mapping[str, Json], ...] = ()
    prediction_error: float | None = None
    extras: Mapping[str, Json] = field(default_factory=dict)
    conversation: str | None = None
    repaired: bool = False
    ttl: timedelta | None = None
    expires_at: datetime | None = None
    title: str | None = None
    local: bool = field(default=False, compare=False)
    edited: str = field(default="", compare=False)
    also: tuple[str, ...] = field(default=(), compare=False)
    says_same: Callable[[str], bool] | None = field(default=None, compare=False)

    @property
    def written(self) -> datetime | None:
        """Return its time as it was written, as if in UTC: the same whatever zone it was read in."""
        if self.at is None or not self.local or self.utc_offset is None:
            return self.at
        return self.at + timedelta(seconds=self.utc_offset)

    def expiry(self, at: datetime) -> datetime | None:
        """Return when it is to be erased, said at this time; None: never.

        >>> Item("user", "hi", ttl=timedelta(hours=1)).expiry(datetime(2024, 3, 1)).isoformat()
        '2024-03-01T01:00:00'
        """
        return self.expires_at if self.ttl is None else at + self.ttl


def received(items: Sequence[Item], now: datetime) -> list[Item]:
    """Give what was said live (`at_source` received) the moment it came.

    Where others of the call were said over an hour before or after that, it brings old talk: the time of what
    has none in it is only assumed.

    >>> now = datetime(2024, 3, 1)
    >>> hi, old = Item("user", "hi", None, TimeSource.RECEIVED), Item("user", "you?", now - timedelta(days=9))
    >>> received([hi], now)[0].at == now, received([old, hi], now)[1].at
    (True, None)
    """
    is_old = any(item.at is not None and abs(now - item.at) > LIVE for item in items)
    at, source = (None, TimeSource.ASSUMED) if is_old else (now, TimeSource.RECEIVED)
    live = [item.at is None and item.at_source is TimeSource.RECEIVED for item in items]
    return [replace(i, at=at, at_source=source) if new else i for i, new in zip(items, live, strict=True)]


def read_item(
    raw: object,
    *,
    default_actor: str = "user",
    timezone: tzinfo | None = None,
    channel: str | None = None,
    largest: int = LARGEST,
) -> Item:
    """Clean one string, chat message, tool message or step into an Item.

    Naive times are in `timezone` (UTC without one); `channel` is used where the item names none. `largest` is
    how many bytes the text may have, and how many all else. Raises InvalidInput for an empty text, an
    impossible time or a value of the wrong kind, TooLarge for more than that.

    >>> read_item("I'm moving to Lisbon").actor
    'user'
    >>> item = read_item({"role": "assistant", "content": [{"type": "text", "text": "Hi"}], "id": 7})
    >>> item.actor, item.text, item.external_id
    ('assistant', 'Hi', '7')
    >>> read_item({"role": "user", "content": "  "})
    Traceback (most recent call last):
    ...
    episodic_agent.errors.InvalidInput: the text is empty; give some text, or a tool call with a name
    """
    raw = {"content": raw} if isinstance(raw, str) else raw
    if not isinstance(raw, Mapping):
        raise InvalidInput(f"a message is a text or an object with role and content, not {type_name(raw)}")
    cleaner = Cleaner()
    fields = _spoken_by(_unwrapped(raw))
    arguments = _names_used(fields)
    moment = _moment(fields, arguments, timezone)
    uses = tool_uses(fields)
    kind = _kind(fields, uses)
    text = _cleaned(_text(fields, arguments, uses, kind), fields, cleaner, largest)
    actor, role = _voice(fields, arguments, uses, cleaner)
    actor = actor or cleaner.text(_default_actor(uses, kind, default_actor))
    extras = cleaner.mapping({**_rest(fields, arguments, kind), **_tool_extras(uses)}) | role
    names = {n: _word(fields, arguments, n, cleaner) for n in ("id", "channel", "location", "conversation")}
    events = _events(fields, arguments, cleaner)
    _check_rest((actor, *names.values()), (extras, *events), largest)
    return Item(
        actor=actor,
        text=text,
        at=moment.at if moment else None,
        at_source=moment.source if moment else TimeSource.ASSUMED,
        utc_offset=moment.utc_offset if moment else None,
        local=moment.local if moment else False,
        external_id=names["id"],
        kind=kind,
        channel=names["channel"] or channel,
        location=names["location"],
        location_confidence=_unit(fields, arguments, "location_confidence"),
        events=events,
        prediction_error=_unit(fields, arguments, "prediction_error"),
        extras=extras,
        conversation=names["conversation"],
        repaired=cleaner.repaired,
        ttl=_ttl(fields, arguments),
        expires_at=_expires_at(fields, arguments, timezone),
    )


def check_names(raw: Mapping[Any, object]) -> None:
    """Raise InvalidInput for a name that is most likely one of `FIELDS` misspelt, or a kind that is none.

    Kept as an extra it would cost a message its time, its thread or its speaker without a word. So would a
    role misspelt: it is told apart from the user's words as somebody else's.

    >>> check_names({"content": "Hi", "channel_id": 7, "reactions": [], "mood": "good", "role": "Asma"})
    >>> check_names({"kind": "step", "action": "look", "battery": 0.4, "goal": "find the mug"})
    """
    check_kind(raw.get("kind"))
    role = raw.get("role")
    if isinstance(role, str) and (known := _slips().get(role)):
        raise InvalidInput(
            f'unknown role "{role}"; did you mean "{known}"? Somebody who is called so stands under "name"'
        )
    is_step = raw.get("kind") == Kind.STEP or any(raw.get(key) is not None for key in _TELLING_KEYS)
    for key in map(str, raw):
        if meant := _near(key) or (_near_of_step(key) if is_step else None):
            raise InvalidInput(
                f'unknown key "{key}"; did you mean "{meant}"? A key of your own stands inside "extras"'
            )


@lru_cache(maxsize=1024)  # the messages of a batch have the same names
def _near(key: str) -> str | None:
    """Return the name of a field that a name no field has was meant to be; None for one of its own.

    >>> [_near(key) for key in ("createdAt", "expires", "conversation_idd", "nam", "event", "lat")]
    ['created_at', 'expires_at', 'conversation_id', 'name', None, None]
    """
    if key in _KNOWN or len(key) < _SHORTEST - 1:
        return None
    if len(key) < _SHORTEST:  # too short to be told by its letters, unless only the last one is missing
        return next((name for name in _NAMES if name[:-1] == key and len(name) == _SHORTEST), None)
    words = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", key).lower()  # as programs in JavaScript write it
    alike = [
        name
        for name in _NAMES
        if name[0] == words[:1] and len(name) >= _SHORTEST and words.rstrip("s") != name.rstrip("s")
    ]
    if words in _NAMES:
        return words
    near = difflib.get_close_matches(words, alike, n=1, cutoff=_NEARER if "_" in words else _NEAR)
    return near[0] if near else None


@lru_cache(maxsize=1024)
def _near_of_step(key: str) -> str | None:
    """Return the name of a field of steps that a name no field has was meant to be; None for one of its own.

    >>> [_near_of_step(key) for key in ("object", "sucess", "outcom", "actions", "battery", "action_id")]
    ['objects', 'outcome', 'outcome', None, None, None]
    """
    if key in _KNOWN:
        return None
    words = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", key).lower()
    if words in _MEANT_OF_STEP:
        return _MEANT_OF_STEP[words]
    alike = [n for n in _MEANT_OF_STEP if n[0] == words[:1] and words.rstrip("s") != n.rstrip("s")]
    near = difflib.get_close_matches(words, alike, n=1, cutoff=_NEARER if "_" in words else _NEAR)
    return _MEANT_OF_STEP[near[0]] if near else None


@cache
def _slips() -> Mapping[str, str]:
    """Return what a slip of the hand makes of each role: a letter left out, doubled, or two exchanged.

    Another letter is no slip: `assistent` and `sistem` are words of other languages, `user2` is somebody.

    >>> [_slips().get(role) for role in ("usr", "asistant", "sytsem", "user", "assistent", "user2", "ana")]
    ['user', 'assistant', 'system', None, None, None, None]
    """
    slips: dict[str, str] = {}
    for role in _ROLES:
        for n in range(1, len(role)):  # the first letter is seldom wrong: `ser` and `ool` are other words
            before, letter, rest = role[:n], role[n], role[n + 1 :]
            exchanged = before[:-1] + letter + before[-1] + rest
            slips |= dict.fromkeys((before + rest, before + letter + letter + rest, exchanged), role)
    return {slip: role for slip, role in slips.items() if slip not in _ROLES}


def _cleaned(text: str, fields: Mapping[str, object], cleaner: Cleaner, largest: int) -> str:
    """Return a text, repaired; of one that is empty the error names the unknown key it may stand under."""
    check_size("the text", text, largest)  # before anything is done with it
    if (clean := cleaner.text(text)).strip():
        return clean
    texts = (key for key, value in fields.items() if isinstance(value, str) and value.strip())
    own = next((key for key in texts if key not in _KNOWN), None)
    if own is None or "content" in fields:
        raise InvalidInput(f"{EMPTY}; give some text, or a tool call with a name")
    raise InvalidInput(f'{EMPTY}: it stands under "content", not "{own}"')


def _voice(
    fields: Mapping[str, object], arguments: Mapping[str, str], uses: Sequence[ToolUse], cleaner: Cleaner
) -> tuple[str | None, dict[str, Json]]:
    """Return who speaks, and the role as well where that is another word."""
    role = _word(fields, arguments, "role", cleaner)
    if role == "user" and _only_results(fields):
        role = "tool"  # Anthropic's form has tools answer in the user's name
    # A tool message's `name` is the tool's; whoever used it is named elsewhere, if at all.
    voices = _names_used({k: v for k, v in fields.items() if k != "name"}) if uses else arguments
    speaker = _word(fields, voices, "speaker", cleaner)
    return speaker or role, {"role": role} if speaker and role and speaker != role else {}


def _spoken_by(fields: Mapping[str, object]) -> Mapping[str, object]:
    """Return a message whose `user` is its speaker, unless it names one or another than a user speaks.

    Of an assistant's message `user` says whose chat it stands in, and stays an extra.

    >>> _spoken_by({"user": "Ana", "text": "Hi"}), _spoken_by({"user": "Ana", "role": "assistant"})
    ({'name': 'Ana', 'text': 'Hi'}, {'user': 'Ana', 'role': 'assistant'})
    """
    user = fields.get("user")
    named = any(fields.get(name) is not None for name in FIELDS["speaker"])
    if not isinstance(user, str) or not user.strip() or named or fields.get("role") not in (None, "user"):
        return fields
    return {"name": user, **{key: value for key, value in fields.items() if key not in ("user", "name")}}


def _only_results(fields: Mapping[str, object]) -> bool:
    """Tell a message of nothing but what tools answered."""
    blocks = fields.get("content")
    if not isinstance(blocks, list) or not blocks:
        return False
    return all(isinstance(block, Mapping) and block.get("type") == "tool_result" for block in blocks)


def _check_rest(names: Sequence[str | None], rest: Sequence[Mapping[str, Json]], largest: int) -> None:
    """Refuse what comes with the text where it is too large: names, a tool's result, events."""
    text = "".join(name for name in names if name)
    if any(rest):
        text += json.dumps(rest, ensure_ascii=False)
    check_size("what comes with the text", text, largest)


def _unwrapped(raw: Mapping[object, object]) -> dict[str, object]:
    fields = {str(key): value for key, value in raw.items()}
    inner = fields.get("message")
    if not isinstance(inner, Mapping):
        return fields
    del fields["message"]
    # One reply of a model may span several log lines that share the inner id; the line's own id is unique.
    own_id = any(name in fields for name in FIELDS["id"])
    return {str(k): v for k, v in inner.items() if not (own_id and k == "id")} | fields


def _names_used(fields: Mapping[str, object]) -> dict[str, str]:
    """Return under which of its names each field is given."""
    # Most names are not: it is quicker to go through the keys of the message than through all the names.
    arguments: dict[str, str] = {}
    for key in sorted(_ORDER.keys() & fields, key=_ORDER.__getitem__):
        if fields[key] is not None:
            arguments.setdefault(_FIELD_OF[key], key)
    return arguments


def _word(
    fields: Mapping[str, object], arguments: Mapping[str, str], name: str, cleaner: Cleaner
) -> str | None:
    """Read a short name; numbers become strings, objects give their own name or id."""
    if name not in arguments:
        return None
    value = fields[arguments[name]]
    if isinstance(value, str):
        return cleaner.text(str(value)).strip() or None
    if isinstance(value, Mapping):
        value = next(
            (value[key] for key in ("name", "role", "id", "label") if value.get(key) is not None), None
        )
        if value is None and name == "location":
            raise InvalidInput("location is an object without a name; give it a label, or leave it out")
    if value is None:
        return None
    if isinstance(value, _NO_NAMES):
        raise InvalidInput(f"{name} must be a name or a number, not {type_name(value)}")
    if isinstance(value, float) and not math.isfinite(value):
        raise InvalidInput(f"{name} must be a name or a finite number, not {value}; leave it out if unknown")
    if isinstance(value, int) and value.bit_length() > 256:
        raise InvalidInput(f"{name} is a number of {value.bit_length()} bits; give a shorter one or a string")
    return cleaner.text(str(value)).strip() or None


def _unit(fields: Mapping[str, object], arguments: Mapping[str, str], name: str) -> float | None:
    """Read a number in [0, 1].

    A prediction error is clamped, NaN is 0 (seed 000's rule); of a confidence that would hide a mistake.
    """
    if name not in arguments:
        return None
    key = arguments[name]
    value = fields[key]
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise InvalidInput(f"{key} must be a number between 0 and 1, not {type_name(value)}")
    if name == "location_confidence" and not 0 <= value <= 1:
        raise InvalidInput(f"{key} must be a number between 0 and 1, not {value}")
    return 0.0 if value != value else float(min(1, max(0, value)))  # noqa: PLR0124 (the test for NaN)


def _ttl(fields: Mapping[str, object], arguments: Mapping[str, str]) -> timedelta | None:
    """Read for how long it is kept: seconds, or a text like "30d"."""
    if "ttl" not in arguments:
        return None
    value = fields[arguments["ttl"]]
    if isinstance(value, timedelta):
        span = value
    elif isinstance(value, str):
        span = read_span(value)
    elif isinstance(value, int | float) and not isinstance(value, bool):
        span = read_span(f"{value!r}")
    else:
        raise InvalidInput(f'ttl must be a number of seconds or a text like "30d", not {type_name(value)}')
    if span <= timedelta(0):
        raise InvalidInput(f"ttl {value} is no time to live; give one above 0, or leave it out")
    return span


def _expires_at(
    fields: Mapping[str, object], arguments: Mapping[str, str], timezone: tzinfo | None
) -> datetime | None:
    if "expires_at" not in arguments:
        return None
    if "ttl" in arguments:
        raise InvalidInput("give either ttl or expires_at, not both")
    return read_time(fields[arguments["expires_at"]], timezone).at


def _events(
    fields: Mapping[str, object], arguments: Mapping[str, str], cleaner: Cleaner
) -> tuple[Mapping[str, Json], ...]:
    if "events" not in arguments:
        return ()
    value = fields["events"]
    if not isinstance(value, Sequence) or isinstance(value, str | bytes):
        raise InvalidInput(f"events must be a list of texts or objects, not {type_name(value)}")
    events: list[Mapping[str, Json]] = []
    for event in value:
        if isinstance(event, str):
            events.append({"type": cleaner.text(event)})
        elif isinstance(event, Mapping):
            events.append(cleaner.mapping(event))
        else:
            raise InvalidInput(f"an event must be a text or an object with a type, not {type_name(event)}")
    return tuple(events)


def _moment(
    fields: Mapping[str, object], arguments: Mapping[str, str], timezone: tzinfo | None
) -> Moment | None:
    key = arguments.get("at")
    if key is None or fields.get("at_source") == TimeSource.ASSUMED:
        return None
    value = fields[key]
    if isinstance(value, str) and not value.strip():
        return None
    day = fields.get("date")
    clock = read_clock(value) if isinstance(value, str) else None
    if clock is not None and key != "date" and isinstance(day, str):
        return place(read_time(day).at.date(), clock, timezone)
    moment = read_time(value, timezone)
    if fields.get("at_source") in (TimeSource.DATE_ONLY, TimeSource.RECEIVED):
        return replace(moment, source=TimeSource(str(fields["at_source"])))
    return moment


def _kind(fields: Mapping[str, object], uses: Sequence[ToolUse]) -> Kind:
    named = fields.get("kind")
    if isinstance(named, str) and named in set(Kind):
        return Kind(named)
    if uses:
        return Kind.TOOL
    if any(fields.get(key) is not None for key in _SPEAKING_KEYS):
        return Kind.MESSAGE
    return Kind.STEP if any(fields.get(key) is not None for key in _STEP_KEYS) else Kind.MESSAGE


def _default_actor(uses: Sequence[ToolUse], kind: Kind, default_actor: str) -> str:
    if uses:
        return "tool" if any(use.answered for use in uses) else "assistant"
    return "agent" if kind is Kind.STEP else default_actor


def _text(
    fields: Mapping[str, object], arguments: Mapping[str, str], uses: Sequence[ToolUse], kind: Kind
) -> str:
    value = fields[arguments["text"]] if "text" in arguments else None
    if fields.get("kind") == Kind.TOOL and value is not None:
        return spoken(value)
    # A tool's answer is told by `describe`, with the tool's name; its raw content would say it twice.
    text = "" if fields.get("role") in ("tool", "function") and uses else spoken(value)
    if kind is Kind.STEP and not uses:
        return _step_text(fields, arguments, text)
    if not uses and text.strip():
        return text
    return "\n".join(part for part in (text, *map(describe, uses)) if part.strip())


def _step_text(fields: Mapping[str, object], arguments: Mapping[str, str], content: str) -> str:
    """Say a step in one text; InvalidInput where a place is all that is understood of it."""
    location = _word(fields, arguments, "location", Cleaner())
    text = step_text(fields, location, content)
    if location and not content.strip() and not any(fields.get(key) for key in SAYING):
        own = [key for key, value in fields.items() if key not in _KNOWN and value not in (None, {}, [])]
        if own:
            raise InvalidInput(
                f"of a step only its place is understood, not {', '.join(own)}; what it did and saw stands "
                f"under content, {', '.join(SAYING)}, keys of your own inside extras"
            )
    return text


def _rest(fields: Mapping[str, object], arguments: Mapping[str, str], kind: Kind) -> dict[object, object]:
    """Return what no field took: kept as it came, so that nothing a caller sent is lost."""
    skipped = {*arguments.values(), "extras", "at_source"}
    if kind is Kind.TOOL:
        skipped |= _TOOL_KEYS | {"name"}
    extras = fields.get("extras")
    merged: dict[object, object] = dict(fields.items())
    if isinstance(extras, Mapping):
        merged.update(extras)
    return {key: value for key, value in merged.items() if key not in skipped and value not in (None, {})}


def _tool_extras(uses: Sequence[ToolUse]) -> dict[object, object]:
    """Return name, arguments, result and error of the first use; several are listed in full under `calls`."""
    if not uses:
        return {}
    calls = [use.as_json() for use in uses]
    first: dict[object, object] = dict(calls[0].items())
    return first | ({"calls": calls} if len(calls) > 1 else {})

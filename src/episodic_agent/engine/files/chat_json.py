"""Chat messages in JSON: lines, lists, and objects that hold conversations.

A record is a message, a conversation ({"id"?, "messages": […]}) or a list of messages; nesting may go on
(a list of conversations of messages). Half a line, or a list that breaks off, loses only what is broken.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import tzinfo
from typing import Final

from episodic_agent.core.intake import FIELDS, Item, read_item
from episodic_agent.engine.files.naming import named
from episodic_agent.engine.files.opening import MARK, Opened, Unreadable, excerpt, lines, undecodable, whole
from episodic_agent.errors import InvalidInput

MESSAGES: Final = ("messages", "conversations", "conversation", "chats", "turns", "history", "steps", "units")
_NAMES: Final = (*FIELDS["conversation"], "id", "uuid")
_SPACE: Final = re.compile(r"[\s,]*")
_DECODER: Final = json.JSONDecoder()
_DEPTH: Final = 4


@dataclass(frozen=True, slots=True)
class Reading:
    """How to read: the file's encoding (for error messages), the zone of naive times, the default actor."""

    encoding: str = "utf-8"
    timezone: tzinfo | None = None
    default_actor: str = "user"


@dataclass(frozen=True, slots=True)
class Record:
    """One JSON value with the line it begins on and its raw text."""

    line: int
    value: object
    raw: str


def read_lines(opened: Opened, reading: Reading) -> Iterator[Item | Unreadable]:
    """Stream JSON lines; a line that is not JSON is reported and the next one read."""
    for entry in lines(opened):
        if isinstance(entry, Unreadable):
            yield entry
            continue
        number, line = entry
        if not line.strip():
            continue
        try:
            value = json.loads(line)
        except (ValueError, RecursionError) as error:
            yield Unreadable(number, not_json(error, line), excerpt(line))
            continue
        yield from read_record(Record(number, value, line), reading)


def read_document(opened: Opened, reading: Reading) -> Iterator[Item | Unreadable]:
    """Read one JSON document: a list, or an object that holds messages or conversations."""
    text = whole(opened)
    start = _skip(text, 0)
    if text.startswith("[", start):
        for element in _elements(text, start, Lines(text)):
            yield from [element] if isinstance(element, Unreadable) else read_record(element, reading)
    else:
        yield from _read_object(text, start, reading)


def read_record(record: Record, reading: Reading, depth: int = 0) -> Iterator[Item | Unreadable]:
    """Read a message, or all messages of a conversation, whose name they take where they have none."""
    if MARK in record.raw:
        yield Unreadable(record.line, undecodable(reading.encoding), excerpt(record.raw))
        return
    inner = _messages_of(record.value)
    if inner is None or depth >= _DEPTH:
        yield _read_message(record, reading)
        return
    nested = (
        result
        for message in inner
        for result in read_record(Record(record.line, message, ""), reading, depth + 1)
    )
    yield from _placed(nested, record.value)


def not_json(error: Exception, line: str) -> str:
    """Say why a line is no JSON: cut off, or wrong at a column."""
    if isinstance(error, json.JSONDecodeError):
        if error.pos >= len(line.rstrip()) or error.msg.startswith("Unterminated"):
            return "the line breaks off in the middle of its JSON"
        return f"not JSON: {error.msg[0].lower()}{error.msg[1:]} at column {error.colno}"
    return (
        "not JSON: nested too deeply"
        if isinstance(error, RecursionError)
        else "not JSON: a number is too long"
    )


def _read_message(record: Record, reading: Reading) -> Item | Unreadable:
    try:
        return read_item(record.value, default_actor=reading.default_actor, timezone=reading.timezone)
    except InvalidInput as error:
        raw = record.raw or json.dumps(record.value, ensure_ascii=False, default=str)[:400]
        return Unreadable(record.line, str(error), excerpt(raw))


def _messages_of(value: object) -> list[object] | None:
    if isinstance(value, list):
        return value
    if not isinstance(value, Mapping) or any(
        value.get(key) is not None for key in ("role", "content", "text")
    ):
        return None
    return next((value[key] for key in MESSAGES if isinstance(value.get(key), list)), None)


def _placed(records: "Iterable[Item | Unreadable]", holder: object) -> "Iterator[Item | Unreadable]":
    """Give messages the name and channel of the conversation that holds them."""
    outer = holder if isinstance(holder, Mapping) else {}
    name = next(
        (outer[key] for key in _NAMES if isinstance(outer.get(key), str | int) and outer[key] != ""), None
    )
    channel = outer.get("channel")
    # A list of conversations holds chats that name themselves; a list of messages is one nameless chat.
    for record in records if name is not None else named(records):
        if isinstance(record, Unreadable):
            yield record
            continue
        yield replace(
            record,
            conversation=record.conversation or str(name),
            channel=record.channel or (channel if isinstance(channel, str) else None),
        )


def _read_object(text: str, start: int, reading: Reading) -> Iterator[Item | Unreadable]:
    """Read a document that is one object: its small fields first, then its list of messages by elements."""
    lines = Lines(text)
    fields: dict[str, object] = {}
    lists: dict[str, int] = {}
    try:
        for key, position, value in _fields(text, start):
            if isinstance(value, list):
                lists[key] = position
            fields[key] = value
    except (ValueError, RecursionError) as error:
        lists = lists or _broken_list(text, start)
        if not lists:
            yield Unreadable(lines.at(start), not_json(error, text), excerpt(text[start : start + 400]))
            return
    place = next((lists[key] for key in MESSAGES if key in lists), None)
    if place is None:
        yield from read_record(Record(lines.at(start), fields, text[start:]), reading)
        return
    records = (
        result
        for element in _elements(text, place, lines)
        for result in ([element] if isinstance(element, Unreadable) else read_record(element, reading, 1))
    )
    yield from _placed(records, fields)


def _fields(text: str, start: int) -> Iterator[tuple[str, int, object]]:
    """Walk an object's fields: key, where its value begins, the value; raises ValueError where it breaks."""
    position = _skip(text, start + 1)
    while not text.startswith("}", position):
        key, position = _DECODER.raw_decode(text, position)
        position = _skip(text, position)
        if not isinstance(key, str) or not text.startswith(":", position):
            raise json.JSONDecodeError("Expecting a key and a colon", text, position)
        begin = _skip(text, position + 1)
        value, position = _DECODER.raw_decode(text, begin)
        yield key, begin, value
        position = _skip(text, position)


def _broken_list(text: str, start: int) -> dict[str, int]:
    """Find the list that an object broke off in."""
    found = re.compile(r'"({})"\s*:\s*(?=\[)'.format("|".join(MESSAGES))).search(text, start)
    return {found[1]: found.end()} if found else {}


def _elements(text: str, start: int, lines: "Lines") -> Iterator[Record | Unreadable]:
    """Walk a list's elements; after a broken one, go on at the next line indented like the ones before."""
    position, previous = _skip(text, start + 1), -1
    while position < len(text) and not text.startswith("]", position):
        line = lines.at(position)
        try:
            value, end = _DECODER.raw_decode(text, position)
        except (ValueError, RecursionError) as error:
            broken = text[position : position + 400]
            resumed = _resume(text, position, previous)
            reason = not_json(error, text) if resumed is not None else "the list breaks off here"
            yield Unreadable(line, reason, excerpt(broken))
            if resumed is None:
                return
            position = resumed
            continue
        yield Record(line, value, text[position:end])
        previous, position = position, _skip(text, end)
    if position >= len(text):
        yield Unreadable(lines.at(len(text)), "the list breaks off here", "")


def _resume(text: str, position: int, previous: int) -> int | None:
    """Find the next element of a pretty-printed list: an opening brace in the column of the one before."""
    column = previous if previous >= 0 else position
    indent = text[text.rfind("\n", 0, column) + 1 : column]
    if indent.strip() or text.rfind("\n", 0, column) < 0:
        return None
    found = re.compile("\n" + re.escape(indent) + r"(?=\{)").search(text, position)
    return found.end() if found else None


def _skip(text: str, position: int) -> int:
    match = _SPACE.match(text, position)
    return position if match is None else match.end()


class Lines:
    """Line numbers of rising positions in a text, counted once."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._position = 0
        self._line = 1

    def at(self, position: int) -> int:
        """Return the line of a position not before the last one asked for."""
        if position < self._position:
            self._position, self._line = 0, 1
        self._line += self._text.count("\n", self._position, position)
        self._position = position
        return self._line

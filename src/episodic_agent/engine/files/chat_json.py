"""Chat messages in JSON: lines, lists, and objects that hold conversations.

A record is a message, a conversation ({"id"?, "messages": […]}) or a list of messages; nesting may go on
(a list of conversations of messages). Half a line, or a list that breaks off, loses only what is broken.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Final

from episodic_agent.core.ingest import FIELDS, Item, read_item
from episodic_agent.engine.files.naming import named
from episodic_agent.engine.files.opening import MARK, Opened, Unreadable, excerpt, lines, undecodable
from episodic_agent.engine.files.options import ReadingOptions
from episodic_agent.engine.files.speakers import is_unnamed
from episodic_agent.engine.files.window import TextWindow, TooLong
from episodic_agent.errors import InvalidInput
from episodic_agent.schemas import Kind

MESSAGES: Final = ("messages", "conversations", "conversation", "chats", "turns", "history", "steps", "units")
_NAMES: Final = (*FIELDS["conversation"], "id", "uuid")
BREAKS_OFF: Final = "the list breaks off here"
_LONGEST_GAP: Final = 1000  # characters between a key and its list
_BROKEN: Final = re.compile(r'"({})"\s*:\s*(?=\[)'.format("|".join(MESSAGES)))
_DEPTH: Final = 4


@dataclass(frozen=True, slots=True)
class JsonRecord:
    """One JSON value with the line it begins on and its raw text."""

    line: int
    value: object
    raw: str


def read_lines(opened: Opened, reading: ReadingOptions) -> Iterator[Item | Unreadable]:
    """Stream messages or conversations that are a line each."""
    for record in json_lines(opened):
        yield from [record] if isinstance(record, Unreadable) else read_record(record, reading)


def json_lines(opened: Opened) -> Iterator[JsonRecord | Unreadable]:
    """Yield the objects of JSON lines; a line that is none is reported and the next one read."""
    for entry in lines(opened):
        if isinstance(entry, Unreadable):
            yield entry
            continue
        number, line = entry
        if not line.strip():
            continue
        try:
            yield JsonRecord(number, json.loads(line), line)
        except (ValueError, RecursionError) as error:
            yield Unreadable(number, not_json(error), excerpt(line))


def read_document(opened: Opened, reading: ReadingOptions) -> Iterator[Item | Unreadable]:
    """Read one JSON document: a list, or an object that holds messages or conversations."""
    window = TextWindow(opened)
    window.skip()
    if window.peek(1) == "[":
        for element in elements(window):
            yield from [element] if isinstance(element, Unreadable) else read_record(element, reading)
        return
    skimmed = _skim(window)
    if skimmed.one_of_many:  # its first line was longer than what the format was told by
        yield from read_lines(opened, reading)
    else:
        yield from _read_object(opened, skimmed, reading)


def read_record(record: JsonRecord, reading: ReadingOptions, depth: int = 0) -> Iterator[Item | Unreadable]:
    """Read a message, or all messages of a conversation, whose name they take where they have none."""
    if MARK in record.raw:
        yield Unreadable(record.line, undecodable(reading.encoding), excerpt(record.raw))
        return
    inner = _messages_of(record.value)
    if inner is None or depth >= _DEPTH:
        if is_prompt(record.value):
            reading.leave_out("system message")
        else:
            yield read_message(record, reading)
        return
    nested = (
        result
        for message in inner
        for result in read_record(JsonRecord(record.line, message, ""), reading, depth + 1)
    )
    yield from _placed(nested, record.value)


def not_json(error: Exception) -> str:
    """Say why a line is no JSON: cut off, too long, or wrong at a column."""
    if isinstance(error, json.JSONDecodeError):
        if error.pos >= len(error.doc.rstrip()) or error.msg.startswith("Unterminated"):
            return "the line breaks off in the middle of its JSON"
        return f"not JSON: {error.msg[0].lower()}{error.msg[1:]} at column {error.colno}"
    if isinstance(error, TooLong):
        return f"the element is {error}"
    return (
        "not JSON: nested too deeply"
        if isinstance(error, RecursionError)
        else "not JSON: a number is too long"
    )


def is_prompt(value: object) -> bool:
    """Tell the instructions of a model, which nobody said, from talk.

    >>> is_prompt({"role": "system", "content": "Be kind."}), is_prompt({"role": "user", "content": "Hi"})
    (True, False)
    """
    return isinstance(value, Mapping) and value.get("role") in ("system", "developer")


def read_message(record: JsonRecord, reading: ReadingOptions) -> Item | Unreadable:
    """Read one message; what cannot be read is reported with its line."""
    message = record.value
    if isinstance(message, Mapping) and message.get(reading.speaker or ""):
        message = {**message, "name": message[reading.speaker]}
        reading.notes.named_by_key += 1
    try:
        item = read_item(
            message,
            default_actor=reading.default_actor,
            timezone=reading.timezone,
            largest=reading.largest,
        )
    except InvalidInput as error:
        raw = record.raw or json.dumps(record.value, ensure_ascii=False, default=str)[:400]
        return Unreadable(record.line, str(error), excerpt(raw))
    if item.kind is Kind.MESSAGE and item.actor == reading.default_actor and is_unnamed(message):
        reading.note_unnamed(message)
    return item


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
    channel, title = outer.get("channel"), outer.get("title")
    # A list of conversations holds chats that name themselves; a list of messages is one nameless chat.
    for record in records if name is not None else named(records):
        if isinstance(record, Unreadable):
            yield record
            continue
        yield replace(
            record,
            conversation=record.conversation or str(name),
            channel=record.channel or (channel if isinstance(channel, str) else None),
            title=record.title or (title if isinstance(title, str) and title.strip() else None),
        )


@dataclass(slots=True)
class _Skimmed:
    """One object read over: its fields without their messages, and where lists of messages begin."""

    line: int
    raw: str
    fields: dict[str, object] = field(default_factory=dict)
    lists: dict[str, int] = field(default_factory=dict)
    error: str = ""
    one_of_many: bool = False


def _read_object(opened: Opened, skimmed: _Skimmed, reading: ReadingOptions) -> Iterator[Item | Unreadable]:
    """Read the messages of an object that was skimmed, by elements; their name may stand behind them."""
    place = next((skimmed.lists[key] for key in MESSAGES if key in skimmed.lists), None)
    if place is None and skimmed.error:
        yield Unreadable(skimmed.line, skimmed.error, excerpt(skimmed.raw))
        return
    if place is None:
        yield from read_record(JsonRecord(skimmed.line, skimmed.fields, skimmed.raw), reading)
        return
    window = TextWindow(opened)
    window.seek(place)
    records = (
        result
        for element in elements(window)
        for result in ([element] if isinstance(element, Unreadable) else read_record(element, reading, 1))
    )
    yield from _placed(records, skimmed.fields)


def _skim(window: TextWindow) -> _Skimmed:
    """Walk over an object's fields; where it breaks, look for the list of messages that it broke off in."""
    skimmed = _Skimmed(window.line, window.peek(400))
    try:
        _skim_fields(window, skimmed)
    except (ValueError, RecursionError) as error:
        skimmed.error = not_json(error)
        if not skimmed.lists:
            match = window.find(_BROKEN, _LONGEST_GAP)
            if match is not None:
                skimmed.lists[match[1]] = window.position
        return skimmed
    one_line = window.line == skimmed.line
    window.skip()
    skimmed.one_of_many = one_line and window.peek(1) == "{"
    return skimmed


def _skim_fields(window: TextWindow, skimmed: _Skimmed) -> None:
    """Read an object's fields, and over its messages; raises ValueError or RecursionError where it breaks."""
    window.move(1)
    window.skip()
    while window.peek(1) != "}":
        key = window.key()
        if key in MESSAGES and window.peek(1) == "[":
            skimmed.lists[key] = window.position
            skimmed.fields[key] = []
            _skip_list(window)
        else:
            skimmed.fields[key], text = window.value()
            if MARK in text:
                skimmed.raw += MARK
        window.skip()
    window.move(1)


def _skip_list(window: TextWindow) -> None:
    window.move(1)
    window.skip()
    while window.peek(1) != "]":
        window.value()
        window.skip()
    window.move(1)


def elements(window: TextWindow) -> Iterator[JsonRecord | Unreadable]:
    """Walk a list's elements; after a broken one, go on at the next line indented like the ones before."""
    window.move(1)
    window.skip()
    indent = window.indent
    while not window.ended and window.peek(1) != "]":
        line, own = window.line, window.indent
        try:
            value, raw = window.value()
        except (ValueError, RecursionError) as error:
            broken, reason = window.peek(400), not_json(error)
            resumed = indent is not None and window.resume(indent)
            yield Unreadable(line, reason if resumed else _breaks_off(error), excerpt(broken))
            if not resumed:
                return
            continue
        yield JsonRecord(line, value, raw)
        indent = own
        window.skip()
    if window.ended:
        yield Unreadable(window.line, BREAKS_OFF, "")


def _breaks_off(error: Exception) -> str:
    return str(error) if isinstance(error, TooLong) else BREAKS_OFF

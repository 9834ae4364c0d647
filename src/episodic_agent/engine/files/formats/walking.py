"""Walk a JSON document of any size: its parts come as they are met, and no more is held than one of them."""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from episodic_agent.engine.files.chat_json import BREAKS_OFF, JsonRecord, elements, not_json
from episodic_agent.engine.files.opening import MARK, Opened, Unreadable, excerpt, undecodable
from episodic_agent.engine.files.window import TextWindow

Fields: TypeAlias = Mapping[str, object]  # of a JSON object


@dataclass(frozen=True, slots=True)
class JsonPart:
    """A part of a document: where it stands ("chats.list[].name"), its line, and its value.

    An object that is entered is met first, with the value None, and then its fields.
    """

    path: str
    line: int
    value: object
    damaged: bool = False


class _BrokenOffError(Exception):
    """A list broke off inside a document, and was reported."""


def walk(opened: Opened, entered: Collection[str]) -> Iterator[JsonPart | Unreadable]:
    """Walk over a document's top level and whatever is named in `entered`; all else comes as whole values.

    A list's path ends in `[]`, that of its elements too: {"chats", "chats.list[]"} enters the object
    `chats`, its list, and the objects in it.
    """
    window = TextWindow(opened)
    window.skip()
    try:
        for part in _part(window, "[]" if window.peek(1) == "[" else "", {"", *entered}):
            if isinstance(part, JsonPart) and part.damaged:
                yield Unreadable(part.line, undecodable(opened.encoding), excerpt(str(part.value)))
            else:
                yield part
    except _BrokenOffError:
        return
    except (ValueError, RecursionError) as error:
        broken = window.peek(400)
        breaks_off = window.ended or len(broken) < 400
        yield Unreadable(window.line, BREAKS_OFF if breaks_off else not_json(error), excerpt(broken))


def documents(opened: Opened) -> Iterator[JsonRecord | Unreadable]:
    """Yield the elements of a list, or the one document there is; lines that are documents one by one."""
    window = TextWindow(opened)
    window.skip()
    records = elements(window) if window.peek(1) == "[" else _values(window)
    for record in records:
        if isinstance(record, JsonRecord) and MARK in record.raw:
            yield Unreadable(record.line, undecodable(opened.encoding), excerpt(record.raw))
        else:
            yield record


def _values(window: TextWindow) -> Iterator[JsonRecord | Unreadable]:
    while not window.ended:
        line = window.line
        try:
            value, raw = window.value()
        except (ValueError, RecursionError) as error:
            yield Unreadable(line, not_json(error), excerpt(window.peek(400)))
            return
        yield JsonRecord(line, value, raw)
        window.skip()


def _part(window: TextWindow, path: str, entered: Collection[str]) -> Iterator[JsonPart | Unreadable]:
    line, sign = window.line, window.peek(1)
    if sign == "{" and path in entered:
        yield JsonPart(path, line, None)
        window.move(1)
        window.skip()
        while window.peek(1) != "}":
            key = window.key()
            inner = f"{path}.{key}" if path else key
            yield from _part(window, inner + "[]" if window.peek(1) == "[" else inner, entered)
            window.skip()
        window.move(1)
    elif sign == "[" and path in entered:
        if path.endswith("[]") and any(name.startswith(path + ".") for name in entered):
            yield from _objects(window, path, entered)
            return
        for element in elements(window):
            yield element if isinstance(element, Unreadable) else _json_part(path, element)
        if window.peek(1) != "]":
            raise _BrokenOffError
        window.move(1)
    else:
        value, raw = window.value()
        yield _json_part(path, JsonRecord(line, value, raw))


def _json_part(path: str, record: JsonRecord) -> JsonPart:
    return JsonPart(path, record.line, record.value, damaged=MARK in record.raw)


def _objects(window: TextWindow, path: str, entered: Collection[str]) -> Iterator[JsonPart | Unreadable]:
    window.move(1)
    window.skip()
    while window.peek(1) != "]":
        yield from _part(window, path, entered)
        window.skip()
    window.move(1)


def text_of(value: object) -> str:
    """Return a string as it is, "" for anything else."""
    return value if isinstance(value, str) else ""


def mapping_of(value: object) -> Fields:
    """Return an object as it is, an empty one for anything else."""
    return value if isinstance(value, Mapping) else {}


def list_of(value: object) -> list[Fields]:
    """Return the objects of a list, none for anything else."""
    return [part for part in value if isinstance(part, Mapping)] if isinstance(value, list) else []

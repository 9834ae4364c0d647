"""The words in what a caller gives: content parts and steps, said so that people and searches read them."""

from collections.abc import Mapping, Sequence
from typing import Final

from episodic_agent.errors import InvalidInput

DEPTH: Final = 40  # no honest message is nested deeper, and Python's own stack ends not far beyond
LONGEST_NUMBER: Final = 256  # in bits


def spoken(content: object, depth: int = 0) -> str:
    """Return the words in a message's content: a string, a list of parts, or an object with parts or text.

    Pictures, sounds and files are named by their kind in square brackets.

    >>> spoken([{"type": "text", "text": "look"}, {"type": "image_url", "image_url": {"url": "…"}}])
    'look\\n[image]'
    """
    if content is None:
        return ""
    if isinstance(content, str):
        return content
    if depth > DEPTH:
        raise InvalidInput(f"the content is nested deeper than {DEPTH} levels; send it flatter")
    if isinstance(content, Mapping):
        return _part(content, depth)
    if isinstance(content, Sequence) and not isinstance(content, bytes | bytearray):
        return "\n".join(text for text in (spoken(part, depth + 1) for part in content) if text)
    if isinstance(content, int | float) and not (
        isinstance(content, int) and content.bit_length() > LONGEST_NUMBER
    ):
        return str(content)
    raise InvalidInput(f"the content must be text or a list of parts, not {type_name(content)}")


_MEDIA: Final = {"image": "image", "audio": "audio", "video": "video", "file": "file", "document": "file"}
_SILENT: Final = ("tool_use", "tool_result", "thinking", "redacted_thinking", "reasoning")


def _part(part: Mapping[object, object], depth: int) -> str:
    kind = str(part.get("type", ""))
    if kind in _SILENT:  # tool blocks are told by `describe`; a model's private reasoning was never said
        return ""
    for key in ("text", "parts", "content", "refusal"):
        value = part.get(key)
        if isinstance(value, str | list | tuple):
            return spoken(value, depth + 1)
    for word, name in _MEDIA.items():
        if word in kind:
            return f"[{name}]"
    return f"[{kind}]" if kind else ""


def step_words(fields: Mapping[str, object], location: object) -> str:
    """Say a step that came without words, from its place, action, events and objects.

    >>> step_words({"action": "open fridge", "events": [{"type": "appearance", "label": "mug"}]}, "kitchen")
    'In the kitchen: open fridge; a mug appeared'
    """
    happened = [spoken(fields[key]) for key in ("action",) if isinstance(fields.get(key), str)]
    events = fields.get("events")
    for event in events if isinstance(events, list | tuple) else ():
        happened.append(event if isinstance(event, str) else event_words(event))
    objects = fields.get("objects")
    if isinstance(objects, list | tuple) and objects:
        happened.append("with " + ", ".join(_object_words(thing) for thing in objects))
    text = "; ".join(part for part in happened if part.strip())
    if isinstance(location, str) and location.strip():
        return f"In the {location}: {text}" if text else f"In the {location}"
    return text


# What happened, said of a thing: kinds as sensors name them, in the past tense.
_HAPPENED: Final[Mapping[str, str]] = {
    "appearance": "a {} appeared", "appeared": "a {} appeared", "new": "a {} appeared",
    "disappearance": "the {} disappeared", "disappeared": "the {} disappeared",
    "missing": "the {} disappeared",
    "movement": "the {} moved", "moved": "the {} moved",
}  # fmt: skip
_STATES: Final = ("state_change", "state_changed", "changed")


def event_words(event: object) -> str:
    """Say what happened to what, "" for what is no event.

    >>> event_words({"type": "state_change", "entity": "door", "new": "open"})
    'the door is open'
    """
    if not isinstance(event, Mapping):
        return ""
    kind = str(event.get("type") or event.get("event_type") or "")
    what = next(
        (event[key] for key in ("label", "entity", "object", "name", "entity_id") if event.get(key)), ""
    )
    if what and kind in _HAPPENED:
        return _HAPPENED[kind].format(what)
    if what and kind in _STATES and event.get("new") is not None:
        return f"the {what} is {event['new']}"
    return " ".join(str(word) for word in (what, kind) if word)


def _object_words(thing: object) -> str:
    if isinstance(thing, Mapping):
        return str(
            next((thing[key] for key in ("label", "name", "type", "id") if thing.get(key)), "something")
        )
    return str(thing)


def type_name(value: object) -> str:
    """Name a value's kind as an error message should; "nothing" for None."""
    names = {dict: "an object", list: "a list", bool: "a boolean", int: "a number", float: "a number"}
    return "nothing" if value is None else names.get(type(value), type(value).__name__)

"""The words in what a caller gives: content parts and steps, said so that people and searches read them."""

import math
from collections.abc import Mapping, Sequence
from numbers import Real
from typing import Any, Final

from episodic_agent.data import listed_words
from episodic_agent.errors import InvalidInput

DEPTH: Final = 40  # no honest message is nested deeper, and Python's own stack ends not far beyond
LONGEST_NUMBER: Final = 256  # in bits
MOST_NUMBERS: Final = 64  # of an array that are kept as such: an action's, and no picture's


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
    remedy = "; decode it first" if isinstance(content, bytes | bytearray) else ""
    raise InvalidInput(f"the content must be text or a list of parts, not {type_name(content)}{remedy}")


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
    before, after = step_parts(fields)
    text = "; ".join([*before, *after])
    if isinstance(location, str) and location.strip():
        return f"In the {location}: {text}" if text else f"In the {location}"
    return text


def step_parts(fields: Mapping[str, object]) -> tuple[list[str], list[str]]:
    """Return what a step did, and what it saw: its action; its events and objects.

    >>> step_parts({"action": 3, "objects": "mug"})
    (['action 3'], ['with mug'])
    """
    happened: list[str] = []
    events = fields.get("events")
    for event in events if isinstance(events, list | tuple) else ():
        happened.append(event if isinstance(event, str) else event_words(event))
    if objects := object_list(fields.get("objects")):
        happened.append("with " + ", ".join(_object_words(thing) for thing in objects))
    return [word for word in (action_words(fields.get("action")),) if word.strip()], [
        part for part in happened if part.strip()
    ]


def action_words(action: object) -> str:
    """Say an action: a text as it is, a number of an environment (or several) as one; "" for what is none.

    >>> action_words(3), action_words([0.5, -1.0]), action_words({"name": "push"}), action_words(True)
    ('action 3', 'action 0.5, -1.0', 'push', '')
    """
    if isinstance(action, str):
        return action
    if isinstance(action, Mapping):
        return str(next((action[key] for key in ("name", "label", "type") if action.get(key)), ""))
    values = as_plain(action)
    several = values if isinstance(values, list | tuple) else [values]
    if all(isinstance(one, str) for one in several):
        return ", ".join(map(str, several))
    return f"action {', '.join(map(str, several))}" if all(map(is_finite, several)) else ""


def as_plain(value: Any) -> object:
    """Return what numpy made as Python's own numbers and lists, anything else as it is; it loads no numpy.

    An array of more numbers than a message may have is a picture, and stays as it is.

    >>> as_plain(3), as_plain([0.5])
    (3, [0.5])
    """
    return value.tolist() if type(value).__module__ == "numpy" and value.size <= MOST_NUMBERS else value


def is_finite(value: object) -> bool:
    """Tell a number that is finite; true and false are none.

    >>> is_finite(0.5), is_finite(float("nan")), is_finite(True)
    (True, False, False)
    """
    return isinstance(value, Real) and not isinstance(value, bool) and math.isfinite(value)


def object_list(objects: object) -> Sequence[object]:
    """Return the things of a step; one alone may be given as it is.

    >>> object_list("mug"), object_list(None), object_list([{"label": "cup"}])
    (['mug'], [], [{'label': 'cup'}])
    """
    if isinstance(objects, str | Mapping):
        return [objects] if objects else []
    return objects if isinstance(objects, list | tuple) else []


# What happened, said of a thing: kinds as sensors name them, in the past tense.
_HAPPENED: Final[Mapping[str, tuple[str, str]]] = {
    "appearance": ("a", "appeared"), "appeared": ("a", "appeared"), "new": ("a", "appeared"),
    "disappearance": ("the", "disappeared"), "disappeared": ("the", "disappeared"),
    "missing": ("the", "disappeared"),
    "movement": ("the", "moved"), "moved": ("the", "moved"),
}  # fmt: skip
_VOWELS: Final = "aeiou"
_STATES: Final = ("state_change", "state_changed", "changed")


def article_of(article: str, what: str) -> str:
    """Return what stands before a thing: nothing before a name, or where an article or its like stands.

    A sensor's labels may be capitalised too, "CoffeeMachine": without an article they read no worse. Before
    what is not known stands the article as it is.
    """
    first = what.split(maxsplit=1)[0] if what.strip() else ""
    if not first:
        return f"{article} "
    if not first[0].islower() or first in listed_words("language/articles.en"):
        return ""
    return "an " if article == "a" and first[0] in _VOWELS else f"{article} "


def event_words(event: object, *, always: bool = False) -> str:
    """Say what happened to what, "" for what is no event; `always` with an article, as older releases did.

    >>> event_words({"type": "state_change", "entity": "door", "new": "open"})
    'the door is open'
    >>> [event_words({"type": "new", "label": label}) for label in ("apple", "Tom Reddy", "the fitter")]
    ['an apple appeared', 'Tom Reddy appeared', 'the fitter appeared']
    """
    if not isinstance(event, Mapping):
        return ""
    kind = str(event.get("type") or event.get("event_type") or "")
    what = next(
        (event[key] for key in ("label", "entity", "object", "name", "entity_id") if event.get(key)), ""
    )
    if what and kind in _HAPPENED:
        article, happened = _HAPPENED[kind]
        return f"{article_of(article, '' if always else str(what))}{what} {happened}"
    if what and kind in _STATES and event.get("new") is not None:
        return f"{article_of('the', '' if always else str(what))}{what} is {event['new']}"
    return " ".join(str(word) for word in (what, kind) if word)


def renewed(text: str, events: Sequence[object]) -> str:
    """Return a step's text with its events in the words of today: older releases gave names articles too.

    >>> renewed("In the hall: open the door; a Tom Reddy appeared", [{"type": "new", "label": "Tom Reddy"}])
    'In the hall: open the door; Tom Reddy appeared'
    """
    for event in events:
        words = event_words(event)
        former = event_words(event, always=True)
        text = text if former == words else text.replace(former, words)
    return text


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

"""The words in what a caller gives: content parts, tool calls and steps as text.

Tool calls and results come in the shapes that OpenAI and Anthropic messages carry them, and are read into
one. A step in one text: where, what was done, what was seen, and how it ended. Searching, showing, exporting
and titles read the text alone, so nothing that a step says may be missing from it. What its content says
already is not said twice. `content_of` undoes this.
"""

import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from numbers import Real
from typing import Any, Final, Protocol

from episodic_agent.data import listed_words
from episodic_agent.errors import InvalidInput
from episodic_agent.schemas import Json, Kind

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


SUCCESS, PARTIAL, FAILURE, ONGOING = "success", "partial", "failure", "ongoing"
FAILED: Final = frozenset(("fail", "failed", "failure", "fails", "error", "unsuccessful", "aborted"))
_ENDINGS: Final[Mapping[str, str]] = {
    **dict.fromkeys((*FAILED, "false"), FAILURE),
    **dict.fromkeys(("success", "succeeded", "successful", "true", "done", "completed"), SUCCESS),
    **dict.fromkeys(("partial", "partially", "partly"), PARTIAL),
    **dict.fromkeys(("interrupted", "paused", "ongoing", "unfinished"), ONGOING),
}
SAYING: Final = ("action", "events", "objects", "outcome", "reward")  # beside its content and its place
_OUTCOMES: Final[Mapping[str, str]] = {
    **dict.fromkeys(("success", "succeeded", "true"), "succeeded"),
    **dict.fromkeys(("failure", "failed", "fail", "false"), "failed"),
    "partial": "partly succeeded",
    "unknown": "outcome unknown",
}
_WORD: Final = re.compile(r"[^\W_]+")
_SENTENCE_END: Final = (".", "!", "?", "…", "。", "！", "？")


def step_text(fields: Mapping[str, object], location: object, content: str) -> str:
    """Say a step: its content after its place and action, then events, objects, outcome and reward.

    Raises InvalidInput, which names the field, for one of the wrong kind.

    >>> step_text({"action": "pull"}, "kitchen", "the drawer is stuck")
    'In the kitchen: pull; the drawer is stuck'
    >>> step_text({"action": "wash the cup", "outcome": False, "reward": -1.0}, "bath", "")
    'In the bath: wash the cup; failed; reward -1.0'
    >>> step_text({"action": "take the mug"}, "kitchen", "Take the mug from the kitchen shelf")
    'Take the mug from the kitchen shelf'
    """
    check_step(fields)
    if content.strip() and not any(fields.get(key) is not None for key in SAYING) and not location:
        return content
    words = _folded(content)
    before, after = step_parts(fields)
    after += outcome_words(fields)
    parts = [part for part in before if not _says(words, part)]
    if content.strip():
        parts.append(content)
    parts += [part for part in after if not _says(words, part)]
    text = _run_on(parts)
    where = location.strip() if isinstance(location, str) else ""
    if not where or _says(words, where):
        return text
    return f"In the {where}: {text}" if text else f"In the {where}"


class TellingStep(Protocol):
    """A step as it is kept, or on its way there."""

    @property
    def text(self) -> str:
        """Return its text."""
        ...

    @property
    def location(self) -> str | None:
        """Return its place."""
        ...

    @property
    def events(self) -> tuple[Mapping[str, Json], ...]:
        """Return what happened."""
        ...

    @property
    def extras(self) -> Mapping[str, Json]:
        """Return what came beside."""
        ...


def content_of(observation: TellingStep) -> str:
    """Return what a step says in its own words: its text without the place and the fields said with it.

    A step that has no content is its whole text.
    """
    text = renewed(observation.text, observation.events)
    fields: dict[str, object] = {**observation.extras, "events": observation.events}
    before, after = step_parts(fields)
    after += outcome_words(fields)
    rest = text.removeprefix(f"In the {observation.location}: ") if observation.location else text
    for part in before:
        rest = _unsaid(rest, part, first=True)
    for part in reversed(after):
        rest = _unsaid(rest, part, first=False)
    pieces = {part.strip() for part in (*before, *after)}
    return text if not rest.strip() or rest.strip() in pieces else rest


def check_step(fields: Mapping[str, object]) -> None:
    """Raise InvalidInput for a field of a step that cannot be what it says: its name, and what it may be."""
    action, objects, position = fields.get("action"), fields.get("objects"), fields.get("position")
    outcome, reward = fields.get("outcome"), fields.get("reward")
    if action is not None and not isinstance(action, str | Mapping) and not action_words(action):
        raise InvalidInput(f"action must be a text or a finite number, not {_value(action)}")
    if objects is not None and not isinstance(objects, str | Mapping | list | tuple):
        raise InvalidInput(f"objects must be a text or a list of texts or objects, not {_value(objects)}")
    if position is not None and not all(map(is_finite, _numbers(position))):
        raise InvalidInput("position must be finite numbers, as a list or an object; leave it out if unknown")
    if outcome is not None and not isinstance(outcome, str | bool):
        raise InvalidInput(
            f'outcome must be a text, as "success" or "failure", or true or false, not {_value(outcome)}'
        )
    if reward is not None and not is_finite(reward):
        raise InvalidInput(f"reward must be a finite number, not {_value(reward)}")


def check_kind(kind: object) -> None:
    """Raise InvalidInput for a kind of item that is none.

    >>> check_kind("step"), check_kind(None)
    (None, None)
    >>> check_kind("stepp")
    Traceback (most recent call last):
    ...
    episodic_agent.errors.InvalidInput: no kind 'stepp'; did you mean 'step'? There are message, tool and step
    """
    kinds = [one.value for one in Kind]
    if kind is None or (isinstance(kind, str) and kind in kinds):
        return
    near = get_close_matches(str(kind), kinds, n=1)
    hint = f"did you mean {near[0]!r}? There" if near else "there"
    raise InvalidInput(f"no kind {kind!r}; {hint} are {', '.join(kinds[:-1])} and {kinds[-1]}")


def outcome_words(fields: Mapping[str, object]) -> list[str]:
    """Say how a step ended, and its reward.

    >>> outcome_words({"outcome": "failure", "reward": 1.0}), outcome_words({"outcome": "drawer opens"})
    (['failed', 'reward 1.0'], ['outcome: drawer opens'])
    """
    words: list[str] = []
    outcome, reward = fields.get("outcome"), fields.get("reward")
    if isinstance(outcome, bool):
        outcome = "success" if outcome else "failure"
    if isinstance(outcome, str) and outcome.strip():
        words.append(_OUTCOMES.get(outcome.strip().casefold(), f"outcome: {outcome.strip()}"))
    if is_finite(reward):
        words.append(f"reward {reward}")
    return words


def ending_of(words: str) -> str:
    """Return how words of an outcome say that something ended, by the first of them; "" for any others.

    >>> ending_of("Failed: no power"), ending_of("interrupted"), ending_of("drawer opens")
    ('failure', 'ongoing', '')
    """
    first = words.split(maxsplit=1)[:1]
    return _ENDINGS.get(first[0].casefold().strip(".,:;!"), "") if first else ""


def _unsaid(text: str, part: str, *, first: bool) -> str:
    for glue in ("; ", " "):
        if first and text.startswith(part + glue):
            return text.removeprefix(part + glue)
        if not first and text.endswith(glue + part):
            return text.removesuffix(glue + part)
    return text


def _run_on(parts: Sequence[str]) -> str:
    """Put parts one behind the other; after a sentence there is no semicolon."""
    text = ""
    for part in parts:
        glue = "" if not text else " " if text.rstrip().endswith(_SENTENCE_END) else "; "
        text = f"{text.rstrip() if text else ''}{glue}{part}"
    return text


def _folded(text: str) -> str:
    return f" {' '.join(_WORD.findall(text.casefold()))} "


def _says(folded: str, part: str) -> bool:
    """Tell whether a folded text has all words of a part, one after the other."""
    words = _folded(part)
    return bool(words.strip()) and words in folded


def _value(value: object) -> str:
    return str(value) if isinstance(value, float) else type_name(value)


def _numbers(value: object) -> list[object]:
    if isinstance(value, Mapping):
        return [one for one in value.values() if not isinstance(one, str)]
    value = as_plain(value)
    return list(value) if isinstance(value, list | tuple) else [value]


_SHOWN_ARGUMENTS: Final = 200
_NO_LISTS: Final = (str, bytes)


@dataclass(frozen=True, slots=True)
class ToolUse:
    """One call, one result, or both. `answered` tells that a result (or an error) is here."""

    name: str | None = None
    arguments: object = None
    result: object = None
    error: object = None
    call_id: str | None = None
    answered: bool = False

    def as_json(self) -> dict[str, object]:
        """Return the observation's extras: the four names always, the call's id where there is one."""
        values: dict[str, object] = {
            "name": self.name,
            "arguments": self.arguments,
            "result": self.result,
            "error": self.error,
        }
        return values if self.call_id is None else {**values, "tool_call_id": self.call_id}


def tool_uses(fields: Mapping[str, object]) -> list[ToolUse]:
    """Find every call and result in one message, in order; none for a plain message.

    >>> [use.name for use in tool_uses({"tool_calls": [{"function": {"name": "now", "arguments": "{}"}}]})]
    ['now']
    >>> tool_uses({"role": "user", "content": "hi"})
    []
    """
    uses = [_openai_call(call) for call in _objects(fields.get("tool_calls"))]
    legacy = fields.get("function_call")
    if isinstance(legacy, Mapping):
        uses.append(_openai_call(legacy))
    for block in _objects(fields.get("content")):
        if block.get("type") == "tool_use":
            uses.append(ToolUse(_name(block), block.get("input"), call_id=_text_or_none(block.get("id"))))
        elif block.get("type") == "tool_result":
            uses.append(_result(None, block.get("content"), block.get("is_error"), block.get("tool_use_id")))
    if not uses and _is_tool_message(fields):
        uses.append(_tool_message(fields))
    return uses


def describe(use: ToolUse) -> str:
    """Say a tool use in words a person can read and a search can find.

    >>> describe(ToolUse("weather", {"city": "Lisbon"}))
    'called weather(city="Lisbon")'
    >>> describe(ToolUse("weather", result="18 °C", answered=True))
    'weather: 18 °C'
    """
    text = ""
    if use.name and (use.arguments is not None or not use.answered):
        text = f"called {use.name}({_arguments(use.arguments)})"
    if not use.answered:
        return text
    outcome = f"error: {_words(use.error)}" if use.error not in (None, False) else _words(use.result)
    if text:
        return f"{text}: {outcome}"
    return f"{use.name or 'tool result'}: {outcome}" if outcome or use.name else ""


def _objects(value: object) -> list[Mapping[str, object]]:
    if value is None or isinstance(value, _NO_LISTS) or not isinstance(value, Sequence):
        return []
    return [part for part in value if isinstance(part, Mapping)]


def _is_tool_message(fields: Mapping[str, object]) -> bool:
    if fields.get("role") in ("tool", "function") or fields.get("kind") == "tool":
        return True
    return fields.get("type") in ("function_call", "function_call_output", "tool_use", "tool_result")


def _tool_message(fields: Mapping[str, object]) -> ToolUse:
    """Read a tool role message, an item of a responses log, or an observation's own four names."""
    call_id = next(
        (fields[key] for key in ("tool_call_id", "call_id", "tool_use_id") if fields.get(key)), None
    )
    value = fields.get("arguments", fields.get("input"))
    arguments = None if value is None else _parsed(value)
    if fields.get("type") in ("function_call", "tool_use"):
        return ToolUse(_name(fields), arguments, call_id=_text_or_none(call_id))
    result = next(
        (fields[key] for key in ("result", "output", "content", "text") if fields.get(key) is not None), None
    )
    error = fields.get("error")
    failed = error if error not in (None, False, "") else fields.get("is_error")
    use = _result(_name(fields), result, failed, call_id)
    silent = use.result is None and use.error is None and arguments is not None
    return ToolUse(use.name, arguments, use.result, use.error, use.call_id, answered=not silent)


def _openai_call(call: Mapping[str, object]) -> ToolUse:
    function = call.get("function")
    inner = function if isinstance(function, Mapping) else call
    arguments = _parsed(inner.get("arguments", inner.get("args")))
    return ToolUse(_name(inner), arguments, call_id=_text_or_none(call.get("id")))


def _result(name: str | None, result: object, failed: object, call_id: object) -> ToolUse:
    value = _flat(result)
    error = None if failed in (None, False) else (value if failed is True else failed)
    return ToolUse(
        name, None, None if failed is True else value, error, _text_or_none(call_id), answered=True
    )


def _flat(result: object) -> object:
    """Join a list of text blocks to its text; leave every other value as it is."""
    blocks = _objects(result)
    if not blocks or not isinstance(result, Sequence) or len(blocks) != len(result):
        return result
    if not all(block.get("type") in ("text", "image", "document") for block in blocks):
        return result
    return "\n".join(str(block.get("text") or f"[{block['type']}]") for block in blocks)


def _parsed(arguments: object) -> object:
    """Parse arguments that travel as JSON in a string; a model's broken JSON stays text."""
    if not isinstance(arguments, str):
        return arguments
    try:
        return json.loads(arguments)
    except (ValueError, RecursionError):
        return arguments


def _arguments(arguments: object) -> str:
    if isinstance(arguments, Mapping):
        text = ", ".join(f"{key}={_words(value, quoted=True)}" for key, value in arguments.items())
    else:
        text = "" if arguments is None else _words(arguments)
    return text if len(text) <= _SHOWN_ARGUMENTS else text[: _SHOWN_ARGUMENTS - 1] + "…"


def _words(value: object, *, quoted: bool = False) -> str:
    if value is None:
        return ""
    if isinstance(value, str) and not quoted:
        return value
    try:
        return json.dumps(value, ensure_ascii=False, default=str)
    except (ValueError, RecursionError, TypeError):  # a loop, or a number too long to print
        return str(type(value).__name__)


def _name(fields: Mapping[str, object]) -> str | None:
    return _text_or_none(fields.get("name"))


def _text_or_none(value: object) -> str | None:
    return value if isinstance(value, str) and value.strip() else None

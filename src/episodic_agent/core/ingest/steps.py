"""A step in one text: where, what was done, what was seen, and how it ended.

Searching, showing, exporting and titles read the text alone, so nothing that a step says may be missing from
it. What its content says already is not said twice. `content_of` undoes this.
"""

import re
from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from typing import Final, Protocol

from episodic_agent.core.ingest.words import action_words, as_plain, is_finite, renewed, step_parts, type_name
from episodic_agent.errors import InvalidInput
from episodic_agent.schemas import Json, Kind

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

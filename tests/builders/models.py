"""Language models for tests: one that answers a single stage, and words an episode may be given."""

import json
import re
from collections.abc import Mapping
from typing import Any

from episodic_agent.protocols import LanguageModel
from episodic_agent.providers.models.staged import StagedModel
from episodic_agent.schemas import Json

# a message of a prompt: its alias, when it was sent where that is known, who sent it, its words as JSON
_SAID = re.compile(
    r'^m\d+ · (?:(?:\w{3} \d+ \w{3} \d+ )?\d\d:\d\d · )?("(?:[^"\\]|\\.)*"|[^":\n]+?)(?: \(\w+\))?'
    r': ("(?:[^"\\]|\\.)*")$',
    re.MULTILINE,
)
# the same of a known fact: its alias, since when it is so, its sentence
_NAMED = re.compile(r'^([mF]\d+) · .*?: ("(?:[^"\\]|\\.)*")$', re.MULTILINE)


def messages_in(prompt: str) -> list[tuple[str, str]]:
    """Return who says what in a prompt."""
    pairs = _SAID.findall(prompt)
    return [(json.loads(who) if who.startswith('"') else who, json.loads(text)) for who, text in pairs]


def only(model: LanguageModel, *stages: str) -> StagedModel:
    """Return a model that is asked in these stages; in all others there is none."""
    return StagedModel(None, dict.fromkeys(stages, model))


def retold(prompt: str) -> Mapping[str, Json]:
    """Tell an episode as a model might that adds nothing: in its own first words, with who said them."""
    pairs = [(actor, " ".join(text.split())) for actor, text in messages_in(prompt)]
    words = " ".join(text for _, text in pairs).split()
    return {
        "title": " ".join((words * 5)[: max(5, min(len(words), 9))]),
        "summary": " ".join(f'{actor} says: "{text}"' for actor, text in pairs)[:900],
        "entities": [],
        "tags": ["talk"],
        "outcome": "ongoing",
    }


def told(**parts: Any) -> dict[str, Any]:
    """Return an answer about an episode; every part may be another."""
    return {
        "title": "The dripping kitchen tap and its repair",
        "summary": "The user tells that the kitchen tap drips.",
        "entities": [],
        "tags": ["kitchen", "tap", "repair"],
        "outcome": "ongoing",
        **parts,
    }


def alias_in(prompt: str, text: str) -> str:
    """Return the alias of the message or known fact that begins with a text, as a prompt shows it."""
    for alias, spoken in _NAMED.findall(prompt):
        if json.loads(spoken).startswith(text):
            return str(alias)
    raise AssertionError(f"{text!r} stands in no line of: {prompt}")

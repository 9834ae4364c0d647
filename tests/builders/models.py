"""Language models for tests: one that answers a single stage, and words an episode may be given."""

import json
import re
from collections.abc import Mapping
from typing import Any

from episodic_agent.protocols import LanguageModel
from episodic_agent.providers.models.staged import StagedModel
from episodic_agent.schemas import Json

_SAID = re.compile(
    r'^m\d+, (?:.*, )?("(?:[^"\\]|\\.)*") says:\n(`{3,})\n(.*?)\n\2$', re.MULTILINE | re.DOTALL
)


def only(model: LanguageModel, *stages: str) -> StagedModel:
    """Return a model that is asked in these stages; in all others there is none."""
    return StagedModel(None, dict.fromkeys(stages, model))


def retold(prompt: str) -> Mapping[str, Json]:
    """Tell an episode as a model might that adds nothing: in its own first words, with who said them."""
    pairs = [(json.loads(actor), " ".join(text.split())) for actor, _, text in _SAID.findall(prompt)]
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

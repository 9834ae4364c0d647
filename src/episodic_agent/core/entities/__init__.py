"""Typed entities and topics of a message, without a model: what linking, facts and metadata compare."""

from episodic_agent.core.entities.calendar import related
from episodic_agent.core.entities.lexicon import Lexicon
from episodic_agent.core.entities.reading import mentions
from episodic_agent.core.entities.records import KINDS, Kind, Mention, SetReference
from episodic_agent.core.entities.sets import set_references
from episodic_agent.core.entities.topics import domains, topics

__all__ = [
    "KINDS",
    "Kind",
    "Lexicon",
    "Mention",
    "SetReference",
    "domains",
    "mentions",
    "related",
    "set_references",
    "topics",
]

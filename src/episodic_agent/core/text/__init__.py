"""Text as the engine reads it: repair at the door, scripts, search terms, sentences (`storage.md`, Text)."""

from episodic_agent.core.text.scripts import repair, script
from episodic_agent.core.text.sentences import sentences
from episodic_agent.core.text.terms import TOKENS_VERSION, fold, term_counts, tokens, words

__all__ = [
    "TOKENS_VERSION",
    "fold",
    "repair",
    "script",
    "sentences",
    "term_counts",
    "tokens",
    "words",
]

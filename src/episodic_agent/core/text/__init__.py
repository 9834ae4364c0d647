"""Text as the engine reads it: repair at the door, scripts, search terms, sentences (`storage.md`, Text)."""

from .scripts import repair, script
from .sentences import sentences
from .terms import TOKENS_VERSION, fold, term_counts, tokens, words

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

"""Words that say little about what an episode is about: talk, not topic (`data/language/weak.toml`)."""

import re
from functools import cache
from typing import Final

from episodic_agent.core.language import fold
from episodic_agent.core.language.coming import words_pattern
from episodic_agent.data import listed_words, phrases, text

_TALK: Final = ("english_verbs", "german", "spanish", "french", "others")
# Characters that break a run unless they are part of one of these words.
_HAN_DOUBTFUL: Final = (
    r"有(?![限效关机趣名])|(?<![性功可智技])能(?![力量源耗])|(?<![主重需])要(?![求点素])|(?<!感)想(?![法象])"
)


@cache
def light() -> frozenset[str]:
    """Return the folded words (verbs, adverbs, exclamations) that never stand in a key phrase."""
    return frozenset(fold(word) for name in _TALK for word in listed_words(f"language/weak.{name}"))


@cache
def weak() -> frozenset[str]:
    """Return the folded words (adjectives, nouns for anything) that alone make no key phrase."""
    return listed_words("language/weak.english_weak")


@cache
def negation() -> re.Pattern[str]:
    """Return what matches a word that turns what is told into its opposite, in a folded text."""
    return re.compile(rf"{words_pattern(phrases('facts/cues.negation')).pattern}|\w+n['’]t(?!\w)")


@cache
def abbreviated() -> frozenset[str]:
    """Return the folded words written with a stop that ends nothing: "Dr. Peña"."""
    return listed_words("language/fillers.stopped")


@cache
def han_run() -> re.Pattern[str]:
    """Return what breaks a run of Chinese or Japanese characters into pieces that may be names."""
    breaks = sorted(text("language/weak.han_breaks").split(), key=len, reverse=True)
    characters = text("language/weak.han_break_characters")
    return re.compile("|".join([*map(re.escape, breaks), _HAN_DOUBTFUL, f"[{characters}]", r"[^\w]+", r"_"]))

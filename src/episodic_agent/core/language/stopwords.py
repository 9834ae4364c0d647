"""Words that carry no content, by language: they are dropped from texts and queries alike."""

from collections.abc import Mapping
from functools import cache
from typing import Final

from episodic_agent.data import listed_words, texts


@cache
def stop_words() -> Mapping[str, frozenset[str]]:
    """Return the function words by language, folded.

    >>> "the" in stop_words()["en"], sorted(stop_words())
    (True, ['de', 'en', 'es', 'fr', 'it', 'nl', 'pt', 'ru'])
    """
    return {
        language: listed_words(f"language/stop_words.{language}") for language in texts("language/stop_words")
    }


# Acronyms that would otherwise be taken for stop words; only in capitals.
KEPT_CAPITALS: Final = frozenset({"IT", "US", "WHO"})
# Chinese characters that carry no content alone; bigrams with them are kept.
HAN_PARTICLES: Final = frozenset("的了吗呢吧啊呀嘛着过是在我你他她它们什么哪那这个和与就也都很把被")

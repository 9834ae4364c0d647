"""What a message is about: the domains its words tell, and its content stems.

A domain ("weather") joins messages that share no word: "umbrella tomorrow?" and "rain in Boston". Stems keep
apart what one domain joins. Names, times and numbers are left out (they are compared as entities), and so
are words of talk.
"""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Final

from episodic_agent.core.entities.lists import entries
from episodic_agent.core.entities.reading import mentions
from episodic_agent.core.entities.records import Mention
from episodic_agent.core.entities.words.domains import DOMAINS, HAN
from episodic_agent.core.summaries.weak import LIGHT, WEAK
from episodic_agent.core.text import fold, tokens
from episodic_agent.core.text.scripts import BIGRAM_SCRIPTS, letter_script
from episodic_agent.core.text.stopwords import STOP_WORDS

_MOST: Final = 12  # stems kept of one message
_WEAK_WEIGHT: Final = 0.25
_STEM_WEIGHT: Final = 0.6
_LONGEST_TEXT: Final = 20_000  # characters read of one message


def topics(
    text: str, *, found: Sequence[Mention] | None = None, language: str | None = None
) -> Mapping[str, float]:
    """Return the topics of a message with weights in (0, 1], the weightiest first.

    Domains are named by a word (`weather`), stems are as `text.tokens` makes them. `found` are the message's
    mentions where they are known already; `language` is an ISO 639-1 code.

    >>> sorted(set(topics("umbrella tomorrow?")) & set(topics("How is the weather in Boston?")))
    ['weather']
    >>> topics("ok, thanks!")
    {}
    """
    if found is None:
        found = mentions(text, language=language)
    rest = _without(text[:_LONGEST_TEXT], found)
    weights: dict[str, float] = {}
    for stem in tokens(rest, language):
        weight = _weight(stem)
        if weight:
            weights[stem] = min(1.0, weights.get(stem, 0.0) + weight * (0.5 if stem in weights else 1.0))
    stems = sorted(weights.items(), key=lambda item: -item[1])[:_MOST]
    told = dict(stems)
    for domain, weight in _domains(rest, language).items():
        told[domain] = max(weight, told.get(domain, 0.0))
    return dict(sorted(told.items(), key=lambda item: (-item[1], item[0])))


def domains(text: str, *, language: str | None = None) -> Mapping[str, float]:
    """Return the domains a text tells and how surely: one word .5, two .75, names included.

    >>> domains("Will it rain? I forgot my umbrella.")
    {'weather': 0.75}
    """
    found = _domains(text[:_LONGEST_TEXT], language)
    return dict(sorted(found.items(), key=lambda item: (-item[1], item[0])))


def _without(text: str, found: Sequence[Mention]) -> str:
    """Blank the mentions out of a text."""
    pieces, last = [], 0
    for mention in found:
        pieces.append(text[last : mention.start])
        last = max(last, mention.end)
    return " ".join([*pieces, text[last:]])


@lru_cache(maxsize=65_536)
def _weight(stem: str) -> float:
    """Return what a stem is worth as a topic: nothing for words of talk, little for words for anything."""
    if stem in _light() or stem[0].isdigit():
        return 0.0
    if letter_script(stem[0]) in BIGRAM_SCRIPTS:
        return 0.0 if len(stem) < 2 else 0.3
    if len(stem) < 3:
        return 0.0
    return _WEAK_WEIGHT if stem in _weak() else _STEM_WEIGHT


@lru_cache(maxsize=1)
def _light() -> frozenset[str]:
    foreign = frozenset().union(*(words for language, words in STOP_WORDS.items() if language != "en"))
    told = {stem for words in DOMAINS.values() for word in entries(words) for stem in tokens(word)}
    return (frozenset(stem for word in LIGHT for stem in tokens(word)) | LIGHT | foreign) - told


@lru_cache(maxsize=1)
def _weak() -> frozenset[str]:
    return frozenset(stem for word in WEAK for stem in tokens(word)) | WEAK


def _domains(text: str, language: str | None) -> dict[str, float]:
    table = _table(language)
    counts: dict[str, float] = {}
    for stem in dict.fromkeys(tokens(text, language)):
        for domain, share in table.get(stem, ()):
            counts[domain] = counts.get(domain, 0.0) + share
    if not text.isascii():
        for domain, words in _unspaced():
            counts[domain] = counts.get(domain, 0.0) + sum(word in text for word in words)
    return {domain: round(1.0 - 0.5**count, 3) for domain, count in counts.items() if count >= 0.5}


@lru_cache(maxsize=16)
def _table(language: str | None) -> dict[str, tuple[tuple[str, float], ...]]:
    """Return the domains of each stem; a stem of several tells each a share."""
    told: dict[str, dict[str, None]] = {}
    for domain, words in DOMAINS.items():
        for word in entries(words):
            for stem in tokens(fold(word), language)[:1]:
                told.setdefault(stem, {})[domain] = None
    return {stem: tuple((domain, 1.0 / len(found)) for domain in found) for stem, found in told.items()}


@lru_cache(maxsize=1)
def _unspaced() -> tuple[tuple[str, tuple[str, ...]], ...]:
    return tuple((domain, tuple(dict.fromkeys(entries(words)))) for domain, words in HAN.items())

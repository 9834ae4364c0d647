"""What a message is about: the domains its words tell, and its content stems.

A domain ("weather") joins messages that share no word: "umbrella tomorrow?" and "rain in Boston". Stems keep
apart what one domain joins. Names, times and numbers are left out (they are compared as entities), and so
are words of talk.
"""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Final

from episodic_agent.core.episodes.stop_words import light, weak
from episodic_agent.core.language import fold, tokens
from episodic_agent.core.language.mentions.reading import mentions
from episodic_agent.core.language.scripts import BIGRAM_SCRIPTS, letter_script
from episodic_agent.core.language.stopwords import stop_words
from episodic_agent.data import phrases, texts
from episodic_agent.schemas.mentions import Mention

_MOST: Final = 12  # stems kept of one message
_STOP_WORD_WEIGHT: Final = 0.25
_STEM_WEIGHT: Final = 0.6
_LONGEST_TEXT: Final = 20_000  # characters read of one message


def topics(
    text: str, *, matching_mentions: Sequence[Mention] | None = None, language: str | None = None
) -> Mapping[str, float]:
    """Return the topics of a message with weights in (0, 1], the weightiest first.

    Domains are named by a word (`weather`), stems are as `text.tokens` makes them. `matching_mentions` are
    the message's
    mentions where they are known already; `language` is an ISO 639-1 code.

    >>> sorted(set(topics("umbrella tomorrow?")) & set(topics("How is the weather in Boston?")))
    ['weather']
    >>> topics("ok, thanks!")
    {}
    """
    if matching_mentions is None:
        matching_mentions = mentions(text, language=language)
    rest = _without(text[:_LONGEST_TEXT], matching_mentions)
    weights: dict[str, float] = {}
    for stem in tokens(rest, language):
        weight = _weight(stem)
        if weight:
            weights[stem] = min(1.0, weights.get(stem, 0.0) + weight * (0.5 if stem in weights else 1.0))
    stems = sorted(weights.items(), key=lambda item: -item[1])[:_MOST]
    values = dict(stems)
    for domain, weight in _domains(rest, language).items():
        values[domain] = max(weight, values.get(domain, 0.0))
    return dict(sorted(values.items(), key=lambda item: (-item[1], item[0])))


def domains(text: str, *, language: str | None = None) -> Mapping[str, float]:
    """Return the domains a text tells and how surely: one word .5, two .75, names included.

    >>> domains("Will it rain? I forgot my umbrella.")
    {'weather': 0.75}
    """
    values = _domains(text[:_LONGEST_TEXT], language)
    return dict(sorted(values.items(), key=lambda item: (-item[1], item[0])))


def _without(text: str, matching_mentions: Sequence[Mention]) -> str:
    """Blank the mentions out of a text."""
    pieces, last = [], 0
    for mention in matching_mentions:
        pieces.append(text[last : mention.start])
        last = max(last, mention.end)
    return " ".join([*pieces, text[last:]])


@lru_cache(maxsize=65_536)
def _weight(stem: str) -> float:
    """Return what a stem is worth as a topic: nothing for words of talk, little for words for anything."""
    if stem in _is_generic() or stem[0].isdigit():
        return 0.0
    if letter_script(stem[0]) in BIGRAM_SCRIPTS:
        return 0.0 if len(stem) < 2 else 0.3
    if len(stem) < 3:
        return 0.0
    return _STOP_WORD_WEIGHT if stem in _is_stop_word() else _STEM_WEIGHT


@lru_cache(maxsize=1)
def _is_generic() -> frozenset[str]:
    foreign = frozenset().union(*(words for language, words in stop_words().items() if language != "en"))
    terms = {stem for words in _domain_words().values() for word in words for stem in tokens(word)}
    return (frozenset(stem for word in light() for stem in tokens(word)) | light() | foreign) - terms


@lru_cache(maxsize=1)
def _is_stop_word() -> frozenset[str]:
    return frozenset(stem for word in weak() for stem in tokens(word)) | weak()


def _domains(text: str, language: str | None) -> dict[str, float]:
    table = _table(language)
    counts: dict[str, float] = {}
    for stem in dict.fromkeys(tokens(text, language)):
        for domain, share in table.get(stem, ()):
            counts[domain] = counts.get(domain, 0.0) + share
    written = frozenset() if text.isascii() else frozenset(text)
    for domain, words in _unspaced() if not written.isdisjoint(_first_signs()) else ():
        held = sum(word in text for word in words if word[0] in written)
        counts[domain] = counts.get(domain, 0.0) + held
    return {domain: round(1.0 - 0.5**count, 3) for domain, count in counts.items() if count >= 0.5}


@lru_cache(maxsize=16)
def _table(language: str | None) -> dict[str, tuple[tuple[str, float], ...]]:
    """Return the domains of each stem; a stem of several tells each a share."""
    answers: dict[str, dict[str, None]] = {}
    for domain, words in _domain_words().items():
        for word in words:
            for stem in tokens(fold(word), language)[:1]:
                answers.setdefault(stem, {})[domain] = None
    return {stem: tuple((domain, 1.0 / len(found)) for domain in found) for stem, found in answers.items()}


@lru_cache(maxsize=1)
def _unspaced() -> tuple[tuple[str, tuple[str, ...]], ...]:
    return tuple(
        (domain, tuple(dict.fromkeys(phrases(f"entities/domains.han.{domain}"))))
        for domain in texts("entities/domains.han")
    )


@lru_cache(maxsize=1)
def _first_signs() -> frozenset[str]:
    return frozenset(word[0] for _, words in _unspaced() for word in words)


def _domain_words() -> dict[str, tuple[str, ...]]:
    return {domain: phrases(f"entities/domains.words.{domain}") for domain in texts("entities/domains.words")}

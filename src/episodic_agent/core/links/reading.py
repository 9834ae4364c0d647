"""From a message's text to what the evidence reads of it, with the shipped reading of entities and topics."""

from dataclasses import replace
from datetime import datetime, tzinfo
from functools import lru_cache
from typing import Final

from episodic_agent.core.language.mentions.lexicon import Lexicon
from episodic_agent.core.language.mentions.numbers import set_references
from episodic_agent.core.language.mentions.reading import mentions, topics
from episodic_agent.core.links.features import Features, features_of, without
from episodic_agent.core.recall.due import days_asked
from episodic_agent.schemas import Vector

SHORT: Final = 1_000  # characters of a text whose features are kept for whoever asks again


def read_message(
    text: str,
    at: datetime,
    *,
    vector: Vector | None = None,
    lexicon: Lexicon | None = None,
    language: str | None = None,
    among_others: bool = False,
) -> Features:
    """Return a message's features; `at` makes "tomorrow" a date, `vector` is its embedding of length 1.

    "What's on today?" says nothing that could be gone on with, unless it is said `among_others`: then it is
    they who answer.

    >>> from datetime import UTC
    >>> read = read_message("What about the weather in Boston?", datetime(2026, 3, 2, tzinfo=UTC))
    >>> read.mentions, "weather" in read.words
    ((('place', 'boston'),), True)
    """
    if lexicon is None and len(text) <= SHORT:
        features = _read_once(text, at, at.tzinfo, language, among_others=among_others)
    else:
        features = _read(text, at, lexicon, language, among_others=among_others)
    return features if vector is None else replace(features, vector=vector)


def _asks_days_alone(text: str, at: datetime, features: Features) -> bool:
    """Tell whether a message asks what is due and leans on nothing before it, as "and on Friday?" does."""
    if features.cues.continuation or features.cues.anaphora or features.cues.recall:
        return False
    asked = days_asked(text, at)
    return asked is not None and asked.alone


@lru_cache(maxsize=1_024)  # each session that closes reads those before it again
def _read_once(
    text: str, at: datetime, _: tzinfo | None, language: str | None, *, among_others: bool
) -> Features:
    """Keep by time zone too: times are equal wherever they were read, but "tomorrow" is another day."""
    return _read(text, at, None, language, among_others=among_others)


def _read(
    text: str, at: datetime, lexicon: Lexicon | None, language: str | None, *, among_others: bool
) -> Features:
    sets = set_references(text)
    named = mentions(text, at=at, lexicon=lexicon, language=language)
    features = features_of(
        text,
        # the "two" of "the two hotels" is no number of its own
        mentions=[m for m in named if not any(m.start < s.end and s.start < m.end for s in sets)],
        set_references=sets,
        topics=topics(without(text, sets)),
        language=language,
    )
    if among_others or not _asks_days_alone(text, at, features):
        return features
    nothing = replace(features.cues, nothing=True)
    return replace(features, words=frozenset(), mentions=(), topics={}, cues=nothing, asks_days=True)

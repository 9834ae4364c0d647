"""The words around a context, by the language of the talk: seed 002's to the letter in English."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Final

from episodic_agent.core.episodes.languages import guess_language
from episodic_agent.core.language import words
from episodic_agent.core.language.stopwords import stop_words
from episodic_agent.data import listed_words, tables, texts

_DAYS: Final = "language/coming.spoken_in"
_FEWEST: Final = 2  # different function words of a language that is taken for the user's


@dataclass(frozen=True, slots=True)
class ContextPhrases:
    """The words of one language; "{}" stands for a topic, a break or a list.

    `units` are minute, hour, day, week, month and year, each for one and for several.
    """

    discussing: str
    maybe_discussing: str
    previous: str
    recent: str
    asks: str
    summary: str
    mentioned: str
    unlinked: str
    continuing: str
    maybe_continuing: str
    known: str
    skills: str
    here: str
    before: str
    session: str
    outcome: str
    decided: str
    units: tuple[tuple[str, str], ...]


def _units(text: str) -> tuple[tuple[str, str], ...]:
    pairs = [pair.split("|") for pair in text.split(", ")]
    return tuple((pair[0], pair[-1]) for pair in pairs)


@cache
def frames() -> Mapping[str, ContextPhrases]:
    """Return the frames by language, as `data/context/frames.toml` holds them."""
    return {
        language: ContextPhrases(
            **{name: word for name, word in said.items() if name != "units"}, units=_units(said["units"])
        )
        for language, said in tables("context/frames").items()
    }


def frame_for(message: str, asked: Sequence[str] = (), language: str | None = None) -> ContextPhrases:
    """Return the frame of a language, or that of what the user says: the message, then what was asked before.

    A message that names a day as one language alone does is of that language, whatever its other words are
    shared with. English where nothing tells it, or the language has no frame.

    >>> frame_for("Und was kostet die Kupplung?").asks, frame_for("Berlin?", ["那我们明天去哪里？"]).asks
    ('Aktuelle Frage: ', '当前问题：')
    >>> frame_for("x y").asks, frame_for("Lisbon", language="xx").asks
    ('Current question: ', 'Current question: ')
    """
    if language is None:
        language = _spoken(message) or _spoken_by_day(message) or _spoken(" ".join(asked)) or "en"
    return frames().get(language, frames()["en"])


def _spoken(text: str) -> str:
    return guess_language(text, least=_FEWEST)


def _spoken_by_day(message: str) -> str:
    """Return the one language whose own word for a day a message uses, "" beside English words.

    "Was" and "an" are of two languages, "heute" of one; in "the heute show" it is a name.
    """
    read = set(words(message))
    spoken = {language for word in read if (language := _day_words().get(word))}
    if len(spoken) != 1:
        return ""
    (language,) = spoken
    foreign = stop_words()["en"] - stop_words().get(language, frozenset())
    return language if language == "en" or foreign.isdisjoint(read) else ""


@cache
def _day_words() -> Mapping[str, str]:
    return {word: name for name in texts(_DAYS) for word in listed_words(f"{_DAYS}.{name}")}

"""The words around a context, by the language of the talk: seed 002's to the letter in English."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Final

from episodic_agent.core.episodes.languages import guess_language
from episodic_agent.data import tables

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

    English where neither tells it, or the language has no frame.

    >>> frame_for("Und was kostet die Kupplung?").asks, frame_for("Berlin?", ["那我们明天去哪里？"]).asks
    ('Aktuelle Frage: ', '当前问题：')
    >>> frame_for("x y").asks, frame_for("Lisbon", language="xx").asks
    ('Current question: ', 'Current question: ')
    """
    if language is None:
        texts = (message, " ".join(asked))
        language = next((result for text in texts if (result := _spoken(text))), "en")
    return frames().get(language, frames()["en"])


def _spoken(text: str) -> str:
    return guess_language(text, least=_FEWEST)

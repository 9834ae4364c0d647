"""The words around a context, by the language of the talk: seed 002's to the letter in English."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from episodic_agent.data import tables
from episodic_agent.lazily import module

if TYPE_CHECKING:
    from episodic_agent.core.context import spoken
else:
    spoken = module("episodic_agent.core.context.spoken")


@dataclass(frozen=True, slots=True)
class ContextPhrases:
    """The words of one language; "{}" stands for a topic, a break, a date or a list.

    `outcomes` are success, partial, failure, ongoing and abandoned; `units` minute, hour, day, week, month
    and year, each for one and for several.
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
    promised: str
    due: str
    done: str
    before: str
    session: str
    outcome: str
    outcomes: tuple[str, ...]
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
            **{name: word for name, word in said.items() if name not in ("outcomes", "units")},
            outcomes=tuple(said["outcomes"].split("|")),
            units=_units(said["units"]),
        )
        for language, said in tables("context/frames").items()
    }


def frame_for(message: str, asked: Sequence[str] = (), language: str | None = None) -> ContextPhrases:
    """Return the frame of a language, or that of what the user says: the message, then what was asked before.

    English where nothing tells it (`spoken_language`), or the language has no frame.

    >>> frame_for("Und was kostet die Kupplung?").asks, frame_for("Berlin?", ["那我们明天去哪里？"]).asks
    ('Aktuelle Frage: ', '当前问题：')
    >>> frame_for("x y").asks, frame_for("Lisbon", language="xx").asks
    ('Current question: ', 'Current question: ')
    """
    if language is None:
        language = spoken.spoken_language(message, asked) or "en"
    return frames().get(language, frames()["en"])

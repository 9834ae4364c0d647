"""The question that has a closed episode named and summarised, and the checks of its answer."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from episodic_agent.core.episodes.languages import USERS
from episodic_agent.core.language import fold, plural, script, words
from episodic_agent.core.prompts import EPISODE
from episodic_agent.core.prompts.grounding import (
    dated,
    invented_name,
    invented_number,
    invented_year,
    language_of,
    numbers_said,
    plain,
    words_held,
)
from episodic_agent.core.prompts.lenient import STRING, STRINGS, closed, cut, one_of
from episodic_agent.core.prompts.quoting import DATA, earlier_lines, lines_of, named
from episodic_agent.errors import BadReply
from episodic_agent.schemas import Json, Observation

VERSION: Final = "episode-5"
STAGE: Final = EPISODE
OUTCOMES: Final = ("success", "partial", "failure", "ongoing", "abandoned", "unknown")
SHORTEST_TITLE, LONGEST_TITLE = 3, 15  # words that are taken; a compound is a word in some languages
MOST_OF_TITLE: Final = 80  # characters: 70 are asked for, and models do not count letters
CONVERSATION: Final = "The conversation:"
BEFORE_IT: Final = "What went before it, to be understood and not told:"
LONGEST_SUMMARY: Final = 2_000  # characters
LONGEST_MESSAGE: Final = 4_000
LONGEST_CONVERSATION: Final = 40_000  # characters: about 10,000 tokens of English
LEAST_OF_MESSAGE: Final = 200  # characters of each message that are shown, however many there are
_MOST_ENTITIES, _MOST_TAGS, _LONGEST_ENTRY = 20, 5, 80
_UNSPACED_TITLE: Final = (4, 60)  # characters of a title in a script without spaces
_QUOTED: Final = re.compile(r"\"[^\"]*\"|“[^”]*”|«[^»]*»|'[^']{12,}'")
_FIRST_PERSON: Final = re.compile(r"\b(?:I|I'm|I've|I'll|I'd|my|we|our)\b")

SCHEMA = closed(
    {
        "title": STRING,
        "summary": STRING,
        "entities": STRINGS,
        "tags": STRINGS,
        "outcome": one_of(OUTCOMES),
    }
)

_INSTRUCTIONS = """\
You write what a memory keeps of a finished piece of conversation. Ask yourself: what would {owner} want to
find later? Write in the language of the conversation.
title: 5 to 12 words, at most 70 characters, that tell it from other conversations: the matter and the names
that count, not the kind of talk.
summary: two to six sentences in the third person. Say who said, asked, wanted, decided or did what, each by
the name in the message's header. Keep names, nouns and numbers exactly as they were said, and every detail
{owner} may ask for later. What an assistant or a tool said is theirs ("the assistant advised ..."), and so is
what somebody pasted ("the mail says ..."): never tell it as somebody's own words or plans. Give each relative
time its date in brackets, reckoned from the header of its message: last month (July 2023).
entities: people, places, organisations, products and works that are named, as written, at most 20.
tags: 3 to 5 subjects, one to three words each, in lower case.
outcome: how the matter stood at the end: success, partial, failure, ongoing, abandoned or unknown.
Write only what was said: no guess, no name and no number that does not stand there.
{data}"""


@dataclass(frozen=True, slots=True)
class EpisodeWords:
    """What a model made of an episode, before and after it was checked."""

    title: str
    summary: str
    entities: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    outcome: str = "unknown"


def prompt(observations: Sequence[Observation], owner: str = "", earlier: Sequence[Observation] = ()) -> str:
    """Return the prompt for an episode's observations, in seq order; `owner` is whose memory it is.

    `earlier` are messages before it, of which the last two are shown: what is answered there is understood.
    A long episode is shortened message by message, so that it fits most models' windows.
    """
    share = max(LEAST_OF_MESSAGE, LONGEST_CONVERSATION // max(len(observations), 1))
    lines = lines_of(observations, min(LONGEST_MESSAGE, share))
    instructions = _INSTRUCTIONS.format(owner=_owner(observations, owner), data=DATA)
    before = earlier_lines(earlier)
    if before:
        before = [BEFORE_IT, *before]
    return "\n".join([instructions, *before, CONVERSATION, *lines, "What does the memory keep of it?"])


def _owner(observations: Sequence[Observation], owner: str) -> str:
    """Return the name of whose memory it is, as the headers have it; "the user" where none of them is it."""
    speaking = next((o.actor for o in observations if fold(o.actor) == fold(owner)), "")
    return named(speaking) if speaking and fold(speaking) not in USERS else "the user"


def read(value: Mapping[str, Json]) -> EpisodeWords:
    """Return what a reply says; raises BadReply where there is no summary.

    The rest is read tolerantly: what is no text is dropped, lists are capped, an unknown outcome is unknown.

    >>> read({"title": " A dripping tap ", "summary": "Ana asks.", "tags": ["tap", 7]}).tags
    ('tap',)
    """
    arguments = {name: value.get(name) for name in ("title", "summary")}
    texts = {name: " ".join(t.split()) if isinstance(t, str) else "" for name, t in arguments.items()}
    if not texts["summary"]:
        raise BadReply(f"summary must be a text that says something, not {arguments['summary']!r}")
    outcome = value.get("outcome")
    return EpisodeWords(
        cut(texts["title"], MOST_OF_TITLE),
        texts["summary"],
        _entries(value.get("entities"), _MOST_ENTITIES),
        tuple(tag.lower() for tag in _entries(value.get("tags"), _MOST_TAGS)),
        outcome if isinstance(outcome, str) and outcome in OUTCOMES else "unknown",
    )


def grounded(
    reported_words: EpisodeWords, observations: Sequence[Observation], language: str | None = None
) -> EpisodeWords:
    """Return an answer with its relative times dated where that is certain, without entities nobody named."""
    tongue = language_of(observations, language)
    held = words_held(observations)
    entities = tuple(one for one in reported_words.entities if plain(one) in held)
    return replace(
        reported_words, summary=dated(reported_words.summary, observations, tongue)[0], entities=entities
    )


def faults(
    reported_words: EpisodeWords,
    observations: Sequence[Observation],
    language: str | None = None,
    *,
    beside: Sequence[Observation] = (),
    elsewhere: Sequence[Observation] = (),
) -> dict[str, str]:
    """Return what is wrong with title and summary, by name; of a grounded answer that can be used, nothing.

    A title has 3 to 15 words. A summary is in the third person and dates its relative times. Neither has a
    number, a year or a name that the episode does not hold; names may be from what was shown `beside` it, and
    both from what the same words tell of `elsewhere`.
    """
    tongue = language_of(observations, language)
    observations = [*observations, *elsewhere]
    numbers = numbers_said(observations)
    texts: dict[str, str] = {}
    for name, text in (("title", reported_words.title), ("summary", reported_words.summary)):
        why = _title_fault(text) if name == "title" else _summary_fault(text, observations, tongue)
        if not why and (invented := invented_number(text, numbers)):
            why = f"nobody said {invented}"
        if not why and (invented := invented_year(text, observations, tongue)):
            why = f"nobody spoke of the year {invented}"
        if not why and (invented := invented_name(text, [*observations, *beside], tongue or None)):
            why = f"nobody named {invented}"
        if why:
            texts[name] = why
    return texts


def _title_fault(title: str) -> str:
    if script(title) in ("han", "kana", "thai"):
        least, most = _UNSPACED_TITLE
        return (
            "" if least <= len(title) <= most else f"{plural(len(title), 'character')}, not {least} to {most}"
        )
    count = len(words(title))
    if SHORTEST_TITLE <= count <= LONGEST_TITLE:
        return ""
    return f"{plural(count, 'word')}, not {SHORTEST_TITLE} to {LONGEST_TITLE}"


def _summary_fault(summary: str, observations: Sequence[Observation], language: str) -> str:
    if len(summary) > LONGEST_SUMMARY:
        return f"{len(summary)} characters, more than {LONGEST_SUMMARY}"
    if language == "en" and (first := _FIRST_PERSON.search(_QUOTED.sub(" ", summary))):
        return f"not in the third person: {first.group()!r}"
    vague = dated(summary, observations, language)[1]
    return f"{vague!r} has no date" if vague else ""


def _entries(value: Json, most: int) -> tuple[str, ...]:
    """Return the texts of a list, tidied, each once, at most so many; () for anything but a list."""
    if not isinstance(value, Sequence) or isinstance(value, str):
        return ()
    texts = (" ".join(one.split())[:_LONGEST_ENTRY] for one in value if isinstance(one, str))
    return tuple(dict.fromkeys(text for text in texts if text))[:most]

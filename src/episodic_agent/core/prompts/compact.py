"""The question that has a part of a thread told at three resolutions, and the checks of its answer."""

from collections.abc import Mapping, Sequence
from typing import Final

from episodic_agent.core.chains.metadata import OUTCOMES, Guess, read_guess
from episodic_agent.core.context.tokens import estimate
from episodic_agent.core.language import sentences
from episodic_agent.core.prompts import COMPACT
from episodic_agent.core.prompts.grounding import invented_number, numbers_said, plain, words_held
from episodic_agent.core.prompts.lenient import STRING, STRINGS, closed, one_of
from episodic_agent.core.prompts.quoting import DATA, lines_of
from episodic_agent.core.sections.resolutions import (
    MACRO_TOKENS,
    MESO_TOKENS,
    MICRO_SENTENCES,
    MICRO_TOKENS,
    Resolutions,
)
from episodic_agent.errors import BadReply
from episodic_agent.schemas import Json, Observation

VERSION = "compact-5"
STAGE: Final = COMPACT
LONGEST_CONVERSATION = 60_000  # characters: about 15,000 tokens of English
LEAST_OF_MESSAGE = 200  # characters of each message that are shown, however many there are
LIMITS: Mapping[str, int] = {"micro": MICRO_TOKENS, "meso": MESO_TOKENS, "macro": MACRO_TOKENS}
ABOUT: Mapping[str, Json] = {"entities": STRINGS, "tags": STRINGS, "outcome": one_of(OUTCOMES)}
SCHEMA = closed({**dict.fromkeys(LIMITS, STRING), **ABOUT})

_INSTRUCTIONS = """\
Tell a conversation at three resolutions, in the language of the conversation.
micro: one to three sentences, at most 100 tokens: what it was about and how it ended.
meso: one paragraph, at most 500 tokens, in the third person. Keep every fact somebody may ask for later:
names, numbers, dates, places, decisions, preferences, answers given.
macro: at most 1000 tokens: patterns and skills, one to a line (what is asked for again and again, how it was
done, what was preferred), then facts the paragraph had no room for.
entities: people, places, organisations, products and works that are named, as written, at most 20.
tags: 3 to 5 subjects, one to three words each, in lower case.
outcome: how the matter stood at the end: success, partial, failure, ongoing, abandoned or unknown.
No text may be longer than the conversation ({size} tokens); where nothing is left to distil, leave macro
empty. Write only what was said; give relative times their date.
{data}"""


def prompt(observations: Sequence[Observation], source_tokens: int) -> str:
    """Return the prompt for a part's observations, in seq order.

    A long part is shortened message by message, so that it fits most models' windows.
    """
    limit = max(LEAST_OF_MESSAGE, LONGEST_CONVERSATION // max(len(observations), 1))
    instructions = _INSTRUCTIONS.format(size=source_tokens, data=DATA)
    return "\n".join([instructions, "The conversation:", *lines_of(observations, limit)])


def read(value: Mapping[str, Json]) -> Mapping[str, str]:
    """Return those of the three texts that a reply has; raises BadReply where it has none of them."""
    arguments = {name: value.get(name) for name in LIMITS}
    texts = {name: text.strip() for name, text in arguments.items() if isinstance(text, str)}
    if not any(texts.values()):
        raise BadReply(f"there must be a text for each of {', '.join(LIMITS)}")
    return texts


def about(value: Mapping[str, Json], observations: Sequence[Observation]) -> Mapping[str, Json]:
    """Return what a reply says the conversation was about, as far as it can be used; never raises.

    Entities that nobody named are left out, and so is what the reply does not have.
    """
    guess = read_guess({name: value.get(name) for name in ABOUT}) or Guess()
    held = words_held(observations)
    entities: list[Json] = [one for one in guess.entities if plain(one) in held]
    tags: list[Json] = [tag.lower() for tag in guess.tags]
    answers: dict[str, Json] = {"entities": entities, "tags": tags, "outcome": guess.outcome}
    return {name: one for name, one in answers.items() if one}


def checked(
    reply: Mapping[str, str], fallback: Resolutions, observations: Sequence[Observation]
) -> tuple[Resolutions, tuple[str, ...]]:
    """Return the reply's texts where they can be used, the fallback's elsewhere, and why those were not.

    A text is refused when it is over its limit or longer than what it stands for, or when it has a number
    that nobody said (dates apart, which relative times are given).
    """
    numbers, size = numbers_said(observations), fallback.source_tokens
    own = {"micro": fallback.micro, "meso": fallback.meso, "macro": fallback.macro}
    faults = {name: _fault(name, reply[name], numbers, size) if name in reply else "missing" for name in own}
    texts = {name: own[name] if faults[name] else reply.get(name, "") for name in own}
    refused = tuple(f"{name}: {why}" for name, why in faults.items() if why)
    return Resolutions(texts["micro"], texts["meso"], texts["macro"], size), refused


def _fault(name: str, text: str, numbers: set[str], source: int) -> str:
    """Return what is wrong with a text, "" where nothing is."""
    size = estimate(text)
    if size > LIMITS[name]:
        return f"{size} tokens, more than {LIMITS[name]}"
    if size > source:
        return f"{size} tokens, more than the {source} it stands for"
    if not text and name != "macro":
        return "empty"
    if text and not any(map(str.isalpha, text)):
        return "no words"
    if name == "micro" and not 1 <= len(sentences(text)) <= MICRO_SENTENCES:
        return f"{len(sentences(text))} sentences, not one to {MICRO_SENTENCES}"
    invented = invented_number(text, numbers)
    return f"nobody said {invented}" if invented else ""

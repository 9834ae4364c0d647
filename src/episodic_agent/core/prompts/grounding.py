"""Whether a model's words rest on what was said: its numbers, names and times.

A summary that adds something nobody said is worse than none: it would be recalled as if it had been said.
What cannot be checked without understanding is not checked here; what can be counted is.
"""

import re
from collections.abc import Sequence
from typing import Final

from episodic_agent.core.episodes.languages import ASSISTANTS, USERS
from episodic_agent.core.episodes.times import date_of, dates_said, undated
from episodic_agent.core.language import fold
from episodic_agent.core.language.mentions import mentions
from episodic_agent.core.language.mentions.lexicon import is_common
from episodic_agent.schemas import Observation, TimeSource

_NUMBER: Final = re.compile(r"\d+(?:[.,:]\d+)*")
_MONTH: Final = r"(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.?"
# what dating a relative time may add
_DATE: Final = re.compile(
    rf"\d{{4}}-\d\d(?:-\d\d)?|\b\d{{1,2}}(?:st|nd|rd|th)? {_MONTH}|{_MONTH} \d{{1,2}}\b|\b(?:19|20)\d\d\b"
    r"|\d{1,4}[年月日]",
    re.IGNORECASE,
)
_WORDS: Final = (
    "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve",
)  # fmt: skip
_YEAR: Final = re.compile(r"(?<!\d)(?:1[5-9]|20|21)\d\d(?!\d)")
_WORD: Final = re.compile(r"[^\W\d_]+")
_STEM: Final = 4  # characters two forms of a name share at least: "Berlin", "Berliner"
_UNNAMED: Final = frozenset({"time", "number"})
_ROLES: Final = frozenset({*USERS, *ASSISTANTS, "user", "assistant"})


def numbers_said(observations: Sequence[Observation]) -> set[str]:
    """Return the numbers that were said, whole and in parts ("9:40" is also 9 and 40), and those in words."""
    terms: set[str] = set()
    for observation in observations:
        for number in _NUMBER.findall(observation.text):
            terms.update([number, number.replace(",", ""), *re.split("[.,:]", number)])
        spoken = observation.text.lower().split()
        terms.update(str(n) for n, word in enumerate(_WORDS, 1) if word in spoken)
    return terms


def invented_number(text: str, numbers: set[str]) -> str:
    """Return the first number of a text that nobody said, dates apart; "" where there is none.

    >>> invented_number("40 euros on 3 May 2024", {"40"}), invented_number("45 euros", {"40"})
    ('', '45')
    """
    return next((n for n in _NUMBER.findall(_DATE.sub(" ", text)) if n.replace(",", "") not in numbers), "")


def invented_year(text: str, observations: Sequence[Observation], language: str) -> str:
    """Return the first year of a text that was neither said, nor meant, nor near when it was said."""
    years = _YEAR.findall(text)
    if not years:
        return ""
    known = {str(o.at.year + n) for o in observations for n in (-1, 0, 1)}
    for observation in observations:
        known.update(_YEAR.findall(observation.text), _YEAR.findall(dates_said(observation, language)))
    return next((year for year in years if year not in known), "")


def invented_name(text: str, observations: Sequence[Observation], language: str | None = None) -> str:
    """Return the first name of a text, of a person, place or thing, that the observations do not hold."""
    named = [one for one in mentions(text, language=language) if one.kind not in _UNNAMED]
    if not named:
        return ""
    held = fold("\n".join(_held(o) for o in observations))
    words = set(_WORD.findall(held)) | _ROLES
    unknown = [one for one in named if fold(one.text) not in held and not _made_of(fold(one.text), words)]
    if not unknown:
        return ""
    # "NYC" is New York: compared by what they mean, which costs more
    values = {one.value for o in observations for one in mentions(o.text, language=language)}
    return next((one.text for one in unknown if one.value not in values), "")


def _held(observation: Observation) -> str:
    parts = (observation.text, observation.actor, observation.location, observation.channel)
    return " ".join(part for part in parts if part)


def _made_of(name: str, words: set[str]) -> bool:
    """Tell whether each word of a name is a common one or, in some form, one of those."""
    return all(
        word in words
        or is_common(word)
        or (len(word) > _STEM and any(one.startswith(word[: max(_STEM, len(word) - 3)]) for one in words))
        or any(len(one) > _STEM and word.startswith(one) for one in words)
        for word in _WORD.findall(name)
    )


def dated(text: str, observations: Sequence[Observation], language: str) -> tuple[str, str]:
    """Return a text with dates put after relative times that have none, and the first without a certain one.

    A phrase is dated as whoever said it meant it; where several did and meant different days, or nobody did,
    nobody can tell. Nothing is asked of a conversation whose times were assumed.
    """
    timed = [o for o in observations if o.at_source is not TimeSource.ASSUMED]
    if not timed:
        return text, ""
    for phrase in undated(text, language):
        saying = [o for o in timed if phrase.lower() in o.text.lower()]
        dates = {label for o in saying if (label := date_of(phrase, o, language))}
        if len(dates) != 1:
            return text, phrase
        place = text.index(phrase) + len(phrase)
        bracket = f"（{dates.pop()}）" if language == "zh" else f" ({dates.pop()})"
        text = text[:place] + bracket + text[place:]
    return text, ""

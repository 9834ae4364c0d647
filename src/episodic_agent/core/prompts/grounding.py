"""Whether a model's words rest on what was said: its numbers, names and times.

A summary that adds something nobody said is worse than none: it would be recalled as if it had been said.
What cannot be checked without understanding is not checked here; what can be counted is. Both sides are
compared as plain words: quotes, hyphens, accents and white space are written one way by people and another
way by models.
"""

import re
from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from functools import cache
from typing import Final

from episodic_agent.core.episodes.languages import ASSISTANTS, USERS, guess_language
from episodic_agent.core.episodes.times import date_of, dates_said, undated
from episodic_agent.core.language import fold
from episodic_agent.core.language.mentions.lexicon import is_common
from episodic_agent.core.language.mentions.reading import mentions
from episodic_agent.core.language.terms import stop_words
from episodic_agent.data import lines
from episodic_agent.schemas import Kind, Observation, TimeSource

_NUMBER: Final = re.compile(r"\d+(?:[.,:]\d+)*")
_THOUSANDS: Final = re.compile(r"\d{1,3}(?:[., ]\d{3})+(?![\d.,:])")
_CLOCK: Final = re.compile(r"clock:(\d+):(\d+)")
_WORDS: Final = (
    "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve",
)  # fmt: skip
_YEAR: Final = re.compile(r"(?<!\d)(?:1[5-9]|20|21)\d\d(?!\d)")
_WORD: Final = re.compile(r"[^\W\d_]+")
_HEADED: Final = re.compile(r":(?=\s)")  # "Boiler: …": in talk that is who speaks, here a matter
_SHORT_DAY: Final = re.compile(r"\b[^\W\d_]{2}(?=\.?\s\d{1,2}\.)")  # a weekday: "Turnier Taucha Sa 25.4."
_STEM: Final = 4  # characters two forms of a name share at least: "Berlin", "Berliner"
_SAMPLE: Final = (12, 200)  # messages, and characters of each, that tell the language
_UNNAMED: Final = frozenset({"time", "number"})
_ROLES: Final = frozenset({*USERS, *ASSISTANTS, "user", "assistant"})
_UNSPACED_ROLES: Final = tuple(sorted((role for role in _ROLES if not role.isascii()), key=len, reverse=True))
_UNSPACED_JOINTS: Final = tuple("和与跟及给对由向")  # "and", "with", "to": no part of the name behind them
# between the two days of "5 to 7 March", "du 1er au 3 mai", "vom 8. bis 10. März"
_RANGE: Final = (
    r"\s*(?:[-–—/,&]|\b(?:to|until|till|through|and|or|bis|und|oder|al?|y|e|o|et|au|ou|до|по|и)\b)\s*"
)
_SHORTEST_QUOTE: Final = 2  # characters: two Han characters may be an answer
_LETTER: Final = re.compile(r"[0-9A-Za-z\u00c0-\u024f\u0370-\u052f]")  # of scripts that part words
_DAY: Final = r"\d{1,2}(?:st|nd|rd|th|er|o|\.)?"


def plain(text: str) -> str:
    """Return the words of a text, folded, with one space between them.

    >>> plain("“D’Arcy” — at the  Café Central 🙂")
    'd arcy at the cafe central'
    """
    return " ".join(re.findall(r"\w+", " ".join(map(fold, text.split()))))


def language_of(observations: Sequence[Observation], language: str | None = None) -> str:
    """Return the language observations are in: `language` where it is known, else a guess."""
    if language:
        return language
    most, length = _SAMPLE
    return guess_language(" ".join(o.text[:length] for o in observations[:most]))


def numbers_said(observations: Sequence[Observation]) -> set[str]:
    """Return the numbers that were said, whole and in parts ("9:40" is also 9 and 40), and those in words."""
    terms: set[str] = set()
    language = language_of(observations) or None
    for observation in observations:
        for number in _numbers(observation.text):
            terms.update([_canonical(number), *map(_canonical, re.split("[.,:]", number))])
        spoken = observation.text.lower().split()
        terms.update(str(n) for n, word in enumerate(_WORDS, 1) if word in spoken)
        terms.update(_numbers_in_words(observation.text, language))
    return terms


def invented_number(text: str, numbers: set[str]) -> str:
    """Return the first number of a text that nobody said, dates apart; "" where there is none.

    Dates are what dating a relative time may add; a year is for `invented_year`.

    >>> invented_number("40 euros from 3 to 5 May 2024", {"40"}), invented_number("45 euros", {"40"})
    ('', '45')
    """
    return next((n for n in _numbers(_dates().sub(" ", _folded(text))) if _canonical(n) not in numbers), "")


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
    function = stop_words().get(language or "", frozenset())  # "Seine" begins a German sentence, too
    as_text = _HEADED.sub(" –", _SHORT_DAY.sub(" ", text))
    named = [
        one
        for one in mentions(as_text, language=language)
        if one.kind not in _UNNAMED and fold(one.text) not in function
    ]
    if not named:
        return ""
    held = words_held(observations)
    words = set(_WORD.findall(held)) | _ROLES
    unknown = [
        one
        for one in named
        if plain(one.text) not in held
        and _without_role(plain(one.text)) not in held
        and not _made_of(plain(one.text), words)
    ]
    if not unknown:
        return ""
    # "NYC" is New York: compared by what they mean, which costs more
    values = {one.value for o in observations for one in mentions(o.text, language=language)}
    return next((one.text for one in unknown if one.value not in values), "")


def _without_role(name: str) -> str:
    """Return a name without who did something, or "and", where no space parts them.

    >>> _without_role("用户漕宝路"), _without_role("和王小姐")
    ('漕宝路', '王小姐')
    """
    before = next((one for one in (*_UNSPACED_ROLES, *_UNSPACED_JOINTS) if name.startswith(one)), "")
    return name.removeprefix(before)


def words_held(observations: Sequence[Observation]) -> str:
    """Return the plain words of observations: what was said, by whom, where and in which channel."""
    parts = ((o.text, o.actor, o.location, o.channel) for o in observations)
    return plain("\n".join(part for of_one in parts for part in of_one if part))


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
    nobody can tell. One that was said, and whose date is not known here, stays as it was said. Nothing is
    asked of a conversation whose times were assumed.
    """
    timed = [o for o in observations if o.at_source is not TimeSource.ASSUMED]
    if not timed:
        return text, ""
    places: list[tuple[int, str]] = []
    for phrase, start in undated(text, language).items():
        saying = [o for o in timed if o.kind is not Kind.TOOL and phrase.lower() in o.text.lower()]
        dates = {label for o in saying if (label := date_of(phrase, o, language))}
        if saying and not dates:
            continue
        if len(dates) != 1:
            return text, phrase
        bracket = f"（{dates.pop()}）" if language == "zh" else f" ({dates.pop()})"
        places.append((start + len(phrase), bracket))
    for place, bracket in sorted(places, reverse=True):
        text = text[:place] + bracket + text[place:]
    return text, ""


def _folded(text: str) -> str:
    return " ".join(map(fold, text.split()))


def _numbers(text: str) -> Iterator[str]:
    """Yield the numbers of a text as they are written; "12 000" is one."""
    folded = _folded(text)
    yield from _NUMBER.findall(_THOUSANDS.sub(lambda match: match[0].replace(" ", "."), folded))


def _canonical(number: str) -> str:
    """Return a number as it compares: 1,000 is 1000, 3,50 is 3.50 and 09:40 is 9.40."""
    if _THOUSANDS.fullmatch(number):
        return re.sub(r"\D", "", number)
    first, *rest = re.split("[.,:]", number)
    return ".".join([first.lstrip("0") or "0", *rest])


def _numbers_in_words(text: str, language: str | None) -> Iterator[str]:
    """Yield what "drei Kinder", "三个" and "7pm" say in digits; of an afternoon's hour both ways."""
    for mention in mentions(text, language=language):
        if mention.kind == "number":
            yield from map(_canonical, _NUMBER.findall(mention.value))
        for hour, minute in _CLOCK.findall(mention.value):
            for number in {int(hour), int(hour) % 12 or 12}:
                yield from (str(number), f"{number}.{minute}", _canonical(minute))


@cache
def _dates() -> re.Pattern[str]:
    """Return what reads a date in a folded text, a range of days included."""
    months = "|".join(
        sorted((form for line in lines("entities/times.months") for form in line.split()), reverse=True)
    )
    weekdays = "|".join(form for line in lines("entities/times.weekdays") for form in line.split())
    months, day = rf"\b(?:{months})\b\.?", rf"(?:\b(?:{weekdays})\b\.?,?\s*)?{_DAY}"
    days = rf"(?<![\d.,:]){day}(?:{_RANGE}{day})*"
    return re.compile(
        rf"\d{{4}}-\d\d(?:-\d\d)?|{days}\s*(?:(?:of|de|del)\s+)?{months}|{months},?\s*(?:the\s+)?{days}(?!\d)"
        r"|\b\d{1,2}[./]\d{1,2}[./](?:\d{4}|\d\d)?(?!\d)|\b(?:19|20)\d\d\b"
        r"|\d{1,4}(?:\s*[-–~至到]\s*\d{1,2})?\s*[年月日号]",
        re.IGNORECASE,
    )


def local_time(observation: Observation) -> datetime:
    """Return when something was said, as its clock showed it."""
    return observation.at + timedelta(seconds=observation.utc_offset or 0)


def numbers_meant(observations: Sequence[Observation]) -> set[str]:
    """Return the numbers that were said, in digits or words, whole and in parts, and when they were said."""
    result = numbers_said(observations)
    for observation in observations:
        local = local_time(observation)
        result |= {str(local.year + n) for n in (-1, 0, 1)} | {str(local.month), str(local.day)}
        for mention in mentions(observation.text):
            digits = re.findall(r"\d+", mention.value)
            result |= {*digits, *(number.lstrip("0") or "0" for number in digits)}
    return result


def place_of(quote: str, text: str) -> tuple[int, int] | None:
    """Return where a quotation stands in a text, word by word; None where it does not.

    Signs between the words may differ, and "…" may leave some out.

    >>> place_of("I can't … soap", "I can\u2019t stand it, tastes of SOAP!")
    (0, 32)
    """
    pieces = [re.findall(r"[^\W_]+", piece) for piece in re.split(r"…|\.\.\.", quote)]
    parts = [r"[\W_]*".join(map(re.escape, words)) for words in pieces if words]
    if sum(len(word) for words in pieces for word in words) < _SHORTEST_QUOTE:
        return None
    pattern = r".{0,300}?".join(parts)
    first, last = (piece for piece in (pieces[0], pieces[-1]))
    if first and _LETTER.match(first[0][0]):
        pattern = f"(?<!{_LETTER.pattern}){pattern}"
    if last and _LETTER.match(last[-1][-1]):
        pattern = f"{pattern}(?!{_LETTER.pattern})"
    match = re.search(pattern, text, re.IGNORECASE | re.DOTALL)
    if match is None:
        return None
    closing = re.search(r"[\W_]*$", quote.strip())
    signs = closing[0] if closing else ""
    return match.start(), match.end() + (len(signs) if text.startswith(signs, match.end()) else 0)


def numbers_in(text: str) -> set[str]:
    """Return the numbers that stand in a text in digits, without thousands' commas."""
    parts = {number.replace(",", "") for number in re.findall(r"\d[\d,]*", text)}
    return parts | set(re.findall(r"\d+(?:[.:]\d+)+", text))

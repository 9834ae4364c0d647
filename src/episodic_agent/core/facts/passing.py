"""Whether a statement was only of days to come that are over by now: "notary today at 11", weeks ago.

A judge of sentences takes an appointment for what lasts; as long as its day is to come it is worth knowing,
and behind it only what one may ask for. In doubt a statement lasts: leaving out what still holds does more
harm than an old appointment. So it must name an event that has its hour, or a day that only looks ahead, and
nothing that begins then, comes again, or was over already. The words are data: `data/language/coming.toml`.
"""

import re
from collections.abc import Mapping, Sequence
from datetime import date
from functools import cache
from typing import Final

from episodic_agent.core.language.coming import (
    DATA,
    HAN,
    ComingDays,
    any_of,
    named_days,
    weekdays,
    words_of,
    words_pattern,
)
from episodic_agent.core.language.dayparts import read_parts, without
from episodic_agent.core.language.tenses import speaks_of_past
from episodic_agent.core.language.timewords import normal
from episodic_agent.data import phrases

READ: Final = 400  # characters; who says more tells of more than a day
_COMPOUND: Final = 5  # letters from which a name of an event ends longer ones: "notartermin"
_ASIDE: Final = 2  # words of a clause that states nothing: "don't forget"
_HOURS: Final = re.compile(r"\s*[-–]\s*\d")  # "Fri 7-13" are hours of every Friday
_EARLY: Final = date(2000, 1, 1)  # before all that is said here
_CLAUSE: Final = re.compile(
    r"[.!?;:\n。！？；，,]+(?!\d)|\s(?:and|but|und|aber|y|pero|et|mais|ma|e|en|maar|и|но)\s"
)
_WORD: Final = re.compile(r"[^\W\d_]+")
_SPOKEN: Final = re.compile(rf"{HAN.pattern}|[^\W\d_]+")  # of a text without spaces each character


def names_days(message: str) -> bool:
    """Tell whether a statement names days at all that were to come when it was said, whenever that was."""
    return len(message) <= READ and bool(named_days(normal(message), _EARLY))


def is_over_by(message: str, said_on: date, today: date) -> bool:
    """Tell whether a statement of `said_on` surely names nothing but days to come that are over `today`.

    >>> said, later = date(2024, 3, 4), date(2024, 3, 25)
    >>> [is_over_by(text, said, later) for text in ("heute Notar 11 Uhr", "I start my new job tomorrow")]
    [True, False]
    """
    folded = normal(message)
    if len(folded) > READ:
        return False
    days = named_days(folded, said_on)
    if not days or max(day.last for day in days) >= today:
        return False
    rest = without(folded, [day[:2] for day in days])
    if _patterns()["lasting"].search(rest) or speaks_of_past(rest) or _comes_again(folded):
        return False
    once = _is_once(rest)
    timed = _patterns()["clock"].search(rest) is not None or _names_part(folded, days)
    sure = all(_is_one(folded, day, said_on, once=once, timed=timed) for day in days)
    return sure and not _states_more(rest, days)


def begins_at(folded: str, place: int) -> bool:
    """Tell whether the day that a folded text names at a place is one from which on something is so."""
    return _patterns()["from_then"].search(folded[:place].rstrip()) is not None


def _is_one(folded: str, day: ComingDays, said_on: date, *, once: bool, timed: bool) -> bool:
    """Tell whether words surely mean one day, or a stretch of days, and only what is on then.

    "Today" may mean these days, "choir on Tuesday" each of them, "in May" every year.
    """
    if begins_at(folded, day.start) or _HOURS.match(folded, day.end):
        return False
    if day.sure:
        return day.first > said_on or once or timed
    if day.first != day.last:
        return False
    if day.weekday:
        return once or _patterns()["coming_one"].search(folded[: day.end]) is not None
    return once or timed


def _is_once(rest: str) -> bool:
    """Tell whether words name an event that is over with its day."""
    events = phrases(f"{DATA}.once")
    if _patterns()["once"].search(rest):
        return True
    ends = tuple(event for event in events if len(event) > _COMPOUND and not HAN.search(event))
    return any(word.endswith(ends) for word in _WORD.findall(rest))


def _names_part(folded: str, days: Sequence[ComingDays]) -> bool:
    return bool(read_parts(folded, folded, [day[:2] for day in days if not day.loose]).parts)


def _comes_again(folded: str) -> bool:
    words = _WORD.findall(folded)
    if not words_of("every").isdisjoint(words):
        return True
    return any(word.endswith("s") and word not in weekdays() and word[:-1] in weekdays() for word in words)


def _states_more(rest: str, days: Sequence[ComingDays]) -> bool:
    """Tell whether a clause beside those of the days states something: "she comes tomorrow, she is vegan"."""
    start = 0
    for end, following in [*(match.span() for match in _CLAUSE.finditer(rest)), (len(rest), len(rest))]:
        names_day = any(start <= day.start < end for day in days)
        if not names_day and len(_SPOKEN.findall(rest[start:end])) > _ASIDE:
            return True
        start = following
    return False


@cache
def _patterns() -> Mapping[str, re.Pattern[str]]:
    before, behind = (any_of(phrases(f"{DATA}.clock_{where}")) for where in ("before", "behind"))
    leads, coming = (any_of(phrases(f"{DATA}.{name}")) for name in ("from_then", "coming_one"))
    return {
        "lasting": words_pattern(phrases(f"{DATA}.lasting")),
        "once": words_pattern(phrases(f"{DATA}.once")),
        "from_then": re.compile(rf"(?:(?<!\w)(?:{leads})|[从自])(?:\s+(?:the|den|dem|el|le|il|o))?$"),
        "coming_one": re.compile(rf"(?:(?<!\w)(?:{coming})\s+|[这下本]个?)\w+$"),
        "clock": re.compile(
            rf"(?<![\d.,])\d{{1,2}}(?:[:.]\d{{2}})?\s*(?:{behind})(?!\w)|(?<!\d)\d{{1,2}}:\d{{2}}(?!\d)|"
            rf"(?<!\w)(?:{before})\s+\d{{1,2}}(?![\d%/])|\d{{1,2}}[点點]"
        ),
    }

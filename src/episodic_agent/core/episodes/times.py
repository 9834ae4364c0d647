"""Times in words, grounded: "last month" becomes "last month (July 2023)"."""

import re
from datetime import UTC, datetime, time, timedelta
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from episodic_agent.core.language.terms import fold
from episodic_agent.core.language.timewords import TimeRange, parse_time
from episodic_agent.data import text
from episodic_agent.lazily import module
from episodic_agent.schemas import Observation, TimeSource

if TYPE_CHECKING:
    from episodic_agent.core.language import coming, tenses
else:
    coming = module("episodic_agent.core.language.coming")
    tenses = module("episodic_agent.core.language.tenses")  # a listing reads none

_ENGLISH: Final = r"""
    the\ day\ (?:before\ yesterday|after\ tomorrow)
  | (?:yesterday|tomorrow)(?:\ (?:morning|afternoon|evening|night))? | today | tonight
  | (?:last|next|this|past)\ (?:week(?:end)?|month|year|night|(?:mon|tues|wednes|thurs|fri|satur|sun)day
      |summer|winter|spring|autumn|fall|morning|afternoon|evening)
  | (?:\d+|a|an|one|two|three|four|five|six|seven|eight|nine|ten|a\ couple\ of|a\ few)
      \ (?:day|week|month|year)s?\ ago
  | in\ (?:\d+|a|two|three|four|five|six|seven|eight|nine|ten)
      \ (?:day|week|month|year)s?(?!\w)(?!\ (?:of|row))"""
# Bare weekdays and months are left out: a speaker may mean the last or the next one.
_PATTERNS: Final = {
    "en": _ENGLISH,
    "de": r"vorgestern|gestern(?: Abend| früh)?|übermorgen|(?:letzte|nächste)[nrs]? (?:Woche|Monat|Jahr)",
    "es": r"anteayer|ayer|la semana pasada|el mes pasado|el año pasado|la próxima semana|el próximo mes",
    "fr": r"avant-hier|hier(?: soir| matin)?|demain|la semaine (?:dernière|prochaine)|le mois dernier",
    "it": r"ieri|domani|la settimana scorsa|il mese scorso|l['’]anno scorso",
    "pt": r"ontem|amanhã|na semana passada|no mês passado|no ano passado",
    "nl": r"gisteren|vorige (?:week|maand)|vorig jaar|volgende (?:week|maand)",
    "ru": r"позавчера|вчера|завтра|на прошлой неделе|в прошлом месяце|в прошлом году",
    "zh": r"前天|昨天|明天|后天|昨晚|(?:上|下)(?:周|个?星期)[一二三四五六日天]?|上个月|下个月|去年|明年",
}
_AHEAD: Final = re.compile(r"in (\w+) (day|week|month|year)s?", re.IGNORECASE)
_COMING: Final = re.compile(r"(?:next|this) (?:weekend|\w+day)", re.IGNORECASE)
_NUMBERS: Final = {
    word: number
    for number, word in enumerate(
        ["a", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"], 1
    )
}
_SENTENCE: Final = re.compile(r"[.!?;\n]+(?!\d)")
_TITLE: Final = re.compile(r"《[^》\n]*》")
_OPENING, _CLOSING = ('"', "'", "“", "‘", "«", "「", "_", "*"), ('"', "'", "”", "’", "»", "」", "_", "*")
_WEEKDAY: Final = re.compile(r"\b(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day\b")
_LONGEST_SPAN: Final = timedelta(days=3)  # a "span" up to here is named by its first day


def grounded(text: str, observation: Observation, language: str, dated: set[str]) -> str:
    """Return a sentence with dates put after its relative times, as seen when it was said.

    Only where the observation's event time is known; days are local where the offset is. Words that are
    dated already (followed by a bracket) and languages not in the table are left alone. `dated` holds the
    phrases with their dates given so far, and grows: the same one is not said twice.
    """
    pattern = _pattern(language)
    if pattern is None or observation.at_source is TimeSource.ASSUMED:
        return text
    offset = timedelta(seconds=observation.utc_offset or 0)

    def date(match: re.Match[str]) -> str:
        statement = match.group()
        if is_named(text, *match.span(), language) or _is_duration(match):
            return statement
        label = _label(statement, observation.at, offset, language)
        if not label or f"{statement.lower()} {label}" in dated:
            return statement
        dated.add(f"{statement.lower()} {label}")
        return f"{statement}（{label}）" if language == "zh" else f"{statement} ({label})"

    return pattern.sub(date, text)


def undated(text: str, language: str) -> dict[str, int]:
    """Return the relative times of a text that no date follows, in order, each where it stands first.

    >>> undated('She left yesterday for "The Day After Tomorrow", back next month (June 2024).', "en")
    {'yesterday': 9}
    """
    pattern = _pattern(language)
    matches = [] if pattern is None else list(pattern.finditer(text))
    plain = [m for m in matches if not is_named(text, *m.span(), language) and not _is_duration(m)]
    places: dict[str, int] = {}
    for match in plain:
        places.setdefault(match.group(), match.start())
    return places


def is_named(text: str, start: int, end: int, language: str) -> bool:
    """Tell whether words that look like a relative time are a name: all of a quotation, or in capitals.

    >>> is_named("They sang Yesterday.", 10, 19, "en"), is_named("Yesterday they sang.", 0, 9, "en")
    (True, False)
    """
    if any(one.start() < start and end < one.end() for one in _TITLE.finditer(text)):
        return True
    if text[:start].endswith(_OPENING) and text[end:].startswith(_CLOSING):
        return True
    before = text[:start].rstrip()
    begins = not before or before[-1] in ".!?:;\n。！？：-–—*•(（"
    phrase = _WEEKDAY.sub("", text[start:end])
    if language == "en" and phrase[1:] != phrase[1:].lower():
        return True  # "The Day After Tomorrow"
    return not begins and phrase[:1].isupper()


def _is_duration(match: re.Match[str]) -> bool:
    """Tell whether "in six years" is how long something took or has been so, by the words of its sentence.

    Those before it count; where it opens a clause, as in "I rang, and in two weeks we meet", those behind.
    """
    if _AHEAD.fullmatch(match.group()) is None:
        return False
    before, behind = fold(match.string[: match.start()]), fold(match.string[match.end() :])
    opens = not tenses.CLAUSE.split(before)[-1].strip()
    return tenses.tells_duration(_SENTENCE.split(behind)[0] if opens else _SENTENCE.split(before)[-1])


def date_of(phrase: str, observation: Observation, language: str) -> str:
    """Return the date of a relative time as it was meant when an observation said it; "" for none known."""
    return _label(phrase, observation.at, timedelta(seconds=observation.utc_offset or 0), language)


def dates_said(observation: Observation, language: str) -> str:
    """Return the dates of all relative times of an observation, one after another."""
    terms: set[str] = set()
    grounded(observation.text, observation, language, terms)
    return " ".join(sorted(terms))


@lru_cache(maxsize=32)
def _pattern(language: str) -> re.Pattern[str] | None:
    source = _PATTERNS.get(language)
    if source is None:
        return None
    # not inside a word, and not where a bracket follows: that may be the date already
    if language == "zh":
        return re.compile(rf"(?:{source})(?!（)")
    return re.compile(
        rf"(?<![\w-])(?:{source})(?![\w-])(?!\ \()", re.IGNORECASE | (re.VERBOSE if language == "en" else 0)
    )


def _label(phrase: str, at: datetime, offset: timedelta, language: str) -> str:
    ahead = _AHEAD.fullmatch(phrase)
    if ahead is not None:
        return _ahead(ahead, at + offset, language)
    if _COMING.fullmatch(phrase):
        # said on a Saturday, "next Sunday" is tomorrow to some and in a week to others
        days = coming.named_days(fold(phrase), (at.astimezone(UTC) + offset).date())
        return _day(datetime.combine(days[0].first, time(), UTC), language) if len(days) == 1 else ""
    # others are read as a query would be, only seen from when it was said
    ranges = parse_time(phrase, at, offset).ranges
    return _name(ranges[0], offset, language) if ranges else ""


def _ahead(match: re.Match[str], local: datetime, language: str) -> str:
    """Date "in three weeks", which queries never say and `parse_time` does not read."""
    word, unit = match.group(1).lower(), match.group(2).lower()
    count = int(word) if word.isdecimal() else _NUMBERS[word]
    days = {"day": 1.0, "week": 7.0, "month": 30.44, "year": 365.25}[unit] * count
    if days > 36_500:
        return ""
    start = local.astimezone(UTC) + timedelta(days=days)
    return _name(TimeRange(start, start + timedelta(days=1), unit), timedelta(), language)


def _name(stretch: TimeRange, offset: timedelta, language: str) -> str:
    start = stretch.start + offset
    if stretch.kind == "year":
        return f"{start.year}年" if language == "zh" else str(start.year)
    if stretch.kind == "month":
        return _month(start, language)
    # a southern winter is another half year: the year alone is always right
    if stretch.kind == "season":
        return str(start.year)
    if stretch.kind == "week":
        last = _day(stretch.end + offset - timedelta(days=1), language)
        return f"week of {_day(start, language)}" if language == "en" else f"{_day(start, language)} – {last}"
    if stretch.kind in ("day", "weekend") or stretch.end - stretch.start <= _LONGEST_SPAN:
        return _day(start, language)
    return ""


def _month(start: datetime, language: str) -> str:
    if language == "zh":
        return f"{start.year}年{start.month}月"
    return f"{_month_name(start, language)} {start.year}"


def _day(start: datetime, language: str) -> str:
    if language == "zh":
        return f"{start.year}年{start.month}月{start.day}日"
    return f"{start.day} {_month_name(start, language)} {start.year}"


def _month_name(start: datetime, language: str) -> str:
    return text(f"language/months.{language}").split()[start.month - 1]

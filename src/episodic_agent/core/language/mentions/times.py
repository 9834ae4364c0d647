"""Times in a message: dates, clocks, weekdays, parts of the day, and days counted from today.

Read word by word, a handful of small grammars tried where a word may begin one; a text without such words
costs one look-up a word. English, German, Spanish and French; Chinese and Japanese are in `han`.
"""

import re
from collections.abc import Callable
from datetime import datetime
from functools import cache, lru_cache
from typing import Final, NamedTuple

from episodic_agent.core.language.mentions.calendar import (
    date_value,
    month_value,
    shifted_month_value,
    shifted_value,
    weekday_value,
)
from episodic_agent.core.language.mentions.numbers import whole_number
from episodic_agent.core.language.mentions.scan import ScannedText, WordMatch
from episodic_agent.data import lines, listed_words, pairs, phrase_set


@cache
def _months() -> dict[str, int]:
    return {form: n for n, forms in enumerate(lines("entities/times.months"), 1) for form in forms.split()}


@cache
def _weekdays() -> dict[str, int]:
    return {form: n for n, forms in enumerate(lines("entities/times.weekdays")) for form in forms.split()}


@cache
def _days() -> dict[str, str]:
    return {form: value for form, value in pairs("entities/times.days").items() if " " not in form}


@cache
def _shifts() -> dict[str, int]:
    return {form: int(value) for form, value in pairs("entities/times.shifts").items()}


@cache
def _feasts() -> dict[tuple[str, ...], str]:
    return {
        tuple(form.replace(".", "").split()): value for form, value in pairs("entities/times.feasts").items()
    }


@cache
def _feast_starts() -> frozenset[str]:
    return frozenset(form[0] for form in _feasts())


@cache
def _measures() -> frozenset[str]:
    return frozenset(pairs("entities/numbers.measures")) | frozenset(pairs("entities/numbers.currencies"))


_ISO: Final = re.compile(r"(\d{4})[-/.](\d{1,2})[-/.](\d{1,2})")
_SLASHED: Final = re.compile(r"(\d{1,2})([/.-])(\d{1,2})(?:\2(\d{2}|\d{4}))?")
_CLOCK: Final = re.compile(r"(\d{1,2})[:h](\d{2})(?::\d{2})?(am|pm)?")
_HOUR: Final = re.compile(r"(\d{1,2})(?:[:.](\d{2}))?(am|pm|a|p|h|uhr)")
_ORDINAL: Final = re.compile(r"(\d{1,2})(?:st|nd|rd|th|er|\.)?")
_YEAR: Final = re.compile(r"1\d{3}|20\d\d|21\d\d")
_DECADE: Final = re.compile(r"(?:1\d|20)?\d0s")
_CENTURY: Final = re.compile(r"(\d{1,2})(?:st|nd|rd|th)")
_HALVES: Final = {
    "am": 0, "a.m.": 0, "a.m": 0, "pm": 12, "p.m.": 12, "p.m": 12, "uhr": 0, "o'clock": 0, "h": 0, "heures": 0
}  # fmt: skip


class Atom(NamedTuple):
    """One part of a time: its value and the last word it takes."""

    value: str
    last: int


_Grammar = Callable[[ScannedText, int, datetime | None], Atom | None]


def find_times(reading: ScannedText, at: datetime | None) -> list[WordMatch]:
    """Return the times of a text, neighbours joined: "Friday at 5 pm", "evening of December 9, 2025"."""
    matches: list[WordMatch] = []
    index, count = 0, len(reading.words)
    while index < count:
        atom = _atom(reading, index, at)
        if atom is None:
            index += 1
            continue
        values, last = _joined(reading, atom, at)
        matches.append(WordMatch("time", " ".join(sorted(dict.fromkeys(values))), index, last))
        index = last + 1
    return matches


def _joined(reading: ScannedText, atom: Atom, at: datetime | None) -> tuple[list[str], int]:
    """Add the atoms that follow directly, after a comma, or after "on", "at" or "of"."""
    values, last = [atom.value], atom.last
    while last + 1 < len(reading.words):
        gap, then = reading.after(last), last + 1
        if (
            reading.lows[then] in {"on", "at", "of", "um", "am", "a", "in"}
            and gap == " "
            and then + 1 < len(reading.words)
        ):
            joint, then, gap = reading.lows[then], then + 1, reading.after(then)
            if joint == "in" and reading.lows[then] == "the" and then + 1 < len(reading.words):
                then += 1
        if gap not in {" ", ", "}:
            break
        more = _atom(reading, then, at)
        if (
            more is None
            or (gap == ", " and more.value.startswith("clock"))
            or not _compatible(values, more.value)
        ):
            break
        values.append(more.value)
        last = more.last
    return values, last


_RANK: Final = {
    "clock": 1,
    "part": 2,
    "weekday": 3,
    "day": 4,
    "date": 4,
    "monthday": 4,
    "month": 5,
    "week": 5,
}


def _compatible(values: list[str], value: str) -> bool:
    """Say whether a value adds something of another size: a clock to a day, never two days."""
    sizes = {_RANK.get(known.partition(":")[0], 9) for known in values}
    size = _RANK.get(value.partition(":")[0], 9)
    return size < 5 and size not in sizes and max(sizes) < 5


def _atom(reading: ScannedText, index: int, at: datetime | None) -> Atom | None:
    low = reading.lows[index]
    grammars = _starters().get(low)
    if grammars is None:
        if not low[0].isdigit():
            return _number_word_ago(reading, index, at) if low in _small_numbers() else None
        grammars = _DIGITS
    for grammar in grammars:
        atom = grammar(reading, index, at)
        if atom is not None:
            return atom
    return None


@lru_cache(maxsize=1)
def _small_numbers() -> frozenset[str]:
    return frozenset(pairs("entities/numbers.words")) | {"a", "an", "few", "couple", "several"}


@lru_cache(maxsize=1)
def _starters() -> dict[str, tuple[_Grammar, ...]]:
    """Return the grammars by the words that may begin them."""
    table: dict[str, list[_Grammar]] = {}
    for forms, grammar in (
        (_feast_starts(), _feast),
        (_months(), _month_first),
        (_weekdays(), _weekday),
        (_days(), _named_day),
        (_shifts(), _shifted),
        (pairs("entities/times.parts"), _part),
        (phrase_set("entities/times.seasons"), _season),
        (("early", "late", "mid", "later", "earlier"), _early),
        ((f"mid-{month}" for month in _months()), _mid_month),
        (("weekend", "weekends", "weekday", "weekdays"), _weekend),
        (("manana", "pasado"), _manana),
        (("day",), _day_before),
        (("vor", "hace", "il"), _foreign_ago),
    ):
        for form in forms:
            table.setdefault(form, []).append(grammar)
    return {form: tuple(grammars) for form, grammars in table.items()}


def _low(reading: ScannedText, index: int) -> str:
    return reading.lows[index] if 0 <= index < len(reading.lows) else ""


def _spaced(reading: ScannedText, index: int, gaps: tuple[str, ...] = (" ",)) -> bool:
    """Say whether there is a next word and only such a gap before it."""
    return index + 1 < len(reading.words) and reading.after(index) in gaps


def _year_after(reading: ScannedText, index: int) -> tuple[int | None, int]:
    """Return the year that follows a date and the last word taken."""
    last = index
    if _low(reading, last + 1) in {"of", "de", "in"} and _spaced(reading, last):
        last += 1
    if _spaced(reading, last, (" ", ", ", ". ")) and _YEAR.fullmatch(reading.words[last + 1]):
        return int(reading.words[last + 1]), last + 1
    return None, index


def _month_first(reading: ScannedText, index: int, at: datetime | None) -> Atom | None:
    """Read "May 11, 2024", "October 2024", "in May", "April"."""
    month, low = _months()[reading.lows[index]], reading.lows[index]
    if _spaced(reading, index, (" ", ". ") if len(low) < 5 else (" ",)):
        day = _ORDINAL.fullmatch(reading.words[index + 1])
        if day and 1 <= int(day[1]) <= 31 and not _followed_by_clock(reading, index + 1):
            year, last = _year_after(reading, index + 1)
            value = date_value(month, int(day[1]), year, at)
            if value is not None:
                return Atom(value, last)
    year, last = _year_after(reading, index)
    if year is not None:
        return Atom(month_value(month, year, at), last)
    before = _low(reading, index - 1)
    if low == "may" and reading.shapes[index] == "l" and before in {"this", "from", "every", "during", "of"}:
        return None  # "this may include"
    if low in phrase_set("entities/times.doubtful") and (
        before not in listed_words("entities/times.before_month")
        or (low == "march" and reading.shapes[index] == "l")
    ):
        return None
    if (
        low not in phrase_set("entities/times.doubtful")
        and reading.shapes[index] == "l"
        and low in {"august", "juin", "mars"}
    ):
        return None
    return Atom(month_value(month, None, at), index)


def _followed_by_clock(reading: ScannedText, index: int) -> bool:
    return _low(reading, index + 1) in listed_words("entities/times.spoken")


def _weekday(reading: ScannedText, index: int, at: datetime | None) -> Atom | None:
    low = reading.lows[index]
    if low in phrase_set("entities/times.doubtful") and (
        reading.shapes[index] == "l" or not _beside_number(reading, index)
    ):
        return None
    value, last = weekday_value(_weekdays()[low], None, at), index
    part = pairs("entities/times.parts").get(_low(reading, index + 1))
    if part is not None and _spaced(reading, index):
        return Atom(f"{value} part:{part}", index + 1)
    return Atom(value, last)


def _beside_number(reading: ScannedText, index: int) -> bool:
    near = (_low(reading, index - 1), _low(reading, index + 1))
    return any(word[:1].isdigit() or word in _months() or word in {"on", "every"} for word in near)


def _named_day(reading: ScannedText, index: int, at: datetime | None) -> Atom | None:
    """Read "tomorrow", "tonight", "yesterday evening"."""
    count, _, part = _days()[reading.lows[index]].partition(" ")
    value, last = shifted_value("day", int(count), at), index
    following = pairs("entities/times.parts").get(_low(reading, index + 1))
    if following is not None and _spaced(reading, index):
        part, last = following, index + 1
    return Atom(f"{value} part:{part}" if part else value, last)


def _manana(reading: ScannedText, index: int, at: datetime | None) -> Atom | None:
    """Read Spanish "mañana" and "pasado mañana" ("manana" folded)."""
    if reading.lows[index] == "manana":
        before = _low(reading, index - 1)
        return Atom("part:morning" if before == "la" else shifted_value("day", 1, at), index)
    if _low(reading, index + 1) == "manana":
        return Atom(shifted_value("day", 2, at), index + 1)
    return None


_DAYS_BETWEEN: Final[dict[tuple[str, ...], int]] = {("before", "yesterday"): -2, ("after", "tomorrow"): 2}


def _day_before(reading: ScannedText, index: int, at: datetime | None) -> Atom | None:
    """Read "day before yesterday" and "day after tomorrow"."""
    texts = tuple(reading.lows[index + 1 : index + 3])
    count = _DAYS_BETWEEN.get(texts)
    return None if count is None else Atom(shifted_value("day", count, at), index + 2)


def _shifted(reading: ScannedText, index: int, at: datetime | None) -> Atom | None:
    """Read "next Friday", "last week", "this morning", "next summer", "last May"."""
    count, then = _shifts()[reading.lows[index]], index + 1
    if not _spaced(reading, index):
        return None
    low = reading.lows[then]
    if low in pairs("entities/times.parts") and count in {0, -1} and low not in {"noon", "midnight"}:
        return Atom(f"{shifted_value('day', count, at)} part:{pairs('entities/times.parts')[low]}", then)
    if low in _weekdays():
        part = pairs("entities/times.parts").get(_low(reading, then + 1))
        value = weekday_value(_weekdays()[low], count, at)
        return Atom(f"{value} part:{part}", then + 1) if part else Atom(value, then)
    if low in _months() and (reading.shapes[then] != "l" or low not in phrase_set("entities/times.doubtful")):
        return Atom(shifted_month_value(_months()[low], count, at), then)
    if low in phrase_set("entities/times.seasons"):
        return Atom(f"season:{low}{count:+d}" if count else f"season:{low}", then)
    unit = pairs("entities/times.units").get(low)
    if unit in {"day", "week", "weekend", "month", "quarter", "semester", "year", "decade", "century"}:
        return None if low.endswith("s") or unit == "day" else Atom(shifted_value(unit, count, at), then)
    return None


def _part(reading: ScannedText, index: int, at: datetime | None) -> Atom | None:
    """Read "in the evening", "at noon", "evening of December 9"; not "a lovely evening"."""
    low, before = reading.lows[index], _low(reading, index - 1)
    if before in {"good", "buenas", "bonne", "guten", "gute", "bon"}:
        return None
    value = f"part:{pairs('entities/times.parts')[low]}"
    if low in {"noon", "midnight", "midday", "lunchtime"}:
        return Atom(value, index)
    following = _low(reading, index + 1)
    if following == "of" and _spaced(reading, index) and _atom_at(reading, index + 2, at):
        return Atom(value, index)
    if before in {"that", "same"} and low != "night":
        return Atom(value, index)
    if before in {"the", "every", "each", "late", "early"} or (before in {"at", "by"} and low == "night"):
        leads = _low(reading, index - 2)
        if before != "the" or leads in {
            "in",
            "during",
            "by",
            "until",
            "of",
            "all",
            "for",
            "throughout",
            "through",
            "into",
            "on",
        }:
            return Atom(value, index)
    return (
        Atom(value, index) if before in {"am", "la", "de", "le"} and low not in {"night", "morning"} else None
    )


def _atom_at(reading: ScannedText, index: int, at: datetime | None) -> Atom | None:
    return _atom(reading, index, at) if index < len(reading.words) else None


def _season(reading: ScannedText, index: int, at: datetime | None) -> Atom | None:
    """Read "in the summer", "summer of 2020", "winter 2024"."""
    low = reading.lows[index]
    year, last = _year_after(reading, index)
    if year is not None:
        return Atom(f"season:{low} year:{year}", last)
    before = _low(reading, index - 1)
    if reading.after(index) == " " and reading.shapes[index + 1 : index + 2] in (["C"], ["M"]):
        return None  # "Spring Festival", "Summer Palace"
    if before in {"in", "during", "every", "early", "late", "im", "en"}:
        return Atom(f"season:{low}", index)
    return (
        Atom(f"season:{low}", index)
        if before == "the" and _low(reading, index - 2) in {"in", "during", "for", "over"}
        else None
    )


def _early(reading: ScannedText, index: int, at: datetime | None) -> Atom | None:
    """Read "early May 2024", "late last year", "later this week"."""
    then = index + 1
    if not _spaced(reading, index, (" ", "-")):
        return None
    low = reading.lows[then]
    if low in _months() and reading.shapes[then] != "l":
        year, last = _year_after(reading, then)
        return Atom(month_value(_months()[low], year, at), last)
    if low in _shifts():
        return _shifted(reading, then, at)
    return None


def _mid_month(reading: ScannedText, index: int, at: datetime | None) -> Atom | None:
    """Read "mid-March"."""
    return Atom(month_value(_months()[reading.lows[index].removeprefix("mid-")], None, at), index)


def _weekend(reading: ScannedText, index: int, at: datetime | None) -> Atom | None:
    before = _low(reading, index - 1)
    if before not in {"the", "on", "over", "every", "each", "during", "and"} and not reading.lows[
        index
    ].endswith("s"):
        return None
    return Atom("week:end" if reading.lows[index].startswith("weekend") else "week:days", index)


def _feast(reading: ScannedText, index: int, at: datetime | None) -> Atom | None:
    """Read the longest feast or age that begins here."""
    feasts = _feasts()
    for length in (4, 3, 2, 1):
        form = tuple(reading.lows[index : index + length])
        texts = tuple(word.replace(".", "") for word in form)
        value = feasts.get(texts) or feasts.get(_with_possessives(reading, index, length))
        if value is None:
            continue
        if (
            length == 1
            and reading.shapes[index] == "l"
            and texts[0] not in {"christmas", "xmas", "halloween", "thanksgiving"}
        ):
            return None
        last = index + len(form) - 1
        if re.fullmatch(r"\d\d-\d\d", value):
            month, day = map(int, value.split("-"))
            year, last = _year_after(reading, last)
            return Atom(date_value(month, day, year, at) or "", last)
        return Atom(f"year:{value}" if value.isdigit() else "feast:" + value.replace(" ", "-"), last)
    return None


def _with_possessives(reading: ScannedText, index: int, length: int) -> tuple[str, ...]:
    pieces = reading.text[reading.starts[index] : reading.ends[min(index + length, len(reading.ends)) - 1]]
    return tuple(pieces.lower().replace("’", "'").replace(".", "").split())


def _number_word_ago(reading: ScannedText, index: int, at: datetime | None) -> Atom | None:
    """Read "two weeks ago", "a few days ago", "in three days"."""
    place = index
    if reading.lows[place] == "a" and _low(reading, place + 1) in {"few", "couple"}:
        place += 1
    if _low(reading, place) == "couple" and _low(reading, place + 1) == "of":
        place += 1
    return _ago(reading, index, place + 1, at)


def _ago(reading: ScannedText, first: int, unit_at: int, at: datetime | None) -> Atom | None:
    unit = pairs("entities/times.units").get(_low(reading, unit_at))
    if unit is None or _low(reading, unit_at + 1) not in {"ago", "earlier", "later", "back", "hence"}:
        return None
    sign = 1 if reading.lows[unit_at + 1] in {"later", "hence"} else -1
    count = whole_number(reading.lows[first]) or {"couple": 2, "a": 1, "an": 1}.get(reading.lows[first], 3)
    if reading.lows[first] == "a" and unit_at > first + 1:
        count = 2 if "couple" in reading.lows[first:unit_at] else 3
    return Atom(shifted_value(unit, sign * min(count, 100_000), at), unit_at + 1)


def _foreign_ago(reading: ScannedText, index: int, at: datetime | None) -> Atom | None:
    """Read "vor drei Tagen", "hace 2 semanas", "il y a trois jours"."""
    place = index + (3 if reading.lows[index : index + 3] == ["il", "y", "a"] else 1)
    count, unit = (
        whole_number(_low(reading, place)),
        pairs("entities/times.units").get(_low(reading, place + 1)),
    )
    if count is None or unit is None or (reading.lows[index] == "il" and place == index + 1):
        return None
    return Atom(shifted_value(unit, -min(count, 100_000), at), place + 1)


def _iso(reading: ScannedText, index: int, at: datetime | None) -> Atom | None:
    match = _ISO.fullmatch(reading.words[index])
    if match is None:
        return None
    value = date_value(int(match[2]), int(match[3]), int(match[1]), at)
    return Atom(value, index) if value else None


def _slashed(reading: ScannedText, index: int, at: datetime | None) -> Atom | None:
    """Read 04/28 and 12/25/2024 month first unless that cannot be; 28.10.2024 day first."""
    match = _SLASHED.fullmatch(reading.words[index])
    if match is None or reading.words[index] == "24/7":
        return None
    first, second, year = int(match[1]), int(match[3]), match[4]
    if match[2] in ".-" and (not year or len(year) < 4):
        return None
    if not year and (len(match[1]) + len(match[3]) < 3 or _low(reading, index + 1) in _measures()):
        return None
    month, day = (second, first) if match[2] == "." or first > 12 else (first, second)
    value = date_value(month, day, _century(year) if year else None, at)
    return Atom(value, index) if value else None


def _century(year: str) -> int:
    return int(year) if len(year) == 4 else 2000 + int(year) if int(year) < 70 else 1900 + int(year)


def _clock(reading: ScannedText, index: int, at: datetime | None) -> Atom | None:
    """Read 17:00, 5:30 pm, 4pm, 8 a.m., 17 Uhr."""
    low = reading.words[index].lower()
    half, last = _low(reading, index + 1), index
    match = _CLOCK.fullmatch(low)
    if match is not None:
        hour, minute, suffix = int(match[1]), int(match[2]), match[3] or ""
    else:
        match = _HOUR.fullmatch(low)
        if match is not None and match[3] in {"am", "pm", "uhr", "h"}:
            hour, minute, suffix = int(match[1]), int(match[2] or 0), match[3]
        elif half in _HALVES and reading.after(index) in {" ", ""} and low.replace(".", "").isdecimal():
            text, _, part = low.partition(".")
            hour, minute, suffix = int(text), int(part or 0), ""
            if half == "h" or (half == "am" and reading.words[index + 1] == "am" and hour > 12):
                return None
        else:
            return None
    if not suffix and half in _HALVES and half != "h" and reading.after(index) in {" ", ""}:
        suffix, last = half, index + 1
    return _clock_atom(hour, minute, suffix, last)


def _clock_atom(hour: int, minute: int, suffix: str, last: int) -> Atom | None:
    if hour > 24 or minute > 59:
        return None
    if suffix in {"am", "pm", "a.m.", "p.m.", "a.m", "p.m"} and hour <= 12:
        hour = hour % 12 + _HALVES[suffix]
    return Atom(f"clock:{hour % 24:02}:{minute:02}", last)


def _day_first(reading: ScannedText, index: int, at: datetime | None) -> Atom | None:
    """Read "29 January 1959", "5th of May", "3. Oktober", "2 de mayo de 2024"."""
    match = _ORDINAL.fullmatch(reading.words[index])
    if match is None or not 1 <= int(match[1]) <= 31:
        return None
    then = index + 1
    if _low(reading, then) in {"of", "de", "do"} and _spaced(reading, index):
        then += 1
    if then >= len(reading.words) or reading.gap(then) not in {" ", ". "}:
        return None
    month = _months().get(reading.lows[then])
    if month is None or (reading.lows[then] in {"may", "mar", "mars"} and reading.shapes[then] == "l"):
        return None
    year, last = _year_after(reading, then)
    value = date_value(month, int(match[1]), year, at)
    return Atom(value, last) if value else None


def _month_day(reading: ScannedText, index: int, at: datetime | None) -> Atom | None:
    """Read "on the 14th", "from the 3rd to the 10th"."""
    match = re.fullmatch(r"(\d{1,2})(?:st|nd|rd|th)", reading.words[index])
    if match is None or not 1 <= int(match[1]) <= 31 or _low(reading, index - 1) != "the":
        return None
    following = _low(reading, index + 1)
    ends = reading.after(index) != " " or following in _AFTER_DAY
    return (
        Atom(f"monthday:{int(match[1])}", index) if ends and _low(reading, index - 2) in _BEFORE_DAY else None
    )


_BEFORE_DAY: Final = frozenset(
    {"on", "from", "by", "until", "till", "to", "before", "after", "since", "through"}
)
_AFTER_DAY: Final = frozenset(
    {"at", "to", "and", "or", "for", "if", "with", "in", "so", "but", "when", "please"}
)


def _digits_ago(reading: ScannedText, index: int, at: datetime | None) -> Atom | None:
    return _ago(reading, index, index + 1, at) if reading.words[index].isdecimal() else None


def _year(reading: ScannedText, index: int, at: datetime | None) -> Atom | None:
    """Read a year: 1000 to 2199 after a preposition, 1900 to 2050 wherever no unit follows."""
    word = reading.words[index]
    if _DECADE.fullmatch(word.lower()):
        return Atom(f"decade:{word[:-1]}", index)
    century = _CENTURY.fullmatch(word.lower())
    if century and _low(reading, index + 1) in {"century", "centuries"}:
        return Atom(f"century:{century[1]}", index + 1)
    span = re.fullmatch(r"((?:1\d|20)\d\d)[-–/]((?:1\d|20)?\d\d)", word)
    if span and _low(reading, index + 1) not in _measures():
        return Atom(f"year:{span[1]}", index)
    if not _YEAR.fullmatch(word) or _low(reading, index + 1) in _measures():
        return None
    gap = reading.gap(index)
    if gap[-1:] in {"$", "€", "£", "#", ":", "+", "=", "*"} or reading.after(index)[:1] in {"%", "€"}:
        return None
    if _low(reading, index - 1) in listed_words("entities/times.before_year") or (
        gap.endswith("(") and reading.after(index)[:1] in {")", "-", "–"}
    ):
        return Atom(f"year:{int(word)}", index)
    following = _low(reading, index + 1)
    before = _low(reading, index - 1)
    several = following == "people" or (following.endswith("s") and len(following) > 3)
    counted = several and reading.after(index) == " " and before not in {"the", "a", "this", "that"}
    counted = counted or before in listed_words("entities/times.before_count")
    return Atom(f"year:{int(word)}", index) if 1900 <= int(word) <= 2050 and not counted else None


_DIGITS: Final[tuple[_Grammar, ...]] = (_iso, _clock, _day_first, _slashed, _digits_ago, _month_day, _year)

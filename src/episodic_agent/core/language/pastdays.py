"""Days that are over as questions name them: "since Tuesday", "am 18.", "depuis hier", "周二以来".

`timewords` reads what is written out; a bare weekday or a number of a day may be any of them there, as texts
of all kinds are read by it. Who asks "since Tuesday" means the latest one. Such words are put as dates, and
words of other languages as the English ones, and `timewords` reads the rest. The words are data:
`data/language/pastdays.toml`.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, date, datetime, timedelta
from functools import cache, lru_cache, partial
from typing import Final, TypeAlias

from episodic_agent.core.language.clocks import read_clocks
from episodic_agent.core.language.coming import HAN, NO_HOUSE, any_of, short_weekdays, weekdays
from episodic_agent.core.language.japanese import has_sign
from episodic_agent.core.language.local_dates import with_local_dates
from episodic_agent.core.language.tenses import speaks_of_past
from episodic_agent.core.language.terms import stop_words
from episodic_agent.core.language.timewords import TimeQuery, calendar_rules, normal, parse_time
from episodic_agent.data import lines, pairs, phrases, text, texts

_DATA: Final = "language/pastdays"
_LONGEST: Final = 400  # characters of a question; longer ones are read as any text
_DAY: Final = timedelta(days=1)
_SATURDAY, _SUNDAY = 5, 6
_FAR: Final = 100  # days
_TWO: Final = 2  # letters of a weekday that is a word of its own too
_WORD: Final = re.compile(r"[^\W_]+")
_SENTENCE: Final = re.compile(r"((?<!\d)\.(?=\s)|[!?\n。！？]+)")
_PLACE: Final = re.compile("«(.+?)»")
_UNITS: Final = {1: "day", 7: "week", 14: "fortnight", 30: "month"}
_Writer: TypeAlias = "Callable[[re.Match[str], date], str]"


@lru_cache(maxsize=512)  # a question is read again without each of its words
def asked_time(
    question: str, now: datetime, utc_offset: timedelta | None = None, *, hours: bool = True
) -> TimeQuery:
    """Read the times of a question as seen at `now`: as `parse_time` does, and days that are over.

    Without `hours` the days of "yesterday between 2 and 4" are whole.

    >>> saturday = datetime(2026, 11, 28, 9, tzinfo=UTC)
    >>> for text in ("what happened since Tuesday?", "was war am 18. los?", "qu'a-t-on dit depuis le 25 ?"):
    ...     for stretch in asked_time(text, saturday).ranges:
    ...         print(stretch.start.date(), stretch.end.date(), stretch.kind)
    2026-11-24 2026-11-28 open
    2026-11-18 2026-11-19 day
    2026-11-25 2026-11-28 open
    """
    hours = hours and len(question) <= _LONGEST
    return parse_time(with_dates(question, now, utc_offset), now, utc_offset, hours=hours)


def with_dates(question: str, now: datetime, utc_offset: timedelta | None = None) -> str:
    """Return a question with dates in the place of days that are over; as it is where it names none.

    >>> with_dates("did she call on Tuesday, or Friday?", datetime(2026, 11, 28, tzinfo=UTC))
    'did she call on tuesday, or 2026-11-27?'
    """
    if len(question) > _LONGEST:
        return question
    folded = normal(question)
    today = (now.astimezone(UTC) + (utc_offset or timedelta())).date()
    dated = with_local_dates(folded, today)
    if _may_name(dated):
        dated = "".join(_dated(sentence, today) for sentence in _SENTENCE.split(dated))
    return question if dated == folded else dated


def _dated(sentence: str, today: date) -> str:
    back = _looks_back(sentence)
    summed = _sums_up(sentence)
    patterns = [*_ANYWHERE, *(_OWN if back or summed else ()), *(_BACK if back else ())]
    patterns += _OF_MATTER if summed else ()
    for pattern, write in patterns:
        compiled = _compiled(pattern)
        if compiled.search(sentence):
            dates = _dates(sentence) if write in _OF_BARE_DAYS else ()
            sentence = compiled.sub(partial(_written, today=today, write=write, dates=dates), sentence)
    return sentence


def speaks_of_days_over(question: str) -> bool:
    """Tell whether a text speaks of what is over, or since then, by its words.

    >>> questions = "was wurde am Dienstag besprochen?", "was steht am Dienstag an?"
    >>> [speaks_of_days_over(question) for question in questions]
    [True, False]
    """
    return len(question) <= _LONGEST and _looks_back(normal(question))


def sums_up(text: str) -> bool:
    """Tell whether a text asks to sum up what was, by its words.

    >>> sums_up("sum up my week"), sums_up("plan my week")
    (True, False)
    """
    return len(text) <= _LONGEST and _sums_up(normal(text))


def _sums_up(folded: str) -> bool:
    return _compiled("«*summing»").search(folded) is not None


@lru_cache(maxsize=512)
def _looks_back(folded: str) -> bool:
    if _compiled(r"«*ahead»").search(folded) or has_sign(folded, f"{_DATA}.ahead_han", "ahead"):
        return False
    if has_sign(folded, f"{_DATA}.past_han", "past"):
        return True
    return _compiled(r"(?<!\w)«past»(?!\w)").search(folded) is not None or speaks_of_past(folded)


def _dates(folded: str) -> list[tuple[int, int]]:
    """Return where what the calendar reads stands, and hours: "June 10th", "14 to 16 h" name no other day."""
    dates = [match.span() for pattern, _ in calendar_rules() for match in pattern.finditer(folded)]
    return [*dates, *(clock[:2] for clock in read_clocks(folded) if clock.explicit)]


def _written(match: re.Match[str], today: date, write: _Writer, dates: Iterable[tuple[int, int]]) -> str:
    if any(start < match.end() and match.start() < end for start, end in dates):
        return match.group()
    try:
        return write(match, today)
    except (ValueError, OverflowError):  # 31 February
        return match.group()


def _may_name(folded: str) -> bool:
    words = frozenset(_WORD.findall(folded))
    return not words.isdisjoint(_signs()) or HAN.search(folded) is not None or any(map(str.isdigit, folded))


@cache
def _signs() -> frozenset[str]:
    """Return the words of which one stands in whatever is read here, but figures."""
    forms = [
        form for name in ("since", "weekend", "this_weekend", "lately") for form in phrases(f"{_DATA}.{name}")
    ]
    forms += [*pairs(f"{_DATA}.stretches"), *pairs(f"{_DATA}.own"), *weekdays()]
    return frozenset(word for form in forms for word in _WORD.findall(form)[-1:])


# --- patterns: «name» is any of a list ----------------------------------------------------------------------


@cache
def _compiled(template: str) -> re.Pattern[str]:
    return re.compile(_PLACE.sub(lambda place: _filled(place[1]), template))


def _filled(name: str) -> str:
    """Return what stands for a place of a template: any of a list, as whole words behind a star."""
    bare = name.removeprefix("*")
    forms = _listed(bare)
    spaced, han = [f for f in forms if not HAN.search(f)], [f for f in forms if HAN.search(f)]
    if name == bare:
        return f"(?:{any_of(forms)})"
    words = rf"(?<![\w'’-])(?:{any_of(spaced)})(?![\w-])"
    return f"(?:{words}|{any_of(han)})" if han else words


def _listed(name: str) -> Sequence[str]:
    match name:
        case "weekday":
            return list(weekdays())
        case "short":
            return [form for form in short_weekdays() if len(form) > _TWO]
        case "months":
            return [form for names in lines("entities/times.months") for form in names.split()]
        case "part":
            parts = [f"language/dayparts.parts.{language}" for language in texts("language/dayparts.parts")]
            return [form for address in parts for form in pairs(address)]
        case "part_lead":
            return phrases("language/dayparts.around.before_part")
        case "counts" | "units":
            return list(pairs(f"language/coming.{name}"))
        case (
            "counted"
            | "house_before"
            | "house_behind"
            | "house_unlike"
            | "every"
            | "next"
            | "next_behind"
            | "toward"
        ):
            return phrases(f"language/coming.{name}")
    return list(pairs(f"{_DATA}.{name}"))


# --- what is written in the place of a match ----------------------------------------------------------------


def _latest_weekday(name: str, today: date, *, over: bool = False) -> str:
    """Return the date of the latest such weekday; `over`: today is none, as who means it says "today"."""
    number = {**short_weekdays(), **weekdays()}[name]
    back = (today.weekday() - number) % 7
    return (today - (back or 7 * over) * _DAY).isoformat()


def _write_weekday(match: re.Match[str], today: date) -> str:
    if match["lead"] or _compiled(rf",?\s+{_THE}\d{{1,2}}{_ENDING}{_ALONE}").match(match.string, match.end()):
        return match.group()  # read by `timewords`, or not the latest: "Saturday 18" is to come
    groups = match.groupdict()
    is_last = bool(groups.get("last") or groups.get("behind"))
    day = _latest_weekday(match["weekday"], today, over=is_last)
    return f"{day} " if HAN.search(match["weekday"]) else day


def _write_since_weekday(match: re.Match[str], today: date) -> str:
    return f"since {_latest_weekday(match['weekday'], today, over=True)}"


def _latest_number(number: int, today: date) -> str:
    """Return the latest day of a month that has a number and is not to come."""
    for back in range(62):
        day = today - back * _DAY
        if day.day == number:
            return day.isoformat()
    raise ValueError("no such day")


@cache
def _no_matter() -> frozenset[str]:
    """Return the words behind the number of a day that it cannot count."""
    listed = [phrases(f"{_DATA}.past"), text("language/coming.past").replace("|", " ").split()]
    for table in ("fillers", "happening", "speech"):
        listed += [words.split() for words in texts(f"recall/alone.{table}").values()]
    return frozenset().union(*listed, *stop_words().values())


def _number_of(match: re.Match[str]) -> int:
    return int(next(value for value in match.groups() if value))


def _write_number(match: re.Match[str], today: date) -> str:
    bound = _compiled(r"(?<!\w)«toward»\s+(?:«*article»\s*)?$").search(match.string[: match.start()])
    if bound or _is_of_more(match):
        return match.group()
    return f"{_latest_number(_number_of(match), today)}{' ' * bool(HAN.search(match.string))}"


def _is_of_more(match: re.Match[str]) -> bool:
    """Tell whether a month says which day is meant, or a noun what is: "6 to 9 January", "the 1st prize"."""
    if _compiled(r"«*months»|月").search(match.string):
        return True
    behind = _WORD.match(match.string[match.end() :].lstrip(" "))
    return bool(behind and not HAN.search(behind.group()) and behind.group() not in _no_matter())


def _write_since_number(match: re.Match[str], today: date) -> str:
    return f"since {_latest_number(_number_of(match), today)}"


def _write_weekday_number(match: re.Match[str], today: date) -> str:
    """Return the day that has both where it is over: "Saturday 18" is no other one, and may be to come."""
    weekday = {**short_weekdays(), **weekdays()}[match["weekday"]]
    number = int(match["day"])
    near = (today + sign * count * _DAY for count in range(_FAR) for sign in (-1, 1))
    day = next((day for day in near if (day.day, day.weekday()) == (number, weekday)), today + _DAY)
    return day.isoformat() if day <= today else match.group()


def _write_since(*_: object) -> str:
    return "since "


def _write_since_han(match: re.Match[str], _: date) -> str:
    return f" since {match['rest'] or match['alone']} "


def _write_stretch(match: re.Match[str], _: date) -> str:
    return pairs(f"{_DATA}.stretches")[" ".join(match.group().split())]


def _write_own(match: re.Match[str], today: date) -> str:
    """Return the stretch that runs; as it begins, the one before is meant: on Monday little of a week is."""
    unit = pairs(f"{_DATA}.own")[" ".join(match["own"].split())]
    begins = {"week": today.weekday() == 0, "month": today.day == 1, "day": False}[unit]
    stretch = "today" if unit == "day" else f"{'last' if begins else 'this'} {unit}"
    return f" {stretch} " if HAN.search(match["own"]) else stretch


def _write_weekend(match: re.Match[str], today: date) -> str:
    """Return the weekend that is over, or that runs on a Sunday: on Saturday little of it is.

    "This weekend" is the one that runs on both; on Monday people call the one that is over so.
    """
    if _is_of_more(match):
        return match.group()
    runs = today.weekday() >= (_SATURDAY if match["this"] else _SUNDAY)
    back = today.weekday() - _SATURDAY if runs else today.weekday() + 2
    saturday = today - back * _DAY
    return f"from {saturday} to {saturday + _DAY}"


def _write_lately(match: re.Match[str], _: date) -> str:
    count = " ".join(match["n"].split())
    number = count if count.isdecimal() else pairs("language/coming.counts")[count]
    return f"last {number} {_UNITS[int(pairs('language/coming.units')[match['unit']])]}s"


def _write_between(match: re.Match[str], today: date) -> str:
    """Return the stretch between two days of a month, whose name stands behind the second."""
    noon = datetime(today.year, today.month, today.day, 12, tzinfo=UTC)
    last = parse_time(f"{match['to']} {match['month']}", noon).ranges[0].start.date()
    return f"from {last.replace(day=int(match['from']))} to {last}"


def _write_joined(match: re.Match[str], _: date) -> str:
    return f"from {match['from']} to {match['to']}"


_OF_BARE_DAYS: Final = (
    _write_weekday,
    _write_weekday_number,
    _write_since_weekday,
    _write_number,
    _write_since_number,
)
_ENDING: Final = r"(?:st|nd|rd|th|er|e|º|\.(?!\d)|-?го(?:\s+числа)?|\s+числа)?"
_DATE: Final = r"\d{4}-\d\d-\d\d"
_THE: Final = r"(?:«*article»\s*)?"
_ALONE: Final = (  # no other count, no hour, and no month behind
    r"(?![\w:%/-]|[.,]\d)(?!\s*«counted»(?!\w))(?!\.?\s*(?:of\s+|de\s+|do\s+|di\s+)?«months»(?!\w))"
)
_HAN_DAY: Final = r"[^\s，,。？?！!从自]{0,8}(?:\d|«han_units»)[一二三四五六日天]?"
_ALL_DAY: Final = r"(?![\w-])(?!\s+(?:«part_lead»\s+)?«part»s?(?!\w))"  # no evening of the day
# What is read wherever a question holds it.
_ANYWHERE: Final[tuple[tuple[str, _Writer], ...]] = (
    (
        rf"(?:(?P<led>«since_han»)\s*(?P<rest>{_HAN_DAY})(?:«since_behind»|«since_behind_led»)|"
        rf"(?P<alone>{_HAN_DAY})«since_behind»)",
        _write_since_han,
    ),
    (
        rf"(?!«not_since»)«*since»\s*{_THE}(?:«*last»\s+)?(?P<weekday>«weekday»|«short»)"
        rf"(?:\s+«last_behind»)?{_ALL_DAY}",
        _write_since_weekday,
    ),
    (
        rf"(?:«*since»\s+(?:the\s+(?=\d+(?:st|nd|rd|th))|«*before_number»\s+)|(?<!\w)dal\s+)"
        rf"(?P<day>\d{{1,2}}){_ENDING}{_ALONE}|(?<!\w)со?\s+(?P<other>\d{{1,2}})(?:-?го(?:\s+числа)?|\s+числа)",
        _write_since_number,
    ),
    (r"(?<=since )(?P<day>\d{1,2})[日号]", _write_number),
    (rf"(?!«not_since»)«*since»\s*{_THE}", _write_since),
    (
        r"(?<!\w)«lately»\s+(?P<n>\d{1,3}|«counts»)\s+(?:«lately_behind»\s+)?(?P<unit>«units»)(?!\w)",
        _write_lately,
    ),
    ("«*stretches»", _write_stretch),
)
# What is read where a question is of what is over, or asks to sum it up,
_OWN: Final[tuple[tuple[str, _Writer], ...]] = (
    (r"(?<![\w'’-])(?P<own>«own»)(?=\W*(?:(?:«own_behind»)\W*)*$)", _write_own),
)
# or asks to sum up a matter in it,
_OF_MATTER: Final[tuple[tuple[str, _Writer], ...]] = (
    (r"(?<![\w'’-])(?P<own>«own»)(?=\s*:|\s+«own_matter»(?!\w))", _write_own),
)
# and where it is of what is over: else it may be of days to come, or of many.
_BACK: Final[tuple[tuple[str, _Writer], ...]] = (
    (r"(?<!last )(?<!next )(?:(?P<this>«*this_weekend»)|«*weekend»)", _write_weekend),
    (
        rf"(?<!\w)(?:«between»|«from»)\s+{_THE}(?P<from>\d{{1,2}}){_ENDING}\s+(?:«both»|«until»)\s+{_THE}"
        rf"(?P<to>\d{{1,2}}){_ENDING}\s+(?:of\s+|de\s+|do\s+)?(?P<month>«months»)(?!\w)",
        _write_between,
    ),
    (
        rf"(?<![\w-])(?P<weekday>«weekday»|«short»),?\s+{_THE}(?P<day>\d{{1,2}}){_ENDING}{_ALONE}",
        _write_weekday_number,
    ),
    (
        rf"(?<![\w-])(?:(?P<lead>«english»|«every»|«next»|«toward»)\s+)?(?:(?P<last>«last»)\s+)?"
        rf"(?P<weekday>«weekday»)(?:\s+(?P<behind>«last_behind»)|(?!\s+«next_behind»)){_ALL_DAY}",
        _write_weekday,
    ),
    (
        r"(?P<lead>[上下这本每]个?)?(?P<weekday>(?:周|星期|礼拜)[一二三四五六日天])(?![早上午中下晚夜凌])",
        _write_weekday,
    ),
    (
        rf"(?<!\w)«before_number»\s+(?P<day>\d{{1,2}}){_ENDING}{_ALONE}|"
        rf"(?<![\w.,/:-])(?P<other>\d{{1,2}})(?:st|nd|rd|th){_ALONE}|"
        rf"(?<![\d月-])(?<!«house_before»)(?<!«house_before»\s)(?P<han>\d{{1,2}})[日号]{NO_HOUSE}",
        _write_number,
    ),
    (
        rf"(?<!\w)(?:«between»|«from»)\s+{_THE}(?P<from>{_DATE})\s+(?:«both»|«until»)\s+{_THE}(?P<to>{_DATE})",
        _write_joined,
    ),
)

"""Time in words: the date terms an observation is indexed under, and the time expressions of a query.

Own regular expressions instead of a date library: a query is read in .1 to .2 ms, where `dateparser`'s
search takes tens. English, Chinese, Japanese (`japanese.py`), Korean and Turkish (`glued.py`) are read fully;
German, Spanish, French, Italian, Portuguese, Dutch and Russian by month, weekday and the commonest relative
words. Everything is event time.
"""

import re
from calendar import monthrange
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import TYPE_CHECKING, Final, TypeAlias

from episodic_agent.core.language import fold, tokens
from episodic_agent.core.language.dayparts import DayPart, about, any_day, read_parts, without
from episodic_agent.core.language.remembering import remembered
from episodic_agent.lazily import module

if TYPE_CHECKING:
    from episodic_agent.core.language import japanese
else:
    japanese = module("episodic_agent.core.language.japanese")  # a listing reads no times

Unit: TypeAlias = str
_Reader: TypeAlias = "Callable[[re.Match[str], datetime], TimeRange | None]"
_Stretch: TypeAlias = "tuple[int, int, TimeRange]"  # where its words stand, and what they name
_Rule: TypeAlias = "tuple[re.Pattern[str], _Reader]"
_DAY: Final = timedelta(days=1)
_NIGHT: Final = timedelta(hours=5)  # of a day until then: a morning begins


@dataclass(frozen=True, slots=True)
class TimeRange:
    """Give a half-open stretch of event time, `start <= at < end`, in aware UTC, and what named it.

    `kind` is the unit named: minute, hour, day, week, weekend, month, season, year; span for other
    stretches, open for those that reach to now (`since`, `after`) or to the beginning (`before`).
    """

    start: datetime
    end: datetime
    kind: str


@dataclass(frozen=True, slots=True)
class TimeQuery:
    """Hold what a query says about time.

    `ranges` are stretches of the calendar; `hours` are (from, to) local hours of any day, to > 24 past
    midnight; `weekdays` count from Monday = 0; `asks` is "when", "duration", "order" or "". Hours and
    weekdays are those of a clock `utc_offset` from UTC.
    """

    ranges: tuple[TimeRange, ...] = ()
    hours: tuple[tuple[float, float], ...] = ()
    weekdays: tuple[int, ...] = ()
    asks: str = ""
    utc_offset: timedelta = timedelta()

    def __bool__(self) -> bool:
        return bool(self.ranges or self.hours or self.weekdays)

    @property
    def names_hours(self) -> bool:
        """Tell whether less than a day is meant somewhere: it matters much whose clock tells the time."""
        return bool(self.hours) or any(part.end - part.start < _DAY for part in self.ranges)


_MONTHS: Final = (
    "january jan januar enero janvier gennaio janeiro januari января январе январь",
    "february feb februar febrero fevrier febbraio fevereiro februari февраля феврале февраль",
    "march mar marz marzo mars marco maart марта марте март",
    "april apr abril avril aprile апреля апреле апрель",
    "may mai mayo maggio maio mei мая мае май",
    "june jun juni junio juin giugno junho июня июне июнь",
    "july jul juli julio juillet luglio julho июля июле июль",
    "august aug agosto aout augustus августа августе август",
    "september sep sept septiembre septembre settembre setembro сентября сентябре сентябрь",
    "october oct oktober octubre octobre ottobre outubro октября октябре октябрь",
    "november nov noviembre novembre novembro ноября ноябре ноябрь",
    "december dec dezember diciembre decembre dicembre dezembro декабря декабре декабрь",
)
_MONTH: Final = {name: number for number, names in enumerate(_MONTHS, 1) for name in names.split()}
# Also words of their own in English: a month only beside a day, a year or a time preposition.
_DOUBTFUL_MONTHS: Final = frozenset(
    {"may", "march", "mar", "mars", "marco", "mai", "jan", "dec", "mei", "sep"}
)
_WEEKDAYS: Final = (
    "monday mondays montag lunes lundi lunedi maandag понедельник",
    "tuesday tuesdays dienstag martes mardi martedi dinsdag вторник",
    "wednesday wednesdays mittwoch miercoles mercredi mercoledi woensdag среду",
    "thursday thursdays donnerstag jueves jeudi giovedi donderdag четверг",
    "friday fridays freitag viernes vendredi venerdi vrijdag пятницу",
    "saturday saturdays samstag sabado samedi sabato zaterdag субботу",
    "sunday sundays sonntag domingo dimanche domenica zondag воскресенье",
)
_WEEKDAY: Final = {name: number for number, names in enumerate(_WEEKDAYS) for name in names.split()}
_SEASONS: Final = {"spring": 3, "summer": 6, "autumn": 9, "fall": 9, "winter": 12}
_NUMBERS: Final = {
    "a": 1, "an": 1, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8,
    "nine": 9, "ten": 10, "eleven": 11, "twelve": 12, "a couple of": 2, "couple of": 2, "a few": 3, "few": 3,
    "several": 4, "half a": 0.5, "half an": 0.5, "一": 1, "二": 2, "两": 2, "三": 3, "四": 4, "五": 5,
    "六": 6, "七": 7, "八": 8, "九": 9, "十": 10, "几": 3, "半": 0.5,
}  # fmt: skip
_UNITS: Final = {
    "minute": "minute", "hour": "hour", "day": "day", "week": "week", "fortnight": "fortnight",
    "month": "month", "year": "year", "weekend": "weekend",
    "分钟": "minute", "小时": "hour", "个小时": "hour", "天": "day", "日": "day", "周": "week",
    "个星期": "week", "星期": "week", "礼拜": "week", "个礼拜": "week",
    "个月": "month", "月": "month", "年": "year",
}  # fmt: skip
_DAYS_OF: Final = {
    "minute": 1 / 1440, "hour": 1 / 24, "day": 1.0, "week": 7.0, "weekend": 7.0, "fortnight": 14.0,
    "month": 30.44, "year": 365.25,
}  # fmt: skip


def _any(names: object) -> str:
    return "|".join(sorted(map(re.escape, names), key=len, reverse=True))  # type: ignore[call-overload]


_M: Final = rf"(?P<month>{_any(_MONTH)})\.?"
_W: Final = rf"(?P<weekday>{_any(_WEEKDAY)})"
_N: Final = rf"(?P<n>\d+|{_any(n for n in _NUMBERS if n.isascii())})"
_CN: Final = rf"(?P<n>\d+|[{''.join(n for n in _NUMBERS if not n.isascii())}]+)"
_U: Final = r"(?P<unit>minute|hour|day|week|fortnight|month|year|weekend)s?"
_Y: Final = r"(?P<year>(?:19|20|21)\d\d)"
_D: Final = r"(?P<day>\d{1,2})(?:st|nd|rd|th|er|º|\.)?"


def date_words(at: datetime, utc_offset: timedelta | None = None) -> list[str]:
    """Return the terms an observation's date is indexed under: year, month, day, and names of both.

    `at` is aware; `utc_offset` moves it to the local day. Month and weekday names are English stems, as
    `text.tokens` gives them; the dashed terms are what `date_terms` makes of a query.

    >>> date_words(datetime(2023, 5, 8, 13, 56, tzinfo=UTC))
    ['2023', '2023-05', '2023-05-08', 'may', '8', 'monday']
    """
    local = at.astimezone(UTC) + (utc_offset or timedelta())
    return list(_date_words(local.year, local.month, local.day))


@lru_cache(maxsize=4096)
def _date_words(year: int, month: int, day: int) -> tuple[str, ...]:
    weekday = _WEEKDAYS[datetime(year, month, day, tzinfo=UTC).weekday()].split()[0]
    name = _MONTHS[month - 1].split()[0]
    return (
        str(year),
        f"{year}-{month:02}",
        f"{year}-{month:02}-{day:02}",
        *(tokens(name) or [name]),
        str(day),
        *tokens(weekday),
    )


def date_terms(query: TimeQuery) -> list[str]:
    """Return the indexed terms of a query's calendar ranges: days of a short range, months of a longer one.

    They are days in UTC, as observations are indexed: a local day may be parts of two.

    >>> date_terms(parse_time("in May 2023", datetime(2024, 1, 1, tzinfo=UTC)))
    ['2023-05']
    """
    terms: dict[str, None] = {}
    for stretch in query.ranges:
        start, end = stretch.start, stretch.end
        last = end - timedelta(microseconds=1)
        if stretch.kind == "open":
            continue
        if stretch.kind == "year":
            terms[str(start.year)] = None
        elif end - start <= 10 * _DAY:
            for number in range((last.date() - start.date()).days + 1):
                terms[(start.date() + number * _DAY).isoformat()] = None
        else:
            months = (last.year - start.year) * 12 + last.month - start.month
            for number in range(min(months, 23) + 1):
                moment = add_months(_floor(start, "month"), number)
                terms[f"{moment.year}-{moment.month:02}"] = None
    return list(terms)


def parse_time(
    query: str, now: datetime, utc_offset: timedelta | None = None, *, hours: bool = False
) -> TimeQuery:
    """Read a query's absolute and relative time expressions as seen at `now` (aware).

    A month or day without a year is its latest occurrence not after `now`. Days begin at local midnight,
    `utc_offset` from UTC. Two expressions joined by "to", "and", "until" or a dash after "from" or "between"
    become one range. With `hours` those of the clock narrow the day they stand beside, as in a question.

    >>> found = parse_time("what did we do two weeks ago?", datetime(2024, 3, 20, tzinfo=UTC))
    >>> [(r.start.date().isoformat(), r.end.date().isoformat(), r.kind) for r in found.ranges]
    [('2024-03-04', '2024-03-11', 'week')]
    >>> parse_time("where do I walk in the mornings?", datetime(2024, 3, 20, tzinfo=UTC)).hours
    ((5, 12),)
    >>> found = parse_time("what did I say yesterday evening?", datetime(2024, 3, 20, tzinfo=UTC))
    >>> [(r.start.isoformat(" ", "hours"), r.end.isoformat(" ", "hours")) for r in found.ranges]
    [('2024-03-19 17+00:00', '2024-03-19 23+00:00')]
    """
    offset = utc_offset or timedelta()
    local = now.astimezone(UTC) + offset
    text = asked = normal(query)
    results: list[_Stretch] = []
    for pattern, read in calendar_rules():
        text = _take(pattern, read, text, local, results)
    results.sort(key=lambda item: item[0])
    days = [item for item in results if item[2].kind == "day"]
    parts, nameless = read_parts(query, asked, [item[:2] for item in days], hours=hours)
    if len(days) < len(results):  # "Tuesday evening in March", "after lunch in May": not the latest one
        parts = [part._replace(past=False) for part in parts if part.weekday is None]
    spans = [*nameless, *(part[:2] for part in parts)]
    text, unread = without(text, spans), without(asked, spans)
    every = dict.fromkeys(part.hours for part in parts if part.any_day)
    if len(every) < len(parts):
        results = _narrowed(results, days, parts, local, asked)
    ranges = [_shift(stretch, -offset) for stretch in _joined(results, unread, local)]
    return TimeQuery(tuple(ranges), _daytimes(text, every), _weekdays(text), _asks(text), offset)


def _narrowed(
    results: list[_Stretch], days: list[_Stretch], parts: Iterable[DayPart], local: datetime, text: str
) -> list[_Stretch]:
    """Return the stretches in order, with parts of days in the place of the days they belong to."""
    read = [
        (part.start, part.end, _part_of_day(part, days, local, text)) for part in parts if not part.any_day
    ]
    named = [item for item in results if not any(item[0] < end and start < item[1] for start, end, _ in read)]
    return sorted((*named, *read), key=lambda item: item[0])


def _part_of_day(part: DayPart, days: list[_Stretch], local: datetime, text: str) -> TimeRange:
    """Return the stretch of a part of a day; "lately" in the small hours reaches back into the day before."""
    first, last = (timedelta(hours=hour) for hour in part.hours)
    if part.lately:
        waking = _floor(local - _NIGHT, "day") + _NIGHT
        return TimeRange(
            max(local + first, waking) if -first >= _DAY else local + first,
            _plus(local + last, timedelta(seconds=1)),
            "span",
        )
    today = _floor(local, "day")
    day = today if part.day is None else today + part.day * _DAY
    latest = part.past or part.weekday is not None
    if part.beside is not None:
        begin, _, stretch = days[part.beside]
        day, latest = stretch.start, text.startswith("on ", begin)  # "on Tuesday"
    elif part.weekday is not None:
        day = today - (today.weekday() - part.weekday) % 7 * _DAY
    if part.night and local - today < _DAY / 2:
        day -= _DAY
    elif latest and day + first > local:
        day -= _DAY if part.past else 7 * _DAY
    elif day == today and local - today < _NIGHT and first >= _DAY / 2:
        day -= _DAY  # who is still up says "this evening" of the day that began when they rose
    return TimeRange(_plus(day, first), _plus(day, last), "span")


def _take(
    pattern: re.Pattern[str],
    read: _Reader,
    text: str,
    local: datetime,
    results: list[_Stretch],
) -> str:
    """Add the ranges one rule reads and blank what it read, so that later rules do not read it again."""
    for match in pattern.finditer(text):
        try:
            stretch = read(match, local)
        except (ValueError, OverflowError):  # 31 February, year 0, or a million years ago
            continue
        if stretch is not None:
            results.append((match.start(), match.end(), stretch))
            text = without(text, [match.span()])
    return text


@remembered(2_048)  # what is known is compared with each new statement
def normal(query: str) -> str:
    """Fold case and accents, keeping signs and spaces; times of some languages become shared characters."""
    folded = query.lower() if query.isascii() else re.sub(r"\w+", lambda match: fold(match.group()), query)
    return japanese.shared_times(folded)


def _shift(stretch: TimeRange, by: timedelta) -> TimeRange:
    return TimeRange(_plus(stretch.start, by), _plus(stretch.end, by), stretch.kind)


def _plus(moment: datetime, by: timedelta) -> datetime:
    try:
        return moment + by
    except OverflowError:
        return moment


def _joined(results: list[_Stretch], text: str, local: datetime) -> Iterator[TimeRange]:
    """Yield the ranges in order, "between A and B" as one, "since", "before" and "after" as open."""
    place = 0
    while place < len(results):
        start, end, stretch = results[place]
        lead = _LEAD.search(text[:start]) or _LEAD_INSIDE.match(text[start:end])
        opening = lead["word"] if lead else ""
        if opening in _OPENED and place + 1 < len(results):
            next_start, _, later = results[place + 1]
            if _LINK.fullmatch(text[end:next_start]) and later.end > stretch.start:
                yield TimeRange(stretch.start, later.end, "span")
                place += 2
                continue
        yield _opened(stretch, opening, local)
        place += 1


def _opened(stretch: TimeRange, opening: str, local: datetime) -> TimeRange:
    """Stretch a range to now (`since`, `after`) or to the beginning (`before`)."""
    now = _plus(local, timedelta(seconds=1))
    if opening == "since" and stretch.start < now:
        return TimeRange(stretch.start, now, "open")
    if opening == "after" and stretch.end < now:
        return TimeRange(stretch.end, now, "open")
    if opening in {"before", "until"}:
        return TimeRange(BEGINNING, stretch.start if opening == "before" else stretch.end, "open")
    return stretch


BEGINNING: Final = datetime(1, 1, 2, tzinfo=UTC)  # a day of room for offsets
_OPENED: Final = frozenset({"between", "from", "since", "从", "自"})
_OPENINGS: Final = r"(?P<word>between|from|since|after|before|until|从|自)"
_LEAD: Final = re.compile(_OPENINGS + r"(?:\s+(?:the|in|on))?\s*$")
_LEAD_INSIDE: Final = re.compile(_OPENINGS)
_LINK: Final = re.compile(r"\s*(?:,?\s*(?:to|and|until|till|through|-|–|到|至|和))\s*(?:the\s+)?")


def _floor(moment: datetime, unit: Unit) -> datetime:
    day = moment.replace(hour=0, minute=0, second=0, microsecond=0)
    match unit:
        case "minute":
            return moment.replace(second=0, microsecond=0)
        case "hour":
            return moment.replace(minute=0, second=0, microsecond=0)
        case "week":
            return day - day.weekday() * _DAY
        case "weekend":
            return day + (5 - day.weekday()) * _DAY
        case "month":
            return day.replace(day=1)
        case "year":
            return day.replace(month=1, day=1)
    return day


def add_months(moment: datetime, count: int) -> datetime:
    """Return a moment so many months later, on the last day of a month that is too short."""
    number = moment.year * 12 + moment.month - 1 + count
    year, month = divmod(number, 12)
    day = min(moment.day, monthrange(year, month + 1)[1])
    return moment.replace(year=year, month=month + 1, day=day)


def _unit_range(start: datetime, unit: Unit) -> TimeRange:
    """Return the range of one calendar unit that begins at `start`."""
    lengths = {
        "minute": timedelta(minutes=1),
        "hour": timedelta(hours=1),
        "week": 7 * _DAY,
        "weekend": 2 * _DAY,
    }
    if unit == "month":
        return TimeRange(start, add_months(start, 1), unit)
    if unit == "year":
        return TimeRange(start, add_months(start, 12), unit)
    return TimeRange(start, start + lengths.get(unit, _DAY), unit)


def _relative(local: datetime, unit: Unit, count: int) -> TimeRange:
    """Return the calendar unit `count` units from the current one."""
    if unit == "month":
        return _unit_range(add_months(_floor(local, "month"), count), unit)
    if unit == "year":
        return _unit_range(add_months(_floor(local, "year"), 12 * count), unit)
    return _unit_range(_floor(local, unit) + timedelta(days=count * _DAYS_OF[unit]), unit)


def _number(text: str) -> float:
    text = " ".join(text.split())
    if text.isdecimal():
        return float(min(int(text), 100_000))
    if text in _NUMBERS:
        return _NUMBERS[text]
    if "十" in text:
        tens, _, ones = text.partition("十")
        return _NUMBERS.get(tens, 1) * 10 + _NUMBERS.get(ones, 0)
    return 1


def _latest(local: datetime, month: int, day: int | None) -> datetime:
    """Return the latest such day, or first of the month, that does not lie after now."""
    for year in range(local.year, local.year - 9, -1):
        if (day or 1) <= monthrange(year, month)[1]:
            moment = datetime(year, month, day or 1, tzinfo=UTC)
            if moment <= local:
                return moment
    raise ValueError("no such day")


def _read_date(match: re.Match[str], local: datetime) -> TimeRange | None:
    """Read named groups year, month, day, of which the month is a name or a number."""
    parts = match.groupdict()
    month = _MONTH.get(parts["month"]) or int(parts["month"])
    day = int(parts["day"]) if parts.get("day") else None
    if parts.get("year"):
        start = datetime(int(parts["year"]), month, day or 1, tzinfo=UTC)
    else:
        start = _latest(local, month, day)
    stretch = _unit_range(start, "day" if day else "month")
    return _part_of(stretch, parts.get("part") or "")


def _part_of(stretch: TimeRange, part: str) -> TimeRange:
    """Narrow a month or year to its early, middle or late third."""
    length = stretch.end - stretch.start
    if part in {"early", "beginning of", "start of", "初"}:
        return TimeRange(stretch.start, stretch.start + length / 3, "span")
    if part in {"mid", "mid-", "middle of", "中"}:
        return TimeRange(stretch.start + length / 3, stretch.end - length / 3, "span")
    if part in {"late", "end of", "底", "末"}:
        return TimeRange(stretch.end - length / 3, stretch.end, "span")
    return stretch


def _read_slashed(match: re.Match[str], local: datetime) -> TimeRange | None:
    """Read 3/15/2024 month first unless that cannot be; dots (15.3.2024) are day first."""
    first, second = int(match["a"]), int(match["b"])
    month, day = (second, first) if match["sign"] == "." or first > 12 else (first, second)
    return _unit_range(datetime(int(match["year"]), month, day, tzinfo=UTC), "day")


def _read_year(match: re.Match[str], local: datetime) -> TimeRange | None:
    stretch = _unit_range(datetime(int(match["year"]), 1, 1, tzinfo=UTC), "year")
    return _part_of(stretch, match.groupdict().get("part") or "")


def _read_month_name(match: re.Match[str], local: datetime) -> TimeRange | None:
    """Read a month without day or year; `last May` is before this month, a bare `may` is no month."""
    lead = (match["lead"] or "").strip()
    name = match["month"]
    if not lead and name in _DOUBTFUL_MONTHS:
        return None
    start = _latest(local, _MONTH[name], None)
    if lead == "last" and (start.year, start.month) == (local.year, local.month):
        start = add_months(start, -12)
    if lead == "next":
        start = add_months(start, 12)
    return _part_of(_unit_range(start, "month"), lead)


def _read_ago(match: re.Match[str], local: datetime) -> TimeRange | None:
    """Read `two weeks ago`: that calendar unit; of hours, minutes and halves a stretch around it."""
    unit, count = _UNITS[match["unit"]], _number(match["n"])
    if unit in {"hour", "minute"}:
        hours = count * _DAYS_OF[unit] * 24
        around = timedelta(hours=about(hours))
        middle = local - timedelta(hours=hours)
        return TimeRange(middle - around, min(middle + around, local), "span")
    if count != int(count):
        middle = local - timedelta(days=count * _DAYS_OF[unit])
        slack = timedelta(days=_DAYS_OF[unit] / 4)
        return TimeRange(middle - slack, middle + slack, "span")
    if unit == "fortnight":
        unit, count = "week", 2 * count
    return _relative(local, unit, -int(count))


def _read_last_n(match: re.Match[str], local: datetime) -> TimeRange | None:
    """Read `in the last ten days`: from then until now."""
    days = _number(match["n"]) * _DAYS_OF[_UNITS[match["unit"]]]
    return TimeRange(local - timedelta(days=days), _plus(local, timedelta(seconds=1)), "span")


def _read_which(match: re.Match[str], local: datetime) -> TimeRange | None:
    """Read `last week`, `this month`, `next year`, `last weekend`."""
    count, unit = _WHICH[match["which"]], _UNITS[match["unit"]]
    if unit == "hour" and count < 0:  # the last sixty minutes
        return TimeRange(local - timedelta(hours=1), _plus(local, timedelta(seconds=1)), "span")
    return _relative(local, unit, count)


def _read_which_day(match: re.Match[str], local: datetime) -> TimeRange | None:
    """Read `下个月10号`: the tenth of next month."""
    month = _relative(local, "month", _WHICH[match["which"]]).start
    return _unit_range(month.replace(day=int(match["day"])), "day")


def _read_weekday(match: re.Match[str], local: datetime) -> TimeRange | None:
    """Read `last Friday`, `on Friday` (the latest one), `next Friday`, `上周五`."""
    which = match["which"]
    name = match["weekday"]
    number = _WEEKDAY.get(name)
    if name.endswith("days"):  # "on Mondays" is every one of them
        return None
    if number is None:
        number = min("一二三四五六日天".index(name), 6)
        return _unit_range(_floor(local, "week") + (number + 7 * _WHICH[which]) * _DAY, "day")
    today = _floor(local, "day")
    back = (today.weekday() - number) % 7
    if which == "next":
        return _unit_range(today + (7 - back) * _DAY, "day")
    return _unit_range(today - (back or (7 if which in {"last", "past"} else 0)) * _DAY, "day")


def _read_season(match: re.Match[str], local: datetime) -> TimeRange | None:
    month = _SEASONS[match["season"]]
    if match["year"]:
        start = datetime(int(match["year"]), month, 1, tzinfo=UTC)
    else:
        start = _latest(local, month, None)
        if match["which"] == "last" and add_months(start, 3) > local:
            start = add_months(start, -12)
    return TimeRange(start, add_months(start, 3), "season")


def _read_week_of(match: re.Match[str], local: datetime) -> TimeRange | None:
    """Read `the first week of March 2024`."""
    name = match["month"]
    year = int(match["year"]) if match["year"] else _latest(local, _MONTH[name], None).year
    month = _unit_range(datetime(year, _MONTH[name], 1, tzinfo=UTC), "month")
    order = {"first": 0, "second": 1, "third": 2, "fourth": 3}.get(match["order"])
    start = month.end - 7 * _DAY if order is None else month.start + 7 * order * _DAY
    return TimeRange(start, start + 7 * _DAY, "week")


_WHICH: Final = {
    "last": -1, "past": -1, "previous": -1, "this": 0, "current": 0, "next": 1, "coming": 1, "following": 1,
    "上": -1, "上个": -1, "上上": -2, "上上个": -2, "这": 0, "这个": 0, "本": 0, "下": 1, "下个": 1,
    "下下": 2, "下下个": 2,
}  # fmt: skip
_DAY_NAMES: Final = {
    "day before yesterday": -2, "day after tomorrow": 2, "yesterday": -1, "today": 0, "tomorrow": 1,
    "大前天": -3, "前天": -2, "昨天": -1, "今天": 0, "明天": 1, "后天": 2,
    "vorgestern": -2, "gestern": -1, "heute": 0, "anteayer": -2, "ayer": -1, "hoy": 0, "avant-hier": -2,
    "hier": -1, "aujourd'hui": 0, "ieri": -1, "oggi": 0, "ontem": -1, "hoje": 0, "gisteren": -1, "vandaag": 0,
    "позавчера": -2, "вчера": -1, "сегодня": 0,
}  # fmt: skip
_YEAR_NAMES: Final = {"去年": -1, "前年": -2, "今年": 0, "明年": 1, "后年": 2}
_SPANS: Final = {  # unit and count of the commonest relative words of the other languages
    "letzte woche": "week", "letzten monat": "month", "letztes jahr": "year", "la semana pasada": "week",
    "el mes pasado": "month", "el ano pasado": "year", "la semaine derniere": "week",
    "le mois dernier": "month", "l'annee derniere": "year", "la settimana scorsa": "week",
    "il mese scorso": "month", "l'anno scorso": "year", "a semana passada": "week", "o mes passado": "month",
    "o ano passado": "year", "vorige week": "week", "afgelopen week": "week", "vorige maand": "month",
    "vorig jaar": "year", "на прошлой неделе": "week", "в прошлом месяце": "month", "в прошлом году": "year",
}  # fmt: skip
_FOREIGN_UNITS: Final = {
    "tag": "day", "tage": "day", "tagen": "day", "woche": "week", "wochen": "week", "monat": "month",
    "monaten": "month", "jahr": "year", "jahren": "year", "dia": "day", "dias": "day", "semana": "week",
    "semanas": "week", "mes": "month", "meses": "month", "ano": "year", "anos": "year", "jour": "day",
    "jours": "day", "semaine": "week", "semaines": "week", "mois": "month", "an": "year", "ans": "year",
    "giorno": "day", "giorni": "day", "settimana": "week", "settimane": "week", "mese": "month",
    "mesi": "month", "anno": "year", "anni": "year", "dagen": "day", "weken": "week", "maanden": "month",
    "jaar": "year",
    "дней": "day", "дня": "day", "день": "day", "недели": "week", "недель": "week", "неделю": "week",
    "месяца": "month", "месяцев": "month", "месяц": "month", "года": "year", "лет": "year", "год": "year",
}  # fmt: skip


def _read_day_name(match: re.Match[str], local: datetime) -> TimeRange | None:
    return _relative(local, "day", _DAY_NAMES[" ".join(match["name"].split())])


def _read_year_name(match: re.Match[str], local: datetime) -> TimeRange | None:
    stretch = _relative(local, "year", _YEAR_NAMES[match["name"]])
    if match["month"]:
        start = stretch.start.replace(month=int(match["month"]), day=int(match["day"] or 1))
        stretch = _unit_range(start, "day" if match["day"] else "month")
    return _part_of(stretch, match["part"] or "")


def _read_span_name(match: re.Match[str], local: datetime) -> TimeRange | None:
    return _relative(local, _SPANS[" ".join(match["name"].split())], -1)


def _read_foreign_ago(match: re.Match[str], local: datetime) -> TimeRange | None:
    number = match["n"] or match["n2"]
    unit = match["unit"] or match["unit2"]
    return _relative(local, _FOREIGN_UNITS[unit], -int(number))


_PART: Final = r"(?:(?P<part>early|mid-?|late|(?:beginning|start|middle|end)\ of)\s*(?:the\ )?)?"
_FU: Final = _any(_FOREIGN_UNITS)


@lru_cache(maxsize=1)
def calendar_rules() -> tuple[_Rule, ...]:
    """Compile the rules, in the order in which they may read a text, when first used (20 ms)."""
    return tuple((re.compile(pattern, re.VERBOSE), read) for pattern, read in _RULES)


_RULES: Final[tuple[tuple[str, _Reader], ...]] = (
    (r"(?P<name>去年|前年|今年|明年|后年)(?:(?P<month>\d{1,2})月份?(?:(?P<day>\d{1,2})[日号])?)?"
          r"年?(?P<part>[初中底末])?", _read_year_name),
    (r"(?<!\d)(?P<year>\d{4})[-/](?P<month>\d{1,2})[-/](?P<day>\d{1,2})(?!\d)", _read_date),
    (r"(?<!\d)(?P<year>\d{4})[-/](?P<month>\d{2})(?![-/\d])", _read_date),
    (r"(?<!\d)(?P<a>\d{1,2})(?P<sign>[/.])(?P<b>\d{1,2})(?P=sign)(?P<year>\d{4})(?!\d)", _read_slashed),
    (
        r"(?:(?P<year>\d{4})\s*年\s*)?(?P<month>\d{1,2})\s*月份?\s*"
        r"(?:(?P<day>\d{1,2})\s*[日号]|(?P<part>[初中底末]))?", _read_date,
    ),
    (r"(?P<year>\d{4})\s*年(?P<part>[初中底末])?(?!\d)", _read_year),
    (rf"the\ (?P<order>first|second|third|fourth|last)\ week\ (?:of|in)\ {_M}(?:,?\s+(?:of\s+)?{_Y})?\b",
          _read_week_of),
    (rf"\b{_D}\s+(?:of\s+|de\s+|do\s+)?{_M}\b(?:,?\s+(?:of\s+|de\s+)?{_Y}\b)?", _read_date),
    (rf"\b{_M}\s+{_D}\b(?!\s*:)(?:,?\s+(?:of\s+)?{_Y}\b)?", _read_date),
    (rf"\b{_PART}{_M},?\s+(?:of\s+|de\s+)?{_Y}\b", _read_date),
    (rf"(?<![a-zа-я])(?P<name>{_any(_DAY_NAMES).replace(chr(92) + ' ', chr(92) + 's+')})(?![a-zа-я])",
          _read_day_name),
    (rf"\b(?P<name>{_any(_SPANS)})\b", _read_span_name),
    (rf"\b{_N}\s+{_U}\s+(?:ago|earlier|back)\b", _read_ago),
    (rf"{_CN}(?P<unit>个?小时|分钟|天|周|个?星期|个?礼拜|个月|年)(?:之?前|以前)", _read_ago),
    (rf"\b(?:vor|hace|il\ y\ a|ha)\s+(?P<n>\d+)\s+(?P<unit>{_FU})\b|"
          rf"\b(?P<n2>\d+)\s+(?P<unit2>{_FU})\s+(?:fa|atras|geleden|назад)\b", _read_foreign_ago),
    (rf"\b(?:the\ )?(?:last|past|previous)\s+{_N}\s+{_U}\b", _read_last_n),
    (rf"(?:最近|过去|近){_CN}(?P<unit>个?小时|分钟|天|周|个?星期|个?礼拜|个月|年)", _read_last_n),
    (rf"\b(?P<which>last|past|previous|this|current|next|coming|following)\s+{_U}\b", _read_which),
    (r"(?P<which>上上个?|上个?|这个?|本|下下个?|下个?)(?:周|星期|礼拜)(?P<weekday>[一二三四五六日天])",
     _read_weekday),
    (r"(?P<which>上上个?|上个?|这个?|本|下下个?|下个?)月的?(?P<day>\d{1,2})[日号]", _read_which_day),
    (r"(?P<which>上上个?|上个?|这个?|本|下下个?|下个?)(?P<unit>周|星期|礼拜|月)", _read_which),
    (rf"\b(?P<which>last|past|this|next|on)\s+{_W}\b(?!\s+(?:morning|afternoon|evening|night)s\b)",
          _read_weekday),
    (rf"\b(?:(?P<which>last|this|in|in\ the|during\ the|during)\s+)(?P<season>{_any(_SEASONS)})\b"
          rf"(?:\s+(?:of\s+)?{_Y})?", _read_season),
    (rf"\b(?P<lead>(?:in|during|since|last|next|this|of|until|by|early|late|mid)[\s-]+)?{_M}(?!\w)",
          _read_month_name),
    (rf"\b(?:in|during|of|since|throughout|year|im\ jahr|en|nel|em)\s+{_PART}{_Y}\b", _read_year),
)  # fmt: skip
_CLOCK: Final = re.compile(
    r"\b(?:at|around|about|after|before|by|from|between)?\s*"
    r"(?P<hour>\d{1,2})(?::(?P<minute>\d\d))?\s*(?P<half>am|pm|a\.m\.|p\.m\.)?(?![\d:])"
)
_WHEN: Final = re.compile(
    r"\b(?:when|what (?:date|day|time|year|month)|which (?:date|day|month|year)|wann|cuando|quand|quando|"
    r"wanneer|когда)\b|什么时候|几月几|何时|哪天|哪一天|几点|时间是"
)
_DURATION: Final = re.compile(
    r"\bhow (?:long|many (?:minutes|hours|days|weeks|months|years))\b|\bwie lange\b|\bcuanto tiempo\b|"
    r"\bcombien de temps\b|\bhoe lang\b|как долго|сколько времени|多久|多长时间|几天|几个小时|持续时间"
)
_ORDER: Final = re.compile(
    r"\b(?:in (?:what|which) order|the order|chronolog\w+|sequence of|timeline)\b|先后|顺序|依次"
)


@lru_cache(maxsize=1)
def _daytime() -> re.Pattern[str]:
    spaced, han = _any(n for n in any_day() if n.isascii()), _any(n for n in any_day() if not n.isascii())
    return re.compile(rf"(?<![a-z])(?P<name>{spaced})s?(?![a-z])|(?P<han>{han})")


def _daytimes(text: str, hours: dict[tuple[float, float], None]) -> tuple[tuple[float, float], ...]:
    """Return the hours of any day that are left in a text, behind those that were read already."""
    for match in _daytime().finditer(text):
        hours[any_day()[match["name"] or match["han"]]] = None
    for match in _CLOCK.finditer(text):
        if not (match["half"] or match["minute"]):
            continue
        hour = int(match["hour"]) + int(match["minute"] or 0) / 60
        half = (match["half"] or "").replace(".", "")
        if (half and hour >= 13) or hour >= 24:
            continue
        hour = hour % 12 + (12 if half == "pm" else 0) if half else hour
        hours[(hour - 0.5, hour + 0.5)] = None
    return tuple(hours)


def _weekdays(text: str) -> tuple[int, ...]:
    """Return the weekdays named outside every calendar range: `on Mondays`, `weekends`."""
    results: dict[int, None] = {}
    for match in re.finditer(r"[a-zа-я]+", text):
        number = _WEEKDAY.get(match.group())
        if number is not None:
            results[number] = None
    for match in re.finditer("(?:周|星期|礼拜)([一二三四五六日天])", text):
        results[min("一二三四五六日天".index(match[1]), 6)] = None
    if re.search(r"\bweekends?\b|周末", text):
        results.update({5: None, 6: None})
    if re.search(r"\bweekdays?\b|工作日", text):
        results.update(dict.fromkeys(range(5)))
    return tuple(results)


def _asks(text: str) -> str:
    if _DURATION.search(text):
        return "duration"
    if _ORDER.search(text):
        return "order"
    return "when" if _WHEN.search(text) else ""

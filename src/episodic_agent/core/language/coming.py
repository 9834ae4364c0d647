"""Days to come as texts name them: "on the 26th", "dentist Thursday 3pm", "tomorrow", from when it was said.

Beside `timewords`, whose rules read a month or a weekday as the latest one: this room reads the same words as
the next one, and those that only look ahead. Whether a day is told of as over, `tenses` knows. Days are those
of the speaker's calendar, so who asks elsewhere means the same ones. The words are data:
`data/language/coming.toml`.
"""

import re
from calendar import monthrange
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, date, datetime, time, timedelta
from functools import cache, lru_cache
from typing import Final, NamedTuple, TypeAlias

from episodic_agent.core.language.dayparts import without
from episodic_agent.core.language.timewords import TimeRange, add_months, calendar_rules
from episodic_agent.data import lines, pairs, phrase_set, phrases, text

DATA: Final = "language/coming"
HAN: Final = re.compile(r"[\u3041-\u30fa\u4e00-\u9fff]")  # with kana: what stands without spaces
UNSPACED: Final = re.compile(r"[\u3041-\u30fa\u4e00-\u9fff\uac00-\ud7a3]")  # or with endings behind it
_TIMES: Final = "entities/times"
_DAY: Final = timedelta(days=1)
_WEEK: Final = timedelta(days=7)
_ROUND: Final = 7  # days; so long a time from now is meant give or take one
_FEW_DAYS: Final = 4
_WEEKEND: Final = 5
_TWO: Final = 2  # letters of a weekday that is a word of its own too
_SENTENCE: Final = re.compile(r"(?<!\d)\.|[!?\n。！？]+")
_FIGURE: Final = re.compile(r"\d")
_WORD: Final = re.compile(r"[^\W\d_]+")
_PLACE: Final = re.compile("«(.+?)»")

_Pair: TypeAlias = tuple[date, date]
_Reader: TypeAlias = "Callable[[re.Match[str], date], Sequence[_Pair]]"
_Rule: TypeAlias = "tuple[bool, str, str, _Reader]"


class ComingDays(NamedTuple):
    """Days that a text names: where its words stand, the first and the last one.

    `sure` tells that the words name days to come whatever the verb: "tomorrow", "in two weeks"; `weekday`
    that they are one, which only repeats a day that stands beside it; `loose` that they are
    a week or a month.
    """

    start: int
    end: int
    first: date
    last: date
    sure: bool = False
    weekday: bool = False
    loose: bool = False


def named_days(folded: str, today: date) -> list[ComingDays]:
    """Return the days to come that a folded text names, whatever its verbs, in the order of its words.

    >>> [day.first.isoformat() for day in named_days("dentist friday, board on the 26th", date(2024, 3, 18))]
    ['2024-03-22', '2024-03-26']
    """
    return list(_named_days(folded, today))


@lru_cache(maxsize=4_096)  # the same texts are read for each day that is asked about
def _named_days(folded: str, today: date) -> tuple[ComingDays, ...]:
    gates = _gates(folded)
    if not gates:
        return ()
    rest = without(folded, [match.span() for match in _pattern(_NAMELESS).finditer(folded)])
    readings: list[ComingDays] = []
    for sure, gate, pattern, read in _FIRST_RULES:
        if gate in gates:
            rest = _take(_pattern(pattern), read, rest, today, readings, sure=sure)
    for rule, read_range in calendar_rules() if not gates.isdisjoint(_DATES) else ():
        rest = _take(rule, _forward(read_range), rest, today, readings, sure=False)
    for sure, gate, pattern, read in _LAST_RULES:
        if gate in gates:
            rest = _take(_pattern(pattern), read, rest, today, readings, sure=sure)
    return tuple(
        day for day in _joined(_without_repeats(sorted(readings), folded), folded) if day.last >= today
    )


def _take(
    pattern: re.Pattern[str], read: _Reader, rest: str, today: date, readings: list[ComingDays], *, sure: bool
) -> str:
    """Add what one rule reads, and blank it, so that later rules do not read it again."""
    for match in pattern.finditer(rest):
        try:
            read_days = read(match, today)
        except (ValueError, OverflowError):  # 31 February
            continue
        if not read_days and read is _read_weekday_number:  # "Friday 5": the weekday is
            continue
        start, end = match.span("at") if match.groupdict().get("at") else match.span()
        weekday = read in {_read_weekday, _read_han_weekday, _read_short}
        for first, last in read_days:
            loose = read is not _read_stretch and (last - first).days >= _FEW_DAYS
            readings.append(ComingDays(start, end, first, last, sure, weekday, loose))
        rest = without(rest, [(start, end)])
    return rest


def _without_repeats(readings: Sequence[ComingDays], folded: str) -> list[ComingDays]:
    """Return days without weekdays that stand beside another day: "today, Friday", "Tuesday the 14th"."""
    others = [day for day in readings if not day.weekday and not day.loose]
    return [
        day
        for day in readings
        if not day.weekday
        or not any(
            other.first.weekday() == day.first.weekday()
            and _pattern(_BESIDE).fullmatch(folded[min(day.end, other.end) : max(day.start, other.start)])
            for other in others
        )
    ]


def _joined(readings: Sequence[ComingDays], folded: str) -> list[ComingDays]:
    """Return days in order, "Monday to Thursday" as one stretch; "moved from Monday to Thursday" is none."""
    result: list[ComingDays] = []
    for day in readings:
        before = result[-1] if result else None
        if (
            before
            and before.end <= day.start
            and leads_over(folded[before.end : day.start])
            and not moves(sentence_of(folded, day))
        ):
            behind = day.last + (_WEEK if day.weekday and day.last <= before.first else timedelta())
            if behind > before.first:
                result[-1] = before._replace(end=day.end, last=behind, weekday=False)
                continue
        result.append(day)
    return result


def leads_over(between: str) -> bool:
    """Tell whether the folded words between two days lead from the one to the other.

    >>> leads_over(" to the "), leads_over(" and ")
    (True, False)
    """
    return _pattern(_STRETCH).fullmatch(between) is not None


def moves(folded: str) -> bool:
    """Tell whether folded words move something to another day, or call it off.

    >>> moves("dentist moved to the 30th"), moves("dentist on the 30th")
    (True, False)
    """
    return moving().search(folded) is not None


@cache
def moving() -> re.Pattern[str]:
    """Return what matches words that move something to another day, or call it off."""
    return words_pattern(phrases(f"{DATA}.moving"))


def sentence_of(message: str, day: ComingDays) -> str:
    """Return the sentence in which days are named, with the mark that ends it."""
    start, end = around(_SENTENCE, message, day)
    return message[start : end + 1]


def around(marks: re.Pattern[str], message: str, day: ComingDays) -> tuple[int, int]:
    """Return from where until where a text reaches around days without one of some marks."""
    start = max((match.end() for match in marks.finditer(message, 0, day.start)), default=0)
    behind = marks.search(message, day.end)
    return start, behind.start() if behind else len(message)


@cache
def words_of(name: str) -> frozenset[str]:
    """Return the words of a list of this room, written with `|` or white space between them."""
    return frozenset(text(f"{DATA}.{name}").replace("|", " ").split())


def _gates(folded: str) -> frozenset[str]:
    """Return which rules may read a text, by the kind of words they need, so that few are tried."""
    words = frozenset(_WORD.findall(folded))
    gates = {gate for gate, needed in _needed().items() if not needed.isdisjoint(words)}
    if _FIGURE.search(folded):
        gates.add("figures")
    if HAN.search(folded) and _han_signs().search(folded):
        gates.update(_needed(), ["figures"])
    return frozenset(gates)


@cache
def _needed() -> Mapping[str, frozenset[str]]:
    """Return the words of which one stands in what a rule reads: the last one of each form."""
    forms = {gate: pairs(f"{DATA}.{gate}") for gate in ("days", "feasts", "weekend", "units", "numbers")}
    weeks = [form for name in ("next_week", "this_week", "some_days") for form in phrases(f"{DATA}.{name}")]
    others = {"any_day": [*weekdays(), *short_weekdays()], "weeks": weeks, "months": _lists()["months"]}
    others["calendar"] = text(f"{DATA}.calendar").split()
    return {
        gate: frozenset(word for form in listed for word in _WORD.findall(form)[-1:])
        for gate, listed in {**forms, **others}.items()
    }


@cache
def _han_signs() -> re.Pattern[str]:
    lists = ("days", "weekend", "this_week", "some_days", "feasts", "han_units")
    forms = {*weekdays(), *(form for name in lists for form in pairs(f"{DATA}.{name}"))}
    return re.compile(any_of(form for form in forms if HAN.search(form)))


@cache
def weekdays() -> Mapping[str, int]:
    """Return weekdays, from Monday = 0, by the names that are theirs alone; "mondays" are many."""
    short = short_weekdays()
    named = [
        (form, number)
        for listed in (f"{_TIMES}.weekdays", f"{DATA}.weekdays")
        for number, forms in enumerate(lines(listed))
        for form in forms.split()
    ]
    known = {form for form, _ in named} | {*short}
    habits = {form for form in known if form.endswith("s") and form.removesuffix("s") in known}
    return {form: number for form, number in named if form not in habits and form not in short}


@cache
def short_weekdays() -> Mapping[str, int]:
    """Return weekdays by the short or common names that are theirs only beside other words."""
    return {form: n for n, forms in enumerate(lines(f"{DATA}.short")) for form in forms.split()}


# --- patterns: «name» is any of a list ----------------------------------------------------------------------


def any_of(forms: Iterable[str]) -> str:
    """Return what matches one of some forms, the longest first."""
    longest = sorted(forms, key=lambda form: (-len(form), form))
    return "|".join(re.escape(form).replace(r"\ ", r"\s+") for form in longest)


def words_pattern(forms: Iterable[str]) -> re.Pattern[str]:
    """Return what matches some folded forms as whole words; characters without spaces wherever they are."""
    return re.compile(_words_form(forms))


def _words_form(forms: Iterable[str]) -> str:
    forms = list(forms)
    spaced = [form for form in forms if not UNSPACED.search(form)]
    words = rf"(?<!\w)(?:{any_of(spaced)})(?!\w)" if spaced else ""
    rest = any_of(form for form in forms if UNSPACED.search(form))
    return f"(?:{'|'.join(part for part in (words, rest) if part)})"


@cache
def _pattern(template: str) -> re.Pattern[str]:
    return re.compile(_PLACE.sub(lambda place: _filled(place[1]), template))


def _filled(name: str) -> str:
    """Return what stands for a place of a template: any of a list, as whole words behind a star."""
    bare = name.removeprefix("*")
    made = _lists().get(bare)
    forms = pairs(f"{DATA}.{bare}") if made is None else made
    return _words_form(forms) if name != bare else f"(?:{any_of(forms)})"


@cache
def _lists() -> Mapping[str, Sequence[str]]:
    """Return the lists of words that are put together of others."""
    spaced, short = [form for form in weekdays() if not HAN.search(form)], short_weekdays()
    leads = ("before_day", "before_number", "toward")
    return {
        "day": spaced,
        "any_day": [*spaced, *short],
        "short": [*short],
        "long": [form for form in short if len(form) > _TWO],
        "lead": [form for one in leads for form in phrases(f"{DATA}.{one}")],
        "months": [form for names in lines(f"{_TIMES}.months") for form in names.split()],
        "spoken": text(f"{_TIMES}.spoken").split(),
    }


# --- readers ------------------------------------------------------------------------------------------------


def _forward(read: "Callable[[re.Match[str], datetime], TimeRange | None]") -> _Reader:
    """Return a reader of the calendar that reads a date without a year as the next one."""

    def ahead(match: re.Match[str], today: date) -> list[_Pair]:
        stretch = read(match, datetime.combine(today, time(), UTC))
        if stretch is None or stretch.kind in {"open", "span"}:
            return []
        start, end = stretch.start, stretch.end
        groups = match.groupdict()
        lead = f"{groups.get('which') or ''}{groups.get('lead') or ''}".strip()
        yearless = not groups.get("year") and (groups.get("month") or groups.get("season"))
        if yearless and end.date() <= today and lead not in phrase_set(f"{DATA}.last"):
            start, end = add_months(start, 12), add_months(end, 12)
        last = (end - timedelta.resolution).date()
        return [(start.date(), last)]

    return ahead


def _read_day(match: re.Match[str], today: date) -> list[_Pair]:
    day = today + int(pairs(f"{DATA}.days")[" ".join(match["name"].split())]) * _DAY
    return _only(day + _WEEK if match["later"] else day)


def _read_feast(match: re.Match[str], today: date) -> list[_Pair]:
    month, day = pairs(f"{DATA}.feasts")[" ".join(match.group().split())].split("-")
    return _only(_in_month(today, int(month), int(day)))


def _next(today: date, weekday: int) -> date:
    """Return the next such weekday; said on one, the next is a week away."""
    return today + ((weekday - today.weekday() - 1) % 7 + 1) * _DAY


def monday(today: date) -> date:
    """Return the Monday of a day's week."""
    return today - today.weekday() * _DAY


def _only(day: date) -> list[_Pair]:
    return [(day, day)]


def _number_of(match: re.Match[str]) -> int:
    groups = match.groupdict()
    name = groups["day"] or groups.get("other") or groups.get("first") or ""
    return weekdays()[name] if name in weekdays() else short_weekdays()[name]


def _read_next_week_day(match: re.Match[str], today: date) -> list[_Pair]:
    return _only(monday(today) + _WEEK + _number_of(match) * _DAY)


def _read_this_week_day(match: re.Match[str], today: date) -> list[_Pair]:
    return _only(monday(today) + _number_of(match) * _DAY)


def _read_week_later(match: re.Match[str], today: date) -> list[_Pair]:
    return _only(_next(today, _number_of(match)) + _WEEK)


def _read_weekday(match: re.Match[str], today: date) -> list[_Pair]:
    if match["last"] or match["every"] or match["behind"]:
        return []
    number = weekdays()[match["day"]]
    if match["this"] and number == today.weekday():
        return _only(today)
    coming = _next(today, number)
    if match["next"] or match["after"]:  # some mean the coming one, some that of the week that comes
        return [(day, day) for day in dict.fromkeys((coming, monday(today) + _WEEK + number * _DAY))]
    return _only(coming)


def _read_weekday_number(match: re.Match[str], today: date) -> list[_Pair]:
    """Read "friday 27th" where that is one; "Friday 5" is not."""
    name = match["weekday"]
    number = weekdays().get(name, short_weekdays().get(name))
    return [pair for pair in _read_number(match, today) if pair[0].weekday() == number]


def _read_two(match: re.Match[str], today: date) -> list[_Pair]:
    month = month_of(match["month"])
    return [(day, day) for day in (_in_month(today, month, int(match[one])) for one in ("from", "to"))]


def _read_han_weekday(match: re.Match[str], today: date) -> list[_Pair]:
    which, number = match["which"] or "", weekdays()["周" + match["han"]]
    if which.startswith(("上", "每")):
        return []
    if which.startswith(("下", "这", "本")):
        return _only(monday(today) + which.count("下") * _WEEK + number * _DAY)
    return _only(_next(today, number))


def _read_weekend(match: re.Match[str], today: date) -> list[_Pair]:
    if match["last"] or match["behind"]:
        return []
    saturday = monday(today) + _WEEKEND * _DAY
    this, following = (saturday, saturday + _DAY), (saturday + _WEEK, saturday + 8 * _DAY)
    runs = today.weekday() >= _WEEKEND
    if match["han"] or (runs and (match["next"] or match["after"] or match["coming"])):
        return [following]
    return [this, following] if match["next"] or match["after"] else [this]


def _read_next_week(match: re.Match[str], today: date) -> list[_Pair]:
    return [(monday(today) + _WEEK, monday(today) + _WEEK + 6 * _DAY)]


def _read_this_week(match: re.Match[str], today: date) -> list[_Pair]:
    return [(monday(today), monday(today) + 6 * _DAY)]


def _read_some_days(match: re.Match[str], today: date) -> list[_Pair]:
    return [(today, today + _FEW_DAYS * _DAY)]


def _read_in(match: re.Match[str], today: date) -> list[_Pair]:
    counts, n = pairs(f"{DATA}.counts"), " ".join(match["n"].split())
    length = int(pairs(f"{DATA}.units")[match["unit"]])
    days = (int(n) if n.isdecimal() else int(counts[n])) * length
    day = today + days * _DAY
    around = timedelta() if length == 1 else _DAY if days < 4 * _ROUND else 2 * _DAY
    return [(day - around, day + around)]


def month_of(name: str) -> int:
    """Return the number of a month by a name of it, or by its figures; raises StopIteration for none."""
    if name.isdecimal():
        return int(name)
    return next(n for n, names in enumerate(lines(f"{_TIMES}.months"), 1) if name in names.split())


def _in_month(today: date, month: int, day: int) -> date:
    for year in range(today.year, today.year + 9):
        if day <= monthrange(year, month)[1] and (coming := date(year, month, day)) >= today:
            return coming
    raise ValueError("no such day")


def _read_stretch(match: re.Match[str], today: date) -> list[_Pair]:
    last = _in_month(today, month_of(match["month"]), int(match["to"]))
    return [(last.replace(day=int(match["from"])), last)] if int(match["from"]) <= last.day else []


def _read_short(match: re.Match[str], today: date) -> list[_Pair]:
    return _only(_next(today, _number_of(match)))


def _read_number(match: re.Match[str], today: date) -> list[_Pair]:
    """Read the next day of a month that has this number."""
    return _next_number(int(match["day"]), today)


def _next_number(number: int, today: date) -> list[_Pair]:
    month = today.replace(day=1)
    for _ in range(3):
        length = monthrange(month.year, month.month)[1]
        if 1 <= number <= length and (coming := month.replace(day=number)) >= today:
            return _only(coming)
        month += length * _DAY
    return []


def _read_moved(match: re.Match[str], today: date) -> list[_Pair]:
    return [pair for one in ("from", "to") for pair in _next_number(int(match[one]), today)]


def _read_number_word(match: re.Match[str], today: date) -> list[_Pair]:
    return _next_number(int(pairs(f"{DATA}.numbers")[match["named"]]), today)


def _read_dotted(match: re.Match[str], today: date) -> list[_Pair]:
    day, month = (match["a"], match["b"]) if match["a"] else (match["c"], match["d"])
    return _only(_in_month(today, int(month), int(day)))


def _read_slashed(match: re.Match[str], today: date) -> list[_Pair]:
    """Read 3/26; where 3/4 may be either, it is the sooner of the two."""
    first, second = next((match[a], match[b]) for a, b in ("ab", "cd", "ef") if match[a])
    left, right = int(first), int(second)
    ways = [(left, right)] * (left <= 12) + [(right, left)] * (right <= 12)
    return _only(min(_in_month(today, month, day) for month, day in ways))


_COUNT: Final = r"(?P<n>\d{1,3}|«counts»)"
_D: Final = r"(?P<day>\d{1,2})"
_ENDING: Final = r"(?:st|nd|rd|th|er|º|\.)?"
_FROM: Final = rf"(?P<from>\d{{1,2}}){_ENDING}"
_TO: Final = rf"(?:the\s+)?(?P<to>\d{{1,2}}){_ENDING}"
_BEFORE: Final = r"(?:(?P<last>«last»)\s+|(?P<every>«every»)\s+|(?P<next>«next»)\s+|(?P<this>«this»)\s+)?"
_BEHIND: Final = r"(?:\s+(?P<behind>«last_behind»)(?!\w)|\s+(?P<after>«next_behind»)(?!\w))?"
NO_HOUSE: Final = r"(?!(?!«house_unlike»)(?:«house_behind»|\d{3,4}(?![\d点:])))"  # "6号502" is a flat
_COUNTS: Final = r"(?!\s*«counted»(?!\w))"
_NAMELESS: Final = r"«*nameless»|^\s*(?:morgen|manana)\s*[.,!]"
_BESIDE: Final = r"\s*[,(]?\s*(?:«beside»\s+)?"
_STRETCH: Final = r"\s*,?\s*«stretch»\s*(?:(?:the|den|zum|el|il|o|le)\s+)?"
_FIRST_RULES: Final[tuple[_Rule, ...]] = (
    (True, "days", r"(?P<name>«*days»)(?P<later>\s+«week_later»(?!\w))?", _read_day),
    (False, "feasts", r"«*feasts»", _read_feast),
    (
        True,
        "any_day",
        r"(?<!\w)«next_week»\s*,?\s*(?:(?:on|am|el|le|il|на|op)\s+)?(?P<day>«any_day»)(?!\w)",
        _read_next_week_day,
    ),
    (
        True,
        "any_day",
        r"(?<!\w)(?P<day>«any_day»)\s*,?\s+(?:of\s+|in\s+der\s+|de\s+|da\s+)?«next_week»(?!\w)",
        _read_next_week_day,
    ),
    (False, "any_day", r"(?<!\w)(?P<day>«any_day»)\s+(?:of\s+|in\s+)?«this_week»(?!\w)", _read_this_week_day),
    (
        True,
        "any_day",
        r"(?<!\w)«week_before»\s+(?P<day>«day»)(?!\w)|(?<!\w)(?P<other>«day»)\s+«week_later»(?!\w)",
        _read_week_later,
    ),
    (
        True,  # one that is over falls on another weekday
        "figures",
        r"(?<!\w)(?P<weekday>«any_day»)\.?,?\s+(?:(?:the|den|el|le)\s+)?"
        rf"{_D}(?:st|nd|rd|th)?(?![\w:/%]|\.\d|\s*(?:(?:of\s+|de\s+)?«months»|«spoken»|-)(?!\w))",
        _read_weekday_number,
    ),
    (
        False,
        "figures",
        rf"(?<!\w){_FROM}\s*(?:,|&|\+|«both»)\s*{_TO}\s+(?:of\s+|de\s+)?(?P<month>«months»)(?!\w)",
        _read_two,
    ),
    (False, "any_day", rf"(?<!\w){_BEFORE}(?P<day>«day»)(?!\w){_BEHIND}", _read_weekday),
    (
        False,
        "any_day",
        r"(?P<which>上上个?|上个?|这个?|本|下下个?|下个?|每个?)?(?:周|星期|礼拜)(?P<han>[一二三四五六日天])",
        _read_han_weekday,
    ),
    (
        False,
        "weekend",
        rf"(?:(?P<last>(?<!\w)«last»\s+|上个?)|(?P<next>(?<!\w)«next»\s+)|"
        rf"(?P<coming>(?<!\w)«coming»\s+)|(?P<han>下个?))?«*weekend»{_BEHIND}",
        _read_weekend,
    ),
    (True, "weeks", "«*next_week»", _read_next_week),
    (True, "weeks", "«*this_week»", _read_this_week),
    (True, "weeks", "«*some_days»", _read_some_days),
    (True, "units", rf"(?<!\w)«in_before»\s*{_COUNT}\s*(?P<unit>«units»)(?![a-zа-я])", _read_in),
    (True, "units", rf"(?<!\w){_COUNT}\s*(?P<unit>«units»)['’]?\s*«in_behind»(?!\w)", _read_in),
    (True, "units", rf"{_COUNT}(?P<unit>个?星期|个?礼拜|周|天|个月)(?:之?后|以后)", _read_in),
    (
        False,
        "figures",
        rf"(?<!\w){_FROM}\s*«stretch»\s*{_TO}\s+(?:of\s+|de\s+)?(?P<month>«months»)(?!\w)",
        _read_stretch,
    ),
    (False, "figures", rf"(?<!\w)(?P<month>«months»)\s+{_FROM}\s*«stretch»\s*{_TO}(?![\w:])", _read_stretch),
    (
        False,
        "figures",
        r"(?P<month>\d{1,2})月(?P<from>\d{1,2})[日号]?\s*(?:到|至|-|–)\s*(?P<to>\d{1,2})[日号]",
        _read_stretch,
    ),
)
_LAST_RULES: Final[tuple[_Rule, ...]] = (
    (
        False,
        "any_day",
        rf"(?<!\w)«before_short»\s+(?P<at>(?P<day>«long»)\.?)(?!\w){_COUNTS}|"
        r"(?<!\w)(?P<other>«short»)\.?(?=,?\s+(?:um\s+\d|at\s+\d|\d{1,2}(?:[:h]|\s*(?:am|pm|uhr))))|"
        rf"^\s*(?P<first>«opening»)(?!\w){_COUNTS}",
        _read_short,
    ),
    (
        False,
        "figures",
        r"(?<!\bmy\s)(?<!\bher\s)(?<!\bhis\s)(?<!\bour\s)(?<!\bown\s)(?<!['’]s\s)"
        rf"(?<![\w.,/:-]){_D}(?:st|nd|rd|th)(?!\w){_COUNTS}",
        _read_number,
    ),
    (
        False,
        "figures",
        rf"(?<!\w)«before_number»\s+(?P<at>{_D}(?:\.(?!\d)|er|e|º)?)(?![\w:.,/%-]*[\d%]|\w){_COUNTS}",
        _read_number,
    ),
    (
        False,
        "numbers",
        r"(?<!\w)«before_ordinal»\s+(?P<at>(?P<named>«numbers»))(?=\s*(?:$|[,.!?;)]|«behind_ordinal»(?!\w)))",
        _read_number_word,
    ),
    (
        False,
        "figures",
        r"(?<!\w)«from»\s+(?P<from>\d{1,2})\s+«toward»\s+(?P<to>\d{1,2})(?![\w:.,/%])",
        _read_moved,
    ),
    (False, "figures", rf"(?<!\w)(?:el\s+)?dia\s+(?P<at>{_D})(?!\w)", _read_number),
    (False, "figures", rf"(?<!\w){_D}(?:-?го(?!\w)(?:\s+числа)?{_COUNTS}|\s+числа)", _read_number),
    (False, "figures", rf"(?<!\d)(?<!«house_before»)(?<!«house_before»\s){_D}[号日]{NO_HOUSE}", _read_number),
    (
        False,
        "figures",
        r"(?<![\w.,/])(?P<a>\d{1,2})\.(?P<b>\d{1,2})\.(?!\w)|"
        r"(?<![\w.,/])(?P<c>\d{1,2})\.(?P<d>0\d|1[0-2])(?![\w.])",
        _read_dotted,
    ),
    (
        False,
        "figures",
        r"(?<!\w)«lead»\s+(?P<at>(?P<a>\d{1,2})/(?P<b>\d{1,2}))(?![\w/])|"
        r"(?<![\w/.])(?!24/7)(?P<c>1[0-2]|0?[1-9])/(?P<d>1[3-9]|2\d|3[01])(?![\w/])|"
        r"(?<![\w/.])(?!24/7)(?P<e>1[3-9]|2\d|3[01])/(?P<f>1[0-2]|0?[1-9])(?![\w/])",
        _read_slashed,
    ),
)
_DATES: Final = frozenset({"figures", "months", "calendar", "units"})

"""Days that come again as texts name them: "football every Wednesday", "the first Saturday of the month".

Beside `coming`, which reads one day: a habit names days without end, until a later text ends or moves it
(`core.recall.due`). The words are data: `data/language/recurring.toml`.
"""

import re
from calendar import monthrange
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, date, datetime, time, timedelta
from functools import cache, lru_cache
from typing import Final, NamedTuple

from episodic_agent.core.language.coming import DATA as COMING
from episodic_agent.core.language.coming import (
    HAN,
    ComingDays,
    any_of,
    around,
    monday,
    month_of,
    moves,
    named_days,
    sentence_of,
    short_weekdays,
    weekdays,
    words_pattern,
)
from episodic_agent.core.language.tenses import speaks_of_past
from episodic_agent.core.language.timewords import parse_time
from episodic_agent.data import lines, pairs, phrases, text

DATA: Final = "language/recurring"
_DAY: Final = timedelta(days=1)
_WEEK: Final = timedelta(days=7)
_ALL: Final = frozenset(range(7))
_WORKDAYS: Final = frozenset(range(5))
_WEEKEND: Final = frozenset({5, 6})
_EVERY_MONTH: Final = 0
_SECOND: Final = 2
_SHORT: Final = 2  # letters of a word that is a weekday only beside a figure
_DAYS_OF_MONTH: Final = 31
_SENTENCE: Final = re.compile(r"(?<!\d)\.(?=\s|$)|[!?\n。！？]+")
_CLAUSE: Final = re.compile(r"(?<!\d)\.(?=\s|$)|[!?;:\n。！？；，,]+(?!\d)")
_WORD: Final = re.compile(r"[^\W\d_]+")
_NUMBER: Final = re.compile(r"\d{1,2}(?:st|nd|rd|th|er|e|º|\.)?")
_FIGURE: Final = re.compile(r"\d")
_EVERY_DATE: Final = re.compile(r"(?<!\w)every\s+\d")
_HAN_DAY: Final = r"(?:周|星期|礼拜)[一二三四五六日天](?:[一二三四五六日天](?![一-鿿]))*"


class Recurrence(NamedTuple):
    """Days that come again, and where a text names them.

    They are `weekdays`, from Monday = 0: of every week; of one week of so many `weeks`, counted from `anchor`
    (of each where that is not known); or the `order`-th of a month, from its end where it is below 0, of
    `months` alone where some are named. Or they are `dates`, month and day; a month of 0 is each. None lies
    before `first` or behind `last`.
    """

    start: int
    end: int
    first: date
    weekdays: frozenset[int] = frozenset()
    weeks: int = 1
    order: int = 0
    months: frozenset[int] = frozenset()
    dates: frozenset[tuple[int, int]] = frozenset()
    anchor: date | None = None
    last: date | None = None

    def falls_on(self, day: date) -> bool:
        """Tell whether a day is one of them."""
        if day < self.first or (self.last is not None and day > self.last):
            return False
        if self.dates:
            return not self.dates.isdisjoint({(day.month, day.day), (_EVERY_MONTH, day.day)})
        if day.weekday() not in self.weekdays or (self.months and day.month not in self.months):
            return False
        if self.order:
            from_end = (monthrange(day.year, day.month)[1] - day.day) // 7 + 1
            return self.order in {(day.day - 1) // 7 + 1, -from_end}
        if self.weeks > 1 and self.anchor is not None:
            return (monday(day) - monday(self.anchor)).days // 7 % self.weeks == 0
        return True


class _DayRun(NamedTuple):
    """Weekdays that stand side by side; `many` where their names say they come again."""

    start: int
    end: int
    days: frozenset[int]
    many: bool
    plain: bool  # at least one is the whole name of a day
    size: int  # how many names it has


def recurring_days(folded: str, today: date) -> list[Recurrence]:
    """Return the days that come again as a folded text, said on `today`, names them, in its order.

    >>> [one] = recurring_days("football with tom is every wednesday at 6", date(2026, 3, 2))
    >>> one.falls_on(date(2026, 6, 3)), one.falls_on(date(2026, 6, 4))
    (True, False)
    """
    return list(_recurring_days(folded, today)) if may_recur(folded) else []


@lru_cache(maxsize=4_096)  # the same texts are read for each day that is asked about
def _recurring_days(folded: str, today: date) -> tuple[Recurrence, ...]:
    runs = list(_runs(folded))
    apart = [run for run in runs if _led_by("except", folded, run.start)]
    read = [_of_weekdays(folded, run, today) for run in runs if run not in apart]
    named = [one for one in read if one is not None]
    named += [one for one in _of_kinds(folded, today) if not _overlaps(one, named)]
    if not named and (weeks := weeks_apart(folded)) and (anchor := _anchor(folded, _ALL, today)):
        named = [Recurrence(0, 0, today, frozenset({anchor.weekday()}), weeks, anchor=anchor)]
    named = named or list(_of_dates(folded, today))
    off = frozenset(day for run in apart for day in run.days)
    others = [one._replace(weekdays=one.weekdays - off) if one.weekdays else one for one in named]
    return tuple(
        _bounded(folded, one, today)
        for one in sorted(others, key=lambda one: one.start)
        if not _is_idle(folded, one)
    )


class RecurrenceChange(NamedTuple):
    """What a text does to days that come again: it `ends` them, moves some of them, or tells of another hour.

    `left` are the weekdays that it takes away, all where it names none; `days` come in their place. `weeks`
    is how many lie between two times from now on, counted from `anchor`; 0 where it does not say.
    """

    ends: bool
    left: frozenset[int] = frozenset()
    days: tuple[Recurrence, ...] = ()
    weeks: int = 0
    anchor: date | None = None


def changed_days(folded: str, today: date) -> RecurrenceChange | None:
    """Return what a folded text, said on `today`, changes for good in what comes again; None for nothing.

    >>> one = changed_days("ballet moved from tuesday to thursday, same time", date(2026, 2, 16))
    >>> one.ends, sorted(one.left), sorted(one.days[0].weekdays)
    (False, [1], [3])
    >>> changed_days("no choir any more, they stopped", date(2026, 1, 14)).ends
    True
    >>> changed_days("no football this wednesday", date(2026, 3, 17))
    """
    ends = _has("stops", folded) or _stops_apart().search(folded) is not None
    moved = _has("now", folded)
    if not ends and not moved:
        return None
    known = recurring_days(folded, today)
    runs = [run for run in _runs(folded) if run.plain or run.size > 1]
    left = frozenset(day for run in runs if _led_by("left", folded, run.start) for day in run.days)
    if ends and any(not day.weekday and not day.sure for day in named_days(folded, today)):
        return None  # of one month, or one day
    if ends and not (known and moved):
        clauses = [_around(_CLAUSE, folded, run) for run in runs]
        named = [run.days for run, clause in zip(runs, clauses, strict=True) if _has("stops", clause)]
        return RecurrenceChange(True, frozenset().union(*named))
    if not known:
        if _has("this_once", folded) or any(_dated_behind().match(folded, run.end) for run in runs):
            return None
        former = [run for run in runs if _has("idle", _around(_CLAUSE, folded, run))]
        left |= frozenset(day for run in former for day in run.days)
        coming = [run for run in runs if run not in former and not run.days & left]
        weeks = weeks_apart(folded)
        if weeks and not coming:
            return RecurrenceChange(False, weeks=weeks, anchor=_anchor(folded, _ALL, today))
        if not coming and _clock().search(folded) is None:
            return None
        known = [Recurrence(run.start, run.end, today, run.days) for run in coming]
    return RecurrenceChange(False, left, tuple(_bounded(folded, one, today) for one in known))


def clause_of(folded: str, days: Recurrence) -> str:
    """Return the clause of a folded text in which it names some days."""
    return _around(_CLAUSE, folded, days)


@cache
def _stops_apart() -> re.Pattern[str]:
    forms = [
        rf"(?<![^\W'’]){re.escape(first)}(?!\w)[^.!?;,\n]{{1,40}}?(?<!\w){re.escape(last)}(?!\w)"
        for first, last in pairs(f"{DATA}.stops_apart").items()
    ]
    return re.compile("|".join(forms))


def skipped_days(folded: str, named: Iterable[ComingDays]) -> list[ComingDays]:
    """Return the days that a folded text names on which something does not take place as it does else."""
    return [day for day in named if _has("skips", sentence := sentence_of(folded, day)) or moves(sentence)]


def may_recur(folded: str) -> bool:
    """Tell whether a folded text has words without which nothing comes again: most have none.

    Weekdays of two letters are words of other meanings too ("so", "do"): they are days beside a figure.
    """
    if HAN.search(folded) and _han_needed().search(folded):
        return True
    words = _WORD.findall(folded)
    if not _needed(short=False).isdisjoint(words) or _EVERY_DATE.search(folded):
        return True
    return not _needed(short=True).isdisjoint(words) and _FIGURE.search(folded) is not None


@cache
def _forms() -> frozenset[str]:
    """Return the forms of which one stands in whatever names days that come again."""
    lists = (
        "daily", "workdays", "weekends", "second_weekends", "of_month", "yearly", "weeks", "of_each_month",
        "fortnightly",
    )  # fmt: skip
    listed = {form for name in lists for form in phrases(f"{DATA}.{name}")}
    return frozenset(listed | {*_names(), *pairs(f"{DATA}.initials")})


@cache
def _needed(*, short: bool) -> frozenset[str]:
    """Return the last word of each of the forms, those of two letters or the others."""
    last = (words[-1] for form in _forms() if (words := _WORD.findall(form)))
    return frozenset(word for word in last if (len(word) <= _SHORT) is short)


@cache
def _han_needed() -> re.Pattern[str]:
    return re.compile(any_of(form for form in _forms() if HAN.search(form)))


@cache
def _names() -> Mapping[str, int]:
    """Return the weekday of each name, short ones too."""
    many = {form: n for n, forms in enumerate(lines(f"{DATA}.many")) for form in forms.split()}
    return {**short_weekdays(), **weekdays(), **many}


@cache
def _many() -> frozenset[str]:
    return frozenset(form for forms in lines(f"{DATA}.many") for form in forms.split())


@cache
def _day_pattern() -> re.Pattern[str]:
    spaced = [form for form in _names() if not HAN.search(form)]
    return re.compile(
        rf"(?<!\w)(?P<initials>{any_of(pairs(f'{DATA}.initials'))})(?!\w)|"
        rf"(?<!\w)(?P<name>{any_of(spaced)})(?!\w)\.?|(?P<han>{_HAN_DAY})"
    )


@cache
def _between() -> tuple[re.Pattern[str], re.Pattern[str]]:
    parts = any_of(phrases(f"{DATA}.parts"))
    both, stretch = any_of(phrases(f"{DATA}.both")), any_of(phrases(f"{DATA}.stretch"))
    gap = rf"\s*(?:(?:{parts})\s*)?(?:,\s*)?(?:{both})\s*(?:on\s+|每个?)?"
    return re.compile(gap), re.compile(rf"\s*(?:{stretch})\s*")


def _runs(folded: str) -> Iterator[_DayRun]:
    """Yield weekdays side by side: "tuesdays and thursdays", "mon-fri", "周二、周四"."""
    run: _DayRun | None = None
    moved = moves(folded)
    for match in _day_pattern().finditer(folded):
        following = _run_of(match)
        days = (
            None if run is None else _together(folded[run.end : match.start()], run, following, moved=moved)
        )
        if run is None or days is None:
            if run:
                yield run
            run = following
        else:
            many, plain = run.many or following.many, run.plain or following.plain
            run = _DayRun(run.start, following.end, days, many, plain, run.size + following.size)
    if run:
        yield run


def _together(gap: str, run: _DayRun, other: _DayRun, *, moved: bool) -> frozenset[int] | None:
    """Return the days of two that stand side by side, None where they are not meant together."""
    both, stretch = _between()
    if not moved and len(run.days) == len(other.days) == 1 and stretch.fullmatch(gap):
        [first], [last] = run.days, other.days
        return frozenset((first + n) % 7 for n in range((last - first) % 7 + 1))
    return run.days | other.days if both.fullmatch(gap) else None


def _run_of(match: re.Match[str]) -> _DayRun:
    start, end = match.span()
    if match["initials"]:
        days = frozenset(map(int, str(pairs(f"{DATA}.initials")[match["initials"]]).split()))
        return _DayRun(start, end, days, many=False, plain=True, size=len(days))
    if match["han"]:
        signs = match["han"].replace("星期", "周").replace("礼拜", "周")[1:]
        days = frozenset(weekdays()["周" + sign] for sign in signs)
        return _DayRun(start, end, days, many=len(days) > 1, plain=True, size=len(days))
    name = match["name"]
    many = name in _many()
    return _DayRun(
        start, end, frozenset({_names()[name]}), many=many, plain=many or name in weekdays(), size=1
    )


@cache
def _leads(name: str) -> re.Pattern[str]:
    forms = pairs(f"{DATA}.{name}")
    spaced, han = (
        [form for form in forms if not HAN.search(form)],
        [form for form in forms if HAN.search(form)],
    )
    signs = f"|(?P<han>{any_of(han)})" if han else ""
    articles = r"(?:\s+(?:the|a|am|den|der|dem|el|los|las|le|les|il|la|op|op de|de|do|o|que es el))?"
    return re.compile(rf"(?:(?<!\w)(?P<lead>{any_of(spaced)}){articles}\s+{signs})(?:的)?$")


def _led_by(name: str, folded: str, start: int) -> re.Match[str] | None:
    """Return the words of a list that stand directly before a place."""
    return _leads(name).search(folded[:start])


def _of_weekdays(folded: str, run: _DayRun, today: date) -> Recurrence | None:
    """Return weekdays that come again, None where they are days of one week."""
    monthly = _has("of_month", _around(_SENTENCE, folded, run))
    base = Recurrence(run.start, run.end, today, run.days)
    lead = _led_by("second", folded, run.start)
    if lead and not monthly:
        return base._replace(start=lead.start(), weeks=2, anchor=_anchor(folded, run.days, today))
    lead = _led_by("order", folded, run.start)
    if lead:
        return _of_order(folded, lead, base, monthly=monthly)
    if _led_by("left", folded, run.start) if run.many else _dated_behind().match(folded, run.end):
        return None
    return _of_weeks(folded, run, base)


def _of_order(folded: str, lead: re.Match[str], base: Recurrence, *, monthly: bool) -> Recurrence | None:
    """Return one day of each month, or of some: "the third Tuesday of the month", "jeden letzten Freitag"."""
    order = int(pairs(f"{DATA}.order")[" ".join((lead["lead"] or lead["han"]).split())])
    months = _months_behind(folded, base.end)
    every = order != _SECOND and _led_by("every", folded, lead.start())
    if not (monthly or months or every):
        return None
    return base._replace(start=lead.start(), order=order, months=months)


def _of_weeks(folded: str, run: _DayRun, base: Recurrence) -> Recurrence | None:
    """Return days of every week, or of every so many, None where nothing says that they come again."""
    sentence, clause = _around(_SENTENCE, folded, run), _around(_CLAUSE, folded, run)
    if weeks := weeks_apart(sentence):
        return base._replace(weeks=weeks, anchor=_anchor(folded, run.days, base.first))
    if run.many or _many_parts().match(folded, run.end):
        return base
    lead = _led_by("every", folded, run.start)
    if lead and (run.plain or lead["lead"] in {"every", "each"}):
        return base._replace(start=lead.start())
    if _has("this_once", clause):
        return None
    if run.plain and _has("weekly", sentence):
        return base
    timed = _clock().search(clause) or _has("parts", clause)
    return base if run.size > 1 and timed else None


def weeks_apart(folded: str) -> int:
    """Return how many weeks lie between two times, as a folded text tells: "every six weeks"; 0 else."""
    if _has("fortnightly", folded):
        return 2
    match = _so_many_weeks().search(folded)
    return int(pairs(f"{COMING}.counts").get(match["n"], match["n"])) if match else 0


@cache
def _so_many_weeks() -> re.Pattern[str]:
    lead, weeks = (any_of(phrases(f"{DATA}.{name}")) for name in ("every_so_many", "weeks"))
    counts = any_of(form for form in pairs(f"{COMING}.counts") if " " not in form)
    return re.compile(rf"(?:{lead})\s*(?P<n>[2-9]|1[0-2]|{counts})\s*(?:{weeks})(?![a-z])")


@cache
def _months() -> frozenset[str]:
    return frozenset(form for names in lines("entities/times.months") for form in names.split())


@cache
def _months_pattern() -> re.Pattern[str]:
    months = any_of(_months())
    both = any_of(phrases(f"{DATA}.both"))
    return re.compile(
        r"\s+(?:of|in|im|de|en|di|do|van)\s+"
        rf"(?P<months>(?:{months})(?:\s*(?:,\s*)?(?:{both})?\s*(?:{months})(?!\w))*)"
    )


def _months_behind(folded: str, place: int) -> frozenset[int]:
    """Return the months of which a day is said to be one: "the first tuesday of january and july"."""
    match = _months_pattern().match(folded, place)
    words = frozenset(_WORD.findall(match["months"])) if match else frozenset()
    named = frozenset(month_of(word) for word in words & _months())
    return named if len(named) > 1 else frozenset()


def _of_kinds(folded: str, today: date) -> Iterator[Recurrence]:
    """Yield every day, every day of work, every weekend and every second one."""
    for name, days, weeks in (
        ("second_weekends", _WEEKEND, 2),
        ("workdays", _WORKDAYS, 1),
        ("weekends", _WEEKEND, 1),
        ("daily", _ALL, 1),
    ):
        for match in _pattern(name).finditer(folded):
            at = Recurrence(*match.span(), today, days, weeks)
            if name == "daily" and not (_has("parts", match.group()) or _is_timed(folded, at)):
                continue
            anchor = _anchor(folded, days, today) if weeks > 1 else None
            yield at._replace(anchor=anchor)
            return


def _of_dates(folded: str, today: date) -> Iterator[Recurrence]:
    """Yield dates of every month and of every year."""
    for match in _monthly_dates().finditer(folded):
        number = next((match[one] for one in ("a", "b", "c") if match[one]), "1")
        if 1 <= int(number) <= _DAYS_OF_MONTH:
            yield Recurrence(*match.span(), today, dates=frozenset({(_EVERY_MONTH, int(number))}))
            return
    if _has("of_each_month", folded):
        numbers = [day for day in named_days(folded, today) if _NUMBER.fullmatch(folded[day.start : day.end])]
        for day in numbers[:1]:
            yield Recurrence(day.start, day.end, today, dates=frozenset({(_EVERY_MONTH, day.first.day)}))
            return
    if not (_has("yearly", folded) or _EVERY_DATE.search(folded)):
        return
    for day in named_days(folded, today):
        sentence = _around(_SENTENCE, folded, day)
        yearly = _has("yearly", sentence) and not _has("of_one_year", sentence)
        if day.first != day.last or not (yearly or _EVERY_DATE.match(folded, day.start - len("every "))):
            continue
        yield Recurrence(day.start, day.end, today, dates=frozenset({(day.first.month, day.first.day)}))


@cache
def _monthly_dates() -> re.Pattern[str]:
    month = any_of(form for form in phrases(f"{DATA}.of_month") if not HAN.search(form))
    first = any_of(
        form
        for form, n in pairs(f"{DATA}.order").items()
        if n == "1" and form.isalpha() and not HAN.search(form)
    )
    ending = r"(?:st|nd|rd|th|er|e|º|\.)?"
    return re.compile(
        rf"(?<![\w.,:])(?P<a>\d{{1,2}}){ending}\s+(?:{month})(?!\w)|"
        rf"(?:{month})\s*,?\s+(?:on the|on|am|zum|el|le|il|dia|no dia|op de|den)\s+"
        rf"(?P<b>\d{{1,2}}){ending}(?![\w:])|"
        rf"每个?月的?(?P<c>\d{{1,2}})[日号]|(?<!\w)(?:{first})\s+(?:{month})(?!\w)"
    )


# --- beside the days ----------------------------------------------------------------------------------------


def _anchor(folded: str, days: frozenset[int], today: date) -> date | None:
    """Return a day of one of so many weeks, as a text names it: "last night was the first"; None else."""
    coming = named_days(folded, today)
    past = parse_time(folded, datetime.combine(today, time(23, 59), UTC)).ranges
    named = [day.first for day in coming if not day.weekday and not day.loose]
    named += [part.start.date() for part in past if part.end - part.start <= _DAY]
    weeks = [day.first for day in coming if day.loose and day.last - day.first < _WEEK]  # "this week"
    return next((day for day in named if day.weekday() in days), weeks[0] if weeks else None)


def _bounded(folded: str, days: Recurrence, today: date) -> Recurrence:
    """Return days with the first and the last that a text names."""
    for day in named_days(folded, today):
        if folded[day.start : day.end].isdecimal() or days.dates:  # "from 8 to 11"
            continue
        if _led_by("until", folded, day.start) and day.last > today:
            days = days._replace(last=day.last)
        elif _led_by("begins", folded, day.start):
            days = days._replace(first=max(day.first, today))
    if days.last is None and (month := _until_month().search(folded)):
        number = month_of(month[1])
        year = today.year + (number < today.month)
        days = days._replace(last=date(year, number, monthrange(year, number)[1]))
    return days


@cache
def _until_month() -> re.Pattern[str]:
    months = any_of(_months())
    return re.compile(rf"(?<!\w)(?:{any_of(phrases(f'{DATA}.until'))})\s+({months})(?!\w)")


def _is_idle(folded: str, days: Recurrence) -> bool:
    """Tell whether a text vows, jests or tells of former times, and names no days by it."""
    if _has("idle", _around(_SENTENCE, folded, days)):
        return True
    if folded[days.end :].lstrip(" )\"'").startswith(("?", "？")):
        return True
    clause, reason = _around(_CLAUSE, folded, days), _reasons().search(folded, days.end)
    if reason and folded[days.end : reason.start()] in clause:
        clause = clause[: clause.index(folded[days.start : days.end]) + reason.start() - days.start]
    return speaks_of_past(_pattern("of_each_month").sub(" ", clause) if days.dates else clause)


def _is_timed(folded: str, days: Recurrence) -> bool:
    sentence = _around(_SENTENCE, folded, days)
    return _clock().search(sentence) is not None or _has("parts", sentence)


def _around(marks: re.Pattern[str], folded: str, place: "Recurrence | _DayRun | ComingDays") -> str:
    start, end = around(marks, folded, ComingDays(place.start, place.end, date.min, date.min))
    return folded[start:end]


def _overlaps(days: Recurrence, others: Sequence[Recurrence]) -> bool:
    return any(days.start < other.end and other.start < days.end for other in others)


def _has(name: str, folded: str) -> bool:
    return _pattern(name).search(folded) is not None


@cache
def _pattern(name: str) -> re.Pattern[str]:
    return words_pattern(phrases(f"{DATA}.{name}"))


@cache
def _dated_behind() -> re.Pattern[str]:
    return re.compile(text(f"{DATA}.dated_behind"))


@cache
def _reasons() -> re.Pattern[str]:
    return words_pattern(phrases(f"{COMING}.reasons"))


@cache
def _clock() -> re.Pattern[str]:
    """Return what matches a time of day in figures, or by halves."""
    before = any_of([*phrases(f"{COMING}.clock_before"), *phrases(f"{DATA}.clock_before")])
    behind, others = any_of(phrases(f"{COMING}.clock_behind")), any_of(phrases(f"{DATA}.clock"))
    return re.compile(
        rf"(?<!\d)\d{{1,2}}(?:[:.h]\d\d|\s*(?:{behind})(?!\w)|[点點])|(?<!\w)(?:{before})\s+\d|"
        rf"(?<!\w)(?:{others})(?!\w)|de\s+\d+\s+a\s+\d+"
    )


@cache
def _many_parts() -> re.Pattern[str]:
    return re.compile(rf"\s+(?:{any_of(phrases(f'{DATA}.many_parts'))})(?!\w)")

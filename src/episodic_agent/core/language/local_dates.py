"""Dates that are over as each language writes them: "am 24.10.", "Ende September", "vor fünf Tagen".

They are put as the dates and the English words that `timewords` reads. Figures are a date only where a word
before them says so ("am", "le", "op", "on"), for prices, versions, scores and addresses look alike; whose
word it is tells the order of "3/4". The words are data: `data/language/local_dates.toml`.
"""

import re
from calendar import monthrange
from collections.abc import Callable, Iterable
from datetime import date, timedelta
from functools import cache
from typing import Final, TypeAlias

from episodic_agent.core.language.coming import HAN, any_of, weekdays
from episodic_agent.data import lines, pairs, phrases, texts

_DATA: Final = "language/local_dates"
_DAY: Final = timedelta(days=1)
_LAST_MONTH: Final = 12
_CENTURY: Final = 100  # years of two figures are of this one
_WORD: Final = re.compile(r"[^\W_]+")
_THIRDS: Final = {"early": 0, "mid": 1, "late": 2}
# Where two thirds of a week end: Tuesday and Thursday; of a month and a year it is counted.
_WEEK: Final = (0, 2, 4, 7)
_MONTH: Final = (0, 10, 20)
_FIGURES: Final = (
    r"(?:(?P<a{0}>\d{{1,2}})(?P<sign{0}>[./-])(?P<b{0}>\d{{1,2}})(?:(?P=sign{0})(?P<year{0}>(?:20)?\d\d)|(?P<end{0}>\.))?"
    r"|(?P<d{0}>\d{{1,2}})\.\s(?P<m{0}>\d{{1,2}})\.)(?![^\W\u4e00-\u9fff]|[/-]|[.,]\d)"
)
_ALONE: Final = r"(?<![\w.,/:-])"
_Writer: TypeAlias = "Callable[[re.Match[str], date], str]"


def with_local_dates(folded: str, today: date) -> str:
    """Return a folded question with dates that `timewords` reads in the place of a language's own.

    >>> thursday = date(2026, 10, 29)
    >>> with_local_dates("was war am 24.10.?", thursday), with_local_dates("le 3/4 ?", thursday)
    ('was war am 2026-10-24 ?', 'le 2026-04-03 ?')
    >>> with_local_dates("was war ende september?", thursday), with_local_dates("v24.10?", thursday)
    ('was war late september?', 'v24.10?')
    """
    has_figures = any(map(str.isdigit, folded))
    if not has_figures and HAN.search(folded) is None and _signs().isdisjoint(_WORD.findall(folded)):
        return folded
    for pattern, write in _rules():
        folded = pattern.sub(lambda match, write=write: _written(match, today, write), folded)  # type: ignore[misc]
    return folded


def _written(match: re.Match[str], today: date, write: _Writer) -> str:
    try:
        return write(match, today)
    except (ValueError, OverflowError):  # 31 February
        return match.group()


@cache
def _signs() -> frozenset[str]:
    """Return the words of which one stands in whatever is read here, but figures and characters."""
    names = [f"thirds.{name}" for name in texts(f"{_DATA}.thirds") if name not in {"of", "stretches"}]
    forms = [form for name in (*names, "weekend.last", "ago.units") for form in pairs(f"{_DATA}.{name}")]
    return frozenset(word for form in forms for word in _WORD.findall(form)[-1:])


# --- figures ------------------------------------------------------------------------------------------------


def _date_of(match: re.Match[str], number: int, today: date, *, month_first: bool) -> date:
    """Return the day that figures name: the latest one where they name no year."""
    parts = match.groupdict()
    if parts[f"d{number}"]:
        day, month = int(parts[f"d{number}"]), int(parts[f"m{number}"])
    else:
        day, month = int(parts[f"a{number}"]), int(parts[f"b{number}"])
        slashed = parts[f"sign{number}"] == "/"
        if month > _LAST_MONTH or (slashed and month_first and day <= _LAST_MONTH):
            day, month = month, day
    if year := parts[f"year{number}"]:
        return date(int(year) % _CENTURY + today.year // _CENTURY * _CENTURY, month, day)
    return _latest(month, day, today)


def _latest(month: int, day: int, today: date) -> date:
    for year in range(today.year, today.year - 9, -1):
        if day <= monthrange(year, month)[1] and date(year, month, day) <= today:
            return date(year, month, day)
    raise ValueError("no such day")


def _is_dated(match: re.Match[str], number: int, language: str) -> bool:
    """Tell whether figures behind a language's word are a date: few have dashes, English has no dots."""
    parts = match.groupdict()
    if parts[f"d{number}"] or parts[f"year{number}"] or parts[f"end{number}"]:
        return True
    sign = parts[f"sign{number}"]
    return not (sign == "-" and language != "nl") and not (sign == "." and language == "en")


def _language_of(lead: str) -> str:
    words = " ".join(lead.split())
    return next((one for one, forms in _leads().items() if words in forms), "")


@cache
def _leads() -> dict[str, frozenset[str]]:
    return {one: frozenset(phrases(f"{_DATA}.leads.{one}")) for one in texts(f"{_DATA}.leads")}


def _write_figures(match: re.Match[str], today: date) -> str:
    language = _language_of(match["lead"])
    if not _is_dated(match, 1, language):
        return match.group()
    day = _date_of(match, 1, today, month_first=language == "en")
    return f"{match['lead']}{match['space']}{day}{' ' * bool(match['end1'] or match['d1'])}"


def _write_between(match: re.Match[str], today: date) -> str:
    month_first = match["before"] in {"from", "between"} or HAN.search(match["before"]) is not None
    days = [_date_of(match, number, today, month_first=month_first) for number in (1, 2)]
    if days[0] > days[1]:
        days[0] = days[0].replace(year=days[0].year - 1)
    return f"from {days[0]} to {days[1]} "


def _write_alone(match: re.Match[str], today: date) -> str:
    """Return a date that no word stands before: in Chinese, at the end in Russian, or with its last dot."""
    if match["han"] is None and not (match["end1"] or match["d1"]):
        return match.group()
    return f"{_date_of(match, 1, today, month_first=True)} "


def _write_year_first(match: re.Match[str], _: date) -> str:
    return f"{date(int(match['year']), int(match['month']), int(match['day']))} "


def _write_short_month(match: re.Match[str], _: date) -> str:
    return f"{match['day']} {_month_names()[_short_months()[match['name']] - 1]} "


@cache
def _short_months() -> dict[str, int]:
    listed = enumerate(lines(f"{_DATA}.months.short"), 1)
    return {name: number for number, names in listed for name in names.split()}


# --- thirds of months, weeks and years ----------------------------------------------------------------------


@cache
def _month_names() -> tuple[str, ...]:
    return tuple(names.split()[0] for names in lines("entities/times.months"))


@cache
def _months() -> dict[str, int]:
    listed = enumerate(lines("entities/times.months"), 1)
    named = {name: number for number, names in listed for name in names.split()}
    return {**named, **_russian_cases(), **_short_months()}


def _russian_cases() -> dict[str, int]:
    """Return months as they stand behind "в": their names end in "е" there."""
    named = {name: n for n, names in enumerate(lines("entities/times.months"), 1) for name in names.split()}
    return {f"{name[:-1]}е": number for name, number in named.items() if name.endswith(("ь", "й"))}


@cache
def _thirds() -> dict[str, str]:
    names = {"early": "early", "middle": "mid", "late": "late"}
    return {
        form: english
        for name, english in names.items()
        for kind in (name, f"english_{name}")
        for form in phrases(f"{_DATA}.thirds.{kind}")
    }


def _write_third_of_month(match: re.Match[str], _: date) -> str:
    return f"{_thirds()[match['third']]} {_month_names()[_months()[match['month']] - 1]}"


def _write_third_of_stretch(match: re.Match[str], today: date) -> str:
    unit, back = pairs(f"{_DATA}.thirds.stretches")[" ".join(match["stretch"].split())].split()
    first, days = _stretch(unit, int(back), today)
    third = _THIRDS[_thirds()[match["third"]]]
    start, end = first + days[third] * _DAY, first + (days[third + 1] - 1) * _DAY
    return match.group() if start > today else f"from {start} to {end}"


def _stretch(unit: str, back: int, today: date) -> tuple[date, tuple[int, ...]]:
    """Return the first day of a stretch and where its thirds begin and end, in days from it."""
    if unit == "week":
        return today + (7 * back - today.weekday()) * _DAY, _WEEK
    if unit == "year":
        first = date(today.year + back, 1, 1)
        return first, (*((date(first.year, month, 1) - first).days for month in (1, 5, 9)), 365)
    first = today.replace(day=1)
    if back:
        first = (first - _DAY).replace(day=1)
    return first, (*_MONTH, monthrange(first.year, first.month)[1])


# --- so long ago, weekends, characters ----------------------------------------------------------------------


@cache
def _counts() -> dict[str, str]:
    words = {**pairs("entities/numbers.words"), **pairs("language/coming.counts")}
    return {**words, **pairs(f"{_DATA}.ago.counts")}


def _write_ago(match: re.Match[str], _: date) -> str:
    count = " ".join((match["count"] or "1").split())
    number = count if count.isdecimal() else _counts()[count]
    return f"{number} {pairs(f'{_DATA}.ago.units')[match['unit']]}s ago"


def _write_weekend(match: re.Match[str], _: date) -> str:
    return "last weekend" + " " * bool(HAN.search(match.group()))


def _write_han_month(match: re.Match[str], _: date) -> str:
    number = match["figure"] or pairs(f"{_DATA}.han.months")[match["name"]]
    return f"{number}月{pairs(f'{_DATA}.han.thirds').get(match['third'] or '', '')}"


def _write_han_weeks(match: re.Match[str], _: date) -> str:
    return f"{match['count']}个星期{match['ago']}"


# --- the rules ----------------------------------------------------------------------------------------------


def _words(forms: Iterable[str]) -> str:
    return f"(?:{any_of(forms)})"


@cache
def _rules() -> tuple[tuple[re.Pattern[str], _Writer], ...]:
    """Compile the rules, in the order in which they may write, when first used."""
    return tuple((re.compile(pattern), write) for pattern, write in (*_figures(), *_in_words(), *_in_han()))


def _figures() -> Iterable[tuple[str, _Writer]]:
    units = [*phrases(f"{_DATA}.behind.units"), *pairs("entities/numbers.currencies")]
    measures = _words([*units, *pairs("entities/numbers.measures")])
    unmeasured = rf"(?!\s*{measures}(?![^\W\d_]))"
    first, second = (_FIGURES.format(number) + unmeasured for number in (1, 2))
    article = rf"(?:{_words(phrases(f'{_DATA}.between.article'))}\s+)?"
    lead = _words(form for forms in _leads().values() for form in forms)
    before, link = (_words(phrases(f"{_DATA}.between.{name}")) for name in ("before", "link"))
    weekday = _words(weekdays())
    yield (
        rf"(?<!\w)(?P<before>{before})\s*{article}{_ALONE}{first}\s*{link}\s*{article}{article}{_ALONE}{second}",
        _write_between,
    )
    yield rf"(?<![\w'’-])(?P<lead>{lead})(?P<space>\s*)(?<![^\W\d_])(?<![.,/:-]){first}", _write_figures
    yield rf"(?:^|(?<=[在从于到自]))\s*{first}(?=(?P<han>[\u4e00-\u9fff])?)", _write_alone
    yield rf"(?P<lead>(?<!\w){weekday},?)(?P<space>\s+){first}", _write_figures
    yield rf"(?<=[а-я] ){first}(?=(?P<han>)\s*[?!.]*$)", _write_alone
    yield (
        r"(?<![\w.,/:-])(?P<year>20\d\d)\.(?P<month>\d{1,2})\.(?P<day>\d{1,2})(?![\d/-]|\.\d)",
        _write_year_first,
    )
    yield (
        rf"(?<![\w.])(?P<day>\d{{1,2}})\.?\s+(?:de\s+)?(?P<name>{_words(_short_months())})(?!\w)\.?",
        _write_short_month,
    )


def _in_words() -> Iterable[tuple[str, _Writer]]:
    third, english = (_thirds_of(kind) for kind in ("", "english_"))
    of = _words(phrases(f"{_DATA}.thirds.of"))
    own = r"(?!(?:may|march|mar)(?!\w))"  # words of their own: "the end may come"
    month = rf"(?<![^\W\d_])(?P<month>{_words(_months())})(?!\w)(?!\s+\d{{1,2}}(?!\d))"
    stretch = rf"(?P<stretch>{_words(pairs(f'{_DATA}.thirds.stretches'))})(?!\w)"
    yield rf"{third}(?:\s+|(?<=-)){own}{month}", _write_third_of_month
    yield rf"{third}\s+{of}\s*{month}", _write_third_of_month
    yield rf"{english}\s+of\s+{month}", _write_third_of_month
    yield rf"{third}\s+{stretch}", _write_third_of_stretch
    yield rf"{english}\s+of\s+{stretch}", _write_third_of_stretch
    units, counts = _words(pairs(f"{_DATA}.ago.units")), rf"\d{{1,3}}|{_words(_counts())}"
    before, behind, single = (_words(phrases(f"{_DATA}.ago.{name}")) for name in ("before", "behind", "one"))
    yield rf"(?<!\w){before}\s+(?P<count>{counts})\s+(?P<unit>{units})(?!\w)", _write_ago
    yield rf"(?<!\w)(?P<count>{counts})\s+(?P<unit>{units})\s+{behind}(?!\w)", _write_ago
    yield rf"(?<!\w)(?P<count>)(?P<unit>{single})\s+{behind}(?!\w)", _write_ago
    weekends = phrases(f"{_DATA}.weekend.last")
    spaced, han = (
        _words(form for form in weekends if bool(HAN.search(form)) is wanted) for wanted in (False, True)
    )
    yield rf"(?<![\w-]){spaced}(?![\w-])|{han}", _write_weekend


def _thirds_of(kind: str) -> str:
    names = [f"{_DATA}.thirds.{kind}{name}" for name in ("early", "middle", "late")]
    return rf"(?<![\w-])(?P<third>{_words(form for name in names for form in phrases(name))})"


def _in_han() -> Iterable[tuple[str, _Writer]]:
    months, thirds = _words(pairs(f"{_DATA}.han.months")), _words(pairs(f"{_DATA}.han.thirds"))
    number = rf"(?<!\d)(?P<figure>\d{{1,2}})|(?<![一二三四五六七八九十两几])(?P<name>{months})"
    yield rf"(?:{number})月(?P<third>{thirds})?", _write_han_month
    weeks, count = _words(phrases(f"{_DATA}.han.weeks")), r"(?P<count>\d+|[一二两三四五六七八九十几]+)"
    yield rf"{count}个?{weeks}(?P<ago>之?前|以前)", _write_han_weeks

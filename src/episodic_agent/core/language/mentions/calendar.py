"""Values of times: what is comparable without a clock, and what a moment given as argument makes of it.

A value is a few parts joined by spaces, each `name:what`: `date:2026-03-02`, `date:03-02` (any year),
`month:2026-03`, `month:03`, `year:2026`, `decade:1990`, `century:19`, `weekday:thursday`, `day:+1`,
`week:-1`, `monthday:14`, `part:evening`, `clock:17:00`, `season:summer`, `feast:easter`.
"""

from calendar import monthrange
from datetime import date, datetime, timedelta
from functools import lru_cache
from typing import Final

WEEKDAY_NAMES: Final = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_DAYS_OF: Final = {"day": 1, "night": 1, "week": 7, "weekend": 7, "fortnight": 14}
_PART_HOURS: Final = {
    "morning": (5, 12),
    "noon": (11, 14),
    "afternoon": (12, 18),
    "evening": (17, 23),
    "night": (20, 24),
}


def date_value(month: int, day: int, year: int | None, at: datetime | None) -> str | None:
    """Return the value of a calendar day, of the year nearest to `at` where none was said.

    >>> date_value(3, 2, None, None), date_value(12, 30, None, datetime(2026, 1, 5))
    ('date:03-02', 'date:2025-12-30')
    >>> date_value(2, 31, 2026, None)
    """
    if not 1 <= month <= 12 or not 1 <= day <= monthrange(year or 2024, month)[1]:
        return None
    if year is None and at is not None:
        year = _nearest(at, month, day)
    return f"date:{year:04}-{month:02}-{day:02}" if year else f"date:{month:02}-{day:02}"


def month_value(month: int, year: int | None, at: datetime | None) -> str:
    """Return the value of a month, of the year nearest to `at` where none was said.

    >>> month_value(10, 2024, None), month_value(4, None, None)
    ('month:2024-10', 'month:04')
    """
    if year is None and at is not None:
        year = _nearest(at, month, 15)
    return f"month:{year:04}-{month:02}" if year else f"month:{month:02}"


def shifted_month_value(month: int, count: int, at: datetime | None) -> str:
    """Return the value of "last May" (the latest before this month) or "next May" (the first after it).

    >>> shifted_month_value(5, -1, datetime(2026, 3, 2)), shifted_month_value(5, 1, datetime(2026, 3, 2))
    ('month:2025-05', 'month:2026-05')
    """
    if at is None or not count:
        return month_value(month, None if at is None else at.year, at)
    year = at.year - (month >= at.month) if count < 0 else at.year + (month <= at.month)
    return month_value(month, year, at)


def _nearest(at: datetime, month: int, day: int) -> int:
    years = [year for year in (at.year - 1, at.year, at.year + 1) if year > 0]
    return min(years, key=lambda year: abs(_clamped(year, month, day) - at.date()))


def _clamped(year: int, month: int, day: int) -> date:
    return date(min(year, 9999), month, min(day, monthrange(min(year, 9999), month)[1]))


def shifted_value(unit: str, count: int, at: datetime | None) -> str:
    """Return the value of a calendar unit so many units from now.

    >>> shifted_value("day", 1, None), shifted_value("day", 1, datetime(2026, 3, 1))
    ('day:+1', 'date:2026-03-02')
    >>> shifted_value("week", -1, datetime(2026, 3, 2)), shifted_value("month", -3, datetime(2026, 2, 1))
    ('week:2026-W09', 'month:2025-11')
    """
    if at is None or unit in {"hour", "minute", "second"}:
        return f"{unit}:{count:+d}"
    try:
        if unit in _DAYS_OF:
            day = at.date() + timedelta(days=count * _DAYS_OF[unit])
            if unit in {"week", "fortnight", "weekend"}:
                year, week, _ = day.isocalendar()
                return f"{'week' if unit == 'fortnight' else unit}:{year}-W{week:02}"
            return f"date:{day.isoformat()}"
        months = at.year * 12 + at.month - 1 + count * {"month": 1, "quarter": 3, "year": 12}.get(unit, 1200)
        year, month = divmod(months, 12)
        if not 1 <= year <= 9999:
            return f"{unit}:{count:+d}"
        return f"year:{year}" if unit == "year" else f"month:{year:04}-{month + 1:02}"
    except OverflowError:
        return f"{unit}:{count:+d}"


def weekday_value(weekday: int, which: int | None, at: datetime | None) -> str:
    """Return the value of a weekday; only "last", "this" and "next" with `at` make a date of it.

    >>> weekday_value(3, None, datetime(2026, 3, 2)), weekday_value(3, 1, datetime(2026, 3, 2))
    ('weekday:thursday', 'date:2026-03-12')
    """
    name = WEEKDAY_NAMES[weekday]
    if which is None:
        return f"weekday:{name}"
    if at is None:
        return f"weekday:{name}{which:+d}" if which else f"weekday:{name}"
    today = at.date()
    if which < 0:
        day = today - timedelta(days=(today.weekday() - weekday) % 7 or 7)
    else:
        day = today - timedelta(days=today.weekday()) + timedelta(days=weekday + 7 * which)
    return f"date:{day.isoformat()}"


def related(text: str, other: str) -> bool:
    """Say whether two values of times are the same or one contains the other; clocks must be the same.

    >>> related("date:2026-03-05", "month:2026-03"), related("weekday:thursday", "date:2026-03-05")
    (True, True)
    >>> related("clock:17:00 date:2026-03-05", "date:2026-03-05"), related("clock:17:00", "clock:18:00")
    (True, False)
    """
    if text == other:
        return True
    mine, theirs = _parts(text), _parts(other)
    if not mine or not theirs:
        return False
    fits = [[_fits(a, b) for b in theirs] for a in mine]
    return all(map(any, fits)) or all(map(any, zip(*fits, strict=True)))


@lru_cache(maxsize=4096)
def _parts(value: str) -> tuple[tuple[str, str], ...]:
    return tuple((name, what) for name, _, what in (part.partition(":") for part in value.split()) if what)


def _fits(pair: tuple[str, str], other: tuple[str, str]) -> bool:
    """Say whether one part is, holds or lies in the other."""
    if pair == other:
        return True
    (name, what), (name2, what2) = pair, other
    if name == name2 and name in {"date", "month"}:  # "03-02" is a day of any year
        return what.endswith(what2) or what2.endswith(what)
    names = {name: what, name2: what2}
    if len(names) < 2:
        return False
    if "date" in names:
        return _holds_day(names)
    if {"month", "year"} == set(names):
        return names["month"].startswith(names["year"] + "-")
    if {"clock", "part"} == set(names):
        hours = _PART_HOURS.get(names["part"], (0, 0))
        return hours[0] <= int(names["clock"].partition(":")[0]) < hours[1]
    return False


def _holds_day(names: dict[str, str]) -> bool:
    day = names["date"]
    if "month" in names:
        return day.startswith(names["month"] + "-")
    if "year" in names:
        return day.startswith(names["year"] + "-")
    if "monthday" in names:
        return int(day[-2:]) == int(names["monthday"])
    if len(day) != 10:
        return False
    matching_day = date.fromisoformat(day)
    if "weekday" in names:
        return WEEKDAY_NAMES[matching_day.weekday()] == names["weekday"]
    if "week" in names:
        year, week, _ = matching_day.isocalendar()
        return names["week"] == f"{year}-W{week:02}"
    return False

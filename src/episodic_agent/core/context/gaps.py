"""How long a break was, in words."""

from datetime import timedelta
from typing import Final

_STEP: Final = 5  # minutes a break is rounded to
_MINUTES: Final = {"hour": 60, "day": 1_440, "week": 10_080, "month": 43_830, "year": 525_960}
# up to here a break is said in the smaller unit: "90 min" is no "2 hours", nor are ten days "1 week"
_FROM: Final = (("year", 1.0), ("month", 2.0), ("week", 2.0), ("day", 1.5), ("hour", 3.0))


def break_words(gap: timedelta) -> str:
    """Return a break as it is said, rounded to five minutes, and more coarsely the longer it is.

    >>> [break_words(timedelta(minutes=m)) for m in (1, 32, 33, 60, 75, 118, 190)]
    ['5 min', '30 min', '35 min', '1 hour', '1 hour 15 min', '2 hours', '3 hours']
    >>> [break_words(timedelta(hours=h)) for h in (30, 37, 72, 24 * 20, 24 * 100, 24 * 800)]
    ['30 hours', '2 days', '3 days', '3 weeks', '3 months', '2 years']
    """
    minutes = max(_STEP, _STEP * round(gap / timedelta(minutes=_STEP)))
    if minutes < _MINUTES["hour"]:
        return f"{minutes} min"
    for unit, least in _FROM:
        if minutes >= least * _MINUTES[unit]:
            return _count(round(minutes / _MINUTES[unit]), unit)
    hours, rest = divmod(minutes, _MINUTES["hour"])
    return _count(hours, "hour") + (f" {rest} min" if rest else "")


def _count(count: int, unit: str) -> str:
    return f"{count} {unit}" if count == 1 else f"{count} {unit}s"

"""How long a break was, in words."""

from datetime import timedelta
from typing import Final

from episodic_agent.core.context.frames import ContextPhrases, frames
from episodic_agent.core.episodes.languages import UNSPACED
from episodic_agent.core.language import script

_STEP: Final = 5  # minutes a break is rounded to
_MINUTES: Final = {"hour": 60, "day": 1_440, "week": 10_080, "month": 43_830, "year": 525_960}
# up to here a break is said in the smaller unit: "90 min" is no "2 hours", nor are ten days "1 week"
_FROM: Final = (("year", 1.0), ("month", 2.0), ("week", 2.0), ("day", 1.5), ("hour", 3.0))


_UNITS: Final = tuple(_MINUTES)


def break_words(gap: timedelta, frame: ContextPhrases | None = None) -> str:
    """Return a break as it is said, rounded to five minutes, and more coarsely the longer it is.

    The words are those of a frame, by default the English one.

    >>> [break_words(timedelta(minutes=m)) for m in (1, 32, 33, 60, 75, 118, 190)]
    ['5 min', '30 min', '35 min', '1 hour', '1 hour 15 min', '2 hours', '3 hours']
    >>> [break_words(timedelta(hours=h)) for h in (30, 37, 72, 24 * 20, 24 * 100, 24 * 800)]
    ['30 hours', '2 days', '3 days', '3 weeks', '3 months', '2 years']
    >>> break_words(timedelta(hours=1), frames()["zh"])
    '1小时'
    """
    frame = frame or frames()["en"]
    minutes = max(_STEP, _STEP * round(gap / timedelta(minutes=_STEP)))
    if minutes < _MINUTES["hour"]:
        return _count(minutes, frame.units[0])
    for unit, least in _FROM:
        if minutes >= least * _MINUTES[unit]:
            return _count(round(minutes / _MINUTES[unit]), frame.units[1 + _UNITS.index(unit)])
    hours, rest = divmod(minutes, _MINUTES["hour"])
    return _count(hours, frame.units[1]) + (f" {_count(rest, frame.units[0])}" if rest else "")


def _count(count: int, unit: tuple[str, str]) -> str:
    word = unit[count != 1]
    return f"{count}{'' if script(word) in UNSPACED else ' '}{word}"

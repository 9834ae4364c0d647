"""Which number of a written date is the day: found from all dates of a file, or given.

03/01/2024 is the first of March or the third of January, and 24/3/12 a third thing. Every order a file's
first date allows is tried on all of them. The order wins in which fewest dates are none, run back or leap;
then the one with the smallest gaps, since people who write at all write on. Where that settles nothing the
order is a custom's (dots and dashes: day first; else month first), and the reader says so.
"""

import re
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import date
from enum import StrEnum
from functools import cache
from typing import Final

from episodic_agent.core.language import fold
from episodic_agent.data import texts

_NUMBERS: Final = re.compile(r"(\d{1,4})\.?\s?([./-])\s?(\d{1,2})\.?\s?[./-]\s?(\d{1,4})")
_YEAR: Final = r"(?P<year>(?:19|20)\d\d)(?!\d)"
_DAY_MONTH: Final = re.compile(
    rf"(?<!\d)(?P<day>\d{{1,2}})(?:\.|st|nd|rd|th|º|er)?\s+(?:de\s+)?(?P<month>[^\W\d_]{{3,12}})\.?,?\s+(?:de\s+)?{_YEAR}"
)
_MONTH_DAY: Final = re.compile(
    rf"(?P<month>[^\W\d_]{{3,12}})\.?\s+(?P<day>\d{{1,2}})(?:st|nd|rd|th)?,?\s+{_YEAR}"
)
_CENTURY: Final = 2000
_LONGEST_GAP: Final = 1500  # days that a chat may rest


class DateOrder(StrEnum):
    """The order of day, month and year in numeric dates."""

    DMY = "dmy"
    MDY = "mdy"
    YMD = "ymd"

    @property
    def words(self) -> str:
        """Say the order in words."""
        return "/".join({"d": "day", "m": "month", "y": "year"}[letter] for letter in self.value)


@dataclass(frozen=True, slots=True)
class WrittenDate:
    """Three numbers of a date as they stand, and what stands between them."""

    numbers: tuple[str, str, str]
    separator: str

    def read(self, order: DateOrder) -> date | None:
        """Return the date in this order; None where there is none such.

        >>> WrittenDate(("3", "1", "24"), "/").read(DateOrder.DMY)
        datetime.date(2024, 1, 3)
        """
        first, second, third = self.numbers
        if len(first) > 2:
            order = DateOrder.YMD
        year, month, day = {
            DateOrder.DMY: (third, second, first),
            DateOrder.MDY: (third, first, second),
            DateOrder.YMD: (first, second, third),
        }[order]
        if len(year) not in (2, 4):
            return None
        try:
            return date(int(year) if len(year) == 4 else _CENTURY + int(year), int(month), int(day))
        except ValueError:
            return None


def day_in_words(text: str, *, begins: bool = False) -> tuple[date | None, str]:
    """Find a day whose month is written as a word, and what stands behind it.

    `begins` takes one at the beginning of the text alone.

    >>> day_in_words("Sonntag, 20. September 2026, Leipzig")
    (datetime.date(2026, 9, 20), ', Leipzig')
    >>> day_in_words("October 3rd, 2026")[0], day_in_words("in May")[0]
    (datetime.date(2026, 10, 3), None)
    """
    for pattern in (_DAY_MONTH, _MONTH_DAY):
        match = pattern.match(text) if begins else pattern.search(text)
        month = None if match is None else _months().get(fold(match["month"]))
        if match is not None and month is not None:
            with suppress(ValueError):
                return date(int(match["year"]), month, int(match["day"])), text[match.end() :]
    return None, ""


@cache
def _months() -> Mapping[str, int]:
    names = (enumerate(listed.split(), 1) for listed in texts("language/months").values())
    pairs = [(fold(name), number) for months in names for number, name in months]
    return {short: number for name, number in pairs for short in (name[:3], name[:4], name)} | dict(pairs)


@dataclass(frozen=True, slots=True)
class ChosenOrder:
    """The order to read with; `sure` tells that the file, its custom or the caller settles it.

    `against` is a date of the file that is none in this order, and is one in another.
    """

    order: DateOrder
    sure: bool = True
    against: str = field(default="", repr=False)

    @property
    def remark(self) -> str:
        """Say which order was chosen and, where the file leaves it open, how to choose another."""
        if self.against:
            return (
                f"the dates contradict each other: read as {self.order.words}, as which {self.against} is "
                "none; what is dated so is unreadable here: put it into a file of its own"
            )
        if self.sure:
            return f"dates read as {self.order.words}"
        other = DateOrder.DMY if self.order is DateOrder.MDY else DateOrder.MDY
        return (
            f"dates read as {self.order.words}, which the file does not settle; "
            f"if they are {other.words}, pass --dates {other.value}"
        )


def written_date(text: str) -> tuple[WrittenDate, str, str] | None:
    """Find the first numeric date in a text; return it with what stands before and behind it.

    >>> written_date("12.03.24, 09:15")
    (WrittenDate(numbers=('12', '03', '24'), separator='.'), '', ', 09:15')
    """
    match = _NUMBERS.search(text)
    if match is None:
        return None
    first, separator, second, third = match.groups()
    return WrittenDate((first, second, third), separator), text[: match.start()], text[match.end() :]


class _Trial:
    """One order tried on the dates of a file, in constant space."""

    def __init__(self, order: DateOrder) -> None:
        self.order = order
        self._last: date | None = None
        self._broken = self._odd = self._days = 0
        self.against = ""  # the first date that is none so, and is one in another order

    def take(self, written: WrittenDate) -> None:
        day = written.read(self.order)
        if day is None:
            self._broken += 1
            if not self.against and any(written.read(other) for other in _customs(written)):
                self.against = written.separator.join(written.numbers)
            return
        gap = (day - self._last).days if self._last else 0
        self._odd += not 0 <= gap <= _LONGEST_GAP
        self._days += abs(gap)
        self._last = day

    @property
    def cost(self) -> tuple[int, int, int]:
        return self._broken + self._odd, self._broken, self._days


def date_order(dates: Iterable[WrittenDate]) -> ChosenOrder | None:
    """Find the order of a file's dates; None where it has none that could be read in two ways.

    >>> date_order([WrittenDate((n, "1", "2024"), "/") for n in ("12", "13")])
    ChosenOrder(order=<DateOrder.DMY: 'dmy'>, sure=True)
    >>> date_order([WrittenDate((n, "1", "2024"), "/") for n in ("3", "4", "5")])
    ChosenOrder(order=<DateOrder.DMY: 'dmy'>, sure=False)
    >>> date_order([WrittenDate(("3", "1", "2024"), "/")])
    ChosenOrder(order=<DateOrder.MDY: 'mdy'>, sure=False)
    """
    trials: list[_Trial] = []
    before: WrittenDate | None = None
    for written in dates:
        if written == before or len(written.numbers[0]) > 2:
            continue
        trials = trials or [_Trial(order) for order in _customs(written)]
        before = written
        for trial in trials:
            trial.take(written)
    if not trials:
        return None
    best = min(trials, key=lambda trial: trial.cost)  # of equals the first, as custom has it
    # that days lie closer together in one order than in another makes it likelier, and no more
    rivals = [trial for trial in trials if trial.cost[:2] == best.cost[:2]]
    settled = len(rivals) == 1 or (before is not None and before.separator == ".")
    return ChosenOrder(best.order, settled, best.against)


def _customs(written: WrittenDate) -> tuple[DateOrder, ...]:
    """Return the orders a date allows, the likeliest first; four digits at the end are a year's."""
    if written.separator == ".":
        return (DateOrder.DMY,)
    days = (DateOrder.MDY, DateOrder.DMY, DateOrder.YMD)
    if written.separator == "-":
        days = (DateOrder.DMY, DateOrder.MDY, DateOrder.YMD)
    return tuple(o for o in days if o is not DateOrder.YMD or len(written.numbers[2]) <= 2)

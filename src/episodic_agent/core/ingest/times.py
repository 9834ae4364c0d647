"""Times as callers write them, read into aware UTC with a note of how much of them was really given.

Accepted: `datetime` and `date`; ISO 8601 (with an offset, or naive); RFC 2822; month names ("8 May 2023,
1:56 pm", "1:56 pm on 8 May, 2023", "May 8, 2023"); seconds, milliseconds, microseconds or nanoseconds
since 1970, told apart by magnitude. A naive time is in the caller's `timezone`, else UTC. An instant (a
number, or a time in UTC) was lived by the clock of that zone, whose offset is kept beside it. A date without
a clock means the start of that day in that zone and is marked `date_only`, so nothing reads its midnight as
a time of day. Everything else, and every year outside 1900-2200, is refused by name; so is what was observed
far ahead of now (`check_ahead`).
"""

import math
import re
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time, timedelta, timezone, tzinfo
from email.utils import parsedate_to_datetime
from typing import Final

from episodic_agent.errors import InvalidInput
from episodic_agent.schemas import TimeSource

ACCEPTED: Final = (
    'accepted: ISO 8601 ("2024-03-01T09:15:00+01:00", "2024-03-01"), or seconds, ms, µs since 1970'
)
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_FIRST_YEAR, _LAST_YEAR = 1900, 2200
_AHEAD: Final = timedelta(days=3653)  # ten years
# Seconds end where milliseconds of 1973 begin; each further unit is 1000 times the one before.
_UNITS: Final = ((1e11, 1), (1e14, 1000), (1e17, 10**6), (1e20, 10**9))
_NUMBER: Final = re.compile(r"[+-]?\d+(\.\d*)?([eE][+-]?\d+)?")
_CALENDAR_DATE: Final = re.compile(r"(19|2[01])\d{6}")
_MONTHS: Final = {
    name: number
    for number, name in enumerate(
        ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"), 1
    )
}
_DAY_MONTH: Final = re.compile(r"\b(\d{1,2})(?:st|nd|rd|th)?\s+([A-Za-z]{3,9})\.?,?\s+(\d{4})\b")
_MONTH_DAY: Final = re.compile(r"\b([A-Za-z]{3,9})\.?\s+(\d{1,2})(?:st|nd|rd|th)?,?\s+(\d{4})\b")
_CLOCK: Final = re.compile(
    r"(?<!\d)(\d{1,2})[:.](\d{2})(?:[:.](\d{2}))?(?:\s*([ap])\.?m\b\.?)?(?![\d:])|\b(\d{1,2})\s*([ap])\.?m\b\.?",
    re.IGNORECASE,
)
_FILLER: Final = re.compile(r"\b(?:on|at|mon|tue|wed|thu|fri|sat|sun)[a-z]*\b|[\s,]+", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Moment:
    """An event time: aware UTC, how much of it was given, and the writer's offset in seconds if known.

    `local` tells that it was written without a zone, and placed in the reader's.
    """

    at: datetime
    source: TimeSource = TimeSource.GIVEN
    utc_offset: int | None = None
    local: bool = field(default=False, compare=False)

    @property
    def lived(self) -> datetime:
        """Return the moment by the clock it was written by: whoever asks about "yesterday" means its days."""
        zone = None if self.utc_offset is None else timezone(timedelta(seconds=self.utc_offset))
        return self.at if zone is None else self.at.astimezone(zone)


def read_time(value: object, timezone: tzinfo | None = None) -> Moment:
    """Read a time in any accepted form; raises InvalidInput that names the value and the accepted forms.

    >>> read_time("2024-03-01T09:15:00+01:00").at.isoformat()
    '2024-03-01T08:15:00+00:00'
    >>> read_time(1709284500) == read_time(1709284500000) == read_time("1709284500")
    True
    >>> read_time("2024-03-01").source.value
    'date_only'
    >>> read_time("2024-13-01")
    Traceback (most recent call last):
    ...
    episodic_agent.errors.InvalidInput: cannot read the time '2024-13-01'; accepted: ISO 8601 \
("2024-03-01T09:15:00+01:00", "2024-03-01"), or seconds, ms, µs since 1970
    """
    try:
        moment = _read(value, timezone)
    except (ValueError, OverflowError, TypeError, IndexError) as error:
        raise _refused(value) from error
    if moment is None:
        raise _refused(value)
    if not _FIRST_YEAR <= moment.at.year <= _LAST_YEAR:
        raise InvalidInput(
            f"the time {_shown(value)} is in the year {moment.at.year}; "
            f"years {_FIRST_YEAR}-{_LAST_YEAR} are accepted"
        )
    return moment


def check_ahead(at: datetime | None, now: datetime) -> None:
    """Raise InvalidInput for an event time more than ten years after `now`: nobody has said it yet.

    Less is let through, for worlds that are played ahead of the clock and for clocks that are behind. More is
    a wrong century or number, and would leave a conversation open, and newest, for as long.

    >>> check_ahead(datetime(2199, 1, 1, tzinfo=UTC), datetime(2026, 3, 1, tzinfo=UTC))
    Traceback (most recent call last):
    ...
    episodic_agent.errors.InvalidInput: the time 2199-01-01T00:00:00+00:00 is 173 years ahead of now, \
2026-03-01; give the time at which it was said, or none for now
    """
    if at is not None and at - now > _AHEAD:
        years = at.year - now.year
        raise InvalidInput(
            f"the time {at.isoformat()} is {years} years ahead of now, {now:%Y-%m-%d}; "
            "give the time at which it was said, or none for now"
        )


def read_clock(text: str) -> time | None:
    """Read a time of day ("9:15 pm", "21:15:07", "9 AM"); None when the text is anything else.

    >>> read_clock("9:15 PM"), read_clock("25:00"), read_clock("noonish")
    (datetime.time(21, 15), None, None)
    """
    match = _CLOCK.fullmatch(text.strip())
    return None if match is None else _clock(match)


def place(day: date, clock: time | None, timezone: tzinfo | None = None) -> Moment:
    """Put a day and a clock into one moment of a zone (UTC without one).

    >>> place(date(2024, 3, 1), time(9, 15)).at.isoformat()
    '2024-03-01T09:15:00+00:00'
    """
    local = datetime.combine(day, clock or time())
    return _placed(local, timezone, TimeSource.DATE_ONLY if clock is None else TimeSource.GIVEN)


def _read(value: object, timezone: tzinfo | None) -> Moment | None:
    if isinstance(value, datetime):
        return _placed(value, timezone, TimeSource.GIVEN)
    if isinstance(value, date):
        return place(value, None, timezone)
    if isinstance(value, bool):
        return None
    if isinstance(value, int | float):
        return _since_epoch(value, timezone)
    return _read_text(value.strip(), timezone) if isinstance(value, str) else None


def _read_text(text: str, timezone: tzinfo | None) -> Moment | None:
    if len(text) > 100:
        return None
    if _NUMBER.fullmatch(text) and not _CALENDAR_DATE.fullmatch(text):
        # A short number in quotes is a year, a step or a page; nobody writes an epoch so.
        return _since_epoch(float(text), timezone) if abs(float(text)) >= 1e8 else None
    try:
        source = TimeSource.DATE_ONLY if _is_bare_date(text) else TimeSource.GIVEN
        return _placed(datetime.fromisoformat(text), timezone, source)
    except ValueError:
        return _named_month(text, timezone) or _rfc2822(text, timezone)


def _is_bare_date(text: str) -> bool:
    if len(text) > len("2024-03-01"):  # no date is longer
        return False
    try:
        date.fromisoformat(text)
    except ValueError:
        return False
    return True


def _since_epoch(value: float, timezone: tzinfo | None) -> Moment | None:
    if not math.isfinite(value):
        return None
    for limit, per_second in _UNITS:
        if abs(value) < limit:
            # Integers are split exactly: a float of microseconds loses the last ones.
            full, rest = divmod(value, per_second)
            at = _EPOCH + timedelta(seconds=full, microseconds=round(rest * 1e6 / per_second))
            return Moment(at, utc_offset=None if timezone is None else _offset(at, timezone))
    return None


def _placed(local: datetime, timezone: tzinfo | None, source: TimeSource) -> Moment:
    aware = local if local.tzinfo is not None else local.replace(tzinfo=timezone or UTC)
    seconds = None if local.tzinfo is None and timezone is None else _offset(aware, aware.tzinfo)
    if seconds == 0 and timezone is not None:  # a program wrote it
        seconds = _offset(aware, timezone)
    return Moment(aware.astimezone(UTC), source, seconds, local=local.tzinfo is None)


def _offset(at: datetime, zone: tzinfo | None) -> int | None:
    offset = at.astimezone(zone).utcoffset()
    return None if offset is None else int(offset.total_seconds())


def _named_month(text: str, timezone: tzinfo | None) -> Moment | None:
    match = _DAY_MONTH.search(text)
    if match:
        day, name, year = match.groups()
    else:
        match = _MONTH_DAY.search(text)
        if match is None:
            return None
        name, day, year = match.groups()
    month = _MONTHS.get(name[:3].lower())
    rest = text[: match.start()] + " " + text[match.end() :]
    clock = _CLOCK.search(rest)
    left = rest if clock is None else rest[: clock.start()] + rest[clock.end() :]
    # Anything left over ("around", "GMT+1", "BC") would change the meaning: not ours to guess.
    if month is None or _FILLER.sub("", left):
        return None
    hour = None if clock is None else _clock(clock)
    if clock is not None and hour is None:
        return None
    return place(date(int(year), month, int(day)), hour, timezone)


def _clock(match: re.Match[str]) -> time | None:
    hours, minutes, seconds, half, bare_hours, bare_half = match.groups()
    hour, suffix = int(hours or bare_hours), (half or bare_half or "").lower()
    if suffix and not 1 <= hour <= 12:
        return None
    if suffix:
        hour = hour % 12 + (12 if suffix == "p" else 0)
    try:
        return time(hour, int(minutes or 0), int(seconds or 0))
    except ValueError:
        return None


def _rfc2822(text: str, timezone: tzinfo | None) -> Moment | None:
    # The parser of the standard library takes almost any words; a weekday or "day month year" must lead.
    if not re.match(r"(?:[A-Za-z]{3},\s*)?\d{1,2}\s+[A-Za-z]{3}\s+\d{4}\s+\d{1,2}:\d{2}", text):
        return None
    return _placed(parsedate_to_datetime(text), timezone, TimeSource.GIVEN)


def _shown(value: object) -> str:
    if isinstance(value, int) and value.bit_length() > 256:  # Python refuses to print very long numbers
        return f"a number of {value.bit_length()} bits"
    return repr(value) if len(repr(value)) <= 60 else repr(value)[:57] + "..."


def _refused(value: object) -> InvalidInput:
    return InvalidInput(f"cannot read the time {_shown(value)}; {ACCEPTED}")

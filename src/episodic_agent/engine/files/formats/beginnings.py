"""When a recording began: captions count from there, and have no day of their own.

The head of a file says it, else its name, else its folder's. Read are `2026-03-04T14:30:00+01:00`, and days
as `2026-03-04`, `20260304` or `04.03.2026` with a clock behind them as `14.30`, `143012` or `2_30 PM`: so
people write, and so recordings are named by Zoom (`GMT20260304-143012_Recording`), Teams
(`Weekly-20260304_143012-Meeting Recording`) and Meet (`Weekly (2026-03-04 at 14_30 GMT+1)`).
"""

import os
import re
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta, timezone, tzinfo
from pathlib import PurePath
from typing import Final

from episodic_agent.engine.files.dates import DateOrder, date_order, written_date
from episodic_agent.engine.files.options import ReadingOptions
from episodic_agent.schemas import TimeSource

_SUFFIXES: Final = frozenset((".gz", ".vtt", ".srt", ".txt"))
_ISO: Final = re.compile(
    r"\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:\d\d)?(?![\d:])", re.ASCII
)
_DAY: Final = re.compile(
    r"(GMT|UTC)?(?<!\d)((?:19|20)\d\d)([-_./]?)(0[1-9]|1[0-2])\3([0-2]\d|3[01])(?=\d{6}(?!\d)|\D|$)", re.ASCII
)
_CLOCK: Final = re.compile(
    r"[^\d\n]{0,5}(\d{1,2})[-_.:h]?([0-5]\d)(?:[-_.:]?([0-5]\d))?(?!\d)(?:[\s_]?([AaPp])\.?[Mm]\b)?"
    r"(?:[\s_]?(Z|GMT|UTC)(?![A-Za-z])(?:([+-])(\d{1,2})(?:[:_]?([0-5]\d))?)?)?",
    re.ASCII,
)


@dataclass(frozen=True, slots=True)
class RecordingStart:
    """When a recording began, without a zone where none is written, and what its chat is called.

    `source` tells a day without a clock, whose midnight is no time of day.
    """

    at: datetime
    source: TimeSource
    title: str


def beginning_of(path: str, head: Sequence[str], reading: ReadingOptions) -> RecordingStart | None:
    """Find when a file's recording began: as is given, else by its head, its name, its folder's name."""
    file = PurePath(os.path.abspath(path))  # its folder may be the one we stand in
    while file.suffix.lower() in _SUFFIXES:
        file = file.with_suffix("")
    called, folder = file.name, file.parent.name
    if (moment := reading.began) is not None:
        at = moment.lived.replace(tzinfo=None) if moment.local else moment.lived
        return RecordingStart(at, moment.source, _dated(called, at))
    for line in head:
        if (written := written_beginning(line, reading)) is not None:
            return RecordingStart(*written, _dated(called, written[0]))
    for title in (called, folder):
        if (written := written_beginning(title, reading)) is not None:
            return RecordingStart(*written, title)
    return None


def _dated(name: str, at: datetime) -> str:
    """Call a recording by its file's name, with the day where that does not say it: meetings come back."""
    return name if _DAY.search(name) or written_date(name) else f"{name} {at:%Y-%m-%d}"


def written_beginning(text: str, reading: ReadingOptions) -> tuple[datetime, TimeSource] | None:
    """Find a day in a text, with the clock behind it; None where there is none.

    >>> written_beginning("Weekly (2026-03-04 at 14_30 GMT+1)", ReadingOptions())[0].isoformat()
    '2026-03-04T14:30:00+01:00'
    >>> written_beginning("04.03.2026 Weekly", ReadingOptions())[1].value
    'date_only'
    """
    iso = _ISO.search(text)
    if iso is not None:
        with suppress(ValueError):
            return datetime.fromisoformat(iso[0]), TimeSource.GIVEN
    for match in _DAY.finditer(text):
        with suppress(ValueError):
            day = date(int(match[2]), int(match[4]), int(match[5]))
            return _at(day, text[match.end() :], UTC if match[1] else None)
    written = written_date(text)
    if written is None:
        return None
    chosen = date_order([written[0]])
    order = reading.dates or (chosen.order if chosen is not None else DateOrder.YMD)
    numeric = written[0].read(order)
    if numeric is None:
        return None
    if chosen is not None and reading.dates is None:
        reading.notes.remarks[chosen.remark] += 1
    return _at(numeric, written[2], None)


def _at(day: date, after: str, zone: tzinfo | None) -> tuple[datetime, TimeSource]:
    """Read the clock behind a day; a day without one begins at its midnight."""
    match = _CLOCK.match(after)
    if match is not None:
        hour, half = int(match[1]), (match[4] or "").lower()
        if half and 1 <= hour <= 12:
            hour = hour % 12 + (12 if half == "p" else 0)
        with suppress(ValueError):  # 25:00, or a zone as far off
            if match[5]:
                offset = timedelta(hours=int(match[7] or 0), minutes=int(match[8] or 0))
                zone = timezone(-offset if match[6] == "-" else offset)
            clock = time(hour, int(match[2]), int(match[3] or 0))
            return datetime.combine(day, clock, zone), TimeSource.GIVEN
    return datetime.combine(day, time(), zone), TimeSource.DATE_ONLY

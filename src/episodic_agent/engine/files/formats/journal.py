"""A journal in Markdown: each dated heading (`## 2026-09-03`, `# Sunday, 3 September 2026`) begins an entry.

An entry is what the user wrote on that day. It is named by its day, so that one that has grown since takes
the place of what it was. Tried on journals written by hand.
"""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from pathlib import PurePath
from typing import Final

from episodic_agent.core.ingest.times import read_clock
from episodic_agent.engine.files.dates import DateOrder, date_order, day_in_words, written_date
from episodic_agent.engine.files.formats.glimpse import Glimpse
from episodic_agent.engine.files.formats.speaking import Chat, Records, joined, speak
from episodic_agent.engine.files.opening import Opened, Unreadable, excerpt, lines
from episodic_agent.engine.files.options import ReadingOptions
from episodic_agent.showing import visible

_HEADING: Final = re.compile(r"#{1,6}\s+(?P<words>\S.*?)[\s#]*")
_WEEKDAY: Final = re.compile(r"[^\W\d_]{2,12}\.?,?\s+(?=\S)")
_CLOCK: Final = re.compile(r"\d{1,2}[:.]\d{2}(?!\d)")
_SPOKEN: Final = re.compile(r"[\s>*_-]*([^\W\d_][\w .'’-]{0,30}[*_]*)\s*:[*_]*\s+\S")
_SHOWN: Final = 3  # names a remark lists
_TITLE: Final = 60  # characters that may stand behind the date


@dataclass(slots=True)
class _Entry:
    line: int
    day: date
    title: str
    more: list[str] = field(default_factory=list)


def fits(seen: Glimpse) -> bool:
    """Tell a journal by its headings: one is dated, and none before it is more than a title."""
    plain = [line for line in seen.text.splitlines() if line.strip()]
    dated = [n for n, line in enumerate(plain) if _dated(line, DateOrder.DMY) or _dated(line, DateOrder.MDY)]
    return bool(dated) and all(_HEADING.fullmatch(line) for line in plain[: dated[0]])


def read(opened: Opened, reading: ReadingOptions) -> Records:
    """Give the entries of a journal in the order of their days; it is held, as some begin with the newest."""
    order = reading.dates or _order(opened)
    name = PurePath(str(opened.path)).stem
    chat = Chat(f"journal-{name}", name, "journal")
    entries: list[_Entry] = []
    for record in lines(opened):
        if isinstance(record, Unreadable):
            yield record
            continue
        number, line = record
        begun = _dated(line, order)
        if begun is not None:
            entries.append(_Entry(number, *begun))
        elif entries:
            entries[-1].more.append(line)
    speakers = [name for entry in entries for name in _speakers(entry.more)]
    if speakers:
        names = ", ".join(map(visible, [*dict.fromkeys(speakers)][:_SHOWN]))
        reading.notes.remarks[
            f"{reading.file}: its lines begin as if several spoke ({names}), yet a journal is all the user's "
            "own words; give talk as `[2026-10-12 09:00] Name: text` lines"
        ] += 1
    of_day: Counter[date] = Counter()
    for entry in sorted(entries, key=lambda one: one.day):
        of_day[entry.day] += 1
        nth = of_day[entry.day]
        yield from _message(chat, entry, f"{entry.day}" + (f"/{nth}" if nth > 1 else ""), reading)


def _speakers(written: Sequence[str]) -> list[str]:
    """Return who speaks in an entry, if it is talk: half its lines begin with names, and some come again.

    What a journal asks itself every day ("Mood: good") comes once a day.

    >>> _speakers(["**Tom:** Tea?", "**Eva:** Yes", "- Tom: Now?"]), _speakers(["Mood: good", "Sleep: 7 h"])
    (['Tom', 'Eva'], [])
    """
    plain = [line for line in written if line.strip()]
    names = Counter(match[1].strip(" *_") for match in map(_SPOKEN.match, plain) if match)
    is_talk = len(names) > 1 and 2 * names.total() >= len(plain) and names.total() > len(names)
    return list(names) if is_talk else []


def _message(chat: Chat, entry: _Entry, identity: str, reading: ReadingOptions) -> Records:
    text = joined(entry.title, "\n".join(entry.more))
    clock = _CLOCK.match("\n".join(entry.more).lstrip())
    time = read_clock(clock[0]) if clock else None
    fields = {
        "role": reading.default_actor,
        "content": text,
        "timestamp": entry.day.isoformat() if time is None else datetime.combine(entry.day, time),
        "id": identity,
    }
    yield from speak(chat, fields, reading, entry.line, edited=excerpt(text))


def _dated(line: str, order: DateOrder) -> tuple[date, str] | None:
    """Return the day of a heading, and what stands behind it; None for any other line.

    >>> _dated("## Samstag, 3. Oktober 2026: Rad", DateOrder.DMY)
    (datetime.date(2026, 10, 3), 'Rad')
    >>> _dated("## [1.2.0] - 2026-10-03", DateOrder.DMY) is None
    True
    """
    heading = _HEADING.fullmatch(line.strip())
    if heading is None:
        return None
    words = heading["words"]
    weekday = _WEEKDAY.match(words)
    for text in (words, words[weekday.end() :] if weekday else ""):
        numbers = written_date(text)
        if numbers is not None and not numbers[1]:
            day, behind = numbers[0].read(order), numbers[2]
        else:
            day, behind = day_in_words(text, begins=True)
        if day is not None and len(behind) <= _TITLE:
            return day, behind.strip(" \t:–—-|,.()")
    return None


def _order(opened: Opened) -> DateOrder:
    """Find the order of numeric dates from all headings."""
    headings = (_HEADING.fullmatch(r[1].strip()) for r in lines(opened) if isinstance(r, tuple))
    written = (written_date(one["words"]) for one in headings if one is not None)
    chosen = date_order(one[0] for one in written if one is not None)
    return DateOrder.YMD if chosen is None else chosen.order

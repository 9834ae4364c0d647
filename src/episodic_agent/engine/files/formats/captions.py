"""Meetings as captions: WebVTT (`.vtt`), as Teams, Zoom and Meet write it, and SubRip (`.srt`).

Written after the WebVTT specification and public samples, not tried on a real meeting. A caption says who
speaks by a voice (`<v Ana Souza>`) or by a name before a colon; where names are written, one without goes on
with the speaker before. What somebody says in one go, over many captions, is one message, of when it began.

Captions count from the meeting's beginning, which is given (`began`) or written in the head of the file, else
its name, else its folder's. Read are `2026-03-04T14:30:00+01:00`, and days as `2026-03-04`, `20260304` or
`04.03.2026` with a clock behind them as `14.30`, `143012` or `2_30 PM`: so people write, and so Zoom
(`GMT20260304-143012_Recording`), Teams (`Weekly-20260304_143012-Meeting Recording`) and Meet (`Weekly
(2026-03-04 at 14_30 GMT+1)`) name recordings. A file that leaves the day open is reported with that remedy:
captions of today would be a lie.
"""

import html
import os
import re
import unicodedata
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time, timedelta, timezone, tzinfo
from itertools import pairwise
from pathlib import PurePath
from typing import Final

from episodic_agent.engine.files.dates import DateOrder, date_order, written_date
from episodic_agent.engine.files.formats.glimpse import Glimpse
from episodic_agent.engine.files.formats.speaking import Chat, Records, speak
from episodic_agent.engine.files.opening import Opened, Unreadable, excerpt, lines
from episodic_agent.engine.files.options import ReadingOptions
from episodic_agent.engine.files.transcript import opening_of
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


_STAMP: Final = r"(?:(\d{1,4}):)?(\d{1,2}):(\d{2})[.,](\d{1,3})"
_TIMES: Final = re.compile(rf"\s*{_STAMP}\s*-->\s*{_STAMP}(?:\s.*)?", re.ASCII)
_ARROW: Final = "-->"
_WEBVTT: Final = re.compile(r"\ufeff?WEBVTT(?:[ \t].*)?")
_SUBRIP: Final = re.compile(rf"\ufeff?\s*\d+[ \t]*\r?\n{_STAMP} *--> *{_STAMP}", re.ASCII)
_VOICE: Final = re.compile(r"<v(?:\.[^\s>]*)?(?:\s+([^>]*))?>")
_TAG: Final = re.compile(r"<[^<>]*>")
_NAMED: Final = re.compile(r"(?:>>\s*|[-–]\s+)?([^:：<>\n]{1,60}?)\s*(?::\s+|：\s*)(?=\S)")
_UNKNOWN: Final = "unknown"  # as other readers call somebody without a name
_MOST: Final = 0.75  # of the captions: where so many begin as with a name, all that do have one
_PAUSE: Final = timedelta(seconds=30)  # of silence, after which somebody begins anew
_LONG: Final = 1_500  # characters, a minute and a half: the next sentence is another message
_LONGEST: Final = 3_000  # and the next caption, where no sentence ends
_ENDS: Final = re.compile(r".*[.!?…。！？؟।][\"'»”)]?", re.DOTALL)


@dataclass(frozen=True, slots=True)
class _Caption:
    """A caption: the line of its times, from when to when it is shown, and its lines as they stand."""

    line: int
    start: timedelta
    end: timedelta
    rows: tuple[str, ...]


@dataclass(slots=True)
class _Utterance:
    """What one person says in one go, as it is collected."""

    line: int
    speaker: str
    start: timedelta
    end: timedelta
    text: str

    def goes_on(self, speaker: str, caption: _Caption) -> bool:
        """Tell whether a caption's words are of the same message."""
        if speaker != self.speaker or caption.start - self.end > _PAUSE:
            return False
        return len(self.text) < (_LONG if _ENDS.fullmatch(self.text) else _LONGEST)

    def take(self, text: str, caption: _Caption) -> None:
        """Add words; scripts that write no spaces get none."""
        between = "" if _is_dense(self.text[-1:]) and _is_dense(text[:1]) else " "
        self.text += between + text
        self.end = max(self.end, caption.end)


@dataclass(frozen=True, slots=True)
class _Speakers:
    """How a file names who speaks: by voices, else by the names that stand before a colon."""

    voiced: bool = False
    names: frozenset[str] = field(default_factory=frozenset)

    def turns(self, caption: _Caption) -> Iterator[tuple[str, str]]:
        """Yield (speaker, words) of a caption; "" for a speaker it does not name."""
        if self.voiced:
            before, *rest = _VOICE.split("\n".join(caption.rows))
            named = zip((_words(name or "") or _UNKNOWN for name in rest[::2]), rest[1::2], strict=True)
            turns = [("", _words(before)), *((name, _words(text)) for name, text in named)]
        else:
            turns = [self._row(_words(row)) for row in caption.rows]
        yield from (turn for turn in turns if turn[1])

    def _row(self, words: str) -> tuple[str, str]:
        named = _NAMED.match(words)
        if named is None or named[1] not in self.names:
            return "", words
        return named[1], words[named.end() :]


def fits(seen: Glimpse) -> bool:
    """Tell WebVTT by its first word, SubRip by its first number and times."""
    first = seen.text.partition("\n")[0].rstrip()
    return _WEBVTT.fullmatch(first) is not None or _SUBRIP.match(seen.text) is not None


def read(opened: Opened, reading: ReadingOptions) -> Records:
    """Stream a meeting's messages; who is a speaker is found from the whole file first."""
    speakers, head, many = _survey(opened)
    if not many:
        yield Unreadable(1, "no caption is in it, as 00:01:02.000 --> 00:01:05.000 above its words")
        return
    began = beginning_of(str(opened.path), head, reading)
    if began is None:
        yield Unreadable(
            1,
            "its times count from the meeting's beginning, and nothing says on which day that was; begin the "
            "file's name with it, as in 2026-03-04 14.30 Weekly.vtt, or pass --began",
        )
        return
    if not speakers.voiced and not speakers.names:
        reading.notes.remarks["captions that name no speaker: all is by somebody unknown"] += 1
    chat = Chat(None, began.title, "meeting")
    speech: _Utterance | None = None
    for caption in _captions(opened):
        if isinstance(caption, Unreadable):
            yield caption
            continue
        for name, text in speakers.turns(caption):
            before = speech.speaker if speech is not None and not speakers.voiced else _UNKNOWN
            speaker = name or before
            if speech is not None and speech.goes_on(speaker, caption):
                speech.take(text, caption)
                continue
            if speech is not None:
                yield from _message(chat, began, speech, reading)
            speech = _Utterance(caption.line, speaker, caption.start, caption.end, text)
    if speech is not None:
        yield from _message(chat, began, speech, reading)


def _message(chat: Chat, began: RecordingStart, speech: _Utterance, reading: ReadingOptions) -> Records:
    fields = {
        "speaker": speech.speaker,
        "content": speech.text,
        "timestamp": began.at + speech.start,
        "at_source": began.source,
    }
    yield from speak(chat, fields, reading, speech.line)


def _survey(opened: Opened) -> tuple[_Speakers, list[str], bool]:
    """Return who speaks in a file, the lines above its first caption, and whether it has any."""
    head: list[str] = []
    named: Counter[str] = Counter()
    many, voices = 0, False
    for block in _blocks(opened):
        if isinstance(block, Unreadable):
            continue
        if not many and not any(_ARROW in row for _, row in block):
            head += [row for _, row in block]
        for caption in _captions_of(block):
            if isinstance(caption, Unreadable):
                continue
            many += 1
            voices = voices or any(_VOICE.search(row) for row in caption.rows)
            match = _NAMED.match(_words(caption.rows[0])) if caption.rows else None
            if match is not None:
                named[match[1]] += 1
    names = {
        name
        for name, count in named.items()
        if count > 1 or _may_be_name(name, alone=named.total() >= _MOST * many)
    }
    return _Speakers(voices, frozenset(names)), head, many > 0


def _may_be_name(name: str, *, alone: bool) -> bool:
    """Tell whether what stands once before a colon is a speaker: a full name is, `alone` one word too.

    >>> _may_be_name("Ludwig van Aken", alone=False), _may_be_name("One more thing", alone=True)
    (True, False)
    """
    opening = opening_of(f"{name}: …")
    if opening is None or opening.time is not None:
        return False
    words = name.split()
    return (alone or len(words) > 1) and not (words[0][0].islower() or words[-1][0].islower())


def _captions(opened: Opened) -> Iterator[_Caption | Unreadable]:
    for block in _blocks(opened):
        if isinstance(block, Unreadable):
            yield block
        else:
            yield from _captions_of(block)


def _blocks(opened: Opened) -> Iterator[list[tuple[int, str]] | Unreadable]:
    """Yield the numbered lines between empty ones; of an endless block no more than a message may have."""
    block: list[tuple[int, str]] = []
    size = 0
    for entry in lines(opened):
        if isinstance(entry, Unreadable):
            yield entry
        elif entry[1].strip():
            size += len(entry[1])
            if size <= 2 * opened.limits.message:  # else the message is refused by its size
                block.append(entry)
        elif block:
            yield block
            block, size = [], 0
    if block:
        yield block


def _captions_of(block: list[tuple[int, str]]) -> Iterator[_Caption | Unreadable]:
    """Yield the captions of a block: one, or more where the lines between them are missing; no notes."""
    heads = [n for n, (_, row) in enumerate(block) if _ARROW in row]
    for place, after in pairwise([*heads, len(block)]):
        line, row = block[place]
        times = _TIMES.fullmatch(row)
        if times is None:
            yield Unreadable(line, "this is no time of a caption", excerpt(row))
            continue
        rows = [text for _, text in block[place + 1 : after]]
        if after < len(block) and rows and rows[-1].strip().isdigit():
            rows.pop()  # the number of the next
        parts = times.groups()
        yield _Caption(line, _time(*parts[:4]), _time(*parts[4:]), tuple(rows))


def _time(hours: str | None, minutes: str, seconds: str, parts: str) -> timedelta:
    return timedelta(
        hours=int(hours or 0),
        minutes=int(minutes),
        seconds=int(seconds),
        milliseconds=int(parts.ljust(3, "0")),
    )


def _words(text: str) -> str:
    """Return words without marks, on one line.

    >>> _words("<i>Tea</i> &amp;\\n<00:00:01.000>coffee")
    'Tea & coffee'
    """
    return " ".join(html.unescape(_TAG.sub("", text)).split())


def _is_dense(character: str) -> bool:
    """Tell whether a character is of a script that writes no spaces between words.

    >>> _is_dense("茶"), _is_dense("차"), _is_dense("t")
    (True, False, False)
    """
    if not character or unicodedata.east_asian_width(character) not in "WF":
        return False
    return not unicodedata.name(character, "").startswith("HANGUL")

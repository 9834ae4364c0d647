"""Plain transcripts: `[time] Name: text`, `Name: text` and their common cousins, over several lines.

A line opens a message when it begins with a time (`[time] Name: text`, `time - Name: text`, `[time] <name>
text`, `Name [time]: text`) or, in a transcript without times, with a name of at most four words and a colon.
In a transcript with times a line without one opens a message only for somebody who has spoken before; every
other line continues the message above it. A timed line without a name is a notice by "system".

Times: ISO, `2024-03-01 09:15`, `03/01/2024, 9:15 AM`, `1.3.2024 09:15`, `1 March 2024 9:15`. The order of day
and month is found from all dates of the file (`dates`), or given. A clock without a date (`[09:14]`) gives no
event time.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import date, tzinfo
from typing import Final

from episodic_agent.core.ingest import Item, Moment, read_item, read_time, too_large
from episodic_agent.core.ingest.times import place, read_clock
from episodic_agent.engine.files.dates import DateOrder, WrittenDate
from episodic_agent.engine.files.opening import MARK, Opened, Unreadable, excerpt, raw_lines, undecodable
from episodic_agent.errors import InvalidInput

_NAME: Final = r"(?P<name>[^:<>\[\]\n]{1,60}?)"
_SAYS: Final = rf"(?:<(?P<nick>[^>\n]{{1,60}})>|{_NAME}:(?=\s|$))\s*(?P<text>.*)"
_CLOCK: Final = r"\d{1,2}:\d{2}(?::\d{2})?(?:[.,]\d+)?(?:\s?[AaPp]\.?[Mm]\.?)?"
_DAY: Final = r"\d{1,4}[/.-]\d{1,2}[/.-]\d{1,4}"
_BARE: Final = rf"(?:{_DAY}(?:,?[T ]\s*{_CLOCK}(?:Z|\s?[+-]\d\d:?\d\d)?)?|{_CLOCK})"
_OPENINGS: Final = tuple(
    re.compile(pattern, re.DOTALL)
    for pattern in (
        rf"[\[(](?P<time>[^\])\n]{{3,40}})[\])]\s*(?:{_SAYS}|(?P<notice>.*))",
        rf"(?P<time>{_BARE})\s+(?:[-–—|]\s+)?{_SAYS}",
        rf"(?P<time>{_BARE})\s+[-–—|]\s+(?P<notice>.*)",
        rf"{_NAME}\s*[\[(](?P<time>[^\])\n]{{3,40}})[\])]\s*:(?=\s|$)\s*(?P<text>.*)",
    )
)
_SPOKEN: Final = re.compile(rf"{_NAME}:(?=\s|$)\s*(?P<text>.*)", re.DOTALL)
_NUMERIC: Final = re.compile(rf"(\d{{1,2}})([/.-])(\d{{1,2}})\2(\d{{1,2}}|\d{{4}})(?:,?\s+({_CLOCK}))?")
_YEAR_FIRST: Final = re.compile(rf"(\d{{4}})[/.](\d{{1,2}})[/.](\d{{1,2}})(?:,?\s+({_CLOCK}))?")
_LONGEST_NAME: Final = 8  # words, of a room or a company too
_INVISIBLE: Final = re.compile("[\u200e\u200f\u202a-\u202e\ufeff]")
_ROLES: Final = frozenset({"user", "assistant", "system", "tool"})
# Words before a colon that introduce a remark, not a speaker.
_NO_NAMES: Final = frozenset(
    {"note", "nb", "ps", "p.s", "p.s.", "todo", "tip", "edit", "warning", "http", "https"}
)


@dataclass(frozen=True, slots=True)
class Style:
    """The order of this file's numeric dates, and the zone its naive times are in (None: UTC)."""

    order: DateOrder = DateOrder.MDY
    timezone: tzinfo | None = None


@dataclass(frozen=True, slots=True)
class MessageOpening:
    """A line that opens a message: its written time (None without one), the speaker and the first words."""

    time: str | None
    name: str
    text: str


@dataclass(slots=True)
class _WrittenMessage:
    """A message being collected; `moment` None: no event time; `lost` tells why it cannot be read."""

    line: int
    opening: MessageOpening
    moment: Moment | None = None
    lost: str = ""
    length: int = 0
    more: list[str] = field(default_factory=list)


def read_transcript(opened: Opened, style: Style) -> Iterator[Item | Unreadable]:
    """Stream a transcript's messages; lines before the first one are reported once."""
    message: _WrittenMessage | None = None
    timed = opens_with_message(opened.sample, timed=True)
    speakers: set[str] = set()
    stray = False
    for number, line in raw_lines(opened):
        if isinstance(line, Unreadable):
            yield line
            continue
        opening = opening_of(line, speakers if timed else None)
        if opening is not None:
            if message is not None:
                yield _item(message, opened.limits.message)
            message = _begin(number, opening, style, opened.encoding)
            speakers.add(opening.name)
        elif MARK in line:
            yield Unreadable(number, undecodable(opened.encoding), excerpt(line))
        elif message is not None:
            _continue(message, line, opened.limits.message)
        elif line.strip() and not stray:
            stray = True
            yield Unreadable(number, "this line comes before the first `Name: text`", excerpt(line))
    if message is not None:
        yield _item(message, opened.limits.message)


def opening_of(line: str, speakers: Iterable[str] | None = None) -> MessageOpening | None:
    """Read a line as the opening of a message; None when it is a continuation.

    `speakers` are those who may speak without a time (a timed transcript); None lets any plausible name.

    >>> opening_of("[2024-03-01 09:15] Ana: Morning!")
    MessageOpening(time='2024-03-01 09:15', name='Ana', text='Morning!')
    >>> opening_of("Bruno: hello", speakers=["Ana"]) is None
    True
    """
    line = _INVISIBLE.sub("", line).replace("\u202f", " ").replace("\xa0", " ").strip()
    for pattern in _OPENINGS:
        match = pattern.fullmatch(line)
        if match is not None and _may_be_time(match["time"]) and not _is_sentence(match.groupdict()):
            return _opening(match.groupdict())
    match = _SPOKEN.fullmatch(line)
    if match is None:
        return None
    name = _role_or_name(match["name"])
    if not (_plausible(name) if speakers is None else name in speakers):
        return None
    return MessageOpening(None, name, match["text"])


def opens_with_message(text: str, *, timed: bool) -> bool:
    """Tell whether a file that begins so is a transcript: a timed line near its top, or a first `Name: text`.

    >>> opens_with_message("Ana: hi", timed=False), opens_with_message("id,role,content", timed=False)
    (True, False)
    """
    top = [line for line in text.splitlines() if line.strip()][:20]
    openings = [opening_of(line) for line in (top if timed else top[:1])]
    return any(o is not None and (o.time is not None or not timed) for o in openings)


def numeric_dates(lines: Iterable[str]) -> Iterator[WrittenDate]:
    """Yield the dates of lines that open with one like 03/01/2024, whose day must be told from its month.

    >>> [date.numbers for date in numeric_dates(["[03/01/2024, 9:15 AM] Ana: hi", "[9:15] Ana: hi"])]
    [('03', '01', '2024')]
    """
    for line in lines:
        opening = opening_of(line, ())
        match = _NUMERIC.fullmatch(opening.time.strip()) if opening and opening.time else None
        if match is not None and not (match[2] == "." and len(match[4]) == 4):
            yield WrittenDate((match[1], match[3], match[4]), match[2])


def read_when(text: str, style: Style) -> Moment | None:
    """Read a written time; None for a clock without a date; raises InvalidInput for what cannot be.

    >>> read_when("03/01/2024, 9:15 AM", Style()).at.isoformat()
    '2024-03-01T09:15:00+00:00'
    """
    text = text.strip()
    if read_clock(text) is not None:
        return None
    match = _NUMERIC.fullmatch(text)
    if match is not None:
        first, separator, second, year, clock = match.groups()
        dots = separator == "." and style.order is DateOrder.MDY
        day = WrittenDate((first, second, year), separator).read(DateOrder.DMY if dots else style.order)
        return _placed(day, clock, text, style)
    match = _YEAR_FIRST.fullmatch(text)
    if match is not None:
        day = WrittenDate((match[1], match[2], match[3]), "/").read(DateOrder.YMD)
        return _placed(day, match[4], text, style)
    return read_time(text.replace(", ", " ", 1) if text[:4].isdigit() else text, style.timezone)


def _placed(day: date | None, clock: str | None, text: str, style: Style) -> Moment:
    time = read_clock(clock) if clock else None
    if day is None or (clock and time is None):
        raise InvalidInput(f"cannot read the time {text!r}; accepted: 2024-03-01 09:15, 03/01/2024 9:15 AM")
    return place(day, time, style.timezone)


def _opening(groups: dict[str, str | None]) -> MessageOpening | None:
    name = _role_or_name(groups.get("nick") or groups.get("name") or "")
    if groups.get("notice") is not None:
        return MessageOpening(groups["time"], "system", groups["notice"] or "")
    return MessageOpening(groups["time"], name, groups.get("text") or "") if name else None


def _role_or_name(name: str) -> str:
    """Return a speaker's name; "User" and "ASSISTANT" are roles, whose case means nothing."""
    name = name.strip()
    return name.lower() if name.lower() in _ROLES else name


def _may_be_time(text: str) -> bool:
    """Tell a time, possible or not, from other words in brackets: it has digits and only time's letters."""
    if not re.search(r"\d", text) or not re.search(r"\d[:/.\-T ]\s?[\dA-Za-z]", text):
        return False
    words = re.findall(r"[A-Za-z]{4,}", text)
    months = ("janu", "febr", "marc", "apri", "june", "july", "augu", "sept", "octo", "nove", "dece")
    days = ("mond", "tues", "wedn", "thur", "frid", "satu", "sund")
    return all(word.lower()[:4] in (*months, *days) for word in words)


def _is_sentence(groups: Mapping[str, str | None]) -> bool:
    """Tell words before a colon that are no name, but what is said: they have a sentence's marks.

    >>> [_is_sentence({"name": name}) for name in ("Never mind. The first meal", "Dr. Ana Lind")]
    [True, False]
    """
    name = groups.get("name") or ""
    return len(name.split()) > _LONGEST_NAME or re.search(r"[!?;]|\w{4}\.\s", name) is not None


def _plausible(name: str) -> bool:
    """Tell a speaker's name from a phrase that happens to end in a colon."""
    if not name or len(name) > 40 or len(name.split()) > 4 or name.lower() in _NO_NAMES:
        return False
    return name[0].isalpha() and not re.search(r"[!?;,\"=(){}/\\]|\.\s|\w\.\w{3}", name)


def _begin(number: int, opening: MessageOpening, style: Style, encoding: str) -> _WrittenMessage:
    message = _WrittenMessage(number, opening)
    if MARK in opening.text or MARK in opening.name or MARK in (opening.time or ""):
        message.lost = undecodable(encoding)
        return message
    try:
        message.moment = read_when(opening.time, style) if opening.time else None
    except InvalidInput as error:
        message.lost = str(error)
    return message


def _continue(message: _WrittenMessage, line: str, largest: int) -> None:
    message.length += len(line) + 1
    if message.length <= largest:
        message.more.append(line.rstrip())
    else:
        message.lost, message.more = too_large("the text", f"at least {message.length:,}", largest), []


def _item(message: _WrittenMessage, largest: int) -> Item | Unreadable:
    opening = message.opening
    shown = excerpt(f"{opening.name}: {opening.text}")
    if message.lost:
        return Unreadable(message.line, message.lost, shown)
    text = "\n".join([opening.text, *message.more]).strip()
    try:
        item = read_item({"speaker": opening.name, "content": text}, largest=largest)
    except InvalidInput as error:
        return Unreadable(message.line, str(error), shown)
    if message.moment is None:
        return item
    at = message.moment
    return replace(item, at=at.at, at_source=at.source, utc_offset=at.utc_offset, local=at.local)

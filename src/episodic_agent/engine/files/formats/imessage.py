"""Messages of iOS and macOS as imessage-exporter writes them as text (`-f txt`), a file a chat.

Written after its versions 1 to 3, not tried on an export. A message is a line with its time, a line with its
sender, then its words; "Me" is the user. Answers stand twice, indented below what they answer and in their
own place: those in their place are read. Reactions, effects and notices of the chat are left out. Times are
the exporting machine's, without a zone.
"""

import re
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import PurePath
from typing import Final

from episodic_agent.engine.files.formats.glimpse import Glimpse
from episodic_agent.engine.files.formats.speaking import Chat, Records, joined, note, speak
from episodic_agent.engine.files.opening import Opened, Unreadable, excerpt, lines
from episodic_agent.engine.files.options import ReadingOptions

_TIME: Final = re.compile(
    r"([A-Z][a-z]{2} \d{2}, \d{4}\s+\d{1,2}:\d{2}:\d{2} [AP]M)(?: \((?:Read|Unread).*\))?"
)
_NOTICE: Final = re.compile(r"[A-Z][a-z]{2} \d{2}, \d{4}\s+\d{1,2}:\d{2}:\d{2} [AP]M \S")
_REACTIONS: Final = re.compile(r"(?:Tapbacks|Reactions):")
_ASIDE: Final = re.compile(
    r"This message responded to an earlier message\.|Sent with [A-Z][a-z ]+|Edited .* later: "
)
_ATTACHED: Final = re.compile(r"(?:[~/]|attachments/)\S.*/([^/]+\.\w{2,5})")
_OWNER: Final = "Me"
_STAMP: Final = "%b %d, %Y %I:%M:%S %p"


@dataclass(slots=True)
class _TextMessage:
    line: int
    at: str
    sender: str | None = None
    words: list[str] = field(default_factory=list)
    ended: bool = False  # what follows tells of reactions


def fits(seen: Glimpse) -> bool:
    """Tell an export by its first two lines: a time as the exporter writes it, and no words beside it."""
    first = [line for line in seen.text.lstrip("\ufeff").splitlines() if line.strip()][:2]
    return len(first) == 2 and bool(_TIME.fullmatch(first[0].rstrip()) or _NOTICE.match(first[0]))


def read(opened: Opened, reading: ReadingOptions) -> Records:
    """Stream a chat's messages."""
    title = PurePath(str(opened.path)).stem
    chat = Chat(None, title, "imessage")  # the file has no id of it, and may be renamed
    message: _TextMessage | None = None
    for entry in lines(opened):
        if isinstance(entry, Unreadable):
            yield entry
            continue
        number, line = entry[0], entry[1].rstrip()
        stamp = _TIME.fullmatch(line)
        if stamp is None and not _NOTICE.match(line):
            if message is not None:
                _take(message, line)
            continue
        if message is not None:
            yield from _spoken(chat, message, reading)
        message = None if stamp is None else _TextMessage(number, " ".join(stamp[1].split()))
        if stamp is None:
            reading.leave_out("notice")
    if message is not None:
        yield from _spoken(chat, message, reading)


def _take(message: _TextMessage, line: str) -> None:
    """Add a line to a message; an answer below it is indented and comes again in its own place."""
    if message.sender is None:
        message.sender = line.strip()
    elif _REACTIONS.fullmatch(line):
        message.ended = True
    elif not line:
        message.ended = False
        message.words.append("")
    elif not message.ended and not line.startswith("    ") and not _ASIDE.fullmatch(line):
        file = _ATTACHED.fullmatch(line)
        message.words.append(line if file is None else note("file", file[1]))


def _spoken(chat: Chat, message: _TextMessage, reading: ReadingOptions) -> Records:
    content = joined("\n".join(message.words))
    try:  # without a zone: `speak` places it in that of the options
        at = datetime.strptime(message.at, _STAMP).isoformat()
    except ValueError:
        yield Unreadable(message.line, f"{message.at} is no date", excerpt(content))
        return
    who = {"role": "user"} if message.sender == _OWNER else {"speaker": message.sender or "unknown"}
    yield from speak(chat, {**who, "content": content, "timestamp": at}, reading, message.line)

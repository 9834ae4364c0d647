"""Signal's chats as signal-export writes them: a folder a chat, in it `data.json`, a message a line.

Written after signal-export 3, not tried on an export. Beside it lies the same as a page, `chat.md`, which is
read where it lies alone. The folder's name is the chat's. "Me" is the person
whose device it was, so the user. Times are the exporting machine's, without a zone. Signal's own backups are
encrypted and are not read.
"""

import os
import re
from pathlib import PurePath
from typing import Final

from episodic_agent.engine.files.formats.glimpse import Glimpse
from episodic_agent.engine.files.formats.speaking import Chat, Records, joined, note, speak
from episodic_agent.engine.files.formats.walking import Fields, documents, list_of, mapping_of, text_of
from episodic_agent.engine.files.opening import Opened, Unreadable, lines
from episodic_agent.engine.files.options import ReadingOptions

_PAGE: Final = "chat.md"
_OWNER: Final = "Me"
_HEAD: Final = re.compile(r"\[(\d{4}-\d\d-\d\d \d\d:\d\d(?::\d\d)?)\] ([^:\n]{1,80}): ?(.*)")
_REACTIONS: Final = re.compile(r"\(- .+: .+ -\)")
_FILE: Final = re.compile(r"!?\[([^\]\n]*)\]\(\./media/[^\n]*?\)(?=\s|$|!?\[)")
_STAMP: Final = re.compile(r"^\d{4}(?:-\d\d){5}_\d+_")  # what the exporter puts before a file's name
_DELETED: Final = "(This message was deleted)"


def fits(seen: Glimpse) -> bool:
    """Tell a message of the exporter by its fields."""
    return {"date", "sender", "body", "quote", "reactions", "attachments"} <= seen.paths


def read(opened: Opened, reading: ReadingOptions) -> Records:
    """Stream a chat's messages."""
    chat = _chat_of(opened)
    for record in documents(opened):
        if isinstance(record, Unreadable):
            yield record
        else:
            yield from _message(chat, mapping_of(record.value), reading, record.line)


def _chat_of(opened: Opened) -> Chat:
    name = PurePath(os.path.abspath(str(opened.path))).parent.name
    return Chat(f"signal-{name}" if name else None, name or None, "signal")


def _who(sender: str) -> dict[str, str]:
    return {"role": "user"} if sender == _OWNER else {"speaker": sender or "unknown"}


def _message(chat: Chat, message: Fields, reading: ReadingOptions, line: int) -> Records:
    if message.get("deleted") or message.get("call"):
        reading.leave_out("notice")
        return
    sender = text_of(message.get("sender")).strip()
    attached = [note("file", part.get("name")) for part in list_of(message.get("attachments"))]
    sticker = mapping_of(message.get("sticker"))
    if sticker:
        attached.append(note("sticker", sticker.get("emoji")))
    who = _who(sender)
    content = joined(text_of(message.get("body")), *attached)
    yield from speak(chat, {**who, "content": content, "timestamp": message.get("date")}, reading, line)


def is_page(name: str) -> bool:
    """Tell the page of a chat by its name."""
    return PurePath(name).name == _PAGE


def fits_page(seen: Glimpse) -> bool:
    """Tell the exporter's page of a chat by its name and its first line."""
    return is_page(seen.name) and _HEAD.match(seen.text) is not None


def read_page(opened: Opened, reading: ReadingOptions) -> Records:
    """Stream a chat's messages from its page, in the words and with the ids that `data.json` gives them."""
    chat = _chat_of(opened)
    head, held = (1, "", ""), list[str]()
    for record in lines(opened):
        if isinstance(record, Unreadable):
            yield record
            continue
        number, line = record
        begun = _HEAD.match(line)
        if begun is None:
            held.append(line)
            continue
        yield from _page_message(chat, head, held, reading)
        head, held = (number, begun[1], begun[2]), [begun[3]]
    yield from _page_message(chat, head, held, reading)


def _page_message(
    chat: Chat, head: tuple[int, str, str], held: list[str], reading: ReadingOptions
) -> Records:
    number, at, sender = head
    if not at:
        return
    body, *below = held
    if body.strip() == _DELETED:
        reading.leave_out("notice")
        return
    quoting = not body.strip() and any(below) and below[0].startswith("> ")
    words = [line for line in below if not _REACTIONS.fullmatch(line) and not (quoting and line[:1] == ">")]
    page = "\n".join([body, *words])
    files = [note("file", _STAMP.sub("", match[1])) for match in _FILE.finditer(page)]
    who = _who(sender)
    fields = {**who, "content": joined(_FILE.sub("", page), *files), "timestamp": at}
    yield from speak(chat, fields, reading, number)

"""Signal's chats as signal-export writes them: a folder a chat, in it `data.json`, a message a line.

Written after signal-export 3, not tried on an export. The folder's name is the chat's. "Me" is the person
whose device it was, so the user. Times are the exporting machine's, without a zone. Signal's own backups are
encrypted and are not read.
"""

from pathlib import PurePath
from typing import Final

from episodic_agent.engine.files.formats.glimpse import Glimpse
from episodic_agent.engine.files.formats.speaking import Chat, Records, joined, note, speak
from episodic_agent.engine.files.formats.walking import Fields, documents, list_of, mapping_of, text_of
from episodic_agent.engine.files.opening import Opened, Unreadable
from episodic_agent.engine.files.options import ReadingOptions

_OWNER: Final = "Me"


def fits(seen: Glimpse) -> bool:
    """Tell a message of the exporter by its fields."""
    return {"date", "sender", "body", "quote", "reactions", "attachments"} <= seen.paths


def read(opened: Opened, reading: ReadingOptions) -> Records:
    """Stream a chat's messages."""
    name = PurePath(str(opened.path)).parent.name
    chat = Chat(f"signal-{name}" if name else None, name or None, "signal")
    for record in documents(opened):
        if isinstance(record, Unreadable):
            yield record
        else:
            yield from _message(chat, mapping_of(record.value), reading, record.line)


def _message(chat: Chat, message: Fields, reading: ReadingOptions, line: int) -> Records:
    if message.get("deleted") or message.get("call"):
        reading.leave_out("notice")
        return
    sender = text_of(message.get("sender")).strip()
    attached = [note("file", part.get("name")) for part in list_of(message.get("attachments"))]
    sticker = mapping_of(message.get("sticker"))
    if sticker:
        attached.append(note("sticker", sticker.get("emoji")))
    who = {"role": "user"} if sender == _OWNER else {"speaker": sender or "unknown"}
    content = joined(text_of(message.get("body")), *attached)
    yield from speak(chat, {**who, "content": content, "timestamp": message.get("date")}, reading, line)

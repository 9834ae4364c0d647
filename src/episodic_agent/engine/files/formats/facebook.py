"""Messages of Facebook and Instagram, as "Download your information" gives them in JSON: a file of one chat.

Written after public descriptions and examples, not tried on an export of one's own. Messages come newest
first. Each byte of UTF-8 is written as a letter ("Ã¼" for "ü"). What was end-to-end encrypted is exported
apart, with other names for the same fields.
"""

from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import PurePath
from typing import Final

from episodic_agent.engine.files.formats.glimpse import Glimpse
from episodic_agent.engine.files.formats.speaking import Chat, Records, joined, note, speak
from episodic_agent.engine.files.formats.walking import Fields, documents, list_of, mapping_of, text_of
from episodic_agent.engine.files.opening import Opened, Unreadable
from episodic_agent.engine.files.options import ReadingOptions

_ATTACHED: Final = {
    "photos": "photo", "videos": "video", "gifs": "gif", "audio_files": "audio", "files": "file",
    "media": "file",
}  # fmt: skip


def fits(seen: Glimpse) -> bool:
    """Tell a chat by what it calls its speakers and its times."""
    plain = {"messages[].sender_name", "messages[].timestamp_ms"}
    return plain <= seen.paths or {"messages[].senderName", "messages[].timestamp"} <= seen.paths


def read(opened: Opened, reading: ReadingOptions) -> Records:
    """Give the messages of a chat, oldest first; the chat is held, as its name may stand at its end."""
    for record in documents(opened):
        if isinstance(record, Unreadable):
            yield record
            continue
        value = mapping_of(record.value)
        chat = _chat(value)
        messages = list_of(value.get("messages"))
        for message in sorted(messages, key=_time):
            yield from _message(chat, message, reading, record.line)


def _chat(value: Fields) -> Chat:
    path = text_of(value.get("thread_path"))
    title = _letters(value.get("title")) or _letters(value.get("threadName")) or None
    people = sorted(
        _letters(one.get("name")) if isinstance(one, Mapping) else _letters(one)
        for one in listed(value.get("participants"))
    )
    identity = PurePath(path).name or text_of(value.get("threadName")) or "-".join(filter(None, people))
    return Chat(f"meta-{identity}" if identity else None, title, "meta")


def listed(value: object) -> list[object]:
    """Return a list as it is, an empty one for anything else."""
    return value if isinstance(value, list) else []


def _time(message: Fields) -> float:
    at = message.get("timestamp_ms", message.get("timestamp"))
    return float(at) if isinstance(at, int | float) else 0.0


def _message(chat: Chat, message: Fields, reading: ReadingOptions, line: int) -> Records:
    if message.get("is_unsent") or message.get("isUnsent") or "call_duration" in message:
        reading.leave_out("notice")
        return
    share = mapping_of(message.get("share"))
    text = joined(
        _letters(message.get("content")) or _letters(message.get("text")),
        _letters(share.get("link")),
        *_attached(message),
    )
    fields = {
        "speaker": _letters(message.get("sender_name")) or _letters(message.get("senderName")) or "unknown",
        "content": text,
        "timestamp": message.get("timestamp_ms", message.get("timestamp")),
    }
    yield from speak(chat, fields, reading, line)


def _attached(message: Fields) -> Iterator[str]:
    for key, kind in _ATTACHED.items():
        for part in list_of(message.get(key)):
            yield note(kind, PurePath(text_of(part.get("uri"))).name)
    if message.get("sticker"):
        yield note("sticker")


def _letters(value: object) -> str:
    """Return a text whose letters were written as the bytes of UTF-8; one that was not stays.

    >>> _letters("MÃ¼ller"), _letters("Müller")
    ('Müller', 'Müller')
    """
    text = text_of(value).strip()
    with suppress(UnicodeError):
        return text.encode("latin-1").decode("utf-8")
    return text

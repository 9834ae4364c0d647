"""A Discord channel as DiscordChatExporter writes it (`--format Json`).

Written after public type definitions of its JSON, not tried on a file of its. A file is one channel or
thread, its messages in order of time. Joins, pins, calls and the like are notices. Discord's own data
package holds only one's own messages, without those they answer, and is not read.
"""

import re
from typing import Final

from episodic_agent.engine.files.formats.glimpse import Glimpse
from episodic_agent.engine.files.formats.speaking import Chat, Records, joined, note, speak
from episodic_agent.engine.files.formats.walking import Fields, list_of, mapping_of, text_of, walk
from episodic_agent.engine.files.opening import Opened, Unreadable
from episodic_agent.engine.files.options import ReadingOptions

_SPOKEN: Final = frozenset(
    ("Default", "Reply", "ChatInputCommand", "ContextMenuCommand", "ThreadStarterMessage")
)
_EMOJI: Final = re.compile(r"<a?(:\w+:)\d+>")
_MENTION: Final = re.compile(r"<@!?(\d+)>")


def fits(seen: Glimpse) -> bool:
    """Tell the exporter's file by its head."""
    return {"guild", "channel"} <= seen.paths and ("messages" in seen.paths or "exportedAt" in seen.paths)


def read(opened: Opened, reading: ReadingOptions) -> Records:
    """Stream a channel's messages."""
    guild: Fields = {}
    chat = Chat(None, None, "discord")
    for met in walk(opened, {"messages[]"}):
        if isinstance(met, Unreadable):
            yield met
        elif met.path == "guild":
            guild = mapping_of(met.value)
        elif met.path == "channel":
            chat = _chat(guild, mapping_of(met.value))
        elif met.path == "messages[]":
            yield from _message(chat, mapping_of(met.value), reading, met.line)


def _chat(guild: Fields, channel: Fields) -> Chat:
    place, name = text_of(guild.get("name")), text_of(channel.get("name"))
    direct = text_of(channel.get("type")).startswith("Direct")
    title = name if direct or not name else f"{place} #{name}".strip()
    identity = channel.get("id")
    return Chat(f"discord-{identity}" if identity else None, title or None, "discord")


def _message(chat: Chat, message: Fields, reading: ReadingOptions, line: int) -> Records:
    if text_of(message.get("type")) not in _SPOKEN:
        reading.leave_out("notice")
        return
    author = mapping_of(message.get("author"))
    attached = [note("file", part.get("fileName")) for part in list_of(message.get("attachments"))]
    attached += [note("sticker", part.get("name")) for part in list_of(message.get("stickers"))]
    text = joined(_plain(text_of(message.get("content")), message), *attached)
    if not text:  # what a bot shows, or a page that was linked to
        text = joined(*(_embed(part) for part in list_of(message.get("embeds"))))
    fields = {
        "speaker": author.get("nickname") or author.get("name") or author.get("id"),
        "content": text,
        "timestamp": message.get("timestamp"),
        "id": message.get("id"),
        "reply_to": mapping_of(message.get("reference")).get("messageId"),
    }
    also = (author.get("name"), author.get("id"))
    yield from speak(chat, fields, reading, line, edited=message.get("timestampEdited"), also=also)


def _plain(text: str, message: Fields) -> str:
    names = {
        str(person.get("id")): str(person.get("nickname") or person.get("name") or "")
        for person in list_of(message.get("mentions"))
    }
    text = _MENTION.sub(lambda match: f"@{names.get(match[1], match[1])}", text)
    return _EMOJI.sub(r"\1", text)


def _embed(part: Fields) -> str:
    return joined(text_of(part.get("title")), text_of(part.get("description")))

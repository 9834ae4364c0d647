"""Telegram Desktop's export as JSON (`result.json`): one chat, or all of an account (`chats.list`).

Written after public descriptions of exports up to 2025, not tried on one. Calls, joins, pins and the like
are of the type `service`: they are notices. That of an account says whose it is (`personal_information`).
Times are seconds since 1970 (`date_unixtime`); older exports have a local clock alone.
"""

from collections.abc import Iterator
from typing import Final

from episodic_agent.engine.files.formats.glimpse import Glimpse
from episodic_agent.engine.files.formats.speaking import Chat, Records, joined, link, note, speak
from episodic_agent.engine.files.formats.walking import Fields, list_of, mapping_of, text_of, walk
from episodic_agent.engine.files.opening import Opened, Unreadable
from episodic_agent.engine.files.options import ReadingOptions

_LISTS: Final = ("chats", "left_chats")
_ENTERED: Final = {
    "messages[]",
    *(path for name in _LISTS for path in (name, f"{name}.list[]", f"{name}.list[].messages[]")),
}
_DELETED: Final = "Deleted Account"
_SAVED: Final = "Saved Messages"


def fits(seen: Glimpse) -> bool:
    """Tell an export of one chat by its head and its messages, one of an account by its list of chats."""
    if (
        "chats.list[].messages[].from_id" in seen.paths
        or "chats.list[].messages[].date_unixtime" in seen.paths
    ):
        return True
    if {"chats", "personal_information"} <= seen.paths:
        return True
    return {"type", "id"} <= seen.paths and (
        {"messages[].from_id"} <= seen.paths or {"messages[].date_unixtime"} <= seen.paths
    )


def read(opened: Opened, reading: ReadingOptions) -> Records:
    """Stream the messages of a chat, or of one chat after the other."""
    head: dict[str, object] = {}
    owner = ""
    for met in walk(opened, _ENTERED):
        if isinstance(met, Unreadable):
            yield met
        elif met.path.endswith("messages[]"):
            yield from _message(_chat(head), mapping_of(met.value), reading, met.line, owner)
        elif met.path.endswith("list[]"):
            head = {}
        elif met.path == "personal_information":
            owner = f"user{mapping_of(met.value).get('user_id')}"
        else:
            head[met.path.rpartition(".")[2]] = met.value


def _chat(head: Fields) -> Chat:
    identity = head.get("id")
    title = text_of(head.get("name")).strip() or (_SAVED if head.get("type") == "saved_messages" else "")
    return Chat(f"telegram-{identity}" if identity else None, title or None, "telegram")


def _message(chat: Chat, message: Fields, reading: ReadingOptions, line: int, owner: str) -> Records:
    if message.get("type") != "message":
        reading.leave_out("notice")
        return
    fields = {
        "speaker": message.get("from") or message.get("actor") or _DELETED,
        "content": joined(*_forwarded(message), _text(message.get("text")), *_attached(message)),
        "timestamp": message.get("date_unixtime") or message.get("date"),
        "id": message.get("id"),
        "reply_to": message.get("reply_to_message_id"),
        "forwarded_from": message.get("forwarded_from"),
    }
    edited = message.get("edited_unixtime") or message.get("edited")
    who = message.get("from_id")
    yield from speak(chat, fields, reading, line, edited=edited, also=(who,), own=who == owner)


def _forwarded(message: Fields) -> Iterator[str]:
    """Say from whom a message was forwarded: its words are not those of who sent it on."""
    if "forwarded_from" in message or "forwarded_from_id" in message:
        yield note("forwarded from", message.get("forwarded_from") or _DELETED)


def _poll(poll: Fields) -> str:
    """Return a poll's question with its answers, and how many chose each.

    >>> _poll({"question": "When?", "answers": [{"text": "May", "voters": 2}, {"text": "June", "voters": 1}]})
    'When? May (2), June (1)'
    """
    answers = (
        f"{_text(one.get('text')).strip()} ({one.get('voters') or 0})" for one in list_of(poll.get("answers"))
    )
    return f"{_text(poll.get('question')).strip()} {', '.join(answers)}".strip()


def _text(value: object) -> str:
    if isinstance(value, str):
        return value
    return "".join(_entity(part) for part in value) if isinstance(value, list) else ""


def _entity(part: object) -> str:
    if isinstance(part, str):
        return part
    fields = mapping_of(part)
    text = text_of(fields.get("text"))
    return link(text_of(fields.get("href")), text) if fields.get("type") == "text_link" else text


def _attached(message: Fields) -> Iterator[str]:
    kind = text_of(message.get("media_type")).replace("_", " ").removesuffix(" file")
    if message.get("photo"):
        yield note("photo")
    if kind == "sticker":
        yield note("sticker", message.get("sticker_emoji"))
    elif message.get("file") or kind:
        yield note(kind or "file", message.get("file_name") or message.get("title"))
    place = mapping_of(message.get("location_information"))
    if place:
        name = message.get("place_name") or f"{place.get('latitude')}, {place.get('longitude')}"
        yield note("location", name)
    person = mapping_of(message.get("contact_information"))
    if person:
        yield note("contact", f"{person.get('first_name', '')} {person.get('last_name', '')}")
    poll = mapping_of(message.get("poll"))
    if poll.get("question"):
        yield note("poll", _poll(poll))

"""Claude.ai's data export: `conversations.json`, a list of conversations with `chat_messages`.

Written after public descriptions of exports up to 2025, not tried on one. A message has its words both flat
(`text`) and in blocks (`content`), which also hold thinking and the use of tools. The branch shown last
follows from `parent_message_uuid` and `current_leaf_message_uuid` where a file has them; else messages come
as listed. What was read of an attachment, or pasted as one, is a message of its own.
"""

from collections.abc import Iterator, Mapping

from episodic_agent.core.ingest import Item
from episodic_agent.engine.files.formats.glimpse import Glimpse
from episodic_agent.engine.files.formats.speaking import (
    Chat,
    joined,
    list_of,
    mapping_of,
    note,
    speak,
    text_of,
)
from episodic_agent.engine.files.formats.walking import documents
from episodic_agent.engine.files.opening import Opened, Unreadable, excerpt
from episodic_agent.engine.files.options import ReadingOptions

_ROLES = {"human": "user"}


def fits(seen: Glimpse) -> bool:
    """Tell a Claude.ai export by its key for messages."""
    return seen.has("chat_messages")


def read(opened: Opened, reading: ReadingOptions) -> Iterator[Item | Unreadable]:
    """Stream the messages of an export, a conversation held at a time."""
    for number, record in enumerate(documents(opened), 1):
        if isinstance(record, Unreadable):
            yield record
            continue
        value = mapping_of(record.value)
        if not isinstance(value.get("chat_messages"), list):
            reason = f"conversation {number} has no list `chat_messages`"
            yield Unreadable(record.line, reason, excerpt(record.raw))
            continue
        name = value.get("uuid")
        chat = Chat(str(name) if name else None, text_of(value.get("name")).strip() or None, "claude")
        for message in _shown(value):
            yield from _message(chat, message, reading, record.line)


def _shown(value: Mapping[str, object]) -> list[Mapping[str, object]]:
    """Return the branch that was shown last, or all messages where the file does not tell branches."""
    messages = list_of(value.get("chat_messages"))
    by_id = {message.get("uuid"): message for message in messages}
    at = value.get("current_leaf_message_uuid")
    if at not in by_id:
        return messages
    branch: list[Mapping[str, object]] = []
    while at in by_id:
        branch.append(by_id.pop(at))
        at = branch[-1].get("parent_message_uuid")
    return branch[::-1]


def _message(
    chat: Chat, message: Mapping[str, object], reading: ReadingOptions, line: int
) -> Iterator[Item | Unreadable]:
    blocks = list_of(message.get("content"))
    tools = [block for block in blocks if block.get("type") in ("tool_use", "tool_result")]
    if any(block.get("type") == "thinking" for block in blocks):
        reading.leave_out("thought")
    words = [text_of(block.get("text")) for block in blocks if block.get("type") == "text"]
    text = joined(*words) or ("" if tools else text_of(message.get("text")))
    sender = text_of(message.get("sender"))
    common = {"role": _ROLES.get(sender, sender or "user"), "timestamp": message.get("created_at")}
    identity = text_of(message.get("uuid"))
    if tools:
        uses = {**common, "id": f"{identity}/tools", "content": tools}
        yield from speak(chat, uses, reading, line)
    text = joined(text, *_files(message))
    if text or not tools:
        yield from speak(chat, {**common, "id": identity, "content": text}, reading, line)
    for number, attached in enumerate(list_of(message.get("attachments")), 1):
        if pasted := text_of(attached.get("extracted_content")).strip():
            content = joined(note("file", attached.get("file_name")), pasted)
            fields = {**common, "id": f"{identity}/attachment-{number}", "content": content}
            yield from speak(chat, fields, reading, line)


def _files(message: Mapping[str, object]) -> list[str]:
    files = [*list_of(message.get("attachments")), *list_of(message.get("files"))]
    names = dict.fromkeys(str(part.get("file_name") or "") for part in files)  # both lists may have one
    return [note("file", name) for name in names]

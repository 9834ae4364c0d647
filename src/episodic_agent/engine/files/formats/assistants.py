"""Exports of chats with assistants: ChatGPT's, Claude.ai's, and Gemini's as Google Takeout writes them.

Written after public descriptions of exports up to early 2026 (Claude.ai's: 2025), not tried on one.

**ChatGPT**: `conversations.json`, or `conversations-000.json` and so on in larger ones. A conversation is a
tree of nodes (`mapping`), since a message can be written again; `current_node` is the end of the branch that
was shown last. Only that branch is read. Single conversations, as browser extensions save them, are read too.

**Claude.ai**: `conversations.json`, a list of conversations with `chat_messages`. A message has its words
both flat (`text`) and in blocks (`content`), which also hold thinking and the use of tools. The branch shown
last follows from `parent_message_uuid` and `current_leaf_message_uuid` where a file has them; else messages
come as listed. What was read of an attachment, or pasted as one, is a message of its own.

**Gemini**: `My Activity.json` of the product "Gemini Apps". A record is a prompt (`title`, "Prompted …" in
English) and its answers in HTML (`safeHtmlItem`; the last is the one shown after asking again), newest first.
Nothing says which prompts were one conversation: those of a day (UTC) are one.
"""

import json
import re
from dataclasses import dataclass
from tempfile import TemporaryFile
from typing import Final

from episodic_agent.engine.files.formats.glimpse import Glimpse
from episodic_agent.engine.files.formats.speaking import Chat, Records, joined, note, speak, without_marks
from episodic_agent.engine.files.formats.walking import Fields, documents, list_of, mapping_of, text_of
from episodic_agent.engine.files.opening import Opened, Unreadable, excerpt
from episodic_agent.engine.files.options import ReadingOptions

Node = Fields
# What a model wrote or was handed for itself: never shown as talk.
_INWARD = frozenset(("thoughts", "reasoning_recap", "model_editable_context", "app_pairing_content"))
_INSTRUCTIONS: Final = ("user_profile", "user_instructions")
_ENTITY: Final = re.compile(r"\ue200entity\ue202\[\"[^\"\n]*\",\"([^\"\n]+)\"[^\ue201\n]*\ue201")
_CITED: Final = re.compile(r" ?(?:\ue200[^\ue200\ue201\n]*\ue201|【\d+(?::\d+)?†[^】\n]*】)")


def fits_chatgpt(seen: Glimpse) -> bool:
    """Tell a ChatGPT export by its tree."""
    return seen.has("mapping") and (
        seen.has("title")
        or seen.has("current_node")
        or seen.has("create_time")
        or seen.has("conversation_id")
    )


def read_chatgpt(opened: Opened, reading: ReadingOptions) -> Records:
    """Stream the messages of an export, a conversation held at a time."""
    for number, record in enumerate(documents(opened), 1):
        if isinstance(record, Unreadable):
            yield record
            continue
        tree = mapping_of(mapping_of(record.value).get("mapping"))
        if not tree:
            reason = f"conversation {number} has no `mapping` of messages"
            yield Unreadable(record.line, reason, excerpt(record.raw))
            continue
        yield from _conversation(mapping_of(record.value), tree, reading, record.line)


def _conversation(value: Fields, tree: Fields, reading: ReadingOptions, line: int) -> Records:
    name = value.get("conversation_id") or value.get("id")
    chat = Chat(str(name) if name else None, text_of(value.get("title")).strip() or None, "chatgpt")
    shown = branch(tree, value.get("current_node"))
    for _ in range(sum(map(_is_spoken, tree.values())) - sum(map(_is_spoken, shown))):
        reading.leave_out("message of another branch")
    for node in shown:
        message = mapping_of(node.get("message"))
        if message:
            yield from _chatgpt_message(chat, message, reading, line)


def branch(tree: Fields, current: object) -> list[Node]:
    """Return the nodes from the root to the current one; without one, to the end written last.

    >>> tree = {"r": {"children": ["a", "b"]}, "a": {"parent": "r"}, "b": {"parent": "r", "children": []}}
    >>> branch(tree, "a") == [tree["r"], tree["a"]], branch(tree, None) == [tree["r"], tree["b"]]
    (True, True)
    """
    nodes: list[Node] = []
    passed: set[str] = set()
    at: object = current if isinstance(current, str) and current in tree else _last(tree)
    while isinstance(at, str) and at in tree and at not in passed:
        passed.add(at)
        nodes.append(mapping_of(tree[at]))
        at = nodes[-1].get("parent")
    return nodes[::-1]


def _last(tree: Fields) -> str | None:
    at = next((name for name, node in tree.items() if mapping_of(node).get("parent") not in tree), None)
    passed: set[str] = set()
    while at is not None and at not in passed:
        passed.add(at)
        children = mapping_of(tree[at]).get("children")
        below = (
            [c for c in children if isinstance(c, str) and c in tree] if isinstance(children, list) else []
        )
        at = below[-1] if below else at
    return at


def _chatgpt_message(chat: Chat, message: Fields, reading: ReadingOptions, line: int) -> Records:
    author, content = mapping_of(message.get("author")), mapping_of(message.get("content"))
    metadata = mapping_of(message.get("metadata"))
    role, kind = text_of(author.get("role")), text_of(content.get("content_type"))
    hidden = metadata.get("is_visually_hidden_from_conversation") or message.get("weight") == 0
    if kind == "user_editable_context":
        if any(text_of(content.get(key)).strip() for key in _INSTRUCTIONS):
            reading.leave_out("custom instruction")
        return
    if role == "system" or (hidden and role != "tool"):
        if _words(content):  # nearly every conversation begins with an empty one
            reading.leave_out("system message")
        return
    if kind in _INWARD:
        reading.leave_out("thought")
        return
    files = [note("file", part.get("name")) for part in list_of(metadata.get("attachments"))]
    text = joined(_words(content, pictures=not files), *files)
    common = {"id": message.get("id"), "timestamp": message.get("create_time")}
    recipient = text_of(message.get("recipient"))
    if role == "tool":
        if hidden or not text:
            reading.leave_out("tool result without words")
            return
        yield from speak(
            chat, {**common, "role": "tool", "name": author.get("name"), "content": text}, reading, line
        )
    elif role == "assistant" and recipient not in ("", "all"):
        call = {"function": {"name": recipient, "arguments": text}}
        yield from speak(chat, {**common, "role": role, "tool_calls": [call]}, reading, line)
    else:
        fields = {**common, "role": role or "user", "content": uncited(text)}
        yield from speak(
            chat, fields, reading, line, says_same=lambda before: uncited(before) == uncited(text)
        )


def uncited(text: str) -> str:
    """Return a text without the marks that stand for links to its sources.

    >>> uncited("From 69 euros. \ue200cite\ue202turn0search1\ue201 At 14:22.【4†source】")
    'From 69 euros. At 14:22.'
    """
    return _CITED.sub("", _ENTITY.sub(r"\1", text))


def _is_spoken(node: object) -> bool:
    """Tell a message with words of somebody who talks."""
    message = mapping_of(mapping_of(node).get("message"))
    role = mapping_of(message.get("author")).get("role")
    hidden = mapping_of(message.get("metadata")).get("is_visually_hidden_from_conversation")
    return role in ("user", "assistant") and not hidden and bool(_words(mapping_of(message.get("content"))))


def _words(content: Fields, *, pictures: bool = True) -> str:
    parts = content.get("parts")
    if isinstance(parts, list):
        return joined(*(_part(part, pictures=pictures) for part in parts))
    return text_of(content.get("text")) or text_of(content.get("result"))


def _part(part: object, *, pictures: bool) -> str:
    if isinstance(part, str):
        return part
    fields = mapping_of(part)
    kind = text_of(fields.get("content_type"))
    if kind == "audio_transcription":  # of what was spoken; the sound itself is another part
        return text_of(fields.get("text"))
    if "audio" in kind:
        return ""
    if "image" in kind:
        return note("image") if pictures else ""  # what was attached is named once
    return text_of(fields.get("text")) or (note(kind.removesuffix("_asset_pointer")) if kind else "")


# --- Claude.ai -----------------------------------------------------------------------------------------

_ROLES = {"human": "user"}


def fits_claude(seen: Glimpse) -> bool:
    """Tell a Claude.ai export by its key for messages."""
    return seen.has("chat_messages")


def read_claude(opened: Opened, reading: ReadingOptions) -> Records:
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
            yield from _claude_message(chat, message, reading, record.line)


def _shown(value: Fields) -> list[Fields]:
    """Return the branch that was shown last, or all messages where the file does not tell branches."""
    messages = list_of(value.get("chat_messages"))
    by_id = {message.get("uuid"): message for message in messages}
    at = value.get("current_leaf_message_uuid")
    if at not in by_id:
        return messages
    branch: list[Fields] = []
    while at in by_id:
        branch.append(by_id.pop(at))
        at = branch[-1].get("parent_message_uuid")
    return branch[::-1]


def _claude_message(chat: Chat, message: Fields, reading: ReadingOptions, line: int) -> Records:
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


def _files(message: Fields) -> list[str]:
    files = [*list_of(message.get("attachments")), *list_of(message.get("files"))]
    names = dict.fromkeys(str(part.get("file_name") or "") for part in files)  # both lists may have one
    return [note("file", name) for name in names]


# --- Gemini --------------------------------------------------------------------------------------------

_PRODUCT: Final = "Gemini Apps"
_FORMER: Final = "Bard"
_PROMPTED: Final = "Prompted "
_FILE: Final = "-  "  # how the lines begin that name attached files


@dataclass(frozen=True, slots=True)
class _GeminiLine:
    line: int
    fields: Fields


def fits_gemini(seen: Glimpse) -> bool:
    """Tell a record of activity that names the product."""
    return seen.has("header", "title", "time") and seen.says("header", _PRODUCT, _FORMER)


def read_gemini(opened: Opened, reading: ReadingOptions) -> Records:
    """Yield the prompts with their answers, oldest first; what cannot be read comes as it is met."""
    with TemporaryFile() as spooled:  # turned round on disk: memory holds one record
        places: list[tuple[int, int]] = []
        for record in documents(opened):
            if isinstance(record, Unreadable):
                yield record
                continue
            places.append((record.line, spooled.tell()))
            spooled.write(json.dumps(record.value).encode() + b"\n")
        for line, place in reversed(places):
            spooled.seek(place)
            yield from _prompt(_GeminiLine(line, mapping_of(json.loads(spooled.readline()))), reading)


def _prompt(record: _GeminiLine, reading: ReadingOptions) -> Records:
    answers = [
        without_marks(text_of(part.get("html"))) for part in list_of(record.fields.get("safeHtmlItem"))
    ]
    title, time = text_of(record.fields.get("title")), text_of(record.fields.get("time"))
    if not title.startswith(_PROMPTED) and not answers:
        reading.leave_out("notice")  # feedback, a draft that was preferred, a document that was made
        return
    chat = Chat(f"gemini-{time[:10]}", f"Gemini, {time[:10]}", "gemini")
    files = (text_of(part.get("name")) for part in list_of(record.fields.get("subtitles")))
    attached = [note("file", name.removeprefix(_FILE)) for name in files if name.startswith(_FILE)]
    asked = {
        "role": "user",
        "content": joined(title.removeprefix(_PROMPTED), *attached),
        "timestamp": time,
        "id": time,
    }
    yield from speak(chat, asked, reading, record.line)
    for _ in answers[:-1]:
        reading.leave_out("earlier answer")
    if answers:
        answer = {"role": "assistant", "content": answers[-1], "timestamp": time, "id": f"{time}/answer"}
        yield from speak(chat, answer, reading, record.line)

"""ChatGPT's data export: `conversations.json`, or `conversations-000.json` and so on in larger ones.

Written after public descriptions of exports up to early 2026, not tried on one. A conversation is a tree of
nodes (`mapping`), since a message can be written again; `current_node` is the end of the branch that was
shown last. Only that branch is read. Single conversations, as browser extensions save them, are read too.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Final

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

Node = Mapping[str, object]
# What a model wrote or was handed for itself: never shown as talk.
_INWARD = frozenset(("thoughts", "reasoning_recap", "model_editable_context", "app_pairing_content"))
_INSTRUCTIONS: Final = ("user_profile", "user_instructions")
_ENTITY: Final = re.compile(r"\ue200entity\ue202\[\"[^\"\n]*\",\"([^\"\n]+)\"[^\ue201\n]*\ue201")
_CITED: Final = re.compile(r" ?(?:\ue200[^\ue200\ue201\n]*\ue201|【\d+(?::\d+)?†[^】\n]*】)")


def fits(seen: Glimpse) -> bool:
    """Tell a ChatGPT export by its tree."""
    return seen.has("mapping") and (
        seen.has("title")
        or seen.has("current_node")
        or seen.has("create_time")
        or seen.has("conversation_id")
    )


def read(opened: Opened, reading: ReadingOptions) -> Iterator[Item | Unreadable]:
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


def _conversation(
    value: Mapping[str, object], tree: Mapping[str, object], reading: ReadingOptions, line: int
) -> Iterator[Item | Unreadable]:
    name = value.get("conversation_id") or value.get("id")
    chat = Chat(str(name) if name else None, text_of(value.get("title")).strip() or None, "chatgpt")
    shown = branch(tree, value.get("current_node"))
    for _ in range(sum(map(_is_spoken, tree.values())) - sum(map(_is_spoken, shown))):
        reading.leave_out("message of another branch")
    for node in shown:
        message = mapping_of(node.get("message"))
        if message:
            yield from _message(chat, message, reading, line)


def branch(tree: Mapping[str, object], current: object) -> list[Node]:
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


def _last(tree: Mapping[str, object]) -> str | None:
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


def _message(
    chat: Chat, message: Mapping[str, object], reading: ReadingOptions, line: int
) -> Iterator[Item | Unreadable]:
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


def _words(content: Mapping[str, object], *, pictures: bool = True) -> str:
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

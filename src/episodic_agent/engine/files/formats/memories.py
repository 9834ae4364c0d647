"""Dumps of other memories: mem0 (`get_all`), Zep (facts of a graph, episodes), LangGraph (items of a store).

Written from knowledge of the shapes, without dumps of theirs: mem0's `{"results": […]}` and lists, Zep's
`edges` and `facts` with `fact`, its `episodes` with `content`, LangGraph's items as lists and `{"items":
[…]}`. What they hold was made of talk and is no talk: each text comes as one remark, by whom the dump names
(else `user`), at the time it was made, in a thread for each user or namespace. Zep's sessions are messages
and need no reader.
"""

import json
from typing import Final

from episodic_agent.engine.files.formats.glimpse import Glimpse
from episodic_agent.engine.files.formats.speaking import Chat, Records, speak
from episodic_agent.engine.files.formats.walking import Fields, mapping_of, text_of, walk
from episodic_agent.engine.files.opening import Opened, Unreadable
from episodic_agent.engine.files.options import ReadingOptions

_MEM0: Final = ("", "[]", "results[]", "memories[]")
_ZEP: Final = {
    "edges[]": "fact", "facts[]": "fact", "[]": "fact", "relevant_facts[]": "fact", "episodes[]": "content",
}  # fmt: skip
_STORE: Final = ("", "[]", "items[]")
_TEXTS: Final = ("text", "content", "memory", "data", "fact", "value")


def fits_mem0(seen: Glimpse) -> bool:
    """Tell mem0 by the key of a memory's text and its hash or owner."""
    return _has(seen, _MEM0, "memory", ("hash", "user_id", "agent_id", "run_id", "created_at"))


def fits_zep(seen: Glimpse) -> bool:
    """Tell Zep by facts with their times, or episodes of a graph."""
    facts = [holder for holder, key in _ZEP.items() if key == "fact"]
    if _has(seen, facts, "fact", ("valid_at", "created_at", "source_node_uuid", "rating")):
        return True
    return _has(seen, ("episodes[]",), "content", ("source", "source_description", "role_type"))


def fits_store(seen: Glimpse) -> bool:
    """Tell a LangGraph store by the namespace, key and value of its items."""
    return _has(seen, _STORE, "namespace", ("key",)) and _has(seen, _STORE, "key", ("value",))


def _has(seen: Glimpse, holders: "tuple[str, ...] | list[str]", key: str, others: tuple[str, ...]) -> bool:
    prefixes = [f"{holder}." if holder else "" for holder in holders]
    return any(p + key in seen.paths and any(p + other in seen.paths for other in others) for p in prefixes)


def read_mem0(opened: Opened, reading: ReadingOptions) -> Records:
    """Stream mem0's memories."""
    for part in walk(opened, {"[]", "results[]", "memories[]"}):
        if isinstance(part, Unreadable):
            yield part
            continue
        value = mapping_of(part.value)
        if "memory" not in value:
            continue
        owner = next((str(value[k]) for k in ("user_id", "agent_id", "run_id") if value.get(k)), "memories")
        fields = {
            "speaker": value.get("actor_id"),
            "role": value.get("role"),
            "content": value.get("memory"),
            "timestamp": value.get("created_at"),
            "id": value.get("id"),
        }
        yield from speak(Chat(f"mem0-{owner}", f"mem0: {owner}", "mem0"), fields, reading, part.line)


def read_zep(opened: Opened, reading: ReadingOptions) -> Records:
    """Stream Zep's facts that still hold, and its episodes; what a newer fact replaced is left out."""
    for part in walk(opened, _ZEP.keys()):
        if isinstance(part, Unreadable):
            yield part
            continue
        value = mapping_of(part.value)
        text = value.get(_ZEP.get(part.path, ""))
        if text is None:
            continue
        if value.get("invalid_at") or value.get("expired_at"):
            reading.leave_out("fact of the past")
            continue
        fields = {
            "speaker": value.get("role") or None,
            "role": value.get("role_type") or None,
            "content": text,
            "timestamp": value.get("valid_at") or value.get("created_at"),
            "id": value.get("uuid"),
        }
        graph = text_of(value.get("group_id") or value.get("graph_id") or value.get("user_id")) or "graph"
        yield from speak(Chat(f"zep-{graph}", f"Zep: {graph}", "zep"), fields, reading, part.line)


def read_store(opened: Opened, reading: ReadingOptions) -> Records:
    """Stream the items of a LangGraph store, a thread for each namespace."""
    for part in walk(opened, {"[]", "items[]"}):
        if isinstance(part, Unreadable):
            yield part
            continue
        value = mapping_of(part.value)
        names = value.get("namespace")
        if not isinstance(names, str | list) or "key" not in value:
            continue
        path = names if isinstance(names, str) else "/".join(str(name) for name in names)
        fields = {
            "content": _words(value.get("value")),
            "timestamp": value.get("updated_at") or value.get("created_at"),
            "id": str(value["key"]),
        }
        yield from speak(Chat(f"store-{path}", path, "langgraph"), fields, reading, part.line)


def _words(value: object) -> str:
    """Return the text of a stored value, or the whole value as JSON where none of its fields is one.

    >>> _words({"text": "Likes tea"}), _words({"food": "tea"})
    ('Likes tea', '{"food": "tea"}')
    """
    fields: Fields = mapping_of(value)
    text = next((fields[key] for key in _TEXTS if isinstance(fields.get(key), str)), None)
    if isinstance(text, str):
        return text
    inner = mapping_of(fields.get("content"))  # langmem: {"kind": "Memory", "content": {"content": "…"}}
    if isinstance(inner.get("content"), str):
        return text_of(inner["content"])
    return text_of(value) or (json.dumps(value, ensure_ascii=False) if value else "")

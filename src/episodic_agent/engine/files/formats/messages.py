"""Messages as model libraries write them: OpenAI's Responses API, LangChain and LangGraph.

Written from knowledge of the shapes, without files of theirs: responses and lists of items,
`messages_to_dict`, `dumps` with `lc`, `model_dump`, and LangGraph's states and threads with
`values.messages`, also the list that a thread's history is. Chat-completion messages and fine-tuning lines
need no reader of their own.
"""

from episodic_agent.engine.files.chat_json import is_prompt
from episodic_agent.engine.files.formats.glimpse import Glimpse
from episodic_agent.engine.files.formats.speaking import Chat, Records, speak
from episodic_agent.engine.files.formats.walking import Fields, documents, list_of, mapping_of, text_of
from episodic_agent.engine.files.opening import Opened, Unreadable
from episodic_agent.engine.files.options import ReadingOptions

_ROLES = {"human": "user", "ai": "assistant", "AIMessageChunk": "assistant", "HumanMessageChunk": "user"}
_HOLDERS = ("", "[]", "messages[]", "[].messages[]", "values.messages[]", "[].values.messages[]")
_NO_TALK = ("status", "type", "object", "phase")  # of an item's fields
_LISTS = ("messages", "history")


def fits_langchain(seen: Glimpse) -> bool:
    """Tell LangChain's messages by their kinds, or by how the library serialises its objects."""
    for holder in _HOLDERS:
        base = f"{holder}." if holder else ""
        if seen.words.get(base + "type", frozenset()) & {"human", "ai"}:
            return True
        if base + "lc" in seen.paths and base + "kwargs" in seen.paths:
            return True
    return False


def fits_responses(seen: Glimpse) -> bool:
    """Tell the Responses API by an answer's `object`, or by the parts of its items."""
    if seen.says("object", "response") or seen.has("response.output"):
        return True
    parts = ("input_text", "output_text")
    return any(
        seen.words.get(f"{holder}content[].type", frozenset()) & {*parts}
        for holder in ("", "[].", "input[].")
    )


def read_langchain(opened: Opened, reading: ReadingOptions) -> Records:
    """Stream LangChain's messages; of a thread's states the first one listed, the newest, has them all."""
    threads: set[str] = set()
    for record in documents(opened):
        if isinstance(record, Unreadable):
            yield record
            continue
        value = mapping_of(record.value)
        held, name = _held(value), _thread_name(value)
        if held is None:
            yield from _langchain(Chat(name, None, "langchain"), value, reading, record.line)
            continue
        if name is not None and name in threads:
            reading.leave_out("earlier state")
            continue
        threads.add(name or "")
        for message in held:
            yield from _langchain(Chat(name, None, "langchain"), message, reading, record.line)


def _held(value: Fields) -> list[Fields] | None:
    inner = mapping_of(value.get("values")) or mapping_of(value.get("channel_values")) or value
    return next((list_of(inner[key]) for key in _LISTS if isinstance(inner.get(key), list)), None)


def _thread_name(value: Fields) -> str | None:
    config = mapping_of(mapping_of(value.get("config")).get("configurable"))
    point = mapping_of(value.get("checkpoint"))
    names = (value.get("thread_id"), config.get("thread_id"), point.get("thread_id"), value.get("session_id"))
    return next((name for name in names if isinstance(name, str) and name), None)


def _langchain(chat: Chat, value: Fields, reading: ReadingOptions, line: int) -> Records:
    inner = mapping_of(value.get("kwargs")) or mapping_of(value.get("data")) or value
    kind = text_of(value.get("type") if "data" in value else inner.get("type")) or _class_kind(value)
    role = _ROLES.get(kind, kind)
    if kind == "remove" or is_prompt({"role": role}):
        reading.leave_out("system message" if kind == "system" else "removed message")
        return
    more = mapping_of(inner.get("additional_kwargs"))
    fields: dict[str, object] = {
        "role": text_of(inner.get("role")) or role or "user",
        "content": inner.get("content"),
    }
    for key in ("id", "name", "tool_call_id", "timestamp", "created_at"):
        value_there = inner.get(key) if inner.get(key) is not None else more.get(key)
        if value_there is not None:
            fields[key] = value_there
    calls = list_of(inner.get("tool_calls")) or list_of(more.get("tool_calls"))
    yield from speak(chat, fields | ({"tool_calls": calls} if calls else {}), reading, line)


def _class_kind(value: Fields) -> str:
    """Return the kind that the class of a serialised message has in its name ("HumanMessage")."""
    path = value.get("id")
    name = str(path[-1]) if isinstance(path, list) and path else ""
    return name.removesuffix("Chunk").removesuffix("Message").lower()


def read_responses(opened: Opened, reading: ReadingOptions) -> Records:
    """Stream what was put into answers of the Responses API and what came out."""
    for record in documents(opened):
        if isinstance(record, Unreadable):
            yield record
            continue
        value = mapping_of(record.value)
        answer = mapping_of(value.get("response")) or value
        conversation = answer.get("conversation")
        name = text_of(mapping_of(conversation).get("id") or conversation) or None
        chat = Chat(name, None, "openai")
        at = answer.get("created_at")
        asked = value.get("input", answer.get("input"))
        if isinstance(asked, str):
            yield from speak(chat, {"role": "user", "content": asked, "timestamp": at}, reading, record.line)
        items = [*list_of(asked), *list_of(answer.get("output"))]
        for item in items or ([value] if "output" not in answer else []):
            yield from _response_item(chat, item, at, reading, record.line)


def _response_item(chat: Chat, item: Fields, at: object, reading: ReadingOptions, line: int) -> Records:
    kind = text_of(item.get("type")) or "message"
    fields = {"timestamp": at, **{k: v for k, v in item.items() if k not in _NO_TALK and v is not None}}
    if kind == "reasoning":
        reading.leave_out("thought")
    elif is_prompt(item):
        reading.leave_out("system message")
    elif kind in ("message", "function_call", "function_call_output"):
        yield from speak(chat, _tool_words(kind, fields), reading, line)
    elif kind.endswith("_call"):  # of the provider's own tools: a search, a program
        call = {
            "function": {
                "name": kind.removesuffix("_call"),
                "arguments": item.get("action") or item.get("code"),
            }
        }
        yield from speak(
            chat,
            {"role": "assistant", "timestamp": at, "id": item.get("id"), "tool_calls": [call]},
            reading,
            line,
        )
    else:
        reading.leave_out("item without words")


def _tool_words(kind: str, fields: Fields) -> Fields:
    if kind == "function_call":
        call = {"id": fields.get("call_id"), "function": {k: fields.get(k) for k in ("name", "arguments")}}
        return {"role": "assistant", "tool_calls": [call]} | {
            k: fields[k] for k in ("id", "timestamp") if k in fields
        }
    if kind == "function_call_output":
        return {
            "role": "tool",
            "tool_call_id": fields.get("call_id"),
            "content": fields.get("output"),
            "id": fields.get("id"),
            "timestamp": fields.get("timestamp"),
        }
    return fields

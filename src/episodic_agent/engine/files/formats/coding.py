"""Sessions of coding agents: Claude Code (`~/.claude/projects/*/*.jsonl`) and Codex (`rollout-*.jsonl`).

Written after public descriptions of Claude Code (1.0 to 2.1) and Codex (0.46, 0.65, and older lines without
an envelope), not tried on files of theirs. A session is a thread. Messages of the person and of the agent
and the use of tools are read; what a program put in (instructions, the environment, reminders, hooks) and
thoughts are left out, and so are side chains, the agent's talk with its sub-agents.
"""

import json
import re
from typing import Final

from episodic_agent.engine.files.chat_json import json_lines
from episodic_agent.engine.files.formats.glimpse import Glimpse
from episodic_agent.engine.files.formats.speaking import Chat, Records, joined, note, speak
from episodic_agent.engine.files.formats.walking import Fields, list_of, mapping_of, text_of
from episodic_agent.engine.files.opening import Opened, Unreadable
from episodic_agent.engine.files.options import ReadingOptions

# What the programs themselves write in the person's name.
_PUT_IN: Final = re.compile(
    r"<(system-reminder|environment_context|user_instructions|local-command-stdout|local-command-stderr|"
    r"local-command-caveat|turn_aborted|permissions instructions|INSTRUCTIONS|task-notification)>"
    r".*?(</\1>|\Z)",
    re.DOTALL,
)
_COMMAND: Final = re.compile(r"<command-name>(.*?)</command-name>", re.DOTALL)
_ARGUMENTS: Final = re.compile(r"<command-args>(.*?)</command-args>", re.DOTALL)
_CODEX_KINDS: Final = ("session_meta", "response_item", "event_msg", "turn_context", "compacted")
_CALLS: Final = ("function_call", "custom_tool_call", "local_shell_call")
_RESULTS: Final = ("function_call_output", "custom_tool_call_output")


def fits_claude_code(seen: Glimpse) -> bool:
    """Tell a session of Claude Code by the names of its lines' fields."""
    paths = seen.paths
    return (
        "sessionId" in paths and bool({"parentUuid", "isSidechain", "leafUuid", "operation"} & paths)
    ) or ("leafUuid" in paths and "summary" in paths)


def fits_codex(seen: Glimpse) -> bool:
    """Tell a session of Codex by the kinds of its lines, with and without an envelope."""
    if "payload" in seen.paths and seen.says("type", *_CODEX_KINDS):
        return True
    bare = {"id", "timestamp", "instructions"} <= seen.paths and "record_type" in seen.paths
    return bare or ("record_type" in seen.paths and seen.says("type", "message"))


def read_claude_code(opened: Opened, reading: ReadingOptions) -> Records:
    """Stream a session of Claude Code; its summary, where it begins with one, is the thread's title."""
    title: str | None = None
    for record in json_lines(opened):
        if isinstance(record, Unreadable):
            yield record
            continue
        line = mapping_of(record.value)
        kind = line.get("type")
        if kind in ("summary", "custom-title", "ai-title"):
            title = text_of(line.get("summary") or line.get("customTitle") or line.get("aiTitle")) or title
        elif kind not in ("user", "assistant"):
            continue  # snapshots of files, progress, notices of the program
        elif line.get("isSidechain"):
            reading.leave_out("message of a side chain")
        elif line.get("isMeta") or line.get("isCompactSummary") or line.get("isApiErrorMessage"):
            reading.leave_out("message of the program")
        else:
            session = text_of(line.get("sessionId"))
            chat = Chat(session or None, title, "claude-code")
            yield from _agent_line(chat, line, mapping_of(line.get("message")), reading, record.line)


def _agent_line(
    chat: Chat,
    line: Fields,
    message: Fields,
    reading: ReadingOptions,
    number: int,
) -> Records:
    content = message.get("content")
    blocks = [{"type": "text", "text": content}] if isinstance(content, str) else list_of(content)
    words = [_spoken(text_of(block.get("text"))) for block in blocks if block.get("type") == "text"]
    images = [note("image") for block in blocks if block.get("type") == "image"]
    tools = [block for block in blocks if block.get("type") in ("tool_use", "tool_result")]
    text = joined(*words, *images)
    role = text_of(message.get("role")) or text_of(line.get("type"))
    fields = {"role": role, "timestamp": line.get("timestamp"), "id": line.get("uuid")}
    if tools and text and role == "user":  # what a tool answered is not what the person said beside it
        name = text_of(line.get("uuid"))
        for part, content in (("#answer", tools), ("#words", text)):
            identity = f"{name}{part}" if name else None
            yield from speak(chat, {**fields, "id": identity, "content": content}, reading, number)
    elif tools:
        before = [{"type": "text", "text": text}] if text else []
        yield from speak(chat, {**fields, "content": [*before, *tools]}, reading, number)
    elif text:
        yield from speak(chat, {**fields, "content": text}, reading, number)
    elif any(block.get("type") in ("thinking", "redacted_thinking") for block in blocks):
        reading.leave_out("thought")
    else:
        reading.leave_out("message of the program")


def read_codex(opened: Opened, reading: ReadingOptions) -> Records:
    """Stream a session of Codex. A message has no id of its own: its content and time name it."""
    chat = Chat(None, None, "codex")
    for record in json_lines(opened):
        if isinstance(record, Unreadable):
            yield record
            continue
        line = mapping_of(record.value)
        kind = line.get("type")
        if kind == "session_meta" or (kind is None and line.get("id")):
            # a session that goes on from another one repeats that one's first line behind its own
            meta = mapping_of(line.get("payload")) or line
            chat = chat if chat.name else Chat(text_of(meta.get("id")) or None, None, "codex")
        elif kind == "response_item":
            item = mapping_of(line.get("payload"))
            yield from _response_item(chat, item, line.get("timestamp"), reading, record.line)
        elif "payload" not in line and kind is not None:
            yield from _response_item(chat, line, line.get("timestamp"), reading, record.line)


def _response_item(chat: Chat, item: Fields, at: object, reading: ReadingOptions, number: int) -> Records:
    kind = item.get("type")
    if kind == "message":
        yield from _codex_message(chat, item, at, reading, number)
    elif kind in _CALLS:
        arguments = (
            item.get("arguments") or item.get("input") or mapping_of(item.get("action")).get("command")
        )
        call = {"function": {"name": item.get("name") or "shell", "arguments": arguments}}
        fields = {"role": "assistant", "timestamp": at, "tool_calls": [{**call, "id": item.get("call_id")}]}
        yield from speak(chat, fields, reading, number)
    elif kind in _RESULTS:
        content = _output(item.get("output"))
        fields = {"role": "tool", "timestamp": at, "tool_call_id": item.get("call_id"), "content": content}
        yield from speak(chat, fields, reading, number)
    elif kind == "reasoning":
        reading.leave_out("thought")


def _output(value: object) -> object:
    """Return what a tool printed; a shell's comes as JSON in a string, with its exit code.

    >>> _output('{"output": "2 failed", "metadata": {"exit_code": 1}}'), _output("done")
    ('2 failed', 'done')
    """
    try:
        inner = json.loads(value) if isinstance(value, str) and value.startswith("{") else value
    except (ValueError, RecursionError):
        return value
    held = mapping_of(inner)
    return next((held[key] for key in ("output", "content") if key in held), value)


def _codex_message(chat: Chat, item: Fields, at: object, reading: ReadingOptions, number: int) -> Records:
    role = text_of(item.get("role"))
    parts = list_of(item.get("content"))
    text = joined(*(_spoken(text_of(p.get("text"))) or _image(p) for p in parts))
    if role in ("system", "developer") or text.startswith("# AGENTS"):
        reading.leave_out("system message")
    elif not text:
        reading.leave_out("message of the program")
    else:
        yield from speak(chat, {"role": role or "user", "timestamp": at, "content": text}, reading, number)


def _image(part: Fields) -> str:
    return note("image") if part.get("type") == "input_image" else ""


def _spoken(text: str) -> str:
    """Return what a person typed: without what the program put in, a command as it was typed.

    >>> _spoken("<system-reminder>Be brief.</system-reminder>\\nFix the test")
    'Fix the test'
    >>> _spoken("<command-name>/review</command-name><command-args>main</command-args>")
    '/review main'
    """
    command = _COMMAND.search(text)
    if command is not None:
        arguments = _ARGUMENTS.search(text)
        return f"{command[1].strip()} {arguments[1].strip() if arguments else ''}".strip()
    return _PUT_IN.sub("", text).strip()

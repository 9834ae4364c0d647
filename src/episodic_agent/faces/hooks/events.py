"""What an event of a coding agent says: which message it holds, by which name, of which session."""

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, Final

from episodic_agent.errors import InvalidInput

START, PROMPT, TOOL, STOP, END = "SessionStart", "UserPromptSubmit", "PostToolUse", "Stop", "SessionEnd"
ANSWERED: Final = (START, PROMPT)  # the agent waits for what is to be told
LONGEST: Final = 2_000  # characters of one text in what a tool was asked or answered
LONGEST_TOPIC: Final = 80  # characters of a session's topic
_SENTENCE: Final = re.compile(rf".{{20,{LONGEST_TOPIC - 1}}}?[.?!](?=\s)")  # a greeting alone is no topic
_TAIL: Final = 200_000  # bytes of a transcript in which its last answer is looked for


@dataclass(frozen=True, slots=True)
class AgentEvent:
    """An event as it came: the agent, its own name of the event, the session, the project's folder, and when.

    `item` is what `add` takes of it, with its id; None where it holds nothing to keep.
    """

    agent: str
    kind: str
    session: str
    project: str
    at: str
    item: Mapping[str, Any] | None = None

    @property
    def thread(self) -> str:
        """Return the thread that the session is."""
        return f"{self.agent}:{self.session}"

    @property
    def text(self) -> str:
        """Return what was said, "" where nothing was."""
        return str((self.item or {}).get("content", ""))

    @property
    def topic(self) -> str:
        """Return what a session that begins with it is about: its first line, or the first sentence of it.

        Where that is too long it ends at a word, with an ellipsis.
        """
        line = next((line.strip() for line in self.text.splitlines() if line.strip()), "")
        if len(line) <= LONGEST_TOPIC:
            return line
        sentence = _SENTENCE.match(line)
        return sentence[0].rstrip(".") if sentence else f"{line[: LONGEST_TOPIC - 1].rsplit(' ', 1)[0]}…"


def read_event(agent: str, kind: str, text: str, now: datetime) -> AgentEvent:
    """Read the JSON that an agent hands to a hook; InvalidInput for what is none, or names no session."""
    try:
        fields = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InvalidInput(f"{kind} of {agent} is no JSON: {error}") from error
    session = fields.get("session_id") if isinstance(fields, dict) else None
    if not isinstance(session, str) or not session.strip():
        raise InvalidInput(f"{kind} of {agent} names no session_id")
    project, at = str(fields.get("cwd") or ""), now.isoformat()
    return AgentEvent(agent, kind, session, project, at, _item(kind, fields, at))


def _item(kind: str, fields: Mapping[str, Any], at: str) -> Mapping[str, Any] | None:
    if kind == TOOL:
        return _tool(fields, at)
    text = {PROMPT: fields.get("prompt"), STOP: _last_answer(fields)}.get(kind)
    if not isinstance(text, str) or not text.strip():
        return None
    role = "user" if kind == PROMPT else "assistant"
    return {"role": role, "content": text, "id": f"{kind}:{_place(fields)}:{_digest(text)}", "timestamp": at}


def _tool(fields: Mapping[str, Any], at: str) -> Mapping[str, Any] | None:
    name = fields.get("tool_name")
    if not isinstance(name, str) or not name:
        return None
    asked, answer = _shortened(fields.get("tool_input")), _shortened(fields.get("tool_response"))
    identity = fields.get("tool_use_id") or _digest(json.dumps([_place(fields), name, asked, answer]))
    return {
        "role": "tool",
        "name": name,
        "arguments": asked,
        "result": answer if answer is not None else "",
        "id": f"{TOOL}:{identity}",
        "timestamp": at,
    }


def _place(fields: Mapping[str, Any]) -> str:
    """Return where in its session an event is: the agent's id of the turn, else how long the transcript is.

    A prompt may be given twice in the same words; between the two the transcript has grown.
    """
    for name in ("turn_id", "prompt_id"):
        if isinstance(fields.get(name), str):
            return str(fields[name])
    path = fields.get("transcript_path")
    try:
        return str(Path(path).stat().st_size) if isinstance(path, str) else "0"
    except OSError:
        return "0"


def _last_answer(fields: Mapping[str, Any]) -> str | None:
    """Return what the agent said last: as the event says it, else the last text of the transcript."""
    if isinstance(fields.get("last_assistant_message"), str):
        return str(fields["last_assistant_message"])
    path = fields.get("transcript_path")
    if not isinstance(path, str):
        return None
    try:
        with Path(path).open("rb") as file:
            file.seek(0, 2)
            file.seek(max(0, file.tell() - _TAIL))
            lines = file.read().decode("utf-8", "replace").splitlines()
    except OSError:
        return None
    return next(filter(None, map(_answer_in, reversed(lines))), None)


def _answer_in(line: str) -> str:
    """Return the text of an assistant's message in a line of a transcript; "" for any other line."""
    try:
        entry = json.loads(line)
        message = entry["message"]
        if entry.get("type") != "assistant" or entry.get("isSidechain"):
            return ""
        blocks = message["content"]
        return "\n".join(b["text"] for b in blocks if b.get("type") == "text").strip()
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return ""


def _shortened(value: Any) -> Any:
    """Return a value with long texts in it cut: a file that was written is not a memory."""
    if isinstance(value, str):
        return value if len(value) <= LONGEST else value[:LONGEST] + "…"
    if isinstance(value, dict):
        return {str(key): _shortened(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_shortened(inner) for inner in value]
    return value


def _digest(text: str) -> str:
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()

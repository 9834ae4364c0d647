"""What an event of a coding agent says: which message it holds, by which name, of which session."""

import hashlib
import json
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from episodic_agent.errors import InvalidInput
from episodic_agent.lazily import module

if TYPE_CHECKING:
    from episodic_agent.core import failing
else:
    failing = module("episodic_agent.core.failing")  # few answers are long

START, PROMPT, TOOL, STOP, END = "SessionStart", "UserPromptSubmit", "PostToolUse", "Stop", "SessionEnd"
ANSWERED: Final = (START, PROMPT)  # the agent waits for what is to be told
LONGEST: Final = 2_000  # characters of one text in what a tool was asked or answered
_BEGINNING: Final = 600  # of them for how a longer answer begins, where failing lines stand in its middle
_MIDDLE: Final = 600  # and at most for these lines
_BESIDE: Final = 3  # lines after a failing one that are its details
_LINE: Final = 200  # characters of such a line
MANY: Final = 8  # parts of a message that what a tool was asked, or answered, may take together
ROOM: Final = 200  # bytes for the words that say what was left out of a text
LONGEST_TOPIC: Final = 80  # characters of a session's topic
_SENTENCE: Final = re.compile(rf".{{20,{LONGEST_TOPIC - 1}}}?[.?!](?=\s)")  # a greeting alone is no topic
_STREAMS: Final = ("stdout", "stderr")
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


def read_event(agent: str, kind: str, text: str, now: datetime, *, largest: int) -> AgentEvent:
    """Read the JSON that an agent hands to a hook; InvalidInput for what is none, or names no session.

    Texts of more than `largest` bytes, which no memory would take, are shortened in their middle.
    """
    try:
        fields = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InvalidInput(f"{kind} of {agent} is no JSON: {error}") from error
    session = fields.get("session_id") if isinstance(fields, dict) else None
    if not isinstance(session, str) or not session.strip():
        raise InvalidInput(f"{kind} of {agent} names no session_id")
    project, at = project_of(str(fields.get("cwd") or "")), now.isoformat()
    return AgentEvent(agent, kind, session, project, at, _item(kind, fields, at, largest))


def project_of(folder: str) -> str:
    """Return the project that a folder is of: the root of its repository, else the folder itself.

    The home folder is the project of no other one: who keeps their settings in a repository there has not
    one project. Nothing of the folder need exist.

    >>> project_of("/nowhere/shop/../shop/"), project_of("")
    ('/nowhere/shop', '')
    """
    if not folder.strip():
        return ""
    own = Path(os.path.normpath(folder))
    home = Path.home()
    for path in (own, *own.parents):
        if path == home and path != own:
            break
        if os.path.exists(path / ".git"):  # a folder, or a file in a worktree; what may not be read is none
            return str(path)
    return str(own)


def _item(kind: str, fields: Mapping[str, Any], at: str, largest: int) -> Mapping[str, Any] | None:
    if kind == TOOL:
        return _tool(fields, at, largest)
    text = {PROMPT: fields.get("prompt"), STOP: _last_answer(fields)}.get(kind)
    if not isinstance(text, str) or not text.strip():
        return None
    role = "user" if kind == PROMPT else "assistant"
    name = f"{kind}:{_turn(fields, text) or _own_name()}"
    return {"role": role, "content": _fitting(text, largest), "id": name, "timestamp": at}


def _tool(fields: Mapping[str, Any], at: str, largest: int) -> Mapping[str, Any] | None:
    name = fields.get("tool_name")
    if not isinstance(name, str) or not name:
        return None
    asked = _brief(fields.get("tool_input"), largest)
    answer = _brief(_printed(fields.get("tool_response")), largest)
    return {
        "role": "tool",
        "name": name,
        "arguments": asked,
        "result": answer if answer is not None else "",
        "id": f"{TOOL}:{fields.get('tool_use_id') or _own_name()}",
        "timestamp": at,
    }


def _turn(fields: Mapping[str, Any], text: str) -> str:
    """Return the agent's own id of the turn, with what was said in it; "" where it gives none.

    A turn may hold several prompts and answers, so that its id alone names none of them.
    """
    ids = (fields.get(name) for name in ("turn_id", "prompt_id"))
    return next((f"{one}:{_digest(text)}" for one in ids if isinstance(one, str) and one), "")


def _own_name() -> str:
    """Return a name for an event that its agent gives none: it waits under it, however often it is kept.

    Its words are no name. "Run the tests" is said again and again, and meant each time.
    """
    return os.urandom(8).hex()


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


def _fitting(text: str, largest: int) -> str:
    """Return a text that a message can hold: where it is larger, its beginning, its end and what is missing.

    >>> short = _fitting("x" * 5_000, 1_000)
    >>> len(short) <= 1_000, short[398:474]
    (True, 'xx\\n[… 4,200 characters were left out here; a message holds 1,000 bytes …]\\nxx')
    """
    if len(text) * 4 <= largest:  # no character takes more bytes
        return text
    encoded = text.encode("utf-8", "replace")
    if len(encoded) <= largest:
        return text
    half = max(0, largest - ROOM) // 2
    head = encoded[:half].decode("utf-8", "ignore")
    tail = encoded[len(encoded) - half :].decode("utf-8", "ignore")
    missing = len(text) - len(head) - len(tail)
    note = f"[… {missing:,} characters were left out here; a message holds {largest:,} bytes …]"
    return f"{head}\n{note}\n{tail}"


def _brief(value: Any, largest: int) -> Any:
    """Return what a tool was asked or answered, shortened; of very many parts, a text of their JSON."""
    brief = _shortened(value)
    encoded = json.dumps(brief, ensure_ascii=False)
    if len(encoded) * MANY <= largest:
        return brief
    return _fitting(encoded, min(largest // MANY, 4 * LONGEST))


def _printed(answer: Any) -> Any:
    r"""Return what a command printed as the text it is, then what else its answer says; any other as it is.

    >>> _printed({"stdout": "2 passed\n", "stderr": "slow", "interrupted": True, "isImage": False})
    '2 passed\nslow\ninterrupted: true'
    """
    if not isinstance(answer, dict) or not any(isinstance(answer.get(name), str) for name in _STREAMS):
        return answer
    printed = [answer[name].rstrip("\n") for name in _STREAMS if isinstance(answer.get(name), str)]
    others = {name: value for name, value in answer.items() if name not in _STREAMS and value}
    shown = (
        value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        for value in others.values()
    )
    return "\n".join([*filter(None, printed), *map(": ".join, zip(others, shown, strict=True))])


def _shortened(value: Any) -> Any:
    """Return a value with long texts in it cut: a file that was written is not a memory."""
    if isinstance(value, str):
        return value if len(value) <= LONGEST else _ends(value)
    if isinstance(value, dict):
        return {str(key): _shortened(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_shortened(inner) for inner in value]
    return value


def _ends(text: str) -> str:
    """Return the beginning and the end of a long text, and from between the lines that tell of a failure.

    How much is left out is said where it was. Lines are kept whole where they are not very long.
    """
    head = _up_to_a_line(text, LONGEST // 2)
    tail = _up_to_a_line(text[::-1], LONGEST // 2)[::-1]
    middle = _failures(text[len(head) : len(text) - len(tail)])
    if middle:
        head = _up_to_a_line(text, _BEGINNING)
        tail = _up_to_a_line(text[::-1], LONGEST - _BEGINNING - _MIDDLE)[::-1]
        middle = _failures(text[len(head) : len(text) - len(tail)])
    missing = len(text) - len(head) - len(middle) - len(tail)
    note = f"[… {missing:,} characters were left out {'around these lines' if middle else 'here'} …]"
    return "\n".join(part for part in (head.rstrip("\n"), note, middle, tail.lstrip("\n")) if part)


def _up_to_a_line(text: str, most: int) -> str:
    """Return the beginning of a text, up to the end of a line where one ends in its second half."""
    end = text.rfind("\n", most // 2, most)
    return text[: end + 1 if end > 0 else most]


def _failures(text: str) -> str:
    """Return the lines that say that something failed, then what follows them, as far as there is room."""
    lines = text.splitlines()
    marks = failing.failing(lines)
    own = [place for place, mark in enumerate(marks) if mark]
    details = [place + n for n in range(1, _BESIDE + 1) for place in own]
    room, places = _MIDDLE, set[int]()
    for place in dict.fromkeys([*own, *details]):
        if place < len(lines) and lines[place].strip() and len(lines[place][:_LINE]) < room:
            places.add(place)
            room -= len(lines[place][:_LINE]) + 1
    return "\n".join(lines[place][:_LINE] for place in sorted(places))


def _digest(text: str) -> str:
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()

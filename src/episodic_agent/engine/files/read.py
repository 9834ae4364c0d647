"""Tell what a chat file is by looking at it, and stream its messages.

Formats: JSON lines of messages or of conversations, one JSON document (a list of messages or of
conversations, or an object with `messages` or `conversations`), plain transcripts, and the project's own
export; each also gzipped, in UTF-8, UTF-16 or UTF-32 by its mark, or any `encoding` named. All are
streamed: no more is held than a line, or an element of a list (`IntakeLimits.line`).
"""

import json
import re
from collections.abc import Iterator
from datetime import tzinfo
from enum import StrEnum
from pathlib import Path
from typing import Final

from episodic_agent.core.ingest import IntakeLimits, Item
from episodic_agent.engine.files import chat_json, transcript
from episodic_agent.engine.files.naming import named
from episodic_agent.engine.files.opening import NORMAL, Opened, Unreadable, inspect, lines
from episodic_agent.engine.files.own import FORMAT
from episodic_agent.errors import InvalidInput

ACCEPTED: Final = (
    'JSON lines or a JSON list of {"role", "content"} messages, {"messages": […]}, {"conversations": […]}, '
    "transcripts of `[time] Name: text` or `Name: text` lines, an export of this project; each also as .gz"
)


class Format(StrEnum):
    """What a file can be."""

    JSON_LINES = "jsonl"
    JSON = "json"
    TRANSCRIPT = "transcript"
    OWN = "own"
    EMPTY = "empty"


def detect(path: Path, *, encoding: str | None = None, limits: IntakeLimits = NORMAL) -> Format:
    """Tell a file's format from its beginning; raises InvalidInput naming what is accepted."""
    return _format(inspect(path, encoding, limits))


def read_file(
    path: Path,
    *,
    encoding: str | None = None,
    timezone: tzinfo | None = None,
    default_actor: str = "user",
    day_first: bool | None = None,
    limits: IntakeLimits = NORMAL,
) -> Iterator[Item | Unreadable]:
    """Stream a chat file: an Item per message, an Unreadable per record that cannot be one.

    Every item has a `conversation`: its own, else one made of how the chat begins (`naming`), so reading a
    file twice, or under another name, gives equal items. `day_first` settles what 03/01/2024 means in a
    transcript (default: see `transcript`). The format is checked at the call, not at the first item; raises
    InvalidInput for a file that is none of the accepted formats or cannot be opened.
    """
    opened = inspect(path, encoding, limits)
    reading = chat_json.ReadingOptions(opened.encoding, timezone, default_actor, limits.message)
    match _format(opened):
        case Format.JSON_LINES:
            return named(chat_json.read_lines(opened, reading))
        case Format.JSON:
            return named(chat_json.read_document(opened, reading))
        case Format.TRANSCRIPT:
            style = transcript.Style(_days(opened, day_first), timezone)
            return named(transcript.read_transcript(opened, style))
        case Format.OWN:
            raise InvalidInput(f"{path} is an export of this project; read it with read_export")
        case Format.EMPTY:
            return iter(())


def _days(opened: Opened, day_first: bool | None) -> bool:
    if day_first is not None:
        return day_first
    if not transcript.has_numeric_dates(opened.sample.splitlines()):
        return False  # nothing to settle: spare a large file the extra reading
    return transcript.is_day_first(line[1] for line in lines(opened) if isinstance(line, tuple))


def _format(opened: Opened) -> Format:
    text = opened.sample.strip()
    if not text:
        return Format.EMPTY
    if transcript.opens_with_message(text, timed=True):
        return Format.TRANSCRIPT
    if text.startswith("{"):
        return _of_objects(opened, text)
    if re.match(r"\[\s*[\[{\"\]]", text):
        return Format.JSON
    if transcript.opens_with_message(text, timed=False):
        return Format.TRANSCRIPT
    raise InvalidInput(f"{opened.path} is in no format this can read; accepted: {ACCEPTED}")


def _of_objects(opened: Opened, text: str) -> Format:
    """Tell JSON lines from one JSON object: a line that is an object by itself makes it lines."""
    first, *more = (line for line in text.splitlines() if line.strip())
    value = _object(first)
    if value is not None:
        return Format.OWN if value.get("format") == FORMAT else Format.JSON_LINES
    # Half a first line, or one longer than the sample: the lines after it decide.
    if any(_object(line) is not None for line in more if line.startswith("{")):
        return Format.JSON_LINES
    return Format.JSON


def _object(line: str) -> dict[str, object] | None:
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None

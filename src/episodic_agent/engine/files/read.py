"""Tell what a chat file is by looking at it, and stream its messages.

Formats: those of the table of foreign formats (`formats`); JSON lines of messages or of conversations, one
JSON document (a list of messages or of conversations, or an object that holds either), plain
transcripts, and the project's own export; each also gzipped, in UTF-8, UTF-16 or UTF-32 by its mark, or any
`encoding` named. All are streamed: no more is held than a line, or an element of a list.
"""

import csv
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import tzinfo
from enum import StrEnum
from pathlib import Path, PurePath
from typing import Final

from episodic_agent.core.ingest import FIELDS, IntakeLimits, Item
from episodic_agent.engine.files import chat_json, transcript
from episodic_agent.engine.files.dates import DateOrder, date_order
from episodic_agent.engine.files.formats.glimpse import Glimpse, glimpse
from episodic_agent.engine.files.formats.table import ForeignFormat, foreign
from episodic_agent.engine.files.naming import named
from episodic_agent.engine.files.opening import (
    MARK,
    NORMAL,
    ArchiveMember,
    Opened,
    Unreadable,
    excerpt,
    inspect,
    lines,
    not_text,
)
from episodic_agent.engine.files.options import ReadingOptions
from episodic_agent.engine.files.own import FORMAT
from episodic_agent.engine.files.speakers import check_speakers
from episodic_agent.errors import InvalidInput

ACCEPTED: Final = (
    "exports of ChatGPT, Claude, Gemini, Slack, Discord, Telegram, WhatsApp, Signal, iMessage, Facebook "
    "and Instagram, "
    "sessions of Claude Code and Codex, "
    "mail, transcripts of meetings (WebVTT, SRT), dumps of mem0, Zep and LangGraph stores, "
    'JSON lines or a JSON list of {"role", "content"} messages, {"messages": […]}, {"conversations": […]}, '
    "Markdown journals (`## 2026-09-03`), "
    "transcripts of `[time] Name: text` or `Name: text` lines, an export of this project"
)
# The keys of our own messages: JSON with none of them near its top is something else.
_OWN_KEYS: Final = frozenset(
    (*FIELDS["text"], *chat_json.MESSAGES, "role", "kind", "action", "objects", "tool_calls", "function_call",
     "tool_call_id", "call_id", "arguments", "input", "result", "output", "error", "calls", "parts", "format")
)  # fmt: skip
_NEAR: Final = 3  # levels
_SPEAKING: Final = frozenset((*FIELDS["speaker"], *_OWN_KEYS - {*FIELDS["text"]}))
_MOSTLY: Final = 0.05  # of what is no text, in a file that is of no format
_HTML: Final = re.compile(r"\s*<(?:!doctype html|html)", re.IGNORECASE)


class Format(StrEnum):
    """What a file can be; a foreign one has its own name."""

    JSON_LINES = "jsonl"
    JSON = "json"
    TRANSCRIPT = "transcript"
    OWN = "own"
    EMPTY = "empty"
    FOREIGN = "foreign"


LABELS: Final = {
    Format.JSON_LINES: "JSON lines",
    Format.JSON: "JSON messages",
    Format.TRANSCRIPT: "transcript",
    Format.OWN: "export of this project",
    Format.EMPTY: "empty file",
}


@dataclass(frozen=True, slots=True)
class Recognised:
    """A file with the format it is in; `foreign` is the row of the table where others define it."""

    opened: Opened
    format: Format
    foreign: ForeignFormat | None = None

    @property
    def name(self) -> str:
        """The format's short name."""
        return self.foreign.name if self.foreign else self.format.value

    @property
    def label(self) -> str:
        """What people call the format."""
        return self.foreign.label if self.foreign else LABELS[self.format]


def recognise(
    path: Path | ArchiveMember,
    *,
    encoding: str | None = None,
    limits: IntakeLimits = NORMAL,
    speaker: str | None = None,
) -> Recognised:
    """Tell what a file is from its beginning; InvalidInput names what is seen and what is accepted.

    `speaker` is the key that says who spoke where none that is known does: nothing is refused then.
    """
    opened = inspect(path, encoding, limits)
    seen = glimpse(str(path), opened.sample)
    row = foreign(seen)
    if row is not None:
        return Recognised(opened, Format.FOREIGN, row)
    return Recognised(opened, _format(opened, seen, speaker))


def detect(
    path: Path,
    *,
    encoding: str | None = None,
    limits: IntakeLimits = NORMAL,
    speaker: str | None = None,
) -> Format:
    """Tell a file's format from its beginning; raises InvalidInput naming what is accepted."""
    return recognise(path, encoding=encoding, limits=limits, speaker=speaker).format


def read_file(
    path: Path,
    *,
    encoding: str | None = None,
    timezone: tzinfo | None = None,
    default_actor: str = "user",
    dates: DateOrder | None = None,
    limits: IntakeLimits = NORMAL,
) -> Iterator[Item | Unreadable]:
    """Stream a chat file: an Item per message, an Unreadable per record that cannot be one.

    Every item has a `conversation`: its own, else one made of how the chat begins (`naming`), so reading a
    file twice, or under another name, gives equal items. `dates` settles what 03/01/2024 means (default:
    found from the file, see `dates`). The format is checked at the call, not at the first item; raises
    InvalidInput for a file that is none of the accepted formats or cannot be opened.
    """
    recognised = recognise(path, encoding=encoding, limits=limits)
    return read_recognised(recognised, ReadingOptions("", timezone, default_actor, dates=dates))


def read_recognised(recognised: Recognised, reading: ReadingOptions) -> Iterator[Item | Unreadable]:
    """Stream a file whose format is known; raises InvalidInput for an export of this project."""
    opened = recognised.opened
    file = PurePath(str(opened.path)).name
    reading = replace(reading, encoding=opened.encoding, largest=opened.limits.message, file=file)
    if recognised.foreign is not None:
        return named(recognised.foreign.read(opened, reading))
    match recognised.format:
        case Format.JSON_LINES:
            return named(chat_json.read_lines(opened, reading))
        case Format.JSON:
            return named(chat_json.read_document(opened, reading))
        case Format.TRANSCRIPT:
            style = transcript.Style(_order(opened, reading), reading.timezone)
            return named(transcript.read_transcript(opened, style))
        case Format.OWN:
            raise InvalidInput(f"{opened.path} is an export of this project; import it by itself")
        case _:
            return iter(())


def _order(opened: Opened, reading: ReadingOptions) -> DateOrder:
    if reading.dates is not None:
        return reading.dates
    if not any(True for _ in transcript.numeric_dates(opened.sample.splitlines())):
        return DateOrder.MDY  # nothing to settle: spare a large file the extra reading
    texts = (line[1] for line in lines(opened) if isinstance(line, tuple))
    chosen = date_order(transcript.numeric_dates(texts))
    if chosen is None:
        return DateOrder.MDY
    reading.notes.remarks[chosen.remark] += 1
    return chosen.order


def _format(opened: Opened, seen: Glimpse, speaker: str | None) -> Format:
    text = opened.sample.strip()
    if not text:
        return Format.EMPTY
    if transcript.opens_with_message(text, timed=True):
        return Format.TRANSCRIPT
    if text.startswith("{") or re.match(r"\[\s*[\[{\"\]]", text):
        near = {path for path in seen.paths if path.count(".") < _NEAR}
        if near and not any(path.rpartition(".")[2] in _OWN_KEYS for path in near):
            raise InvalidInput(
                f"{opened.path} is {seen.shape}, in no format this can read; accepted: {ACCEPTED}"
            )
        kind = _of_objects(opened, text) if text.startswith("{") else Format.JSON
        if speaker is None and kind != Format.OWN:
            check_speakers(opened.path, _keys_of_objects(seen), _SPEAKING)
        return kind
    if _HTML.match(text):
        raise InvalidInput(
            f"{opened.path} is a page in HTML; export it as JSON or text; accepted: {ACCEPTED}"
        )
    if transcript.opens_with_message(text, timed=False):
        return Format.TRANSCRIPT
    if text.count(MARK) > len(text) * _MOSTLY:
        raise InvalidInput(not_text(opened.path))
    first, second = [*text.splitlines(), ""][:2]
    if any(2 < _cells(first, separator) == _cells(second, separator) for separator in ",;\t"):
        raise InvalidInput(
            f"{opened.path} is a table ({excerpt(first)!r}); give each row as a line of JSON, "
            'as {"name": "Ana", "content": "Hi", "timestamp": "2025-03-01T09:00:00Z"}'
        )
    raise InvalidInput(
        f"{opened.path} begins {excerpt(first)!r}, in no format this can read; accepted: {ACCEPTED}"
    )


def _cells(line: str, separator: str) -> int:
    """Count the cells of a row; a separator in quotes divides none."""
    return len(next(csv.reader([line], delimiter=separator), ()))


def _keys_of_objects(seen: Glimpse) -> Iterator[frozenset[str]]:
    """Yield the keys of each kind of object that stands in a file."""
    for holder in {path.rpartition(".")[0] for path in seen.paths}:
        inside = {path.removeprefix(f"{holder}.") for path in seen.paths if path.startswith(f"{holder}.")}
        yield frozenset(
            key for key in (inside if holder else seen.paths) if "." not in key and "[" not in key
        )


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

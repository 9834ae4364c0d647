"""Gemini's chats as Google Takeout writes them: `My Activity.json` of the product "Gemini Apps".

Written after public descriptions of exports up to early 2026, not tried on one. A record is a prompt
(`title`, "Prompted …" in English) and its answers in HTML (`safeHtmlItem`; the last is the one shown after
asking again), newest first. Nothing says which prompts were one conversation: those of a day (UTC) are one.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from tempfile import TemporaryFile
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
    without_marks,
)
from episodic_agent.engine.files.formats.walking import documents
from episodic_agent.engine.files.opening import Opened, Unreadable
from episodic_agent.engine.files.options import ReadingOptions

_PRODUCT: Final = "Gemini Apps"
_FORMER: Final = "Bard"
_PROMPTED: Final = "Prompted "
_FILE: Final = "-  "  # how the lines begin that name attached files


@dataclass(frozen=True, slots=True)
class _GeminiLine:
    line: int
    fields: Mapping[str, object]


def fits(seen: Glimpse) -> bool:
    """Tell a record of activity that names the product."""
    return seen.has("header", "title", "time") and seen.says("header", _PRODUCT, _FORMER)


def read(opened: Opened, reading: ReadingOptions) -> Iterator[Item | Unreadable]:
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


def _prompt(record: _GeminiLine, reading: ReadingOptions) -> Iterator[Item | Unreadable]:
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

"""Google Chat in Google Takeout: a folder a chat, with its `messages.json`.

Written after public examples of Takeout, not tried on an export of one's own. A message's id begins with its
chat's. Its time is written in words, in the language of the account.
"""

import re
from datetime import datetime
from typing import Final

from episodic_agent.core.ingest.times import read_clock
from episodic_agent.engine.files.dates import day_in_words
from episodic_agent.engine.files.formats.glimpse import Glimpse
from episodic_agent.engine.files.formats.speaking import Chat, Records, joined, note, speak
from episodic_agent.engine.files.formats.walking import Fields, list_of, mapping_of, text_of, walk
from episodic_agent.engine.files.opening import Opened, Unreadable
from episodic_agent.engine.files.options import ReadingOptions

_CLOCK: Final = re.compile(r"\d{1,2}:\d{2}(?::\d{2})?(?: ?[AaPp]\.?[Mm]\.?)?")
_SPACES: Final = re.compile(r"\s+")


def fits(seen: Glimpse) -> bool:
    """Tell a chat by who made its messages, and when."""
    return {"messages[].creator.name", "messages[].created_date"} <= seen.paths


def read(opened: Opened, reading: ReadingOptions) -> Records:
    """Stream a chat's messages."""
    for met in walk(opened, {"messages[]"}):
        if isinstance(met, Unreadable):
            yield met
        elif met.path == "messages[]":
            yield from _message(mapping_of(met.value), reading, met.line)


def _message(message: Fields, reading: ReadingOptions, line: int) -> Records:
    if message.get("message_state") == "DELETED":
        reading.leave_out("notice")
        return
    creator = mapping_of(message.get("creator"))
    identity = text_of(message.get("message_id"))
    place = identity.partition("/")[0] if "/" in identity else ""
    chat = Chat(f"google-chat-{place}" if place else None, None, "google-chat")
    files = (note("file", file.get("original_name")) for file in list_of(message.get("attached_files")))
    written = text_of(message.get("created_date"))
    fields = {
        "speaker": creator.get("name") or creator.get("email") or "unknown",
        "content": joined(text_of(message.get("text")), *files),
        "timestamp": written_moment(written) or written or None,
        "id": identity or None,
    }
    yield from speak(chat, fields, reading, line, edited=message.get("updated_date"))


def written_moment(text: str) -> str | None:
    """Read a time in words, as ISO 8601; None where it is in no language known.

    >>> written_moment("Monday, October 12, 2026 at 3:30:00\\u202fPM UTC")
    '2026-10-12T15:30:00+00:00'
    >>> written_moment("Montag, 12. Oktober 2026 um 15:30:00 UTC")
    '2026-10-12T15:30:00+00:00'
    """
    words = _SPACES.sub(" ", text)
    (day, _), clock = day_in_words(words), _CLOCK.search(words)
    time = read_clock(clock[0]) if clock else None
    if day is None or time is None:
        return None
    return datetime.combine(day, time).isoformat() + ("+00:00" if words.endswith("UTC") else "")

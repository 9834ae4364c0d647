"""What the readers of foreign formats share: a chat, its messages made items, notes for what has no words."""

import html
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Final, TypeAlias

from episodic_agent.core.ingest import Item, read_item
from episodic_agent.engine.files.opening import Unreadable, excerpt
from episodic_agent.engine.files.options import ReadingOptions
from episodic_agent.engine.files.speakers import as_user
from episodic_agent.errors import InvalidInput

CELL: Final = " | "  # between two cells of a row
_TITLE: Final = 60  # characters of what was said first in a thread's title
_CELLS: Final = re.compile(r"</t[dh]\s*>\s*<t[dh]\b[^>]*>", re.IGNORECASE)
_BETWEEN: Final = "\x1f"  # stands for the border of two cells, of which empty ones lay a page out
_TAG: Final = re.compile(r"<[^>]+>")
_BREAK: Final = re.compile(r"<(?:br|/p|/div|/li|/tr|/h\d)\b[^>]*>", re.IGNORECASE)


Records: TypeAlias = Iterator[Item | Unreadable]  # what a reader yields


@dataclass(frozen=True, slots=True)
class Chat:
    """A conversation of a foreign format: its stable name, what its people call it, and where it was held."""

    name: str | None
    title: str | None
    channel: str


def speak(
    chat: Chat,
    fields: Mapping[str, object],
    reading: ReadingOptions,
    line: int,
    *,
    edited: object = None,
    also: tuple[object, ...] = (),
    own: bool = False,
    says_same: Callable[[str], bool] | None = None,
) -> Iterator[Item | Unreadable]:
    """Make one message of a chat an item; `fields` are named as `read_item` has them.

    `edited` is when its words were changed, as the platform writes it; None: never. `also` are other names of
    who speaks: an address, an account; `own` tells that it is whoever exported the chat, `says_same`
    whether its text was read so before.

    A message without words or tools is left out and counted; a broken one is reported with its place.
    """
    content = fields.get("content")
    if not fields.get("tool_calls") and fields.get("role") != "tool" and not _has_words(content):
        reading.leave_out("message without words")
        return
    try:
        item = read_item(
            {**fields, "channel": chat.channel},
            default_actor=reading.default_actor,
            timezone=reading.timezone,
            largest=reading.largest,
        )
    except InvalidInput as error:
        where = "".join(
            [
                f"in {chat.title!r}, " if chat.title else "",
                f"message {fields['id']}: " if fields.get("id") else "",
            ]
        )
        yield Unreadable(line, f"{where}{error}", excerpt(str(content)))
        return
    others = tuple(dict.fromkeys(name for name in also if isinstance(name, str) and name.strip()))
    stamp = "" if edited is None else str(edited)
    if own:
        item = as_user(item)
    yield replace(
        item, conversation=chat.name, title=chat.title, edited=stamp, also=others, says_same=says_same
    )


def talk_title(place: str, text: str) -> str:
    """Name one talk of a place where many are held: the place, and what was said first.

    >>> talk_title("#general", "Standup\\nat 10?")
    '#general: Standup at 10?'
    """
    words = " ".join(text.split())
    shortened = words if len(words) <= _TITLE else words[: _TITLE - 1] + "…"
    return f"{place}: {shortened}"


def note(kind: str, name: object = None) -> str:
    """Say that something was attached.

    >>> note("file", "plan.pdf"), note("image")
    ('[file: plan.pdf]', '[image]')
    """
    text = str(name).strip() if isinstance(name, str | int) else ""
    return f"[{kind}: {text}]" if text else f"[{kind}]"


def joined(*parts: str) -> str:
    """Join texts that are not empty, a line each."""
    return "\n".join(part.strip() for part in parts if part.strip())


def link(address: str, label: str) -> str:
    """Write a link with its words.

    >>> link("https://a.example/b", "the plan"), link("https://a.example/b", "a.example/b")
    ('the plan (https://a.example/b)', 'https://a.example/b')
    """
    plain = address.removeprefix("mailto:").removeprefix("tel:")
    bare = plain.removeprefix("https://").removeprefix("http://").rstrip("/")
    if not label or label.rstrip("/") in (address, plain, bare):
        return plain
    return f"{label} ({plain})"


def without_marks(page: str) -> str:
    """Return the words of a piece of HTML, a line where it has one and each row of a table one.

    >>> without_marks("<p>Two  <b>eggs</b>, beaten</p><li>salt &amp; pepper</li>").splitlines()
    ['Two eggs, beaten', 'salt & pepper']
    >>> without_marks("<tr><td></td><td>Base</td><td></td><td>2</td><td>48,00 EUR</td></tr>").strip()
    'Base | 2 | 48,00 EUR'
    """
    divided = _CELLS.sub(_BETWEEN, _BREAK.sub("\n", re.sub(r"\s+", " ", page)))
    rows = (line.split(_BETWEEN) for line in html.unescape(_TAG.sub("", divided)).splitlines())
    return "\n".join(CELL.join(filter(None, map(str.strip, row))) for row in rows)


def _has_words(content: object) -> bool:
    return bool(content.strip()) if isinstance(content, str) else bool(content)

"""Pages of lists: a cursor that says where the next page begins, and belongs to one list alone.

Verbs count from the beginning, so a page reads what comes before it too; what was the last item of the page
before is looked for by its id, so that what is added meanwhile doubles and loses nothing.
"""

import base64
import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from episodic_agent.errors import InvalidInput

LARGEST_PAGE: Final = 200
DEFAULT_PAGE: Final = 50
_FURTHEST: Final = 1 << 31  # items before a page
_IDS: Final = ("id", "episode_id", "user_id")
Read = Callable[[int], Sequence[Any]]  # the first so many items of a list


@dataclass(frozen=True, slots=True)
class PageStart:
    """Where a page begins: after so many items, the last of which had this mark."""

    after: int = 0
    mark: str = ""


def page(
    read: Read, limit: int, cursor: str | None, listing: Mapping[str, Any]
) -> tuple[list[Any], str | None]:
    """Return a page of a list and the cursor of the next one, None behind the last.

    `read(n)` returns the first `n` items; `listing` is what tells this list from others. Raises InvalidInput
    for a cursor of another list.

    >>> items, following = page(lambda n: list(range(5))[:n], 2, None, {})
    >>> items, page(lambda n: list(range(5))[:n], 3, following, {})
    ([0, 1], ([2, 3, 4], None))
    """
    start = PageStart() if cursor is None else _read_cursor(cursor, listing)
    begin, items = _resume(read, start, limit)
    chosen = list(items[begin : begin + limit])
    ends = len(items) <= begin + limit
    return chosen, None if ends or not chosen else _cursor(
        PageStart(begin + limit, _mark(chosen[-1])), listing
    )


def _resume(read: Read, start: PageStart, limit: int) -> tuple[int, Sequence[Any]]:
    """Return where the page begins in a list, and enough of that list to know whether it goes on."""
    asked = start.after + limit + 1
    while True:
        items = read(asked)
        marks = [_mark(item) for item in items] if start.mark else []
        if not start.mark:
            return 0, items
        if start.mark in marks:
            begin = marks.index(start.mark) + 1
            if len(items) < asked or len(items) > begin + limit:
                return begin, items
        elif len(items) < asked:
            return min(start.after, len(items)), items  # it was deleted meanwhile
        asked *= 2


def _mark(item: Any) -> str:
    """Return what an item is known by: its id, or a digest of what it says."""
    for name in _IDS:
        if (value := getattr(item, name, None)) is not None:
            return str(value)
    return hashlib.sha256(repr(item).encode("utf-8", "replace")).hexdigest()[:16]


def _digest(listing: Mapping[str, Any]) -> str:
    text = json.dumps(listing, sort_keys=True, default=str)
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:8]


def _cursor(start: PageStart, listing: Mapping[str, Any]) -> str:
    text = json.dumps([_digest(listing), start.after, start.mark])
    return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")


def _read_cursor(cursor: str, listing: Mapping[str, Any]) -> PageStart:
    try:
        padded = cursor + "=" * (-len(cursor) % 4)
        digest, after, mark = json.loads(base64.urlsafe_b64decode(padded))
        start = PageStart(int(after), str(mark))
    except (ValueError, TypeError, OverflowError) as error:
        raise InvalidInput(f"{cursor[:40]!r} is no cursor; give the `next` of the page before") from error
    if digest != _digest(listing) or not (0 < start.after < _FURTHEST and start.mark):
        raise InvalidInput("this cursor is of another list; give it with the arguments it came from")
    return start

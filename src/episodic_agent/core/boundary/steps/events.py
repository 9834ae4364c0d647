"""What an agent's step says happened: event objects of many shapes, read tolerantly and counted once."""

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Final
from zlib import crc32

from episodic_agent.schemas import Json

SALIENT: Final = frozenset({"state_change", "appearance", "disappearance"})
MANUAL: Final = "manual"
REMEMBERED: Final = 64  # ids of counted events kept; sensors that repeat an event do so within few steps
_TYPE_KEYS: Final = ("type", "event_type", "change_type", "kind")
_ID_KEYS: Final = ("id", "event_id", "guid")
_TIME_KEYS: Final = ("timestamp", "time", "at")
_SAME: Final[Mapping[str, str]] = {
    "appeared": "appearance",
    "appear": "appearance",
    "new": "appearance",
    "disappeared": "disappearance",
    "disappear": "disappearance",
    "missing": "disappearance",
    "changed": "state_change",
    "state_changed": "state_change",
    "moved": "movement",
}


def kind_of(event: Mapping[str, Json]) -> str:
    """Return an event's type in the words of seed 000, whatever the sensor calls it; "" where none is given.

    >>> kind_of({"event_type": "Appeared"}), kind_of({"type": "moved"}), kind_of({})
    ('appearance', 'movement', '')
    """
    named = next((event[key] for key in _TYPE_KEYS if isinstance(event.get(key), str)), "")
    word = str(named).strip().casefold().replace("-", "_").replace(" ", "_")
    return _SAME.get(word, word)


def is_manual(events: Iterable[Mapping[str, Json]]) -> bool:
    """Say whether the step itself asks for a boundary: an event of type `manual`.

    >>> is_manual([{"type": "manual"}]), is_manual([{"type": "appearance"}])
    (True, False)
    """
    return any(kind_of(event) == MANUAL for event in events)


def count_new(events: Iterable[Mapping[str, Json]], seen: Sequence[int]) -> tuple[int, tuple[int, ...]]:
    """Count the salient events not counted before; return the number and the keys to remember, oldest first.

    An event is known by its id, else by its whole content if it carries a time. Without either it is a new
    one each time it is told.

    >>> opened = {"id": 7, "type": "changed"}
    >>> number, seen = count_new([opened, opened, {"type": "moved"}], ())
    >>> number, count_new([opened, {"type": "new"}], seen)[0]
    (1, 1)
    """
    known, count = list(seen), 0
    for event in events:
        if kind_of(event) not in SALIENT:
            continue
        key = _key(event)
        if key is not None and key in known:
            continue
        count += 1
        if key is not None:
            known.append(key)
    return count, tuple(known[-REMEMBERED:])


def _key(event: Mapping[str, Json]) -> int | None:
    own = next((event[key] for key in _ID_KEYS if event.get(key) not in (None, "")), None)
    if own is not None:
        return crc32(f"id:{own}".encode())
    if any(event.get(key) is not None for key in _TIME_KEYS):
        return crc32(json.dumps(event, sort_keys=True, default=str).encode())
    return None

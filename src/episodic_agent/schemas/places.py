"""A stay: a run of a thread's observations at one place."""

from datetime import datetime
from functools import lru_cache
from typing import Final, NamedTuple

UNKNOWN: Final = "unknown"


class Visit(NamedTuple):
    """A maximal run of a thread's observations at one place.

    `first_ref` and `last_ref` are index references (`interfaces.ref_of`) of its first and last observation
    there; what lies between and names no place belongs to it too, but `steps` does not count it. `start_at`
    and `end_at` are the earliest and latest event time of those counted. `label` is as first written in it.
    """

    first_ref: int
    last_ref: int
    label: str
    start_at: datetime
    end_at: datetime
    steps: int

    @property
    def place(self) -> str:
        """Return the place's key."""
        return place_key(self.label)

    @property
    def thread(self) -> int:
        """Return the number of the thread."""
        return self.first_ref >> 32


@lru_cache(maxsize=4096)
def place_key(label: str | None) -> str:
    """Return what tells one place from another; "" for no place.

    >>> place_key(" Living Room"), place_key("unknown"), place_key(None)
    ('living room', '', '')
    """
    key = (label or "").strip().casefold()
    return "" if key == UNKNOWN else key

"""Where a thread was, and for how long: runs of observations at one place, each a *stay*.

A place is what its label says, whatever the case ("Kitchen", " kitchen"). An observation that does not know
its place neither ends a stay nor counts in it: the stay goes on when the same place comes again.
"""

from collections.abc import Iterable, Iterator
from datetime import datetime
from functools import lru_cache
from typing import Final, NamedTuple

from episodic_agent.schemas import Observation

UNKNOWN: Final = "unknown"


class Stay(NamedTuple):
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


def stays_of(number: int, observations: Iterable[Observation]) -> list[Stay]:
    """Return the stays of observations in order, all of the thread that has this number.

    >>> from datetime import UTC, datetime
    >>> from uuid import UUID
    >>> at = datetime(2026, 1, 1, tzinfo=UTC)
    >>> places = ["Hall", None, "hall ", "unknown", "den"]
    >>> walk = [Observation(UUID(int=n), UUID(int=9), n, at, at, "agent", "…", location=p)
    ...     for n, p in enumerate(places)]
    >>> [(s.first_ref, s.last_ref, s.label, s.steps) for s in stays_of(0, walk)]
    [(0, 2, 'Hall', 2), (4, 4, 'den', 1)]
    """
    return list(joined(_each(number, observations)))


def _each(number: int, observations: Iterable[Observation]) -> Iterator[Stay]:
    for one in observations:
        if one.location is not None and place_key(one.location):
            ref = (number << 32) | one.seq  # as `interfaces.ref_of`, which stands above
            yield Stay(ref, ref, one.location.strip(), one.at, one.at, 1)


def joined(stays: Iterable[Stay]) -> Iterator[Stay]:
    """Join neighbours in one thread that are one stay, of pieces in order of their references."""
    last: Stay | None = None
    for stay in stays:
        if last is not None and (last.thread, last.place) == (stay.thread, stay.place):
            last = last._replace(
                last_ref=stay.last_ref,
                start_at=min(last.start_at, stay.start_at),
                end_at=max(last.end_at, stay.end_at),
                steps=last.steps + stay.steps,
            )
            continue
        if last is not None:
            yield last
        last = stay
    if last is not None:
        yield last

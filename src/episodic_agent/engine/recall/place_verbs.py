"""Places: where a user's threads were, visit by visit."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Final, Unpack

from episodic_agent.engine.arguments import aware, clean_name
from episodic_agent.engine.episodes.listing import find_thread
from episodic_agent.engine.filters import Filter, Narrowed, narrowed
from episodic_agent.engine.recall.places import (
    PlaceSummary,
    Stretch,
    VisitCard,
    count_places,
    route_of,
    visits_of,
)
from episodic_agent.engine.scoped import RoomOf, Scoped
from episodic_agent.engine.trace.acts import acts
from episodic_agent.protocols import Transaction

_TAKES: Final = ("thread", "since", "until")


@acts("places")
class PlaceRoom(RoomOf):
    """Where a user's threads were; a filter takes `thread`, `since` and `until`."""

    def __init__(self, at: Scoped) -> None:
        self._at = at

    def list(self, *, filter: Filter | None = None, **narrow: Unpack[Narrowed]) -> PlaceSummary:
        """Return where the user's threads were, how often and how long, and the moves from place to place.

        Visits that touch [since, until) count whole.
        """
        filter_ = narrowed(filter, narrow, takes=_TAKES)
        with self._at.read() as tx:
            return count_places(tx, _stretch(tx, filter_))

    def visits(
        self,
        place: str,
        /,
        *,
        limit: int | None = None,
        order: str = "newest",
        filter: Filter | None = None,
        **narrow: Unpack[Narrowed],
    ) -> Sequence[VisitCard]:
        """Return the visits of a place, each linked to the one before and the one after it.

        `order` is newest (first) or oldest. Raises NotFound, with the nearest name, where nobody ever was.
        """
        filter_ = narrowed(filter, narrow, takes=_TAKES)
        with self._at.read() as tx:
            return visits_of(tx, clean_name(place) or "", _stretch(tx, filter_), limit=limit, order=order)

    def route(
        self, thread: str, /, *, filter: Filter | None = None, **narrow: Unpack[Narrowed]
    ) -> Sequence[VisitCard]:
        """Return the places a thread went through, in order, with the episodes of each visit."""
        filter_ = narrowed(filter, narrow, takes=("since", "until"))
        with self._at.read() as tx:
            return route_of(tx, _stretch(tx, replace(filter_, thread=thread)))


def _stretch(tx: Transaction, filter: Filter) -> Stretch:
    identity = None if filter.thread is None else find_thread(tx, clean_name(filter.thread) or "").id
    return Stretch(identity, aware(filter.since), aware(filter.until))

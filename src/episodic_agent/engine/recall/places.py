"""Recall by place: where threads were, the visits of a place linked one to the next, a thread's way.

A visit is a stay (`core/places.py`). Its episodes are those whose messages or steps it shares, the open frame
among them; nothing of that is stored, so a resegmentation needs nothing here.
"""

from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from difflib import get_close_matches
from typing import Final
from uuid import UUID

from episodic_agent.core.identity import episode_id
from episodic_agent.core.language import plural
from episodic_agent.engine.arguments import counted, out_of_order
from episodic_agent.errors import InvalidInput, NotFound
from episodic_agent.protocols import Cover, Transaction, split_ref
from episodic_agent.schemas.places import Visit, place_key
from episodic_agent.showing import described

ORDERS: Final = ("newest", "oldest")


@dataclass(frozen=True, slots=True)
class PlaceCard:
    """A place: its label as first seen, steps counted there, visits, and the episodes they reach into.

    `first_at` and `last_at` are event times; an open frame counts as an episode.
    """

    label: str
    steps: int
    visits: int
    episodes: int
    first_at: datetime
    last_at: datetime

    def __repr__(self) -> str:
        return described(
            self, self.label, plural(self.steps, "step"), plural(self.visits, "visit"), self.last_at
        )


@dataclass(frozen=True, slots=True)
class MoveCard:
    """How often a thread was next in `target` after a visit of `source`."""

    source: str
    target: str
    count: int


@dataclass(frozen=True, slots=True)
class PlaceSummary:
    """The places, most steps first, and the moves between them, most frequent first; ties by labels."""

    places: Sequence[PlaceCard]
    moves: Sequence[MoveCard]

    def __repr__(self) -> str:
        return described(
            self,
            plural(len(self.places), "place"),
            plural(len(self.moves), "move"),
            *(one.label for one in self.places[:3]),
        )


@dataclass(frozen=True, slots=True)
class VisitMark:
    """Which visit: its thread (by its caller's name), the first seq of it, and when it was."""

    thread: str
    first_seq: int
    start_at: datetime
    end_at: datetime


@dataclass(frozen=True, slots=True)
class VisitCard:
    """A visit of a place: a thread was there from `first_seq` to `last_seq`, `steps` of which say so.

    `episodes` are the ids of those it reaches into, in order. `previous` and `following` are the visits of
    the same place before and after it, `since_previous` the time between, 0 where threads met there.
    """

    place: str
    thread: str
    thread_id: UUID
    first_seq: int
    last_seq: int
    start_at: datetime
    end_at: datetime
    steps: int
    episodes: Sequence[UUID]
    previous: VisitMark | None = None
    following: VisitMark | None = None
    since_previous: timedelta | None = None

    def __repr__(self) -> str:
        return described(self, self.place, self.thread, self.start_at, plural(self.steps, "step"))


@dataclass(frozen=True, slots=True)
class Stretch:
    """What is asked for: a thread, a stretch [since, until) of event time that a visit must touch."""

    thread_id: UUID | None = None
    since: datetime | None = None
    until: datetime | None = None

    def __post_init__(self) -> None:
        if self.since and self.until and self.since >= self.until:
            raise InvalidInput(out_of_order(self.since, self.until))

    def touches(self, visit: Visit) -> bool:
        """Tell whether a stay reaches into the stretch."""
        if self.since is not None and visit.end_at < self.since:
            return False
        return self.until is None or visit.start_at < self.until


class Owners:
    """Which current episodes stays reach into; what none of them owns is in its thread's open frame."""

    def __init__(self, tx: Transaction, spans: Sequence[tuple[int, int]]) -> None:
        self._covers = tx.index.covers(spans) if spans else ()
        self._begin = [cover.first_ref for cover in self._covers]

    def closed(self, visit: Visit) -> Sequence[Cover]:
        """Return the episodes of a stay in order."""
        first = max(0, bisect_right(self._begin, visit.first_ref) - 1)
        covers = self._covers[first : bisect_right(self._begin, visit.last_ref)]
        return covers[1:] if covers and covers[0].last_ref < visit.first_ref else covers

    @staticmethod
    def is_open(visit: Visit, closed: Sequence[Cover]) -> bool:
        """Tell whether a stay reaches beyond its last closed episode."""
        return not closed or closed[-1].last_ref < visit.last_ref


def count_places(tx: Transaction, asked: Stretch) -> PlaceSummary:
    """Count the places and the moves between them; visits that touch the stretch count whole."""
    everywhere = tx.threads.visits(thread_id=asked.thread_id)
    labels = _labels(everywhere)
    if asked.thread_id is not None:
        labels |= {key: label for key, label in tx.threads.places().items() if key in labels}
    shown = {stay.label: labels[stay.place] for stay in everywhere}
    by_place: defaultdict[str, list[Visit]] = defaultdict(list)
    moves: Counter[tuple[str, str]] = Counter()
    before: Visit | None = None
    for visit in everywhere:
        if asked.touches(visit):
            by_place[shown[visit.label]].append(visit)
            if before is not None and before.first_ref >> 32 == visit.first_ref >> 32:
                moves[shown[before.label], shown[visit.label]] += 1
            before = visit
        else:
            before = None
    owners = Owners(tx, _whole_threads(everywhere))
    cards = [_place_card(label, stays, owners) for label, stays in by_place.items()]
    return PlaceSummary(
        sorted(cards, key=lambda card: (-card.steps, card.label)),
        [MoveCard(a, b, n) for (a, b), n in sorted(moves.items(), key=lambda item: (-item[1], item[0]))],
    )


def _place_card(label: str, visits: Sequence[Visit], owners: Owners) -> PlaceCard:
    reached: set[int] = set()  # episodes by their first ref, a thread's open frame by its number below zero
    for visit in visits:
        closed = owners.closed(visit)
        reached.update([cover.first_ref for cover in closed])
        if owners.is_open(visit, closed):
            reached.add(-visit.thread)
    return PlaceCard(
        label=label,
        steps=sum([stay.steps for stay in visits]),
        visits=len(visits),
        episodes=len(reached),
        first_at=min([stay.start_at for stay in visits]),
        last_at=max([stay.end_at for stay in visits]),
    )


def _labels(visits: Sequence[Visit]) -> dict[str, str]:
    """Return the label of each place as written at the earliest event time."""
    matching_visits: dict[str, Visit] = {}
    for visit in sorted(visits, key=_by_time):
        matching_visits.setdefault(visit.place, visit)
    return {key: stay.label for key, stay in matching_visits.items()}


def _by_time(visit: Visit) -> tuple[datetime, int]:
    return visit.start_at, visit.first_ref


def _whole_threads(visits: Sequence[Visit]) -> list[tuple[int, int]]:
    """Return the first and last ref of each thread in stays by reference."""
    ends = {stay.first_ref >> 32: stay.last_ref for stay in visits}
    begins = {stay.first_ref >> 32: stay.first_ref for stay in reversed(visits)}
    return [(begins[number], last) for number, last in ends.items()]


def visits_of(
    tx: Transaction, place: str, asked: Stretch, *, limit: int | None = None, order: str = "newest"
) -> list[VisitCard]:
    """Return the visits of a place that touch the stretch; NotFound where nobody ever was there."""
    most = None if limit is None else counted("limit", limit)
    if order not in ORDERS:
        raise InvalidInput(f"`order` is one of {', '.join(ORDERS)}")
    visits = sorted(known_visits(tx, place, asked.thread_id), key=_by_time)
    chosen = [stay for stay in visits if asked.touches(stay)]
    if order == "newest":
        chosen.reverse()
    return _cards(tx, chosen[:most], _neighbours(visits))


def known_visits(tx: Transaction, place: str, thread_id: UUID | None = None) -> Sequence[Visit]:
    """Return the stays at a place (in a thread); NotFound naming the nearest where nobody ever was there."""
    visits = tx.threads.visits(place=place, thread_id=thread_id)
    if visits or (thread_id is not None and tx.threads.visits(place=place)):
        return visits
    labels = tx.threads.places()
    nearest = get_close_matches(place_key(place), labels, n=1, cutoff=0.0)
    if not nearest:
        raise NotFound(
            f"no place {place!r} in this memory: nothing here says where it was; observations with a "
            "`location` do, older ones count after `episodic doctor --repair`"
        )
    known = f"did you mean {labels[nearest[0]]!r}?"
    raise NotFound(f"no place {place!r} in this memory; {known}; `episodic places` lists all {len(labels)}")


def owners_of(tx: Transaction, visits: Sequence[Visit]) -> tuple[list[UUID], list[UUID]]:
    """Return the ids of the closed episodes stays reach into, and of the threads whose open frame they do."""
    owners = Owners(tx, [(stay.first_ref, stay.last_ref) for stay in visits])
    reached = [(stay, owners.closed(stay)) for stay in visits]
    closed = dict.fromkeys(UUID(hex=cover.name) for _, covers in reached for cover in covers)
    opened = sorted({stay.thread for stay, covers in reached if owners.is_open(stay, covers)})
    return list(closed), list(tx.threads.by_numbers(opened).values())


def route_of(tx: Transaction, asked: Stretch) -> list[VisitCard]:
    """Return a thread's visits in order, each linked to those of the same place in this thread."""
    visits = tx.threads.visits(thread_id=asked.thread_id)
    return _cards(tx, [stay for stay in visits if asked.touches(stay)], _neighbours(visits))


Beside = Mapping[int, tuple[Visit | None, Visit | None]]  # by first_ref


def _neighbours(visits: Sequence[Visit]) -> Beside:
    """Return the stays at the same place before and after each one, in the order given."""
    by_place: defaultdict[str, list[Visit]] = defaultdict(list)
    for visit in visits:
        by_place[visit.place].append(visit)
    return {
        stay.first_ref: (before, after)
        for here in by_place.values()
        for before, stay, after in zip([None, *here], here, [*here[1:], None], strict=False)
    }


def _cards(tx: Transaction, visits: Sequence[Visit], beside: Beside) -> list[VisitCard]:
    shown = {*visits, *(one for stay in visits for one in beside[stay.first_ref] if one is not None)}
    threads = tx.threads.by_numbers(sorted({stay.thread for stay in shown}))
    origins = {number: _origin(tx, identity) for number, identity in threads.items()}
    owners = Owners(tx, [(stay.first_ref, stay.last_ref) for stay in visits])
    opened: dict[int, UUID] = {}
    labels = tx.threads.places() if visits else {}

    def episodes(visit: Visit) -> Sequence[UUID]:
        closed = owners.closed(visit)
        ids = [UUID(hex=cover.name) for cover in closed]
        if not owners.is_open(visit, closed):
            return ids
        if visit.thread not in opened:
            opened[visit.thread] = open_id(tx, threads[visit.thread])
        return [*ids, opened[visit.thread]]

    def mark(visit: Visit | None) -> VisitMark | None:
        if visit is None:
            return None
        return VisitMark(origins[visit.thread], split_ref(visit.first_ref)[1], visit.start_at, visit.end_at)

    def card(visit: Visit) -> VisitCard:
        before, after = beside[visit.first_ref]
        return VisitCard(
            place=labels.get(visit.place, visit.label),
            thread=origins[visit.thread],
            thread_id=threads[visit.thread],
            first_seq=split_ref(visit.first_ref)[1],
            last_seq=split_ref(visit.last_ref)[1],
            start_at=visit.start_at,
            end_at=visit.end_at,
            steps=visit.steps,
            episodes=episodes(visit),
            previous=mark(before),
            following=mark(after),
            since_previous=None if before is None else max(timedelta(0), visit.start_at - before.end_at),
        )

    return [card(stay) for stay in visits]


def _origin(tx: Transaction, thread_id: UUID) -> str:
    thread = tx.threads.get(thread_id)
    return "" if thread is None else thread.origin


def open_id(tx: Transaction, thread_id: UUID) -> UUID:
    """Return the id a thread's open frame will have as an episode if it is cut where it begins now."""
    thread, frame = tx.threads.get(thread_id), tx.threads.frame(thread_id)
    return episode_id(thread_id, frame.first_seq, thread.generation if thread else 0)

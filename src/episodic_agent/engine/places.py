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
from episodic_agent.core.interfaces import Cover, Transaction, split_ref
from episodic_agent.core.places import Stay, place_key
from episodic_agent.engine.given import counted
from episodic_agent.errors import InvalidInput, NotFound

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


@dataclass(frozen=True, slots=True)
class MoveCard:
    """How often a thread was next in `target` after a visit of `source`."""

    source: str
    target: str
    count: int


@dataclass(frozen=True, slots=True)
class Places:
    """The places, most steps first, and the moves between them, most frequent first; ties by labels."""

    places: Sequence[PlaceCard]
    moves: Sequence[MoveCard]


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


@dataclass(frozen=True, slots=True)
class Stretch:
    """What is asked for: a thread, a stretch [since, until) of event time that a visit must touch."""

    thread_id: UUID | None = None
    since: datetime | None = None
    until: datetime | None = None

    def __post_init__(self) -> None:
        if self.since and self.until and self.since >= self.until:
            raise InvalidInput("`since` must be before `until`")

    def touches(self, stay: Stay) -> bool:
        """Tell whether a stay reaches into the stretch."""
        if self.since is not None and stay.end_at < self.since:
            return False
        return self.until is None or stay.start_at < self.until


class Owners:
    """Which current episodes stays reach into; what none of them owns is in its thread's open frame."""

    def __init__(self, tx: Transaction, spans: Sequence[tuple[int, int]]) -> None:
        self._covers = tx.episodes.covers(spans) if spans else ()
        self._begin = [cover.first_ref for cover in self._covers]

    def closed(self, stay: Stay) -> Sequence[Cover]:
        """Return the episodes of a stay in order."""
        first = max(0, bisect_right(self._begin, stay.first_ref) - 1)
        found = self._covers[first : bisect_right(self._begin, stay.last_ref)]
        return found[1:] if found and found[0].last_ref < stay.first_ref else found

    @staticmethod
    def is_open(stay: Stay, closed: Sequence[Cover]) -> bool:
        """Tell whether a stay reaches beyond its last closed episode."""
        return not closed or closed[-1].last_ref < stay.last_ref


def count_places(tx: Transaction, asked: Stretch) -> Places:
    """Count the places and the moves between them; visits that touch the stretch count whole."""
    everywhere = tx.places.stays(thread_id=asked.thread_id)
    labels = _labels(everywhere)
    if asked.thread_id is not None:
        labels |= {key: label for key, label in tx.places.labels().items() if key in labels}
    shown = {stay.label: labels[stay.place] for stay in everywhere}
    by_place: defaultdict[str, list[Stay]] = defaultdict(list)
    moves: Counter[tuple[str, str]] = Counter()
    before: Stay | None = None
    for stay in everywhere:
        if asked.touches(stay):
            by_place[shown[stay.label]].append(stay)
            if before is not None and before.first_ref >> 32 == stay.first_ref >> 32:
                moves[shown[before.label], shown[stay.label]] += 1
            before = stay
        else:
            before = None
    owners = Owners(tx, _whole_threads(everywhere))
    cards = [_place_card(label, stays, owners) for label, stays in by_place.items()]
    return Places(
        sorted(cards, key=lambda card: (-card.steps, card.label)),
        [MoveCard(a, b, n) for (a, b), n in sorted(moves.items(), key=lambda item: (-item[1], item[0]))],
    )


def _place_card(label: str, stays: Sequence[Stay], owners: Owners) -> PlaceCard:
    reached: set[int] = set()  # episodes by their first ref, a thread's open frame by its number below zero
    for stay in stays:
        closed = owners.closed(stay)
        reached.update([cover.first_ref for cover in closed])
        if owners.is_open(stay, closed):
            reached.add(-stay.thread)
    return PlaceCard(
        label=label,
        steps=sum([stay.steps for stay in stays]),
        visits=len(stays),
        episodes=len(reached),
        first_at=min([stay.start_at for stay in stays]),
        last_at=max([stay.end_at for stay in stays]),
    )


def _labels(stays: Sequence[Stay]) -> dict[str, str]:
    """Return the label of each place as written at the earliest event time."""
    found: dict[str, Stay] = {}
    for stay in sorted(stays, key=_by_time):
        found.setdefault(stay.place, stay)
    return {key: stay.label for key, stay in found.items()}


def _by_time(stay: Stay) -> tuple[datetime, int]:
    return stay.start_at, stay.first_ref


def _whole_threads(stays: Sequence[Stay]) -> list[tuple[int, int]]:
    """Return the first and last ref of each thread in stays by reference."""
    ends = {stay.first_ref >> 32: stay.last_ref for stay in stays}
    begins = {stay.first_ref >> 32: stay.first_ref for stay in reversed(stays)}
    return [(begins[number], last) for number, last in ends.items()]


def visits_of(
    tx: Transaction, place: str, asked: Stretch, *, limit: int | None = None, order: str = "newest"
) -> list[VisitCard]:
    """Return the visits of a place that touch the stretch; NotFound where nobody ever was there."""
    most = None if limit is None else counted("limit", limit)
    if order not in ORDERS:
        raise InvalidInput(f"`order` is one of {', '.join(ORDERS)}")
    stays = sorted(known_stays(tx, place, asked.thread_id), key=_by_time)
    chosen = [stay for stay in stays if asked.touches(stay)]
    if order == "newest":
        chosen.reverse()
    return _cards(tx, chosen[:most], _neighbours(stays))


def known_stays(tx: Transaction, place: str, thread_id: UUID | None = None) -> Sequence[Stay]:
    """Return the stays at a place (in a thread); NotFound naming the nearest where nobody ever was there."""
    stays = tx.places.stays(place=place, thread_id=thread_id)
    if stays or (thread_id is not None and tx.places.stays(place=place)):
        return stays
    labels = tx.places.labels()
    nearest = get_close_matches(place_key(place), labels, n=1, cutoff=0.0)
    if not nearest:
        raise NotFound(
            f"no place {place!r} in this memory: nothing here says where it was; observations with a "
            "`location` do, older ones count after `episodic doctor --repair`"
        )
    known = f"did you mean {labels[nearest[0]]!r}?"
    raise NotFound(f"no place {place!r} in this memory; {known} `episodic places` lists all {len(labels)}")


def owners_of(tx: Transaction, stays: Sequence[Stay]) -> tuple[list[UUID], list[UUID]]:
    """Return the ids of the closed episodes stays reach into, and of the threads whose open frame they do."""
    owners = Owners(tx, [(stay.first_ref, stay.last_ref) for stay in stays])
    reached = [(stay, owners.closed(stay)) for stay in stays]
    closed = dict.fromkeys(UUID(hex=cover.name) for _, covers in reached for cover in covers)
    opened = sorted({stay.thread for stay, covers in reached if owners.is_open(stay, covers)})
    return list(closed), list(tx.threads.by_numbers(opened).values())


def route_of(tx: Transaction, asked: Stretch) -> list[VisitCard]:
    """Return a thread's visits in order, each linked to those of the same place in this thread."""
    stays = tx.places.stays(thread_id=asked.thread_id)
    return _cards(tx, [stay for stay in stays if asked.touches(stay)], _neighbours(stays))


Beside = Mapping[int, tuple[Stay | None, Stay | None]]  # by first_ref


def _neighbours(stays: Sequence[Stay]) -> Beside:
    """Return the stays at the same place before and after each one, in the order given."""
    by_place: defaultdict[str, list[Stay]] = defaultdict(list)
    for stay in stays:
        by_place[stay.place].append(stay)
    return {
        stay.first_ref: (before, after)
        for here in by_place.values()
        for before, stay, after in zip([None, *here], here, [*here[1:], None], strict=False)
    }


def _cards(tx: Transaction, stays: Sequence[Stay], beside: Beside) -> list[VisitCard]:
    shown = {*stays, *(one for stay in stays for one in beside[stay.first_ref] if one is not None)}
    threads = tx.threads.by_numbers(sorted({stay.thread for stay in shown}))
    origins = {number: _origin(tx, identity) for number, identity in threads.items()}
    owners = Owners(tx, [(stay.first_ref, stay.last_ref) for stay in stays])
    opened: dict[int, UUID] = {}
    labels = tx.places.labels() if stays else {}

    def episodes(stay: Stay) -> Sequence[UUID]:
        closed = owners.closed(stay)
        ids = [UUID(hex=cover.name) for cover in closed]
        if not owners.is_open(stay, closed):
            return ids
        if stay.thread not in opened:
            opened[stay.thread] = open_id(tx, threads[stay.thread])
        return [*ids, opened[stay.thread]]

    def mark(stay: Stay | None) -> VisitMark | None:
        if stay is None:
            return None
        return VisitMark(origins[stay.thread], split_ref(stay.first_ref)[1], stay.start_at, stay.end_at)

    def card(stay: Stay) -> VisitCard:
        before, after = beside[stay.first_ref]
        return VisitCard(
            place=labels.get(stay.place, stay.label),
            thread=origins[stay.thread],
            thread_id=threads[stay.thread],
            first_seq=split_ref(stay.first_ref)[1],
            last_seq=split_ref(stay.last_ref)[1],
            start_at=stay.start_at,
            end_at=stay.end_at,
            steps=stay.steps,
            episodes=episodes(stay),
            previous=mark(before),
            following=mark(after),
            since_previous=None if before is None else max(timedelta(0), stay.start_at - before.end_at),
        )

    return [card(stay) for stay in stays]


def _origin(tx: Transaction, thread_id: UUID) -> str:
    thread = tx.threads.get(thread_id)
    return "" if thread is None else thread.origin


def open_id(tx: Transaction, thread_id: UUID) -> UUID:
    """Return the id a thread's open frame will have as an episode if it is cut where it begins now."""
    thread, frame = tx.threads.get(thread_id), tx.threads.frame(thread_id)
    return episode_id(thread_id, frame.first_seq, thread.generation if thread else 0)

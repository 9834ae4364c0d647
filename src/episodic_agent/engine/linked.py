"""Which threads a context may draw on: the linked ones, directly or through their cross-thread episode."""

from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple
from uuid import UUID

from episodic_agent.core.context import Basis
from episodic_agent.core.interfaces import Transaction
from episodic_agent.schemas import Link, Thread

UNCERTAIN: Final = "UNCERTAIN"
RECALL, HAND = "recall", "hand"
_MEMBERS: Final = 20  # threads of one cross-thread episode that are looked at, the newest
_BASES: Final = {RECALL: Basis.CUE, HAND: Basis.HAND}


class Near(NamedTuple):
    """A thread that is linked, or would be: why (a `Link`'s basis), and whether that is uncertain."""

    thread_id: UUID
    basis: str = "continuity"
    uncertain: bool = False


class NearThread(NamedTuple):
    """A linked thread, found."""

    thread: Thread
    basis: Basis
    uncertain: bool


def links_of(tx: Transaction, thread: UUID) -> list[Near]:
    """Return the threads a thread is linked to, whichever of the two came first.

    A recall holds one way: the thread that was recalled has not asked for the one that recalled it.
    """
    return [
        Near(_other(link, thread), _seen_from(link, thread), link.label == UNCERTAIN)
        for link in tx.links.of([thread])
    ]


def chosen(
    tx: Transaction, direct: Sequence[Near], own: UUID | None, *, explicit: bool, most: int
) -> list[NearThread]:
    """Return the linked threads to tell of: direct ones, then those of the same cross-thread episodes.

    Each part most recently active first. Where the user chooses threads (`explicit`) only what they recalled
    or linked by hand counts.
    """
    wanted = [one for one in direct if one.basis in _BASES] if explicit else list(direct)
    found = _found(tx, wanted, own)
    if not explicit and len(found) < most:
        found += _found(tx, _joined(tx, wanted, own), own)
    return found[:most]


def _found(tx: Transaction, wanted: Iterable[Near], own: UUID | None) -> list[NearThread]:
    threads = {one.thread_id: (one, tx.threads.get(one.thread_id)) for one in wanted if one.thread_id != own}
    found = [
        NearThread(thread, _BASES.get(one.basis, Basis.CONTINUITY), one.uncertain)
        for one, thread in threads.values()
        if thread is not None
    ]
    return sorted(found, key=lambda near: (near.thread.last_activity_at, near.thread.id), reverse=True)


def _joined(tx: Transaction, direct: Sequence[Near], own: UUID | None) -> list[Near]:
    """Return the other members of the episodes that the thread or its links are in.

    One is certain where a way of certain links leads to it.
    """
    named = [one.thread_id for one in direct]
    episodes = tx.links.joined(named if own is None else [own, *named]).values()
    members = [m for e in dict.fromkeys(episodes) for m in tx.links.members(e)[-_MEMBERS:]]
    others = [m for m in members if m != own and m not in named]
    if not others:
        return []
    certain = {one.thread_id for one in direct if not one.uncertain}
    ways = [link for link in tx.links.of(members) if link.label != UNCERTAIN]
    reached = _reached(certain if own is None else {own, *certain}, ways)
    return [Near(thread, uncertain=thread not in reached) for thread in others]


def _reached(start: set[UUID], ways: Sequence[Link]) -> set[UUID]:
    reached = set(start)
    grown = True
    while grown:
        ends = [{way.earlier, way.later} for way in ways]
        touched = set().union(*(pair for pair in ends if pair & reached))
        grown = not touched <= reached
        reached |= touched
    return reached


def _other(link: Link, thread: UUID) -> UUID:
    return link.earlier if link.later == thread else link.later


def _seen_from(link: Link, thread: UUID) -> str:
    return "continuity" if link.basis == RECALL and link.earlier == thread else link.basis

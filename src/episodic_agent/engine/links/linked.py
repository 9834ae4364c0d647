"""Which threads a context may draw on: the linked ones, directly or through their cross-thread episode."""

from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple
from uuid import UUID

from episodic_agent.core.links.outcomes import INCORRECT
from episodic_agent.protocols import Transaction, stored_decision
from episodic_agent.schemas import Link, Thread
from episodic_agent.schemas.contexts import Basis

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
        for link in tx.threads.links([thread])
        if holds(tx, link)
    ]


def on_both_sides(tx: Transaction, thread: UUID) -> set[UUID]:
    """Return the threads that a thread was linked to, wrongly as it turned out."""
    links = tx.threads.links([thread], taken_back=True)
    return {_other(link, thread) for link in links if link.unlinked_at is not None or not holds(tx, link)}


def holds(tx: Transaction, link: Link) -> bool:
    """Tell whether nothing speaks against a link: whatever did, no context tells of it again."""
    made = stored_decision(tx, link.decision_id)
    return made is None or made.outcome != INCORRECT


def chosen(
    tx: Transaction, direct: Sequence[Near], own: UUID | None, *, explicit: bool, most: int
) -> list[NearThread]:
    """Return the linked threads to tell of: direct ones, then those of the same cross-thread episodes.

    Each part most recently active first. Where the user chooses threads (`explicit`) only what they recalled
    or linked by hand counts.
    """
    nears = [one for one in direct if one.basis in _BASES] if explicit else list(direct)
    threads = _refs_named(tx, nears, own)
    if not explicit and len(threads) < most:
        threads += _refs_named(tx, _joined(tx, nears, own), own)
    return threads[:most]


def _refs_named(tx: Transaction, nears: Iterable[Near], own: UUID | None) -> list[NearThread]:
    threads = {one.thread_id: (one, tx.threads.get(one.thread_id)) for one in nears if one.thread_id != own}
    matching_threads = [
        NearThread(thread, _BASES.get(one.basis, Basis.CONTINUITY), one.uncertain)
        for one, thread in threads.values()
        if thread is not None
    ]
    return sorted(
        matching_threads, key=lambda near: (near.thread.last_activity_at, near.thread.id), reverse=True
    )


def _joined(tx: Transaction, direct: Sequence[Near], own: UUID | None) -> list[Near]:
    """Return the other members of the episodes that the thread or its links are in.

    A way of links leads to it of which none turned out wrong; one of certain links makes it certain.
    """
    named = [one.thread_id for one in direct]
    episodes = tx.threads.joined(named if own is None else [own, *named]).values()
    members = [m for e in dict.fromkeys(episodes) for m in tx.threads.joined(e)[-_MEMBERS:]]
    apart = set() if own is None else on_both_sides(tx, own)
    others = [m for m in members if m != own and m not in named and m not in apart]
    if not others:
        return []
    ways = [link for link in tx.threads.links(members) if holds(tx, link)]
    led_to = _reached({*named} if own is None else {own, *named}, ways)
    certain = {one.thread_id for one in direct if not one.uncertain}
    sure = [link for link in ways if link.label != UNCERTAIN]
    reached = _reached(certain if own is None else {own, *certain}, sure)
    return [Near(thread, uncertain=thread not in reached) for thread in others if thread in led_to]


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

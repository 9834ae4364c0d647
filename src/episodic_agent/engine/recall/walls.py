"""What may be told where only some threads and channels may, and what to answer of all that lies outside.

A wall is a list of names of threads and channels. A caller gives one (`only`); a memory that is held to some
(`UserMemory.only`) has its own, and what is told lies within all. A message lies inside by its thread's name,
or by the channel it came by itself: a thread that nobody named may hold messages of several. What lies
outside is as what nobody knows: no error tells one from the other. Nothing here loads numpy: a listing asks
it, too.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Final, cast
from uuid import UUID

from episodic_agent.core.threads.channels import channel_name
from episodic_agent.engine.arguments import clean_name
from episodic_agent.engine.episodes import listing
from episodic_agent.engine.episodes.listing import find_thread, named_thread
from episodic_agent.engine.filters import LONGEST_NAMED, Walls, held_to
from episodic_agent.engine.visibility.hidden import span_of
from episodic_agent.errors import InvalidInput, NotFound
from episodic_agent.lazily import module
from episodic_agent.protocols import Transaction
from episodic_agent.schemas import Episode, EpisodeKind, Thread
from episodic_agent.showing import clipped

if TYPE_CHECKING:
    from episodic_agent.engine.visibility import walled
else:
    walled = module("episodic_agent.engine.visibility.walled")

_THERE: Final = "`episodic threads` lists the names"  # they are not told here: who asks may be held to some


@dataclass(frozen=True, slots=True)
class NamedThreads:
    """The threads that names of threads and channels mean, and the names that mean none.

    `outside` are the references of messages in such threads that none of the names mean.
    """

    ids: frozenset[UUID]
    unknown: tuple[str, ...] = ()
    outside: frozenset[int] = frozenset()

    def but(self, name: str | None) -> "NamedThreads":
        """Return the same, and a name known though no thread has it: it is that of one to begin."""
        return replace(self, unknown=tuple(one for one in self.unknown if one != name))

    @property
    def notes(self) -> tuple[str, ...]:
        """Say which names mean nothing here: a thread of that name may still begin."""
        return tuple(map(_no_name, self.unknown))

    def check(self, names: Sequence[str]) -> None:
        """Raise NotFound where none of the names a caller gave means anything here."""
        if names and {*names} <= {*self.unknown}:
            raise NotFound(_no_name(*names))


def _no_name(*names: str) -> str:
    shown = " or ".join(repr(clipped(name, LONGEST_NAMED)) for name in names)
    return f"no thread or channel {shown} here; {_THERE}"


def threads_called(tx: Transaction, walls: Iterable[Sequence[str]]) -> NamedThreads:
    """Return the threads that every one of some lists names: by their own name or a channel they came by.

    A name is unknown, too, that means none of the threads which the lists before its own leave.
    """
    tx = tx.unwalled if isinstance(tx, walled.WalledTransaction) else tx
    left: NamedThreads | None = None
    for names in walls:
        here = _called(tx, names)
        if left is not None:
            unknown = [one for one in names if left.ids.isdisjoint(_called(tx, [one]).ids)]
            here = NamedThreads(left.ids & here.ids, (*left.unknown, *unknown), left.outside | here.outside)
        left = here
    return NamedThreads(frozenset()) if left is None else _but_empty(tx, left)


def _but_empty(tx: Transaction, named: NamedThreads) -> NamedThreads:
    """Return the same without threads of which nothing lies inside."""
    held = Counter(ref >> 32 for ref in named.outside)
    mixed = {thread: held[number] for number, thread in tx.threads.by_numbers(sorted(held)).items()}
    frames = tx.threads.frame(sorted(mixed))
    empty = {thread for thread, frame in frames.items() if frame.next_seq <= mixed[thread]}
    return replace(named, ids=named.ids - empty)


def _called(tx: Transaction, names: Iterable[str]) -> NamedThreads:
    """Return the threads whose own name or id, or a channel something came to them by, is among some."""
    named = {name: channel_name(name) for name in names}
    channels: set[str] = set()  # that something came by

    def is_among(some: tuple[str, ...]) -> bool:
        here = {*map(channel_name, some)}
        channels.update(here)
        return not here.isdisjoint(named.values())

    came_by = tx.threads.by_numbers(came_by=is_among)
    origins = {name: thread.id for name in named if (thread := named_thread(tx, name)) is not None}
    unknown = [name for name, channel in named.items() if name not in origins and channel not in channels]
    mixed = [number for number, thread in came_by.items() if thread not in origins.values()]
    outside = tx.observations.having("channel", sorted({*named.values()}), besides=mixed) if mixed else ()
    ids = frozenset(came_by.values()).union(origins.values())
    return NamedThreads(ids, tuple(unknown), frozenset(outside))


def walled_off(tx: Transaction, walls: Walls) -> Transaction:
    """Return what reads of a transaction only what lies within walls."""
    return reading(tx, walls, threads_called(tx, walls).outside) if walls else tx


def reading(tx: Transaction, walls: Walls, outside: Collection[int]) -> Transaction:
    """Return what reads of a transaction all but some messages that lie outside of walls."""
    tx = tx.unwalled if isinstance(tx, walled.WalledTransaction) else tx
    if not outside:
        return tx
    return cast("Transaction", walled.WalledTransaction(tx, outside, partial(_channels_inside, walls)))


def _channels_inside(walls: Walls, thread: Thread) -> tuple[str, ...]:
    """Return the channels of a thread that walls let through: all of one that each of them names."""
    named = [{*map(channel_name, names)} for names in walls if not _is_named(thread, names)]
    return tuple(one for one in thread.channels if all(channel_name(one) in some for some in named))


def _is_named(thread: Thread, names: Sequence[str]) -> bool:
    return thread.origin in names or str(thread.id) in names


def channel_inside(tx: Transaction, walls: Walls, name: str) -> str | None:
    """Return the channel by which something must come to a thread to lie inside; None: by any, or by none."""
    thread = named_thread(tx, name)
    if thread is None or all(_is_named(thread, names) for names in walls):
        return None
    return next(iter(_channels_inside(walls, thread)), None)


def thread_asked_for(tx: Transaction, name: str, *, walled: bool) -> UUID:
    """Return the thread of a name; NotFound, which names no other threads where it is walled."""
    if not walled:
        return find_thread(tx, name).id
    thread = named_thread(tx, name)
    if thread is None:
        raise NotFound(f"no thread {clipped(name, LONGEST_NAMED)!r} in this memory")
    return thread.id


def within(tx: Transaction, walls: Walls, names: Sequence[str] | None = None) -> frozenset[UUID] | None:
    """Return the threads that may be told of; None: every one.

    `names` are those among the walls that a caller gave: NotFound where none of them means anything.
    """
    if not walls:
        return None
    called = threads_called(tx, walls)
    called.check(names or ())
    return called.ids


def check_thread(tx: Transaction, walls: Walls, name: str | None, channel: str | None = None) -> None:
    """Raise NotFound for a thread outside of walls, the same whether there is one or it would begin there.

    One that begins lies inside by its name, or by the channel it comes by. One that is there does not: a
    message by that channel would open it to all who may read what comes by it.
    """
    if not walls or name is None:
        return
    thread = named_thread(tx, name)
    if thread is None:
        came_by = set() if channel is None else {channel_name(channel)}
        if all(name in names or not came_by.isdisjoint(map(channel_name, names)) for names in walls):
            return
    elif thread.id in threads_called(tx, walls).ids:
        return
    raise NotFound(f"no thread {clipped(name, LONGEST_NAMED)!r} here: {held_to(walls)}")


def thread_within(tx: Transaction, walls: Walls, name: str | None, *, walled: bool) -> UUID | None:
    """Return the id of the thread a caller named, None where none was named; NotFound for one outside."""
    if name is None:
        return None
    named = clean_name(name, "thread") or ""
    check_thread(tx, walls, named)
    return thread_asked_for(tx, named, walled=walled)


def check_episode(tx: Transaction, walls: Walls, identity: UUID, *, entire: bool = False) -> None:
    """Raise NotFound for an episode or open frame outside of walls, and for one of several linked threads.

    InvalidInput where it is to be inside as a whole and is not.
    """
    if not walls:
        return
    named = threads_called(tx, walls)
    inside = reading(tx, walls, named.outside)
    placed = inside.episodes.get(identity) or listing.open_frame(inside, identity)
    several = isinstance(placed, Episode) and placed.kind is EpisodeKind.CROSS_THREAD
    if placed is None or several or placed.thread_id not in named.ids:
        raise NotFound(f"no episode {identity} in this memory; `episodic episodes` lists the ids")
    if not entire:
        return
    first, last = 0, None
    if isinstance(placed, Episode) and placed.kind is EpisodeKind.EVENT:
        first, last = placed.first_seq, placed.last_seq
    begin, end = span_of(tx, placed.thread_id, first, last)
    if any(begin <= ref <= end for ref in named.outside):
        raise InvalidInput(f"some of episode {identity} came from elsewhere: {held_to(walls)}")


def check_whole(tx: Transaction, walls: Walls, thread: UUID) -> None:
    """Raise InvalidInput for a thread that holds messages which lie outside of walls."""
    begin, end = span_of(tx, thread, 0, None)
    if any(begin <= ref <= end for ref in threads_called(tx, walls).outside):
        raise InvalidInput(f"some of this thread came from elsewhere: {held_to(walls)}")


def check_place(tx: Transaction, place: str, only: frozenset[UUID]) -> None:
    """Raise NotFound, which names no other, for a place where nobody was in some threads."""
    stays = {stay.thread for stay in tx.threads.visits(place=place)}
    if not stays or only.isdisjoint(tx.threads.by_numbers(sorted(stays)).values()):
        raise NotFound(f"no place {clipped(place, LONGEST_NAMED)!r} in these threads")

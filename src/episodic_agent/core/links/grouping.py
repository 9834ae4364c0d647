"""Which linked threads are one matter: a cross-thread episode takes nobody who is not linked to most of it.

Without that, one wrong link is enough to make two matters one, and after a week of talk everything is one.
Threads are placed one after another as they began, so that what came later moves nothing that stood before,
and the links alone say what belongs together, in whatever order they were made.
"""

from collections import defaultdict
from collections.abc import Hashable, Iterable, Mapping, Sequence
from enum import IntEnum
from typing import TypeAlias, TypeVar

ThreadKey = TypeVar("ThreadKey", bound=Hashable)


class Tie(IntEnum):
    """How two threads hang together: linked, by hand, or one judged to go on with the other's matter."""

    LINKED = 0
    BY_HAND = 1
    JUDGED = 2


Ties: TypeAlias = Mapping[ThreadKey, Mapping[ThreadKey, int]]
"""For each thread the threads it is linked to, and how (a `Tie`)."""


def ties_of(links: Iterable[tuple[ThreadKey, ThreadKey, int]]) -> dict[ThreadKey, dict[ThreadKey, int]]:
    """Return links, each two threads and their tie, as they are seen from either end."""
    ties: dict[ThreadKey, dict[ThreadKey, int]] = defaultdict(dict)
    for item, other, tie in links:
        ties[item][other] = ties[other][item] = tie
    return ties


def is_taken(links: int, members: int) -> bool:
    """Say whether a thread with links to so many of a group's members belongs to the group.

    To more than half of them. Of two, one is enough: what goes on with the second goes on with the pair, as
    in seed 002's own three threads.

    >>> [[is_taken(links, members) for links in (1, 2, 3)] for members in (1, 2, 3, 4)]
    [[True, True, True], [True, True, True], [False, True, True], [False, False, True]]
    """
    return links > members // 2 or (members == 2 and links == 1)


def groups_of(threads: Iterable[ThreadKey], ties: Ties[ThreadKey]) -> list[list[ThreadKey]]:
    """Part threads, given as they began, into groups, each in that order; most are alone in theirs.

    >>> groups_of("abcd", ties_of([("a", "b", False), ("b", "c", False), ("c", "d", False)]))
    [['a', 'b', 'c'], ['d']]
    >>> groups_of("abcd", ties_of([("a", "b", False), ("b", "c", False), ("c", "d", True)]))
    [['a', 'b', 'c', 'd']]
    """
    order: dict[ThreadKey, int] = {}
    groups: list[list[ThreadKey]] = []
    for thread in threads:
        order[thread] = len(order)
        near = [group for group in groups if any(other in ties.get(thread, {}) for other in group)]
        taking = [near[place] for place in taken_by(thread, near, ties)]
        for group in taking:
            groups.remove(group)
        groups.append([*(one for group in taking for one in group), thread])
    ordered = [sorted(group, key=order.__getitem__) for group in groups]
    return sorted(ordered, key=lambda group: order[group[0]])


def taken_by(thread: ThreadKey, groups: Sequence[Sequence[ThreadKey]], ties: Ties[ThreadKey]) -> list[int]:
    """Return the places of the groups that become one with a thread, the one that takes it first.

    A group takes a thread that is linked to most of its members, or to any by hand: who links by hand says
    what is one matter. It also takes one that was judged to go on with all of it, the weakest link by which
    an episode grows: a thread that is like one of many members stays outside. Two groups that a thread is
    linked to become one only where each member of the smaller is linked to most of the larger, or the thread
    to both by hand.
    """
    own = ties.get(thread, {})

    def links(group: Sequence[ThreadKey]) -> int:
        return sum(other in own for other in group)

    def by_hand(group: Sequence[ThreadKey]) -> bool:
        return any(own.get(other) == Tie.BY_HAND for other in group)

    def judged(group: Sequence[ThreadKey]) -> bool:
        return any(own.get(other) == Tie.JUDGED for other in group)

    def precedence(place: int) -> tuple[bool, bool, int, int]:
        group = groups[place]
        return not by_hand(group), not judged(group), -links(group), place

    ranked = sorted(range(len(groups)), key=precedence)
    taking: list[int] = []
    members: list[ThreadKey] = [thread]
    for place in ranked:
        group = groups[place]
        if taking:
            joins = by_hand(group) or _is_one(members, group, ties)
        else:
            joins = by_hand(group) or judged(group) or is_taken(links(group), len(group))
        if joins:
            taking.append(place)
            members += group
    return taking


def _is_one(some: Sequence[ThreadKey], others: Sequence[ThreadKey], ties: Ties[ThreadKey]) -> bool:
    smaller, larger = sorted((some, others), key=len)
    return all(is_taken(sum(other in ties.get(one, {}) for other in larger), len(larger)) for one in smaller)

"""Chains as trees: ancestors, arcs, heads, and what must never become a parent.

Everything here is safe against loops that a damaged store may hold: each episode is visited once.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

from episodic_agent.errors import InvalidInput, NotFound
from episodic_agent.schemas.chains import TreeNode

Parents = Mapping[UUID, UUID | None]


@dataclass(frozen=True, slots=True)
class Walk:
    """Ids in order; `looped` tells that the parents run in a circle, which no store should hold."""

    ids: tuple[UUID, ...]
    looped: bool = False


@dataclass(frozen=True, slots=True)
class PlacedEpisode:
    """An episode in the picture of an arc: `row` is its place by time, `lane` its branch, from 0."""

    id: UUID
    parent: UUID | None
    row: int
    lane: int


def ancestors(episode_id: UUID, parents: Parents) -> Walk:
    """Return an episode with those before it in its chain, the root first, each once.

    >>> a, b, c = (UUID(int=n) for n in (1, 2, 3))
    >>> ancestors(c, {a: None, b: a, c: b}).ids == (a, b, c)
    True
    >>> ancestors(b, {a: b, b: a})
    Walk(ids=(UUID('00000000-0000-0000-0000-000000000001'), UUID('00000000-0000-0000-0000-000000000002')), \
looped=True)
    """
    results: dict[UUID, None] = {}
    here: UUID | None = episode_id
    while here is not None and here not in results:
        if results and here not in parents:  # the parent is gone
            break
        results[here] = None
        here = parents.get(here)
    return Walk(tuple(reversed(results)), here is not None and here in results)


def roots(parents: Parents) -> dict[UUID, UUID]:
    """Return the root of each episode's chain; of a loop the smallest id in it.

    A parent that is not among the keys is none: its children are roots.
    """
    identifiers: dict[UUID, UUID] = {}
    for identifier in parents:
        path: dict[UUID, int] = {}
        here: UUID | None = identifier
        last = identifier
        while here is not None and here in parents and here not in identifiers and here not in path:
            path[here] = len(path)
            last, here = here, parents[here]
        if here is not None and here in path:
            root = min([*path][path[here] :], key=lambda i: i.bytes)
        else:
            root = identifiers.get(here, last) if here is not None else last
        identifiers.update(dict.fromkeys(path, root))
    return identifiers


def descendants(episode_id: UUID, parents: Parents) -> frozenset[UUID]:
    """Return everything that goes on from an episode, itself left out.

    >>> a, b, c = (UUID(int=n) for n in (1, 2, 3))
    >>> descendants(a, {a: None, b: a, c: b}) == {b, c}
    True
    """
    children = _children(parents)
    identifiers: set[UUID] = set()
    open_ = list(children.get(episode_id, ()))
    while open_:
        here = open_.pop()
        if here not in identifiers:
            identifiers.add(here)
            open_ += children.get(here, ())
    return frozenset(identifiers - {episode_id})


def _children(parents: Parents) -> dict[UUID, list[UUID]]:
    children: dict[UUID, list[UUID]] = {}
    for child, parent in parents.items():
        if parent is not None:
            children.setdefault(parent, []).append(child)
    return children


def check_parent(child: UUID, parent: UUID, parents: Parents) -> None:
    """Refuse a parent that is unknown, the episode itself, or goes on from it.

    `parents` holds every episode of the scope that may matter: at least the ancestors of `parent`. Raises
    NotFound for an unknown parent (another scope's is unknown), InvalidInput for the others.

    >>> a, b = UUID(int=1), UUID(int=2)
    >>> check_parent(b, a, {a: None})
    """
    if parent == child:
        raise InvalidInput("an episode cannot go on from itself; name an earlier one")
    if parent not in parents:
        raise NotFound(f"there is no episode {parent} to go on from; `list` shows those there are")
    if child in ancestors(parent, parents).ids:
        raise InvalidInput(f"episode {parent} goes on from {child} already; unlink it before turning them")


def check_order(child: TreeNode, parent: TreeNode) -> None:
    """Refuse a parent that began after its child: InvalidInput, which names both and when they began.

    >>> from datetime import UTC, datetime
    >>> at = datetime(2026, 3, 4, tzinfo=UTC)
    >>> check_order(TreeNode(UUID(int=2), None, at), TreeNode(UUID(int=1), None, at))
    """
    if is_reversed(child, parent):
        raise InvalidInput(
            f"episode {child.id} began at {child.start_at.isoformat()}, before {parent.id}, which began at"
            f" {parent.start_at.isoformat()}: nothing goes on from what came later; turn the two round"
        )


def is_reversed(child: TreeNode, parent: TreeNode) -> bool:
    """Tell whether a parent began after its child."""
    return parent.start_at > child.start_at


def allowed(child: UUID, candidates: Iterable[UUID], parents: Parents) -> tuple[UUID, ...]:
    """Return the candidates that would make no loop as the parent of an episode."""
    barred = descendants(child, parents) | {child}
    return tuple(one for one in candidates if one not in barred)


def arc(episode_id: UUID, nodes: Collection[TreeNode]) -> Walk:
    """Return the whole tree an episode stands in, by start, ties by id: the story with its branches.

    >>> from datetime import UTC, datetime
    >>> at = datetime(2026, 3, 4, tzinfo=UTC)
    >>> a, b = UUID(int=1), UUID(int=2)
    >>> arc(a, [TreeNode(b, a, at.replace(day=5)), TreeNode(a, None, at)]).ids == (a, b)
    True
    """
    known = {node.id: node for node in nodes}
    parents = {node.id: node.parent for node in nodes}
    if episode_id not in known:
        raise NotFound(f"there is no episode {episode_id}; `list` shows those there are")
    walk = ancestors(episode_id, parents)
    root = roots(parents)
    members = [node for node in known.values() if root[node.id] == root[episode_id]]
    ordered = sorted(members, key=lambda node: (node.start_at, node.id.bytes))
    return Walk(tuple(node.id for node in ordered), walk.looped)


def heads(nodes: Collection[TreeNode]) -> tuple[UUID, ...]:
    """Return the episodes that nothing goes on from yet, the latest first: where a story may continue."""
    held = {node.parent for node in nodes if node.parent is not None}
    ends = [node for node in nodes if node.id not in held]
    return tuple(n.id for n in sorted(ends, key=lambda n: (-n.start_at.timestamp(), n.id.bytes)))


def reparented(deleted: Collection[UUID], parents: Parents) -> dict[UUID, UUID | None]:
    """Return the new parent of each episode that loses its own: the nearest ancestor that stays.

    >>> a, b, c = (UUID(int=n) for n in (1, 2, 3))
    >>> reparented([b], {a: None, b: a, c: b}) == {c: a}
    True
    """
    gone = frozenset(deleted)
    identifiers: dict[UUID, UUID | None] = {}
    for child, parent in parents.items():
        if child in gone or parent not in gone:
            continue
        above: UUID | None = parent
        seen = {child}
        while above is not None and above in gone and above not in seen:
            seen.add(above)
            above = parents.get(above)
        identifiers[child] = None if above in seen else above
    return identifiers


def laid_out(nodes: Collection[TreeNode]) -> tuple[PlacedEpisode, ...]:
    """Place an arc's episodes for a picture: rows by time, a lane for each branch, a first child straight on.

    `nodes` is one arc; parents outside it are none.

    >>> from datetime import UTC, datetime
    >>> at = datetime(2026, 3, 4, tzinfo=UTC)
    >>> a, b, c = (UUID(int=n) for n in (1, 2, 3))
    >>> some = [TreeNode(a, None, at), TreeNode(b, a, at.replace(day=5)), TreeNode(c, a, at.replace(day=6))]
    >>> [(placed.row, placed.lane) for placed in laid_out(some)]
    [(0, 0), (1, 0), (2, 1)]
    """
    ordered: Sequence[TreeNode] = sorted(nodes, key=lambda node: (node.start_at, node.id.bytes))
    known = {node.id for node in ordered}
    lanes: dict[UUID, int] = {}
    followed: set[UUID] = set()
    used = 0
    placed = []
    for row, node in enumerate(ordered):
        parent = node.parent if node.parent in known else None
        if parent in lanes and parent not in followed:
            lane = lanes[parent]
            followed.add(parent)
        else:
            lane, used = used, used + 1
        lanes[node.id] = lane
        placed.append(PlacedEpisode(node.id, parent, row, lane))
    return tuple(placed)

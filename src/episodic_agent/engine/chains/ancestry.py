"""What everybody who touches chains shares: who stands above and below an episode, and who inherits."""

import logging
from collections.abc import Collection, Sequence
from typing import Final
from uuid import UUID

from episodic_agent.core.chains.policies import chain_policy
from episodic_agent.core.chains.trees import is_reversed, reparented
from episodic_agent.protocols import Transaction
from episodic_agent.schemas.chains import TreeNode

OFF: Final = "none"

log = logging.getLogger(__name__)


def check_chain_policy(name: str) -> str:
    """Return the name of a chaining policy, or `none`; InvalidInput for an unknown one."""
    if name != OFF:
        chain_policy(name)
    return name


def parents_above(tx: Transaction, ids: Sequence[UUID]) -> dict[UUID, UUID | None]:
    """Return the parent of each of these episodes and of all above them; unknown ones are left out."""
    return {node.id: node.parent for node in tx.episodes.nodes(list(dict.fromkeys(ids)), "above")}


def tree_of(tx: Transaction, episode_id: UUID) -> list[TreeNode]:
    """Return every episode of the tree one stands in, each once, whatever loops there are."""
    return list(tx.episodes.nodes(list(parents_above(tx, [episode_id])), "below"))


def hand_down(tx: Transaction, deleted: Collection[UUID]) -> None:
    """Let what goes on from episodes that are about to be deleted go on from what those went on from."""
    children = {one.id: one for one in tx.episodes.nodes(list(deleted), "children") if one.id not in deleted}
    if not children:
        return
    parents = parents_above(tx, list(deleted)) | {child.id: child.parent for child in children.values()}
    heirs = reparented(deleted, parents)
    above = {one.id: one for one in tx.episodes.nodes([one for one in heirs.values() if one is not None])}
    for child, parent in heirs.items():
        heir = None if parent is None else above.get(parent)
        sound = heir is not None and child in children and not is_reversed(children[child], heir)
        tx.episodes.lead(child, parent if sound else None)


def reversed_links(tx: Transaction, ids: Collection[UUID]) -> list[tuple[TreeNode, TreeNode]]:
    """Return those of these episodes that go on from what began after them, each with that parent."""
    children = [node for node in tx.episodes.nodes(list(ids)) if node.parent is not None]
    parents = {one.id: one for one in tx.episodes.nodes([node.parent for node in children if node.parent])}
    pairs = [(node, parents[node.parent]) for node in children if node.parent in parents]
    return [pair for pair in pairs if is_reversed(*pair)]


def drop_reversed(tx: Transaction, ids: Collection[UUID]) -> None:
    """Take the links of episodes to what began after them away, with a warning that names both."""
    for child, parent in reversed_links(tx, ids):
        log.warning(
            "episode %s (%s) does not go on from %s, which began later (%s); the link was left out",
            child.id,
            child.start_at.isoformat(),
            parent.id,
            parent.start_at.isoformat(),
        )
        tx.episodes.lead(child.id, None)

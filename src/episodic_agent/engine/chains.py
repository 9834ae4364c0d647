"""What everybody who touches chains shares: who stands above and below an episode, and who inherits."""

from collections.abc import Collection, Sequence
from typing import Final
from uuid import UUID

from episodic_agent.core.chaining import Node, chain_policy, reparented
from episodic_agent.core.interfaces import Transaction

CHAIN: Final = "chain"  # the job's kind, and the decision's type
OFF: Final = "none"


def check_chain_policy(name: str) -> str:
    """Return the name of a chaining policy, or `none`; InvalidInput for an unknown one."""
    if name != OFF:
        chain_policy(name)
    return name


def parents_above(tx: Transaction, ids: Sequence[UUID]) -> dict[UUID, UUID | None]:
    """Return the parent of each of these episodes and of all above them; unknown ones are left out."""
    return {node.id: node.parent for node in tx.chains.above(list(dict.fromkeys(ids)))}


def tree_of(tx: Transaction, episode_id: UUID) -> list[Node]:
    """Return every episode of the tree one stands in, each once, whatever loops there are."""
    return list(tx.chains.below(list(parents_above(tx, [episode_id]))))


def hand_down(tx: Transaction, deleted: Collection[UUID]) -> None:
    """Let what goes on from episodes that are about to be deleted go on from what those went on from."""
    children = tx.chains.children(list(deleted))
    if not any(child.id not in deleted for child in children):
        return
    parents = parents_above(tx, list(deleted)) | {child.id: child.parent for child in children}
    for child, parent in reparented(deleted, parents).items():
        tx.chains.lead(child, parent)

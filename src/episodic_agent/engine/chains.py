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
    found: dict[UUID, UUID | None] = {}
    wanted = list(dict.fromkeys(ids))
    while wanted:
        nodes = tx.chains.nodes(wanted)
        found |= {node.id: node.parent for node in nodes}
        wanted = list({node.parent for node in nodes if node.parent is not None} - found.keys())
    return found


def tree_of(tx: Transaction, episode_id: UUID) -> list[Node]:
    """Return every episode of the tree one stands in, each once, whatever loops there are."""
    known: dict[UUID, Node] = {}
    front = list(tx.chains.nodes(list(parents_above(tx, [episode_id]))))
    while front:
        known |= {node.id: node for node in front}
        front = [node for node in tx.chains.children([n.id for n in front]) if node.id not in known]
    return list(known.values())


def hand_down(tx: Transaction, deleted: Collection[UUID]) -> None:
    """Let what goes on from episodes that are about to be deleted go on from what those went on from."""
    children = tx.chains.children(list(deleted))
    if not any(child.id not in deleted for child in children):
        return
    parents = parents_above(tx, list(deleted)) | {child.id: child.parent for child in children}
    for child, parent in reparented(deleted, parents).items():
        tx.chains.lead(child, parent)

"""What may be wrong with chains and with what episodes are found by, and how the latter is written again."""

from collections.abc import Iterator, Sequence
from uuid import UUID

from episodic_agent.core.chaining import Term, ancestors, follows, metadata_terms
from episodic_agent.core.interfaces import Transaction
from episodic_agent.engine.chains import CHAIN, parents_above
from episodic_agent.errors import InvalidInput
from episodic_agent.schemas import Decision


def chain_faults(tx: Transaction) -> Iterator[tuple[str, str]]:
    """Yield (invariant, what is wrong): verdicts that do not follow, circles, lost rows of metadata."""
    for decision in tx.episodes.decisions(type=CHAIN):
        if not _is_sound(decision):
            yield "I6", f"the chain verdict on {decision.subject} does not follow from its score"
    sessions = [part.episode_id for thread in tx.threads.list() for part in tx.parts.of_thread(thread.id)]
    parents = parents_above(tx, sessions)
    for one in sessions:
        if ancestors(one, parents).looped:
            yield "chains", f"the chain of {one} runs in a circle; `episodic chain {one} --unlink` opens it"
    lost = len(_lost(tx))
    if lost:
        yield (
            "metadata",
            f"{lost} episodes are not found by what they are about (a memory from before filters?); "
            "`doctor --repair` writes it again",
        )


def mend_metadata(tx: Transaction) -> int:
    """Write the rows of metadata again where they are not what the newest words say; return how many."""
    lost = _lost(tx)
    for identity, terms in lost.items():
        tx.chains.describe(identity, terms)
    return len(lost)


def _is_sound(decision: Decision) -> bool:
    try:
        return follows(decision)
    except InvalidInput:  # a policy that is gone, or no candidate
        return False


def _lost(tx: Transaction) -> dict[UUID, Sequence[Term]]:
    """Return the terms of every current episode whose rows are others."""
    found: dict[UUID, Sequence[Term]] = {}
    for thread in tx.threads.list():
        parts = [part.episode_id for part in tx.parts.of_thread(thread.id)]
        episodes = [*tx.episodes.of_thread(thread.id), *tx.episodes.by_ids(parts).values()]
        rows: dict[UUID, list[Term]] = {}
        for identity, term in tx.chains.described([one.id for one in episodes]):
            rows.setdefault(identity, []).append(term)
        for one in episodes:
            terms = metadata_terms(one.metadata)
            if sorted(rows.get(one.id, [])) != list(terms):
                found[one.id] = terms
    return found

"""What may be wrong with chains and with what episodes are found by, and how the latter is written again."""

from collections.abc import Iterator
from uuid import UUID

from episodic_agent.core.chains.deciding import follows
from episodic_agent.core.chains.metadata import metadata_terms
from episodic_agent.core.chains.trees import ancestors
from episodic_agent.core.language import plural
from episodic_agent.engine.chains.ancestry import parents_above, reversed_links
from episodic_agent.engine.jobs.kinds import CHAIN
from episodic_agent.errors import InvalidInput
from episodic_agent.protocols import Transaction
from episodic_agent.schemas import Decision, Encoding, Episode
from episodic_agent.schemas.chains import Term


def chain_faults(tx: Transaction) -> Iterator[tuple[str, str]]:
    """Yield (invariant, what is wrong): verdicts that do not follow, circles, lost rows of metadata."""
    for decision in tx.knowledge.decisions(type=CHAIN):
        if not _is_sound(decision):
            yield "I6", f"the chain verdict on {decision.subject} does not follow from its score"
    sessions = [part.episode_id for thread in tx.threads.list() for part in tx.threads.sections(thread.id)]
    parents = parents_above(tx, sessions)
    for identifier in sessions:
        if ancestors(identifier, parents).looped:
            yield (
                "chains",
                f"the chain of {identifier} runs in a circle; `episodic chain {identifier} --unlink` "
                f"opens it",
            )
    for child, parent in reversed_links(tx, sessions):
        yield (
            "chains",
            f"{child.id} ({child.start_at.isoformat()}) goes on from {parent.id}, which began later"
            f" ({parent.start_at.isoformat()}); `episodic chain {child.id} --unlink` takes the link back",
        )
    lost = len(_lost(tx))
    if lost:
        yield (
            "metadata",
            f"{plural(lost, 'episode is', 'episodes are')} not found by metadata (a memory from "
            "before filters?); "
            "`doctor --repair` writes it again",
        )


def mend_metadata(tx: Transaction) -> int:
    """Write the rows of metadata again where they are not what the newest words say; return how many."""
    lost = _lost(tx)
    for episode in lost:
        if episode.encoding_version:
            version, by = episode.encoding_version, episode.encoded_by
            words = episode.title, episode.summary, episode.metadata
            tx.episodes.put(Encoding(episode.id, version, *words, by, episode.created_at))
        else:
            tx.episodes.drop(episode.id, words_only=True)
    return len(lost)


def _is_sound(decision: Decision) -> bool:
    try:
        return follows(decision)
    except InvalidInput:  # a policy that is gone, or no candidate
        return False


def _lost(tx: Transaction) -> list[Episode]:
    """Return every current episode whose rows are not what its newest words say."""
    lost: list[Episode] = []
    for thread in tx.threads.list():
        parts = [part.episode_id for part in tx.threads.sections(thread.id)]
        episodes = [*tx.episodes.list(threads=[thread.id]), *tx.episodes.get(parts).values()]
        rows: dict[UUID, list[Term]] = {}
        for identity, term in tx.index.described([one.id for one in episodes]):
            rows.setdefault(identity, []).append(term)
        lost += (e for e in episodes if sorted(rows.get(e.id, [])) != list(metadata_terms(e.metadata)))
    return lost

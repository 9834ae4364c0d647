"""What `doctor` checks of facts: words that prove them, a history that follows, old ids that lead on."""

from collections.abc import Iterator, Sequence
from typing import Final

from episodic_agent.core.facts import retold
from episodic_agent.core.language import plural
from episodic_agent.protocols import Transaction
from episodic_agent.schemas.facts import StoredFact

_PAGE: Final = 512


def fact_faults(tx: Transaction) -> Iterator[str]:
    """Yield a message for everything that is wrong with the facts of a scope."""
    known = tx.knowledge.facts()
    for start in range(0, len(known), _PAGE):
        yield from _unproved(tx, known[start : start + _PAGE])
    changes = retold([kept.fact for kept in known])
    identifiers = [*(fact.id for fact in (*changes.added, *changes.changed)), *changes.gone]
    if identifiers:
        ids = ", ".join(map(str, identifiers[:3]))
        yield (
            f"{plural(len(identifiers), 'fact is', 'facts are')} not what the evidence tells when it is "
            f"learned again ({ids})"
        )
    here = {kept.id for kept in known}
    lost = [old for old, holder in tx.knowledge.moves().items() if holder not in here]
    if lost:
        yield f"{plural(len(lost), 'id of a fact leads nowhere', 'ids of facts lead nowhere')} ({lost[0]})"


def _unproved(tx: Transaction, page: Sequence[StoredFact]) -> Iterator[str]:
    identifiers = {one.observation_id for kept in page for one in kept.fact.evidence}
    observations = tx.observations.get(sorted(identifiers))
    for fact in page:
        if not fact.fact.evidence:
            yield f"fact {fact.id} rests on nothing"
        for evidence in fact.fact.evidence:
            observation = observations.get(evidence.observation_id)
            if observation is None:
                yield (
                    f"fact {fact.id}: observation {evidence.observation_id}, which proves it, does not exist"
                )
            elif not 0 <= evidence.start < evidence.end <= len(observation.text):
                yield (
                    f"fact {fact.id}: observation {observation.id} has no words {evidence.start} "
                    f"to {evidence.end}"
                )

"""What `doctor` checks of facts: words that prove them, a history that follows, old ids that lead on."""

from collections.abc import Iterator, Sequence
from typing import Final

from episodic_agent.core.fact_records import KeptFact
from episodic_agent.core.facts import retold
from episodic_agent.core.interfaces import Transaction

_PAGE: Final = 512


def fact_faults(tx: Transaction) -> Iterator[str]:
    """Yield a message for everything that is wrong with the facts of a scope."""
    known = tx.facts.list()
    for start in range(0, len(known), _PAGE):
        yield from _unproved(tx, known[start : start + _PAGE])
    changes = retold([kept.fact for kept in known])
    told = [*(fact.id for fact in (*changes.added, *changes.changed)), *changes.gone]
    if told:
        ids = ", ".join(map(str, told[:3]))
        yield f"{len(told)} facts are not what their evidence tells when it is learned again ({ids})"
    here = {kept.id for kept in known}
    lost = [old for old, holder in tx.facts.moves().items() if holder not in here]
    if lost:
        yield f"{len(lost)} ids of facts lead nowhere ({lost[0]})"


def _unproved(tx: Transaction, page: Sequence[KeptFact]) -> Iterator[str]:
    wanted = {one.observation_id for kept in page for one in kept.fact.evidence}
    found = tx.threads.by_ids(sorted(wanted))
    for kept in page:
        if not kept.fact.evidence:
            yield f"fact {kept.id} rests on nothing"
        for one in kept.fact.evidence:
            observation = found.get(one.observation_id)
            if observation is None:
                yield f"fact {kept.id}: observation {one.observation_id}, which proves it, does not exist"
            elif not 0 <= one.start < one.end <= len(observation.text):
                yield f"fact {kept.id}: observation {observation.id} has no words {one.start} to {one.end}"

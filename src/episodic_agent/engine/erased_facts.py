"""What becomes of facts whose evidence is erased: they rest on what is left of it, or go."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from typing import Final
from uuid import UUID

from episodic_agent.core.fact_records import Fact
from episodic_agent.core.facts import retold
from episodic_agent.core.interfaces import FACTS, Transaction
from episodic_agent.engine.consolidating import FACTS as DECIDED
from episodic_agent.engine.fact_writing import slots_of, write_facts
from episodic_agent.engine.parts import Parts

_PAGE: Final = 512


def drop_facts(parts: Parts, tx: Transaction, refs: Sequence[int], now: datetime) -> None:
    """Take the evidence that lies in these observations from facts, and tell their slots anew.

    What an erased statement had ended holds again. To be called while the observations can still be read.
    """
    tx.facts.hold()
    for start in range(0, len(refs), _PAGE):
        page = refs[start : start + _PAGE]
        said = sorted(one.id for one in tx.threads.by_refs(page).values())
        _unlearn(tx, parts, said, now)
        tx.facts.unbury(said)
    _forget_told(tx, refs)


def _unlearn(tx: Transaction, parts: Parts, said: Sequence[UUID], now: datetime) -> None:
    resting = tx.facts.resting_on(said)
    if not resting:
        return
    gone = set(said)
    left = {kept.id: _without(kept.fact, gone) for kept in resting}
    known = tx.facts.of_slots(slots_of(kept.fact for kept in resting))
    changes = retold([kept.fact for kept in known], left)
    # an old sentence may hold what is erased: its vectors go with its words
    told = {fact.id: fact.fact for fact in changes.changed}
    stale = [kept.number for kept in known if told.get(kept.id, kept.fact.fact) != kept.fact.fact]
    tx.index.drop(FACTS, stale)
    write_facts(tx, parts, known, changes, None, now=now)


def _without(fact: Fact, gone: set[UUID]) -> Fact | None:
    """Return a fact without some of its evidence, nor how it read before; None where nothing is left."""
    evidence = tuple(one for one in fact.evidence if one.observation_id not in gone)
    return replace(fact, evidence=evidence, versions=()) if evidence else None


def _forget_told(tx: Transaction, refs: Sequence[int]) -> None:
    """Delete the records of what was read in the episodes concerned; others lose what a model expected."""
    concerned = {UUID(hex=c.name) for c in tx.episodes.covers([(ref, ref) for ref in refs])}
    names = {str(identity) for identity in concerned}
    for decision in tx.episodes.decisions(type=DECIDED):
        together = decision.detail.get("together") or ()
        if decision.subject in concerned:
            tx.episodes.revoke(decision.id)
        elif decision.detail.get("expected") or decision.detail.get("refused"):
            shared = isinstance(together, Sequence) and not names.isdisjoint(map(str, together))
            refused = [] if shared else decision.detail["refused"]
            tx.episodes.amend(
                replace(decision, detail={**decision.detail, "expected": "", "refused": refused})
            )

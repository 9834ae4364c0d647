"""Which standing wishes count in a conversation: those to the assistant, of whom it is written with."""

from collections.abc import Sequence
from typing import Final
from uuid import UUID

from episodic_agent.core.facts.quoting import is_quotation
from episodic_agent.core.facts.speakers import OWNER, person_of
from episodic_agent.core.threads.turns import is_reply
from episodic_agent.engine.context.gathering import Situation
from episodic_agent.engine.facts.listening import calling, lines_around, listeners
from episodic_agent.protocols import Transaction
from episodic_agent.schemas.facts import Fact

_LOOKED_AT: Final = 40  # wishes, the newest


def not_meant_here(tx: Transaction, wishes: Sequence[Fact], now: Situation) -> set[UUID]:
    """Return the wishes that are not to the assistant, or of somebody else than it is written with.

    Those nobody quoted always count: they were made for this.
    """
    quoted = [fact for fact in wishes if is_quotation(fact)]
    there = listeners(tx) if quoted else None
    if there is None or not there.several:
        return set()
    writing = {person_of(item.actor, there.user) for item in now.before if not is_reply(item)}
    counting = {OWNER, *writing}
    apart = set()
    if writing and OWNER not in writing:
        apart = {fact.id for fact in quoted if person_of(fact.subject, there.user) not in counting}
    asked = sorted((fact for fact in quoted if fact.id not in apart), key=lambda fact: fact.valid_at)
    names = {fact.id: fact.telling[-1].observation_id for fact in asked[-_LOOKED_AT:]}
    proofs = tx.observations.get(list(names.values()))
    around = dict(zip(proofs, lines_around(tx, list(proofs.values())), strict=True))
    unheard = {name for name, item in proofs.items() if not there.hears(item, around[name])}
    unheard -= calling(tx, [proofs[name] for name in unheard])
    return apart | {identity for identity, name in names.items() if name in unheard}

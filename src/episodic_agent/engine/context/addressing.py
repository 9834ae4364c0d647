"""To whom a standing wish was said: what colleagues ask of each other is no wish to the assistant.

"Please don't park in front of the gate" is worded as a wish how to answer is, and no judge of sentences can
tell the two apart. Who was there tells: among several people a wish is meant for the assistant where it
answered. And what one of them wishes counts where that one is written with.
"""

from collections.abc import Sequence
from datetime import timedelta
from typing import Final
from uuid import UUID

from episodic_agent.core.facts.quoting import is_quotation
from episodic_agent.core.facts.speakers import OWNER, speaker_of
from episodic_agent.core.language import fold
from episodic_agent.core.threads import is_reply
from episodic_agent.engine.context.gathering import Situation
from episodic_agent.engine.context.speakers import SEVERAL
from episodic_agent.protocols import Transaction
from episodic_agent.schemas import Observation
from episodic_agent.schemas.facts import Fact

_LOOKED_AT: Final = 40  # wishes of named people, the newest
_BEFORE: Final = 12  # messages before a wish among which it is looked for who was there,
_NEXT: Final = 2  # and after it, among which an answer of the assistant stands
_TOGETHER: Final = timedelta(hours=6)  # those further away were another talk


def not_meant_here(tx: Transaction, wishes: Sequence[Fact], now: Situation) -> set[UUID]:
    """Return the wishes that are not to the assistant, or of somebody else than it is written with.

    Those of whose memory it is always count, and so do those nobody quoted: they were made for this.
    """
    named = [fact for fact in wishes if is_quotation(fact) and fact.subject != OWNER]
    if not named:
        return set()
    writing = {fold(speaker_of(item.actor)) for item in now.before if not is_reply(item)}
    apart = set()
    if writing and fold(OWNER) not in writing:
        apart = {fact.id for fact in named if fold(fact.subject) not in writing}
    asked = sorted((fact for fact in named if fact.id not in apart), key=lambda fact: fact.valid_at)
    quoted = [(fact, fact.telling[-1].observation_id) for fact in asked[-_LOOKED_AT:]]
    proofs = tx.observations.get([name for _, name in quoted])
    there = [(fact, proofs[name]) for fact, name in quoted if name in proofs]
    spans = [(item.thread_id, max(0, item.seq - _BEFORE), item.seq + _NEXT) for _, item in there]
    around = tx.observations.read(spans) if spans else ()
    pairs = zip(there, around, strict=True)
    return apart | {fact.id for (fact, item), lines in pairs if _among_colleagues(item, lines)}


def _among_colleagues(wish: Observation, lines: Sequence[Observation]) -> bool:
    """Tell whether a wish stands in talk of several people that the assistant did not answer."""
    near = [item for item in lines if abs(item.at - wish.at) <= _TOGETHER]
    people = {fold(item.actor) for item in near if not is_reply(item)}
    answered = any(is_reply(item) for item in near if item.seq > wish.seq)
    return len(people) >= SEVERAL and not answered

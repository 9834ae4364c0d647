"""To whom a wish was said: what people ask of each other is no wish to the assistant.

"Please don't park in front of the gate" is worded as a wish how to answer is, and no judge of sentences can
tell the two apart. Who was there tells: the assistant hears where it takes part or is called by its name, and
people who write to each other do not talk to it. Where it says nothing at all, as in notes taken over, the
user's words count.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Final
from uuid import UUID

from episodic_agent.core.episodes.letters import MAIL
from episodic_agent.core.facts.quoting import may_wish
from episodic_agent.core.facts.speakers import OWNER, person_of
from episodic_agent.core.facts.stating import is_person
from episodic_agent.core.language import words
from episodic_agent.core.threads.turns import is_reply
from episodic_agent.protocols import Transaction
from episodic_agent.schemas import Observation
from episodic_agent.schemas.facts import Statement

_BEFORE: Final = 20  # messages of its thread before a wish among which it is looked for who was there,
_NEXT: Final = 4  # and after it,
_ANSWERS: Final = 2  # in the first of which an answer of the assistant stands
_GREETED: Final = 2  # words of a message among which who is spoken to is called: "hey Pim"
_TOGETHER: Final = timedelta(hours=6)  # what is further away answers nothing


@dataclass(frozen=True, slots=True)
class Listeners:
    """Who is known to speak in a memory: `user` is its name, `people` are all but assistants and devices."""

    user: str
    people: frozenset[str]

    @property
    def several(self) -> bool:
        """Tell whether more than one person speaks: where one does, all is said to the assistant."""
        return len(self.people) > 1

    def may_hear(self, wish: Observation, around: Sequence[Observation]) -> bool:
        """Tell whether the assistant may have been spoken to, by what stands around in the thread.

        Of what was said by another channel in the same thread nothing counts.
        """
        here = [item for item in around if item.channel == wish.channel]
        if any(is_reply(item) for item in here):
            return True
        people = {person_of(item.actor, self.user) for item in (*here, wish) if is_person(item.actor)}
        return len(people) == 1 and (OWNER in people or OWNER not in self.people)

    def hears(self, wish: Observation, around: Sequence[Observation]) -> bool:
        """Tell whether the assistant was spoken to: among several people it answered."""
        if not self.may_hear(wish, around):
            return False
        here = [item for item in around if item.channel == wish.channel]
        near = [item for item in here if abs(item.at - wish.at) <= _TOGETHER and item.seq != wish.seq]
        if any(
            person_of(item.actor, self.user) != person_of(wish.actor, self.user)
            for item in near
            if not is_reply(item) and is_person(item.actor)
        ):
            return any(is_reply(item) for item in near if 0 < item.seq - wish.seq <= _ANSWERS)
        return wish.channel != MAIL or any(is_reply(item) for item in here)


def listeners(tx: Transaction) -> Listeners:
    """Return who speaks in a memory."""
    user = tx.scope.user_id
    return Listeners(user, frozenset(person_of(a, user) for a in tx.observations.actors() if is_person(a)))


def calling(tx: Transaction, spoken: Iterable[Observation]) -> set[UUID]:
    """Return the ids of messages that begin or end with the name of who speaks for the agent in this memory.

    "Pim, from now on …" among several people is a wish to it before it has answered anybody.
    """
    actors = {words(actor)[0]: actor for actor in tx.observations.actors() if words(actor)}
    called: dict[str, set[UUID]] = {}
    for item in spoken:
        text = words(item.text)
        for word in (*text[:_GREETED], *text[-1:]):
            if word in actors:
                called.setdefault(actors[word], set()).add(item.id)
    first = {actor: tx.observations.having("actor", [actor], limit=1) for actor in called}
    spoke = tx.observations.get([ref for refs in first.values() for ref in refs])
    agents = {item.actor for item in spoke.values() if is_reply(item)}
    return {identity for actor, ids in called.items() if actor in agents for identity in ids}


def lines_around(tx: Transaction, spoken: Sequence[Observation]) -> Sequence[Sequence[Observation]]:
    """Read what stands around messages in their threads, themselves among it."""
    spans = [(item.thread_id, max(0, item.seq - _BEFORE), item.seq + _NEXT) for item in spoken]
    return tx.observations.read(spans) if spans else ()


def with_listeners(tx: Transaction, statements: Sequence[Statement]) -> list[Statement]:
    """Return statements, each with whether it may be said to the assistant, where it may be a wish."""
    asked = [one.observation_id for one in statements if may_wish(one)]
    there = listeners(tx) if asked else None
    if there is None or not there.several:
        return list(statements)
    spoken = list(tx.observations.get(asked).values())
    around = zip(spoken, lines_around(tx, spoken), strict=True)
    apart = {item.id for item, lines in around if not there.may_hear(item, lines)}
    apart -= calling(tx, [item for item in spoken if item.id in apart])
    return [replace(one, to_assistant=False) if one.observation_id in apart else one for one in statements]

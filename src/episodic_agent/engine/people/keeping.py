"""What was said of names where a memory is exported, taken back and erased from."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Final, cast

from episodic_agent.core.people.joining import SAME, USER
from episodic_agent.engine.people.naming import MOST_NAMES, people_of
from episodic_agent.protocols import Transaction
from episodic_agent.schemas import Decision, Json
from episodic_agent.schemas.decisions import PEOPLE, PERSON

_PAIR: Final = 2


def said_of_names(tx: Transaction) -> Sequence[Decision]:
    """Return what was said of names, oldest first."""
    return tx.knowledge.decisions(subject=PEOPLE, type=PERSON)


def restore_people(tx: Transaction, decisions: Sequence[Decision]) -> None:
    """Keep what an export says of names, but of those nobody speaks under here: they were erased."""
    for decision in decisions:
        tx.knowledge.decide(decision)
    forget_unspoken(tx)


def forget_unspoken(tx: Transaction) -> None:
    """Forget names under which nothing is left; the others of that person stay joined without them."""
    decisions = said_of_names(tx)
    if not decisions:
        return
    people = people_of(tx)
    spoke = {USER, *map(people.key, tx.observations.actors(limit=MOST_NAMES))}

    def staying(name: str) -> str | None:
        """Return a name of the same person under which something is left."""
        left = [one for one in (name, *people.names(name)) if people.key(one) in spoke]
        return next((USER if people.key(one) == USER else one for one in left), None)

    for decision in decisions:
        names = [str(one) for one in cast("Sequence[Json]", decision.detail["names"])]
        left = [one for one in names if people.key(one) in spoke]
        if left == names:
            continue
        if decision.verdict == SAME:
            left = list(dict.fromkeys(one for one in map(staying, names) if one is not None))
        goes = len(left) < _PAIR if decision.verdict == SAME else names[0] not in left
        if goes:
            tx.knowledge.revoke(decision.id)
            continue
        shown = decision.detail.get("shown")
        detail = {"names": left, "shown": shown if shown in left else None}
        tx.knowledge.decide(replace(decision, detail=detail), amend=True)

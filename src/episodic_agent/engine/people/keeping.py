"""What was said of names where a memory is exported, taken back and erased from."""

from collections.abc import Sequence
from dataclasses import replace

from episodic_agent.core.people.joining import SAME, USER
from episodic_agent.engine.people.naming import MOST_NAMES, PERSON, SUBJECT, people_of
from episodic_agent.protocols import Transaction
from episodic_agent.schemas import Decision


def said_of_names(tx: Transaction) -> Sequence[Decision]:
    """Return what was said of names, oldest first."""
    return tx.knowledge.decisions(subject=SUBJECT, type=PERSON)


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

    def left(name: str) -> str | None:
        group = (name, *people.names(name))
        stays = next((one for one in group if people.key(one) in spoke), None)
        return USER if stays is not None and people.key(stays) == USER else stays

    for decision in decisions:
        names = decision.detail.get("names")
        told = [str(one) for one in names] if isinstance(names, list | tuple) else []
        if all(people.key(one) in spoke for one in told):
            continue
        if decision.verdict == SAME:
            kept = list(dict.fromkeys(one for one in map(left, told) if one is not None))
        else:
            kept = [one for one in told if people.key(one) in spoke] if people.key(told[0]) in spoke else []
        if len(kept) < 1 + (decision.verdict == SAME):
            tx.knowledge.revoke(decision.id)
            continue
        shown = decision.detail.get("shown")
        detail = {"names": kept, "shown": shown if shown in kept else None}
        tx.knowledge.decide(replace(decision, detail=detail), amend=True)

"""What people do to facts by hand: edit, confirm, pin, delete; and what held at a moment."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from episodic_agent.core.facts.reconciling import marks, settled
from episodic_agent.core.facts.slots import keywords
from episodic_agent.errors import InvalidInput
from episodic_agent.schemas.facts import Category, Fact, FactTombstone, Version


def edit(
    fact: Fact,
    now: datetime,
    *,
    text: str | None = None,
    value: str | None = None,
    category: str | None = None,
) -> Fact:
    """Return a fact put right by hand; how it read before is kept in `versions`.

    A new text alone leaves the value, by which facts are compared, as it is. Raises InvalidInput for an empty
    text or value, or a category there is none of.
    """
    answer, held = (
        (fact.fact if text is None else text.strip()),
        (fact.value if value is None else value.strip()),
    )
    if not answer or not held:
        raise InvalidInput("a fact needs a text and a value; delete it instead")
    if category is not None and category not in [one.value for one in Category]:
        raise InvalidInput(f"no category {category!r}; there are {', '.join(Category)}")
    return replace(
        fact,
        fact=answer,
        value=held,
        category=Category(category) if category is not None else fact.category,
        keywords=keywords(held),
        edited=True,
        versions=(*fact.versions, Version(fact.fact, fact.value, now)),
    )


def confirm(fact: Fact) -> Fact:
    """Return a fact somebody has said yes to: it is certain."""
    return replace(fact, confirmed=True, confidence=1.0)


def pin(fact: Fact, pinned: bool = True) -> Fact:
    """Return a fact that no statement ends by itself (or, unpinned, that statements may end again)."""
    return replace(fact, pinned=pinned)


def delete(fact: Fact, now: datetime) -> tuple[FactTombstone, ...]:
    """Return what is kept of a deleted fact, so that the same evidence does not teach it again.

    Other evidence may: who says it anew means it.
    """
    return tuple(FactTombstone(observation, mark, now) for observation, mark in sorted(marks(fact), key=str))


def history(facts: Sequence[Fact], at: datetime, *, known_by: datetime | None = None) -> tuple[Fact, ...]:
    """Return the facts that held at a moment of event time, oldest first.

    With `known_by`, a moment of record time, only evidence taken in by then counts: what was believed then.
    """
    reported_facts = facts if known_by is None else settled(facts, known_by)
    return tuple(
        sorted((f for f in reported_facts if f.held_at(at)), key=lambda fact: (fact.valid_at, str(fact.id)))
    )


def timeline(facts: Sequence[Fact], subject: str, attribute: str) -> tuple[Fact, ...]:
    """Return every fact of one slot, past and present, oldest first."""
    matching_facts = (f for f in facts if f.subject == subject and f.attribute == attribute)
    return tuple(sorted(matching_facts, key=lambda fact: (fact.valid_at, str(fact.id))))

"""A fact as part of what proves it says it: the rest is not to be told."""

from collections.abc import Set as AbstractSet
from dataclasses import replace
from typing import TYPE_CHECKING
from uuid import UUID

from episodic_agent.core.facts.slots import keywords
from episodic_agent.lazily import module
from episodic_agent.schemas.facts import Fact

if TYPE_CHECKING:
    from episodic_agent.core.facts import quoting
else:
    quoting = module("episodic_agent.core.facts.quoting")  # its judges are arrays: a listing needs none


def proved_without(fact: Fact, gone: AbstractSet[UUID]) -> Fact | None:
    """Return a fact as it would be known without some observations; None where nothing else proves it.

    Its sentence, its day and its evidence are those of what is left. What a hand wrote stays as it was
    written, without how it read before.
    """
    evidence = fact.left_without(gone)
    if len(evidence) == len(fact.evidence):
        return fact
    left = replace(fact, evidence=evidence, versions=())
    if not left.telling:
        return None
    left = replace(left, valid_at=min(one.valid_at for one in left.telling))
    if fact.edited:
        return left
    if quoting.is_quotation(fact):
        first = next((one for one in left.telling if one.value == fact.value), left.telling[0])
        if first.value == fact.value and set(fact.leads) <= set(left.leads):
            return left
        if quoting.says_nothing(first.value):
            return None
        text = quoting.told_as(fact.subject, first.value)  # the words it points to may be gone
    else:  # a model's sentence
        first = next((one for one in left.telling if one.fact == fact.fact), left.telling[0])
        text = first.fact
    return replace(left, fact=text, value=first.value, keywords=keywords(first.value))

"""When episodes are due to be consolidated, and which new fact only says a known one again."""

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from episodic_agent.core.facts.slots import slot_of, value_key
from episodic_agent.core.language import fold
from episodic_agent.schemas.facts import Fact, FactCandidate

PENDING: Final = 3  # unconsolidated episodes of a scope (seed 003)
FLASHBULB: Final = 0.85  # the surprise at which one episode is enough
SAME: Final = 0.95  # the cosine above which two sentences say the same
_NUMBER: Final = re.compile(r"\d+")


def is_due(pending: int, surprise: float) -> bool:
    """Say whether a scope's unconsolidated episodes are to be consolidated now.

    >>> is_due(3, 0.1), is_due(1, 0.9), is_due(2, 0.5), is_due(0, 1.0)
    (True, True, False, False)
    """
    return pending >= PENDING or (pending > 0 and surprise >= FLASHBULB)


def reinforcing(candidate: FactCandidate, active: Sequence[Fact], cosines: Sequence[float]) -> FactCandidate:
    """Return a candidate as the known fact it repeats, where one is near enough; else as it is.

    `cosines` are those of the sentences, in the order of `active`. Only a fact of the same subject, category
    and polarity can be repeated: to like a thing never merges into disliking it. Nor do other numbers, or
    another value of a slot that holds one, say the same, however near the sentences are.
    """
    evidence = candidate.evidence
    near = [
        (cosine, fact)
        for cosine, fact in zip(cosines, active, strict=True)
        if cosine > SAME and fact.invalid_at is None and _alike(candidate, fact)
    ]
    if not near:
        return candidate
    fact = max(near, key=lambda one: (one[0], str(one[1].id)))[1]
    worded = replace(evidence, fact=fact.fact, value=fact.value)
    return replace(
        candidate, attribute=fact.attribute, value=fact.value, keywords=fact.keywords, evidence=worded
    )


def _alike(candidate: FactCandidate, fact: Fact) -> bool:
    stance = candidate.holds is not (candidate.attribute == "dislikes")
    known = fact.holds is not (fact.attribute == "dislikes")
    same = fold(candidate.subject) == fold(fact.subject) and candidate.category is fact.category
    if not same or stance is not known or candidate.holds is not fact.holds:
        return False
    if set(_NUMBER.findall(candidate.value)) != set(_NUMBER.findall(fact.value)):
        return False
    if not (slot_of(candidate.attribute).single or slot_of(fact.attribute).single):
        return True
    terms, other = set(value_key(candidate.value).split()), set(value_key(fact.value).split())
    return candidate.attribute == fact.attribute and (terms <= other or other <= terms)

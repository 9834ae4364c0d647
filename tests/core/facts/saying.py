"""Statements for the tests of facts: who says what, when."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from uuid import UUID, uuid5

from episodic_agent.core.facts import (
    Category,
    Fact,
    FactCandidate,
    FactEvidence,
    Statement,
    learn,
    quotations,
)
from episodic_agent.core.facts.quoting import KnownFact, in_its_matter

START = datetime(2026, 3, 2, 9, tzinfo=UTC)
SPACE = UUID("0f5a3f5e-6a44-4a5b-8a43-0c1b9b7d0d11")


def statement(text: str, *, actor: str = "user", days: float = 0, before: str = "") -> Statement:
    identity = uuid5(SPACE, f"{actor} {days} {text}")
    return Statement(text, START + timedelta(days=days), actor, identity, before=before)


def quoted(text: str, *, actor: str = "user", days: float = 0) -> list[FactCandidate]:
    return [one.candidate for one in quotations([statement(text, actor=actor, days=days)])]


def said_in_turn(*texts: str, actor: str = "Maya", known: Sequence[Fact] = ()) -> tuple[Fact, ...]:
    """Return what is known after somebody says these, ten days apart, each put into its matter."""
    facts = tuple(known)
    for number, text in enumerate(texts):
        for quotation in quotations([statement(text, actor=actor, days=10 * number)]):
            candidate = in_its_matter(quotation, [KnownFact(fact) for fact in facts])
            facts = learn(facts, [candidate]).applied(facts)
    return facts


def claim(
    value: str,
    day: float,
    *,
    attribute: str = "lives_in",
    holds: bool = True,
    statement: float | None = None,
    corrects: bool = False,
    subject: str = "Maya",
    learned: float | None = None,
    ended_by: UUID | None = None,
) -> FactCandidate:
    """Return a candidate valid from a day and said on another (the same by default)."""
    spoken = START + timedelta(days=day if statement is None else statement)
    evidence = FactEvidence(
        observation_id=uuid5(SPACE, f"{attribute} {value} {day} {holds} {statement}{ended_by or ''}"),
        start=0,
        end=9,
        fact=f"{subject} {attribute} {value} ({day})",
        value=value,
        said_at=spoken,
        valid_at=START + timedelta(days=day),
        learned_at=None if learned is None else START + timedelta(days=learned),
        confidence=0.9,
        corrects=corrects,
        ended_by=ended_by,
    )
    return FactCandidate(subject, attribute, value, Category.IDENTITY, evidence, holds)

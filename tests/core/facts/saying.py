"""Statements for the tests of facts: who says what, when."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from uuid import UUID, uuid5

from episodic_agent.core.facts import Category, Fact, FactCandidate, FactEvidence, Statement, read_facts

START = datetime(2026, 3, 2, 9, tzinfo=UTC)
SPACE = UUID("0f5a3f5e-6a44-4a5b-8a43-0c1b9b7d0d11")


def statement(text: str, *, actor: str = "user", days: float = 0) -> Statement:
    return Statement(text, START + timedelta(days=days), actor, uuid5(SPACE, f"{actor} {days} {text}"))


def read(
    text: str, *, actor: str = "user", days: float = 0, known: Sequence[Fact] = ()
) -> tuple[FactCandidate, ...]:
    return read_facts(statement(text, actor=actor, days=days), known)


def slots(text: str, *, actor: str = "user", known: Sequence[Fact] = ()) -> set[tuple[str, str, bool]]:
    return {(one.attribute, one.value, one.holds) for one in read(text, actor=actor, known=known)}


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
) -> FactCandidate:
    """Return a candidate valid from a day and said on another (the same by default)."""
    spoken = START + timedelta(days=day if statement is None else statement)
    evidence = FactEvidence(
        observation_id=uuid5(SPACE, f"{attribute} {value} {day} {holds} {statement}"),
        start=0,
        end=9,
        fact=f"{subject} {attribute} {value} ({day})",
        value=value,
        said_at=spoken,
        valid_at=START + timedelta(days=day),
        learned_at=None if learned is None else START + timedelta(days=learned),
        confidence=0.9,
        corrects=corrects,
    )
    return FactCandidate(subject, attribute, value, Category.IDENTITY, evidence, holds)

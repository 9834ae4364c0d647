"""Two sections of a year's report: facts that changed, and what strength suppressed.

They ask a memory for verbs that it may not have; whoever hooks them in gives a memory that has them.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol
from uuid import UUID


class Fact(Protocol):
    """A fact as it is listed."""

    @property
    def fact(self) -> str:
        """What is so, in words."""
        ...


class KnowsFacts(Protocol):
    """A memory with facts."""

    def facts(self, *, at: datetime | None = None) -> Sequence[Fact]:
        """Return what was so at a time."""
        ...


class Faded(Protocol):
    """An episode that was left out because it is weak."""

    @property
    def episode_id(self) -> UUID:
        """Its id."""
        ...

    @property
    def title(self) -> str:
        """What it is called."""
        ...

    @property
    def retrievability(self) -> float:
        """How strong it is."""
        ...


class Answer(Protocol):
    """An answer that tells what it left out."""

    @property
    def suppressed(self) -> Sequence[Faded]:
        """What is too weak to be shown."""
        ...


class Suppresses(Protocol):
    """A memory whose recall can tell what it left out."""

    def search(self, query: str, *, suppressed: bool = False) -> Answer:
        """Answer a query."""
        ...


def facts_section(memory: KnowsFacts, moments: Sequence[datetime]) -> list[str]:
    """Return lines on what a memory holds to be so at some moments, and what was new since the one before."""
    lines = ["## What the memory holds to be so", ""]
    before: set[str] = set()
    for moment in moments:
        now = {fact.fact for fact in memory.facts(at=moment)}
        new = "; ".join(sorted(now - before)) or "nothing new"
        gone = "; ".join(sorted(before - now))
        lines.append(f"- {moment:%Y-%m-%d}: {new}" + (f" (no longer: {gone})" if gone else ""))
        before = now
    return [*lines, ""]


def suppressed_section(memory: Suppresses, questions: Sequence[str]) -> list[str]:
    """Return lines on what questions would have brought, were it stronger."""
    lines = ["## What strength suppressed", ""]
    for question in questions:
        faded = memory.search(question, suppressed=True).suppressed
        named = ", ".join(f"{one.title} (R {one.retrievability:.2f})" for one in faded)
        lines.append(f"- {question} {named or 'nothing'}")
    return [*lines, ""]

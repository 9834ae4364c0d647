"""What Maya tells of herself, and what a memory makes of it."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime, timedelta
from typing import Any

from builders.chats import Clock
from episodic_agent import Memory
from episodic_agent.core.fact_records import KeptFact
from episodic_agent.schemas import Decision, Scope

START = datetime(2026, 3, 2, 9, tzinfo=UTC)
LISBON, SISTER, PORTO = (
    "I live in Lisbon and I love fado.",
    "My sister Hannah is a nurse.",
    "I moved to Porto yesterday.",
)
Opened = Callable[..., Memory]
NOW_TRUE = {"Maya likes fado", "Maya's sister Hannah", "Hannah's work: nurse", "Maya lives in Porto"}


@contextmanager
def memories(url: str, clock: Clock) -> Iterator[Opened]:
    """Open memories on one database; all are closed at the end."""
    with ExitStack() as stack:

        def open_one(**parts: Any) -> Memory:
            given = {"embedder": "hashing", "policy": "seed-001", "clock": clock, **parts}
            return stack.enter_context(Memory.open(url, **given))

        yield open_one


def episode(memory: Memory, text: str, day: float, *, role: str = "Maya", user: str | None = None) -> None:
    """Let somebody say something, a message or an episode of its own."""
    name = f"{role} {day}"
    at = START + timedelta(days=day)
    memory.add(text, role=role, thread=name, timestamp=at, user_id=user)
    memory.flush(thread=name, user_id=user)


def three(memory: Memory, user: str | None = None) -> Memory:
    for n, text in enumerate((LISBON, SISTER, PORTO)):
        episode(memory, text, n * 10, user=user)
    return memory


def told(memory: Memory, **asked: Any) -> set[str]:
    return {card.fact.fact for card in memory.facts(**asked)}


def kept(memory: Memory, user: str = "default") -> list[KeptFact]:
    with memory._parts.store.begin(Scope(user), write=False) as tx:
        return list(tx.facts.list())


def waiting(memory: Memory) -> int:
    return memory.stats().unconsolidated


def decisions(memory: Memory) -> list[Decision]:
    with memory._parts.store.begin(Scope(), write=False) as tx:
        return list(tx.episodes.decisions(type="facts"))

"""What Maya tells of herself, and what a memory makes of it."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime, timedelta
from typing import Any

from builders.chats import USER, Clock, mine
from episodic_agent import Memory
from episodic_agent.schemas import Decision, Scope
from episodic_agent.schemas.facts import StoredFact

START = datetime(2026, 3, 2, 9, tzinfo=UTC)
SISTER = "My sister Hannah is a nurse."
RENT = "Our rent is 700 euros a month."
RENT_NOW = "Our rent is 720 euros a month now."
Opened = Callable[..., Memory]


def quoted(text: str, speaker: str = "Maya") -> str:
    """Return a text as the fact that quotes it."""
    return f'{speaker}: "{text}"'


NOW_TRUE = {quoted(SISTER), quoted(RENT_NOW)}


@contextmanager
def memories(url: str, clock: Clock) -> Iterator[Opened]:
    """Open memories on one database; all are closed at the end."""
    with ExitStack() as stack:

        def open_one(**parts: Any) -> Memory:
            arguments = {"embedder": "hashing", "policy": "seed-001", "clock": clock, **parts}
            return stack.enter_context(Memory.open(url, **arguments))

        yield open_one


def episode(memory: Memory, text: str, day: float, *, role: str = "Maya", user: str = USER) -> None:
    """Let somebody say something, a message or an episode of its own."""
    name = f"{role} {day}"
    at = START + timedelta(days=day)
    memory.user(user).add(text, role=role, thread=name, timestamp=at)
    memory.user(user).flush(thread=name)


def three(memory: Memory, user: str = USER) -> Memory:
    for n, text in enumerate((RENT, SISTER, RENT_NOW)):
        episode(memory, text, n * 10, user=user)
    return memory


def told(memory: Memory, user: str = USER, **asked: Any) -> set[str]:
    return {card.fact.fact for card in memory.user(user, new=True).facts.list(**asked)}


def kept(memory: Memory, user: str = "default") -> list[StoredFact]:
    with memory._deps.store.begin(Scope(user), write=False) as tx:
        return list(tx.knowledge.facts())


def waiting(memory: Memory) -> int:
    return mine(memory).stats().unconsolidated


def decisions(memory: Memory) -> list[Decision]:
    with memory._deps.store.begin(Scope(), write=False) as tx:
        return list(tx.knowledge.decisions(type="facts"))

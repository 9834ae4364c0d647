"""Sessions for the tests: what is said in them, and when."""

from datetime import UTC, datetime, timedelta
from typing import Any

from builders.chats import mine
from episodic_agent import Memory
from episodic_agent.engine.threads.sessions import Session

NINE = datetime(2026, 3, 4, 9, tzinfo=UTC)
LEAK = ("The ingest worker leaks memory, 40 MB an hour.", "I take two heap dumps of the ingest worker.")
AGAIN = ("Both heap dumps of the ingest worker are in.", "The worker leaks memory in its cache.")
BREAD = ("What's a good ratio of flour to water for rye bread?", "My sourdough rye bread is too dense.")
ON_LEAK, ON_AGAIN = "The memory leak of the ingest worker", "Back to the memory leak of the ingest worker"
ON_BREAD = "A recipe for dense sourdough rye bread"


def at(hours: float) -> str:
    return (NINE + timedelta(hours=hours)).isoformat()


def say(memory: Memory, session: Session, hours: float, texts: tuple[str, ...]) -> None:
    items = [
        {"role": "user", "content": text, "timestamp": at(hours + n / 60)} for n, text in enumerate(texts)
    ]
    mine(memory).add(items, thread=session.thread)


def hold(memory: Memory, topic: str, hours: float, texts: tuple[str, ...], **more: Any) -> Session:
    """Hold a session from beginning to end."""
    started = mine(memory).sessions.start(topic, timestamp=at(hours), **more)
    say(memory, started, hours, texts)
    return mine(memory).sessions.end(started.id)


def is_sound(memory: Memory) -> bool:
    return [finding for finding in memory.doctor() if finding.severity == "error"] == []

"""A context with a past `at` goes on with the thread that was current then, whatever was said since."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest
from builders.chats import Clock, mine
from conftest import OpenMemory

from episodic_agent import Memory

TEN = datetime(2026, 4, 7, 10, tzinfo=UTC)
SAID = (
    (timedelta(hours=-20), "post", "Can I bring my own bicycle on the night train?"),
    (timedelta(), "desk", "My sleeping car has no heating"),
    (timedelta(minutes=12), "desk", "They gave me a blanket"),
    (timedelta(hours=4), "post", "The bicycle is a folding one"),
    (timedelta(hours=5), "desk", "Is there breakfast on board?"),
    *((timedelta(days=day), "desk", f"Question number {day} about the seats") for day in range(1, 14)),
    (timedelta(days=14), "post", "The bicycle came with me in the end"),
)


@pytest.fixture
def threads(
    open_memory: OpenMemory, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> Iterator[tuple[Memory, dict[str, str]]]:
    """Hold a desk where half an hour of silence ends a thread, beside a named one of letters that goes on."""
    monkeypatch.setenv("EPISODIC_CHANNELS", "desk=implicit:30,post=explicit")
    with open_memory(embedder="hashing", policy="seed-001", clock=clock) as memory:
        origins = {}
        for later, channel, text in SAID:
            clock.now = TEN + later
            (receipt,) = mine(memory).add(
                {"content": text, "timestamp": clock.now.isoformat()},
                channel=channel,
                thread="bicycle" if channel == "post" else None,
            )
            (thread,) = [one for one in mine(memory).threads.list() if one.id == receipt.thread_id]
            origins[text] = thread.origin
        mine(memory).upkeep()
        yield memory, origins


@pytest.mark.parametrize("minutes", [8, 20])
def test_a_past_moment_goes_on_with_the_thread_of_then(
    threads: tuple[Memory, dict[str, str]], minutes: int
) -> None:
    memory, origins = threads
    at = TEN + timedelta(minutes=minutes)
    context = mine(memory).context("Can somebody come?", channel="desk", at=at)
    assert context.thread == origins["My sleeping car has no heating"]
    assert "My sleeping car has no heating" in context.text
    assert "breakfast" not in context.text
    assert ("blanket" in context.text) == (minutes > 12)


def test_a_moment_after_a_silence_goes_on_with_none(threads: tuple[Memory, dict[str, str]]) -> None:
    memory, _ = threads
    assert mine(memory).context("Hello?", channel="desk", at=TEN + timedelta(hours=3)).thread is None
    assert mine(memory).context("Hello?", channel="desk", at=TEN - timedelta(days=9)).thread is None

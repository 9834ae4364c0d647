"""A story does not end while its thread goes on, and what is in no episode yet is no less of it."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest
from builders.chats import Clock, mine
from conftest import OpenMemory

from episodic_agent import Memory

BEGUN = datetime(2026, 3, 2, 10, tzinfo=UTC)
THREAD = "mail: roof"


@pytest.fixture
def memory(open_memory: OpenMemory, clock: Clock) -> Iterator[Memory]:
    """Hold two sessions that follow each other about a roof, of which one thread goes on later."""
    with open_memory(embedder="none", policy="seed-001", clock=clock) as memory:
        clock.now = BEGUN
        first = mine(memory).sessions.start("The roof leaks", timestamp=BEGUN)
        mine(memory).add("The roof leaks over the stairs", thread=first.thread, timestamp=BEGUN)
        mine(memory).sessions.end(first.id)
        later = BEGUN + timedelta(days=2)
        second = mine(memory).sessions.start(
            "The roofer came", parent_episode_id=first.id, timestamp=later, thread=THREAD
        )
        mine(memory).add("The roofer looked at the roof", thread=THREAD, timestamp=later)
        mine(memory).sessions.end(second.id)
        mine(memory).flush()
        yield memory


def say(memory: Memory, clock: Clock, text: str) -> None:
    clock.now = BEGUN + timedelta(days=9)
    mine(memory).add({"name": "Ruth", "content": text}, thread=THREAD, timestamp=clock.now)


def test_a_story_that_nobody_goes_on_with_ended(memory: Memory) -> None:
    assert "It ended on 2026-03-04: nobody said how it came out." in mine(memory).chains.replay("the roof")


def test_a_story_does_not_end_while_its_thread_goes_on(memory: Memory, clock: Clock) -> None:
    say(memory, clock, "Both invoices are with the insurance")
    mine(memory).flush(thread=THREAD)
    text = mine(memory).chains.replay("the leaking roof")
    assert "It ended" not in text
    assert "Told until 2026-03-04; its thread goes on until 2026-03-11." in text


def test_a_thread_that_is_named_after_the_topic_is_told_to_its_end(memory: Memory, clock: Clock) -> None:
    say(memory, clock, "Both invoices are with the insurance")
    mine(memory).flush(thread=THREAD)
    assert "Both invoices are with the insurance" in mine(memory).chains.replay("the roof")


def test_what_is_still_open_is_told_below_the_story(memory: Memory, clock: Clock) -> None:
    say(memory, clock, "Both invoices are with the insurance")
    text = mine(memory).chains.replay("the roof")
    assert "It ended" not in text
    assert "Not yet in an episode, on 2026-03-11: Ruth: Both invoices are with the insurance" in text
    mine(memory).episodes.suppress(words="insurance")
    hidden = mine(memory).chains.replay("the roof")
    assert "insurance" not in hidden
    assert "Not yet in an episode" not in hidden


def test_only_what_is_open_and_of_the_topic_is_told_below_the_story(memory: Memory, clock: Clock) -> None:
    """In a group that talks for weeks its last word was told, whatever it was about."""
    user = mine(memory)
    clock.now = BEGUN + timedelta(days=9)
    for text in ("The gutter of the roof is new as well", "Who feeds the cat on Sunday?"):
        user.add({"name": "Ruth", "content": text}, thread="family", timestamp=clock.now)
    text = user.chains.replay("the roof")
    assert "Not yet in an episode, on 2026-03-11: Ruth: The gutter of the roof is new as well" in text
    assert "cat" not in text
    assert user.chains.replay("the cat").splitlines() == [
        "No episodes found for topic: the cat",
        "",
        "Not yet in an episode, on 2026-03-11: Ruth: Who feeds the cat on Sunday?",
    ]
    assert user.chains.replay("the dentist") == "No episodes found for topic: the dentist"

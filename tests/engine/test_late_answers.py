"""A context tells a question with the answer that came the next day."""

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest
from builders.chats import START, Clock
from builders.minilm import default_model

from episodic_agent import Memory
from episodic_agent.engine.user import UserMemory

Line = tuple[float, str, str, str]  # days, thread, who, text
BIKE = "bike 4410"
LATE: tuple[Line, ...] = (
    (2.0, "shed", "user", "can the shed be delivered in grey?"),
    (2.8, "shed", "Ruth", "It can, no charge."),
)
HOUSE = "house insurance"
MATTER: tuple[Line, ...] = (
    (0.0, BIKE, "user", "The bike I ordered came with a bent wheel. I would like a refund."),
    (0.9, BIKE, "Ruth", "I'm sorry about the wheel. We refund the bike as soon as it is back with us."),
    (4.0, BIKE, "user", "the courier fetched it this morning"),
    (9.0, BIKE, "Ruth", "Your 640 euros went out yesterday, to the account ending in 12."),
    (9.4, BIKE, "user", "it has reached the account ending in 12"),
)
OTHERS: tuple[Line, ...] = tuple(
    (1.0 + n / 4, HOUSE if n % 2 else "garden", who, text)
    for n, (who, text) in enumerate(
        [
            ("user", "How do I report a broken window to the insurance?"),
            ("Tom", "By photo, and within a week, please."),
            ("user", "Which hedge grows without much water?"),
            ("Tom", "Privet does, and hornbeam after its first year."),
            ("user", "The window man costs 180, is that covered?"),
            ("Tom", "It is, but for 50 of your own."),
            ("user", "The hornbeam has brown leaves already."),
            ("Tom", "Then it wants water after all, once a week."),
        ]
        * 4
    )
)


@pytest.fixture
def memory(tmp_path: Path, clock: Clock) -> Iterator[Memory]:
    with Memory.open(tmp_path / "m.db", embedder=default_model(), clock=clock) as memory:
        yield memory


def told(memory: Memory, clock: Clock, lines: tuple[Line, ...]) -> UserMemory:
    """Tell lines in the order of time, as they come, and go on two days."""
    kim = memory.user("kim", new=True)
    for n, (days, thread, who, text) in enumerate(sorted(lines)):
        clock.now = START + timedelta(days=days)
        name = {} if who == "user" else {"name": who}
        role = "user" if who == "user" else "assistant"
        message = {"role": role, "content": text, "timestamp": clock.now, "id": str(n), **name}
        kim.add(message, thread=thread, channel="mail")
    clock.now = START + timedelta(days=12)
    kim.flush()
    return kim


def test_a_question_is_told_with_the_answer_that_came_the_next_day(memory: Memory, clock: Clock) -> None:
    kim = told(memory, clock, (*LATE, *MATTER, *OTHERS))
    text = kim.context("which colour will the shed be?", channel="chat", max_tokens=800).text
    assert "can the shed be delivered in grey? (Ruth: It can, no charge.)" in text


def test_an_answer_that_is_hidden_is_told_with_no_question(memory: Memory, clock: Clock) -> None:
    kim = told(memory, clock, (*LATE, *MATTER, *OTHERS))
    kim.episodes.suppress(words="no charge")
    text = kim.context("which colour will the shed be?", channel="chat", max_tokens=800).text
    assert "can the shed be delivered in grey?" in text
    assert "no charge" not in text

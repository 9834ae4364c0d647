"""What a fact told that has ended stands beside what took its place, however far that is from the message."""

from datetime import timedelta

import pytest
from builders.chats import NOW, mine
from conftest import OpenMemory

from episodic_agent import Memory
from episodic_agent.schemas.contexts import LineKind

START = NOW - timedelta(days=90)
FIRST = "I live at 14 Mill Lane and the rent is 900 a month"
NOTED = "900 a month in Mill Lane, noted."
SECOND = "The rent went up to 950 a month"
THIRD = "The rent is 990 a month from now on"
ASKED = "Is there a car park in Mill Lane?"


def say(memory: Memory, day: float, text: str, answer: str = "Right.", thread: str | None = None) -> None:
    at = START + timedelta(days=day)
    spoken = [("user", text, at), ("assistant", answer, at + timedelta(seconds=30))]
    rows = [
        {"role": role, "content": content, "timestamp": when.isoformat()} for role, content, when in spoken
    ]
    mine(memory).add(rows, channel="sms", thread=thread)


def told(memory: Memory, message: str, day: float = 80, max_tokens: int = 800) -> str:
    context = mine(memory).context(
        message, channel="sms", at=START + timedelta(days=day), max_tokens=max_tokens
    )
    return context.text


@pytest.fixture
def memory(open_memory: OpenMemory) -> Memory:
    """Return a memory in which a rent rises twice, before weeks of other things."""
    memory = open_memory(embedder="none")
    say(memory, 0, FIRST, NOTED)
    say(memory, 9, SECOND)
    say(memory, 18, THIRD)
    for day in range(20, 75):
        say(memory, day, f"Bus number {day} came late", thread=f"bus {day}")
    mine(memory).flush()
    facts = [card.fact for card in mine(memory).facts.list(history=True)]
    assert [fact.superseded_by is None for fact in facts if "month" in fact.value] == [True, False, False]
    return memory


def test_what_changed_twice_is_told_with_the_last_change(memory: Memory) -> None:
    text = told(memory, ASKED)
    assert "900 a month" in text
    assert "990 a month" in text


def test_an_answer_that_repeats_what_is_over_is_told_with_it_too(memory: Memory) -> None:
    for size in (20, 40, 60, 80, 120, 800):
        text = told(memory, ASKED, max_tokens=size)
        assert "990 a month" in text or "900 a month" not in text


def test_before_a_change_nothing_of_it_is_told(memory: Memory) -> None:
    text = told(memory, ASKED, day=5)
    assert "900 a month" in text
    assert "990 a month" not in text
    assert "950 a month" not in text


def test_what_was_before_is_still_told_to_who_asks_for_it(memory: Memory) -> None:
    text = told(memory, "What was the rent before it went up?")
    assert "900 a month" in text
    assert "990 a month" in text


def test_what_is_over_is_never_told_as_known(memory: Memory) -> None:
    for message in (ASKED, "What is the rent?", "What do you know about me?"):
        context = mine(memory).context(message, channel="sms", at=START + timedelta(days=80))
        known = [item.text for item in context.items if item.kind is LineKind.FACT]
        assert not any("900 a month" in line or "950 a month" in line for line in known)


def test_what_took_its_place_elsewhere_is_not_told_and_neither_is_what_is_over(
    open_memory: OpenMemory,
) -> None:
    memory = open_memory(embedder="none")
    say(memory, 0, FIRST, NOTED, thread="family")
    say(memory, 9, THIRD, thread="office")
    for day in range(10, 20):
        say(memory, day, f"Bus number {day} came late", thread="family")
    family = mine(memory).context(ASKED, thread="family", only=["family"], at=START + timedelta(days=20))
    assert "990 a month" not in family.text
    assert "900 a month" not in family.text


def test_a_wish_is_told_without_what_took_the_place_of_other_words_beside_it(open_memory: OpenMemory) -> None:
    memory = open_memory(embedder="none")
    say(memory, 0, "Please always answer in one sentence. " + FIRST)
    say(memory, 9, THIRD)
    assert "one sentence" in told(memory, "Where can I buy a tent?", max_tokens=60)

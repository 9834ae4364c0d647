"""A small budget goes first to what answers the question, end to end."""

from datetime import timedelta
from typing import Any

import pytest
from builders.chats import NOW, mine
from conftest import OpenMemory

from episodic_agent import Memory

PROJECT = "/home/rui/src/ledger-jobs"
OUTPUT = "FAILED voucher.spec checkout total Expected 45.00 Received 50.00"
CURE = "That cured it: the quote mock had a stale price, pnpm mock:reset brings it back."


@pytest.fixture
def memory(open_memory: OpenMemory) -> Memory:
    return open_memory(embedder="none")


def say(memory: Memory, day: float, *contents: str | dict[str, Any], **where: Any) -> None:
    at = NOW - timedelta(days=60 - day)
    for n, content in enumerate(contents):
        row = content if isinstance(content, dict) else {"content": content}
        stamp = {"timestamp": (at + timedelta(seconds=20 * n)).isoformat()}
        mine(memory).add({"role": "user", **row, **stamp}, **{"channel": "sms", **where})


def told(memory: Memory, message: str, max_tokens: int, **where: Any) -> str:
    context = mine(memory).context(message, **{"channel": "sms", **where}, at=NOW, max_tokens=max_tokens)
    assert context.tokens <= max_tokens
    return context.text.removesuffix(message)


def test_what_repeats_the_message_stands_behind_what_it_asks_for(memory: Memory) -> None:
    for day in (1, 9, 17):
        run = {"role": "tool", "name": "bash", "arguments": {"n": str(day)}, "result": f"{OUTPUT} run {day}"}
        say(memory, day, "the voucher spec is red", run, {"role": "assistant", "content": CURE})
    asked = f"{OUTPUT} again. What cured it?"
    assert "pnpm mock:reset" in told(memory, asked, 60)
    assert "run 17" in told(memory, asked, 800)


def test_a_question_has_room_beside_the_wishes_where_the_budget_is_small(memory: Memory) -> None:
    wishes = "Never use emojis with me", "Always answer in French please", "Never suggest pork to me"
    for day, wish in enumerate(wishes):
        say(memory, day, wish)
    say(
        memory, 8, "The code of the garage door is 4417, and the light switch is behind the shelf on the left"
    )
    question, request = "What is the code of the garage door?", "Write down the code of the garage door"
    assert "4417" in told(memory, question, 60)
    assert all(wish in told(memory, question, 300) for wish in wishes)
    # who asks for something to be done is told how before all else
    assert "pork" in told(memory, request, 60)


def test_in_a_project_its_name_tells_nothing_apart(memory: Memory) -> None:
    for day in range(12):
        say(memory, day, f"ledger-jobs 1.{day} was rolled out, ledger-jobs is healthy", channel=PROJECT)
    say(memory, 14, "leave the payout ticket open until the bank writes", channel=PROJECT)
    asked = "What is still open in ledger-jobs?"
    assert "payout ticket" in told(memory, asked, 40, channel=PROJECT)


NOWHERE = "What is the wifi password?"


def test_a_question_that_nothing_answers_is_told_what_always_holds_and_little_else(
    open_memory: OpenMemory,
) -> None:
    memory = open_memory(embedder="none")
    say(memory, 0, "Never use emojis with me")
    for day in range(1, 50):
        say(memory, day, f"Bus number {day} came late to the station, so I walked", thread=f"bus {day}")
    assert mine(memory).search(NOWHERE).abstained
    for asked in (NOWHERE, "zeppelin", "How much is the rent?"):
        context = told(memory, asked, 1_500)
        assert "emojis" in context
        assert "Bus number" not in context
    # neither who asks for what was told nor who tells how things are is told less for it
    assert "Bus number" in told(memory, "Which bus came late to the station?", 1_500)
    assert "Bus number" in told(memory, "I walk to the zeppelin, my bus is late", 1_500)


def test_a_question_that_goes_on_with_a_talk_is_no_question_for_what_nothing_tells(memory: Memory) -> None:
    for day in range(1, 50):
        say(memory, day, f"Bus number {day} came late to the station, so I walked", thread=f"bus {day}")
    mine(memory).add(
        {"role": "user", "content": "The bus to the station again", "timestamp": NOW.isoformat()},
        thread="now",
    )
    assert "Bus number" in told(memory, "What is the delay there today?", 1_500, thread="now")


def test_a_greeting_calls_up_nothing_that_was_said_in_such_words(open_memory: OpenMemory) -> None:
    memory = open_memory(embedder="none")
    say(memory, 0, "Never use emojis with me")
    for day in range(1, 40):
        say(memory, day, f"Bus number {day} came late this morning, so I walked", thread=f"bus {day}")
    context = told(memory, "Morning!", 800, channel="mail")
    assert "emojis" in context
    assert "Bus" not in context

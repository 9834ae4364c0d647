"""What a user says in any turn counts: a reminder links at once, a denial takes the link back."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from builders.chats import Clock, mine
from builders.commands import Run

from episodic_agent import Memory

NINE = datetime(2026, 3, 2, 9, tzinfo=UTC)
CLUTCH = (
    ("user", "the clutch of the Corsa slips when I start on the hill"),
    ("assistant", "That sounds worn. The garage in Leutzsch can look at the clutch on Friday."),
    ("user", "they say a new clutch for the Corsa costs 900 euros with labour"),
    ("assistant", "900 euros for the clutch is about what is usual for a Corsa."),
)
CAKE = (
    ("user", "what goes into a marble cake for ten people?"),
    ("assistant", "Flour, sugar, eggs, butter and cocoa."),
    ("user", "how long in the oven?"),
    ("assistant", "An hour at 175 degrees."),
    ("user", "and can it be frozen afterwards?"),
    ("assistant", "Yes, in slices, for two months."),
    ("user", "good, then I bake it on Saturday"),
    ("assistant", "Saturday it is."),
)
REMINDER = "didn't we talk about the clutch of the Corsa last week? what does the clutch cost?"
Opened = Callable[..., Memory]


@pytest.fixture
def opened(url: str, clock: Clock) -> Iterator[Opened]:
    with ExitStack() as stack:
        arguments = {"embedder": "none", "policy": "default", "clock": clock}
        yield lambda **more: stack.enter_context(Memory.open(url, **{**arguments, **more}))


def say(memory: Memory, at: datetime, role: str, text: str, **where: Any) -> None:
    mine(memory).add({"role": role, "content": text, "timestamp": at}, **where)


def tell(memory: Memory, start: datetime, talk: tuple[tuple[str, str], ...], **where: Any) -> datetime:
    for minute, (role, text) in enumerate(talk):
        say(memory, start + timedelta(minutes=minute), role, text, **where)
    return start + timedelta(minutes=len(talk))


def linked(memory: Memory) -> set[tuple[str, str]]:
    return {(card.later.origin, card.earlier.origin) for card in mine(memory).links.list()}


@pytest.mark.parametrize("where", [{"thread": "today"}, {"channel": "sms"}])
def test_a_reminder_links_and_recalls_in_a_later_turn(
    opened: Opened, clock: Clock, where: dict[str, str]
) -> None:
    memory = opened()
    tell(memory, NINE, CLUTCH, thread="garage")
    after = tell(memory, NINE + timedelta(days=6), CAKE, **where)
    assert linked(memory) == set()
    clock.now = after
    told = mine(memory).context(REMINDER, at=after, **where)
    assert "900 euros" in told.text
    say(memory, after, "user", REMINDER, **where)
    (pair,) = linked(memory)
    assert pair[1] == "garage"
    (card,) = mine(memory).links.list()
    assert card.link.basis == "recall"
    assert [f for f in memory.doctor() if f.severity == "error"] == []


def test_a_reminder_of_what_nobody_spoke_of_links_nothing(opened: Opened, clock: Clock) -> None:
    memory = opened()
    tell(memory, NINE, CLUTCH, thread="garage")
    after = tell(memory, NINE + timedelta(days=6), CAKE, thread="today")
    clock.now = after
    say(memory, after, "user", "didn't we talk about Grandma's vineyard once?", thread="today")
    assert linked(memory) == set()


@pytest.mark.slow
@pytest.mark.parametrize(
    "denial",
    ["that's not what I meant, I'm talking about the oven", "no, not that. wrong topic", "不是这个意思"],
)
def test_a_denial_in_a_later_turn_takes_the_link_back(opened: Opened, clock: Clock, denial: str) -> None:
    memory = opened()
    tell(memory, NINE, CLUTCH, thread="garage")
    after = tell(memory, NINE + timedelta(days=6), CAKE, thread="today")
    clock.now = after
    say(memory, after, "user", REMINDER, thread="today")
    after = tell(memory, after + timedelta(minutes=1), CAKE[2:], thread="today")
    assert linked(memory) == {("today", "garage")}
    say(
        memory,
        after,
        "assistant",
        "As for the clutch of the Corsa: a new clutch costs 900 euros.",
        thread="today",
    )
    say(memory, after + timedelta(minutes=1), "user", denial, thread="today")
    assert linked(memory) == set()
    told = mine(memory).context("and what was it again?", thread="today", at=after + timedelta(minutes=2))
    assert "900 euros" not in "\n".join(i.text for i in told.items if i.thread == "garage")
    # what follows makes it no less denied
    tell(memory, after + timedelta(minutes=3), CAKE[2:], thread="today")
    assert linked(memory) == set()
    assert [f for f in memory.doctor() if f.severity == "error"] == []


def test_a_denial_of_something_else_leaves_the_link(opened: Opened, clock: Clock) -> None:
    memory = opened()
    tell(memory, NINE, CLUTCH, thread="garage")
    after = tell(memory, NINE + timedelta(days=6), CAKE, thread="today")
    clock.now = after
    say(memory, after, "user", REMINDER, thread="today")
    after = tell(memory, after + timedelta(minutes=1), CAKE[2:], thread="today")
    say(memory, after, "assistant", "With chocolate icing it keeps for a week.", thread="today")
    say(
        memory,
        after + timedelta(minutes=1),
        "user",
        "that's not what I meant, how big a tin?",
        thread="today",
    )
    assert linked(memory) == {("today", "garage")}


@pytest.mark.slow
def test_a_reminder_and_a_denial_count_on_the_command_line(run: Run) -> None:
    def add(role: str, text: str, thread: str, day: int, minute: int) -> None:
        at = (NINE + timedelta(days=day, minutes=minute)).isoformat()
        run("add", text, "--role", role, "--thread", thread, "--timestamp", at)

    for minute, (role, text) in enumerate(CLUTCH):
        add(role, text, "garage", 0, minute)
    for minute, (role, text) in enumerate(CAKE):
        add(role, text, "today", 6, minute)
    add("user", REMINDER, "today", 6, 20)
    assert "garage" in run("link", "list").out
    add("assistant", "As for the clutch of the Corsa: a new clutch costs 900 euros.", "today", 6, 40)
    add("user", "that's not what I meant", "today", 6, 41)
    assert "garage" not in run("link", "list").out

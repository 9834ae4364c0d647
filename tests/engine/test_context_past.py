"""A context tells of no moment after its own, says no sentence twice, and names who speaks and what goes on."""

from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

import pytest
from builders.chats import NOW, mine
from conftest import OpenMemory

from episodic_agent import Memory, UserMemory
from episodic_agent.engine.context.assembling import Contexts
from episodic_agent.engine.context.gathering import PAUSE
from episodic_agent.schemas import Scope
from episodic_agent.schemas.contexts import LineKind

START = NOW - timedelta(days=30)
SNOW = ("Snow again tomorrow, apparently.", "In March, rustic weather.")
VAN = ("Moving day is Saturday, who has time?", "I can drive, we need a van.", "I rent one in Altona.")
LONG = (*VAN, "Who has straps?", "I have six of them.", "And boxes?", "Thirty, in the cellar.")
LATER = ("The van is booked for eight.", "Then I bring the straps.")


def at(days: float, minutes: float = 0) -> datetime:
    return START + timedelta(days=days, minutes=minutes)


@pytest.fixture
def memory(open_memory: OpenMemory) -> Memory:
    return open_memory(link_policy="none", chain_policy="none")


def family(memory: Memory, days: float, *texts: str, **more: Any) -> None:
    """Have Lena and Tom write in turns, a minute apart."""
    for minute, text in enumerate(texts):
        name = ("Lena", "Tom")[minute % 2]
        said = {"name": name, "content": text, "timestamp": at(days, minute).isoformat()}
        mine(memory).add([said], **{"thread": "family", **more})


def sessions_before(user: UserMemory, message: str, **given: Any) -> list[str]:
    return [line.text for line in user.context(message, **given).items if line.kind is LineKind.SESSION]


@pytest.mark.parametrize("form", ["default", "context-2027-01", "seed-002"])
def test_what_is_said_in_a_conversation_after_the_moment_is_not_told(memory: Memory, form: str) -> None:
    family(memory, 1, *VAN)
    family(memory, 1 + 1 / 24, *LATER)
    mine(memory).flush()
    context = mine(memory).context("Where is the van?", thread="family", at=at(1, 30), form=form)
    assert "Altona" in context.text
    assert not any(text in context.text for text in ("booked", "straps"))
    nothing = mine(memory).context("Where is the van?", thread="family", at=at(0), form=form)
    assert nothing.items == []


@pytest.mark.parametrize("form", ["default", "seed-002"])
def test_the_message_a_context_is_for_may_stand_there_and_more_after_it(memory: Memory, form: str) -> None:
    family(memory, 1, *VAN, *LATER)
    context = mine(memory).context(VAN[2], thread="family", at=at(1, 2), form=form)
    assert context.text.count(VAN[2]) == 1
    assert VAN[1] in context.text
    assert LATER[0] not in context.text


def test_a_linked_thread_is_told_as_far_as_it_had_come(memory: Memory) -> None:
    mine(memory).add(VAN[2], thread="a", timestamp=at(1))
    thread = mine(memory).threads.list()[0].id
    mine(memory).add(LATER[0], thread="a", timestamp=at(2))
    mine(memory).flush()
    links = [(thread, "continuity", False)]
    memory._works.contexts = Contexts(memory._deps, foreseen=lambda *_: links)
    text = mine(memory).context("And the van?", channel="sms", at=at(1, 60), form="seed-002").text
    assert "Altona" in text
    assert "booked" not in text


def test_the_session_before_is_said_once_and_only_where_it_is_the_one_before(memory: Memory) -> None:
    user = mine(memory)
    for day, texts in ((1, SNOW), (3, LONG), (5, LATER)):
        family(memory, day, *texts)
        user.flush()
    first, second, third = parts_of(memory)
    now = at(5) + 2 * timedelta(minutes=1)
    lead(memory, third, first)  # alike, but not the one before
    assert sessions_before(user, "When do we go?", thread="family", at=now) == []
    lead(memory, second, first)
    (line,) = sessions_before(user, "Who drives?", thread="family", at=at(3, 9), max_tokens=200)
    assert line.lower().count("snow again tomorrow") == 1


def test_of_a_session_before_nothing_is_said_that_stands_in_this_conversation(memory: Memory) -> None:
    user = mine(memory)
    for day, texts in ((1, SNOW), (3, VAN)):
        family(memory, day, *texts)
        user.flush()
    first, second = parts_of(memory)
    lead(memory, second, first)
    text = user.context("Who drives?", thread="family", at=at(3, 5), max_tokens=2_000).text
    assert text.count("Snow again tomorrow") == 1


def test_after_a_pause_nobody_takes_the_session_before_the_last_for_the_one_before(memory: Memory) -> None:
    user = mine(memory)
    for day, texts in ((1, SNOW), (3, LONG)):
        family(memory, day, *texts)
        user.flush()
    first, second = parts_of(memory)
    lead(memory, second, first)
    asked: dict[str, Any] = {"thread": "family", "max_tokens": 200}
    assert sessions_before(user, "Who drives?", at=at(3, 9), **asked)
    assert sessions_before(user, "Who drives?", at=at(3, 9) + 2 * PAUSE, **asked) == []


def test_what_a_message_goes_on_from_is_named(memory: Memory) -> None:
    mine(memory).add(VAN[2], channel="sms", timestamp=at(1))
    thread = mine(memory).threads.list()[0].id
    mine(memory).threads.rename(str(thread), "The van (in Altona)")
    asked: dict[str, Any] = {"channel": "sms", "at": at(1, 60)}
    memory._works.contexts = Contexts(memory._deps, foreseen=lambda *_: [(thread, "continuity", False)])
    context = mine(memory).context("And the van?", **asked)
    named = "(Continuing from previous thread after 1 hour break: The van (in Altona))"
    assert context.text.endswith(f"\n\n{named}\nCurrent question: And the van?")
    (line,) = [item.line for item in context.items if item.kind == "continuing"]
    assert context.text.splitlines()[line] == named
    memory._works.contexts = Contexts(memory._deps, foreseen=lambda *_: [(thread, "continuity", True)])
    text = mine(memory).context("And the van?", **asked).text
    assert text.endswith("\n\nCurrent question: And the van?")
    assert "break" not in text
    old = mine(memory).context("And the van?", channel="sms", at=at(1, 60), form="seed-002").text
    assert old.endswith("\n(Possibly continuing from previous thread after 1 hour break)")


def test_what_ended_a_moment_or_months_ago_is_not_what_a_message_goes_on_from(memory: Memory) -> None:
    mine(memory).add(VAN[2], channel="sms", timestamp=at(1))
    thread = mine(memory).threads.list()[0].id

    def break_of(basis: str, **gap: float) -> str:
        memory._works.contexts = Contexts(memory._deps, foreseen=lambda *_: [(thread, basis, False)])
        text = mine(memory).context("And the van?", channel="sms", at=at(1) + timedelta(**gap)).text
        return text.partition("(Continuing from previous thread after ")[2].partition(" break")[0]

    assert break_of("continuity", seconds=1) == "", "no break of five minutes"
    assert break_of("continuity", minutes=31) == "30 min"
    assert break_of("continuity", days=19) == "3 weeks"
    assert break_of("continuity", weeks=5) == "", "a word in common says too little"
    assert break_of("hand", weeks=5) == "5 weeks", "a hand says enough"


def test_who_speaks_is_named_in_a_conversation_of_one_where_others_write_too(memory: Memory) -> None:
    family(memory, 1, "I booked the van in Altona.", thread="lena")
    alone = mine(memory).context("Where is the van?", thread="lena", at=at(1, 9)).text
    assert "In this conversation:\n- I booked the van" in alone
    family(memory, 1, "Hm.", "The van needs fuel.", thread="tom")
    text = mine(memory).context("Where is the van?", thread="lena", at=at(1, 9)).text
    assert "In this conversation:\n- Lena: I booked the van" in text
    assert "- Tom: The van needs fuel." in text


def parts_of(memory: Memory) -> list[UUID]:
    """Return the episodes of a thread's parts, in order."""
    with memory._deps.store.begin(Scope(), write=False) as tx:
        return [section.episode_id for section in tx.threads.sections()]


def lead(memory: Memory, child: UUID, parent: UUID) -> None:
    with memory._deps.store.begin(Scope(), write=True) as tx:
        tx.episodes.lead(child, parent)

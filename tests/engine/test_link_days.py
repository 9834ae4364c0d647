"""Who asks what is on a day names no matter: the question is linked to nothing, and goes on from nothing."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from builders.chats import mine
from conftest import OpenMemory

from episodic_agent import Memory
from episodic_agent.schemas import Thread

MONDAY = datetime(2024, 3, 4, 8, tzinfo=UTC)
APPOINTMENT = (
    (0, "user", "Donnerstag 14 uhr Termin beim Notar"),
    (0.01, "assistant", "Notiert: 14 Uhr, Notar."),
)
TODAY = ((3, "user", "Was steht heute an?"), (3.01, "assistant", "Um 14 Uhr der Termin beim Notar."))
FRIDAY = ((6, "user", "anything on Friday?"), (6.01, "assistant", "Um 14 Uhr der Termin beim Notar."))
THANKS = ((6.02, "user", "danke"), (6.03, "assistant", "Gern, viel Erfolg beim Notar."))


def tell(memory: Memory, *sittings: tuple[tuple[float, str, str], ...]) -> list[Thread]:
    for days, role, text in (line for sitting in sittings for line in sitting):
        at = MONDAY + timedelta(days=days)
        mine(memory).add({"role": role, "content": text}, channel="chat", timestamp=at)
    mine(memory).flush()
    return sorted(mine(memory).threads.list(), key=lambda thread: thread.created_at)


@pytest.mark.parametrize("embedder", ["none", "hashing"])
def test_a_bare_question_for_a_day_is_linked_to_nothing(open_memory: OpenMemory, embedder: str) -> None:
    memory = open_memory(policy="default", embedder=embedder)
    assert len(tell(memory, APPOINTMENT, TODAY, (*FRIDAY, *THANKS))) == 3
    assert mine(memory).links.list() == []


def test_a_question_with_a_matter_is_linked_by_it(open_memory: OpenMemory) -> None:
    memory = open_memory(policy="default", embedder="none")
    asks = (FRIDAY[0][0], "user", "steht am Freitag der Termin beim Notar an?")
    first, second = tell(memory, APPOINTMENT, (asks, FRIDAY[1]))
    (link,) = mine(memory).links.list()
    assert (link.earlier.id, link.later.id) == (first.id, second.id)


def test_the_context_of_a_bare_question_goes_on_from_nothing(open_memory: OpenMemory) -> None:
    memory = open_memory(policy="default", embedder="none")
    first, _ = tell(memory, APPOINTMENT, ((3, "user", "Was braucht der Notar beim Termin?"),))
    assert [link.earlier.id for link in mine(memory).links.list()] == [first.id]
    mine(memory).threads.rename(str(first.id), "14 uhr")
    asked: dict[str, Any] = {"channel": "chat", "at": MONDAY + timedelta(days=3.001)}
    assert "Pause: 14 uhr)" in mine(memory).context("Und was kostet der Notar?", **asked).text
    assert "Donnerstag" in mine(memory).context("Was steht heute an?", **asked).text
    assert "14 uhr)" not in mine(memory).context("Was steht heute an?", **asked).text

"""A day that has passed is no longer told as known; what lasts beyond it, or comes again, is."""

from datetime import UTC, datetime, timedelta

import pytest
from builders.chats import mine
from conftest import OpenMemory

from episodic_agent import Memory
from episodic_agent.schemas.contexts import LineKind

MONDAY = datetime(2024, 3, 4, 8, tzinfo=UTC)
ONCE = (
    "Ich habe morgen um 11 Uhr einen Termin beim Notar",
    "my exam is next Friday",
    "I'm in Rome next week",
)
LASTS = (
    "Jeden Freitag habe ich Chor",
    "mein Geburtstag ist am 3. Mai",
    "I start my new job on Monday",
    "I moved to Berlin on 3 May",
    "My sister is visiting tomorrow, she is vegan",
    "ab heute esse ich kein Fleisch mehr",
)


def known(memory: Memory, message: str, at: datetime) -> list[str]:
    context = mine(memory).context(message, at=at)
    return [one.text for one in context.items if one.kind is LineKind.FACT]


def tells(lines: list[str], words: str) -> bool:
    return any(words in line for line in lines)


@pytest.mark.parametrize("words", ONCE)
def test_a_day_that_has_passed_is_no_longer_known(open_memory: OpenMemory, words: str) -> None:
    memory = open_memory(policy="default", embedder="none")
    mine(memory).add(words, channel="sms", timestamp=MONDAY)
    mine(memory).flush()
    fact = mine(memory).facts.list()[0]
    assert tells(known(memory, words, MONDAY + timedelta(hours=12)), words)
    later = MONDAY + timedelta(weeks=3)
    assert not tells(known(memory, words, later), words)
    assert mine(memory).facts.list()[0].id == fact.id
    context = mine(memory).context(words, at=later)
    assert [one.kind for one in context.items if words in one.text] == [LineKind.RECALLED]
    mine(memory).facts.confirm(fact.id)
    assert tells(known(memory, words, later), words)


@pytest.mark.parametrize("words", LASTS)
def test_what_lasts_beyond_its_day_stays_known(open_memory: OpenMemory, words: str) -> None:
    memory = open_memory(policy="default", embedder="none")
    mine(memory).add(words, channel="sms", timestamp=MONDAY)
    mine(memory).flush()
    assert tells(known(memory, words, MONDAY + timedelta(weeks=12)), words)


def test_a_day_is_over_by_the_clock_of_who_wrote(open_memory: OpenMemory) -> None:
    memory = open_memory(policy="default", embedder="none")
    words = "Ich habe morgen um 11 Uhr einen Termin beim Notar"
    mine(memory).add(words, channel="sms", timestamp="2024-03-04T23:30:00-05:00")
    mine(memory).flush()
    moments = ("2024-03-05T23:30:00-05:00", "2024-03-06T04:30:00+00:00", "2024-03-06T00:30:00-05:00")
    stands = [tells(known(memory, words, datetime.fromisoformat(at)), words) for at in moments]
    assert stands == [True, True, False]

"""What has been so for a while when it is first said: newer than what was said before it, whenever it began."""

from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from builders.chats import Clock, mine
from conftest import OpenMemory

from episodic_agent import Memory
from episodic_agent.engine.jobs.kinds import EMBED, ENCODE, FACTS, QUOTE
from episodic_agent.faces.shapes import fact_card_item, facts_as_lived

OLDER = "Please always send my parcels to the bakery on the corner."
NEWER = "I have been working at the bakery on Hill Road since September."


@pytest.fixture
def memory(open_memory: OpenMemory, clock: Clock) -> Iterator[Memory]:
    with open_memory(embedder="hashing", policy="seed-001", clock=clock) as memory:
        for day, text in ((8, OLDER), (15, NEWER)):
            clock.now = datetime.fromisoformat(f"2026-11-{day:02}T18:30:00+02:00")
            mine(memory).add({"content": text, "timestamp": clock.now.isoformat()}, thread=f"day {day}")
        clock.forward(hours=3)
        mine(memory).flush()
        mine(memory).facts.consolidate()
        yield memory


def test_a_context_tells_what_is_known_in_the_order_it_was_said(memory: Memory) -> None:
    text = mine(memory).context("Where is the bakery?", max_tokens=600).text
    lines = [line for line in text.splitlines() if line.startswith("- ") and "bakery" in line]
    assert [line.rpartition(" (")[2] for line in lines] == ["2026-11-08)", "2026-11-15)"]


def test_a_list_has_what_was_said_last_first_and_says_when(memory: Memory) -> None:
    newest, oldest = mine(memory).facts.list()
    assert (newest.fact.value, oldest.fact.value) == (NEWER, OLDER)
    (shown, plain) = facts_as_lived(mine(memory), [newest, oldest])
    assert "since 2026-09-01, said 2026-11-15:" in fact_card_item(shown).text
    assert "since 2026-11-08:" in fact_card_item(plain).text


def test_since_when_is_told_by_the_clock_of_who_said_it(memory: Memory) -> None:
    (newest, *_) = facts_as_lived(mine(memory), mine(memory).facts.list())
    assert newest.fact.valid_at.isoformat() == "2026-09-01T00:00:00+02:00"
    (shown,) = facts_as_lived(mine(memory), [mine(memory).facts.get(newest.id)])
    assert shown.quotes[0].valid_at.utcoffset() == timedelta(hours=2)


@pytest.mark.parametrize("quoted_first", [True, False])
def test_what_came_late_parts_what_was_said_before_it_from_what_was_said_after(
    open_memory: OpenMemory, clock: Clock, *, quoted_first: bool
) -> None:
    said_again = "My rent is now 960 euros a month."
    with open_memory(embedder="hashing", clock=clock) as memory:
        for day in (1, 21):
            at = f"2026-01-{day:02}T09:00:00+00:00"
            mine(memory).add({"content": said_again, "timestamp": at}, thread=f"day {day}")
        mine(memory).flush()
        mine(memory).facts.consolidate()
    with open_memory(embedder="hashing", clock=clock, jobs="workers") as memory:
        late = {"content": "My rent is now 1200 euros a month.", "timestamp": "2026-01-11T09:00:00+00:00"}
        mine(memory).add(late, thread="late")
        mine(memory).flush()
        kinds = [EMBED, QUOTE] if quoted_first else [EMBED, ENCODE, FACTS]
        for _ in range(3):
            memory.jobs.worker(kinds=kinds).run(once=True)
            mine(memory).facts.consolidate()
        assert [one.fact.valid_at.day for one in mine(memory).facts.list(history=True)] == [21, 11, 1]


def test_what_is_announced_ends_the_older_words_on_its_day(open_memory: OpenMemory, clock: Clock) -> None:
    older, newer = "My rent is 780 a month", "My rent goes up to 810 a month from January"
    with open_memory(embedder="hashing", clock=clock) as memory:
        for day, text in (("2026-09-01", older), ("2026-11-03", newer)):
            clock.now = datetime.fromisoformat(f"{day}T10:00:00+01:00")
            mine(memory).add({"content": text, "timestamp": clock.now.isoformat()}, thread=day)
        mine(memory).flush()
        (first,) = [card for card in mine(memory).facts.list() if card.fact.value == older]
        assert first.fact.invalid_at == datetime.fromisoformat("2027-01-01T00:00:00+01:00")
        assert [hit.fact.value for hit in mine(memory).search("what is my rent?").facts] == [newer, older]
        clock.now = datetime.fromisoformat("2027-01-02T10:00:00+01:00")
        assert [card.fact.value for card in mine(memory).facts.list()] == [newer]
        assert [hit.fact.value for hit in mine(memory).search("what is my rent?").facts] == [newer]


def test_a_standing_wish_that_another_takes_the_place_of_later_is_told_until_then(
    open_memory: OpenMemory, clock: Clock
) -> None:
    older = "Please always answer me in English."
    newer = "From Monday please always answer me in French instead."
    with open_memory(embedder="hashing", clock=clock) as memory:
        for day, text in (("2026-09-01", older), ("2026-11-05", newer)):
            clock.now = datetime.fromisoformat(f"{day}T10:00:00+01:00")
            mine(memory).add({"content": text, "timestamp": clock.now.isoformat()}, thread=day)
        mine(memory).flush()
        ended = [card for card in mine(memory).facts.list() if card.fact.invalid_at is not None]
        assert [card.fact.value for card in ended] == [older]
        assert f'- "{older}"' in mine(memory).context("what's the weather like?", max_tokens=300).text
        clock.now = datetime.fromisoformat("2026-11-10T10:00:00+01:00")
        assert f'- "{older}"' not in mine(memory).context("what's the weather like?", max_tokens=300).text


def test_what_is_announced_goes_with_an_export(open_memory: OpenMemory, clock: Clock, tmp_path: Path) -> None:
    older, newer = "My rent is 780 a month", "My rent goes up to 810 a month from January"
    with open_memory(embedder="hashing", clock=clock) as memory:
        for day, text in (("2026-09-01", older), ("2026-11-03", newer)):
            clock.now = datetime.fromisoformat(f"{day}T10:00:00+01:00")
            mine(memory).add({"content": text, "timestamp": clock.now.isoformat()}, thread=day)
        mine(memory).flush()
        facts = {card.fact.value: card.fact for card in mine(memory).facts.list()}
        (tmp_path / "export.jsonl").write_text("\n".join(mine(memory).export()), encoding="utf-8")
        other = memory.user("other", new=True)
        other.import_file(tmp_path / "export.jsonl")
        brought = {card.fact.value: card.fact for card in other.facts.list()}
    assert {value: fact.invalid_at for value, fact in brought.items()} == {
        older: datetime.fromisoformat("2027-01-01T00:00:00+01:00"),
        newer: None,
    }
    assert (
        brought[newer].evidence[0].begins_at == facts[newer].evidence[0].begins_at == facts[older].invalid_at
    )

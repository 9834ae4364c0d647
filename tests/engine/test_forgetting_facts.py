"""Facts where what proves them is erased, suppressed or expired: they go, or stay untold."""

from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest
from builders.chats import START, Clock
from builders.erasing import everywhere

from episodic_agent import Memory

OpenMemory = Callable[..., Memory]
QUERY = "where do I live?"


@pytest.fixture
def memory(open_memory: OpenMemory, clock: Clock) -> Memory:
    """A memory that was told of two homes and a liking, each in a thread of its own."""
    memory = open_memory()
    for day, text in enumerate(("I live in Lisbon.", "I moved to Quillmere last week.", "I love fado.")):
        clock.now = START + timedelta(days=30 * day)
        tell(memory, clock, text, thread=str(day))
    memory.consolidate()
    return memory


def tell(memory: Memory, clock: Clock, text: str, *, thread: str) -> None:
    memory.add({"role": "user", "content": text, "timestamp": clock.now.isoformat()}, thread=thread)
    memory.flush(thread=thread)


def known(memory: Memory) -> set[str]:
    return {card.fact.value for card in memory.facts()}


def told(memory: Memory, query: str = QUERY) -> list[str]:
    return [found.fact.value for found in memory.search(query).facts]


def test_what_an_erased_statement_had_ended_holds_again(memory: Memory, url: str) -> None:
    assert known(memory) == {"Quillmere", "fado"}
    memory.forget(thread="1")
    assert known(memory) == {"Lisbon", "fado"}
    assert told(memory) == ["Lisbon"]
    assert everywhere(url, "quillmere") == []
    assert memory.residue(["Quillmere"]) == []
    assert [f.message for f in memory.doctor() if f.severity == "error"] == []


def test_an_erased_observation_proves_nothing_and_what_else_says_so_does(
    memory: Memory, clock: Clock, url: str
) -> None:
    tell(memory, clock, "As I said, I live in Quillmere now.", thread="3")
    memory.consolidate()
    (fact,) = [card.fact for card in memory.facts() if card.fact.value == "Quillmere"]
    assert len(fact.evidence) == 2
    memory.forget(observation=fact.evidence[0].observation_id)
    (left,) = [card.fact for card in memory.facts() if card.fact.value == "Quillmere"]
    assert [one.observation_id for one in left.evidence] == [fact.evidence[1].observation_id]
    memory.forget(observation=fact.evidence[1].observation_id)
    assert "Quillmere" not in known(memory)
    assert everywhere(url, "quillmere") == []


def test_an_export_from_before_does_not_bring_an_erased_fact_back(memory: Memory, tmp_path: Path) -> None:
    (tmp_path / "old.jsonl").write_text("\n".join(memory.export()), encoding="utf-8")
    (said,) = [card.fact.evidence[0] for card in memory.facts() if card.fact.value == "Quillmere"]
    memory.forget(observation=said.observation_id)
    memory.import_file(tmp_path / "old.jsonl")
    assert known(memory) == {"Lisbon", "fado"}


def test_what_only_suppressed_words_prove_stays_untold(memory: Memory) -> None:
    assert told(memory) == ["Quillmere"]
    memory.suppress(thread="1")
    assert told(memory) == []
    memory.unsuppress(thread="1")
    assert told(memory) == ["Quillmere"]
    memory.suppress(words="quillmere")
    assert told(memory) == []


def test_nothing_is_learned_from_what_is_suppressed_until_it_is_shown_again(
    memory: Memory, clock: Clock
) -> None:
    clock.forward(days=1)
    memory.add("I play the cello.", thread="quiet", timestamp=clock.now)
    memory.suppress(thread="quiet")
    memory.flush(thread="quiet")
    memory.consolidate()
    assert "the cello" not in known(memory)
    memory.unsuppress(thread="quiet")
    memory.consolidate()
    assert "the cello" in known(memory)


def test_a_user_s_facts_go_with_the_user(memory: Memory, url: str) -> None:
    memory.forget(everything=True, user_id="default")
    assert everywhere(url, "fado") == []
    assert memory.users() == []

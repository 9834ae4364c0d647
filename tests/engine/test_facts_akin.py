"""Facts are found by a word of the family of theirs, in the language asked in or in another."""

from collections.abc import Iterator

import pytest
from builders.chats import mine

from episodic_agent import Memory

DIET = "Soy intolerante a la lactosa y al gluten, por favor nada de queso en mis pedidos."
WORK = "I am a photographer and I work for the city museum."
STREET = "I live in Hill Street near the old harbour."


@pytest.fixture(scope="module")
def memory(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Memory]:
    with Memory.open(tmp_path_factory.mktemp("akin") / "memory.db") as memory:
        for text in (DIET, WORK, STREET):
            mine(memory).add(text, thread=text[:9])
        mine(memory).flush()
        mine(memory).facts.consolidate()
        yield memory


@pytest.mark.parametrize(
    ("query", "fact"),
    [("intolerances", DIET), ("intoleranz", DIET), ("Fotografie photographie", WORK), ("photographs", WORK)],
)
def test_a_fact_is_found_by_a_word_of_the_family_of_its_own(memory: Memory, query: str, fact: str) -> None:
    assert [card.fact.value for card in mine(memory).facts.list(query)][:1] == [fact]


def test_the_word_itself_stands_before_one_of_its_family(memory: Memory) -> None:
    assert mine(memory).facts.list("photographer")[0].score > mine(memory).facts.list("photographs")[0].score
    assert mine(memory).facts.list("harbinger") == []

"""What proves a hit that was reached by a question: the answer to it, and not that it was asked before."""

from collections.abc import Iterator

import pytest
from builders.chats import Clock, mine, say

from episodic_agent import Memory

ASKED = "how many lengths is my longest swim?"


@pytest.fixture
def memory(clock: Clock) -> Iterator[Memory]:
    with Memory.open(":memory:", embedder="hashing", clock=clock) as memory:
        yield memory


def test_the_answer_proves_a_hit_whose_best_message_only_asks(memory: Memory) -> None:
    omar = mine(memory)
    omar.add([
        say("so what was my longest swim so far, how many lengths", 0),
        say("Twenty-six, on Sunday.", 1, "assistant"),
    ])  # fmt: skip
    omar.flush()
    answer = omar.search(ASKED)
    assert [one.observation.text for one in answer.hits[0].evidence] == [
        "Twenty-six, on Sunday.",
        "so what was my longest swim so far, how many lengths",
    ]
    assert "assistant: Twenty-six, on Sunday." in str(answer)


def test_between_people_the_next_message_answers_where_it_proves_the_hit_too(memory: Memory) -> None:
    omar = mine(memory)
    omar.add([
        say("what was your longest swim, how many lengths?", 0, name="Omar"),
        say("my longest swim? thirty lengths", 1, name="Jule"),
    ])  # fmt: skip
    omar.flush()
    assert omar.search(ASKED).hits[0].evidence[0].observation.actor == "Jule"


def test_what_states_something_proves_its_hit_whoever_answers(memory: Memory) -> None:
    omar = mine(memory)
    omar.add([
        say("I swam twenty-six lengths, that is my longest swim, right?", 0),
        say("Congratulations!", 1, "assistant"),
    ])  # fmt: skip
    omar.flush()
    assert omar.search(ASKED).hits[0].evidence[0].observation.actor == "user"


def test_a_question_without_an_answer_stands_for_itself(memory: Memory) -> None:
    omar = mine(memory)
    omar.add(say("what was my longest swim so far, how many lengths", 0))
    omar.flush()
    assert omar.search(ASKED).hits[0].evidence[0].observation.text.startswith("what was my longest")

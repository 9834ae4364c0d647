"""What somebody took on to do is found by who asks for it, in other words than it was taken on in."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from builders.chats import Clock
from builders.minilm import default_model

from benchmarks.commitments import measure
from episodic_agent import Memory
from episodic_agent.engine.user import UserMemory
from episodic_agent.providers.embedders.hashing import HashingEmbedder

MONDAY = datetime(2026, 9, 7, 9, tzinfo=UTC)
TALK = (
    ("work", "Jonas", "the slides for Halden look great"),
    ("work", "Ana", "could somebody send Halden the contract?"),
    ("work", "Jonas", "leave it with me, they'll have it by Friday"),
    ("work", "Ana", "I'll book the room for the workshop"),
    ("home", "Lena", "can you fix the bike before the holidays?"),
    ("home", "Ana", "will do"),
    ("home", "Lena", "the weather will be lovely on Sunday"),
    ("home", "Lena", "that museum was boring, wasn't it"),
    ("home", "Ana", "haha yes"),
    ("work", "Jonas", "lunch was good today"),
)


@pytest.fixture
def ana(tmp_path: Path, clock: Clock) -> Iterator[UserMemory]:
    with Memory.open(tmp_path / "m.db", embedder=default_model(), clock=clock) as memory:
        user = memory.user("Ana")
        for n, (thread, who, text) in enumerate(TALK):
            clock.now = MONDAY + timedelta(minutes=7 * n)
            user.add(text, role=who, thread=thread, timestamp=clock.now)
        clock.now = MONDAY + timedelta(days=2)
        user.flush()
        yield user


def first(user: UserMemory, question: str, most: int = 2, **filters: str) -> list[str]:
    return [hit.observation.text for hit in user.search(question, **filters).observations[:most]]


def test_what_somebody_promised_is_found_by_whose_promise_it_is(ana: UserMemory) -> None:
    assert TALK[2][2] in first(ana, "what did Jonas promise?")
    assert not ana.search("what did Jonas promise?").abstained
    assert TALK[3][2] in first(ana, "what do I still have to do at work?")
    assert "leave it with me" in ana.context("what did Jonas promise?", max_tokens=120).text


def test_a_short_promise_is_told_with_the_request_it_answers(ana: UserMemory) -> None:
    told_first = first(ana, "what did I promise Lena?", 3)
    assert TALK[4][2] in told_first
    assert TALK[5][2] in told_first


def test_what_is_no_question_for_it_is_answered_as_before(ana: UserMemory) -> None:
    assert "museum" in first(ana, "what did Lena say about the museum?")[0]


def test_without_a_model_the_words_tell(tmp_path: Path, clock: Clock) -> None:
    with Memory.open(tmp_path / "m.db", embedder="none", clock=clock) as memory:
        user = memory.user("Ana")
        for thread, who, text in TALK:
            user.add(text, role=who, thread=thread, timestamp=MONDAY)
        user.flush()
        assert TALK[2][2] in first(user, "what did Jonas promise to do?")


def test_another_embedder_s_vectors_are_not_given_to_the_judges(tmp_path: Path, clock: Clock) -> None:
    with Memory.open(tmp_path / "m.db", embedder=HashingEmbedder(), clock=clock) as memory:
        user = memory.user("Ana")
        for thread, who, text in TALK:
            user.add(text, role=who, thread=thread, timestamp=MONDAY)
        user.flush()
        assert TALK[2][2] in first(user, "what did Jonas promise to do?")


def test_what_is_hidden_is_no_commitment(ana: UserMemory) -> None:
    hit = ana.search("what did Jonas promise?").observations[0]
    ana.episodes.suppress(words="Friday")
    assert hit.observation.text not in first(ana, "what did Jonas promise?", 10)
    assert "leave it with me" not in ana.context("what did Jonas promise?").text


def test_a_filter_is_answered_from_what_it_leaves(ana: UserMemory) -> None:
    ana.add("the coffee here is terrible", role="Jonas", thread="chat")
    ana.flush()
    assert ana.search(
        "what did Jonas promise?", thread="chat"
    ).abstained  # what is elsewhere makes it no surer
    assert TALK[2][2] in first(ana, "what did Jonas promise?", thread="work")


@pytest.mark.slow
def test_stories_that_taught_nothing_are_answered() -> None:
    told = measure(default_model(), "frozen")
    assert told["questions"] > 50
    assert told["open told"] > 0.6  # .44 without, .67 with them


@pytest.mark.parametrize(
    "question",
    [
        "What did Jonas promise?",
        "What has Jonas promised to do?",
        "Was hat Jonas versprochen?",
        "Qu'est-ce que Jonas a promis ?",
        "what did we promise?",
    ],
)
def test_a_question_that_names_only_whose_promise_it_is_is_answered(
    tmp_path: Path, clock: Clock, question: str
) -> None:
    with Memory.open(tmp_path / "bare.db", embedder=default_model(), clock=clock) as memory:
        ole = memory.user("ole", new=True)
        for who, text in (
            ("Ole", "Can somebody bring the ladder?"),
            ("Jonas", "I'll bring the ladder on Saturday."),
            ("Ole", "great, thanks"),
            ("Mia", "The gutters are full of leaves again."),
        ):
            clock.forward(minutes=3)
            ole.add(text, role=who, thread="house")
        ole.flush()
        found = ole.search(question)
        assert not found.abstained
        assert "I'll bring the ladder" in str(found)
        assert ole.search("What did Mia promise?").abstained

"""Asked for the last time, or where a thing is now, searches and contexts tell the newest of what answers."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from builders.chats import mine
from conftest import OpenMemory

from episodic_agent import Memory

START = datetime(2024, 3, 1, 8, tzinfo=UTC)
DAYS = 70
NOW = START + timedelta(days=DAYS)


def message(days: float, text: str, role: str = "user") -> dict[str, Any]:
    return {"role": role, "content": text, "timestamp": START + timedelta(days=days)}


def step(days: float, place: str, action: str, **more: Any) -> dict[str, Any]:
    at = START + timedelta(days=days)
    return {"kind": "step", "location": place, "action": action, "timestamp": at, **more}


@pytest.fixture
def memory(open_memory: OpenMemory) -> Memory:
    """Hold seventy days of pills, twice a day in the same words, and what was said of glasses."""
    memory = open_memory(embedder="none")
    for day in range(DAYS):
        for hours in (0, 0.5):
            rounds = [
                step(day + hours, "kitchen", "take the pill box", objects=["pill box"], outcome=True),
                step(day + hours + 0.001, "living room", "hand over the pills", outcome=True),
            ]
            mine(memory).add(rounds, thread="robot")
        mine(memory).add(message(day + 0.002, "The cat sleeps.", "assistant"), thread=f"day {day}")
    said = [
        message(5, "I slept badly last night, and the last bus was late."),
        message(6.1, "Where are my glasses? I can't read the paper."),
        message(6.101, "Your glasses were on the windowsill.", "assistant"),
        message(50, "Now where are my glasses?"),
        message(50.001, "They are on the hall table beside the post.", "assistant"),
        message(12, "The plumber came and looked at the pipe."),
        message(40, "The plumber was here, the pipe is new."),
        message(62, "That was the last I'll eat of prawns, my lips swelled up last night."),
    ]
    for one in sorted(said, key=lambda item: item["timestamp"]):
        mine(memory).add(one, thread=f"talk {one['timestamp']:%m-%d}")
    return memory


def day_of(at: datetime) -> int:
    return (at - START) // timedelta(days=1)


@pytest.mark.parametrize(
    "question",
    [
        "When did I last take the pills?",
        "when was the last time you handed me the pills?",
        "when were the pills handed over most recently?",
        "When did I take my pills the last time?",
    ],
)
def test_of_what_is_done_every_day_the_last_time_is_told(memory: Memory, question: str) -> None:
    recall = mine(memory).search(question, now=NOW)
    assert not recall.abstained
    assert day_of(recall.observations[0].observation.at) == DAYS - 1
    assert "pill" in recall.observations[0].observation.text
    assert day_of(recall.hits[0].end_at) == DAYS - 1
    told = mine(memory).context(question, at=NOW).text
    assert "2024-05-09, robot\n- agent: In the " in told.replace("user: ", "")
    assert "prawns" not in told


def test_a_context_tells_the_last_time_of_talk_that_comes_every_day(open_memory: OpenMemory) -> None:
    memory = open_memory(policy="default", embedder="none")
    for number in range(3 * DAYS):
        said = [message(number / 3, f"My tablets please, it is number {number}.")]
        said.append(message(number / 3 + 0.001, "There you are.", "assistant"))
        mine(memory).add(said, thread=f"time {number}")
    for number in range(60):  # since then other things were talked of
        mine(memory).add(message(DAYS + number / 3, f"Soup again, pot {number}."), thread=f"soup {number}")
    context = (
        mine(memory)
        .context("When did I last have my tablets?", at=NOW + timedelta(days=20), max_tokens=300)
        .text
    )
    assert f"number {3 * DAYS - 1}." in context


def test_the_last_time_is_told_in_other_languages(open_memory: OpenMemory) -> None:
    memory = open_memory(embedder="none")
    for day in range(DAYS):
        for hours in (0.0, 0.5):
            said = [message(day + hours, "Bitte die Tabletten."), message(day + hours, "Schon genommen.")]
            mine(memory).add(said, thread=f"{day} {hours}")
    mine(memory).add(message(3, "Zuletzt war es kalt."), thread="wetter")
    recall = mine(memory).search("Wann hab ich zuletzt die Tabletten genommen?", now=NOW)
    assert not recall.abstained
    assert day_of(recall.hits[0].start_at) == DAYS - 1


def test_the_first_time_of_what_is_done_every_day_is_told_too(memory: Memory) -> None:
    recall = mine(memory).search("When did I first take the pills?", now=NOW)
    assert day_of(recall.observations[0].observation.at) == 0


def test_words_that_ask_for_the_last_time_are_not_looked_for(memory: Memory) -> None:
    recall = mine(memory).search("when did we last see the plumber?", now=NOW)
    assert recall.observations[0].observation.text == "The plumber was here, the pipe is new."
    assert all("last" not in one.observation.text for one in recall.observations[:2])
    meant = mine(memory).search("what swelled up last night?", now=START + timedelta(days=62.5))
    assert "prawns" in meant.observations[0].observation.text  # there it is a time


@pytest.mark.parametrize("question", ["Where are my glasses?", "where did I leave my glasses"])
def test_of_a_thing_that_moves_the_newest_place_is_told_first(memory: Memory, question: str) -> None:
    recall = mine(memory).search(question, now=NOW)
    assert day_of(recall.hits[0].start_at) == 50
    assert any("hall table" in proof.observation.text for proof in recall.hits[0].evidence)
    told = mine(memory).context(question, at=NOW).text
    assert "They are on the hall table beside the post." in told


def test_where_a_thing_is_nothing_says_that_tells_no_place(open_memory: OpenMemory) -> None:
    memory = open_memory(embedder="none")
    for day, text in enumerate(
        ["The car stands in Mill Street.", "The car needs new tyres.", "We had soup."]
    ):
        mine(memory).add(message(day, text), thread=f"talk {day}")
    recall = mine(memory).search("Where is the car?", now=NOW)
    assert recall.hits[0].evidence[0].observation.text == "The car stands in Mill Street."


def test_what_a_filter_leaves_is_asked_for_its_last_time_too(memory: Memory) -> None:
    until = START + timedelta(days=65)
    recall = mine(memory).search("when did I last take the pills?", thread="robot", until=until, now=NOW)
    assert day_of(recall.observations[0].observation.at) == 64


def test_the_recall_of_before_is_what_it_was(memory: Memory) -> None:
    recall = mine(memory).search("When did I last take the pills?", policy="recall-2026-12", now=NOW)
    shown = (*recall.hits, *recall.candidates)
    assert day_of(shown[0].start_at) != DAYS - 1


@pytest.fixture
def household(open_memory: OpenMemory) -> Memory:
    """Hold what a robot and those it lives with said of keys, a bowl and glasses, each at several places."""
    memory = open_memory()
    seen = [
        (1, "hall", "look around", "Lena's keys seen in the hall bowl"),
        (3, "kitchen", "look around", "Lena's keys seen under the table"),
        (5, "living room", "set the cat's bowl down by the balcony door", ""),
        (7, "kitchen", "look around", "Lena's keys seen on the counter next to the toaster"),
        (7.5, "living room", "look around", "Marek's keys seen on the piano"),
        (7.6, "bedroom", "wipe the shelf", ""),
    ]
    for day, place, action, event in seen:
        events = {"events": [event]} if event else {}
        mine(memory).add(step(day, place, action, outcome=True, **events), thread=f"log {day}")
    failed = step(8, "bathroom", "look for the keys under the sink", outcome=False, content="no keys")
    mine(memory).add(failed, thread="log 8")
    for day, name, text in [
        (2, "Lena", "Muffin's bowl is moving, it stands by the balcony door in the living room"),
        (6, "Marek", "yes bowl stays in the hall now"),
        (8.2, "Lena", "Pim, have you seen my keys in the hall?"),
        (8.3, "Lena", "I like soup."),
    ]:
        mine(memory).add({**message(day, text), "name": name}, thread=f"talk {day}")
    mine(memory).flush()
    return memory


@pytest.mark.parametrize(
    ("question", "newest", "older"),
    [
        ("Where did I last see Lena's keys?", "next to the toaster", "under the table"),
        ("Where are Lena's keys?", "next to the toaster", "under the table"),
        ("where is Muffin's bowl?", "bowl stays in the hall now", "balcony door"),
        ("Where is the cat's bowl now?", "bowl stays in the hall now", "balcony door"),
    ],
)
def test_the_newest_sighting_of_a_thing_comes_first(
    household: Memory, question: str, newest: str, older: str
) -> None:
    hits = mine(household).search(question, now=START + timedelta(days=9)).hits
    texts = [" ".join(proof.observation.text for proof in hit.evidence) for hit in hits]
    assert newest in texts[0]
    assert any(older in text for text in texts[1:])
    told = mine(household).context(question, at=START + timedelta(days=9), max_tokens=60, thread="new").text
    assert newest in told


def test_a_question_that_was_answered_tells_its_answer_first(household: Memory) -> None:
    asked = {**message(8.5, "Pim, where are my keys?"), "name": "Lena"}
    answer = message(8.501, "They are on the hook beside the front door.", "assistant")
    mine(household).add([asked, answer], thread="voice")
    mine(household).flush()
    hits = mine(household).search("Where are Lena's keys?", now=START + timedelta(days=9)).hits
    assert any("on the hook" in proof.observation.text for proof in hits[0].evidence)


def test_a_thing_that_is_described_is_looked_for_by_all_its_words(open_memory: OpenMemory) -> None:
    memory = open_memory()
    said = [
        (1, "The restaurant that Ana recommended is in Mill Street."),
        (5, "Ben recommended a plumber in Oak Lane, he is in the yellow pages."),
        (6, "We had soup at home."),
    ]
    for day, text in said:
        mine(memory).add(message(day, text), thread=f"talk {day}")
    mine(memory).flush()
    hits = mine(memory).search("Where is the restaurant that Ana recommended?", now=NOW).hits
    assert "Mill Street" in hits[0].evidence[0].observation.text

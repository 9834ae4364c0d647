"""Who filters and asks for nothing else ("what happened?", "who came?") is answered with what is left there."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from builders.chats import mine
from conftest import OpenMemory

from episodic_agent import Memory
from episodic_agent.engine.results import Recall
from episodic_agent.errors import NotFound

START = datetime(2024, 3, 18, 9, tzinfo=UTC)


def step(hours: float, place: str, action: str, **more: Any) -> dict[str, Any]:
    at = START + timedelta(hours=hours)
    return {"kind": "step", "location": place, "action": action, "timestamp": at, **more}


def came(hours: float, who: str) -> dict[str, Any]:
    return step(hours, "hall", "open the door", events=[{"type": "appearance", "label": who}])


def message(hours: float, text: str, role: str = "user") -> dict[str, Any]:
    return {"role": role, "content": text, "timestamp": START + timedelta(hours=hours)}


@pytest.fixture
def memory(open_memory: OpenMemory) -> Memory:
    memory = open_memory(embedder="none")
    house = [
        came(0, "the postwoman"),
        step(1, "bathroom", "wipe the mirror"),
        step(24, "bathroom", "look around", events=["a thud"]),
        came(48, "Mrs Okafor"),
        step(72, "hall", "sweep the floor"),
    ]
    mine(memory).add(house, thread="house")
    mine(memory).add([message(30, "The cat is ill."), message(30.1, "I'm sorry.", "assistant")], thread="ana")
    mine(memory).add(message(54, "The cat is well again."), thread="ana")
    mine(memory).add(message(55, "Ines rang, she came round with tarts."), thread="phone", channel="phone")
    return memory


def texts(recall: Recall) -> list[str]:
    return [proof.observation.text for hit in recall.hits for proof in hit.evidence]


@pytest.mark.parametrize("question", ["what happened?", "What did I do?", "Was ist passiert?", "¿Qué pasó?"])
def test_of_a_place_given_as_a_filter_everything_is_told_newest_first(memory: Memory, question: str) -> None:
    recall = mine(memory).search(question, place="bathroom")
    assert not recall.abstained
    assert texts(recall) == ["In the bathroom: look around; a thud", "In the bathroom: wipe the mirror"]
    first = mine(memory).search("what happened the first time?", place="bathroom")
    assert texts(first)[0] == "In the bathroom: wipe the mirror"


@pytest.mark.parametrize("question", ["who came?", "Wer kam?", "Did anybody come?"])
def test_who_came_to_a_place_are_those_who_appeared_there(memory: Memory, question: str) -> None:
    recall = mine(memory).search(question, place="hall", limit=10)
    assert not recall.abstained
    assert ["Okafor" in text for text in texts(recall)] == [True, False]
    assert all("appeared" in text for text in texts(recall))
    anyone = mine(memory).search(question, place="bathroom")  # nobody appeared: what there is
    assert len(texts(anyone)) == 2


def test_of_a_thread_a_time_or_a_channel_everything_is_told_newest_first(memory: Memory) -> None:
    recall = mine(memory).search("what happened?", thread="ana")
    assert not recall.abstained
    assert sorted(texts(recall)) == ["I'm sorry.", "The cat is ill.", "The cat is well again."]
    starts = [hit.start_at for hit in recall.hits]
    assert starts == sorted(starts, reverse=True)
    day = {"since": START + timedelta(hours=47), "until": START + timedelta(hours=54.5)}
    assert texts(mine(memory).search("what happened?", **day)) == [
        "The cat is well again.",
        "In the hall: open the door; Mrs Okafor appeared",
    ]
    assert texts(mine(memory).search("what did we talk about?", channel="phone")) == [
        "Ines rang, she came round with tarts."
    ]
    spoken = mine(memory).search("what did I say?", thread="ana")
    assert "I'm sorry." not in texts(spoken)


def test_who_came_in_a_time_may_have_been_told_in_talk(memory: Memory) -> None:
    recall = mine(memory).search("who came?", since=START + timedelta(hours=47))
    assert not recall.abstained
    assert {"Ines rang, she came round with tarts."} < set(texts(recall))
    assert any("Okafor" in text for text in texts(recall))


def test_a_time_in_the_question_narrows_what_the_filter_leaves(memory: Memory) -> None:
    now = START + timedelta(hours=25)
    recall = mine(memory).search("what happened yesterday?", place="bathroom", now=now)
    assert texts(recall) == ["In the bathroom: wipe the mirror"]
    other = mine(memory).search("what happened yesterday?", thread="ana", now=now)
    assert (other.abstained, bool(other.candidates)) == (True, True)
    assert other.notes == ["nothing was said or done there then; the newest of other times is shown"]


def test_where_a_filter_leaves_nothing_the_answer_says_so(memory: Memory) -> None:
    late = mine(memory).search("what happened?", since=START + timedelta(days=99))
    assert (late.abstained, late.notes) == (True, ["nothing was said or done there"])
    unknown = mine(memory).search("what happened?", channel="sms")
    assert unknown.abstained
    assert "sms" in unknown.notes[0]
    with pytest.raises(NotFound, match="did you mean 'bathroom'"):
        mine(memory).search("what happened?", place="bathrom")


def test_who_asks_for_something_else_may_still_find_nothing(memory: Memory) -> None:
    assert mine(memory).search("which violin did I buy?", place="bathroom").abstained
    assert mine(memory).search("what happened?").abstained  # without a filter nothing is asked for

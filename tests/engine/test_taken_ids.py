"""An id says which message it is: with the same text it adds nothing, with another one it is refused."""

import json
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from builders.chats import Clock, mine, say
from builders.commands import Run
from builders.web import LocalClient

from episodic_agent import Memory
from episodic_agent.errors import Conflict, IdTaken
from episodic_agent.faces.http.app import make_app
from episodic_agent.tools import memory_tools

Opened = Callable[[], Memory]


@pytest.fixture
def memory(url: str, clock: Clock) -> Iterator[Memory]:
    with ExitStack() as stack:
        yield stack.enter_context(Memory.open(url, embedder="hashing", clock=clock))


def texts(memory: Memory) -> list[str]:
    return [
        o.text
        for card in mine(memory).episodes.list()
        for o in mine(memory).episodes.messages(card.episode_id)
    ]


def test_an_id_with_another_text_is_refused_and_says_what_stands(memory: Memory) -> None:
    mine(memory).add("I am moving to Lisbon in May", thread="ana", id="m1")
    with pytest.raises(IdTaken, match=r"'m1' stands, with another text: 'I am moving to Lisbon in May'") as e:
        mine(memory).add("I am moving to Porto in May", thread="ana", id="m1")
    assert isinstance(e.value, Conflict)
    assert (e.value.retryable, e.value.status_hint) == (False, 409)
    assert texts(memory) == ["I am moving to Lisbon in May"]


def test_what_the_refusal_advises_corrects_a_transcript(memory: Memory) -> None:
    nora = mine(memory)
    nora.add("The gate to the allotment opens with 5512.", thread="voice", id="entry-9")
    corrected = "The gate to the allotment opens with 5521."
    with pytest.raises(IdTaken, match="give the new text another id, and forget the old one") as refused:
        nora.add(corrected, thread="voice", id="entry-9")
    assert "first" not in str(refused.value)  # its id stays taken: what was forgotten is not added again
    (receipt,) = nora.add(corrected, thread="voice", id="entry-9b")
    nora.erase(observation="entry-9")
    assert receipt.added
    assert texts(memory) == [corrected]


def test_a_retry_with_the_same_text_adds_nothing_whatever_else_it_leaves_out(memory: Memory) -> None:
    first = say("the tap drips", 3, "assistant", id="m1", name="Bo")
    (receipt,) = mine(memory).add(first)
    for again in ({"content": first["content"]}, {"content": first["content"], "timestamp": "2020-01-01"}):
        (known,) = mine(memory).add({"role": "user", "id": "m1", "conversation_id": "chat", **again})
        assert (known.id, known.added) == (receipt.id, False)


def test_a_text_that_was_repaired_at_the_door_is_the_same_when_it_comes_again(memory: Memory) -> None:
    for added in (True, False):
        (receipt,) = mine(memory).add("a\x00b \ud800 c", thread="t", id="m1")
        assert receipt.added == added


def test_what_was_erased_neither_conflicts_nor_comes_back(memory: Memory) -> None:
    (receipt,) = mine(memory).add("my pin is 1234", thread="t", id="m1")
    mine(memory).add("the tap drips", thread="t", id="m2")
    mine(memory).erase(observation=receipt.id)
    for text in ("my pin is 1234", "my pin is 5678"):
        (again,) = mine(memory).add(text, thread="t", id="m1")
        assert not again.added
    assert texts(memory) == ["the tap drips"]


def test_one_call_with_two_texts_under_one_id_keeps_nothing(memory: Memory) -> None:
    with pytest.raises(IdTaken, match="'one'"):
        mine(memory).add([say("one", 0, id="m1"), say("two", 1, id="m1")])
    assert mine(memory).stats().observations == 0
    assert [r.added for r in mine(memory).add([say("one", 0, id="m1"), say("one", 0, id="m1")])] == [
        True,
        False,
    ]


def write(path: Path, messages: list[dict[str, Any]]) -> Path:
    path.write_text("\n".join(json.dumps(one) for one in messages), encoding="utf-8")
    return path


def test_a_file_whose_message_was_edited_goes_in_but_for_that_message(memory: Memory, tmp_path: Path) -> None:
    messages = [say(f"message number {n}", n, id=f"m{n}") for n in range(5)]
    path = write(tmp_path / "chat.jsonl", messages)
    assert mine(memory).import_file(path).added == 5
    messages[2]["content"] = "edited since"
    report = mine(memory).import_file(write(path, [*messages, say("a new one", 9, id="m9")]))
    assert (report.observations, report.added, report.duplicates) == (6, 1, 4)
    (line,) = report.unreadable
    assert line.startswith("chat.jsonl: a message with the id 'm2' stands")
    assert "message number 2" in line
    assert "edited since" not in texts(memory)


def test_an_export_whose_message_was_edited_goes_in_but_for_that_message(
    memory: Memory, tmp_path: Path
) -> None:
    mine(memory).add([say(f"message number {n}", n, id=f"m{n}") for n in range(3)])
    path = tmp_path / "export.jsonl"
    path.write_text(
        "\n".join(mine(memory).export()).replace("message number 1", "edited since"), encoding="utf-8"
    )
    report = mine(memory).import_file(path)
    assert (report.added, report.duplicates, len(report.unreadable)) == (0, 2, 1)
    assert texts(memory) == [f"message number {n}" for n in range(3)]


@pytest.mark.slow
def test_every_face_answers_with_the_conflict(url: str, clock: Clock, run: Run) -> None:
    with LocalClient(make_app(lambda: Memory.open(url, embedder="hashing", clock=clock), clock)) as client:

        def post(text: str) -> Any:
            message = {"role": "user", "content": text, "id": "m1"}
            body = {"conversation_id": "ana", "message": message}
            return client.post("/api/v0/add_message", json=body)

        assert post("the tap drips").json() == post("the tap drips").json()
        refused = post("the tap is mended")
        assert (refused.status_code, refused.headers["content-type"]) == (409, "application/problem+json")
        assert "'the tap drips'" in refused.json()["detail"]
    with Memory.open(url, embedder="hashing", clock=clock) as memory:
        answer = memory_tools(mine(memory)).call("add_memory", {"content": "one", "id": "x"})
        assert not answer.startswith("error")
        assert "'one'" in memory_tools(mine(memory)).call("add_memory", {"content": "two", "id": "x"})
    assert run("add", "one", "--id", "m1").code == 0
    refused_here = run("add", "two", "--id", "m1")
    assert (refused_here.code, "'one'" in refused_here.err) == (4, True)

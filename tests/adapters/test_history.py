"""What all adapters share, which needs no framework: a thread as a list of messages, and whose it is."""

import asyncio
from pathlib import Path
from typing import Any

import pytest
from builders.teams import OPEN, QUESTION, team_of, told_of

from episodic_agent import AsyncMemory, InvalidInput, Memory
from episodic_agent.adapters.history import ThreadHistory, item_for, original, role_of
from episodic_agent.adapters.needing import bound
from episodic_agent.faces.recalling import recalled


def message(text: str, identity: str | None = None) -> dict[str, Any]:
    return item_for({"role": "user", "content": text}, {"said": text}, identity=identity)


def texts(history: ThreadHistory, last: int | None = None) -> list[str]:
    return [written["said"] for written, _ in history.originals(last)]


@pytest.fixture
def history(memory: Memory) -> ThreadHistory:
    return ThreadHistory(memory.user("ana", new=True), "chat")


def test_messages_come_back_in_order_and_the_last_ones_alone_across_episodes(history: ThreadHistory) -> None:
    assert texts(history) == texts(history, 3) == []
    for number in range(7):
        history.append([message(f"message {number}")])
        if number % 3 == 2:
            history.memory.flush()  # what came so far is an episode
    assert len(history.memory.episodes.list(thread="chat")) == 3
    assert texts(history) == [f"message {number}" for number in range(7)]
    assert [texts(history, last) for last in (0, 1, 3)] == [[], texts(history)[-1:], texts(history)[-3:]]


def test_what_was_erased_stays_away_unless_the_framework_itself_puts_it_back(history: ThreadHistory) -> None:
    history.append([message("my number is 12345", "1"), message("hello", "2")])
    (secret, _) = history.observations()
    history.memory.erase(observation=secret.id)
    history.append([message("my number is 12345", "1"), message("hello", "2")])
    assert texts(history) == ["hello"]
    for _ in range(3):
        popped = history.pop()
        assert popped is not None
        assert original(popped) == {"said": "hello"}
        history.append([message("hello", "2")], returning=True)
    assert texts(history) == ["hello"]


def test_what_has_no_words_is_kept_as_a_note_and_comes_back_whole(history: ThreadHistory) -> None:
    written = {"type": "reasoning", "summary": [], "encrypted_content": "\ud800\x00"}
    history.append([item_for({"type": "reasoning"}, written, identity="r1")])
    (observation,) = history.observations()
    assert observation.text == "[reasoning]"
    assert original(observation) == written


def test_recalled_text_is_marked_and_leaves_out_what_the_prompt_holds_already(memory: Memory) -> None:
    ana = memory.user("ana", new=True)
    assert recalled(ana, "Who is the cello teacher?") == recalled(ana, " ") == ""
    ana.add("My cello teacher is called Odile", thread="before")
    ana.add("The cello needs a new string", thread="now")
    past = recalled(ana, "What is my cello teacher called?", thread="now")
    assert past.startswith("<recalled-memory>")
    assert "Odile" in past
    assert "new string" not in past
    assert "What is my cello teacher called?" not in past


def test_nobody_and_what_is_no_users_memory_are_refused(memory: Memory, tmp_path: Path) -> None:
    async def asynchronous() -> object:
        async with await AsyncMemory.open(tmp_path / "other.db", embedder="hashing") as opened:
            with pytest.raises(InvalidInput, match=r"memory\.user\('ana'\) of a Memory"):
                bound(opened)
            return opened.user("ana")

    with pytest.raises(InvalidInput, match=r"memory\.user\('ana'\) of a Memory"):
        bound(asyncio.run(asynchronous()))
    with pytest.raises(InvalidInput, match="not the memory itself"):
        bound(memory)
    with pytest.raises(InvalidInput, match="not NoneType"):
        bound(None)


def test_an_assistant_that_has_a_name_comes_back_as_one(history: ThreadHistory) -> None:
    said = [{"role": role, "name": "Pedal", "content": f"of the {role}"} for role in ("assistant", "user")]
    history.memory.add([*said, {"role": "assistant", "content": "hello"}], thread="chat")
    assert [role_of(one) for one in history.observations()] == ["assistant", "user", "assistant"]


def test_what_is_recalled_for_a_prompt_is_of_named_threads_and_the_conversations_own(memory: Memory) -> None:
    team = team_of(memory)
    told = {
        (only, thread): told_of(recalled(team, QUESTION, thread=thread, only=only))
        for only in (None, OPEN)
        for thread in ("desk", "dm-lena")
    }
    assert told[None, "desk"] == (True, True)
    assert (
        told[OPEN, "desk"] == told[OPEN, "dm-lena"] == (True, False)
    )  # a prompt holds its own thread already

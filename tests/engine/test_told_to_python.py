"""What a program is told of its mistakes: what was seen, and the call that helps, in its own words."""

import asyncio
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from builders.chats import mine
from builders.commands import Run
from conftest import OpenMemory

from episodic_agent import AsyncMemory, Memory, UserMemory
from episodic_agent.errors import EpisodicError, InvalidInput, NotFound, StoreError

UNKNOWN = "01890000-0000-7000-8000-000000000000"


@pytest.mark.parametrize(
    ("call", "told"),
    [
        (lambda ana: ana.add("hi", treads="x"), "argument 'treads'; did you mean `thread`"),
        (lambda ana: ana.context("hi", max_token=5), "did you mean `max_tokens`"),
        (lambda ana: ana.search("hi", limits=3), "did you mean `limit`"),
        (lambda ana: ana.search("hi", sinze=3), "did you mean `since`"),
        (lambda ana: ana.facts.list(zzzzz=3), "argument 'zzzzz'; there are "),
    ],
)
def test_a_misspelt_argument_is_asked_for(
    memory: Memory, call: Callable[[UserMemory], Any], told: str
) -> None:
    with pytest.raises(TypeError, match=told):
        call(mine(memory))


@pytest.mark.parametrize(
    ("call", "told"),
    [
        (lambda ana: ana.episodes.get(UNKNOWN), "`episodes.list()` lists the ids"),
        (lambda ana: ana.facts.get(UNKNOWN), "`facts.list()` shows the ids"),
        (lambda ana: ana.erase(observation="d8"), "`episodes.messages(id)` lists their ids"),
        (lambda ana: ana.threads.set_timeout("x"), "a number such as 45, or None; not 'x'"),
        (
            lambda ana: ana.search("hi", since="2026-03-02", until="2026-03-01"),
            "2026-03-02T00:00:00+00:00 is not before",
        ),
    ],
)
def test_an_error_names_what_was_seen_and_a_call(
    memory: Memory, call: Callable[[UserMemory], Any], told: str
) -> None:
    mine(memory).add("The tap drips")
    with pytest.raises(EpisodicError) as seen:
        call(mine(memory))
    assert told in str(seen.value)
    assert "`episodic " not in str(seen.value)
    text = "".join(traceback.format_exception(seen.value))
    assert "direct cause" not in text


def test_a_terminal_is_told_its_command(run: Run, open_memory: OpenMemory) -> None:
    with open_memory() as memory:
        mine(memory).add("The tap drips")
    assert (
        "`episodic show EPISODE --json` lists their ids" in run("forget", "observation", "d8", "--yes").error
    )


def test_a_memory_that_is_not_opened_says_how(memory: Memory) -> None:
    with pytest.raises(InvalidInput, match=r"open a memory with `Memory.open\(\)`"):
        Memory()


def test_a_closed_memory_says_so_to_who_awaits_it(tmp_path: Path) -> None:
    async def use() -> None:
        memory = await AsyncMemory.open(tmp_path / "memory.db", embedder="hashing")
        await memory.user("ana").add("hi")
        await memory.close()
        await memory.close()
        with pytest.raises(StoreError, match="is closed"):
            await memory.user("ana").search("hi")

    asyncio.run(use())


def test_who_is_not_known_is_not_found_all_the_same(memory: Memory) -> None:
    with pytest.raises(NotFound):
        memory.user("nobody").search("hi")


def test_a_name_that_lacks_its_last_letter_is_asked_for(memory: Memory) -> None:
    with pytest.raises(InvalidInput, match='unknown key "nam"; did you mean "name"'):
        mine(memory).add({"content": "hi", "nam": "Tom"})

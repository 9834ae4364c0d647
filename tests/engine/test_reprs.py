"""What a Python prompt shows of a memory, its rooms and an explanation."""

from pathlib import Path

import pytest
from builders.commands import Run
from conftest import OpenMemory

from episodic_agent import Memory
from episodic_agent.engine.filters import Filter


def test_a_memory_shows_where_it_is_and_whose(open_memory: OpenMemory, database: Path) -> None:
    memory = open_memory()
    assert repr(memory).endswith("memory.db · users: none yet>")
    memory.user("ana").add("hi")
    assert repr(memory).endswith("memory.db · users: ana>")
    memory.close()
    assert "memory.db" in repr(memory)


@pytest.mark.parametrize(
    "room", ["facts", "links", "threads", "episodes", "trace", "erasures", "places", "jobs"]
)
def test_a_room_shows_whose_it_is(memory: Memory, room: str) -> None:
    shown = repr(getattr(memory.user("ana"), room))
    assert shown.endswith("Room of 'ana'>")
    assert " object at " not in shown


def test_a_room_of_all_users_shows_of_what_it_is(memory: Memory) -> None:
    assert repr(memory.jobs) == "<JobRoom of the space 'default'>"
    assert repr(memory.keys) == "<KeyRoom of all spaces>"


def test_a_filter_shows_what_was_given() -> None:
    assert repr(Filter(thread="work")) == "Filter(thread='work')"


def test_an_explanation_tells_its_reasons_as_the_command_line_does(run: Run, open_memory: OpenMemory) -> None:
    with open_memory() as memory:
        ana = memory.user("ana")
        ana.add("The kitchen tap is dripping again", thread="tap", timestamp="2026-03-01T09:00:00Z")
        ana.add(
            "Remember when the kitchen tap was dripping?", thread="again", timestamp="2026-03-03T09:00:00Z"
        )
        ana.flush()
        ana.links.add("again", "tap")
        text = str(ana.links.explain("again"))
        assert ana.links.explain("again").judged
    shown = run("link", "explain", "again", "--user", "ana").out
    assert text.splitlines()[:3] == shown.splitlines()[:3]
    assert text.startswith("tap: ")

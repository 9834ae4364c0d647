"""What people read of one thing says one thing: `1 episode`, never `1 episodes`."""

import json
import re
from collections.abc import Sequence
from pathlib import Path

import pytest
from builders.chats import mine
from builders.commands import Run

from episodic_agent import Memory
from episodic_agent.tools import memory_tools

KNOWN = ("is", "was", "has", "waits", "holds", "expires")  # verbs that agree with one
COUNTED = re.compile(r"(?<![\d.,:/-])1 (\w+s)\b")
COMMANDS: Sequence[Sequence[object]] = (
    ("flush",), ("upkeep",), ("stats",), ("doctor",), ("compact",), ("threads",), ("episodes",), ("recent",),
    ("summaries",), ("search", "where is the dog"), ("retrieve", "where is the dog"), ("jobs", "list"),
    ("worker", "--once"), ("facts", "learn"), ("facts", "list"), ("forget", "thread", "kitchen", "--dry-run"),
    ("resegment", "kitchen", "--policy", "default"), ("whatif", "kitchen", "--policy", "default"),
    ("retention", "show"), ("retention", "apply", "--yes"), ("skills",), ("reencode", "--all"), ("tune", "history"),
    ("models", "list"), ("places",), ("visits", "Hall"), ("route", "walk"), ("sequence",),
    ("replay", "dog"), ("usage",), ("context", "where is the dog?"), ("plot", "kitchen"), ("trace", "kitchen:0"),
    ("thread", "show", "kitchen"), ("thread", "timeout", 1), ("forget", "thread", "kitchen", "--yes"),
    ("forget", "receipts"),
)  # fmt: skip


def wrong(text: str) -> list[str]:
    """Return the counts of one whose noun is a plural."""
    return [found.group() for found in COUNTED.finditer(text) if found.group(1) not in KNOWN]


@pytest.fixture
def single(run: Run, tmp_path: Path) -> list[str]:
    """A memory of one message in one thread and of one step; returns what was printed while it was made."""
    talk, walk = tmp_path / "kitchen.jsonl", tmp_path / "walk.jsonl"
    talk.write_text(
        json.dumps({"role": "user", "content": "I have a dog, he is in the garden.", "thread": "kitchen"})
    )
    walk.write_text('{"number": 0, "place": "Hall"}\n')
    made = [
        run("import", talk),
        run("run", "--policy", "steps", "--sensor", f"replay:{walk}", "--thread", "walk", "--quiet"),
    ]
    assert [one.code for one in made] == [0, 0], made
    assert made[0].out.startswith("1 message read, 1 added")
    assert made[1].out.startswith("1 step, 1 episode in")
    return [one.out + one.err for one in made]


@pytest.mark.slow
def test_every_command_counts_one_as_one(run: Run, single: list[str], tmp_path: Path) -> None:
    texts, failed = {"making": "\n".join(single)}, {}
    for command in (
        *COMMANDS,
        ("backup", tmp_path / "copy.db"),
        ("export", "--output", tmp_path / "all.jsonl"),
    ):
        done = run(*command)
        if done.code:
            failed[" ".join(map(str, command))] = done.err
        texts[" ".join(map(str, command[:2]))] = done.out + done.err
    assert failed == {}
    assert {name: wrong(text) for name, text in texts.items() if wrong(text)} == {}


def test_tools_count_one_as_one(database: Path, single: list[str]) -> None:
    with Memory.open(database, embedder="hashing", policy="seed-001") as memory:
        mine(memory).flush()
        tools = memory_tools(mine(memory))
        asked = {
            "search_memory": {"query": "dog"},
            "list_threads": {},
            "recent_memory": {},
            "replay_topic": {"topic": "dog"},
        }
        answers = {name: tools.call(name, given) for name, given in asked.items()}
    assert "dog" in answers["search_memory"]
    assert {name: wrong(text) for name, text in answers.items() if wrong(text)} == {}

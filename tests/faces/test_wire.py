"""The forms that programs read keep every key in its place: JSON of the command line, HTTP, tools.

`tests/data/wire.json` lists the keys of each answer in their order, a list's as those of its entries. A line of
it changes only with a form that was meant to change.
"""

import json
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from builders.chats import Clock, mine
from builders.commands import Run
from builders.web import LocalClient

from episodic_agent import Memory
from episodic_agent.faces.http.app import make_app
from episodic_agent.tools import memory_tools

WIRE = Path(__file__).parents[1] / "data" / "wire.json"
NOW = datetime(2026, 3, 12, 12, tzinfo=UTC)
ASKED = "Where do I live, and what did the plumber say?"
COMMANDS: dict[str, list[str]] = {
    "add": ["add", "and the tap drips", "--id", "a1"],
    "search": ["search", ASKED],
    "search explained": ["search", ASKED, "--explain", "--suppressed"],
    "search in vain": ["search", "zebra crossings of Ulan Bator", "--explain"],
    "retrieve": ["retrieve", ASKED],
    "context": ["context", "The tap drips again", "--thread", "chat"],
    "recent": ["recent"],
    "episodes": ["episodes", "--thread", "chat"],
    "show": ["show", "EPISODE"],
    "stats": ["stats"],
    "sequence": ["sequence", "plumber"],
    "replay": ["replay", "plumber"],
    "threads": ["threads"],
    "thread show": ["thread", "show", "chat"],
    "thread select": ["thread", "select", "chat"],
    "thread rename": ["thread", "rename", "chat", "The tap"],
    "session start": ["session", "start", "The billing migration", "--tool", "psql"],
    "session list": ["session", "list"],
    "link": ["link", "add", "chat", "other"],
    "link list": ["link", "list"],
    "link explain": ["link", "explain", "chat"],
    "facts list": ["facts", "list"],
    "facts search": ["facts", "search", "Where do I live?"],
    "facts show": ["facts", "show", "FACT"],
    "facts edit": ["facts", "edit", "FACT", "--text", "The user lives in Porto"],
    "facts history": ["facts", "history", "FACT"],
    "explain": ["explain", "EPISODE"],
    "whatif": ["whatif", "chat", "--policy", "default"],
    "resegment": ["resegment", "chat", "--dry-run"],
    "plot": ["plot", "chat"],
    "trace": ["trace", "chat:0"],
    "places": ["places"],
    "visits": ["visits", "kitchen"],
    "route": ["route", "robot"],
    "map": ["map"],
    "compact": ["compact"],
    "summaries": ["summaries"],
    "chain": ["chain", "SESSION"],
    "arc": ["arc", "SESSION"],
    "heads": ["arc", "--heads"],
    "skills": ["skills"],
    "tune dry-run": ["tune", "dry-run"],
    "tune history": ["tune", "history"],
    "pin": ["pin", "EPISODE", "--reason", "dear"],
    "pinned": ["pinned"],
    "suppress": ["suppress", "--words", "zebra"],
    "suppressed": ["suppressed"],
    "retention show": ["retention", "show"],
    "retention preview": ["retention", "preview"],
    "jobs list": ["jobs", "list"],
    "usage": ["usage"],
    "flush": ["flush"],
    "upkeep": ["upkeep"],
    "forget": ["forget", "thread", "other", "--yes"],
    "receipts": ["forget", "receipts"],
    "models list": ["models", "list"],
    "profiles": ["profiles"],
    "sensors": ["sensors"],
}


def keys(value: Any) -> Any:
    """Return the keys of a JSON value in their order: of a list those of all entries, of others the kind."""
    if isinstance(value, Mapping):
        return {key: keys(inner) for key, inner in value.items()}
    if isinstance(value, list):
        merged: dict[str, Any] = {}
        for entry in value:
            if isinstance(results := keys(entry), Mapping):
                merged |= {key: inner for key, inner in results.items() if key not in merged or inner}
        return [merged] if merged else []
    return ""


def fill(memory: Memory) -> dict[str, str]:
    """Let a memory hold something of every kind; return the names that commands are called with."""
    start = NOW - timedelta(days=20)
    texts = [
        "I live in Lisbon.",
        "The plumber said the kitchen tap needs a new washer.",
        "I work as a nurse.",
    ]
    for n, text in enumerate(texts):
        mine(memory).add(text, thread="chat", timestamp=start + timedelta(minutes=n))
    mine(memory).add("The kitchen tap still drips.", thread="other", timestamp=start + timedelta(days=1))
    for n, place in enumerate(("kitchen", "kitchen", "hall", "kitchen")):
        at = start + timedelta(days=2, minutes=n)
        step = {
            "kind": "step",
            "role": "agent",
            "content": f"in the {place}",
            "location": place,
            "timestamp": at,
        }
        mine(memory).add(step, thread="robot")
    mine(memory).flush()
    session = mine(memory).sessions.start("The move", timestamp=start + timedelta(days=3))
    mine(memory).add(
        "The boxes are packed for the move.", thread=session.thread, timestamp=start + timedelta(days=3)
    )
    mine(memory).sessions.end(session.id, "success")
    mine(memory).flush()
    mine(memory).facts.consolidate()
    episode = str(mine(memory).episodes.list(thread="chat")[0].episode_id)
    return {"EPISODE": episode, "FACT": str(mine(memory).facts.list()[0].id), "SESSION": str(session.id)}


def of_commands(run: Run, path: Path) -> dict[str, Any]:
    with Memory.open(path, embedder="hashing", policy="seed-001", resume=False) as memory:
        names = fill(memory)
    seen = {}
    for name, words in COMMANDS.items():
        outcome = run(*[names.get(word, word) for word in words], "--json")
        assert outcome.code == 0, (name, outcome.err)
        seen[name] = keys(json.loads(outcome.out))
    return seen


def of_http(path: Path) -> dict[str, Any]:
    def opened() -> Memory:
        return Memory.open(path, embedder="hashing", policy="seed-001", clock=Clock(NOW), resume=False)

    with opened() as memory:
        fill(memory)
    seen = {}
    with LocalClient(make_app(opened, Clock(NOW))) as client:
        for name, body in (
            ("add_message", {"conversation_id": "chat", "message": {"role": "user", "content": "The tap"}}),
            ("retrieve_memory/raw", {"user_id": "default", "query": "Where do I live?"}),
            ("recent_memory/raw", {"user_id": "default"}),
        ):
            answer = client.post(f"/api/v0/{name}", json=body)
            assert answer.status_code == 200
            seen[name] = keys(answer.json())
        assert client.post("/api/v0/retrieve_memory", json={"user_id": "default", "query": ASKED}).text
    return seen


def of_tools(path: Path) -> dict[str, Any]:
    with Memory.open(path, embedder="hashing", policy="seed-001", clock=Clock(NOW), resume=False) as memory:
        episode = fill(memory)["EPISODE"]
        tools = memory_tools(mine(memory))
        session = str(mine(memory).sessions.start("The tap", thread="tap work", key="tap").id)
        calls: dict[str, dict[str, Any]] = {
            "add_memory": {"content": "The tap drips"},
            "search_memory": {"query": ASKED},
            "recent_memory": {},
            "get_context": {"message": "Is the tap still dripping?", "thread": "chat"},
            "replay_topic": {"topic": "plumber"},
            "start_session": {"topic": "The tap", "thread": "tap work", "key": "tap"},
            "end_session": {"session_id": session},
            "get_facts": {},
            "list_threads": {},
            "explain_memory": {"episode_id": episode},
            "forget_memory": {"episode_id": episode},
        }
        return {name: keys(dict(tools.answer(name, given).data)) for name, given in calls.items()}


def stored() -> dict[str, Any]:
    loads: dict[str, Any] = json.loads(WIRE.read_text(encoding="utf-8"))
    return loads


def same(seen: dict[str, Any], kind: str) -> None:
    """Compare as text: the order of keys is part of the form."""
    expected = stored()[kind]
    assert list(seen) == list(expected)
    for name, result in seen.items():
        assert json.dumps(result, indent=1) == json.dumps(expected[name], indent=1), name


def test_json_of_commands_keeps_its_keys(run: Run, database: Path) -> None:
    same(of_commands(run, database), "commands")


@pytest.mark.slow
def test_http_keeps_its_keys(tmp_path: Path) -> None:
    pytest.importorskip("fastapi")
    same(of_http(tmp_path / "memory.db"), "http")


def test_tools_keep_their_keys(tmp_path: Path) -> None:
    same(of_tools(tmp_path / "memory.db"), "tools")

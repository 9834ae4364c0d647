"""The commands about facts, on a memory of three things Maya said."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from builders.chats import mine
from builders.commands import Run

from episodic_agent import Memory

START = datetime(2026, 3, 2, 9, tzinfo=UTC)
SAID = (
    "I live in Lisbon and I love fado.",
    "My sister Hannah is a nurse.",
    "I moved to Porto yesterday.",
)


@pytest.fixture
def learned(database: Path) -> None:
    moment = START + timedelta(days=40)
    with Memory.open(database, embedder="hashing", policy="seed-001", clock=lambda: moment) as memory:
        for n, text in enumerate(SAID):
            mine(memory).add(text, role="Maya", thread=f"t{n}", timestamp=START + timedelta(days=10 * n))
            mine(memory).flush()


def named(run: Run, query: str) -> str:
    return str(run("facts", "search", query, "--json").json["facts"][0]["id"])


@pytest.mark.usefixtures("learned")
def test_facts_are_listed_found_and_shown(run: Run) -> None:
    listed = run("facts", "list")
    assert "Maya lives in Porto" in listed.out
    assert "Lisbon" not in listed.out
    assert "Maya lives in Lisbon" in run("facts", "list", "--history").out
    assert "Maya lives in Lisbon" in run("facts", "list", "--at", "2026-03-05").out
    assert run("facts", "list", "--known-by", "2020-01-01", "--json").json == {"facts": []}
    (job,) = run("facts", "list", "--subject", "hannah", "--json").json["facts"]
    assert (job["fact"], job["category"]) == ("Hannah's work: nurse", "identity")
    assert run("facts", "list", "--category", "goal").err.startswith("no facts; three episodes")
    assert run("facts", "search", "zebra").err == "no fact answers this\n"
    shown = run("facts", "show", named(run, "Porto")[:8])
    assert 'Maya: "I moved to Porto yesterday."' in shown.out
    (quote,) = run("facts", "show", named(run, "Porto"), "--json").json["evidence"]
    assert (quote["text"], quote["actor"]) == ("I moved to Porto yesterday.", "Maya")
    run("facts", "edit", named(run, "fado"), "--text", "Maya loves [red]fado[/red]")
    assert "Maya loves [red]fado[/red]" in run("facts", "list").out
    assert run("facts", "show", "zz").code == 3


@pytest.mark.usefixtures("learned")
def test_a_fact_is_put_right_pinned_confirmed_and_deleted(run: Run) -> None:
    home = named(run, "Porto")
    assert run("facts", "edit", home).code == 2
    edited = run("facts", "edit", home, "--text", "Maya lives in Gaia", "--value", "Gaia", "--json").json
    assert (edited["value"], edited["versions"][0]["fact"]) == ("Gaia", "Maya lives in Porto")
    assert run("facts", "pin", home).err == "pinned: Maya lives in Gaia\n"
    assert "Maya lives in Gaia (pinned)" in run("facts", "list").out
    assert run("facts", "unpin", home, "--json").json["pinned"] is False
    assert run("facts", "confirm", home, "--json").json["confidence"] == 1.0
    values = [one["value"] for one in run("facts", "history", home, "--json").json["facts"]]
    assert values == ["Lisbon", "Gaia"]
    assert run("facts", "delete", home).err == "deleted: Maya lives in Gaia\n"
    assert "Maya lives in Lisbon" in run("facts", "list").out
    assert run("facts", "show", home).code == 3
    assert run("stats", "--json").json["facts"] == 4


def test_what_waits_is_learned_when_it_is_asked_for(run: Run) -> None:
    run("add", "I live in Lisbon.", "--role", "Maya")
    run("flush")
    assert run("stats", "--json").json["unconsolidated"] == 1
    assert run("facts", "list", "--json").json == {"facts": []}
    assert run("facts", "learn", "--json").json == {"episodes": 1, "waiting": 0, "facts": 1}
    assert run("facts", "learn").err == "0 episodes read, 0 waiting; 1 fact holds, 1 before\n"

"""The commands about facts, on a memory of three things Maya said."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from builders.chats import USER, mine
from builders.commands import Run

from episodic_agent import Memory

START = datetime(2026, 3, 2, 9, tzinfo=UTC)
SAID = (
    "Our rent is 700 euros a month.",
    "My sister Hannah is a nurse.",
    "Our rent is 720 euros a month now.",
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
def test_a_listing_says_that_there_is_more_than_it_shows(run: Run) -> None:
    more = "there are more than these 1; --limit N shows more\n"
    for listing in (("facts",), ("facts", "list", "--history"), ("threads",), ("recent",)):
        assert run(*listing, "--limit", 1).err == more
        assert run(*listing, "--limit", 1, "--json").err == ""
        assert run(*listing).err == ""
    assert len(run("facts", "--limit", 1, "--json").json["facts"]) == 1
    assert run("facts", "search", "rent", "--limit", 1).err == "", "the best of them were asked for"


@pytest.mark.slow
def test_a_program_is_given_all_facts_and_the_best_twenty_of_a_query(database: Path) -> None:
    with Memory.open(database, embedder="hashing", policy="seed-001") as memory:
        names = (
            first + last
            for first in ("Bo", "Ka", "Li", "Mi", "Ra")
            for last in ("na", "ra", "sa", "ta", "va")
        )
        for name in names:
            mine(memory).add(f"My friend {name} is a nurse.", thread=name, timestamp=START)
        mine(memory).flush()
        assert len(mine(memory).facts.list()) == 25
        assert len(mine(memory).facts.list("which friend is a nurse?")) == 20
        assert len(mine(memory).facts.list(limit=3)) == 3


@pytest.mark.usefixtures("learned")
def test_facts_are_listed_found_and_shown(run: Run) -> None:
    listed = run("facts", "list")
    assert f'Maya: "{SAID[2]}"' in listed.out
    assert "700" not in listed.out
    assert f'Maya: "{SAID[0]}"' in run("facts", "list", "--history").out
    assert f'Maya: "{SAID[0]}"' in run("facts", "list", "--at", "2026-03-05").out
    assert run("facts", "list", "--known-by", "2020-01-01", "--json").json == {"facts": []}
    (job, _) = run("facts", "list", "--subject", "maya", "--json").json["facts"][::-1]
    assert (job["fact"], job["category"]) == (f'Maya: "{SAID[1]}"', "relationship")
    assert run("facts", "list", "--category", "goal").err.startswith("no facts")
    run("suppress", "--words", SAID[0])
    assert SAID[0] not in run("facts", "list", "--history").out
    assert SAID[0] in run("facts", "list", "--history", "--suppressed").out
    run("unsuppress", "--words", SAID[0])
    assert run("facts", "search", "zebra").err == "no fact answers this\n"
    shown = run("facts", "show", named(run, "rent")[:8])
    assert f'Maya: "{SAID[2]}"' in shown.out
    (quote,) = run("facts", "show", named(run, "rent"), "--json").json["evidence"]
    assert (quote["text"], quote["actor"]) == (SAID[2], "Maya")
    run("facts", "edit", named(run, "Hannah"), "--text", "Hannah is [red]a nurse[/red]")
    assert "Hannah is [red]a nurse[/red]" in run("facts", "list").out
    assert run("facts", "show", "zz").code == 3
    assert "sure" in shown.out
    assert "None" not in shown.out
    assert "source_episodic_ids" not in shown.out, "a person reads words, scripts --json"


@pytest.mark.usefixtures("learned")
def test_a_fact_shows_when_it_was_said_and_what_ended_it(run: Run, database: Path) -> None:
    said = START + timedelta(days=30)
    with Memory.open(database, embedder="hashing", clock=lambda: said) as memory:
        mine(memory).add("My brother Leo has lived in Kiel since October 2025.", role="Maya", timestamp=said)
        mine(memory).flush()
    listed = run("facts", "list", "--history")
    head, *rows = [line.split() for line in listed.out.splitlines()]
    assert head == ["id", "category", "since", "said", "until", "fact", "times"]
    (moved,) = [row for row in rows if "Kiel" in row]
    assert moved[2:4] == ["2025-10-01", "2026-04-01"]
    newest = named(run, "rent")
    (old,) = [row for row in rows if "700" in row]
    assert old[2:7] == ["2026-03-02", "2026-03-02", "2026-03-22", "by", newest[:8]]
    shown = run("facts", "show", old[0]).out
    assert "until 2026-03-22" in shown
    assert f'{newest[:8]} Maya: "{SAID[2]}"' in shown
    assert "2026-04-01" in run("facts", "show", moved[0]).out.split("stated")[1].splitlines()[0]


@pytest.mark.slow
def test_what_the_owner_said_stands_under_one_name_in_facts_and_messages(run: Run, database: Path) -> None:
    with Memory.open(database, embedder="hashing", clock=lambda: START) as memory:
        ana = mine(memory)
        ana.add("My sister Hannah is a nurse.", thread="t", timestamp=START)
        ana.flush()
        assert 'user: "My sister Hannah is a nurse."' in str(ana.search("Is Hannah a nurse?"))
    for command in (("facts",), ("search", "Is Hannah a nurse?"), ("changes", "--since", "2026-01-01")):
        shown = run(*command)
        assert f'{USER}: "My sister Hannah is a nurse."' in shown.out, command
        assert "The user:" not in shown.out
    assert f"\n   {USER}: My sister Hannah" in run("search", "Is Hannah a nurse?").out
    fact = run("facts", "--json").json["facts"][0]
    assert fact["fact"] == 'The user: "My sister Hannah is a nurse."', "the wire form stays"
    shown = run("facts", "show", fact["id"][:8]).out
    assert f"{USER}:" in shown
    assert "The user" not in shown


@pytest.mark.usefixtures("learned")
def test_who_did_what_is_told_in_words_and_as_it_is_stored_to_programs(run: Run) -> None:
    run("facts", "pin", named(run, "rent"))
    shown = run("audit", "--limit", "1").out
    assert "pin a fact, or take its pin off" in shown
    assert "facts.pin" not in shown
    assert run("audit", "--limit", "1", "--json").json["entries"][0]["verb"] == "facts.pin"
    assert "no entry is of this kind, by this caller" in run("audit", "--by", "nobody").err


@pytest.mark.usefixtures("learned")
def test_a_fact_is_put_right_pinned_confirmed_and_deleted(run: Run) -> None:
    rent = named(run, "rent")
    assert run("facts", "edit", rent).code == 2
    edited = run("facts", "edit", rent, "--text", "Maya pays 725", "--value", "725", "--json").json
    assert (edited["value"], edited["versions"][0]["fact"]) == ("725", f'Maya: "{SAID[2]}"')
    assert run("facts", "pin", rent).err == "pinned: Maya pays 725\n"
    assert "Maya pays 725 (pinned)" in run("facts", "list").out
    assert run("facts", "unpin", rent, "--json").json["pinned"] is False
    assert run("facts", "confirm", rent, "--json").json["confidence"] == 1.0
    values = [one["value"] for one in run("facts", "history", rent, "--json").json["facts"]]
    assert values == [SAID[0], "725"]
    assert run("facts", "delete", rent).err == "deleted: Maya pays 725\n"
    assert SAID[0] in run("facts", "list").out
    assert run("facts", "show", rent).code == 3
    assert run("stats", "--json").json["facts"] == 2


def test_what_waits_is_learned_when_it_is_asked_for(run: Run) -> None:
    run("add", SAID[1], "--role", "Maya")
    run("flush")
    assert run("stats", "--json").json["unconsolidated"] == 1
    assert len(run("facts", "list", "--json").json["facts"]) == 1  # quoted at once
    assert run("facts", "learn", "--json").json == {"episodes": 1, "waiting": 0, "facts": 1}
    assert run("facts", "learn").err == "0 episodes read, 0 waiting; 1 fact holds, 1 before\n"

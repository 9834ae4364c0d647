"""`episodic rename` and `episodic decisions`: a title by hand, and what was decided of a memory."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

from builders.chats import mine
from builders.commands import Run

from episodic_agent import Memory


def test_an_episode_is_called_by_the_title_it_was_given_and_found_by_it(run: Run) -> None:
    run("add", "the saffron is out", "--thread", "chat")
    opened = run("episodes", "--json").json["episodes"][0]["episode_id"]
    refused = run("rename", opened, "The spice rack")
    assert (refused.code, "is not closed" in refused.error or "is still open" in refused.error) == (3, True)
    run("flush")
    episode = run("episodes", "--json").json["episodes"][0]["episode_id"]
    renamed = run("rename", episode[:18], "The spice rack")
    assert (renamed.code, "is titled 'The spice rack'" in renamed.err) == (0, True)
    assert "The spice rack" in run("recent").out
    run("reencode", "--all")
    assert run("show", episode, "--json").json["episode"]["title"] == "The spice rack"
    assert run("rename", episode, "Saffron", "--json").json["title"] == "Saffron"
    assert run("rename", episode, " ").code == 2
    assert run("rename", "zzz", "x").code in (2, 3)


def test_decisions_are_listed_the_newest_last_and_from_a_time_on(run: Run) -> None:
    for thread in ("one", "two", "three"):
        run("add", "the saffron is out", "--thread", thread)
    run("flush")
    made = run("decisions", "--json").json["decisions"]
    assert {one["type"] for one in made} >= {"boundary"}
    assert [one["at"] for one in made] == sorted(one["at"] for one in made)
    assert run("decisions", "--limit", "1", "--json").json["decisions"] == made[-1:]
    table = run("decisions").out
    assert all(one["subject"][:8] in table for one in made if one["type"] == "boundary")
    assert "an episode ends" in table
    assert "on request" in table
    assert "boundary" not in table
    later = run("decisions", "--since", "2090-01-01")
    assert (later.code, later.err) == (0, "nothing was decided from 2090-01-01 on\n")
    assert run("decisions", "--since", "soon").code == run("decisions", "--limit", "0").code == 2


def test_summaries_that_are_due_together_stand_in_one_row_and_hide_no_decision(
    run: Run, database: Path
) -> None:
    start = datetime(2026, 3, 2, 9, tzinfo=UTC)
    with Memory.open(database, embedder="hashing", clock=lambda: start + timedelta(days=40)) as memory:
        for name in ("boiler", "bread", "cello", "tap"):  # threads that people name stay open
            mine(memory).add(f"What about the {name}?", thread=name, timestamp=start)
        mine(memory).upkeep()
    made = run("decisions", "--json", "--limit", "100").json["decisions"]
    assert [one["type"] for one in made[-4:]] == ["compact"] * 4
    (row,) = run("decisions", "--limit", "1").out.splitlines()[1:]
    assert ("a summary" in row, "4 like this" in row) == (True, True)
    rows = run("decisions", "--limit", "100").out.splitlines()[1:]
    assert len(rows) == len(made) - 3


def test_decisions_are_told_in_words_with_units_and_titles(run: Run, database: Path) -> None:
    start = datetime(2026, 3, 2, 9, tzinfo=UTC)
    with Memory.open(database, embedder="hashing", clock=lambda: start + timedelta(days=40)) as memory:
        for hours in (0, 113):
            mine(memory).add("The boiler in the cellar drips.", timestamp=start + timedelta(hours=hours))
        mine(memory).flush()
    made = run("decisions", "--json").json["decisions"]
    assert {one["type"] for one in made} >= {"boundary", "thread"}
    table = run("decisions").out
    assert "113 h of silence, limit 30 min" in table
    assert "a new one" in table
    assert "The boiler in the cellar" in table
    assert not any(one["subject"] in table for one in made), "ids stand by their beginnings"
    assert not any(str(round(one["score"], 2)) in table for one in made if one["score"] > 1)

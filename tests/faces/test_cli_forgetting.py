"""The command `forget`: what it asks, what it prints, and what is left afterwards."""

import json
from pathlib import Path

import pytest
from builders.chats import mine
from builders.commands import Run

from episodic_agent import Memory

SAID = "The code of the safe is quokkazanzibar"


@pytest.fixture
def safe(database: Path) -> str:
    """A memory of one episode; returns the id of the observation that should go."""
    with Memory.open(database, embedder="hashing", policy="seed-001") as memory:
        receipts = mine(memory).add([SAID, "Then keep it to yourself"], thread="safe")
        mine(memory).flush()
    return str(receipts[0].id)


def test_a_dry_run_counts_and_changes_nothing(run: Run, safe: str) -> None:
    outcome = run("forget", "observation", safe, "--dry-run")
    assert outcome.out == f"observation {safe} would go: 1 observation, 1 summary\n"
    assert run("forget", "thread", "safe", "--dry-run", "--json").json["counts"]["observations"] == 2
    assert run("forget", "user", "default", "--dry-run", "--json").json["state"] == "preview"
    assert "quokkazanzibar" in run("search", "safe code").out
    assert run("forget", "receipts").err == "nothing was erased\n"


def test_without_a_terminal_it_asks_for_yes(run: Run, safe: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin.isatty", lambda: False, raising=False)
    for arguments in (["observation", safe], ["thread", "safe"], ["user", "default"]):
        assert "--yes" in run("forget", *arguments).error
    assert "quokkazanzibar" in run("search", "safe code").out


def test_an_erased_observation_is_told_and_listed(run: Run, safe: str) -> None:
    done = run("forget", "observation", safe, "--yes", "--json").json
    assert (done["what"], done["state"], done["done"], done["residue"]) == ("observation", "done", True, 0)
    assert "quokkazanzibar" not in run("search", "safe code").out
    (listed,) = run("forget", "receipts", "--json").json["receipts"]
    assert listed["id"] == done["id"]
    assert done["id"] in run("forget", "receipts").out
    assert "erased already" in run("forget", "observation", safe, "--yes").error


def test_copies_that_stay_are_named_before_and_after(run: Run, safe: str, database: Path) -> None:
    with Memory.open(database, embedder="hashing", policy="seed-001") as memory:
        copy = str(mine(memory).add(f"As I said: {SAID}!", thread="copy")[0].id)
    assert run("forget", "observation", safe, "--dry-run", "--json").json["repeated_by"] == [copy]
    for how in ("--dry-run", "--yes"):
        text = run("forget", "observation", safe, how).out
        assert "hold the same words: 1 message" in text
        assert copy in text


def test_what_is_counted_is_named_so_that_figures_are_not_mistaken_for_it(run: Run, database: Path) -> None:
    """A receipt counts all that was stored, the figures of a memory what holds."""
    with Memory.open(database, embedder="hashing", policy="seed-001") as memory:
        for text in ("Our rent is 700 euros a month, warm.", "Our rent is 720 euros a month now, warm."):
            mine(memory).add(text, thread=text)
            mine(memory).flush()
        assert mine(memory).stats().facts == 1
    assert "facts that hold    1\n" in run("stats").out
    assert "2 facts (ended ones too)" in run("forget", "user", "default", "--dry-run").out


def test_an_episode_is_named_by_the_beginning_of_its_id(run: Run, safe: str) -> None:
    (episode,) = run("episodes", "--json").json["episodes"]
    text = run("forget", "episode", episode["episode_id"][:8], "--yes").out
    assert "is erased: 2 observations, 1 episode" in text
    assert "done, residue 0" in text
    assert run("doctor").code == 0


def test_a_user_is_forgotten_and_the_file_is_clean(run: Run, safe: str, database: Path) -> None:
    assert run("forget", "check", "quokkazanzibar").code == 0  # a message that is kept
    outcome = run("forget", "user", "default", "--yes", "--later")
    assert "pending" in outcome.out
    run("upkeep")
    (receipt,) = run("forget", "receipts", "--json").json["receipts"]
    assert (receipt["what"], receipt["state"]) == ("user", "done")
    assert b"quokkazanzibar" not in database.read_bytes()
    assert "no user" in run("forget", "user", "default", "--yes").error


def test_check_tells_what_is_left(run: Run, safe: str) -> None:
    run("forget", "observation", safe, "--yes")
    assert run("forget", "check", "quokkazanzibar").out == "nothing of it is left\n"
    run("add", "Who named this thread?", "--thread", "quokkazanzibar")
    outcome = run("forget", "check", "quokkazanzibar", "--json")
    assert outcome.code == 1
    assert json.loads(outcome.out) == {
        "found": ["quokkazanzibar"],
        "clean": False,
        "repeated_by": [],
        "kept": [],
    }
    assert "empty string" in run("forget", "check", " ").error


def test_check_names_messages_that_are_kept_and_hold_the_words(run: Run, safe: str) -> None:
    for word in ("quokkazanzibar", "QuokkaZanzibar"):
        headline, count, line = run("forget", "check", word).out.splitlines()
        assert headline == "nothing of it is left apart from messages that are kept"
        assert count == "kept messages that hold it: 1"
        assert line.split()[0] == safe
        assert "user:" in line
        assert "quokkazanzibar" in line
    told = run("forget", "check", "Quokkazanzibar", "--json").json
    assert told["repeated_by"] == [safe]
    assert [one["id"] for one in told["kept"]] == [safe]
    assert "quokkazanzibar" in told["kept"][0]["excerpt"]
    run("forget", "observation", safe, "--yes")
    assert run("forget", "check", "quokkazanzibar").out == "nothing of it is left\n"


def test_check_looks_in_the_memory_of_every_user(run: Run, url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with Memory.open(url, embedder="hashing", policy="seed-001") as memory:
        erased = str(mine(memory).add(SAID, thread="safe")[0].id)
        copy = str(memory.user("bo").add(f"As I said: {SAID}!", thread="copy")[0].id)
    run("forget", "observation", erased, "--user", "default", "--yes", db=url)
    check = ("forget", "check", "quokkazanzibar")
    for settled in ("", "default"):
        if settled:
            monkeypatch.setenv("EPISODIC_USER", settled)
        shown = run(*check, db=url).out
        assert "kept messages that hold it: 1" in shown
        assert f"{copy} of bo" in shown
        (kept,) = run(*check, "--json", db=url).json["kept"]
        assert (kept["id"], kept["user"]) == (copy, "bo")
    own = run(*check, "--user", "default", "--json", db=url).json
    assert (own["kept"], own["clean"]) == ([], True)
    run("forget", "observation", copy, "--user", "bo", "--yes", db=url)
    run("add", "Who named this thread?", "--thread", "quokkazanzibar", "--user", "bo", db=url)
    assert run(*check, db=url).code == 1


def test_a_pin_is_told_before_what_is_pinned_goes(
    run: Run, safe: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "pinned" not in run("forget", "thread", "safe", "--dry-run").out
    run("pin", "--thread", "safe")
    for what, name in (("thread", "safe"), ("observation", safe)):
        assert "it is pinned" in run("forget", what, name, "--dry-run").out
    monkeypatch.setattr("sys.stdin.isatty", lambda: True, raising=False)
    asked: list[str] = []
    monkeypatch.setattr("episodic_agent.faces.cli.retention.make_sure", asked.append)
    assert "1 pin" in run("forget", "thread", "safe").out
    assert "it is pinned" in asked[0]


@pytest.mark.slow
def test_a_thread_is_called_by_the_title_that_it_alone_has(run: Run, safe: str) -> None:
    run("thread", "rename", "safe", "Maya & Tom")
    run("add", "The cellar is damp", "--thread", "cellar")
    problem = run("forget", "thread", "Maya", "--dry-run").error
    assert 'safe "Maya & Tom"' in problem
    assert 'cellar "' not in problem
    run("thread", "rename", "cellar", "maya & tom")
    problem = run("forget", "thread", "Maya & Tom", "--dry-run").error
    assert "2 threads have the title 'Maya & Tom'" in problem
    assert "'cellar'" in problem
    assert "'safe'" in problem
    run("thread", "rename", "cellar", "safe")  # a name goes before a title
    assert "2 observations" in run("forget", "thread", "safe", "--dry-run").out
    assert run("thread", "show", "Maya & Tom", "--json").code == 0
    assert "would go: 2 observations" in run("forget", "thread", "Maya & Tom", "--dry-run").out
    assert run("context", "What now?", "--thread", "Maya & Tom", "--json").code == 0
    run("add", "Hello", "--thread", "Maya & Tom")  # to begin a thread is no question of titles
    assert "1 observation" in run("forget", "thread", "Maya & Tom", "--dry-run").out


def test_adding_what_was_erased_says_so_and_what_keeps_it(run: Run) -> None:
    key = ("add", "The key is under the blue pot", "--id", "m1", "--user", "ana")
    added = run(*key, "--json").json
    run("forget", "observation", added["id"], "--yes", "--user", "ana")
    assert run(*key).out == f"erased, not added again: {added['id']} (seq 0); a new --id keeps it\n"

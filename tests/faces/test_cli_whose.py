"""Whose memory a command means: the user named, the setting, the only one there is, else it asks."""

from pathlib import Path

import pytest
from builders.commands import Run


@pytest.fixture(autouse=True)
def nobody_is_set(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("EPISODIC_USER")


@pytest.mark.usefixtures("no_file_yet")
def test_a_write_into_an_empty_memory_asks_for_a_name_and_makes_no_file(run: Run, database: Path) -> None:
    done = run("add", "Hello")
    assert (done.code, done.out, database.exists()) == (2, "", False)
    assert done.err.count("\n") == 1
    assert "--user NAME" in done.err
    assert "nobody is remembered here yet" in done.err
    assert run("init").code == 0
    assert "nobody is remembered here yet" in run("add", "Hello").err


def test_the_only_user_there_is_need_not_be_named(run: Run) -> None:
    assert run("add", "My boat is green", "--user", "ana").code == 0
    assert run("add", "It is called Marina").code == 0
    assert run("stats", "--json").json["user_id"] == "ana"
    assert run("stats", "--json").json["observations"] == 2


def test_of_several_users_one_has_to_be_named(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("bo", "ana"):
        run("add", f"The boat of {name}", "--user", name)
    for command in (["episodes"], ["add", "Hello"], ["search", "boat"], ["export"]):
        done = run(*command)
        assert done.code == 2, command
        assert "there are ana, bo" in done.err
    assert "The boat of bo" in run("search", "boat", "--user", "bo").out
    monkeypatch.setenv("EPISODIC_USER", "ana")
    assert "The boat of ana" in run("search", "boat").out
    assert "The boat of bo" in run("search", "boat", "--user", "bo").out  # what is named outranks the setting
    assert run("doctor").code == 0
    assert run("jobs", "list").code == 0


def test_an_unknown_name_is_told_who_there_is(run: Run) -> None:
    run("add", "My boat is green", "--user", "ana")
    for command in (("episodes",), ("threads", "--json"), ("context", "Which boat?"), ("search", "boat")):
        done = run(*command, "--user", "anna")
        assert (done.code, done.out) == (3, ""), command
        assert "known users: ana" in done.err


def test_of_the_first_user_nothing_need_be_there_yet(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    run("init")
    assert "nothing is remembered of 'ana' yet" in run("context", "Which boat?", "--user", "ana").err
    run("add", "My boat is green", "--user", "bo")
    monkeypatch.setenv("EPISODIC_USER", "ana")  # who is settled may be new; who is typed is mistyped
    assert run("threads").err.startswith("no threads yet")


def test_where_a_space_holds_nobody_the_others_are_named(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EPISODIC_SPACE", "bici")
    run("add", "My boat is green", "--user", "jordi")
    monkeypatch.delenv("EPISODIC_SPACE")
    remedy = "nobody is remembered in this space, but in bici; name one with EPISODIC_SPACE"
    for command in (("search", "boat"), ("facts",), ("threads",), ("stats",)):
        done = run(*command, "--user", "jordi")
        assert (done.code, done.err) == (3, f"error: {remedy}\n"), command
    nameless = run("search", "boat")
    assert (nameless.code, remedy in nameless.err) == (2, True)
    asked = run("context", "Which boat?", "--user", "jordi")
    assert (asked.code, remedy in asked.err) == (0, True)  # who asks may be new
    monkeypatch.setenv("EPISODIC_USER", "jordi")
    assert run("recent").err == f"{remedy}\n"
    assert run("keys", "revoke", "x").error.startswith("error: no key 'x'")
    monkeypatch.setenv("EPISODIC_SPACE", "bici")
    assert "My boat is green" in run("search", "boat").out
    assert "no user 'anna' in this memory; known users: jordi" in run("search", "boat", "--user", "anna").err
    run("add", "Mine is red", "--user", "bo")
    monkeypatch.delenv("EPISODIC_SPACE")
    assert run("add", "Mine is blue", "--user", "ana").code == 0  # a space may be new
    assert "known users: ana" in run("search", "boat", "--user", "bo").err

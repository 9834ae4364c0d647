"""The commands `sequence` and `replay`, and `mcp` where its settings are wrong."""

import json

import pytest
from builders.chats import diary, mine
from builders.commands import Run
from conftest import OpenMemory


def test_one_option_takes_several_filters_as_several_options_do(run: Run) -> None:
    for name in ("Tim Lee", "Ana"):
        assert run("add", "The worker leaks memory.", "--role", name, "--thread", name).code == 0
    run("flush")

    def episodes(*where: str) -> list[str]:
        values = [piece for one in where for piece in ("--where", one)]
        return [one["origin"] for one in run("episodes", *values, "--json").json["episodes"]]

    assert episodes("participant=Tim Lee outcome=unknown,ongoing") == ["Tim Lee"]
    assert episodes("participant=Tim Lee", "outcome=unknown,ongoing") == ["Tim Lee"]
    assert episodes("participant=Tim Lee tag=zeppelin") == []


def test_a_story_that_is_still_open_is_not_denied_without_a_word(run: Run) -> None:
    run("add", "The oak cabinets come in December.", "--thread", "kitchen")
    for command in ("replay", "sequence"):
        unclosed = run(command, "cabinets")
        assert "1 episode is still open; `episodic flush` closes them" in unclosed.err
    run("flush")
    assert "still open" not in run("replay", "zeppelins").err


@pytest.mark.slow
def test_what_was_declared_of_a_session_is_shown_found_and_told(run: Run) -> None:
    started = run("session", "start", "The billing migration", "--tool", "psql", "--json").json
    assert run("add", "The invoices are copied.", "--thread", started["thread"]).code == 0
    (running,) = run("recent", "--where", "topic~billing", "--json").json["episodes"]
    assert (running["title"], running["state"]) == ("The billing migration", "open")
    ended = run(
        "session",
        "end",
        started["id"],
        "--outcome",
        "failure",
        "--decision",
        "roll back",
        "--participant",
        "Mia",
    )
    for line in ("outcome   failure", "people    Mia", "tools     psql", "decided   roll back"):
        assert line in ended.out
        assert line in run("session", "show", started["id"]).out
    run("add", "The kitchen tap drips.", "--thread", "home")
    run("flush")
    for where in ("outcome=failure", "tool=psql", "participant=mia", "decision~roll", "topic~billing"):
        for command in (["episodes"], ["recent"], ["sequence"]):
            listed = run(*command, "--where", where, "--json").json["episodes"]
            assert [one["title"] for one in listed] == ["The billing migration"], (command, where)
    assert "Outcome: failure" in run("replay", "billing migration").out


def test_a_topic_is_told_in_order_as_text_and_as_json(run: Run, open_memory: OpenMemory) -> None:
    mine(open_memory()).add(diary())
    run("flush")
    outcome = run("replay", "kitchen tap")
    assert outcome.code == 0
    assert outcome.out.startswith("📜 Episode history for 'kitchen tap' (1 episode):")
    listed = json.loads(run("sequence", "--json", "--limit", "2").out)["episodes"]
    assert len(listed) == 2
    assert listed[0]["start_at"] < listed[1]["start_at"]
    assert run("sequence", "zeppelins").code == 0
    assert run("replay", "tap", "--order", "odd").code == 2
    assert run("sequence", "--where", "mood=good").code == 2


def test_a_budget_that_holds_no_answer_is_refused(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EPISODIC_TOOL_BUDGET", "10")
    refused = run("mcp")
    assert refused.code == 2
    assert "EPISODIC_TOOL_BUDGET" in refused.err


def test_a_session_that_goes_on_from_a_relevant_one_is_listed_as_linked(run: Run) -> None:
    parent: tuple[str, ...] = ()
    for day, topic, text in (
        ("2026-03-02", "The voucher test is flaky", "The voucher test is flaky, the mock is stale."),
        ("2026-03-03", "From Jest to Vitest", "All specs run under Vitest."),
    ):
        started = run("session", "start", topic, *parent, "--at", day, "--json").json
        run("add", text, "--thread", started["thread"], "--timestamp", f"{day}T09:00:00Z")
        run("session", "end", started["id"])
        parent = ("--parent", started["id"])
    run("flush")
    first, second = run("sequence", "flaky voucher test", "--min-relevance", "0.6").out.splitlines()
    assert ("flaky" in first, "linked" in first) == (True, False)
    assert ("Vitest" in second, " linked " in second) == (True, True)
    assert "Sessions that go on from those over --min-relevance" in " ".join(
        run("sequence", "--help").out.split()
    )

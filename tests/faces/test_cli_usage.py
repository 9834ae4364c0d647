"""The command line with a language model on a server: adding, working, and what it cost."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from builders.chats import mine, say
from builders.commands import Outcome, Run

from episodic_agent import Memory
from episodic_agent.providers import openai_http
from episodic_agent.testing.model_server import (
    Behaviour,
    ScriptedServer,
    serving,
    verdict_of,
)
from episodic_agent.wiring import utc_now

TAP = "the kitchen tap drips and the kitchen tap must be repaired number {}"
CELLO = "a cello sounds nasal without new strings"


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[ScriptedServer]:
    with serving(lambda asked: {**verdict_of(asked), "updated_event_model": None}) as running:
        monkeypatch.setenv("EPISODIC_OPENAI_BASE_URL", running.url)
        monkeypatch.setenv("EPISODIC_LLM", "openai:small")
        monkeypatch.setenv("EPISODIC_LLM_STAGES", "episode=none")
        yield running


def add_all(run: Run, *options: str) -> list[Outcome]:
    texts = [*(TAP.format(n) for n in "abcd"), CELLO]
    return [run(*options, "add", text) for text in texts]


def spans(run: Run) -> list[tuple[int, str]]:
    return [(e["observations"], e["reason"]) for e in run("episodes", "--json").json["episodes"]]


def test_adding_asks_the_model_and_its_verdict_cuts(run: Run, server: ScriptedServer) -> None:
    assert [outcome.code for outcome in add_all(run)] == [0] * 5
    assert spans(run)[0] == (4, "topic_shift")
    assert server.asked[-1]["model"] == "small"


def test_a_model_that_is_away_stops_no_adding(
    run: Run, server: ScriptedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(openai_http, "FIRST_WAIT", 0.01)
    server.baseline = Behaviour.UNAVAILABLE
    assert [outcome.code for outcome in add_all(run)] == [0] * 5
    assert server.asked
    assert "503" in run("jobs", "list", "--json").json["jobs"][0]["last_error"]


def test_a_refused_key_leaves_no_question_waiting(run: Run, server: ScriptedServer) -> None:
    server.baseline = Behaviour.UNAUTHORIZED
    assert [outcome.code for outcome in add_all(run)] == [0] * 5
    assert len(server.asked) == 1
    assert run("jobs", "list", "--json").json["jobs"] == []


def test_an_option_outranks_the_setting(run: Run, server: ScriptedServer) -> None:
    add_all(run, "--llm", "none")
    assert server.asked == []
    assert run("--llm", "openai:other", "config", "--json").json["settings"]["llm"] == "openai:other"
    refused = run("--llm", "gpt", "add", "hello")
    assert (refused.code, "no language model 'gpt'; there are openai:MODEL, none" in refused.error) == (
        2,
        True,
    )


def test_a_worker_has_the_model_too(
    run: Run, server: ScriptedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EPISODIC_JOBS", "workers")
    add_all(run)
    assert server.asked == []
    asking = run("worker", "--once", "--kinds", "ask")
    assert asking.code == 0, asking.err
    assert server.asked
    assert spans(run)[0] == (4, "topic_shift")


def test_what_it_cost_is_shown_by_day_stage_and_model(
    run: Run, server: ScriptedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EPISODIC_LLM_BUDGET", "1_000_000")
    add_all(run)
    today = utc_now().date()
    answer = run("usage", "--json").json
    (use,) = answer["usage"]
    assert (use["stage"], use["model"], use["calls"]) == ("topic_shift", "openai:small", len(server.asked))
    assert use["day"] in {str(today), str(utc_now().date())}
    assert (answer["spent_today"], answer["budget"]) == (
        use["prompt_tokens"] + use["completion_tokens"],
        1_000_000,
    )
    shown = run("usage")
    assert re.search(rf"topic_shift +openai:small +{use['calls']} +{use['calls']} +0 +0 +0 ", shown.out)
    assert "tokens, of a budget of 1,000,000 a day" in shown.out
    assert run("usage", "--until", "2001-01-01", "--json").json["usage"] == []
    assert run("usage", "--since", "2001-01-01", "--user", "default", "--json").json["usage"] == [use]
    assert run("usage", "--user", "nobody").code == 3


def test_without_calls_it_says_so(run: Run, database: Path) -> None:
    with Memory.open(database, embedder="none") as memory:
        mine(memory).add(say("hello there"))
    assert run("usage").out == "no calls; today (UTC) 0 tokens, no budget is set\n"
    assert run("usage", "--json").json == {"usage": [], "spent_today": 0, "budget": None}

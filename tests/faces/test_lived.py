"""Times as people are shown them: by the clock of whoever spoke, with its zone; scripts get UTC."""

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from builders.chats import Clock
from builders.commands import Run
from builders.web import LocalClient
from starlette.testclient import TestClient

from episodic_agent import Memory
from episodic_agent.faces.http.app import make_app
from episodic_agent.tools import memory_tools

MESSAGES = [
    ("2026-09-30T00:10:00+02:00", "Ana", "The siphon under the kitchen sink drips again."),
    ("2026-09-30T00:14:00+02:00", "Bo", "Put a bucket under the siphon, I come at nine."),
]


@pytest.fixture
def late(run: Run, tmp_path: Path) -> Run:
    lines = [{"actor": actor, "content": text, "timestamp": at} for at, actor, text in MESSAGES]
    chat = tmp_path / "chat.jsonl"
    chat.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    assert run("import", chat, "--json").json["added"] == 2
    run("flush")
    return run


def test_a_message_of_ten_past_midnight_is_shown_on_its_day(late: Run) -> None:
    identity = late("episodes", "--json").json["episodes"][0]["episode_id"]
    assert "2026-09-30 00:10 +02:00" in late("episodes").out
    assert "2026-09-30 00:10 +02:00" in late("recent").out
    assert "2026-09-30 00:10 +02:00" in late("search", "siphon").out
    assert "2026-09-30 00:10 +02:00" in late("sequence", "siphon").out
    assert "[2026-09-30]" in late("replay", "siphon").out
    assert "2026-09-30 00:14 +02:00" in late("threads").out
    assert "2026-09-30 00:10 +02:00" in late("stats").out
    shown = late("show", identity).out
    assert "2026-09-30 00:10 +02:00 to 2026-09-30 00:14 +02:00" in shown
    assert "[2026-09-30 00:10] Ana: The siphon" in shown


def test_facts_and_what_a_prompt_is_told_have_the_day_on_which_it_was_said(late: Run, tmp_path: Path) -> None:
    assert "**When:** 2026-09-30 00:10 +02:00" in late("retrieve", "siphon").out
    line = {
        "role": "user",
        "content": "I am allergic to buckwheat.",
        "timestamp": "2026-09-30T00:20:00+02:00",
    }
    more = tmp_path / "more.jsonl"
    more.write_text(json.dumps(line) + "\n", encoding="utf-8")
    late("import", more)
    late("flush")
    identity = late("facts", "--json").json["facts"][0]["id"]
    for command in (("facts",), ("facts", "search", "buckwheat"), ("facts", "show", identity)):
        assert "2026-09-30" in late(*command).out
        assert "2026-09-29" not in late(*command).out
    assert "2026-09-29T22:20" in late("facts", "--json").out


def test_a_search_over_http_may_be_asked_as_if_it_were_a_day(tmp_path: Path) -> None:
    clock = Clock(datetime(2026, 11, 1, tzinfo=UTC))

    def opened() -> Memory:
        return Memory.open(tmp_path / "asked.db", embedder="hashing", clock=clock)

    with opened() as memory:
        lines = [{"actor": actor, "content": text, "timestamp": at} for at, actor, text in MESSAGES]
        memory.user("ana", new=True).add(lines)
    asked = {"query": "what did we say yesterday?", "now": "2026-10-01T09:00:00+02:00"}
    with LocalClient(make_app(opened, clock)) as client:
        for route in ("search", "recall", "retrieve"):
            assert "siphon" in client.post(f"/v1/users/ana/{route}", json=asked).text
            wrong = client.post(f"/v1/users/ana/{route}", json={**asked, "now": "soon"})
            assert wrong.status_code == 400
            assert "soon" in wrong.text
        today = client.post("/v1/users/ana/search", json={"query": asked["query"]}).json()
        assert today["hits"] == []


def test_scripts_get_the_times_in_utc(late: Run) -> None:
    card = late("episodes", "--json").json["episodes"][0]
    assert card["start_at"] == "2026-09-29T22:10:00+00:00"
    assert late("show", card["episode_id"], "--json").json["episode"]["start_at"] == card["start_at"]
    assert late("search", "siphon", "--json").json["hits"][0]["start_at"] == card["start_at"]
    assert late("sequence", "siphon", "--json").json["episodes"][0]["start_at"] == card["start_at"]


def test_python_and_models_are_told_the_day_on_which_it_was_said(tmp_path: Path) -> None:
    clock = Clock(datetime(2026, 10, 1, 12, tzinfo=UTC))
    with Memory.open(tmp_path / "python.db", embedder="hashing", clock=clock) as memory:
        ana = memory.user("ana", new=True)
        ana.add([{"actor": actor, "content": text, "timestamp": at} for at, actor, text in MESSAGES])
        ana.flush()
        answer = ana.search("siphon")
        assert "2026-09-30 " in str(answer)
        assert "2026-09-29" not in str(answer) + repr(answer.hits[0])
        assert "30 00:10" in answer._repr_html_()
        assert answer.hits[0].start_at.utcoffset() == timedelta(0)
        assert "[2026-09-30]" in ana.chains.replay("siphon")
        assert "2026-09-30" in ana.context("what about the siphon?").text
        tools = memory_tools(ana)
        assert "[2026-09-30 00:10 +02:00]" in tools.call("search_memory", {"query": "siphon"})
        assert "[2026-09-30]" in tools.call("replay_topic", {"topic": "siphon"})


@pytest.fixture
def client(tmp_path: Path) -> Iterator[TestClient]:
    clock = Clock(datetime(2026, 10, 1, 12, tzinfo=UTC))

    def opened() -> Memory:
        return Memory.open(tmp_path / "dashboard.db", embedder="hashing", clock=clock)

    with opened() as memory:
        ana = memory.user("ana", new=True)
        ana.add([{"actor": actor, "content": text, "timestamp": at} for at, actor, text in MESSAGES])
        ana.flush()
    with LocalClient(make_app(opened, clock), follow_redirects=False) as client:
        yield client


def test_the_dashboard_shows_the_day_on_which_it_was_said(client: TestClient) -> None:
    listed = client.get("/users/ana").text
    assert "30 Sep 2026, 00:10–00:14 +02:00" in listed
    drawn = client.get("/users/ana/timeline.json").json()["episodes"][0]
    assert datetime.fromtimestamp(drawn[0], UTC).isoformat() == "2026-09-30T00:10:00+00:00"
    episode = client.get(f"/users/ana/episodes/{drawn[4]}").text
    assert "30 Sep 2026, 00:10–00:14 +02:00" in episode
    assert "2026-09-30 00:14 +02:00" in episode
    assert "2026-09-30 00:10 +02:00" in client.get("/users/ana/search?q=siphon").text
    assert "30 Sep 2026 – 30 Sep 2026" in client.get("/users/ana/threads").text

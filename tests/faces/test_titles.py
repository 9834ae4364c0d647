"""Threads under their titles: `--only` takes them as `--thread` does, and the dashboard shows no ids for names."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from builders.chats import NOW, USER, Clock
from builders.commands import Run
from builders.web import LocalClient
from starlette.testclient import TestClient

from episodic_agent import Memory
from episodic_agent.faces.http.app import make_app

TITLE = "Küche 2026"


def fill(memory: Memory) -> None:
    mine = memory.user(USER, new=True)
    mine.add("The worktop of the kitchen costs 15,340 euros.", thread="chat-66124e65f7")
    mine.add("The deposit for the kitchen party costs nothing.", thread="chat-2")
    mine.flush()
    mine.threads.rename("chat-66124e65f7", TITLE)
    mine.threads.rename("chat-2", "Party")


def test_only_takes_a_title_as_thread_does(run: Run, tmp_path: Path) -> None:
    path = str(tmp_path / "titles.db")
    with Memory.open(path, embedder="hashing", clock=Clock(NOW)) as memory:
        fill(memory)
    for asked in (
        ["search", "kitchen costs"],
        ["context", "what does the kitchen cost?"],
        ["sequence", "kitchen"],
    ):
        shown = run("--db", path, *asked, "--only", TITLE)
        assert "no thread or channel" not in shown.err
        assert "party" not in shown.out
    assert "15,340" in run("--db", path, "search", "kitchen costs", "--only", TITLE).out
    assert len(run("--db", path, "episodes", "--only", TITLE, "--json").json["episodes"]) == 1
    assert "no thread or channel 'Nobody'" in run("--db", path, "search", "kitchen", "--only", "Nobody").err


@pytest.fixture
def client(tmp_path: Path) -> Iterator[TestClient]:
    def opened() -> Memory:
        return Memory.open(tmp_path / "dashboard.db", embedder="hashing", clock=Clock(NOW))

    with opened() as memory:
        fill(memory)
    with LocalClient(make_app(opened, Clock(NOW)), follow_redirects=False) as client:
        yield client


def test_the_dashboard_calls_a_closed_episodes_thread_by_its_title(client: TestClient) -> None:
    listed = client.get(f"/users/{USER}").text
    assert f"in <bdi>{TITLE}</bdi>" in listed
    assert "chat-66124e65f7" not in listed
    drawn = client.get(f"/users/{USER}/timeline.json").json()
    assert {title for title, *_ in drawn["threads"]} == {TITLE, "Party"}
    of_kitchen = next(row[4] for row in drawn["episodes"] if drawn["threads"][row[3]][0] == TITLE)
    crumbs = (
        client.get(f"/users/{USER}/episodes/{of_kitchen}").text.split('class="crumbs"')[1].split("</p>")[0]
    )
    assert f"<bdi>{TITLE}</bdi>" in crumbs

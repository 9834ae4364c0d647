"""Who did what, asked and told by every face: the face, the key and the role stand beside what was done."""

import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any

import anyio
import pytest
from builders.chats import Clock
from builders.commands import Run
from builders.web import LocalClient
from mcp.client import Client as McpClient
from starlette.testclient import TestClient

from episodic_agent import AsyncMemory, Memory
from episodic_agent.engine.trace.acts import calling
from episodic_agent.faces.http.app import make_app
from episodic_agent.faces.mcp.server import make_server
from episodic_agent.schemas import Caller
from episodic_agent.schemas.keys import Role

NOW = datetime(2026, 3, 12, 12, tzinfo=UTC)
ANA = "/v1/users/ana"
OutsideClient = partial(TestClient, base_url="http://memory.example:80")


@pytest.fixture
def opened(empty: Path) -> Callable[[], Memory]:
    return lambda: Memory.open(empty, embedder="hashing", clock=Clock(NOW))


def post(client: TestClient, text: str, **more: Any) -> None:
    body = {"messages": [{"content": text}], "thread": "home"}
    assert client.post(f"{ANA}/messages?wait=true", json=body, **more).status_code in (200, 201, 202)


def adds(entries: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [one["by"] for one in entries if one["verb"] == "add"]


def test_a_key_and_its_role_stand_beside_what_it_did(opened: Callable[[], Memory]) -> None:
    with opened() as memory:
        made = {role.value: memory.keys.create(role=role) for role in Role}
    held = {role: {"Authorization": f"Bearer {one.token}"} for role, one in made.items()}
    with OutsideClient(make_app(opened, Clock(NOW), rate=10_000)) as client:
        post(client, "The kitchen tap drips", headers=held["write"])
        client.delete(f"{ANA}/threads/home", headers=held["admin"])
        assert client.get(f"{ANA}/audit", headers=held["write"]).status_code == 403
        page = client.get(f"{ANA}/audit", headers=held["admin"]).json()
        past = {"as_of": NOW.isoformat()}
        assert client.get(f"{ANA}/audit", params=past, headers=held["write"]).status_code == 403
        assert client.get(f"{ANA}/audit", params=past, headers=held["admin"]).json() == page
        mine = client.get(f"{ANA}/audit", params={"by": made["write"].key.id}, headers=held["admin"]).json()
    assert adds(page["items"]) == [
        {"face": "http", "key": made["write"].key.id, "role": "write", "cause": ""}
    ]
    (erased,) = [one for one in page["items"] if one["kind"] == "deletion"]
    assert erased["by"] == {"face": "http", "key": made["admin"].key.id, "role": "admin", "cause": ""}
    assert "drips" not in str(page)
    assert {one["by"]["key"] for one in mine["items"]} == {made["write"].key.id}


def test_it_is_read_page_by_page_and_by_kind(opened: Callable[[], Memory]) -> None:
    with LocalClient(make_app(opened, Clock(NOW), rate=10_000)) as client:
        for number in range(5):
            post(client, f"Line {number}")
        whole = client.get(f"{ANA}/audit").json()["items"]
        pages: list[dict[str, Any]] = []
        cursor: str | None = None
        while True:
            asked = {"limit": 2, **({"cursor": cursor} if cursor else {})}
            page = client.get(f"{ANA}/audit", params=asked).json()
            pages += page["items"]
            if (cursor := page["next"]) is None:
                break
        assert pages == whole
        assert len(adds(whole)) == 5
        assert adds(whole)[0]["face"] == "http"
        assert client.get(f"{ANA}/audit", params={"kind": "deletion"}).json()["items"] == []
        wrong = client.get(f"{ANA}/audit", params={"kind": "reads"})
        assert (wrong.status_code, "write, model, deletion" in wrong.json()["detail"]) == (400, True)
        assert client.get("/v1/users/nobody/audit").status_code == 404


def test_an_import_in_the_background_is_told_as_whoever_asked(
    opened: Callable[[], Memory], tmp_path: Path
) -> None:
    with opened() as memory:
        ana = memory.user("ana", new=True)
        chat = tmp_path / "chat.jsonl"
        chat.write_text('{"role": "user", "content": "An old line", "timestamp": "2026-01-01T09:00:00Z"}\n')
        with calling(Caller("http", "k1", "write")):
            operation = ana.jobs.import_file(chat)
        while ana.jobs.operation(operation.id).state == "running":
            time.sleep(0.01)
        (entry,) = [one for one in ana.trace.audit() if "observations" in one.counts]
    assert (entry.verb, entry.by) == ("jobs.import_file", Caller("http", "k1", "write"))


def test_coroutines_keep_who_calls(tmp_path: Path) -> None:
    async def run() -> list[Any]:
        async with await AsyncMemory.open(tmp_path / "m.db", embedder="none", resume=False) as memory:
            with calling(Caller("http", "k1", "write")):
                await memory.user("ana").add("One line")
            await memory.user("ana").add("Another line")
            return list(await memory.user("ana").trace.audit())

    entries = [one.by for one in anyio.run(run) if one.verb == "add"]
    assert entries == [Caller("python"), Caller("http", "k1", "write")]


def test_tools_over_mcp_are_told_as_such(opened: Callable[[], Memory]) -> None:
    async def use(memory: Memory) -> None:
        async with McpClient(make_server(memory, user_id="ana", budget=16_000)) as client:
            await client.call_tool("add_memory", {"content": "Ana likes oolong"})

    with opened() as memory:
        memory.user("ana").add("A line from Python")
        anyio.run(use, memory)
        entries = [one.by.face for one in memory.user("ana").trace.audit() if one.verb == "add"]
    assert entries == ["mcp", "python"]


def test_the_command_lists_exports_and_refuses(run: Run) -> None:
    run("add", "My sister lives in Porto and I visit her every May.")
    run("flush")
    table = run("audit").out
    assert "add" in table
    assert "cli" in table
    entries = run("audit", "--json").json["entries"]
    assert adds(entries) == [{"face": "cli", "key": "", "role": "", "cause": ""}]
    assert "Porto" not in str(entries) + table
    assert len(run("audit", "--json", "--limit", "1").json["entries"]) == 1
    assert {one["by"]["face"] for one in run("audit", "--by", "work", "--json").json["entries"]} == {"work"}
    assert "no entry is of this kind, by this caller" in run("audit", "--by", "http").err
    assert "no entry is of this kind, by this caller" in run("audit", "--kind", "deletion").err
    assert "'write', 'model', 'deletion'" in run("audit", "--kind", "reads").error
    soon = (datetime.now(UTC) + timedelta(days=1)).isoformat()
    assert run("audit", "--since", soon, "--json").json == {"entries": []}
    run("forget", "user", "default", "--yes")
    (left,) = run("audit", "--json").json["entries"]
    assert (left["verb"], left["thing"], left["by"]["face"]) == ("erase", "user", "cli")

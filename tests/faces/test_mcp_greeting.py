"""The first answer of the MCP server: that of the library, given before the library is loaded."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp.server.stdio import stdio_server
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS

from episodic_agent import Memory
from episodic_agent.faces.mcp.greeting import VERSIONS, answer_to
from episodic_agent.faces.mcp.server import make_server

ROOT = Path(__file__).parents[2]
CLIENT = {"name": "somebody", "version": "1"}


def request(version: str, **changed: Any) -> dict[str, Any]:
    params = {
        "protocolVersion": version,
        "capabilities": {"roots": {"listChanged": True}},
        "clientInfo": CLIENT,
    }
    return {"jsonrpc": "2.0", "id": 7, "method": "initialize", "params": params | changed}


def answer_of_the_library(memory: Memory, line: str, folder: Path) -> str:
    asked, answered = folder / "asked", folder / "answered"
    asked.write_text(line + "\n", encoding="utf-8")

    async def run() -> None:
        server = make_server(memory, budget=16_000)
        async with (
            await anyio.open_file(asked) as theirs,
            await anyio.open_file(answered, "w") as ours,
            stdio_server(theirs, ours) as (incoming, outgoing),
        ):
            await server.run(incoming, outgoing, server.create_initialization_options())

    anyio.run(run)
    return answered.read_text(encoding="utf-8")


def served(folder: Path) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [sys.executable, "-m", "episodic_agent", "--db", str(folder / "memory.db"), "mcp"],
        env={**os.environ, "PYTHONPATH": str(ROOT / "src"), "EPISODIC_EMBEDDER": "hashing"},
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip


def test_every_handshake_the_library_knows_is_answered_at_once() -> None:
    assert set(VERSIONS) == set(HANDSHAKE_PROTOCOL_VERSIONS)


@pytest.mark.parametrize("version", VERSIONS)
def test_the_answer_is_that_of_the_library(memory: Memory, tmp_path: Path, version: str) -> None:
    line = json.dumps(request(version))
    data = answer_to(line.encode())
    assert data is not None
    assert json.loads(data) == json.loads(answer_of_the_library(memory, line, tmp_path))


@pytest.mark.parametrize(
    "line",
    [
        "",
        "{",
        "[]",
        "7",
        json.dumps(request("1999-01-01")),
        json.dumps(request("2026-07-28")),
        json.dumps(request(VERSIONS[0], capabilities=[])),
        json.dumps(request(VERSIONS[0], capabilities={"roots": 1})),
        json.dumps(request(VERSIONS[0], clientInfo={"name": "nameless version"})),
        json.dumps(request(VERSIONS[0], _meta={})),
        json.dumps(request(VERSIONS[0]) | {"id": True}),
        json.dumps(request(VERSIONS[0]) | {"method": "ping"}),
        json.dumps({"jsonrpc": "2.0", "method": "initialize"}),
    ],
)
def test_what_the_library_might_refuse_is_left_to_it(line: str) -> None:
    assert answer_to(line.encode()) is None


@pytest.mark.slow
@pytest.mark.parametrize("version", [VERSIONS[-1], "1999-01-01"])
def test_one_answer_for_each_request_whoever_gives_it(tmp_path: Path, version: str) -> None:
    lines = [
        request(version),
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "id": 8, "method": "ping"},
    ]
    with served(tmp_path) as server:
        assert server.stdin is not None
        assert server.stdout is not None
        server.stdin.write("".join(json.dumps(line) + "\n" for line in lines))
        server.stdin.flush()
        answers = [json.loads(server.stdout.readline()) for _ in range(2)]
        server.stdin.close()
        assert server.stdout.read() == ""
    assert [answer["id"] for answer in answers] == [7, 8]
    assert answers[0]["result"]["serverInfo"]["name"] == "episodic-agent"


@pytest.mark.slow
def test_a_memory_that_cannot_be_opened_is_said_whether_or_not_a_client_speaks(tmp_path: Path) -> None:
    (tmp_path / "memory.db").write_text("no database " * 500)
    with served(tmp_path) as server:
        assert server.wait(60) == 5
        assert server.stdout is not None
        assert server.stderr is not None
        assert server.stdout.read() == ""
        assert server.stderr.read().startswith("error: ")

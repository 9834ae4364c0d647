"""Every face narrows a search to what one speaker said."""

from collections.abc import Mapping
from contextlib import nullcontext
from datetime import timedelta
from typing import Any

import anyio
import pytest
from builders.chats import NOW, USER, Clock
from builders.commands import Run
from builders.web import LocalClient
from mcp.client import Client

from episodic_agent import Memory
from episodic_agent.faces.http.app import make_app
from episodic_agent.faces.mcp.server import make_server
from episodic_agent.tools import memory_tools

QUESTION = "what about the van?"
SAID = {"Ana": "the van costs 390 for the weekend", "Ben": "the van has seven seats"}


@pytest.fixture
def group(memory: Memory) -> Memory:
    """Return a memory in which two people talk of a van in a group."""
    mine = memory.user(USER, new=True)
    for n, (name, text) in enumerate(SAID.items()):
        mine.add({"role": "user", "name": name, "content": text}, timestamp=NOW - timedelta(hours=9 - 5 * n))
    mine.flush()
    return memory


def over_mcp(memory: Memory, asked: Mapping[str, Any]) -> str:
    answers = []

    async def use() -> None:
        async with Client(make_server(memory, budget=16_000)) as client:
            answers.append(await client.call_tool("search_memory", asked))

    anyio.run(use)
    return str(answers[0])


@pytest.mark.parametrize("face", ["search", "retrieve", "http search", "http retrieve", "mcp", "tools"])
def test_a_face_tells_what_one_speaker_said_alone(group: Memory, run: Run, clock: Clock, face: str) -> None:
    app = make_app(lambda: nullcontext(group), clock)  # type: ignore[arg-type, return-value]

    def ask(more: Mapping[str, str]) -> str:
        asked = {"query": QUESTION, **more}
        if face.startswith("http"):
            with LocalClient(app) as client:
                return client.post(f"/v1/users/{USER}/{face.split()[1]}", json=asked).text
        if face == "mcp":
            return over_mcp(group, asked)
        if face == "tools":
            return memory_tools(group.user(USER)).call("search_memory", asked)
        outcome = run(face, QUESTION, *(part for name in more for part in (f"--{name}", more[name])))
        return outcome.out + outcome.err

    for more, heard in (
        ({}, [True, True]),
        ({"speaker": "Ana"}, [True, False]),
        ({"speaker": "ben"}, [False, True]),
    ):
        assert ["390" in ask(more), "seven seats" in ask(more)] == heard, more
    assert "390" not in ask({"speaker": "Zed"})

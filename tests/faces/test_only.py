"""Every face tells of named threads and channels alone where they are named."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import timedelta
from typing import Any, TypeAlias

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

QUESTION = "when does the probation of Sven end?"
SAID = {
    "general": "the probation of Mia ended well, cake at four",
    "harbor": "the probation of Tomasz begins",
    "dm-lena": "the probation of Sven ends on 15 December",
}
Ask: TypeAlias = Callable[[str, list[str] | None], str]  # verb, names: what is answered, an error's words too


def commands(run: Run) -> Ask:
    def ask(verb: str, only: list[str] | None) -> str:
        named = [] if only is None else [part for name in only for part in ("--only", name)]
        outcome = run(verb, QUESTION, *named)
        return outcome.out + outcome.err

    return ask


def service(memory: Memory, clock: Clock) -> Ask:
    @contextmanager
    def opened() -> Iterator[Memory]:
        yield memory

    app = make_app(opened, clock)  # type: ignore[arg-type]

    def ask(verb: str, only: list[str] | None) -> str:
        body: dict[str, Any] = {"message" if verb == "context" else "query": QUESTION}
        body |= {} if only is None else {"only": only}
        with LocalClient(app) as client:
            return client.post(f"/v1/users/{USER}/{verb}", json=body).text

    return ask


def arguments(verb: str, only: list[str] | None) -> tuple[str, Mapping[str, Any]]:
    named = {} if only is None else {"only": only}
    return (
        ("get_context", {"message": QUESTION, **named})
        if verb == "context"
        else ("search_memory", {"query": QUESTION, **named})
    )


def mcp(memory: Memory) -> Ask:
    def ask(verb: str, only: list[str] | None) -> str:
        answers = []

        async def use() -> None:
            async with Client(make_server(memory, budget=16_000)) as client:
                answers.append(await client.call_tool(*arguments(verb, only)))

        anyio.run(use)
        return str(answers[0])

    return ask


def tools(memory: Memory) -> Ask:
    return lambda verb, only: memory_tools(memory.user(USER)).call(*arguments(verb, only))


@pytest.mark.parametrize("face", ["commands", "service", "mcp", "tools"])
def test_a_face_tells_of_what_is_named_alone(memory: Memory, run: Run, clock: Clock, face: str) -> None:
    team = memory.user(USER, new=True)
    for n, (thread, text) in enumerate(SAID.items()):
        team.add(text, role="Lena", thread=thread, timestamp=NOW - timedelta(hours=9 - n))
    team.flush()
    ask = {
        "commands": lambda: commands(run),
        "service": lambda: service(memory, clock),
        "mcp": lambda: mcp(memory),
        "tools": lambda: tools(memory),
    }[face]()
    for verb in ("context", "search", "retrieve")[: 3 if face in ("commands", "service") else 2]:
        everywhere, named = ask(verb, None), ask(verb, ["general", "harbor"])
        assert ("15 December" in everywhere, "15 December" in named) == (True, False), verb
        assert ("cake" in named, "dm-lena" in named) == (True, False), verb
        if face != "commands":  # there none is no option
            assert "name at least one thread or channel" in ask(verb, []), verb

"""Every face tells of named threads and channels alone where they are named, and where whoever serves names them."""

import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from datetime import timedelta
from pathlib import Path
from typing import Any, TypeAlias

import anyio
import pytest
from builders.chats import NOW, USER, Clock
from builders.commands import Run
from builders.web import LocalClient
from faces.test_mcp import command, environment, listening, over_http
from faces.test_tools import NAMES
from mcp.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.shared.exceptions import MCPError

from episodic_agent import Memory, UserMemory
from episodic_agent.errors import InvalidInput
from episodic_agent.faces.http.app import make_app
from episodic_agent.faces.mcp.server import make_server
from episodic_agent.tools import memory_tools

QUESTION = "when does the probation of Sven end?"
SAID = {
    "general": "the probation of Mia ended well, cake at four",
    "harbor": "the probation of Tomasz begins",
    "dm-lena": "the probation of Sven ends on 15 December",
}
OPEN = ["general", "harbor"]
SECRETS = ("15 December", "dm-lena", "of Sven ends", "private matter")
Ask: TypeAlias = Callable[[str, list[str] | None], str]  # verb, names: what is answered, an error's words too


def fill(memory: Memory) -> UserMemory:
    """Let a team talk in two channels and one direct message."""
    team = memory.user(USER, new=True)
    for n, (thread, text) in enumerate(SAID.items()):
        team.add(text, role="Lena", thread=thread, timestamp=NOW - timedelta(hours=9 - n))
    team.flush()
    return team


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
    fill(memory)
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
        unknown = ask(verb, ["nope"])
        remedy = "GET /v1/users/{user}/threads" if face == "service" else "threads` lists the names"
        remedy = "list_threads tells the names" if face in ("mcp", "tools") else remedy
        assert "no thread or channel 'nope' here; " in unknown, verb
        assert remedy in unknown, verb


LISTS = {  # by a command, and by a route: what is asked behind its path or sent
    "facts list": ("GET", "facts", {}, ["Sven"]),
    "episodes": ("GET", "episodes", {}, ["Mia", "Tomasz", "Sven"]),
    "sequence": ("POST", "chains/sequence", {"topic": ""}, ["Mia", "Tomasz", "Sven"]),
    "replay probation": ("POST", "chains/replay", {"topic": "probation"}, ["Mia", "Tomasz", "Sven"]),
}


@pytest.mark.parametrize("name", LISTS)
def test_what_is_listed_is_of_what_is_named_alone(memory: Memory, run: Run, clock: Clock, name: str) -> None:
    fill(memory)
    method, path, asked, everybody = LISTS[name]
    app = make_app(lambda: nullcontext(memory), clock)  # type: ignore[arg-type, return-value]
    for only, hidden in (([], []), (OPEN, ["Sven"]), (["harbor"], ["Mia", "Sven"])):
        outcome = run(*name.split(), *(part for one in only for part in ("--only", one)))
        with LocalClient(app) as client:
            address, named = f"/v1/users/{USER}/{path}", {**asked, **({"only": only} if only else {})}
            answer = (
                client.get(address, params=named) if method == "GET" else client.post(address, json=named)
            )
        for shown in (outcome.out + outcome.err, answer.text):
            marks = [one for one in ("Mia", "Tomasz", "Sven") if one in shown]
            assert marks == [one for one in everybody if one not in hidden], only


def attempts(team: UserMemory) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield calls by which a model could try every tool for what was said in the direct message."""
    ids = {card.origin: str(card.episode_id) for card in team.episodes.list()}
    (session,) = team.sessions.list()
    (message,) = team.episodes.messages(ids["dm-lena"])
    wider = {"only": ["dm-lena", *OPEN]}
    for more in ({}, wider, {"only": ["dm-lena"]}, {"thread": "dm-lena"}, {"thread": "dm-lena", **wider}):
        yield "search_memory", {"query": QUESTION, "limit": 50, **more}
        yield "get_context", {"message": QUESTION, "max_tokens": 4_000, **more}
    yield "recent_memory", {"limit": 100}
    for topic in ("", "probation", "the probation of Sven ends"):
        yield "replay_topic", {"topic": topic, "limit": 50}
    for facts in ({}, {"query": QUESTION}):
        yield "get_facts", {"limit": 100, **facts}
    yield "list_threads", {"limit": 100}
    for identity in (ids["dm-lena"], ids["dm-lena"][:12], str(session.id)):
        yield "explain_memory", {"episode_id": identity}
        yield "forget_memory", {"episode_id": identity}
        yield "start_session", {"topic": "probation", "thread": "general", "continues": identity}
    for named in ({"thread": "dm-lena"}, {"observation_id": str(message.id)}, {"speaker": "Lena"}):
        yield "forget_memory", {**named, "confirm": True}
    yield "end_session", {"session_id": str(session.id)}
    for named in ({"thread": "dm-lena"}, {"key": "secret", "thread": "general"}, {}):
        yield "start_session", {"topic": "probation", **named}
    yield "start_session", {"topic": "the matter of Sven", "thread": "general"}
    for named in ({"thread": "dm-lena"}, {}, {"thread": "general", "id": "m1"}):
        yield "add_memory", {"content": "hello", **named}


def private_matter(memory: Memory) -> UserMemory:
    """Return a team with a session in the direct message, and a message that has an id of its caller's."""
    team = fill(memory)
    session = team.sessions.start("the private matter of Sven", thread="dm-lena", key="secret")
    team.add("15 December it is", role="Lena", thread="dm-lena", id="m1")
    team.sessions.end(session.id, "success")
    return team


@pytest.fixture
def held(memory: Memory) -> UserMemory:
    return private_matter(memory)


def leaks(name: str, asked: Mapping[str, Any], answer: str) -> list[str]:
    """Return what an answer tells of elsewhere: what a call itself named may be repeated."""
    named = str(asked)
    return [secret for secret in SECRETS if secret in answer and secret not in named]


def test_no_tool_of_a_bound_set_tells_what_was_said_elsewhere(held: UserMemory) -> None:
    free, bound_tools = memory_tools(held), memory_tools(held, only=OPEN)
    calls = list(attempts(held))
    assert {name for name, _ in calls} == set(NAMES)
    reading = [one for one in calls if one[0] not in ("forget_memory", "start_session", "add_memory")]
    assert {name for name, asked in reading if leaks(name, asked, free.call(name, asked))} == {
        *(
            "search_memory",
            "get_context",
            "recent_memory",
            "replay_topic",
            "get_facts",
            "list_threads",
            "explain_memory",
        ),
    }
    shown = [(name, asked, bound_tools.call(name, asked)) for name, asked in calls]
    assert [one for one in shown if leaks(*one)] == []
    assert "15 December" in str(held.search(QUESTION, only=["dm-lena"]))  # nothing was erased
    for name, asked in (
        ("search_memory", {"query": "the probation of Mia"}),
        ("get_context", {"message": "how did the probation of Mia end?", "thread": "harbor"}),
        ("recent_memory", {}),
        ("replay_topic", {"topic": ""}),
    ):
        assert "cake" in bound_tools.call(name, asked), name
    with pytest.raises(InvalidInput, match="name at least one thread or channel"):
        memory_tools(held, only=[])


def test_what_a_bound_set_keeps_is_told_by_it_again(held: UserMemory) -> None:
    tools_ = memory_tools(held, only=OPEN)
    asked = tools_.call("add_memory", {"content": "The anchor is green"})
    assert asked == "error: name the `thread`: this memory tells of 'general' and 'harbor' alone"
    tools_.call("add_memory", {"content": "The anchor is green", "thread": "harbor"})
    assert "anchor is green" in tools_.call("search_memory", {"query": "which colour has the anchor?"})
    started = tools_.answer("start_session", {"topic": "the anchor", "thread": "harbor"})
    assert not started.is_error
    session = started.data["session_id"]
    assert not tools_.answer("end_session", {"session_id": session, "outcome": "success"}).is_error
    erased = tools_.call("forget_memory", {"thread": "harbor", "confirm": True})
    assert erased.startswith("thread harbor is erased")


async def resources_and_tools(client: Client, calls: list[tuple[str, dict[str, Any]]], lena: str) -> str:
    """Return all that a client can read of a server: tools, resources and the prompt."""
    answers: list[object] = []
    for name, asked in calls:
        answer = await client.call_tool(name, asked)
        assert leaks(name, asked, str(answer)) == [], name
        answers.append(answer)
    answers.append(await client.list_resources())
    answers.append(await client.get_prompt("use_memory", {"message": QUESTION}))
    for uri in (f"episodic://episode/{lena}", "episodic://thread/dm-lena"):
        with pytest.raises(MCPError) as raised:
            await client.read_resource(uri)
        assert "15 December" not in str(raised.value)
    answers.append(await client.read_resource("episodic://thread/general"))
    return str(answers[-4:])


def check_served(team: UserMemory, connect: Callable[[], Any]) -> None:
    """Hold a server that is bound to two channels to telling nothing else."""
    calls = list(attempts(team))
    lena = next(str(card.episode_id) for card in team.episodes.list() if card.origin == "dm-lena")
    shown: list[str] = []

    async def use() -> None:
        async with connect() as client:
            shown.append(await resources_and_tools(client, calls, lena))

    anyio.run(use)
    assert "cake" in shown[0]
    assert not [secret for secret in SECRETS if secret in shown[0]]


def test_a_bound_server_tells_nothing_else_by_tool_resource_or_prompt(
    memory: Memory, held: UserMemory
) -> None:
    check_served(held, lambda: Client(make_server(memory, budget=16_000, only=OPEN)))


@pytest.mark.parametrize("way", ["standard input and output", "http"])
def test_a_server_that_is_started_bound_tells_nothing_else(tmp_path: Path, way: str) -> None:
    only = [part for name in OPEN for part in ("--only", name)]
    with Memory.open(tmp_path / "memory.db", embedder="hashing") as memory:
        team = private_matter(memory)
        if way == "http":  # the header names whose memory it is, and bounds nothing less
            with listening(tmp_path, *only) as port:
                check_served(team, lambda: over_http(port, USER))
            return
        server = StdioServerParameters(
            command=sys.executable,
            args=command(tmp_path, "--user", USER, *only),
            env=environment(tmp_path),
        )
        check_served(team, lambda: Client(stdio_client(server)))


def test_a_server_is_bound_to_a_name(run: Run) -> None:
    outcome = run("mcp", "--only", " ")
    assert outcome.code == 2
    assert "`only` is empty; give a name" in outcome.err

"""The MCP server, by the official client: in this process, on standard input and output, and over HTTP."""

import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest
from builders.chats import diary, mine
from builders.embedders import TopicEmbedder
from conftest import OpenMemory
from faces.test_tools import NAMES, WRONG, calls, first_episode
from httpx2 import AsyncClient
from mcp.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import MCPError

from episodic_agent import Memory
from episodic_agent.errors import ProviderUnavailable
from episodic_agent.faces.mcp.server import PROMPT, make_server

ROOT = Path(__file__).parents[2]


@pytest.fixture
def told(memory: Memory) -> Memory:
    mine(memory).add(diary())
    mine(memory).flush()
    return memory


def talk_to(memory: Memory, use: Callable[[Client], Any]) -> None:
    async def run() -> None:
        async with Client(make_server(memory, budget=16_000)) as client:
            await use(client)

    anyio.run(run)


def test_the_tools_carry_titles_schemas_and_annotations(told: Memory) -> None:
    async def use(client: Client) -> None:
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        assert list(tools) == NAMES
        assert all(t.title and t.description and t.output_schema for t in tools.values())
        marks = {n: t.annotations for n, t in tools.items()}
        assert [n for n, m in marks.items() if m and m.destructive_hint] == ["forget_memory"]
        writing = [n for n, m in marks.items() if m and not m.read_only_hint]
        assert writing == ["add_memory", "start_session", "end_session", "forget_memory"]
        assert [n for n, m in marks.items() if m and not m.idempotent_hint] == ["add_memory", "start_session"]

    talk_to(told, use)


def test_every_tool_answers_by_its_output_schema(told: Memory) -> None:
    async def use(client: Client) -> None:
        for name, arguments in calls(told):
            result = await client.call_tool(name, arguments)  # the client holds it to the schema
            assert not result.is_error, result
            assert result.structured_content is not None
            assert result.content[0].text.startswith("<recalled-memory>")  # type: ignore[union-attr]
        added = await client.call_tool("add_memory", {"content": "The tap is new"})
        assert set(added.structured_content) == {"observation_id", "thread_id", "added", "state"}
        gone = await client.call_tool("forget_memory", {"episode_id": first_episode(told), "confirm": True})
        assert gone.structured_content["erased"] is True

    talk_to(told, use)


def test_a_client_starts_a_session_and_ends_it(told: Memory) -> None:
    async def use(client: Client) -> None:
        started = await client.call_tool("start_session", {"topic": "The billing migration"})
        assert started.structured_content is not None
        named = started.structured_content
        await client.call_tool("add_memory", {"content": "Invoices are copied.", "thread": named["thread"]})
        ended = await client.call_tool(
            "end_session", {"session_id": named["session_id"], "outcome": "partial", "tools": ["psql"]}
        )
        assert ended.structured_content == {**named, "state": "closed", "outcome": "partial"}
        where = "tool=psql outcome=partial topic~billing"
        story = await client.call_tool("replay_topic", {"topic": "", "where": where})
        assert "Outcome: partial" in story.content[0].text  # type: ignore[union-attr]

    talk_to(told, use)


def test_a_session_on_the_channel_of_a_project_goes_on_from_none_of_another(memory: Memory) -> None:
    async def use(client: Client) -> None:
        continues: dict[str, str | None] = {}
        for number, folder in enumerate(("/home/ana/till", "/home/ana/shop", "/home/ana/till")):
            topic = {"topic": "The billing migration", "channel": folder}
            started = await client.call_tool("start_session", topic)
            assert started.structured_content is not None
            session = started.structured_content
            shown = mine(memory).threads.get(session["thread"]).thread
            assert shown.channels == (folder,)
            line = {"content": "The invoices are copied to billing.", "thread": session["thread"]}
            await client.call_tool("add_memory", line)
            await client.call_tool("end_session", {"session_id": session["session_id"]})
            continues[f"{number} {folder}"] = session["continues"]
        assert [parent is None for parent in continues.values()] == [True, True, False]
        empty = await client.call_tool("start_session", {"topic": "The till", "channel": ""})
        assert empty.is_error

    talk_to(memory, use)


def test_where_nobody_is_named_it_is_the_memory_of_the_only_user(memory: Memory) -> None:
    memory.user("ana").add("We pin httpx to 0.27.2")

    async def use(client: Client) -> None:
        found = await client.call_tool("search_memory", {"query": "which httpx do we pin?"})
        assert "0.27.2" in said(found)
        memory.user("bo").add("Who comes later does not take the memory away")
        await client.call_tool("add_memory", {"content": "We pin pytest to 9", "thread": "work"})

    talk_to(memory, use)
    assert memory.users() == ["ana", "bo"]
    assert len(memory.user("ana").threads.list()) == 2


def test_where_nobody_is_remembered_a_tool_says_whose_memory_it_is(memory: Memory) -> None:
    async def use(client: Client) -> None:
        assert "this is the memory of 'default'" in said(await client.call_tool("recent_memory", {}))
        assert (await client.list_resources()).resources == []
        kept = await client.call_tool("add_memory", {"content": "We pin httpx to 0.27.2"})
        assert "this is the memory of 'default'" in said(kept)
        assert "memory of" not in said(await client.call_tool("recent_memory", {}))

    talk_to(memory, use)
    assert memory.users() == ["default"]


def test_in_an_empty_memory_a_tool_that_looks_for_something_finds_nothing_and_is_no_error(
    memory: Memory,
) -> None:
    asked: dict[str, dict[str, Any]] = {
        **{"search_memory": {"query": "which httpx?"}, "replay_topic": {"topic": "httpx"}},
        **{"get_context": {"message": "hello"}, "recent_memory": {}, "get_facts": {}, "list_threads": {}},
    }

    async def use(client: Client) -> None:
        for name, arguments in asked.items():
            answer = await client.call_tool(name, arguments)  # the client checks it against the schema
            assert not answer.is_error, name
            assert "ana" in said(answer), name

    async def use_served() -> None:
        async with Client(make_server(memory, user_id="ana", budget=16_000)) as client:
            await use(client)

    anyio.run(use_served)


def test_a_user_who_comes_after_the_start_is_the_only_one(memory: Memory) -> None:
    async def use(client: Client) -> None:
        memory.user("ana").add("We pin httpx to 0.27.2")
        assert "0.27.2" in said(await client.call_tool("search_memory", {"query": "which httpx?"}))

    talk_to(memory, use)


def test_where_there_are_several_users_every_call_names_them_and_the_remedy(memory: Memory) -> None:
    for name in ("ana", "bo"):
        memory.user(name).add("We pin httpx to 0.27.2")

    async def use(client: Client) -> None:
        for name, arguments in (("search_memory", {"query": "httpx"}), ("add_memory", {"content": "Hi"})):
            result = await client.call_tool(name, arguments)
            assert result.is_error
            assert "--user NAME" in said(result)
            assert said(result).endswith("there are ana, bo")
        with pytest.raises(MCPError, match="there are ana, bo"):
            await client.list_resources()

    talk_to(memory, use)
    assert memory.users() == ["ana", "bo"]


def said(result: Any) -> str:
    return str(result.content[0].text)


def test_wrong_arguments_are_tool_errors_and_an_unknown_tool_a_protocol_error(told: Memory) -> None:
    async def use(client: Client) -> None:
        for name, cases in WRONG.items():
            for arguments, remedy in cases:
                result = await client.call_tool(name, arguments)
                assert result.is_error
                assert remedy in result.content[0].text  # type: ignore[union-attr]
        with pytest.raises(MCPError, match="no tool"):
            await client.call_tool("make_tea", {})

    talk_to(told, use)


def test_episodes_and_threads_are_resources(told: Memory) -> None:
    async def use(client: Client) -> None:
        results = (await client.list_resources()).resources
        uris = [str(one.uri) for one in results]
        assert f"episodic://episode/{first_episode(told)}" in uris
        assert "episodic://thread/chat" in uris
        for uri in uris:
            read = await client.read_resource(uri)
            assert read.contents[0].text.startswith("<recalled-memory>")  # type: ignore[union-attr]
        templates = (await client.list_resource_templates()).resource_templates
        assert len(templates) == 2
        for wrong in ("episodic://thread/nowhere", "episodic://episode/0123456789abcdef", "episodic://tea"):
            with pytest.raises(MCPError, match="error: no "):
                await client.read_resource(wrong)

    talk_to(told, use)


def test_the_prompt_primes_an_agent_with_what_bears_on_its_message(told: Memory) -> None:
    async def use(client: Client) -> None:
        (prompt,) = (await client.list_prompts()).prompts
        assert prompt.name == PROMPT
        bare = await client.get_prompt(PROMPT)
        assert "episodic memory" in bare.messages[0].content.text  # type: ignore[union-attr]
        primed = await client.get_prompt(PROMPT, {"message": "Is the tap still dripping?"})
        assert "The message to answer: Is the tap" in primed.messages[0].content.text  # type: ignore[union-attr]
        with pytest.raises(MCPError, match="no prompt"):
            await client.get_prompt("tea")

    talk_to(told, use)


def environment(folder: Path) -> dict[str, str]:
    inherited = {k: v for k, v in os.environ.items() if not k.startswith("EPISODIC_")}
    return {**inherited, "EPISODIC_EMBEDDER": "hashing", "PYTHONPATH": str(ROOT / "src"), "HOME": str(folder)}


def command(folder: Path, *more: str) -> list[str]:
    return ["-m", "episodic_agent", "--db", str(folder / "memory.db"), "mcp", *more]


def test_a_client_keeps_and_finds_a_message_over_standard_input_and_output(tmp_path: Path) -> None:
    async def run() -> None:
        server = StdioServerParameters(
            command=sys.executable, args=command(tmp_path, "--user", "ana"), env=environment(tmp_path)
        )
        async with Client(stdio_client(server)) as client:
            await client.call_tool("add_memory", {"content": "The key is under the blue pot"})
            result = await client.call_tool("search_memory", {"query": "where is the key?"})
            assert "blue pot" in result.content[0].text  # type: ignore[union-attr]
            assert (await client.call_tool("search_memory", {})).is_error

    anyio.run(run)
    with Memory.open(tmp_path / "memory.db", embedder="hashing") as memory:
        assert memory.users() == ["ana"]


async def refused(client: Client) -> None:
    """Hold every tool to an answer that names the remedy, whatever is wrong with its arguments."""
    assert [tool.name for tool in (await client.list_tools()).tools] == NAMES == list(WRONG)
    await client.call_tool("add_memory", {"content": "The key is under the blue pot", "thread": "chat"})
    for name, cases in WRONG.items():
        for arguments, remedy in [*cases, ({"user": "bo"}, "takes no argument 'user'")]:
            result = await client.call_tool(name, arguments)
            text = result.content[0].text  # type: ignore[union-attr]
            assert result.is_error, (name, arguments, text)
            assert text.startswith("error: "), text
            assert remedy in text
            assert "\n" not in text
            assert result.structured_content is None
    with pytest.raises(MCPError, match="no tool"):
        await client.call_tool("make_tea", {})
    result = await client.call_tool("search_memory", {"query": "where is the key?"})  # and it is still well
    assert "blue pot" in result.content[0].text  # type: ignore[union-attr]


@pytest.mark.slow  # over HTTP the same is asked of every tool at each run
def test_every_tool_refuses_wrong_arguments_over_standard_input_and_output(tmp_path: Path) -> None:
    async def run() -> None:
        server = StdioServerParameters(
            command=sys.executable, args=command(tmp_path, "--user", "ana"), env=environment(tmp_path)
        )
        async with Client(stdio_client(server)) as client:
            await refused(client)

    anyio.run(run)


@pytest.mark.slow
def test_every_tool_refuses_wrong_arguments_over_http(port: int) -> None:
    async def run() -> None:
        async with over_http(port, "ana") as client:
            await refused(client)

    anyio.run(run)


@pytest.mark.slow
def test_standard_output_holds_nothing_but_the_protocol(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, *command(tmp_path)], env=environment(tmp_path), input="", capture_output=True,
        text=True, timeout=60, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (0, ""), done.stderr


@pytest.fixture(scope="module")
def port(tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    with listening(tmp_path_factory.mktemp("served")) as number:
        yield number


@contextmanager
def listening(folder: Path, *more: str) -> Iterator[int]:
    """Serve a folder's memory over HTTP, and give the port."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        number = int(free.getsockname()[1])
    with subprocess.Popen(
        [sys.executable, *command(folder, "--http", str(number), *more)], env=environment(folder)
    ) as server:
        try:
            _until_it_listens(number, server)
            yield number
        finally:
            server.terminate()


def _until_it_listens(port: int, server: "subprocess.Popen[bytes]") -> None:
    for _ in range(600):
        assert server.poll() is None
        with socket.socket() as trying:
            if trying.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.05)
    raise AssertionError("the server never listened")


@asynccontextmanager
async def over_http(port: int, user: str) -> AsyncIterator[Client]:
    address = f"http://127.0.0.1:{port}/mcp"
    async with (
        AsyncClient(headers={"X-Episodic-User": user}) as http,
        Client(streamable_http_client(address, http_client=http)) as client,
    ):
        yield client


def test_over_http_the_header_names_the_user(port: int) -> None:
    async def run() -> None:
        async with over_http(port, "ana") as ana, over_http(port, "bo") as bo:
            await ana.call_tool("add_memory", {"content": "The key is under the blue pot"})
            await bo.call_tool("add_memory", {"content": "The key is in the red car"})
            result = await ana.call_tool("search_memory", {"query": "where is the key?"})
            text = result.content[0].text  # type: ignore[union-attr]
            assert "blue pot" in text
            assert "red car" not in text
            assert (await ana.call_tool("replay_topic", {"topic": "key", "limit": 99})).is_error

    anyio.run(run)


class Slow(TopicEmbedder):
    """An embedder whose model is loaded beforehand, and then fails or not."""

    def __init__(self, *, broken: bool) -> None:
        super().__init__("tap")
        self.loaded = threading.Event()
        self._broken = broken

    def preload(self) -> None:
        self.loaded.set()
        if self._broken:
            raise ProviderUnavailable("no model; run `episodic models pull`")


@pytest.mark.parametrize("broken", [False, True])
def test_a_local_model_is_loaded_while_the_server_starts(open_memory: OpenMemory, broken: bool) -> None:
    embedder = Slow(broken=broken)
    memory = open_memory(embedder=embedder)
    memory.warm()
    assert embedder.loaded.wait(30)
    mine(memory).add("The tap drips")  # what is wrong with it is told by who uses it
    assert mine(memory).search("the tap").hits

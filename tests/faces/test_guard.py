"""Only this machine is answered, over HTTP and MCP: whatever a browser was made to send is refused."""

import asyncio
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from builders.chats import Clock
from builders.web import LocalClient
from starlette.routing import Route
from starlette.testclient import TestClient
from starlette.types import Message

from episodic_agent import Memory
from episodic_agent.faces.guard import guarded
from episodic_agent.faces.http.app import make_app
from episodic_agent.faces.mcp import serving

OURS = (
    "127.0.0.1", "127.0.0.1:8765", "127.8.9.1:1", "localhost", "localhost:8765", "LOCALHOST:8765", "localhost.",
    "localhost.:8765", "[::1]", "[::1]:8765", "[0:0:0:0:0:0:0:1]:80", "[::ffff:127.0.0.1]:8765",
)  # fmt: skip
OTHERS = (
    "evil.example", "evil.example:8765", "127.0.0.1.evil.example", "127.0.0.1.evil.example:8765",
    "localhost.evil.example", "evil.example.localhost:8765", "127.0.0.1:8765@evil.example", "evil@127.0.0.1",
    "127.0.0.1:evil", "127.0.0.1 evil.example", "0.0.0.0:8765", "10.0.0.1", "::1", "[::1", "[evil.example]", "",
    "169.254.169.254", "[fe80::1]",
)  # fmt: skip
FOREIGN = (
    "null", "https://evil.example", "http://127.0.0.1.evil.example", "http://localhost.evil.example:8765",
    "file://", "chrome-extension://abcdef", "127.0.0.1:8765", "http://[evil", "http://127.0.0.1@evil.example", "",
)  # fmt: skip
PAGES = ("http://127.0.0.1:8765", "http://localhost:3000", "https://LOCALHOST", "http://[::1]:8765")
BODY = {"conversation_id": "ana", "message": {"role": "user", "content": "the tap drips"}}


@pytest.fixture
def opened(empty: Path) -> Callable[[], Memory]:
    return lambda: Memory.open(empty, embedder="hashing", clock=Clock())


@pytest.fixture(scope="module", params=["http", "mcp"])
def client(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    """One for all that is refused: nothing of that comes to the memory."""
    path = tmp_path_factory.mktemp("guarded") / "memory.db"

    def opened() -> Memory:
        return Memory.open(path, embedder="hashing", clock=Clock())

    if request.param == "http":
        with LocalClient(make_app(opened, Clock())) as client:
            yield client
    else:
        with (
            opened() as memory,
            LocalClient(serving.make_app(memory, None, 16_000)) as client,
        ):
            yield client


def paths(client: TestClient, name: str, names: Sequence[str]) -> list[str]:
    """Return a name's share of the routes of either face, and one there is not: together they ask every route."""
    app: Any = client.app
    while not hasattr(app, "routes"):
        app = app._app  # within what guards it
    every = [route.path for route in app.routes if isinstance(route, Route)]
    assert every
    return [*every[names.index(name) :: len(names)], "/nowhere"]


@pytest.mark.parametrize("host", OTHERS)
def test_no_route_answers_a_request_for_another_host(client: TestClient, host: str) -> None:
    for path in paths(client, host, OTHERS):
        for method in ("GET", "POST", "OPTIONS", "HEAD"):
            answer = client.request(method, path, headers={"Host": host})
            assert answer.status_code == 421, (method, path)
            assert answer.headers["content-type"] == "application/problem+json"


@pytest.mark.parametrize("origin", FOREIGN)
def test_no_route_answers_a_page_of_another_site(client: TestClient, origin: str) -> None:
    for path in paths(client, origin, FOREIGN):
        answer = client.post(path, headers={"Origin": origin})
        assert (answer.status_code, answer.headers["content-type"]) == (403, "application/problem+json"), path


@pytest.mark.slow
def test_every_name_of_this_machine_is_answered(client: TestClient) -> None:
    for host in OURS:
        for path in paths(client, host, OURS):
            assert client.put(path, headers={"Host": host}).status_code not in (403, 421), (host, path)
    for page in PAGES:
        for path in paths(client, page, PAGES):
            assert client.put(path, headers={"Origin": page}).status_code not in (403, 421), (page, path)


def test_a_request_that_names_no_host_or_two_is_refused(client: TestClient) -> None:
    async def ask(headers: list[tuple[bytes, bytes]]) -> int:
        answers: list[Message] = []
        scope = {"type": "http", "method": "GET", "path": "/docs", "headers": headers, "query_string": b""}

        async def send(message: Message) -> None:
            answers.append(message)

        await guarded(client.app)(scope, _silence, send)
        return int(answers[0]["status"])

    assert asyncio.run(ask([])) == 421
    both = [(b"host", b"127.0.0.1:8765"), (b"host", b"evil.example")]
    assert (asyncio.run(ask(both)), asyncio.run(ask(both[::-1]))) == (421, 421)


def test_a_message_of_another_site_is_not_kept(opened: Callable[[], Memory]) -> None:
    with LocalClient(make_app(opened, Clock())) as client:
        for headers in ({"Host": "evil.example"}, {"Origin": "https://evil.example"}):
            assert client.post("/api/v0/add_message", json=BODY, headers=headers).status_code in (403, 421)
        assert client.post("/api/v0/recent_memory/raw", json={"conversation_id": "ana"}).json() == []
        detail = client.get("/docs", headers={"Host": "evil.example"}).json()["detail"]
        assert "'evil.example'" in detail
        assert "localhost" in detail


# --- bodies ----------------------------------------------------------------------------------------------


async def _silence() -> Message:
    await asyncio.Event().wait()
    raise AssertionError("nobody sets it")


class Waiting:
    """An application that answers when it is let."""

    def __init__(self) -> None:
        self.entered = asyncio.Semaphore(0)
        self.let = asyncio.Event()

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        await receive()
        self.entered.release()
        await self.let.wait()
        await send({"type": "http.response.start", "status": 204, "headers": []})
        await send({"type": "http.response.body"})


async def _ask(app: Any, receive: Any, length: bytes = b"5") -> tuple[int, dict[bytes, bytes]]:
    answers: list[Message] = []
    headers = [(b"host", b"127.0.0.1"), (b"content-length", length)]
    scope = {"type": "http", "http_version": "1.1", "method": "POST", "path": "/", "headers": headers}

    async def send(message: Message) -> None:
        answers.append(message)

    await app(scope, receive, send)
    return int(answers[0]["status"]), dict(answers[0]["headers"])


async def _hello() -> Message:
    return {"type": "http.request", "body": b"hello", "more_body": False}


def test_only_so_many_bodies_are_held_at_a_time() -> None:
    async def run() -> None:
        inner = Waiting()
        app = guarded(inner, most=2)
        first = [asyncio.create_task(_ask(app, _hello)) for _ in range(2)]
        for _ in first:
            await inner.entered.acquire()
        status, headers = await _ask(app, _hello)
        assert (status, headers[b"retry-after"]) == (503, b"1")
        free = asyncio.create_task(_ask(app, _hello, length=b"0"))  # without a body there is nothing to hold
        await inner.entered.acquire()
        inner.let.set()
        assert [(await one)[0] for one in (*first, free)] == [204] * 3
        assert (await _ask(app, _hello))[0] == 204  # their places are free again

    asyncio.run(run())


def test_who_sends_too_slowly_is_cut_and_holds_no_place() -> None:
    async def run() -> None:
        inner = Waiting()
        inner.let.set()
        app = guarded(inner, most=1, slowest=0.01)
        status, headers = await _ask(app, _silence)
        assert (status, headers[b"connection"]) == (408, b"close")
        assert (await _ask(app, _hello))[0] == 204

    asyncio.run(run())


def test_who_takes_nothing_of_an_answer_is_cut_and_holds_no_place() -> None:
    async def stuck(_: Message) -> None:
        await asyncio.Event().wait()

    async def run() -> None:
        inner = Waiting()
        inner.let.set()
        app = guarded(inner, most=1, slowest=0.01)
        headers = [(b"host", b"127.0.0.1"), (b"content-length", b"5")]
        scope = {"type": "http", "http_version": "1.1", "method": "POST", "path": "/", "headers": headers}
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(app(scope, _hello, stuck), 5)
        assert (await _ask(app, _hello))[0] == 204

    asyncio.run(run())


def test_who_goes_away_while_sending_holds_no_place() -> None:
    async def gone() -> Message:
        return {"type": "http.disconnect"}

    async def run() -> None:
        inner = Waiting()
        inner.let.set()
        app = guarded(inner, most=1)
        with pytest.raises(IndexError):  # nobody is there to be answered
            await _ask(app, gone)
        assert (await _ask(app, _hello))[0] == 204

    asyncio.run(run())

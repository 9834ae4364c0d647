"""Seed 003's HTTP routes, over a real application on a real memory."""

import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, closing, contextmanager, suppress
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx2
import pytest
import schemathesis
from builders.chats import Clock, mine
from builders.commands import Run
from builders.faulty import FaultyStore
from builders.web import LocalClient
from hypothesis import HealthCheck, given, settings
from schemathesis.specs.openapi.checks import positive_data_acceptance
from starlette.testclient import TestClient

from episodic_agent import Memory, wiring
from episodic_agent.engine.recall.searching import Recaller
from episodic_agent.errors import EpisodicError
from episodic_agent.faces.http import serving
from episodic_agent.faces.http.app import make_app

NOW = datetime(2026, 3, 12, 12, tzinfo=UTC)
EPISODE_FIELDS = {
    "id", "conversation_id", "messages", "title", "summary", "stability", "difficulty", "surprise", "start_at",
    "end_at", "created_at", "last_reviewed_at", "consolidated_at",
}  # fmt: skip


LOCAL = {"host": "127.0.0.1"}  # what asks by another name is refused


@pytest.fixture
def opened(empty: Path) -> Callable[[], Memory]:
    return lambda: Memory.open(empty, embedder="hashing", policy="seed-001", clock=Clock(NOW))


@pytest.fixture
def client(opened: Callable[[], Memory]) -> Iterator[TestClient]:
    with LocalClient(make_app(opened, Clock(NOW), largest=20_000)) as client:
        yield client


@pytest.fixture(scope="module")
def refusing(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    """One for all that is refused: none of it is kept."""
    path = tmp_path_factory.mktemp("refusing") / "memory.db"
    with LocalClient(make_app(lambda: Memory.open(path, embedder="hashing"), Clock(NOW))) as client:
        yield client
        assert client.get("/v1/users").json()["items"] == []


def post(client: TestClient, route: str, **body: Any) -> Any:
    return client.post(f"/api/v0/{route}", json=body)


def tell(client: TestClient, text: str, *, days: float = 0, conversation: str = "ana-42", **more: Any) -> str:
    at = (NOW - timedelta(days=days)).isoformat()
    message = {"role": "user", "content": text, "timestamp": at, **more}
    answer = post(client, "add_message", conversation_id=conversation, message=message)
    assert answer.status_code == 200
    assert answer.json()["accepted"] is True
    return str(answer.json()["id"])


def test_a_message_that_was_erased_is_not_accepted_again(client: TestClient) -> None:
    told = tell(client, "The key is under the blue pot", id="m1")
    assert client.delete(f"/v1/users/ana-42/observations/{told}").status_code == 200
    message = {"role": "user", "content": "The key is under the blue pot", "id": "m1"}
    again = post(client, "add_message", conversation_id="ana-42", message=message)
    assert (again.status_code, again.json()) == (200, {"accepted": False, "id": told})


HOME = "I have lived in Lisbon with my sister since 2019."


def furnish(client: TestClient) -> None:
    for n in range(4):
        tell(client, f"I am moving to Lisbon in May, step {n} of the move", days=2, id=f"m{n}")
    tell(client, "The kitchen tap drips again", days=1)
    tell(client, "My sister Clara plays the cello", conversation="bo-7")


def test_a_message_is_kept_once_and_found_again(client: TestClient) -> None:
    furnish(client)
    assert tell(client, "I am moving to Lisbon in May, step 0 of the move", days=2, id="m0") == tell(
        client, "I am moving to Lisbon in May, step 0 of the move", days=2, id="m0"
    )
    for _ in range(100):  # a busy machine cuts a moment after it answered
        asked = {"conversation_id": "ana-42", "query": "moving to Lisbon"}
        answer = post(client, "retrieve_memory/raw", **asked).json()
        first = answer["episodic"][0]
        if len(first["messages"]) == 4:
            break
        time.sleep(0.05)
    assert all("Lisbon" in fact["fact"] for fact in answer["semantic"])
    assert set(first) == EPISODE_FIELDS | {"score"}
    assert [m["content"] for m in first["messages"]] == [
        f"I am moving to Lisbon in May, step {n} of the move" for n in range(4)
    ]
    assert first["conversation_id"] == "ana-42"
    assert first["stability"] > 2.3


@pytest.fixture
def taught(opened: Callable[[], Memory]) -> None:
    """Let the memory know a little of Ana before it is served."""
    with opened() as memory:
        for text in (HOME, "My sister Hannah is a nurse.", "My brother Ben teaches the cello."):
            memory.user("ana-42").add(text, thread="ana-42")
        memory.user("ana-42").flush()
        memory.user("ana-42").facts.consolidate()


def test_facts_are_told_beside_episodes(taught: None, client: TestClient) -> None:
    asked: dict[str, Any] = {"conversation_id": "ana-42", "query": "where do I live?"}
    (fact, *_) = post(client, "retrieve_memory/raw", **asked).json()["semantic"]
    assert set(fact) == {
        "id", "conversation_id", "category", "fact", "keywords", "source_episodic_ids", "valid_at", "invalid_at",
        "score",
    }  # fmt: skip
    assert (fact["conversation_id"], fact["category"]) == ("ana-42", "identity")
    assert fact["fact"] == f'The user: "{HOME}"'
    assert len(fact["source_episodic_ids"]) == 1
    text = post(client, "retrieve_memory", **asked).text
    # no line of a prompt may look like somebody's turn, and whose memory it is goes without saying
    assert text.startswith(f'## Known Facts\n- [identity] "{HOME}" (from 1 episode)\n')
    assert "\n\n## Episodic Memories\n" in text
    assert post(client, "retrieve_memory/raw", **asked, semantic_limit=0).json()["semantic"] == []
    assert post(client, "retrieve_memory/raw", **asked, category="goal").json()["semantic"] == []
    assert post(client, "retrieve_memory/raw", **asked, category="magic").status_code == 400
    for route in ("retrieve_memory", "retrieve_memory/raw"):
        assert post(client, route, **asked, where="mood=good").status_code == 400
    assert post(client, "retrieve_memory/raw", **asked, where="tag=zeppelin").json() == {
        "semantic": [],
        "episodic": [],
    }


def test_a_conversation_hears_nothing_of_another(client: TestClient) -> None:
    furnish(client)
    assert "cello" not in post(client, "retrieve_memory", conversation_id="ana-42", query="cello").text
    assert "cello" in post(client, "retrieve_memory", conversation_id="bo-7", query="cello").text
    assert post(client, "recent_memory/raw", conversation_id="nobody").json() == []
    assert post(client, "retrieve_memory", conversation_id="nobody", query="cello").text == ""


def test_an_answer_without_hits_says_why(client: TestClient) -> None:
    furnish(client)
    for route in ("retrieve_memory", "retrieve_memory/raw"):
        far = "tap quantum chromodynamics lagrangian gluon lepton boson meson quark muon tau gauge lattice spinor"
        far += " parton hyperon kaon pion axion dilaton"
        nothing = post(client, route, conversation_id="ana-42", query=far)
        assert "Lisbon" not in nothing.text
        assert nothing.headers["X-Episodic-Note"].startswith("nothing relevant: confidence 0.")
        result = post(client, route, conversation_id="ana-42", query="moving to Lisbon")
        assert "X-Episodic-Note" not in result.headers


def test_one_user_may_hold_several_conversations(client: TestClient) -> None:
    for conversation, text in (("one", "The cello needs strings"), ("two", "The cello lesson is on Friday")):
        message = {"role": "user", "content": text, "timestamp": NOW.isoformat()}
        post(client, "add_message", user_id="ana", conversation_id=conversation, message=message)
    both = post(client, "recent_memory/raw", user_id="ana").json()
    assert {e["conversation_id"] for e in both} == {"one", "two"}
    item = post(client, "recent_memory/raw", user_id="ana", conversation_id="one").json()
    assert [e["conversation_id"] for e in item] == ["one"]


def test_what_is_suppressed_is_in_no_answer(client: TestClient, opened: Callable[[], Memory]) -> None:
    furnish(client)
    asked = {"query": "when am I moving to Lisbon?", "conversation_id": "ana-42", "detail": "high"}
    assert "step 2" in post(client, "retrieve_memory", **asked).text
    with opened() as memory:
        memory.user("ana-42").episodes.suppress(words="step 2")
    answers = [
        post(client, route, **asked, **narrowed).text
        for route in ("retrieve_memory", "retrieve_memory/raw", "recent_memory", "recent_memory/raw")
        for narrowed in ({}, {"user_id": "ana-42"})
    ]
    assert not [answer for answer in answers if "step 2" in answer]
    with opened() as memory:
        assert "step 2" not in memory.user("ana-42").retrieve(asked["query"], detail="high")
        memory.user("ana-42").episodes.suppress(thread="ana-42")
    assert post(client, "recent_memory/raw", conversation_id="ana-42").json() == []


def test_what_was_declared_of_a_session_is_found_over_http(
    opened: Callable[[], Memory], client: TestClient
) -> None:
    with opened() as memory:
        ana = memory.user("ana-42")
        started = ana.sessions.start(
            "The billing migration", tools=["psql"], timestamp=NOW - timedelta(days=1)
        )
        ana.add("The invoices are copied.", thread=started.thread, timestamp=NOW - timedelta(days=1))
        ana.sessions.end(started.id, "failure", ["roll back"], participants=["Mia"])
        ana.add("The kitchen tap drips.", thread="home", timestamp=NOW)
        ana.flush()
    for where in ("outcome=failure", "tool=psql", "participant=mia", "decision~roll", "topic~billing"):
        listed = post(client, "recent_memory/raw", user_id="ana-42", where=where).json()
        assert [one["title"] for one in listed] == ["The billing migration"], where
        answer = post(client, "retrieve_memory/raw", user_id="ana-42", query="copied invoices", where=where)
        assert [one["title"] for one in answer.json()["episodic"]] == ["The billing migration"], where
    assert "billing" in post(client, "recent_memory", user_id="ana-42", where="tool=psql").text
    assert post(client, "recent_memory/raw", user_id="ana-42", where="tool=vim").json() == []
    assert post(client, "recent_memory", user_id="ana-42", where="mood=good").status_code == 400


def test_recent_memory_is_ordered_by_its_end_and_bounded(client: TestClient) -> None:
    furnish(client)
    for _ in range(300):  # what is embedded in the background is cut a moment later
        recent = post(client, "recent_memory/raw", conversation_id="ana-42").json()
        if len(recent) > 1:
            break
        time.sleep(0.01)
    assert [set(e) for e in recent] == [EPISODE_FIELDS] * 2
    assert "tap" in recent[0]["messages"][0]["content"]
    lately = post(client, "recent_memory/raw", conversation_id="ana-42", days_limit=1.5).json()
    assert len(lately) == 1
    answer = post(client, "recent_memory", conversation_id="ana-42")
    assert answer.headers["content-type"].startswith("text/markdown")
    assert answer.text.startswith("## Recent Memories\n### ")
    assert "**When:** 2026-03-11 12:00 UTC (1 day ago)" in answer.text
    clamped = post(client, "recent_memory/raw", conversation_id="ana-42", limit=1000)
    assert clamped.headers["X-Episodic-Note"] == "limit 1000 was taken as 100"


@pytest.mark.parametrize(
    ("route", "body", "status", "told"),
    [
        ("retrieve_memory", {"conversation_id": "a", "query": "  "}, 400, "query is empty"),
        ("retrieve_memory/raw", {"query": "x"}, 422, "conversation_id or user_id"),
        ("recent_memory", {"limit": "many", "user_id": "a"}, 422, "body.limit: Input should be a valid integer"),
        ("recent_memory", {}, 422, "conversation_id or user_id"),
        ("add_message", {"conversation_id": "a", "message": {"role": "user", "content": " "}}, 400, "empty"),
        ("add_message", {"conversation_id": " ", "message": {"role": "u", "content": "x"}}, 422, "conversation_id"),
        ("add_message", {"conversation_id": "a", "message": {"role": "user", "content": "x", "timestamp": "soon"}}, 400, "cannot read the time"),
        ("add_message", {"conversation_id": "a", "message": {"role": "user", "content": "x", "timestamp": True}}, 422, "timestamp"),
        ("add_message", {"conversation_id": "a", "message": {"role": "user", "content": "x", "id": False}}, 422, "id"),
        ("recent_memory", {"conversation_id": "a", "limit": True}, 422, "limit"),
        ("recent_memory/raw", {"conversation_id": "a", "days_limit": True}, 422, "days_limit"),
        ("retrieve_memory/raw", {"conversation_id": "a", "query": "x", "episodic_limit": True}, 422, "episodic_limit"),
        ("retrieve_memory/raw", {"conversation_id": "nobody", "query": "x", "category": "magic"}, 400, "there are identity"),
        ("retrieve_memory", {"user_id": "nobody", "query": "x", "category": "magic"}, 400, "there are identity"),
        ("retrieve_memory", {"conversation_id": "a", "query": "x", "detail": "all"}, 422, "detail"),
    ],
)  # fmt: skip
def test_wrong_requests_are_answered_with_the_remedy(
    refusing: TestClient, route: str, body: dict[str, Any], status: int, told: str
) -> None:
    answer = post(refusing, route, **body)
    assert answer.status_code == status
    assert answer.headers["content-type"] == "application/problem+json"
    problem = answer.json()
    assert problem["status"] == status
    assert told in problem["detail"]


def test_what_is_too_large_or_nowhere_is_refused(client: TestClient) -> None:
    message = {"role": "user", "content": "x" * 30_000}
    answer = post(client, "add_message", conversation_id="a", message=message)
    assert answer.status_code == 413
    assert "20000 bytes" in answer.json()["detail"]
    chunks = (b"x" * 1000 for _ in range(30))
    assert client.post("/api/v0/add_message", content=chunks).status_code == 413
    assert client.get("/nowhere").json()["status"] == 404
    wrong = client.get("/api/v0/add_message")
    assert (wrong.status_code, wrong.headers["allow"]) == (405, "POST")
    assert "/docs" in wrong.json()["detail"]


@pytest.mark.slow
def test_an_answer_costs_as_many_transactions_however_much_it_holds(tmp_path: Path) -> None:
    clock, stores = Clock(NOW), list[FaultyStore]()

    @contextmanager
    def opened() -> Iterator[Memory]:
        with Memory.open(
            tmp_path / "memory.db", embedder="hashing", policy="seed-001", clock=clock
        ) as memory:
            stores.append(FaultyStore(memory._deps.store))
            memory._deps = replace(memory._deps, store=stores[0])
            memory._works.recaller = Recaller(memory._deps)
            yield memory

    def answered(route: str, limit: int, **body: Any) -> tuple[int, int]:
        before = stores[0].reads
        results = post(client, route, user_id="ana", limit=limit, **body).json()
        return len(results["episodic"] if isinstance(results, dict) else results), stores[0].reads - before

    with LocalClient(make_app(opened, clock)) as client:
        for n in range(8):  # four that end an episode, and four frames
            at = (NOW - timedelta(days=12 if n < 4 else 1)).isoformat()
            message = {"role": "user", "content": f"Moving to Lisbon, {n}", "timestamp": at}
            name = f"c{max(0, n - 4)}"
            post(client, "add_message", conversation_id=name, user_id="ana", message=message)
        for route, body in (
            ("retrieve_memory/raw", {"query": "moving to Lisbon"}),
            ("recent_memory/raw", {}),
        ):
            (number, few), (five, many) = answered(route, 1, **body), answered(route, 5, **body)
            assert (number, five) == (1, 5)
            assert few == many


@pytest.mark.slow
def test_no_answer_names_another_host(client: TestClient) -> None:
    furnish(client)
    answers = [client.get(path) for path in ("/docs", "/openapi.json", "/redoc", "/version", "/nowhere")]
    answers += [
        post(client, route, conversation_id="ana-42", query="moving to Lisbon", limit=3)
        for route in ("retrieve_memory", "retrieve_memory/raw", "recent_memory", "recent_memory/raw", "x")
    ]
    for answer in answers:
        assert re.findall(r"(?:https?:)?//[\w-]+\.", answer.text) == []
        assert "<script" not in answer.text
    page = answers[0]
    assert (page.status_code, page.headers["content-type"]) == (200, "text/html; charset=utf-8")
    for path in answers[1].json()["paths"]:
        assert path in page.text
    assert "where is Ana moving?" in page.text  # with the examples
    assert page.headers["content-security-policy"].startswith("default-src 'none'")


def test_the_server_tells_how_it_is(client: TestClient) -> None:
    assert client.get("/health/live").json() == client.get("/health/ready").json() == {"status": "ok"}
    assert client.get("/version").status_code == 200
    paths = list(client.get("/openapi.json").json()["paths"])
    assert paths[0].startswith("/v1/")  # /docs opens with what is used today
    assert {p for p in paths if p.startswith("/api")} == set(paths[-5:])
    assert {p for p in paths if p.startswith("/api")} == {
        f"/api/v0/{route}"
        for route in (
            "add_message",
            "retrieve_memory",
            "retrieve_memory/raw",
            "recent_memory",
            "recent_memory/raw",
        )
    }


@pytest.mark.slow
def test_no_request_makes_the_server_fail(client: TestClient) -> None:
    schema = schemathesis.openapi.from_asgi("/openapi.json", client.app, headers=LOCAL)
    furnish(client)
    for result in schema.get_all_operations():
        operation = result.ok()
        if operation.path.endswith("/events"):
            continue  # told for as long as somebody listens

        @given(case=operation.as_strategy())
        @settings(max_examples=8, deadline=None, suppress_health_check=list(HealthCheck))
        def holds(case: Any) -> None:
            case.call_and_validate(session=client, headers=LOCAL, excluded_checks=[positive_data_acceptance])

        holds()


@pytest.mark.slow
def test_the_command_serves_until_it_is_told_to_stop(tmp_path: Path) -> None:
    with closing(socket.socket()) as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [
        sys.executable,
        "-m",
        "episodic_agent",
        "--db",
        str(tmp_path / "m.db"),
        "--embedder",
        "hashing",
    ]
    with subprocess.Popen([*command, "serve", "--port", str(port)], stderr=subprocess.PIPE) as server:
        assert server.stderr is not None
        assert f"http://127.0.0.1:{port}".encode() in server.stderr.readline()
        with httpx2.Client(base_url=f"http://127.0.0.1:{port}", timeout=10) as client:
            _until_it_answers(client)
            message = {"role": "user", "content": "The kitchen tap drips"}
            body = {"conversation_id": "ana", "message": message}
            assert client.post("/api/v0/add_message", json=body).json()["accepted"]
            result = client.post("/api/v0/recent_memory", json={"conversation_id": "ana"})
            assert "tap drips" in result.text
        server.terminate()
        assert server.wait(timeout=20) in (0, -signal.SIGTERM)
    with Memory.open(tmp_path / "m.db", embedder="hashing") as memory:
        assert memory.user("ana").stats().observations == 1


def _until_it_answers(client: httpx2.Client) -> None:
    for _ in range(100):
        with suppress(httpx2.TransportError):
            if client.get("/health/ready").status_code == 200:
                return
        time.sleep(0.1)
    raise AssertionError("the server never answered")


def test_the_command_opens_the_memory_once(run: Run, database: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    texts = list[str]()

    def serve(
        opened: Callable[[], AbstractContextManager[Memory]], host: str, port: int, **_: object
    ) -> None:
        with opened() as memory:
            texts.append(f"{host}:{port}")
            mine(memory).add("The kitchen tap drips")
        with pytest.raises(EpisodicError):
            mine(memory).stats()  # whoever serves has closed it

    opened: list[object] = []
    usual = wiring.Memory.open
    monkeypatch.setattr(wiring.Memory, "open", lambda *a, **b: opened.append(a) or usual(*a, **b))
    monkeypatch.setattr(serving, "serve", serve)
    done = run("serve", "--port", "0")
    assert (done.code, texts, len(opened)) == (0, ["127.0.0.1:0"], 1)
    assert "serving" in done.err


def test_only_this_machine_is_served_without_keys(run: Run) -> None:
    refused = run("serve", "--host", "0.0.0.0")
    assert refused.code == 2
    assert "127.0.0.1" in refused.err


def test_it_knows_nobody_where_no_space_that_is_served_holds_anybody(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    def serve(opened: Callable[[], AbstractContextManager[Memory]], *_: object, **__: object) -> None:
        with opened():
            pass

    monkeypatch.setattr(serving, "serve", serve)

    def told() -> str:
        return run("serve", "--port", "0").err.partition(";")[0]

    assert told().endswith("for this machine only, and knows nobody yet")
    run("keys", "create", "--role", "read", "--space", "bici")
    assert told().endswith("for whoever holds a key, and knows nobody yet")
    monkeypatch.setenv("EPISODIC_SPACE", "otra")
    run("add", "My boat is green", "--user", "bo")
    monkeypatch.delenv("EPISODIC_SPACE")
    assert told().endswith("for whoever holds a key, and knows nobody yet")  # no key opens that space
    monkeypatch.setenv("EPISODIC_SPACE", "bici")
    run("add", "My boat is green", "--user", "jordi")
    monkeypatch.delenv("EPISODIC_SPACE")
    assert told().endswith("for whoever holds a key")

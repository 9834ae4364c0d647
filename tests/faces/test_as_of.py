"""A memory as of a moment through each face: one word, the same answers, and nothing is changed by it."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

import httpx2
import pytest
from builders.chats import LISBON, TAP, USER, Clock, mine, talk
from builders.commands import Run
from builders.web import LocalClient
from starlette.testclient import TestClient

from episodic_agent import Memory
from episodic_agent.engine.user import UserMemory
from episodic_agent.errors import InvalidInput
from episodic_agent.faces.client.client import Client
from episodic_agent.faces.http.app import make_app
from episodic_agent.faces.verbs import OF_USER
from episodic_agent.schemas.keys import Role

ANA = f"/v1/users/{USER}"
FIRST = datetime(2026, 3, 1, 12, tzinfo=UTC)
THEN, LATER = "2026-03-01T13:00:00Z", FIRST + timedelta(days=2)


@contextmanager
def learned(path: Path) -> Iterator[Memory]:
    """Open a memory that learned of the tap on the first of March, and of the trip two days later."""
    clock = Clock(FIRST)
    with Memory.open(path, embedder="hashing", policy="seed-001", clock=clock) as opened:
        user = mine(opened)
        user.add(talk(TAP, 0), thread="tap")
        user.add("I live in Porto now.", thread="me", timestamp=FIRST)
        user.flush()
        clock.now = LATER
        user.add(talk(LISBON, 1), thread="trip")
        user.add("I live in Lisbon now.", thread="me", timestamp=LATER)
        user.flush()
        yield opened


@pytest.fixture
def memory(database: Path) -> Iterator[Memory]:
    with learned(database) as opened:
        yield opened


@contextmanager
def on_web(path: Path) -> Iterator[TestClient]:
    def opened() -> Memory:
        return Memory.open(path, embedder="hashing", policy="seed-001", clock=Clock(LATER))

    with LocalClient(make_app(opened, Clock(LATER))) as client:
        yield client


@pytest.fixture
def web(memory: Memory, database: Path) -> Iterator[TestClient]:
    with on_web(database) as client:
        yield client


@pytest.fixture(scope="module")
def refusing(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    """One for all that is refused: it changes nothing, as each of its tests asks."""
    path = tmp_path_factory.mktemp("refusing") / "memory.db"
    with learned(path), on_web(path) as client:
        yield client


def test_each_reading_command_tells_what_was_known_then(run: Run, memory: Memory) -> None:
    past = ("--as-of", THEN)
    assert {one["name"] for one in json.loads(run("threads", "--json").out)} == {"tap", "me", "trip"}
    assert {one["name"] for one in json.loads(run("threads", *past, "--json").out)} == {"tap", "me"}
    assert "Porto" in run("facts", "list", *past).out
    assert "Lisbon" not in run("facts", "list", *past).out
    assert "Lisbon" in run("facts", "list").out
    assert {card["origin"] for card in run("episodes", *past, "--json").json["episodes"]} == {"tap", "me"}
    assert "Lisbon" not in run("search", "where do we fly to?", *past).out
    assert "Lisbon" not in run("context", "where do we fly to?", *past).out
    assert run("stats", *past, "--json").json["observations"] == len(TAP) + 1
    later = next(card for card in mine(memory).episodes.list() if card.origin == "trip")
    assert run("show", str(later.episode_id), *past).code == 3


def test_a_moment_that_is_none_or_too_early_or_to_come_is_refused_in_one_line(
    run: Run, memory: Memory
) -> None:
    wrong = run("search", "the tap", "--as-of", "yesterday-ish")
    assert wrong.code == 2
    assert "cannot read the time 'yesterday-ish'" in wrong.error
    assert "still to come" in run("search", "the tap", "--as-of", "2199-01-01").error
    early = run("search", "the tap", "--as-of", "2001-01-01")
    assert early.code == 3
    assert "nothing was remembered" in early.error
    context = run("context", "the tap?", "--as-of", "2001-01-01")
    assert (context.code, context.out.strip()) == (0, "Current question: the tap?")
    assert f"nothing was known of {USER!r} before 2001-01-01 00:00 UTC; give a later moment" in context.err
    assert "not when it was said" in context.err
    assert "Porto" in run("facts", "--as-of", THEN).out, "a listing needs no word `list`"
    asking = run("search", "the tap", "--as-of", THEN, "--asking", "tap")
    assert asking.code == 0, "it is answered; a past has nothing to be reviewed"
    assert run("add", "more", "--as-of", THEN).code == 2  # no command that writes has the option


def test_every_route_that_reads_a_memory_takes_the_moment(web: TestClient) -> None:
    past = {"as_of": THEN}
    threads = web.get(f"{ANA}/threads", params=past).json()["items"]
    assert {one["origin"] for one in threads} == {"tap", "me"}
    assert {one["origin"] for one in web.get(f"{ANA}/threads").json()["items"]} == {"tap", "me", "trip"}
    found = web.post(f"{ANA}/search", params=past, json={"query": "where do we fly to?"}).json()
    assert "Lisbon" not in json.dumps(found)
    told = web.post(f"{ANA}/context", params=past, json={"message": "where do we fly to?"}).json()
    assert "Lisbon" not in json.dumps(told)
    assert [f["fact"] for f in web.get(f"{ANA}/facts", params=past).json()["items"]] != []
    assert "Lisbon" not in web.get(f"{ANA}/facts", params=past).text
    assert "Lisbon" not in web.get(f"{ANA}/export", params=past).text
    written = [one["at"] for one in web.get(f"{ANA}/audit", params={**past, "limit": 200}).json()["items"]]
    assert written
    assert all(datetime.fromisoformat(at) < LATER for at in written)
    assert len(written) < len(web.get(f"{ANA}/audit", params={"limit": 200}).json()["items"])
    document = web.get("/openapi.json").json()["paths"]
    for row in OF_USER:
        asked = document[f"/v1/users/{{user}}{row.path}"][row.method.lower()].get("parameters", [])
        takes = any(one["name"] == "as_of" and one["in"] == "query" for one in asked)
        reads = row.role is Role.READ or row.method == "GET"
        assert takes == (reads and not row.now_only), row.path


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("POST", "/messages"),
        ("POST", "/flush"),
        ("GET", "/jobs"),
        ("DELETE", "/threads/tap"),
        ("POST", "/upkeep"),
    ],
)
def test_what_changes_a_memory_or_has_no_past_refuses_the_moment(
    refusing: TestClient, method: str, path: str
) -> None:
    before = refusing.get(f"{ANA}/stats").json()
    body = {"messages": [{"content": "more"}]} if path == "/messages" else {}
    answer = refusing.request(
        method, f"{ANA}{path}", params={"as_of": THEN}, json=body if method == "POST" else None
    )
    assert answer.status_code in (400, 422)
    assert "as_of" in answer.json()["detail"]
    assert refusing.get(f"{ANA}/stats").json() == before


def test_the_client_reads_the_past_as_the_handle_does(memory: Memory, web: TestClient) -> None:
    def send(request: httpx2.Request) -> httpx2.Response:
        answer = web.request(
            request.method, str(request.url), content=request.content, headers=dict(request.headers)
        )
        return httpx2.Response(answer.status_code, content=answer.content, headers=dict(answer.headers))

    with Client("http://127.0.0.1", transport=httpx2.MockTransport(send)) as client:
        there, here = client.user(USER).as_of(THEN), mine(memory).as_of(THEN)
        assert isinstance(here, UserMemory)
        for question in ("where do we fly to?", "what is wrong with the tap?"):
            hits = [(hit.episode_id, hit.score) for hit in here.search(question).hits]
            assert [(hit.episode_id, hit.score) for hit in there.search(question).hits] == hits
        assert [*there.facts.list()] == [*here.facts.list()]
        assert [*there.threads.list()] == [*here.threads.list()]
        assert [card.origin for card in there.episodes.list()] == [c.origin for c in here.episodes.list()]
        with pytest.raises(InvalidInput, match="leave it out"):
            there.add("more")

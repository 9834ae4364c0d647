"""`GET /v1/users/{user}/events`: what is new is told as it comes, once, and goes on behind `Last-Event-ID`."""

import http.client
import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from builders.chats import LISBON, TAP, Clock, talk
from builders.dashboard import served
from builders.links import link_decision

from episodic_agent import Memory
from episodic_agent.errors import InvalidInput
from episodic_agent.faces.http.v1 import events
from episodic_agent.faces.http.v1.events import EventCursor, read_event_id

NOW = datetime(2024, 6, 1, 12, tzinfo=UTC)
EVENTS = "/v1/users/ana/events"


class Ticking(Clock):
    """A clock that is a millisecond further each time somebody looks."""

    def __call__(self) -> datetime:
        self.forward(milliseconds=1)
        return self.now


class Listener:
    """One connection that hears a user's events."""

    def __init__(self, url: str, **headers: str) -> None:
        self._connection = http.client.HTTPConnection(urlsplit(url).netloc, timeout=30)
        self._connection.request("GET", EVENTS, headers={k.replace("_", "-"): v for k, v in headers.items()})
        self.answer = self._connection.getresponse()

    def next(self, *kinds: str) -> dict[str, Any]:
        """Return the next event of these kinds, waiting for it."""
        event: dict[str, Any] = {}
        while True:
            line = self.answer.readline().decode().rstrip("\n")
            if not line and event.get("event") in kinds:
                return {**event, "data": json.loads(event["data"])}
            if not line:
                event = {}
            name, _, value = line.partition(": ")
            event[name] = value

    def close(self) -> None:
        self._connection.close()


@contextmanager
def listening(url: str, **headers: str) -> Iterator[Listener]:
    listener = Listener(url, **headers)
    yield listener
    listener.close()


def send(url: str, method: str, path: str, body: Any = None, **headers: str) -> Any:
    connection = http.client.HTTPConnection(urlsplit(url).netloc, timeout=60)
    connection.request(method, path, json.dumps(body), {"Content-Type": "application/json", **headers})
    answer = connection.getresponse().read()
    connection.close()
    return json.loads(answer)


@pytest.fixture
def opened(tmp_path: Path) -> Callable[[], Memory]:
    clock = Ticking(NOW)
    return lambda: Memory.open(tmp_path / "memory.db", embedder="hashing", policy="seed-001", clock=clock)


@pytest.fixture
def url(opened: Callable[[], Memory], monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    monkeypatch.setattr(events, "EVERY", 0.05)
    with opened() as memory:
        memory.user("ana").add(talk(TAP, 0))
        memory.user("ana").flush()
    with served(opened, Clock(NOW)) as url:
        yield url


def test_an_episode_is_told_when_it_closes_and_nothing_of_before(url: str) -> None:
    with listening(url) as ana:
        assert ana.answer.getheader("content-type", "").startswith("text/event-stream")
        send(url, "POST", "/v1/users/ana/messages?wait=true", {"messages": talk(LISBON, 2)})
        send(url, "POST", "/v1/users/ana/flush", {})
        told = ana.next("episode")
        assert told["data"]["episode"]["first_seq"] == 4
        assert told["data"]["decision"]["type"] == "boundary"
        assert told["data"]["decision"]["subject"] == told["data"]["episode"]["id"]


def test_how_many_messages_there_are_is_told(url: str) -> None:
    with listening(url) as ana:
        send(url, "POST", "/v1/users/ana/messages?wait=true", {"messages": talk(LISBON, 2)})
        assert ana.next("messages")["data"] == {"observations": 8}


def test_who_comes_back_hears_what_was_missed_and_no_event_twice(url: str) -> None:
    send(url, "POST", "/v1/users/ana/messages?wait=true", {"messages": talk(LISBON, 2)})
    with listening(url) as ana:
        send(url, "POST", "/v1/users/ana/flush", {})
        first = ana.next("episode")
    send(url, "PATCH", f"/v1/users/ana/episodes/{first['data']['episode']['id']}", {"title": "Lisbon"})
    send(url, "POST", "/v1/users/ana/threads/chat/resegment", {"join": 4})
    with listening(url, Last_Event_ID=first["id"]) as ana:
        seen = [ana.next("episode", "decision") for _ in range(2)]
    assert first["id"] not in {one["id"] for one in seen}
    before = read_event_id(first["id"])
    assert all(read_event_id(one["id"]) > before for one in seen)


def test_an_id_that_is_none_and_a_user_nobody_knows_are_refused(url: str) -> None:
    with listening(url, Last_Event_ID="yesterday") as ana:
        assert ana.answer.status == 400
        assert "is the id of no event" in ana.answer.read().decode()
    assert send(url, "GET", "/v1/users/nobody/events")["status"] == 404


def test_with_keys_the_stream_asks_for_one_and_ends_when_it_is_revoked(
    url: str, opened: Callable[[], Memory]
) -> None:
    with opened() as memory:
        made = memory.keys.create(role="read")
    with listening(url, Authorization="Bearer ek_x_y") as ana:
        assert ana.answer.status == 401
    with listening(url, Authorization=f"Bearer {made.token}") as ana:
        assert ana.answer.status == 200
        with opened() as memory:
            memory.keys.revoke(made.key.id)
        assert ana.answer.read().decode().startswith("retry:")  # to its end


def test_what_was_committed_late_is_told_once() -> None:
    early, late = (link_decision(name, 0.8, at=NOW + timedelta(seconds=n)) for n, name in enumerate("ab"))
    cursor = EventCursor()
    assert cursor.unheard([late], None) == [late]
    assert cursor.unheard([early, late], None) == [early]  # it began before, and was committed after
    assert cursor.unheard([early, late], None) == []
    assert cursor.unheard([early], (late.at, late.id.bytes)) == []
    with pytest.raises(InvalidInput):
        read_event_id("2024-01-01T00:00:00+00:00_x")

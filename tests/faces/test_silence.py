"""Where a memory is served, silence ends what is open: nobody has to add anything, or to call `upkeep`."""

import threading
import time
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from builders.chats import NOW, Clock, mine, say
from builders.web import LocalClient
from starlette.testclient import TestClient

from episodic_agent import Memory
from episodic_agent.engine.jobs import background
from episodic_agent.engine.jobs.background import sweep
from episodic_agent.errors import InvalidInput, StoreUnavailable
from episodic_agent.faces.http.app import make_app
from episodic_agent.schemas import Scope
from episodic_agent.stores.sqlite import erasing

SAID = (
    ("user", "I have lived in Lisbon with my sister since 2019."),
    ("assistant", "Lisbon sounds lovely."),
    ("user", "I work as a nurse at the clinic on the hill."),
)


def until(holds: Callable[[], Any]) -> Any:
    """Wait, at most half a minute, until something holds, and return it."""
    for _ in range(3000):
        if result := holds():
            return result
        time.sleep(0.01)
    raise AssertionError("it never came")


@pytest.fixture
def client(url: str, clock: Clock, monkeypatch: pytest.MonkeyPatch) -> Iterator[TestClient]:
    monkeypatch.setattr(background, "SWEEP", 0.02)
    app = make_app(lambda: Memory.open(url, embedder="hashing", policy="default", clock=clock), clock)
    with LocalClient(app) as client:
        yield client


def ask(client: TestClient, route: str, **body: Any) -> Any:
    answer = client.post(f"/api/v0/{route}", json={"conversation_id": "ana", **body})
    assert answer.status_code == 200, answer.text
    return answer.json()


@pytest.mark.slow
def test_a_named_conversation_that_falls_silent_is_closed_told_and_learnt_from(
    client: TestClient, clock: Clock
) -> None:
    for minute, (role, text) in enumerate(SAID):
        at = (clock() + timedelta(minutes=minute - 5)).isoformat()
        ask(client, "add_message", message={"role": role, "content": text, "timestamp": at})
    (opened,) = ask(client, "recent_memory/raw")
    assert (len(opened["messages"]), opened["consolidated_at"]) == (3, None)
    assert "Lisbon" in opened["summary"]  # what is open has words, too
    clock.forward(hours=8)
    (closed,) = until(
        lambda: [one for one in ask(client, "recent_memory/raw") if one["consolidated_at"] is not None]
    )
    assert closed["title"]
    assert closed["summary"]
    facts = ask(client, "retrieve_memory/raw", query="where do I live?")["semantic"]
    assert "Lisbon" in facts[0]["fact"]


def test_a_conversation_that_goes_on_is_left_open(client: TestClient, clock: Clock) -> None:
    clock.forward(hours=8)
    ask(client, "add_message", message={"role": "user", "content": "the tap drips"})
    swept = threading.Event()
    swept.wait(0.2)
    (opened,) = ask(client, "recent_memory/raw")
    assert (opened["summary"], opened["consolidated_at"]) == ("The user said: the tap drips.", None)


def test_a_memory_that_is_never_left_alone_for_a_minute_is_swept_too(
    url: str, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(background, "SWEEP", 3600.0)  # the thread is only ever woken
    with Memory.open(url, embedder="none", policy="default", clock=clock) as memory:
        mine(memory).add("the tap drips", thread="silent", timestamp=NOW)
        clock.forward(hours=8)

        def is_closed() -> bool:
            mine(memory).add("somebody is always talking", thread="loud", wait=False)
            return mine(memory).episodes.list(thread="silent")[0].state != "open"

        until(is_closed)


def test_several_processes_that_sweep_close_a_conversation_once(url: str, clock: Clock) -> None:
    memories = [Memory.open(url, embedder="none", policy="default", clock=clock) for _ in range(2)]
    mine(memories[0]).add([say("the tap drips", 0), say("it drips still", 1)], thread="tap")
    clock.forward(hours=8)
    closed: list[int] = []
    threads = [threading.Thread(target=lambda m=m: closed.append(m.upkeep())) for m in memories]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sum(closed) == 1
    assert [card.observations for card in mine(memories[1]).episodes.list()] == [2]
    for memory in memories:
        memory.close()


def test_upkeep_learns_facts_from_what_ended_long_ago_though_little_waits(url: str, clock: Clock) -> None:
    with Memory.open(url, embedder="none", policy="default", clock=clock) as memory:
        mine(memory).add([say(text, minute, role) for minute, (role, text) in enumerate(SAID)])
        clock.forward(hours=8)
        assert memory.upkeep() == 1
        assert any("Lisbon" in card.fact.fact for card in mine(memory).facts.list())


def test_an_erasure_that_a_reader_held_up_ends_by_itself_when_the_reader_has_gone(
    database: Path, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(erasing, "_PATIENCE", timedelta(seconds=0.05))
    monkeypatch.setattr(background, "SWEEP", 0.02)
    with Memory.open(database, embedder="none", policy="default", clock=clock) as memory:
        mine(memory).add("the code of the safe is 4711")
        with memory._deps.store.begin(Scope(), write=False) as tx:
            assert tx.count("observations")
            assert mine(memory).erase(everything=True).state == "pending"
        assert memory.users() == []
        until(lambda: memory.erasures()[0].is_done)
        assert b"4711" not in database.read_bytes()


def test_what_is_wrong_with_one_user_leaves_the_others_their_sweep() -> None:
    texts: list[str] = []

    def keep_up(scope: Scope) -> int:
        if scope.user_id == "bad":
            raise InvalidInput("a broken policy")
        return 1

    scopes = [Scope("ana"), Scope("bad"), Scope("cy")]
    assert sweep(scopes, keep_up, lambda: False, texts.append) == 2
    assert texts == ["threads of bad in default stay open for now: a broken policy"]
    assert sweep(scopes, keep_up, lambda: True, texts.append) == 0

    def away(scope: Scope) -> int:
        raise StoreUnavailable("away")

    with pytest.raises(StoreUnavailable):
        sweep(scopes, away, lambda: False, texts.append)


def test_a_memory_opened_to_go_on_keeps_up_though_nothing_waited(
    url: str, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    def opened(at: datetime | None = None, **how: Any) -> Memory:
        return Memory.open(url, embedder="none", policy="default", clock=clock, **how)

    with opened(resume=False) as memory:
        mine(memory).add("the tap drips", thread="tap", timestamp=NOW)
        assert memory.jobs.list() == [] or memory.jobs.run() >= 0
    clock.forward(hours=8)
    monkeypatch.setattr(background, "SWEEP", 0.02)
    with opened() as memory:
        until(lambda: mine(memory).episodes.list()[0].state != "open")

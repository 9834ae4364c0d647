"""Deleting over HTTP while a long message of the same user is being embedded: neither waits for the other."""

import threading
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from builders.web import LocalClient
from starlette.testclient import TestClient

from episodic_agent import Memory
from episodic_agent.faces.http.app import make_app
from episodic_agent.protocols import OBSERVATIONS, ref_of
from episodic_agent.providers.embedders.hashing import HashingEmbedder
from episodic_agent.schemas import Scope, Vector
from episodic_agent.wiring import utc_now

LOG = " ".join(f"valve{n % 701} pressure{n % 211}" for n in range(9000))  # many groups of pieces
AT_ONCE = 5.0  # seconds, of a deletion that takes tenths
ANA = "/v1/users/ana"


class Gated(HashingEmbedder):
    """Stands still in the first group of pieces of the log until it is let go; counts the groups."""

    def __init__(self) -> None:
        super().__init__()
        self.reached, self.open = threading.Event(), threading.Event()
        self.groups = 0

    def embed(self, texts: Sequence[str]) -> Vector:
        if len(texts) > 1 and "valve" in texts[0]:
            self.groups += 1
            self.reached.set()
            assert self.open.wait(60)
        return super().embed(texts)


@pytest.fixture
def embedder() -> Gated:
    return Gated()


@pytest.fixture
def memory(empty: Path, embedder: Gated) -> Iterator[Memory]:
    with Memory.open(empty, embedder=embedder, policy="seed-001") as memory:
        yield memory


@pytest.fixture
def client(memory: Memory, embedder: Gated) -> Iterator[TestClient]:
    with LocalClient(make_app(lambda: memory, utc_now)) as client:
        yield client
        embedder.open.set()  # the application ends when its work does


def upload(client: TestClient, embedder: Gated) -> None:
    body = {"messages": [{"content": LOG, "id": "log"}], "thread": "boiler"}
    assert client.post(f"{ANA}/messages", json=body).status_code == 202
    assert embedder.reached.wait(30)


def delete(client: TestClient, embedder: Gated, path: str) -> float:
    """Delete while the job stands still, and let it go in the end, answered or not; return the seconds."""
    giving_up = threading.Timer(2 * AT_ONCE, embedder.open.set)
    giving_up.start()
    begun = time.monotonic()
    answer = client.delete(path)
    took = time.monotonic() - begun
    giving_up.cancel()
    assert (answer.status_code, answer.json()["state"]) == (200, "done")
    return took


def test_a_user_is_deleted_at_once_while_a_long_message_is_embedded(
    client: TestClient, memory: Memory, embedder: Gated
) -> None:
    upload(client, embedder)
    assert delete(client, embedder, ANA) < AT_ONCE
    groups = embedder.groups
    # whoever comes back has the places of what was erased
    again = {"messages": [{"content": "The boiler is new", "id": "new"}], "thread": "boiler"}
    assert client.post(f"{ANA}/messages", json=again).status_code == 202
    embedder.open.set()
    client.post(f"{ANA}/flush")
    memory.jobs.run()
    deadline = time.monotonic() + 30
    while memory.jobs.counts()["leased"] and time.monotonic() < deadline:
        time.sleep(0.02)
    assert embedder.groups == groups  # the rest of the log was left alone
    with memory._deps.store.begin(Scope("ana"), write=False) as tx:
        (thread,) = tx.threads.list()
        ref = ref_of(tx.threads.number(thread.id), 0)
        vectors = tx.index.vectors(OBSERVATIONS, embedder.name, [ref], every=True)
    assert [len(rows) for rows in vectors.values()] == [1]  # and not those of the log's pieces


@pytest.mark.parametrize("path", ["threads/boiler", "observations/letter"])
def test_what_is_deleted_beside_a_long_message_waits_for_no_piece_of_it(
    client: TestClient, embedder: Gated, path: str
) -> None:
    other = {"messages": [{"content": "My letter of last week", "id": "letter"}], "thread": "post"}
    client.post(f"{ANA}/messages", params={"wait": True}, json=other)
    upload(client, embedder)
    assert delete(client, embedder, f"{ANA}/{path}") < AT_ONCE

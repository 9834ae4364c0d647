"""The service on a server's database: which login it takes, and what it answers once the schema is another."""

from collections.abc import Callable, Iterator
from functools import partial

import pytest
from builders.commands import Run
from builders.web import LocalClient
from starlette.testclient import TestClient
from stores.postgres_server import connect

from episodic_agent import Memory
from episodic_agent.faces.cli import serving
from episodic_agent.faces.http.app import make_app
from episodic_agent.stores.migrations import Migration
from episodic_agent.stores.postgres.server.connection import PostgresConnections, PostgresOptions
from episodic_agent.stores.postgres.server.migrate import shipped_migrations
from episodic_agent.wiring import utc_now

NEWER = Migration(shipped_migrations()[-1].version + 1, "words", "ALTER TABLE observation RENAME TO message")


@pytest.fixture
def worker(login: Callable[..., str]) -> str:
    return login("worker", worker=True)


@pytest.fixture
def client(worker: str) -> Iterator[TestClient]:
    opened = partial(Memory.open, worker, embedder="none", resume=False)
    with LocalClient(make_app(opened, utc_now)) as client:
        yield client


def test_a_service_is_ready_with_the_login_it_is_told_to_have(client: TestClient) -> None:
    for path in ("/readyz", "/health/ready"):
        assert (client.get(path).status_code, client.get(path).json()) == (200, {"status": "ok"})
    kept = client.post("/v1/users/ana/messages", json={"messages": [{"content": "The tap drips"}]})
    assert kept.status_code == 202


@pytest.mark.parametrize("worker", [True, False])
def test_a_quick_look_needs_no_more_than_any_login_may(login: Callable[..., str], worker: bool) -> None:
    with Memory.open(login("looks", worker=worker), embedder="none", resume=False) as memory:
        assert memory.doctor(quick=True) == []
        assert memory.doctor() == []


def test_a_login_that_may_not_read_keys_does_not_serve(
    run: Run, login: Callable[..., str], worker: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Serving:
        def __getattr__(self, name: str) -> object:
            raise AssertionError(f"it went on to serve ({name})")

    monkeypatch.setattr(serving, "_http", Serving)
    assert run("keys", "create", "--role", "write", db=worker).code == 0
    api = login("api")
    refused = run("serve", "--port", "0", db=api)
    assert refused.code == 5
    assert "keys cannot be looked at, so nothing is served" in refused.error
    assert "`episodic admin init-db --worker-login api_" in refused.error


def test_a_program_older_than_the_schema_says_so_and_is_not_ready(
    client: TestClient, postgres_url: str
) -> None:
    said = {"messages": [{"content": "The tap drips"}]}
    assert client.post("/v1/users/ana/messages", json=said).status_code == 202
    newer = [*shipped_migrations(), NEWER]
    PostgresConnections(postgres_url, PostgresOptions(), migrations=newer).close()
    answer = client.post("/v1/users/ana/search", json={"query": "what drips?"})
    assert answer.status_code == 503
    assert (
        "a newer version's `init-db` ran since it began; start the newer version" in answer.json()["detail"]
    )
    ready = client.get("/readyz")
    assert ready.status_code == 503
    assert f"was written by a newer version (schema {NEWER.version}" in ready.json()["detail"]


def test_whoever_is_to_let_a_worker_in_is_told_to_let_in_a_worker(
    worker: str, postgres_url: str, run: Run
) -> None:
    with connect(postgres_url) as db:
        db.execute(
            "DELETE FROM episodic.migration WHERE version = (SELECT max(version) FROM episodic.migration)"
        )
    refused = run("stats", db=worker)
    assert "`episodic admin init-db --worker-login worker_" in refused.error

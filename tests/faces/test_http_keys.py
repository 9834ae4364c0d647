"""Keys of the service: whose space a request sees, what its role lets it do, and how fast a key is closed."""

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from functools import partial
from itertools import cycle
from pathlib import Path
from typing import Any

import pytest
from builders.chats import Clock
from builders.commands import Run
from builders.web import LocalClient
from starlette.testclient import TestClient

from episodic_agent import Memory
from episodic_agent.engine.keys import TRUSTED, KeyRoom
from episodic_agent.errors import Conflict, InvalidInput
from episodic_agent.faces.http import keyed
from episodic_agent.faces.http.app import make_app
from episodic_agent.faces.http.keyed import OPEN
from episodic_agent.faces.verbs import OF_SPACE, OF_USER
from episodic_agent.schemas.keys import Role

NOW = datetime(2026, 3, 12, 12, tzinfo=UTC)
OutsideClient = partial(TestClient, base_url="http://memory.example:80")
ANA = "/v1/users/ana"


@pytest.fixture
def opened(empty: Path) -> Callable[[], Memory]:
    return lambda: Memory.open(empty, embedder="hashing", clock=Clock(NOW))


@pytest.fixture
def keys(opened: Callable[[], Memory]) -> dict[str, str]:
    with opened() as memory:
        made = {role.value: memory.keys.create(role=role).token for role in Role}
        return {**made, "other": memory.keys.create(role="admin", space="other").token}


@pytest.fixture
def client(opened: Callable[[], Memory], keys: dict[str, str]) -> Iterator[TestClient]:
    with OutsideClient(make_app(opened, Clock(NOW), rate=10_000)) as client:
        yield client


@pytest.fixture(scope="module")
def refusing(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    """One for all who bring no key of a memory that has some."""
    path = tmp_path_factory.mktemp("refusing") / "memory.db"

    def opened() -> Memory:
        return Memory.open(path, embedder="hashing", clock=Clock(NOW))

    with opened() as memory:
        memory.keys.create(role=Role.READ)
    with OutsideClient(make_app(opened, Clock(NOW), rate=10_000)) as client:
        yield client


def held(key: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {key}"}


def add(client: TestClient, key: str, text: str = "The kitchen tap drips") -> Any:
    body = {"messages": [{"content": text}], "thread": "home"}
    return client.post(f"{ANA}/messages", json=body, headers=held(key))


def test_a_key_opens_its_space_and_no_other(client: TestClient, keys: dict[str, str]) -> None:
    assert add(client, keys["write"]).status_code == 202
    assert add(client, keys["other"], "Of another tenant").status_code == 202
    assert "another tenant" not in client.get(f"{ANA}/export", headers=held(keys["read"])).text
    exported = client.get(f"{ANA}/export", headers=held(keys["other"])).text
    assert "kitchen tap" not in exported
    assert '"space": "other"' in exported
    assert client.delete(ANA, headers=held(keys["other"])).json()["counts"]["observations"] == 1
    assert client.get("/v1/users", headers=held(keys["other"])).json()["items"] == []
    assert client.get("/v1/users", headers=held(keys["read"])).json()["items"] == ["ana"]


@pytest.mark.slow
def test_no_route_shows_one_space_to_a_key_of_another(client: TestClient, keys: dict[str, str]) -> None:
    add(client, keys["write"])
    headers, seen = held(keys["read"]), list[str]()
    episode = client.get(f"{ANA}/episodes", headers=headers).json()["items"][0]["episode_id"]
    fields = {"name": "home", "thread": "home", "episode_id": episode, "episode": episode}
    for path, methods in client.get("/openapi.json").json()["paths"].items():
        live = path.endswith("/events")  # told for as long as somebody listens
        if "get" in methods and path.startswith("/v1/users/{user}") and not live:
            asked = path.format_map(
                {"user": "ana", **dict.fromkeys(("fact_id", "turn", "place", "operation_id"), "x"), **fields}
            )
            answer = client.get(asked, headers=held(keys["other"]))
            assert "kitchen tap" not in answer.text, path
            seen.append(path)
    assert len(seen) > 30


def test_every_route_refuses_a_key_that_opens_nothing(
    client: TestClient, keys: dict[str, str], opened: Callable[[], Memory]
) -> None:
    with opened() as memory:
        dead = memory.keys.create(role="admin")
        memory.keys.revoke(dead.key.id)
    wrong: list[dict[str, str]] = [
        held(dead.token), held(keys["admin"][:-1]), held(f"{keys['admin']}x"), held(keys["admin"].upper()),
        {"Authorization": f"Basic {keys['admin']}"}, {"X-Api-Key": keys["admin"]},
    ]  # fmt: skip
    routes = [
        (method, path.replace("{", "").replace("}", ""))
        for path, methods in client.get("/openapi.json").json()["paths"].items()
        if path not in OPEN
        for method in methods
    ]
    for (method, path), headers in zip(
        routes, cycle(wrong), strict=False
    ):  # each route one of them, and none
        for one in ({}, headers):
            assert client.request(method, path, headers=one).status_code == 401, (method, path, one)
    for method, path in routes[:2]:
        for headers in wrong:
            assert client.request(method, path, headers=headers).status_code == 401, (method, path, headers)
    assert len(routes) > 85


@pytest.mark.slow
def test_each_route_asks_for_its_role(client: TestClient, keys: dict[str, str]) -> None:
    names = dict.fromkeys(
        ("user", "episode_id", "episode", "thread", "name", "fact_id", "place", "turn", "link", "decision",
         "observation", "speaker", "words", "job_id", "operation_id"), "x"
    )  # fmt: skip
    for base, rows in (("/v1/users/{user}", OF_USER), ("/v1", OF_SPACE)):
        for row in rows:
            for role in Role:
                answer = client.request(
                    row.method, (base + row.path).format(**names), headers=held(keys[role.value]), json={}
                )
                assert (answer.status_code == 403) == (not role.allows(row.role)), (row.path, role)


@pytest.mark.parametrize(
    ("route", "role"),
    [("add_message", Role.WRITE), ("retrieve_memory", Role.READ), ("recent_memory/raw", Role.READ)],
)
def test_the_founding_routes_ask_for_a_key_too(
    client: TestClient, keys: dict[str, str], route: str, role: Role
) -> None:
    message = {"role": "user", "content": "The kitchen tap drips"}
    body = {"conversation_id": "ana", "message": message, "query": "tap"}
    path = f"/api/v0/{route}"
    assert client.post(path, json=body).status_code == 401
    assert client.post(path, json=body, headers=held(keys["read"])).is_success == (role is Role.READ)
    assert client.post(path, json=body, headers=held(keys["admin"])).is_success
    users = client.get("/v1/users", headers=held(keys["other"])).json()
    assert users["items"] == []


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"Authorization": "Bearer"},
        {"Authorization": "Bearer ek_0_wrong"},
        {"Authorization": "Basic ek_0_wrong"},
        {b"Authorization": b"Bearer \xff\xfe"},
        [("Authorization", "Bearer a"), ("Authorization", "Bearer b")],
    ],
)
def test_what_is_no_key_opens_nothing_and_is_told_how(refusing: TestClient, headers: Any) -> None:
    for path in (f"{ANA}/stats", "/api/v0/recent_memory", "/metrics", "/v1/nowhere"):
        answer = refusing.get(path, headers=headers)
        assert (answer.status_code, answer.headers["www-authenticate"]) == (401, "Bearer")
        assert answer.headers["content-type"] == "application/problem+json"
        assert "whoever runs the service" in answer.json()["detail"]
    assert refusing.get("/health/live").status_code == 200  # tells nothing of a memory


def test_a_revoked_key_is_closed_in_every_process_within_a_second(
    opened: Callable[[], Memory], keys: dict[str, str], client: TestClient
) -> None:
    times = [0.0]
    with opened() as memory:
        elsewhere = KeyRoom(memory._deps, "default", tick=lambda: times[0])
        key = elsewhere.check(keys["write"])
        assert key is not None
        assert client.get("/v1/users", headers=held(keys["write"])).status_code == 200
        memory.keys.revoke(key.id)
        times[0] += TRUSTED
        assert elsewhere.check(keys["write"]) is None
        assert memory.keys.check(keys["write"]) is None
        assert TRUSTED < 1


def test_once_there_was_a_key_nobody_asks_without_one(opened: Callable[[], Memory]) -> None:
    with opened() as memory, LocalClient(make_app(opened, Clock(NOW))) as client:
        assert client.get("/v1/users").status_code == 200  # nobody made a key
        assert client.get("/v1/users", headers={"host": "evil.example"}).status_code == 421
        assert client.get("/v1/users", headers={"origin": "https://evil.example"}).status_code == 403
        made = memory.keys.create(role="read")
    with LocalClient(make_app(opened, Clock(NOW))) as client, opened() as memory:
        assert client.get("/v1/users").status_code == 401
        memory.keys.revoke(made.key.id)
    with LocalClient(make_app(opened, Clock(NOW))) as client:
        assert client.get("/v1/users").status_code == 401


def test_a_rotated_key_opens_a_while_longer_and_its_heir_at_once(tmp_path: Path) -> None:
    clock = Clock(NOW)
    with Memory.open(tmp_path / "memory.db", embedder="none", clock=clock, resume=False) as memory:
        old = memory.keys.create(role="write", space="acme")
        new = memory.keys.rotate(old.key.id, grace=60)
        assert (new.key.space, new.key.role, new.token != old.token) == ("acme", Role.WRITE, True)
        assert [memory.keys.check(one.token) is not None for one in (old, new)] == [True, True]
        clock.now += timedelta(seconds=61)
        assert [memory.keys.check(one.token) is not None for one in (old, new)] == [False, True]
        at_once = memory.keys.rotate(new.key.id, grace=0)
        assert [memory.keys.check(one.token) is not None for one in (new, at_once)] == [False, True]
        with pytest.raises(Conflict, match="is revoked"):
            memory.keys.rotate(old.key.id)
        with pytest.raises(InvalidInput, match="0 to 30 days"):
            memory.keys.rotate(at_once.key.id, grace=-1)


def test_no_key_is_kept_and_its_use_only_by_the_day(
    tmp_path: Path, opened: Callable[[], Memory], keys: dict[str, str]
) -> None:
    with opened() as memory:
        assert memory.keys.check(keys["read"]) is not None
        used = {key.role: key.last_used_on for key in memory.keys.list() if key.space == "default"}
    assert used == {Role.READ: NOW.date(), Role.WRITE: None, Role.ADMIN: None}
    stored = b"".join(path.read_bytes() for path in tmp_path.glob("memory.db*"))
    for token in keys.values():
        assert token.split("_", 2)[2].encode() not in stored


def test_a_key_has_so_many_requests_a_second(opened: Callable[[], Memory], keys: dict[str, str]) -> None:
    with OutsideClient(make_app(opened, Clock(NOW), rate=2)) as client:
        answers = [client.get("/v1/users", headers=held(keys["read"])) for _ in range(12)]
        refused = [answer for answer in answers if answer.status_code == 429]
        assert answers[0].status_code == 200
        assert refused
        assert int(refused[0].headers["retry-after"]) >= 1
        assert "2 requests a second" in refused[0].json()["detail"]
        assert client.get("/v1/users", headers=held(keys["other"])).status_code == 200


def test_a_key_has_so_many_requests_at_once(
    client: TestClient, keys: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(keyed, "AT_ONCE", 2)
    usual, entered, go_on = Memory.users, threading.Semaphore(0), threading.Event()

    def waiting(self: Memory) -> list[str]:
        entered.release()
        go_on.wait(20)
        return list(usual(self))

    def ask(key: str) -> Any:
        return client.get("/v1/users", headers=held(keys[key]))

    monkeypatch.setattr(Memory, "users", waiting)
    with ThreadPoolExecutor(2) as pool:
        first = [pool.submit(ask, "read") for _ in range(2)]
        try:
            assert all(entered.acquire(timeout=20) for _ in first)
            refused = ask("read")
            assert (refused.status_code, refused.headers["retry-after"]) == (429, "1")
            assert "2 requests of this key" in refused.json()["detail"]
            assert client.get(f"{ANA}/stats", headers=held(keys["write"])).status_code == 404  # let in
        finally:
            go_on.set()
        assert [one.result().status_code for one in first] == [200, 200]
    assert ask("read").status_code == 200  # their places are free again


@pytest.mark.slow
def test_requests_of_two_spaces_at_once_stay_apart(client: TestClient, keys: dict[str, str]) -> None:
    def ask(n: int) -> bool:
        mine = "write" if n % 2 else "other"
        add(client, keys[mine], f"word of {mine} {n}")
        foreign = "other" if n % 2 else "write"
        return f"word of {foreign}" not in client.get(f"{ANA}/export", headers=held(keys[mine])).text

    with ThreadPoolExecutor(4) as pool:
        assert all(pool.map(ask, range(12)))


def test_the_commands_make_list_and_revoke_keys(run: Run) -> None:
    made = run("keys", "create", "--space", "acme", "--role", "write", "--json").json
    assert (made["space"], made["role"], made["key"].startswith(f"ek_{made['id']}_")) == (
        "acme",
        "write",
        True,
    )
    assert run("keys", "create", "--role", "read").out.startswith("ek_")
    listed = run("keys", "list", "--json").json["keys"]
    assert [(key["space"], key["role"]) for key in listed] == [("acme", "write"), ("default", "read")]
    assert "never used" in run("keys", "list").out
    heir = run("keys", "rotate", made["id"], "--grace", "0", "--json").json
    assert (heir["space"], heir["role"], heir["key"] != made["key"]) == ("acme", "write", True)
    assert run("keys", "rotate", made["id"]).code == 4
    assert run("keys", "rotate", heir["id"], "--grace", "soon").code == 2
    assert run("keys", "revoke", made["id"]).code == 0
    assert f"{made['id']}  write  acme" in run("keys", "list").out
    assert "revoked" in run("keys", "list").out
    assert run("keys", "rotate", heir["id"]).code == 0  # it opens for an hour more
    (closes,) = (
        datetime.fromisoformat(key["revoked_at"])
        for key in run("keys", "list", "--json").json["keys"]
        if key["id"] == heir["id"]
    )
    assert f", closes at {closes:%Y-%m-%d %H:%M} UTC" in run("keys", "list").out
    assert run("keys", "revoke", "nobody").code == 3
    assert run("keys", "create", "--role", "king").code == 2
    assert made["key"] not in run("keys", "list", "--json").out


def test_no_key_is_made_for_one_user(run: Run) -> None:
    made = run("keys", "create", "--role", "read", "--json").json["id"]
    for words in (["create", "--role", "read"], ["list"], ["revoke", made], ["rotate", made]):
        for named in (["keys", *words, "--user", "jordi"], ["--user", "jordi", "keys", *words]):
            done = run(*named)
            assert (done.code, done.out) == (2, ""), named
            assert "a key opens a space, with every user in it" in done.err
            assert "'jordi'" in done.err
            assert "--space NAME" in done.err
    (only,) = run("keys", "list", "--json").json["keys"]
    assert (only["id"], only["revoked_at"]) == (made, None)


def test_the_name_of_a_space_acts_on_no_terminal(run: Run) -> None:
    run("keys", "create", "--space", "a\x1b]0;x", "--role", "read")
    assert r"a\x1b]0;x" in run("keys", "list").out
    assert "\x1b" not in run("keys", "list", "--json").out


def test_what_is_asked_is_counted_by_route_without_names(client: TestClient, keys: dict[str, str]) -> None:
    add(client, keys["write"])
    client.get(f"{ANA}/threads/home", headers=held(keys["read"]))
    client.get("/v1/no/such", headers=held(keys["read"]))
    assert client.get("/metrics", headers=held(keys["write"])).status_code == 403
    text = client.get("/metrics", headers=held(keys["admin"])).text
    route = 'route="/v1/users/{user}/threads/{name}"'
    assert f'episodic_http_requests_total{{method="GET",{route},status="200"}} 1' in text
    assert f"episodic_http_request_seconds_count{{{route}}} 1" in text
    assert 'route="other",status="404"' in text
    assert "episodic_jobs_waiting" in text
    assert "ana" not in text
    assert "home" not in text


def test_it_says_whether_it_lives_and_is_ready_without_a_key(client: TestClient) -> None:
    for path in ("/healthz", "/readyz"):
        assert client.get(path).json() == {"status": "ok"}


@pytest.mark.parametrize("space", ["*", "acme-*"])
def test_a_key_of_many_spaces_is_refused_and_not_made_for_one_of_that_name(run: Run, space: str) -> None:
    refused = run("keys", "create", "--role", "read", "--space", space)
    assert refused.code == 2
    assert "a key opens one space by its whole name; make a key for each" in refused.error
    assert run("keys", "create", "--role", "read", "--space", "acme").code == 0
    assert [key["space"] for key in run("keys", "list", "--json").json["keys"]] == ["acme"]

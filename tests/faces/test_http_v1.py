"""`/v1`: every verb as a route, over a real application on a real memory."""

import base64
import json
import threading
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
import schemathesis
from builders.chats import Clock
from builders.web import LocalClient
from hypothesis import HealthCheck, given, settings
from schemathesis.specs.openapi.checks import positive_data_acceptance
from starlette.testclient import TestClient

from episodic_agent import Memory
from episodic_agent.errors import InvalidInput
from episodic_agent.faces.http.app import make_app
from episodic_agent.faces.http.v1 import files, messages
from episodic_agent.schemas.keys import Role
from episodic_agent.wiring import utc_now

NOW = datetime(2026, 3, 12, 12, tzinfo=UTC)
ANA = "/v1/users/ana"
UNTOLD = [positive_data_acceptance]  # a form can be right and name what is not there


@pytest.fixture
def opened(empty: Path) -> Callable[[], Memory]:
    return lambda: Memory.open(empty, embedder="hashing", policy="seed-001", clock=Clock(NOW))


@pytest.fixture
def client(opened: Callable[[], Memory]) -> Iterator[TestClient]:
    with LocalClient(make_app(opened, Clock(NOW))) as client:
        yield client


@pytest.fixture(scope="module")
def refusing(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    """One for all that is refused, with a message: none of it is kept."""
    path = tmp_path_factory.mktemp("refusing") / "memory.db"
    with LocalClient(make_app(lambda: Memory.open(path, embedder="hashing"), Clock(NOW))) as client:
        add(client, message("The tap drips"), thread="move")
        yield client
        assert client.get(f"{ANA}/stats").json()["observations"] == 1


def message(text: str, *, days: float = 0, **more: Any) -> dict[str, Any]:
    return {"content": text, "timestamp": (NOW - timedelta(days=days)).isoformat(), **more}


def add(client: TestClient, *messages: Any, user: str = "ana", wait: bool = True, **more: Any) -> Any:
    headers = more.pop("headers", {})
    body = {"messages": list(messages), **more}
    return client.post(f"/v1/users/{user}/messages", params={"wait": wait}, json=body, headers=headers)


def furnish(client: TestClient) -> None:
    for n in range(6):
        add(client, message(f"I am moving to Lisbon in May, step {n}", days=9 - n), thread="move")
    add(client, message("My sister Hannah is a nurse."), thread="family")
    client.post(f"{ANA}/sessions", json={"topic": "the kitchen tap", "key": "tap"})
    add(client, message("The kitchen tap drips again"), thread="session:tap")
    client.post(f"{ANA}/flush")


def items(client: TestClient, path: str, **asked: Any) -> list[Any]:
    return list(client.get(f"{ANA}/{path}", params=asked).json()["items"])


def test_what_workers_do_is_waited_for_and_what_nobody_does_is_said_to_run(
    empty: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = Clock(NOW)

    def opened(jobs: str) -> Memory:
        return Memory.open(empty, embedder="hashing", policy="seed-001", clock=clock, jobs=jobs, resume=False)

    with LocalClient(make_app(lambda: opened("workers"), clock)) as client, opened("here") as working:
        monkeypatch.setattr(messages, "PATIENCE", 0)
        nobody = add(client, message("I am moving to Lisbon in May"), thread="move")
        assert (nobody.status_code, nobody.json()["operation"]["state"]) == (202, "running")
        monkeypatch.setattr(messages, "PATIENCE", 600)
        answered, works = threading.Event(), threading.Thread(target=lambda: work(working, answered))
        works.start()
        try:
            done = add(client, message("The mover comes on the 12th", days=-1), thread="move")
        finally:
            answered.set()
            works.join()
        assert (done.status_code, done.json()["operation"]["state"]) == (200, "done")


def work(memory: Memory, until: threading.Event) -> None:
    while not until.wait(0.01):
        memory.jobs.run()


def test_a_batch_is_kept_in_order_and_answered_with_receipts(client: TestClient) -> None:
    answer = add(client, message("One"), message("Two", role="assistant", id="b"), thread="talk", wait=False)
    assert answer.status_code == 202
    assert [(r["seq"], r["added"]) for r in answer.json()["receipts"]] == [(0, True), (1, True)]
    again = add(client, message("Two", role="assistant", id="b"), thread="talk")
    assert (again.status_code, again.json()["receipts"][0]["added"]) == (200, False)
    assert client.get(f"{ANA}/stats").json()["observations"] == 2


def test_a_text_under_another_of_its_names_is_read_and_the_document_says_so(client: TestClient) -> None:
    assert add(client, {"role": "user", "text": "The kitchen tap drips again"}).status_code == 200
    assert "The kitchen tap drips again" in client.post(f"{ANA}/search", json={"query": "tap"}).text
    fields = client.get("/openapi.json").json()["components"]["schemas"]["NewMessage"]["properties"]
    assert "`text` is read as well" in fields["content"]["description"]


def test_a_message_with_the_id_of_an_erased_one_is_told_to_be_erased(client: TestClient) -> None:
    kept = add(client, message("One", id="a"), message("Two", id="b"), thread="t").json()["receipts"]
    assert [r["state"] for r in kept] == ["open", "open"]
    client.delete(f"{ANA}/observations/{kept[0]['id']}")
    for wait in (True, False):
        again = add(client, message("One", id="a"), message("Two", id="b"), thread="t", wait=wait).json()
        told = [(r["added"], r["state"]) for r in again["receipts"]]
        assert told == [(False, "erased"), (False, "open")]
    assert client.get(f"{ANA}/stats").json()["observations"] == 1


def test_what_nobody_waited_for_is_an_operation_to_poll(client: TestClient) -> None:
    answer = add(client, message("One"), message("Two"), thread="a/b", user="ana%2Fwork", wait=False)
    operation = answer.json()["operation"]
    assert answer.headers["location"].endswith(f"/v1/users/ana%2Fwork/operations/{operation['id']}")
    states = []
    for _ in range(200):
        polled = client.get(answer.headers["location"]).json()
        states.append(polled["state"])
        if polled["state"] != "running":
            break
        time.sleep(0.05)
    assert (states[-1], polled["waiting"], polled["id"]) == ("done", 0, operation["id"])
    assert client.get("/v1/users/ana%2Fwork/episodes").json()["items"]
    assert client.get("/v1/users/nobody/operations/op_").status_code == 404
    wrong = client.get("/v1/users/ana%2Fwork/operations/nonsense")
    assert (wrong.status_code, "is no operation" in wrong.json()["detail"]) == (400, True)


def test_an_operation_is_there_for_whose_messages_it_follows_alone(client: TestClient) -> None:
    add(client, message("Hello"), user="bo")
    own = add(client, message("One"), message("Two"), thread="t").json()["operation"]["id"]
    assert client.get(f"{ANA}/operations/{own}").json()["state"] == "done"
    place = base64.urlsafe_b64decode(own[3:] + "=")
    further = "op_" + base64.urlsafe_b64encode(place[:-1] + b"\x02").decode().rstrip("=")
    for user, name in (("ana", "op_" + 27 * "A"), ("bo", own), ("ana", further)):
        answer = client.get(f"/v1/users/{user}/operations/{name}")
        assert (answer.status_code, "no operation" in answer.json()["detail"]) == (404, True)
    for erased in items(client, "episodes"):
        client.delete(f"{ANA}/episodes/{erased['episode_id']}")
    assert client.get(f"{ANA}/operations/{own}").json()["state"] == "done"  # nothing of it waits any more
    add(client, message("Three"))
    client.delete(f"{ANA}/threads/t")
    gone = client.get(f"{ANA}/operations/{own}")
    assert (gone.status_code, "thread is erased" in gone.json()["detail"]) == (404, True)


def test_an_operation_runs_until_a_worker_did_it_and_fails_where_it_cannot(tmp_path: Path) -> None:
    with Memory.open(
        tmp_path / "w.db", embedder="hashing", policy="seed-001", jobs="workers", resume=False
    ) as memory:
        ana = memory.user("ana")
        operation = ana.jobs.follow(ana.add(["One", "Two"], thread="t", wait=False))
        assert (operation.state, operation.waiting) == ("running", 1)
        with memory._deps.store.begin(ana._at.scope) as tx:
            assert len(tx.upkeep.jobs()) == 1
        claimed = memory._deps.store.claim("us", now=utc_now(), lease=timedelta(minutes=1), space="default")
        assert claimed is not None
        with memory._deps.store.begin(ana._at.scope) as tx:
            tx.upkeep.put_back(claimed[1][0], error="the disk is full")
        failed = ana.jobs.operation(operation.id)
        assert (failed.state, failed.error) == ("failed", "the disk is full")
        (dead,) = ana.jobs.list(state="dead")
        ana.jobs.retry(dead.id)
        worker = ana.jobs.worker(poll=0.01)

        def stop_when_done() -> None:
            until = time.monotonic() + 30
            while ana.jobs.operation(operation.id).state == "running" and time.monotonic() < until:
                time.sleep(0.01)
            worker.stop()

        watching = threading.Thread(target=stop_when_done)
        watching.start()
        worker.run()
        watching.join()
        assert ana.jobs.operation(operation.id).state == "done"
        with pytest.raises(InvalidInput, match="a user's"):
            memory.jobs.operation(operation.id)


def test_nothing_of_a_batch_is_kept_where_one_message_cannot_be(client: TestClient) -> None:
    answer = add(client, message("One"), message("  "))
    assert (answer.status_code, answer.headers["content-type"]) == (400, "application/problem+json")
    assert "item 2" in answer.json()["detail"]
    assert client.get("/v1/users").json() == {"items": [], "next": None}


def test_an_idempotency_key_keeps_a_batch_once_in_any_process(
    client: TestClient, opened: Callable[[], Memory]
) -> None:
    batch, headers = [{"content": "The tap drips"}, {"content": "Again"}], {"Idempotency-Key": "k1"}
    first = add(client, *batch, thread="tap", headers=headers).json()["receipts"]
    second = add(client, *batch, thread="tap", headers=headers).json()["receipts"]
    with LocalClient(make_app(opened, Clock(NOW))) as other:
        third = add(other, *batch, thread="tap", headers=headers).json()["receipts"]
        changed = add(
            other, {"content": "The tap drips"}, {"content": "No more"}, thread="tap", headers=headers
        )
    assert [r["id"] for r in first] == [r["id"] for r in second] == [r["id"] for r in third]
    assert [r["added"] for r in (*first, *second, *third)] == [True, True, False, False, False, False]
    fewer = add(client, batch[0], thread="tap", headers=headers)
    assert (changed.status_code, fewer.status_code) == (409, 409)
    assert "idempotency key 'k1'" in fewer.json()["detail"]
    assert add(client, *batch, user="bo", thread="tap", headers=headers).json()["receipts"][0]["added"]
    assert client.get(f"{ANA}/stats").json()["observations"] == 2


def test_a_batch_is_remembered_by_its_key_for_a_day(tmp_path: Path) -> None:
    times = [NOW]

    def opened() -> Memory:
        return Memory.open(tmp_path / "m.db", embedder="hashing", policy="seed-001", clock=lambda: times[0])

    with LocalClient(make_app(opened, lambda: times[0])) as client:
        headers = {"Idempotency-Key": "k"}
        add(client, message("One"), message("Two"), thread="t", headers=headers)
        assert add(client, message("One"), thread="t", headers=headers).status_code == 409
    with LocalClient(make_app(opened, lambda: times[0])) as client:  # in another process, too
        assert add(client, message("One"), thread="t", headers=headers).status_code == 409
        assert add(client, message(" "), user="bo", headers=headers).status_code == 400
        assert client.get("/v1/users").json()["items"] == ["ana"]
        times[0] += timedelta(days=1, minutes=1)
        assert add(client, message("One"), thread="t", headers=headers).status_code == 200


def test_a_question_is_answered_with_what_proves_it(client: TestClient) -> None:
    furnish(client)
    answer = client.post(f"{ANA}/search", json={"query": "moving to Lisbon", "limit": 2}).json()
    assert len(answer["hits"]) == 2
    assert all("Lisbon" in o["text"] for hit in answer["hits"] for o in hit["observations"])
    assert answer["facts"]
    narrowed = client.post(f"{ANA}/search", json={"query": "moving to Lisbon", "thread": "family"}).json()
    assert "Lisbon" not in str(narrowed["hits"])
    explained = client.post(f"{ANA}/search", json={"query": "moving to Lisbon", "explain": True}).json()
    assert explained["hits"][0]["legs"]
    context = client.post(f"{ANA}/context", json={"message": "When do I move to Lisbon?"}).json()
    assert "Lisbon" in context["text"]


@pytest.mark.parametrize(
    "path", ["episodes", *(pytest.param(p, marks=pytest.mark.slow) for p in ("episodes/recent", "threads"))]
)
def test_pages_hold_every_item_once_while_others_are_added(client: TestClient, path: str) -> None:
    furnish(client)
    before = items(client, path, limit=200)
    assert len(before) > 2
    seen, cursor, pages = [], None, 0
    while pages == 0 or cursor:
        page = client.get(
            f"{ANA}/{path}", params={"limit": 2, "cursor": cursor} if cursor else {"limit": 2}
        ).json()
        seen += page["items"]
        cursor, pages = page["next"], pages + 1
        add(client, message(f"Something new, {pages}", id=f"new{pages}"), thread=f"new{pages}")
    name = "id" if path == "threads" else "episode_id"
    ids = [item[name] for item in seen]
    assert len(ids) == len(set(ids))
    assert {item[name] for item in before} <= set(ids)


@pytest.mark.slow
def test_a_cursor_is_of_its_list_alone(client: TestClient) -> None:
    furnish(client)
    cursor = client.get(f"{ANA}/episodes", params={"limit": 1}).json()["next"]
    for path, other_cursor in (
        (f"{ANA}/threads", cursor),
        (f"{ANA}/episodes", "bm9uZQ"),
        (f"{ANA}/episodes", "é"),
    ):
        answer = client.get(path, params={"cursor": other_cursor})
        assert (answer.status_code, "cursor" in answer.json()["detail"]) == (400, True)
    other = client.get("/v1/users/bo/episodes", params={"cursor": cursor})
    assert other.status_code in (400, 404)


def test_every_answer_is_as_the_document_says(client: TestClient) -> None:
    furnish(client)
    episode, thread = items(client, "episodes")[-1]["episode_id"], "move"
    fact = items(client, "facts")[0]["fact"]["id"]
    (session, *_) = items(client, "sessions")
    turn = items(client, f"episodes/{episode}/messages")[0]["id"]
    names = {
        "user": "ana", "episode_id": episode, "episode": session["id"], "thread": thread, "name": thread,
        "fact_id": fact, "turn": turn, "place": "kitchen", "operation_id": "op_",
    }  # fmt: skip
    schema = schemathesis.openapi.from_dict(client.get("/openapi.json").json())
    statuses: dict[str, int] = {}
    for path, methods in client.get("/openapi.json").json()["paths"].items():
        if "get" not in methods or not path.startswith("/v1") or path.endswith("/events"):
            continue  # events are told for as long as somebody listens (test_http_events.py)
        asked = {"policy": "seed-001"} if path.endswith("/whatif") else {}
        answer = client.get(path.format(**names), params=asked)
        schema[path]["GET"].validate_response(answer)
        statuses[path] = answer.status_code
    missing = {path for path, status in statuses.items() if status != 200}
    skill, place = "/v1/users/{user}/skills/{name}", "/v1/users/{user}/places/{place}/visits"
    assert missing == {skill, place}  # there are none of either
    assert len(statuses) > 40


def test_facts_threads_and_links_are_corrected(client: TestClient) -> None:
    furnish(client)
    fact = items(client, "facts")[0]["fact"]["id"]
    edited = client.patch(f"{ANA}/facts/{fact}", json={"text": "Hannah is a doctor"}).json()["fact"]
    assert (edited["fact"], edited["edited"]) == ("Hannah is a doctor", True)
    assert client.delete(f"{ANA}/facts/{fact}").status_code == 200
    assert client.get(f"{ANA}/facts/{fact}").status_code == 404
    assert client.patch(f"{ANA}/threads/move", json={"title": "To Lisbon"}).json()["title"] == "To Lisbon"
    assert client.post(f"{ANA}/threads/move/close").json()["status"] == "closed"
    assert client.post(f"{ANA}/links", json={"thread": "move", "other": "family"}).status_code == 200
    assert len(items(client, "links")) == 1
    taken_back = client.delete(f"{ANA}/links", params={"thread": "move", "other": "family"}).json()
    assert taken_back["unlinked_at"]
    assert items(client, "links") == []


def test_what_is_erased_is_previewed_then_gone_with_a_receipt(client: TestClient) -> None:
    furnish(client)
    preview = client.delete(f"{ANA}/threads/move", params={"dry_run": True}).json()
    assert (preview["state"], preview["counts"]["observations"]) == ("preview", 6)
    assert client.get(f"{ANA}/stats").json()["observations"] == 8
    receipt = client.delete(f"{ANA}/threads/move").json()
    assert receipt["counts"] == preview["counts"]
    assert client.get(f"{ANA}/stats").json()["observations"] == 2
    assert client.delete(ANA).json()["what"] == "user"
    assert client.get("/v1/users").json()["items"] == []
    assert {one["what"] for one in client.get("/v1/erasures").json()["items"]} == {"thread", "user"}


@pytest.mark.slow
def test_a_memory_streams_out_and_in_again(client: TestClient) -> None:
    furnish(client)
    exported = client.get(f"{ANA}/export")
    assert exported.headers["content-type"] == "application/x-ndjson"
    lines = [json.loads(line) for line in exported.text.splitlines()]
    assert lines[0]["counts"]["observation"] == 8
    report = client.post("/v1/users/bo/import", content=exported.content).json()
    assert (report["added"], report["unreadable"]) == (8, [])
    again = client.post("/v1/users/bo/import", content=exported.content).json()
    assert (again["added"], again["duplicates"]) == (0, 8)
    chat = b'[{"role": "user", "content": "The kettle broke"}]'
    named = client.post("/v1/users/cy/import", params={"name": "../chat.json"}, content=chat).json()
    assert named["added"] == 1
    wrong = client.post("/v1/users/cy/import", params={"name": "chat.json"}, content=b"\x00\x01")
    assert (wrong.status_code, "detail" in wrong.json()) == (400, True)


def test_names_may_hold_slashes_and_any_script(client: TestClient) -> None:
    for user, path in (("ana/work", "ana%2Fwork"), ("Åsa 北", "%C3%85sa%20%E5%8C%97")):
        add(client, message("The tap drips"), user=path, thread="a/b")
        assert user in client.get("/v1/users").json()["items"]
        thread = client.get(f"/v1/users/{path}/threads/a%2Fb").json()["thread"]
        assert thread["origin"] == "a/b"
    assert client.get("/v1/users/%ff/stats").status_code == 400


@pytest.mark.slow
def test_what_is_known_already_is_not_sent_again(client: TestClient) -> None:
    furnish(client)
    first = client.get(f"{ANA}/threads/move")
    tag = first.headers["etag"]
    same = client.get(f"{ANA}/threads/move", headers={"If-None-Match": tag})
    assert (same.status_code, same.content) == (304, b"")
    client.patch(f"{ANA}/threads/move", json={"title": "Another"})
    assert client.get(f"{ANA}/threads/move", headers={"If-None-Match": tag}).status_code == 200


@pytest.mark.parametrize(
    ("method", "path", "body", "status", "told"),
    [
        ("POST", f"{ANA}/search", {"query": " "}, 400, "empty"),
        ("POST", f"{ANA}/messages", {"messages": [{"content": "x"}], "thread": ""}, 400, "`thread` is empty"),
        ("POST", f"{ANA}/search", {"query": "x", "colour": 1}, 422, "there is no `colour`; there are query,"),
        (
            "POST",
            f"{ANA}/search",
            {"query": "x", "limt": 1},
            422,
            "there is no `limt`; did you mean `limit`?",
        ),
        ("POST", f"{ANA}/search", {}, 422, "`query` is missing"),
        ("POST", f"{ANA}/search", None, 422, "the body is missing; send a JSON object"),
        ("POST", f"{ANA}/search", [], 422, "the body is a JSON object, not []"),
        ("POST", f"{ANA}/search", {"query": 1}, 422, "`query` is a text, not 1"),
        ("POST", f"{ANA}/search", {"query": "x", "limit": True}, 422, "`limit` is a whole number, not true"),
        (
            "POST",
            f"{ANA}/search",
            {"query": "x", "limit": 100_000},
            400,
            "`limit` is at most 1000, not 100000",
        ),
        ("POST", f"{ANA}/search", {"query": "x", "where": 5}, 422, "`where` is a text or a list, not 5"),
        ("POST", f"{ANA}/search", {"query": "x", "where": [5]}, 422, "`where[0]` is a text, not 5"),
        ("POST", f"{ANA}/retrieve", {"query": "x", "detail": "all"}, 422, "'low' or 'high', not 'all'"),
        ("POST", f"{ANA}/messages", {"messages": []}, 422, "`messages` is empty"),
        (
            "POST",
            f"{ANA}/messages",
            {"messages": [{"role": "user"}]},
            400,
            "item 1: the text is empty; give some text",
        ),
        (
            "POST",
            f"{ANA}/messages",
            {"messages": [{"role": "user", "txt": "The tap drips"}]},
            400,
            'item 1: the text is empty: it stands under "content", not "txt"',
        ),
        ("GET", f"{ANA}/episodes?limit=201", None, 422, "`limit` is at most 200, not 201"),
        ("GET", f"{ANA}/episodes?limit=ten", None, 422, "`limit` is a whole number, not 'ten'"),
        ("GET", f"{ANA}/episodes?since=soon", None, 400, "cannot read the time"),
        ("GET", f"{ANA}/episodes/1", None, 404, "no episode"),
        ("GET", "/v1/users/nobody/stats", None, 404, "no user 'nobody'"),
        ("GET", f"{ANA}/threads/nowhere", None, 404, "threads: move"),
        ("PUT", "/v1/users/ana", None, 405, "/docs"),
        ("GET", "/v1/nowhere", None, 404, "/docs"),
    ],
)
def test_wrong_requests_name_what_was_seen_and_the_remedy(
    refusing: TestClient, method: str, path: str, body: Any, status: int, told: str
) -> None:
    answer = refusing.request(method, path, json=body)
    problem = answer.json()
    assert (answer.status_code, answer.headers["content-type"]) == (status, "application/problem+json")
    assert (problem["status"], set(problem) >= {"type", "title", "status", "detail"}) == (status, True)
    assert told in problem["detail"]
    assert "nput" not in problem["detail"]  # the validator's own words: "Input should be a valid …"


def test_a_body_that_is_not_read_says_how_to_send_it(refusing: TestClient) -> None:
    untold = refusing.post(f"{ANA}/search", content='{"query": "x"}')
    assert "send a JSON object, with the header content-type: application/json" in untold.json()["detail"]
    broken = refusing.post(f"{ANA}/search", content="{bad", headers={"content-type": "application/json"})
    assert "the body is no JSON (expecting property name" in broken.json()["detail"]
    for body, problem in (
        ('{"message": "pla\u00e7a 2"}'.encode("latin-1"), "is not in UTF-8 (byte 0xe7 at 16)"),
        (b"[" * 100_000, "is nested too deeply"),
    ):
        for path in (f"{ANA}/context", "/api/v0/retrieve_memory"):
            unread = refusing.post(path, content=body, headers={"content-type": "application/json"})
            remedy = "send a JSON object in UTF-8, with the header content-type: application/json"
            assert (unread.status_code, unread.json()["detail"]) == (400, f"the body {problem}; {remedy}")


def test_an_import_is_bounded_and_read_piece_by_piece(opened: Callable[[], Memory]) -> None:
    with LocalClient(make_app(opened, Clock(NOW), largest=2_000, largest_file=50_000)) as client:
        line = json.dumps({"role": "user", "content": "The tap drips"}) + "\n"
        assert client.post(f"{ANA}/import", content=(line * 100).encode()).json()["observations"] == 100
        refused = client.post(f"{ANA}/import", content=(line * 2_000).encode())
        assert (refused.status_code, "50000 bytes" in refused.json()["detail"]) == (413, True)
        assert add(client, message("x" * 3_000)).status_code == 413


EXAMPLES_NEED = {  # what an example names that must be there first, and what may be said where it is not
    "chains_add": 404, "links_outcome": 404, "tuning_outcome": 404, "skills_used": 404, "tuning_rollback": 400,
    "sections_compact": 200, "sessions_end": 200, "people_same": 404, "people_apart": 404,
}  # fmt: skip


def test_a_file_that_drips_is_cut(client: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "SLOWEST", 0.05)

    def drip() -> Iterator[bytes]:
        for n in range(100):
            yield b"." if n else b"["
            time.sleep(0.005)

    answer = client.post("/v1/users/ana/import", params={"name": "chat.json"}, content=drip())
    assert (answer.status_code, "faster" in answer.json()["detail"]) == (408, True)


def test_the_document_is_openapi_3_1_and_every_example_runs(client: TestClient) -> None:
    furnish(client)
    add(client, message("Back at work", days=0.5), thread="work")
    add(client, message("Work, again", days=0.2), thread="work again")
    document = client.get("/openapi.json").json()
    assert document["openapi"].startswith("3.1")
    names = {
        "user": "ana", "thread": "work", "name": "work", "fact_id": items(client, "facts")[0]["fact"]["id"],
        "episode": items(client, "sessions")[0]["id"], "link": "x", "decision": "x",
        "episode_id": items(client, "episodes")[-1]["episode_id"],
    }  # fmt: skip
    ran = set()
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            sent = operation.get("requestBody", {}).get("content", {}).get("application/json", {})
            name = sent.get("schema", {}).get("$ref", "").rpartition("/")[2]
            for example in document["components"]["schemas"].get(name, {}).get("examples", ()):
                answer = client.request(method, path.format(**names), json=example)
                verb = operation["operationId"]
                expected = EXAMPLES_NEED.get(verb, 200)
                assert answer.is_success or answer.status_code == expected, (verb, answer.text)
                ran.add(verb)
    assert len(ran) > 20
    assert ran >= EXAMPLES_NEED.keys()
    operations = [o for methods in document["paths"].values() for o in methods.values()]
    ids = [o["operationId"] for o in operations]
    assert len(ids) == len(set(ids))


@pytest.mark.slow
@pytest.mark.parametrize("role", ["none", "admin", "write", "read", "of another space", "malformed"])
def test_no_request_makes_the_service_fail(opened: Callable[[], Memory], role: str) -> None:
    headers = {"host": "127.0.0.1"}
    if role != "none":
        with opened() as memory:
            space = "another" if role == "of another space" else None
            made = memory.keys.create(role=role if role in list(Role) else "admin", space=space)
            headers["Authorization"] = "Bearer ek_\x7f;" if role == "malformed" else f"Bearer {made.token}"
    with LocalClient(make_app(opened, Clock(NOW), rate=1e6)) as client:
        schema = schemathesis.openapi.from_asgi("/openapi.json", client.app, headers=headers)
        if role == "none":
            furnish(client)
        for result in schema.include(path_regex="^/v1(?!.*/events$)").get_all_operations():
            operation = result.ok()

            @given(case=operation.as_strategy())
            @settings(
                max_examples=8 if role in list(Role) else 2,
                deadline=None,
                suppress_health_check=list(HealthCheck),
            )
            def holds(case: Any) -> None:
                case.call_and_validate(session=client, headers=headers, excluded_checks=UNTOLD)

            holds()


@pytest.mark.parametrize(
    ("method", "path", "asked", "sent", "problem"),
    [
        ("POST", "messages", "x=1", {"messages": [{"content": "a"}]}, "there is no `x`; there are wait"),
        (
            "POST",
            "search",
            "limit=1",
            {"query": "a"},
            "there is no `limit` in the query; it stands in the body",
        ),
        ("POST", "context", "at=2026", {"message": "a"}, "it stands in the body"),
        ("POST", "flush", "dry=1", {}, "there is no `dry`; nothing is taken behind the path"),
        ("POST", "import", "nam=a", {}, "there is no `nam`; did you mean `name`?"),
        ("GET", "export", "wat=1", None, "there is no `wat`; there are where, as_of"),
        ("GET", "stats", "wat=1", None, "there is no `wat`; there are as_of"),
        ("GET", "events", "wat=1", None, "there is no `wat`; nothing is taken behind the path"),
        ("POST", "search", "", {"query": "a", "as_of": "2026-03-01"}, "it stands in the query: `?as_of=…`"),
        ("POST", "messages", "", {"messages": [{"content": "a"}] * 1001}, "a list of at most 1000, not 1001"),
    ],
)
def test_what_a_route_does_not_know_is_refused_wherever_it_stands(
    refusing: TestClient, method: str, path: str, asked: str, sent: Any, problem: str
) -> None:
    answer = refusing.request(method, f"{ANA}/{path}?{asked}", json=sent)
    assert (answer.status_code, problem in answer.json()["detail"]) == (422, True), answer.text


def test_an_idempotency_key_that_is_empty_is_refused(refusing: TestClient) -> None:
    answer = add(refusing, message("a"), headers={"Idempotency-Key": ""})
    assert (answer.status_code, answer.json()["detail"]) == (422, "the header `idempotency-key` is empty")


def test_a_method_that_a_route_does_not_have_is_answered_with_the_one_it_has(refusing: TestClient) -> None:
    answer = refusing.put(f"{ANA}/messages", json={})
    assert (answer.status_code, answer.headers["allow"]) == (405, "POST")
    assert answer.json()["detail"].startswith("this route takes POST, not PUT")


@pytest.mark.parametrize(
    ("method", "path", "content", "status", "problem"),
    [
        ("GET", "ana/episodes/nope", None, 404, "`GET /v1/users/{user}/episodes` lists them"),
        ("GET", "ana/facts/nope", None, 404, "`GET /v1/users/{user}/facts` lists them"),
        ("GET", "ana/sessions/nope", None, 404, "`GET /v1/users/{user}/"),
        ("POST", "ana/jobs/nope/retry", None, 404, "`GET /v1/users/{user}/jobs` lists them"),
        (
            "GET",
            "zoe/stats",
            None,
            404,
            "no user 'zoe' in this memory; `GET /v1/users` lists those there are",
        ),
        ("POST", "ana/import?name=a.txt", "Grüße\n".encode("latin-1") * 9, 400, "give ?encoding="),
        (
            "POST",
            "ana/messages",
            json.dumps({"messages": [{"content": "a" * 1_500_000}]}).encode(),
            413,
            "ask whoever runs the service to raise EPISODIC_MESSAGE_BYTES",
        ),
    ],
)
def test_a_remedy_is_a_request_and_no_command_line(
    refusing: TestClient, method: str, path: str, content: bytes | None, status: int, problem: str
) -> None:
    headers = {"content-type": "application/json"} if path.endswith("messages") else {}
    answer = refusing.request(method, f"/v1/users/{path}", content=content, headers=headers)
    detail = answer.json()["detail"]
    assert (answer.status_code, problem in detail) == (status, True), answer.text
    assert "episodic" not in detail


def test_a_name_too_long_for_a_user_is_refused_and_no_other_is_told(refusing: TestClient) -> None:
    for answer in (
        add(refusing, message("a"), user="u" * 256),
        refusing.post("/v1/users/" + "u" * 256 + "/import"),
    ):
        assert (answer.status_code, "at most 255" in answer.json()["detail"]) == (400, True)
    unknown = refusing.get("/v1/users/zoe/stats").json()["detail"]
    assert "ana" not in unknown


def test_a_session_of_the_past_ends_when_it_did(client: TestClient) -> None:
    times = [(NOW - timedelta(hours=hours)).isoformat() for hours in (30, 29)]
    begun = {"topic": "the dripping tap", "timestamp": times[0]}
    session = client.post(f"{ANA}/sessions", json=begun).json()["id"]
    add(client, message("The tap drips", days=1.24), thread="tap")
    ended = client.post(f"{ANA}/sessions/{session}/end", json={"timestamp": times[1]}).json()
    assert datetime.fromisoformat(ended["ended_at"]) == NOW - timedelta(hours=29)

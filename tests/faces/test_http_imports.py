"""Imports that nobody waits for: an operation that any process tells of, also when the one that did it died."""

import json
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from io import BytesIO
from pathlib import Path
from tempfile import gettempdir
from typing import Any
from zipfile import ZipFile

import pytest
from builders.chats import Clock
from builders.web import LocalClient
from starlette.testclient import TestClient

from episodic_agent import Memory
from episodic_agent.engine.jobs import operations
from episodic_agent.errors import InvalidInput, NotFound, StoreUnavailable
from episodic_agent.faces.http.app import make_app
from episodic_agent.faces.http.v1.files import take_file

NOW = datetime(2026, 3, 12, 12, tzinfo=UTC)
CHAT = json.dumps([{"role": "user", "content": f"The kettle broke, {n}"} for n in range(5)]).encode()
DIES = """
import os, sys, time
from episodic_agent import Memory
memory = Memory.open(sys.argv[1], embedder="none", policy="seed-001", jobs="workers")
ana = memory.user("ana", new=True)
print(ana.jobs.import_file(sys.argv[2]).id, flush=True)
while not ana.stats().observations:
    time.sleep(0.01)
os.kill(os.getpid(), 9)
"""


@pytest.fixture
def clock() -> Clock:
    return Clock(NOW)


@pytest.fixture
def opened(url: str, clock: Clock) -> Callable[[], Memory]:
    return lambda: Memory.open(url, embedder="hashing", policy="seed-001", clock=clock)


@pytest.fixture
def client(opened: Callable[[], Memory]) -> Iterator[TestClient]:
    with LocalClient(make_app(opened, Clock(NOW))) as client:
        yield client


def folders() -> set[Path]:
    return set(Path(gettempdir()).glob("episodic-import-*"))


def polled(client: TestClient, where: str) -> Any:
    until = time.monotonic() + 60
    while (answer := client.get(where).json())["state"] == "running" and time.monotonic() < until:
        time.sleep(0.02)
    return answer


def test_a_file_is_imported_after_the_answer_and_any_process_tells_how_it_stands(
    client: TestClient, opened: Callable[[], Memory]
) -> None:
    before = folders()
    asked = {"name": "chat.json", "wait": False}
    answer = client.post("/v1/users/ana%2Fwork/import", params=asked, content=CHAT)
    assert (answer.status_code, answer.json()["state"]) == (202, "running")
    where = answer.headers["location"]
    assert where == f"/v1/users/ana%2Fwork/operations/{answer.json()['id']}"
    counts = {"observations": 5, "added": 5, "duplicates": 0, "episodes": 0, "unreadable": 0}
    assert polled(client, where) == {**answer.json(), "state": "done", "waiting": 0, "counts": counts}
    assert folders() == before  # the file is gone
    with LocalClient(make_app(opened, Clock(NOW))) as other:
        assert other.get(where).json()["counts"] == counts
    again = client.post("/v1/users/ana%2Fwork/import", params=asked, content=CHAT)
    assert polled(client, again.headers["location"])["counts"] == {**counts, "added": 0, "duplicates": 5}


@pytest.mark.slow
def test_an_import_under_way_tells_how_much_it_has_read(client: TestClient) -> None:
    chat = json.dumps([{"role": "user", "content": f"The kettle broke, {n}"} for n in range(1000)]).encode()
    asked = {"name": "chat.json", "wait": False}
    where = client.post("/v1/users/ana/import", params=asked, content=chat).headers["location"]
    told = []
    while (answer := client.get(where).json())["state"] == "running":
        told += [answer["counts"]["observations"]] if answer["counts"] else []
        time.sleep(0.01)  # who asks without a pause takes the time of what it asks about
    assert told == sorted(told)
    assert 0 < told[0] <= answer["counts"]["observations"] == 1000


def test_a_file_nobody_can_read_makes_a_failed_operation_that_says_why(client: TestClient) -> None:
    asked = {"name": "chat.json", "wait": False}
    answer = client.post("/v1/users/ana/import", params=asked, content=b"\x00\x01")
    failed = polled(client, answer.headers["location"])
    waited = client.post("/v1/users/ana/import", params={"name": "chat.json"}, content=b"\x00\x01")
    assert (failed["state"], waited.status_code) == ("failed", 400)
    assert failed["error"] == waited.json()["detail"]
    assert failed["error"].startswith("chat.json is not text"), "no folder of the server is named"
    tried = client.post("/v1/users/ana/import", params={**asked, "dry_run": True}, content=CHAT)
    assert (tried.status_code, "wait=false" in tried.json()["detail"]) == (400, True)


FORM = {"content-type": "multipart/form-data; boundary=b"}
PART = b'--b\r\nContent-Disposition: form-data; name="%s"%s\r\nContent-Type: text/plain\r\n\r\n%s\r\n'
NOTES = "Ana: I moved to Lisbon.\nBo: In a café?\r\n--b is no end\n".encode()


def form(*parts: tuple[bytes, bytes, bytes]) -> bytes:
    return b"".join(PART % part for part in parts) + b"--b--\r\n"


def test_a_file_in_a_form_is_imported_by_its_own_name(client: TestClient) -> None:
    name = "WhatsApp Chat with Zoë.txt"
    chat = (
        b"13/04/2024, 9:15 pm - Ana: I moved to Lisbon.\r\n13/04/2024, 9:16 pm - Bo: In May\r\n--b is no end"
    )
    body = form((b"file", f'; filename="{name}"'.encode(), chat))
    answer = client.post("/v1/users/ana/import", content=body, headers=FORM)
    assert (answer.status_code, answer.json()["added"], answer.json()["format"]) == (200, 2, "whatsapp")
    episodes = client.get("/v1/users/ana/threads").json()["items"]
    assert episodes[0]["title"] == "Zoë"
    sent = client.post("/v1/users/ana/import", params={"name": name}, content=chat)
    assert (sent.json()["added"], sent.json()["duplicates"]) == (0, 2), "the content is the same to the byte"


@pytest.mark.parametrize("size", [0, 1, 65_534, 65_535, 65_536, 70_000])
@pytest.mark.parametrize("end", [b"", b"\n", b"\r\n", b"\r"])
def test_a_form_gives_its_files_content_to_the_byte(tmp_path: Path, size: int, end: bytes) -> None:
    content = b"x" * size + end
    body = tmp_path / "body"
    body.write_bytes(form((b"file", b'; filename="a.txt"', content)))
    name, path = take_file(body, FORM["content-type"])
    assert (name, path.read_bytes()) == ("a.txt", content)


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (form(), "the form holds no file; send one file, as curl -F file=@chat.txt"),
        (form((b"a", b"; filename=a", NOTES), (b"b", b"; filename=b", NOTES)), "the form holds 2 files"),
        (form((b"a", b"; filename=a", NOTES), (b"source", b"", b"sms")), "'source' is a field of the form"),
        (form((b"a", b"; filename=a", b"")), "the file is empty"),
        (form((b"a", b"; filename=a", NOTES))[:-8], "the form breaks off"),
        (b"", "the form breaks off"),
    ],
)
def test_a_form_that_holds_not_one_file_is_refused(client: TestClient, body: bytes, said: str) -> None:
    answer = client.post("/v1/users/ana/import", content=body, headers=FORM)
    assert (answer.status_code, said in answer.json()["detail"]) == (422, True), answer.json()
    assert client.get("/v1/users/ana/stats").json().get("observations", 0) == 0


def test_a_body_of_which_nothing_can_be_read_is_no_success(client: TestClient) -> None:
    empty = client.post("/v1/users/ana/import", content=b"")
    assert (empty.status_code, "the file is empty" in empty.json()["detail"]) == (422, True)
    wrong = b"[2024-13-45 09:15] Ana: hi\n[2024-13-46 09:15] Ana: ho\n"
    answer = client.post("/v1/users/ana/import", params={"name": "a.txt"}, content=wrong)
    assert answer.status_code == 422
    assert answer.json()["detail"].startswith("nothing of it can be read: a.txt:1: cannot read the time")
    assert answer.json()["detail"].endswith("(and 1 more)")
    later = client.post("/v1/users/ana/import", params={"wait": False}, content=wrong)
    failed = polled(client, later.headers["location"])
    assert (failed["state"], failed["error"]) == ("failed", operations._UNREAD)
    half = client.post("/v1/users/ana/import", content=wrong + b"[2024-03-01 09:15] Ana: hi\n")
    assert (half.status_code, len(half.json()["unreadable"])) == (200, 2)


def test_an_import_is_its_users_own_and_known_for_a_day(
    client: TestClient, opened: Callable[[], Memory], clock: Clock
) -> None:
    asked = {"name": "chat.json", "wait": False}
    client.post("/v1/users/bo/import", params={"name": "chat.json"}, content=CHAT)
    operation = client.post("/v1/users/ana/import", params=asked, content=CHAT).json()["id"]
    assert polled(client, f"/v1/users/ana/operations/{operation}")["state"] == "done"
    assert client.get(f"/v1/users/bo/operations/{operation}").status_code == 404
    assert client.get("/v1/users/ana/operations/im_%C3%A9").status_code == 400
    with opened() as memory:
        clock.now += timedelta(hours=25)
        with pytest.raises(NotFound, match="of the last day"):
            memory.user("ana").jobs.operation(operation)
        with pytest.raises(InvalidInput, match="an import is a user's"):
            memory.jobs.import_file("chat.json")


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="nobody tells there whether a process lives")
def test_who_dies_while_importing_is_told_and_the_file_sent_again_adds_the_rest(tmp_path: Path) -> None:
    path, chat = tmp_path / "memory.db", tmp_path / "chat.jsonl"
    chat.write_text("".join(f'{{"role": "user", "content": "line {n}"}}\n' for n in range(2000)))
    child = subprocess.run(
        [sys.executable, "-c", DIES, str(path), str(chat)], capture_output=True, text=True, check=False
    )
    assert child.returncode == -9, child.stderr
    with Memory.open(path, embedder="none", policy="seed-001", jobs="workers") as memory:
        ana = memory.user("ana")
        operation = ana.jobs.operation(child.stdout.strip())
        assert (operation.state, operation.error) == ("failed", operations._GONE)
        stored = ana.stats().observations
        assert 0 < stored < 2000
        report = ana.import_file(chat)
        assert (report.added, report.duplicates) == (2000 - stored, stored)


def test_a_process_imports_so_many_files_and_no_more(opened: Callable[[], Memory], tmp_path: Path) -> None:
    chat, over = tmp_path / "chat.json", threading.Event()
    chat.write_bytes(CHAT)
    with opened() as memory:
        jobs = memory.user("ana", new=True).jobs
        try:
            ids = [jobs.import_file(chat, then=over.wait).id for _ in range(operations.MOST)]
            with pytest.raises(StoreUnavailable, match="try again"):
                jobs.import_file(chat)
        finally:
            over.set()
        until = time.monotonic() + 60
        while any(jobs.operation(one).state == "running" for one in ids) and time.monotonic() < until:
            time.sleep(0.02)
        assert {jobs.operation(one).state for one in ids} == {"done"}
        assert memory.user("ana").stats().observations == 5


def test_what_a_report_of_an_import_asks_for_can_be_asked_here(client: TestClient) -> None:
    talk = b"[2026-03-01 09:00] Ana M.: I moved to Ghent.\n[2026-03-01 09:01] Bo: Lovely, when?\n"
    where = "/v1/users/ana/import"
    first = client.post(where, params={"name": "a.txt", "me": "Ann"}, content=talk).json()
    assert "others' words: Ana M. (1), Bo (1); if 'Ana M.' is ana, too, give ?me=Ana%20M." in first["notes"]
    assert "nobody is called 'Ann' here, as ?me= says" in first["notes"]
    again = {"name": "a.txt", "me": "Ana M.", "timezone": "Europe/Berlin"}
    second = client.post(where, params=again, content=talk).json()
    assert (second["added"], second["duplicates"]) == (0, 2)
    content = BytesIO()
    with ZipFile(content, "w") as archive:
        archive.writestr("a.jsonl", CHAT)
    packed = bytearray(content.getvalue())
    packed[packed.index(b"PK\x01\x02") + 8] |= 1  # encrypted
    locked = client.post(where, params={"name": "a.zip"}, content=bytes(packed))
    assert locked.status_code == 400
    assert "a.zip is encrypted; unpack it and import its files, or pack them again" in locked.text
    assert "folder" not in locked.text

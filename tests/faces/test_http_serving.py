"""The process that serves: how it begins and ends, who is too slow, several processes over one database."""

import os
import re
import signal
import socket
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager, suppress
from functools import partial
from pathlib import Path

import httpx2
import psutil
import pytest
import uvicorn
from builders.commands import Run
from builders.served import served
from builders.web import LocalClient

from benchmarks.http_service import soak
from benchmarks.servers import server
from episodic_agent import Memory, StoreError
from episodic_agent.faces.http import metrics, serving
from episodic_agent.faces.http.app import make_app
from episodic_agent.faces.http.opening import EndOfService, answering, listen
from episodic_agent.faces.http.serving import DrainingServer, Impatient
from episodic_agent.wiring import utc_now


def free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


@contextmanager
def running(memory: Memory) -> Iterator[tuple[DrainingServer, str, threading.Thread]]:
    """Run the very server of the command on a thread; signals are handed to it by hand."""
    end = EndOfService()
    app = make_app(lambda: memory, utc_now, end=end)
    server = DrainingServer(uvicorn.Config(app, port=0, http=Impatient, log_level="critical"), end)
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        assert thread.is_alive()
        time.sleep(0.01)
    try:
        yield server, f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}", thread
    finally:
        server.should_exit = True
        thread.join()


@pytest.mark.slow
def test_after_the_end_began_what_comes_is_refused_and_what_is_under_way_is_finished(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(serving, "PAUSE", 0.6)
    memory = Memory.open(tmp_path / "memory.db", embedder="hashing")
    entered, go_on, answers = threading.Event(), threading.Event(), list[httpx2.Response]()
    usual = Memory.users

    def waiting(self: Memory) -> list[str]:
        entered.set()
        go_on.wait(10)
        return usual(self)

    monkeypatch.setattr(Memory, "users", waiting)
    with running(memory) as (server, url, thread):
        kept = httpx2.post(f"{url}/v1/users/ana/messages", json={"messages": [{"content": "The tap drips"}]})
        asking = threading.Thread(target=lambda: answers.append(httpx2.get(f"{url}/v1/users", timeout=20)))
        asking.start()
        assert entered.wait(10)
        server.handle_exit(signal.SIGTERM, None)
        late = httpx2.get(f"{url}/v1/users/ana/stats")
        assert (kept.status_code, late.status_code, late.headers["retry-after"]) == (202, 503, "2")
        assert "what it acknowledged is durable" in late.json()["detail"]
        assert httpx2.get(f"{url}/readyz").status_code == 503
        assert httpx2.get(f"{url}/healthz").status_code == 200
        go_on.set()
        asking.join()
        thread.join(10)
        assert not thread.is_alive()
    assert [(one.status_code, one.json()["items"]) for one in answers] == [(200, ["ana"])]
    with Memory.open(tmp_path / "memory.db", embedder="hashing", resume=False) as again:
        assert again.user("ana").stats().observations == 1


@pytest.mark.slow
def test_who_sends_no_request_is_cut(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(serving, "SLOWEST", 0.3)
    with running(Memory.open(tmp_path / "memory.db", embedder="none")) as (_, url, _thread):
        for begun in (b"", b"GET /v1/users HTTP/1.1\r\nHost: 127"):
            with socket.create_connection(("127.0.0.1", int(url.rpartition(":")[2])), 10) as slow:
                slow.sendall(begun)
                assert slow.recv(1) == b""  # the other end closed it
        assert httpx2.get(f"{url}/v1/users").status_code == 200


@pytest.mark.parametrize(
    "ends",
    ["leaves", *(pytest.param(e, marks=pytest.mark.slow) for e in ("takes nothing", "the server ends"))],
)
def test_an_export_that_is_broken_off_ends_its_read_so_that_an_erasure_ends_too(
    tmp_path: Path, ends: str
) -> None:
    with Memory.open(tmp_path / "memory.db", embedder="none") as memory:
        memory.user("ana").add([f"the code is 4711-{n} {'x' * 60_000}" for n in range(150)])
        slowest = 0.3 if ends == "takes nothing" else 60
        with closing(socket.socket()) as reader:
            reader.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            with served(memory, slowest=slowest) as url:
                reader.connect(("127.0.0.1", int(url.rpartition(":")[2])))
                reader.sendall(b"GET /v1/users/ana/export HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
                assert reader.recv(300).startswith(b"HTTP/1.1 200")
                if ends == "leaves":
                    reader.close()
                if ends != "the server ends":  # a receipt that waits is tried again
                    memory.user("ana").erase(everything=True)
                    until = time.monotonic() + 20
                    while time.monotonic() < until and not memory.erasures()[0].is_done:
                        memory.upkeep()
            if ends == "the server ends":
                memory.user("ana").erase(everything=True)
        assert [one.state for one in memory.erasures()] == ["done"]
        assert b"4711-" not in (tmp_path / "memory.db").read_bytes()


@pytest.mark.parametrize(
    "damage",
    [
        "its head",
        *(pytest.param(d, marks=pytest.mark.slow) for d in ("all behind it", "its second half", "all of it")),
    ],
)
def test_a_file_that_is_damaged_while_it_is_served_lives_and_is_not_ready(
    tmp_path: Path, damage: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with Memory.open("memory.db", embedder="none") as memory:
        memory.user("ana").add([f"The tap in room {n} drips" for n in range(200)])
    opened = partial(Memory.open, "memory.db", embedder="none", resume=False)
    with suppress(StoreError), LocalClient(make_app(opened, utc_now)) as client:
        assert client.get("/readyz").status_code == 200
        size = os.path.getsize("memory.db")
        with open("memory.db", "r+b") as file:
            if damage in ("its second half", "all of it"):
                file.truncate(size // 16384 * 8192 if damage == "its second half" else 0)
            else:
                file.seek(0 if damage == "its head" else 8192)
                file.write(b"\xee" * (8192 if damage == "its head" else size - 8192))
        for path in ("/readyz", "/health/ready"):
            answer = client.get(path)
            assert answer.status_code == 503
            assert "memory.db is damaged" in answer.json()["detail"]
            assert "restore a backup, or save what can be read" in answer.json()["detail"]
        assert client.get("/healthz").json() == {"status": "ok"}


def test_while_the_memory_is_opened_it_lives_and_is_not_ready() -> None:
    with listen("127.0.0.1", 0) as listener, answering(listener):
        url = f"http://127.0.0.1:{listener.getsockname()[1]}"
        assert httpx2.get(f"{url}/healthz").json() == {"status": "ok"}
        for answer in (
            httpx2.get(f"{url}/readyz"),
            httpx2.post(f"{url}/v1/users/ana/search", json={"query": "x"}),
        ):
            assert (answer.status_code, answer.headers["retry-after"]) == (503, "1")
            assert answer.headers["content-type"] == "application/problem+json"
            assert "being opened" in answer.json()["detail"]


def test_who_comes_while_the_memory_is_opened_waits_for_whoever_serves() -> None:
    with listen("127.0.0.1", 0) as listener:
        with answering(listener):
            pass
        with socket.create_connection(listener.getsockname(), 10) as early:
            early.sendall(b"GET / HTTP/1.1")
            taken, _ = listener.accept()  # it was neither refused nor reset
            with taken:
                assert taken.recv(3) == b"GET"


LARGE = b"x" * (3 << 20)


def answer_to(address: tuple[str, int], head: str, body: bytes) -> bytes:
    """Send a request whole before anything is read, as most clients do; return all that came back."""
    with socket.create_connection(address, 20) as client:
        client.sendall(f"POST /v1/users/ana/messages HTTP/1.1\r\nHost: 127.0.0.1\r\n{head}\r\n\r\n".encode())
        for begin in range(0, len(body), 1 << 16):
            client.sendall(body[begin : begin + (1 << 16)])  # reset where the other end closed unread
        came = b""
        while some := client.recv(1 << 16):
            came += some
        return came


def test_a_refused_body_is_read_so_that_its_answer_arrives(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    head = f"Content-Length: {len(LARGE)}"
    with listen("127.0.0.1", 0) as listener, answering(listener):
        came = answer_to(listener.getsockname(), head, LARGE)
    assert came.startswith(b"HTTP/1.0 503")
    assert b"Retry-After: 1" in came
    assert b"being opened" in came
    monkeypatch.setattr(serving, "PAUSE", 20.0)
    memory = Memory.open(tmp_path / "memory.db", embedder="none")
    with running(memory) as (server, url, _):
        address = ("127.0.0.1", int(url.rpartition(":")[2]))
        tall = answer_to(address, f"Content-Length: {2 * len(LARGE)}", LARGE * 2)
        assert tall.startswith(b"HTTP/1.1 413")
        assert b"send less at once" in tall
        foreign = answer_to(address, f"Origin: http://evil.example\r\n{head}", LARGE)
        assert foreign.startswith(b"HTTP/1.1 403")
        server.handle_exit(signal.SIGTERM, None)
        late = answer_to(address, head, LARGE)
        assert late.startswith(b"HTTP/1.1 503")
        assert b"retry-after: 2" in late
        assert b"send this again" in late


@pytest.mark.slow
def test_no_request_to_a_starting_server_is_reset_or_turned_away(tmp_path: Path) -> None:
    """From the first connection on each batch gets an answer: not ready, then accepted."""
    port = free_port()
    command = [
        sys.executable,
        "-m",
        "episodic_agent",
        "--db",
        str(tmp_path / "memory.db"),
        "--embedder",
        "none",
    ]
    batch = {"messages": [{"content": "The tap drips. " * 60} for _ in range(1_000)], "thread": "home"}
    seen, wrong = list[int](), list[str]()
    with subprocess.Popen([*command, "serve", "--port", str(port)], stderr=subprocess.PIPE) as process:
        try:
            until = time.monotonic() + 60
            while time.monotonic() < until and 202 not in seen:
                try:
                    answer = httpx2.post(
                        f"http://127.0.0.1:{port}/v1/users/ana/messages",
                        json=batch,
                        headers={"Idempotency-Key": "k"},
                        timeout=30,
                    )
                except httpx2.TransportError as error:
                    if seen or not isinstance(error, httpx2.ConnectError):
                        wrong.append(repr(error))
                    time.sleep(0.005)
                    continue
                seen.append(answer.status_code)
                assert answer.status_code == 202 or answer.headers["retry-after"] == "1"
        finally:
            process.terminate()
            _, said = process.communicate(timeout=60)
    assert said.decode().count("\n") == 1, "where it serves; told to stop, it says nothing more"
    assert "for this machine only, and knows nobody yet" in said.decode()  # a name of a file may be misspelt
    assert wrong == []
    assert seen[-1] == 202
    assert set(seen) <= {202, 503}


@pytest.mark.slow
def test_while_a_schema_is_brought_up_to_date_the_command_is_not_ready(tmp_path: Path) -> None:
    path, port = tmp_path / "memory.db", free_port()
    Memory.open(path, embedder="none").close()
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        (number,) = db.execute("SELECT max(version) FROM migration").fetchone()
        db.execute("ALTER TABLE stream DROP COLUMN base")
        db.execute("ALTER TABLE stream RENAME COLUMN places TO last")
        db.execute("DELETE FROM migration WHERE version = ?", (number,))  # as an older program left it
        db.execute("BEGIN IMMEDIATE")  # whoever migrates waits for this
        command = [sys.executable, "-m", "episodic_agent", "--db", str(path), "--embedder", "none", "serve"]
        with subprocess.Popen([*command, "--port", str(port)], stderr=subprocess.DEVNULL) as process:
            try:
                url, until = f"http://127.0.0.1:{port}", time.monotonic() + 60
                while time.monotonic() < until:
                    with suppress(httpx2.TransportError):
                        if httpx2.get(f"{url}/healthz").status_code == 200:
                            break
                    time.sleep(0.05)
                assert httpx2.get(f"{url}/readyz").status_code == 503
                assert httpx2.get(f"{url}/v1/users").headers["retry-after"] == "1"
                db.execute("ROLLBACK")
                until_ready(url)
                assert db.execute("SELECT max(version) FROM migration").fetchone() == (number,)
            finally:
                process.terminate()


def test_a_file_is_served_by_one_process_and_says_so(run: Run) -> None:
    refused = run("serve", "--workers", "2")
    assert refused.code == 2
    assert "one process serves" in refused.err
    assert "postgresql://" in refused.err


@pytest.mark.slow
def test_several_processes_serve_one_database_and_one_that_dies_is_replaced() -> None:
    with server() as own:
        url, port = own.create("served"), free_port()
        command = [sys.executable, "-m", "episodic_agent", "--db", url, "--embedder", "hashing", "serve"]
        options = ["--port", str(port), "--workers", "2"]
        with subprocess.Popen([*command, *options], stderr=subprocess.PIPE, env=dict(os.environ)) as process:
            assert process.stderr is not None
            assert re.search(rb"2 processes", process.stderr.readline())
            address = f"http://127.0.0.1:{port}"
            until_ready(address)
            body = {"messages": [{"content": "The tap drips"}], "thread": "home"}
            path = f"{address}/v1/users/ana/messages"
            assert httpx2.post(path, json=body, headers={"Idempotency-Key": "k"}).status_code == 202
            for child in serving_children(process.pid):
                child.kill()
            until_ready(address)
            other = {"messages": [{"content": "The tap drips"}], "thread": "elsewhere"}
            assert httpx2.post(path, json=other, headers={"Idempotency-Key": "k"}).status_code == 409
            process.terminate()
            assert process.wait(40) == 0
            assert serving_children(process.pid) == []


def test_processes_count_as_one_whichever_is_asked_and_whichever_died(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(metrics, "SOON", 0)
    opened = partial(Memory.open, tmp_path / "memory.db", embedder="none", resume=False)

    def process(place: int) -> LocalClient:
        return LocalClient(make_app(opened, utc_now, counts=metrics.SharedCounts(tmp_path, place)))

    def asked(client: LocalClient) -> int:
        return client.get("/v1/users").status_code

    def counted(client: LocalClient) -> int:
        text = client.get("/metrics").text
        (line,) = re.findall(
            r'^episodic_http_requests_total{.*route="/v1/users",status="200"} (\d+)', text, re.M
        )
        assert f'episodic_http_request_seconds_count{{route="/v1/users"}} {line}\n' in text
        assert "episodic_http_requests_running 1\n" in text
        return int(line)

    with process(0) as second:
        with process(1) as first:
            assert [asked(first), asked(first), asked(second)] == [200, 200, 200]
            assert [counted(first), counted(second), counted(first)] == [3, 3, 3]
            assert [asked(first), asked(first), asked(first)] == [200, 200, 200]
            client_saw = counted(second)  # what the other had told by itself, once a second
            assert 5 <= client_saw <= 6
        with process(1) as another:
            assert [counted(another), counted(second)] == [6, 6]
            assert asked(another) == 200
            assert [counted(another), counted(second)] == [7, 7]


@pytest.mark.slow
def test_processes_share_the_rate_of_a_key_and_all_close_it_within_a_second_of_its_end() -> None:
    with server() as own:
        url, port = own.create("served"), free_port()
        with Memory.open(url, embedder="none", resume=False) as memory:
            memory.user("ana").add("The tap drips")
            made = memory.keys.create(role="read")
        command = [sys.executable, "-m", "episodic_agent", "--db", url, "--embedder", "none", "serve"]
        options = ["--port", str(port), "--workers", "2", "--rate", "5"]
        process = subprocess.Popen([*command, *options], stderr=subprocess.DEVNULL)
        try:
            address = f"http://127.0.0.1:{port}"
            until_ready(address)
            children = serving_children(process.pid)
            assert len(children) == 2

            def asked() -> int:  # each time another connection, so that either may take it
                headers = {"Authorization": f"Bearer {made.token}", "Connection": "close"}
                return int(httpx2.get(f"{address}/v1/users", headers=headers, timeout=30).status_code)

            begun, answers = time.monotonic(), list[int]()
            with ThreadPoolExecutor(8) as pool:
                answers += pool.map(lambda _: asked(), range(60))
            most = 2 * 5 + 5 * (time.monotonic() - begun) + 1
            assert 10 <= answers.count(200) <= most
            assert answers.count(429) == 60 - answers.count(200)
            with Memory.open(url, embedder="none", resume=False) as memory:
                memory.keys.revoke(made.key.id)
            time.sleep(1.0)
            assert {asked() for _ in range(20)} == {401}
        finally:
            process.terminate()
            process.wait(40)


@pytest.mark.slow
def test_processes_end_with_the_one_that_began_them() -> None:
    with server() as own:
        url, port = own.create("served"), free_port()
        command = [sys.executable, "-m", "episodic_agent", "--db", url, "--embedder", "hashing", "serve"]
        process = subprocess.Popen(
            [*command, "--port", str(port), "--workers", "2"], stderr=subprocess.DEVNULL
        )
        until_ready(f"http://127.0.0.1:{port}")
        children = serving_children(process.pid)
        process.kill()
        process.wait()
        gone, alive = psutil.wait_procs(children, 40)
        assert (len(gone), alive) == (2, [])


@pytest.mark.slow
def test_kills_of_workers_and_servers_lose_and_double_nothing() -> None:

    figures = soak(10.0)
    wrong = {name: figures[name] for name in ("lost", "doubled", "disordered", "unknown", "dead_jobs")}
    assert wrong == dict.fromkeys(wrong, 0)
    assert figures["kills"] > 0
    assert figures["messages_acknowledged"] > 20


def serving_children(pid: int) -> list[psutil.Process]:
    with suppress(psutil.NoSuchProcess):
        return [p for p in psutil.Process(pid).children() if "spawn_main" in " ".join(p.cmdline())]
    return []


def until_ready(address: str) -> None:
    for _ in range(600):
        with suppress(httpx2.TransportError):
            if httpx2.get(f"{address}/readyz").status_code == 200:
                return
        time.sleep(0.1)
    raise AssertionError("the server never became ready")

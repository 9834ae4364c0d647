"""The process that serves: how it begins and ends, who is too slow, several processes over one database."""

import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import httpx2
import psutil
import pytest
import uvicorn
from builders.commands import Run

from benchmarks.http_service import soak
from benchmarks.servers import server
from episodic_agent import Memory
from episodic_agent.faces.http import serving
from episodic_agent.faces.http.app import make_app
from episodic_agent.faces.http.draining import EndOfService
from episodic_agent.faces.http.opening import answering
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


def test_who_sends_no_request_is_cut(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(serving, "SLOWEST", 0.3)
    with running(Memory.open(tmp_path / "memory.db", embedder="none")) as (_, url, _thread):
        for begun in (b"", b"GET /v1/users HTTP/1.1\r\nHost: 127"):
            with socket.create_connection(("127.0.0.1", int(url.rpartition(":")[2])), 10) as slow:
                slow.sendall(begun)
                assert slow.recv(1) == b""  # the other end closed it
        assert httpx2.get(f"{url}/v1/users").status_code == 200


def test_while_the_memory_is_opened_it_lives_and_is_not_ready() -> None:
    port = free_port()
    with answering("127.0.0.1", port):
        url = f"http://127.0.0.1:{port}"
        assert httpx2.get(f"{url}/healthz").json() == {"status": "ok"}
        for answer in (
            httpx2.get(f"{url}/readyz"),
            httpx2.post(f"{url}/v1/users/ana/search", json={"query": "x"}),
        ):
            assert (answer.status_code, answer.headers["retry-after"]) == (503, "1")
            assert answer.headers["content-type"] == "application/problem+json"
            assert "being opened" in answer.json()["detail"]
    with socket.create_server(("127.0.0.1", port)):
        pass  # the port is free again


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

    figures = soak(20.0)
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

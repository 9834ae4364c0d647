"""The service under load, and under blows, on a PostgreSQL of its own: this machine asks itself.

`load`: fifty clients at once add, search and ask for contexts; how long each takes. `soak`: clients add
batches and repeat whatever was not answered, while processes that serve, that work and the whole service are
killed; what was acknowledged must be there in the end, once, in order, and nothing else.
"""

import json
import os
import random
import signal
import socket
import subprocess
import threading
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from typing import Any, Final

import httpx2
import psutil

from benchmarks.provenance import ROOT, interpreter
from benchmarks.servers import server
from episodic_agent import Client, EpisodicError, Memory

CLIENTS, QUICK_CLIENTS = 50, 10
SECONDS, QUICK_SECONDS = 60.0, 5.0
SOAK, QUICK_SOAK = 600.0, 20.0
WRITERS: Final = 6
PROCESSES: Final = 2
PACE: Final = (0.5, 3.0)  # seconds between blows
PATIENCE: Final = 300.0  # seconds until all that follows must be done
KEYS: Final = 5  # each has 32 requests at once in a process
TALK: Final = (
    "I am moving to Lisbon in May", "The kitchen tap drips again", "My sister Hannah is a nurse",
    "We booked the flights for the third", "The landlord sends a plumber on Monday",
    "Could you remind me of the dentist?", "I never eat peanuts", "The tests fail since the last release",
)  # fmt: skip


def measure(*, quick: bool = False) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield (key, figures) of the load and the soak."""
    yield "load", load(quick=quick)
    yield "soak", soak(QUICK_SOAK if quick else SOAK)


def free_port() -> int:
    """Return a port of this machine that nobody listens on."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


class Service:
    """`episodic serve` in a process of its own, with keys, over one database."""

    def __init__(self, url: str, *, embedder: str = "hashing", workers: int = PROCESSES) -> None:
        self.port = free_port()
        self.address = f"http://127.0.0.1:{self.port}"
        self._url, self._embedder, self._workers = url, embedder, workers
        with Memory.open(url, embedder="none", resume=False) as memory:
            self.tokens = [memory.keys.create(role="admin").token for _ in range(KEYS)]
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start; returns when it is ready."""
        self._process = self.run("serve", "--port", f"{self.port}", "--rate", "100000",
                                 "--workers", f"{self._workers}")  # fmt: skip
        for _ in range(600):
            with suppress(httpx2.TransportError):
                if httpx2.get(f"{self.address}/readyz", timeout=5).status_code == 200:
                    return
            time.sleep(0.1)
        raise RuntimeError("the service never became ready")

    def run(self, *words: str) -> "subprocess.Popen[bytes]":
        """Start a command on the memory."""
        command = [interpreter(), "-m", "episodic_agent", "--db", self._url, "--embedder", self._embedder]
        quiet = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        return subprocess.Popen([*command, *words], cwd=ROOT, env=dict(os.environ), **quiet)  # type: ignore[call-overload, no-any-return]

    def processes(self) -> list[psutil.Process]:
        """Return the processes that serve."""
        assert self._process is not None
        with suppress(psutil.NoSuchProcess):
            return [
                p
                for p in psutil.Process(self._process.pid).children()
                if "resource_tracker" not in "".join(_words(p))
            ]
        return []

    def stop(self, *, kill: bool = False) -> None:
        """Tell all of it to end, or kill it; returns when it is gone."""
        assert self._process is not None
        own = self.processes()
        if kill:
            for process in (self._process, *own):
                with suppress(psutil.NoSuchProcess):
                    process.kill()
        else:
            self._process.terminate()
        self._process.wait(60)
        psutil.wait_procs(own, 30)


def _words(process: psutil.Process) -> Sequence[str]:
    with suppress(psutil.Error):
        return list(process.cmdline())
    return ()


@contextmanager
def service(**options: Any) -> Iterator[Service]:
    """Start a database and a service over it."""
    with server() as own:
        made = Service(own.create("served"), **options)
        made.start()
        try:
            yield made
        finally:
            made.stop(kill=True)


# --- load -------------------------------------------------------------------------------------------------


def load(*, quick: bool = False, embedder: str = "minilm") -> dict[str, Any]:
    """Let many clients ask at once; return milliseconds by verb, and requests a second over all."""
    clients, seconds = (QUICK_CLIENTS, QUICK_SECONDS) if quick else (CLIENTS, SECONDS)
    with service(embedder="hashing" if quick else embedder) as made:
        spent: dict[str, list[float]] = {"add": [], "search": [], "context": []}
        refused: Counter[str] = Counter()
        until = time.monotonic() + 3 + seconds  # each begins by a talk to remember
        with ThreadPoolExecutor(clients) as pool:
            list(pool.map(lambda n: _client(made, n, until, spent, refused), range(clients)))
    total = sum(map(len, spent.values()))
    return {
        "clients": clients,
        "processes": PROCESSES,
        "embedder": "hashing" if quick else embedder,
        "seconds": seconds,
        "requests_per_second": round(total / seconds, 1),
        "refused": dict(refused),
        **{f"{verb}_ms": quantiles(values) for verb, values in spent.items()},
    }


def _client(
    made: Service, number: int, until: float, spent: dict[str, list[float]], refused: Counter[str]
) -> None:
    draw = random.Random(number)
    with Client(made.address, key=made.tokens[number % KEYS], timeout=120) as client:
        user = client.user(f"user {number}")
        user.add([{"content": text} for text in TALK], thread="talk", wait=False)
        turn = 0
        while time.monotonic() < until:
            turn += 1
            verb = ("add", "search", "context")[turn % 3]
            text = draw.choice(TALK)
            begun = time.perf_counter()
            try:
                if verb == "add":
                    user.add(f"{text}, {turn}", thread=f"talk {turn // 60}", wait=False)
                elif verb == "search":
                    user.search(text)
                else:
                    user.context(text)
            except EpisodicError as error:
                refused[type(error).__name__] += 1
            else:
                spent[verb].append(1000 * (time.perf_counter() - begun))


def quantiles(values: Sequence[float]) -> dict[str, float]:
    """Return p50, p95 and p99 of some values, and how many they are."""
    ordered = sorted(values)
    names = {"p50": 0.5, "p95": 0.95, "p99": 0.99}
    return {name: round(ordered[int(share * (len(ordered) - 1))], 1) for name, share in names.items()} | {
        "n": len(ordered)
    }


# --- soak -------------------------------------------------------------------------------------------------


class Soak:
    """Writers that repeat what was not answered, and who kills what serves them."""

    def __init__(self, made: Service, seconds: float, seed: int = 1) -> None:
        self.made, self.until = made, time.monotonic() + seconds
        self.kills: Counter[str] = Counter()
        self.counts: Counter[str] = Counter()
        self.acknowledged: dict[str, list[str]] = {}  # texts by user, in the order they were sent
        self.worker = made.run("worker")
        self._draw = random.Random(seed)

    def write(self, number: int) -> None:
        """Add batches for one user, each as often as it takes until it is acknowledged."""
        user, turn = f"user {number}", 0
        kept = self.acknowledged[user] = []
        headers = {"Authorization": f"Bearer {self.made.tokens[number % KEYS]}"}
        with httpx2.Client(base_url=self.made.address, headers=headers, timeout=60) as http:
            while time.monotonic() < self.until:
                turn += 1
                texts = [
                    f"{TALK[(turn + n) % len(TALK)]} ({number}, {turn}, {n})" for n in range(1 + turn % 4)
                ]
                body = {"messages": [{"content": text} for text in texts], "thread": f"t{turn // 25}"}
                self._until_acknowledged(http, f"/v1/users/{user}/messages", body, f"{number}-{turn}")
                kept += texts

    def _until_acknowledged(self, http: httpx2.Client, path: str, body: Any, key: str) -> None:
        while True:
            try:
                answer = http.post(path, json=body, headers={"Idempotency-Key": key})
            except httpx2.TransportError:
                self.counts["cut"] += 1
                time.sleep(0.05)
                continue
            if answer.status_code == 202:
                self.counts["acknowledged"] += 1
                return
            if answer.status_code not in (429, 503) or "retry-after" not in answer.headers:
                raise RuntimeError(f"{answer.status_code}: {answer.text[:300]}")
            self.counts[f"refused with {answer.status_code}"] += 1
            time.sleep(0.2)

    def strike(self) -> None:
        """Kill, until the time is over, what serves or works, and now and then stop all of it."""
        ways = ("server process", "worker", "server process", "whole service", "told to stop")
        n = 0
        while time.monotonic() < self.until:
            time.sleep(self._draw.uniform(*PACE))
            way = ways[n % len(ways)]
            n += 1
            if way == "server process":
                alive = self.made.processes()
                if not alive:
                    continue
                with suppress(psutil.NoSuchProcess):
                    self._draw.choice(alive).kill()
            elif way == "worker":
                self.worker.kill()
                self.worker.wait()
                self.worker = self.made.run("worker")
            else:
                self.made.stop(kill=way == "whole service")
                self.made.start()
            self.kills[way] += 1

    def settle(self) -> float:
        """Wait until nothing is left to do; return the seconds it took."""
        begun = time.monotonic()
        with Client(self.made.address, key=self.made.tokens[0]) as client:
            while time.monotonic() - begun < PATIENCE:
                with suppress(EpisodicError):
                    if not [
                        job
                        for job in client.jobs.list()
                        if job.state != "dead" and job.kind in ("embed", "encode", "pieces")
                    ]:
                        return time.monotonic() - begun
                time.sleep(0.5)
        raise RuntimeError(f"work is left after {PATIENCE:g} s")

    def compare(self) -> dict[str, int]:
        """Compare what is there with what was acknowledged: lost, doubled, out of order, dead jobs."""
        wrong: Counter[str] = Counter(lost=0, doubled=0, disordered=0, unknown=0)
        with Client(self.made.address, key=self.made.tokens[0]) as client:
            wrong["dead jobs"] = len(client.jobs.list(state="dead"))
            for user, texts in self.acknowledged.items():
                threads: dict[str, list[str]] = {}
                for line in client.user(user).export():
                    row = json.loads(line)
                    if row.get("type") == "observation" or "text" in row:
                        threads.setdefault(str(row.get("thread_id") or row.get("thread")), []).append(
                            row["text"]
                        )
                there = [text for some in threads.values() for text in some]
                counts = Counter(there)
                wrong["lost"] += sum(text not in counts for text in texts)
                wrong["doubled"] += sum(number - 1 for number in counts.values())
                wrong["unknown"] += len(counts.keys() - set(texts))
                places = {text: n for n, text in enumerate(texts)}
                for some in threads.values():
                    order = [places[text] for text in some if text in places]
                    wrong["disordered"] += order != sorted(order)
        return dict(wrong)


def soak(seconds: float) -> dict[str, Any]:
    """Kill what serves for so many seconds while clients write; return the counts."""
    with service() as made:
        trial = Soak(made, seconds)
        blows = threading.Thread(target=trial.strike)
        try:
            blows.start()
            with ThreadPoolExecutor(WRITERS) as pool:
                list(pool.map(trial.write, range(WRITERS)))
            blows.join()
            settled = trial.settle()
            wrong = trial.compare()
        finally:
            trial.until = 0.0
            blows.join()
            trial.worker.send_signal(signal.SIGKILL)
            trial.worker.wait()
    messages = sum(map(len, trial.acknowledged.values()))
    return {
        "seconds": seconds,
        "writers": WRITERS,
        "messages_acknowledged": messages,
        "kills": sum(trial.kills.values()),
        "kills_by_kind": dict(sorted(trial.kills.items())),
        "requests": dict(sorted(trial.counts.items())),
        "settled_after_s": round(settled, 1),
        **{name.replace(" ", "_"): count for name, count in wrong.items()},
    }

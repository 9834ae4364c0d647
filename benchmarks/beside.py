"""The service beside others' servers: fifty clients at once, the engines by turns, on this machine.

    python -m benchmarks.beside --langgraph VENV --chroma VENV [--seconds 10] [--rounds 3]

The others are installed by whoever runs this, each in an environment of its own (`langgraph-cli[inmem]`,
`chromadb`), and started here without key and network. All make vectors of 256 hashed words, so that no model
is measured: ours and LangGraph's server by itself, Chroma's is sent them, as its interface asks. Every
client has a user (namespace, collection) of its own with eight messages in it, and adds and asks in turn.
"""

import argparse
import hashlib
import json
import random
import re
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final
from uuid import uuid4

import httpx2

from benchmarks.http_service import TALK, Service, free_port, quantiles, service
from benchmarks.provenance import provenance
from benchmarks.results import merge

RESULTS: Final = Path(__file__).parent / "results"
CLIENTS: Final = 50
FOUND: Final = 10  # of a search
WIDTH: Final = 256
PATIENCE: Final = 120.0  # seconds until a server answers
GRAPH: Final = """
from typing import TypedDict
from langgraph.graph import END, START, StateGraph

class State(TypedDict):
    text: str

building = StateGraph(State)
building.add_node("same", lambda state: state)
building.add_edge(START, "same")
building.add_edge("same", END)
graph = building.compile()
"""
EMBED: Final = """
import hashlib, re

def hashed(text):
    vector = [0.0] * 256
    for word in re.findall(r"\\w+", text.lower()):
        digest = int.from_bytes(hashlib.blake2b(word.encode(), digest_size=8).digest(), "big")
        vector[digest % 256] += 1.0 if digest >> 63 else -1.0
    length = sum(x * x for x in vector) ** 0.5 or 1.0
    return [x / length for x in vector]

async def embed(texts):
    return [hashed(text) for text in texts]
"""
Ask = Callable[[httpx2.Client, str, str], httpx2.Response]  # of a user, about a text


@dataclass(frozen=True, slots=True)
class Rival:
    """A server that runs, and how it is asked: by the name of what is asked; clients take `keys` by turns."""

    name: str
    address: str
    verbs: Mapping[str, Ask]
    keys: Sequence[str] = ("",)


def hashed(text: str) -> list[float]:
    """Return what the servers make of a text themselves, for the one that is sent vectors."""
    vector = [0.0] * WIDTH
    for word in re.findall(r"\w+", text.lower()):
        digest = int.from_bytes(hashlib.blake2b(word.encode(), digest_size=8).digest(), "big")
        vector[digest % WIDTH] += 1.0 if digest >> 63 else -1.0
    length = sum(x * x for x in vector) ** 0.5 or 1.0
    return [x / length for x in vector]


# --- ours -------------------------------------------------------------------------------------------------


def ours(name: str, made: Service) -> Rival:
    """Return our own service."""
    at = "/v1/users/{}/{}".format
    return Rival(
        name,
        made.address,
        {
            "add": lambda http, user, text: http.post(
                at(user, "messages"), json={"thread": "talk", "messages": [{"content": text}]}
            ),
            "search": lambda http, user, text: http.post(
                at(user, "search"), json={"query": text, "limit": FOUND}
            ),
            "context": lambda http, user, text: http.post(at(user, "context"), json={"message": text}),
        },
        made.tokens,
    )


@contextmanager
def file_service() -> Iterator[Rival]:
    """Serve a file from one process."""
    with TemporaryDirectory(prefix="episodic-") as folder:
        made = Service(str(Path(folder) / "memory.db"), workers=1)
        made.start()
        try:
            yield ours("episodic, SQLite, 1 process", made)
        finally:
            made.stop(kill=True)


@contextmanager
def server_service() -> Iterator[Rival]:
    """Serve a database on PostgreSQL from two processes."""
    with service() as made:
        yield ours("episodic, PostgreSQL, 2 processes", made)


# --- others -----------------------------------------------------------------------------------------------


@contextmanager
def langgraph(environment: Path) -> Iterator[Rival]:
    """Start LangGraph's in-memory server with a store that embeds."""
    with TemporaryDirectory(prefix="beside-") as folder:
        (Path(folder) / "graph.py").write_text(GRAPH, encoding="utf-8")
        (Path(folder) / "embed.py").write_text(EMBED, encoding="utf-8")
        index = {"embed": "./embed.py:embed", "dims": WIDTH}
        config = {"dependencies": ["."], "graphs": {"same": "./graph.py:graph"}, "store": {"index": index}}
        (Path(folder) / "langgraph.json").write_text(json.dumps(config), encoding="utf-8")
        port = free_port()
        command = ["langgraph", "dev", "--no-browser", "--no-reload", "--port", f"{port}"]
        with _started(environment, command, folder, f"http://127.0.0.1:{port}", "/ok") as address:
            yield Rival(
                "LangGraph's in-memory server",
                address,
                {
                    "add": lambda http, user, text: http.put(
                        "/store/items",
                        json={"namespace": [user], "key": uuid4().hex, "value": {"text": text}},
                    ),
                    "search": lambda http, user, text: http.post(
                        "/store/items/search",
                        json={"namespace_prefix": [user], "query": text, "limit": FOUND},
                    ),
                },
            )


@contextmanager
def chroma(environment: Path) -> Iterator[Rival]:
    """Start Chroma's server over a folder."""
    with TemporaryDirectory(prefix="beside-") as folder:
        port = free_port()
        command = ["chroma", "run", "--path", folder, "--port", f"{port}"]
        base = "/api/v2/tenants/default_tenant/databases/default_database/collections"
        known: dict[str, str] = {}

        def collection(http: httpx2.Client, user: str) -> str:
            if user not in known:
                answer = http.post(base, json={"name": f"user-{user}", "get_or_create": True})
                known[user] = answer.json()["id"]
            return f"{base}/{known[user]}"

        with _started(
            environment, command, folder, f"http://127.0.0.1:{port}", "/api/v2/heartbeat"
        ) as address:
            yield Rival(
                "Chroma's server",
                address,
                {
                    "add": lambda http, user, text: http.post(
                        f"{collection(http, user)}/add",
                        json={"ids": [uuid4().hex], "embeddings": [hashed(text)], "documents": [text]},
                    ),
                    "search": lambda http, user, text: http.post(
                        f"{collection(http, user)}/query",
                        json={"query_embeddings": [hashed(text)], "n_results": FOUND},
                    ),
                },
            )


@contextmanager
def _started(
    environment: Path, command: Sequence[str], folder: str, address: str, alive: str
) -> Iterator[str]:
    """Run a program of an environment until the block ends; yield its address once it answers."""
    told = {"LANGSMITH_TRACING": "false", "LANGGRAPH_CLI_NO_ANALYTICS": "1", "ANONYMIZED_TELEMETRY": "False",
            "PATH": f"{environment / 'bin'}:/usr/bin:/bin", "HOME": folder}  # fmt: skip
    program = [str(environment / "bin" / command[0]), *command[1:]]
    quiet = subprocess.DEVNULL
    process = subprocess.Popen(program, cwd=folder, env=told, stdout=quiet, stderr=quiet, stdin=quiet)
    try:
        until = time.monotonic() + PATIENCE
        while time.monotonic() < until and process.poll() is None:
            with suppress(httpx2.TransportError):
                if httpx2.get(f"{address}{alive}", timeout=5).status_code == 200:
                    yield address
                    return
            time.sleep(0.2)
        raise RuntimeError(f"{program[0]} never answered")
    finally:
        process.terminate()
        process.wait(30)


# --- the race ---------------------------------------------------------------------------------------------


class Race:
    """What each engine was asked so far: milliseconds by verb, refusals, and requests a second by round."""

    def __init__(self) -> None:
        self.spent: dict[str, list[float]] = {}
        self.refused: Counter[str] = Counter()
        self.rates: list[float] = []

    def run(self, rival: Rival, clients: int, seconds: float, turn: int) -> None:
        """Let so many clients ask for so long; each waits for its answer before it asks again."""
        ready = threading.Barrier(clients + 1)
        before = sum(map(len, self.spent.values()))
        threads = [
            threading.Thread(target=self._client, args=(rival, n, seconds, turn, ready))
            for n in range(clients)
        ]
        for thread in threads:
            thread.start()
        ready.wait()
        begun = time.monotonic()
        for thread in threads:
            thread.join()
        answered = sum(map(len, self.spent.values())) - before
        self.rates.append(round(answered / (time.monotonic() - begun), 1))

    def _client(self, rival: Rival, number: int, seconds: float, turn: int, ready: threading.Barrier) -> None:
        draw, user = random.Random(1000 * turn + number), f"{turn}-{number}"
        key = rival.keys[number % len(rival.keys)]
        headers = {"Authorization": f"Bearer {key}"} if key else {}
        with httpx2.Client(base_url=rival.address, headers=headers, timeout=120) as http:
            for text in TALK:
                while not rival.verbs["add"](http, user, text).is_success:
                    time.sleep(0.1)
            ready.wait()
            until, asked = time.monotonic() + seconds, 0
            while time.monotonic() < until:
                asked += 1
                verb = [*rival.verbs][asked % len(rival.verbs)]
                text = f"{draw.choice(TALK)}, {asked}" if verb == "add" else draw.choice(TALK)
                begun = time.perf_counter()
                try:
                    answer = rival.verbs[verb](http, user, text)
                except httpx2.TransportError:  # as where a connection that was idle is closed meanwhile
                    self.refused[f"{verb} cut"] += 1
                    continue
                if answer.is_success:
                    self.spent.setdefault(verb, []).append(1000 * (time.perf_counter() - begun))
                else:
                    self.refused[f"{verb} {answer.status_code}"] += 1

    def row(self) -> dict[str, Any]:
        """Return the figures of an engine."""
        figures = {f"{verb}_ms": quantiles(values) for verb, values in sorted(self.spent.items())}
        return {"requests_per_second": self.rates, "refused": dict(self.refused), **figures}


def measure(
    rivals: Sequence[Rival], clients: int, seconds: float, rounds: int
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield what each engine did, in turns that begin with another one each round."""
    races = {rival.name: Race() for rival in rivals}
    for turn in range(rounds):
        first = turn % len(rivals)
        for rival in (*rivals[first:], *rivals[:first]):
            races[rival.name].run(rival, clients, seconds, turn)
    for name, race in races.items():
        yield name, {"clients": clients, "seconds": seconds, "rounds": rounds, **race.row()}


def main() -> None:
    """Measure, keep the rows, print them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--langgraph", type=Path, help="an environment with langgraph-cli[inmem]")
    parser.add_argument("--chroma", type=Path, help="an environment with chromadb")
    parser.add_argument("--clients", type=int, default=CLIENTS)
    parser.add_argument("--seconds", type=float, default=10.0, help="of an engine in a round")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--output", type=Path, default=RESULTS)
    options = parser.parse_args()
    with ExitStack() as stack:
        rivals = [stack.enter_context(file_service()), stack.enter_context(server_service())]
        for environment, start in ((options.langgraph, langgraph), (options.chroma, chroma)):
            if environment is not None:
                rivals.append(stack.enter_context(start(environment.absolute())))
        for key, row in measure(rivals, options.clients, options.seconds, options.rounds):
            merge(options.output, "beside", {key: {**row, **provenance(sys.argv[1:])}})
            sys.stdout.write(json.dumps({key: row}) + "\n")


if __name__ == "__main__":
    main()

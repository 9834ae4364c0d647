"""Writers and workers on PostgreSQL: how much more four writers do than one, and what a job costs.

The server is started for the measurement, with its own defaults: every commit is synced to the disk. One and
four writers take turns in every round, so that a busy machine slows both. How much four do more than one
hangs on how long one waits for the disk, so single commits are measured twice: with the disk there is, and
with one that takes `SLOW_DISK` microseconds to sync (the server's own `commit_delay`).
"""

import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime, timedelta
from typing import Any

import psycopg

from benchmarks.provenance import ROOT, interpreter
from benchmarks.servers import server
from benchmarks.speed import spread
from episodic_agent.protocols import Store
from episodic_agent.schemas import Scope
from episodic_agent.stores.lease import process_owner
from episodic_agent.wiring import load_settings, make_store

WRITERS = 4
ROUNDS, QUICK_ROUNDS = 7, 3
SINGLES, QUICK_SINGLES = 300, 60
CHUNKED, QUICK_CHUNKED = 2_048, 512
CHUNK = 256
JOBS, QUICK_JOBS = 640, 128
BATCHES = (1, 64)
SLOW_DISK = 2_000  # microseconds a sync takes on network volumes and disks with little cache
SCOPE = Scope("ana", "default")
LEASE = timedelta(minutes=5)
NOW = datetime(2025, 6, 1, tzinfo=UTC)


def measure(*, quick: bool = False) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield (key, figures) of every benchmark of the service."""
    with server() as own:
        url = own.create("bench")
        rounds = QUICK_ROUNDS if quick else ROUNDS
        singles = QUICK_SINGLES if quick else SINGLES
        yield "sync", {"ms": spread(syncs(url, 50 if quick else 500))}
        with writing(url) as writers:
            yield "writers, single commits", beside(writers, singles, 1, rounds)
            chunked = QUICK_CHUNKED if quick else CHUNKED
            yield "writers, chunks", beside(writers, chunked, CHUNK, rounds)
        with psycopg.connect(url, autocommit=True) as db:
            db.execute(f"ALTER DATABASE bench SET commit_delay = {SLOW_DISK}")
            db.execute("ALTER DATABASE bench SET commit_siblings = 0")
        with writing(url) as writers:
            yield "writers, single commits, slow disk", beside(writers, singles, 1, rounds)
        with psycopg.connect(url, autocommit=True) as db:
            db.execute("ALTER DATABASE bench RESET ALL")
        yield "jobs", jobs(url, QUICK_JOBS if quick else JOBS)


@contextmanager
def writing(url: str) -> "Iterator[Sequence[Writer]]":
    """Start the writers and give each its own thread of one user."""
    with ExitStack() as stack:
        yield [stack.enter_context(Writer(url, n)) for n in range(WRITERS)]


def syncs(url: str, count: int) -> list[float]:
    """Time commits of one small row: what is left is the sync."""
    with psycopg.connect(url, autocommit=True) as db:
        db.execute("CREATE TABLE public.trial (n int)")
        spent = []
        for n in range(count):
            started = time.perf_counter()
            db.execute("INSERT INTO public.trial VALUES (%s)", (n,))
            spent.append(1000 * (time.perf_counter() - started))
        db.execute("DROP TABLE public.trial")
    return spent


class Writer:
    """The other end of `benchmarks.writer`."""

    def __init__(self, url: str, number: int) -> None:
        command = [interpreter(), "-m", "benchmarks.writer", url, str(number)]
        self._process = subprocess.Popen(
            command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        self._answer()

    def order(self, count: int, chunk: int) -> None:
        """Let it write, without waiting for the end."""
        assert self._process.stdin is not None
        print(count, chunk, file=self._process.stdin, flush=True)

    def wait(self) -> float:
        """Return the seconds its last order took."""
        return float(self._answer())

    def _answer(self) -> str:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise RuntimeError("a writer died; its message is above")
        return line

    def __enter__(self) -> "Writer":
        return self

    def __exit__(self, *_: object) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait(30)


def beside(writers: Sequence[Writer], count: int, chunk: int, rounds: int) -> dict[str, Any]:
    """Let one and then all write, in turns; return messages per second and the ratio of the two."""
    item, many = [], []
    for turn in range(rounds + 1):
        alone = _together(writers[turn % len(writers) :][:1], count, chunk)
        together = _together(writers, count, chunk)
        if turn:  # the first round fills caches
            item.append(alone)
            many.append(together)
    return {
        "writers": len(writers),
        "messages_per_writer": count,
        "chunk": chunk,
        "rounds": rounds,
        "one_per_second": spread(item),
        "all_per_second": spread(many),
        "ratio": spread([all_ / alone for all_, alone in zip(many, item, strict=True)]),
    }


def _together(writers: Sequence[Writer], count: int, chunk: int) -> float:
    """Return messages per second of these writers at once, to the end of the last."""
    started = time.perf_counter()
    for writer in writers:
        writer.order(count, chunk)
    for writer in writers:
        writer.wait()
    return len(writers) * count / (time.perf_counter() - started)


def jobs(url: str, count: int) -> dict[str, Any]:
    """Time claim and finish of jobs that do nothing else, in batches of one and of many."""
    store = make_store(url, load_settings())
    try:
        results: dict[str, Any] = {"jobs": count}
        for batch in BATCHES:
            _ask(store, count)
            results[f"ms_per_job_in_batches_of_{batch}"] = spread(_work_off(store, batch))
        return results
    finally:
        store.close()


def _ask(store: Store, count: int) -> None:
    with store.begin(SCOPE) as tx:
        for n in range(count):
            tx.upkeep.ask("nothing", str(n), str(n), now=NOW)


def _work_off(store: Store, batch: int) -> list[float]:
    spent = []
    while True:
        started = time.perf_counter()
        claimed = store.claim(
            process_owner(), now=NOW, lease=LEASE, limit=batch, space=SCOPE.space, kinds=["nothing"]
        )
        if claimed is None:
            return spent
        with store.begin(claimed[0]) as tx:
            for job in claimed[1]:
                tx.upkeep.drop(job)
        spent.append(1000 * (time.perf_counter() - started) / len(claimed[1]))

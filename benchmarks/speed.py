"""Speed and size, in one run, the two sides of each ratio alternating: ingest, recall, growth, start-up."""

import json
import math
import os
import statistics
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import numpy as np

from benchmarks.provenance import ROOT, give_back, interpreter, one_core
from benchmarks.synthetic import Vocabulary, WordVectors, conversation, questions, real_texts
from benchmarks.users import USER, mine
from benchmarks.vectors import Remembering
from episodic_agent.protocols import Embedder
from episodic_agent.schemas import Receipt
from episodic_agent.wiring import Memory

Messages = Sequence[Mapping[str, Any]]
SIZES, QUICK_SIZES = (10_000, 50_000, 100_000), (2_000, 5_000, 10_000)
GIVEN, QUICK_GIVEN = 10_000, 2_000
REAL, QUICK_REAL = 1_000, 200  # messages of each source
ROUNDS, QUICK_ROUNDS = 5, 3
SEARCHES = 205
WORDS = tuple("abcdefghijklmnopqrstuvwxyz")  # where there is no data to take words from
SYNCHRONOUS = "EPISODIC_SYNCHRONOUS"


class Deferring(Memory):
    """A memory that leaves titles and summaries for `jobs.run()`, so that both can be timed apart."""

    def add(self, user: str, *values: Any, **more: Any) -> list[Receipt]:
        """Keep observations of a user with their vectors and boundaries, and leave the rest."""
        later = self._works.later
        later.here = False
        try:
            return self.user(user).add(*values, **more)
        finally:
            later.here = True


def measure(data: Path, embedder: Embedder, *, quick: bool = False) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield (key, figures) of every speed benchmark."""
    yield "start-up", startup(3 if quick else 7)
    real = real_texts(data, QUICK_REAL if quick else REAL)
    rounds = QUICK_ROUNDS if quick else ROUNDS
    if real:
        yield "ingest beside the embedder alone", beside_embedder(real, embedder, rounds)
    vocabulary = Vocabulary.of(m["content"] for messages in real.values() for m in messages)
    if not vocabulary.words:
        vocabulary = Vocabulary(WORDS, [1] * len(WORDS), [8])
    count = QUICK_GIVEN if quick else GIVEN
    yield "ingest with vectors given", vectors_given(vocabulary, count, rounds)
    yield from growth(vocabulary, QUICK_SIZES if quick else SIZES)


# --- ingest ---


def beside_embedder(
    real: Mapping[str, Sequence[dict[str, Any]]], embedder: Embedder, rounds: int
) -> dict[str, Any]:
    """Alternate a whole ingest with the embedder alone on the same texts (summaries too), same calls."""
    recorder = Remembering(embedder)
    add_all(real, recorder)  # warms the model up and tells which texts are embedded, in which batches
    calls = list(recorder.calls)
    full, alone = [], []
    for _ in range(rounds):
        full.append(timed(lambda: add_all(real, embedder)))
        alone.append(timed(lambda: [embedder.embed(texts) for texts in calls]))
    count = sum(map(len, real.values()))
    pairs = list(zip(alone, full, strict=True))
    return {
        "messages": count,
        "embedded_texts": sum(map(len, calls)),
        "calls": len(calls),
        "rounds": rounds,
        "sources": {name: len(messages) for name, messages in real.items()},
        "ingest_per_second": spread([count / w.wall for w in full]),
        "embedder_alone_per_second": spread([count / a.wall for a in alone]),
        "ratio": spread([a.wall / w.wall for a, w in pairs]),
        "ratio_of_processor_time": spread([a.processor / w.processor for a, w in pairs]),
    }


def add_all(real: Mapping[str, Messages], embedder: Embedder) -> None:
    """Ingest every source as a thread of one fresh memory, and wait for titles and summaries."""
    with fresh() as path, Memory.open(path, embedder=embedder) as memory:
        for name, messages in real.items():
            mine(memory).add(messages, thread=name)


def vectors_given(vocabulary: Vocabulary, count: int, rounds: int) -> dict[str, Any]:
    """Time ingest on one core when vectors cost a look-up: what storing and segmenting take, durably."""
    messages, embedder = conversation(vocabulary, count), WordVectors(vocabulary)
    processors = one_core()
    try:
        _split(messages, embedder)  # the embedder learns every text of the run, summaries too
        values = {"normal": [_split(messages, embedder) for _ in range(rounds)]}
        with environment(SYNCHRONOUS, "full"):
            values["full"] = [_split(messages, embedder) for _ in range(rounds)]
        words_only = [_split(messages, None) for _ in range(rounds)]
    finally:
        give_back(processors)
    runs = values["normal"]
    return {
        "messages": count,
        "rounds": rounds,
        "one_core": bool(processors),
        "ingest_per_second": _rate(count, runs),
        "ingest_per_processor_second": spread([count / r["processor"] for r in runs]),
        "acknowledged_per_second": spread([count / r["add"] for r in runs]),
        "ingest_per_second_surviving_a_power_cut": _rate(count, values["full"]),
        "ingest_per_second_without_vectors": _rate(count, words_only),
        "jobs_per_second": spread([r["jobs"] / r["work"] for r in runs]),
        "episodes_per_second": spread([r["episodes"] / (r["add"] + r["work"]) for r in runs]),
        "episodes": int(runs[0]["episodes"]),
    }


def _rate(count: int, runs: Sequence[Mapping[str, float]]) -> dict[str, float]:
    return spread([count / (r["add"] + r["work"]) for r in runs])


def _split(messages: Messages, embedder: Embedder | None) -> dict[str, float]:
    """Ingest into a fresh memory and time the two parts: appending with boundaries, then the encode jobs."""
    with fresh() as path, Deferring.open(path, embedder=embedder or "none") as memory:
        add = timed(lambda: memory.add(USER, messages, thread="synthetic"))
        jobs: list[int] = []
        work = timed(lambda: jobs.append(memory.jobs.run()))
        return {
            "add": add.wall,
            "work": work.wall,
            "processor": add.processor + work.processor,
            "jobs": jobs[0],
            "episodes": mine(memory).stats().episodes,
        }


# --- growth and recall ---


def growth(vocabulary: Vocabulary, sizes: Sequence[int]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield how ingest grows with the size of a scope, and recall in the smallest and the largest one."""
    embedder = WordVectors(vocabulary)
    spent: list[Spent] = []
    weights = []
    for count in sizes:
        with fresh() as path:
            messages = conversation(vocabulary, count)
            embedder.embed([m["content"] for m in messages])  # from here on a look-up
            spent.append(_build(path, messages, embedder))
            weights.append(path.stat().st_size / count)
            if count in (min(sizes), max(sizes)):
                scope = "large" if count == max(sizes) else "small"
                yield f"recall in a {scope} scope", recall(path, messages, embedder)
    yield (
        "growth",
        {
            "sizes": list(sizes),
            "seconds": [round(s.wall, 2) for s in spent],
            "per_second": [round(n / s.wall) for n, s in zip(sizes, spent, strict=True)],
            "exponent": round(exponent(sizes, [s.wall for s in spent]), 3),
            "exponent_of_processor_time": round(exponent(sizes, [s.processor for s in spent]), 3),
            "bytes_per_observation": [round(w) for w in weights],
            "bytes_per_observation_beyond_its_vector": [round(w) - embedder.dimensions * 2 for w in weights],
        },
    )


def _build(path: Path, messages: Messages, embedder: Embedder) -> "Spent":
    with Memory.open(path, embedder=embedder) as memory:
        return timed(lambda: mine(memory).add(messages, thread="synthetic"))


def recall(path: Path, messages: Sequence[dict[str, Any]], embedder: WordVectors) -> dict[str, Any]:
    """Ask a finished store in a process of its own (see `benchmarks.scope`)."""
    asked = questions(messages, SEARCHES)
    file = path.with_suffix(".npz")
    np.savez(file, questions=np.array(asked), vectors=embedder.embed(asked))
    command = [interpreter(), "-m", "benchmarks.scope", str(path), str(file)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True, timeout=900)
    figures: dict[str, Any] = json.loads(done.stdout)
    return figures


def exponent(sizes: Sequence[int], seconds: Sequence[float]) -> float:
    """Return the power of the size that the time grows with: the slope of the logs, by least squares.

    >>> round(exponent([10, 100, 1000], [1.0, 10.0, 100.0]), 3)
    1.0
    """
    slope, _ = np.polyfit([math.log(n) for n in sizes], [math.log(s) for s in seconds], 1)
    return float(slope)


# --- start-up ---


def startup(rounds: int) -> dict[str, Any]:
    """Time what every process pays: the interpreter, the package, the engine, the command line."""
    commands = {
        "python_ms": ["-c", "pass"],
        "import_package_ms": ["-c", "import episodic_agent"],
        "import_memory_ms": ["-c", "from episodic_agent import Memory"],
        "help_ms": ["-m", "episodic_agent", "--help"],
    }
    spent: dict[str, list[float]] = {name: [] for name in commands}
    for turn in range(rounds + 1):
        for name, arguments in commands.items():
            seconds = timed(lambda a=arguments: _quietly(a)).wall  # type: ignore[misc]
            if turn:  # the first round reads files into the cache
                spent[name].append(1000 * seconds)
    results: dict[str, Any] = {name: spread(times) for name, times in spent.items()}
    base = results["python_ms"]["median"]
    for name in ("import_package_ms", "import_memory_ms"):
        results[f"{name}_beyond_python"] = round(results[name]["median"] - base, 1)
    return results


def _quietly(arguments: Sequence[str]) -> None:
    subprocess.run([interpreter(), *arguments], cwd=ROOT, capture_output=True, check=True, timeout=60)


# --- the stop-watch ---


class Spent(NamedTuple):
    """Seconds on the clock, and of all processors together, which other programs disturb less."""

    wall: float
    processor: float


def timed(act: Callable[[], object]) -> Spent:
    """Return what an act takes."""
    wall, processor = time.perf_counter(), time.process_time()
    act()
    return Spent(time.perf_counter() - wall, time.process_time() - processor)


def spread(values: Sequence[float]) -> dict[str, float]:
    """Return median, least and greatest, with four digits that count.

    >>> spread([3.0, 1.0, 2.0])
    {'median': 2.0, 'min': 1.0, 'max': 3.0}
    """
    chosen = {"median": statistics.median(values), "min": min(values), "max": max(values)}
    return {name: float(f"{value:.4g}") for name, value in chosen.items()}


@contextmanager
def fresh() -> Iterator[Path]:
    """Give a path for a database in a folder that goes afterwards."""
    with TemporaryDirectory(prefix="episodic-") as folder:
        yield Path(folder) / "bench.db"


@contextmanager
def environment(name: str, value: str) -> Iterator[None]:
    """Set an environment variable for a while."""
    had = os.environ.get(name)
    os.environ[name] = value
    try:
        yield
    finally:
        if had is None:
            del os.environ[name]
        else:
            os.environ[name] = had

"""Recall in one large scope, in a process of its own: `python -m benchmarks.scope DATABASE ASKED`.

ASKED is an .npz with `questions` and their `vectors`, so that nothing here is spent on embedding. A raw scan
of as many vectors runs between the searches: the ratio of the two holds on other machines too.
"""

import json
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.provenance import resident_bytes
from benchmarks.synthetic import DIMENSIONS, WordVectors
from benchmarks.users import mine
from episodic_agent.schemas import Vector
from episodic_agent.wiring import Memory

WARM = 5


class Given:
    """An embedder that only looks up."""

    name = WordVectors.name
    dimensions = DIMENSIONS

    def __init__(self, texts: Sequence[str], vectors: Vector) -> None:
        self._known = dict(zip(texts, vectors, strict=True))

    def embed(self, texts: Sequence[str]) -> Vector:
        """Look texts up."""
        return np.stack([self._known[t] for t in texts])


def measure(database: Path, asked: Path) -> dict[str, Any]:
    """Ask all questions of a database and return times in milliseconds and sizes in bytes."""
    with np.load(asked) as file:
        texts, vectors = [str(t) for t in file["questions"]], file["vectors"].astype(np.float32)
    before = resident_bytes()
    with Memory.open(database, embedder=Given(texts, vectors)) as memory:
        started = time.perf_counter()
        mine(memory).search(texts[0])
        cold = time.perf_counter() - started
        for text in texts[:WARM]:
            mine(memory).search(text, observations=10)
        held = resident_bytes() - before
        count = mine(memory).stats().observations
        spent, busy, scans = _alternate(memory, texts[WARM:], vectors[WARM:], count)
    return {
        "observations": count,
        "searches": len(spent),
        "cold_start_ms": round(1000 * cold, 1),
        **_spread("search", spent),
        **_spread("search_processor", busy),
        **_spread("raw_scan", scans),
        "resident_bytes": held,
        "resident_over_vectors": round(held / (count * DIMENSIONS * 4), 3),
    }


def _alternate(
    memory: Memory, texts: Sequence[str], vectors: Vector, count: int
) -> tuple[list[float], list[float], list[float]]:
    """Time each search, and after it a scan of a plain matrix for the same question."""
    matrix = np.random.default_rng(1).normal(size=(count, DIMENSIONS)).astype(np.float32)
    spent, busy, scans = [], [], []
    for text, vector in zip(texts, vectors, strict=True):
        started, before = time.perf_counter(), time.process_time()
        mine(memory).search(text, observations=10)
        spent.append(time.perf_counter() - started)
        busy.append(time.process_time() - before)
        started = time.perf_counter()
        scores = matrix @ vector
        np.argpartition(scores, max(count - 10, 0))
        scans.append(time.perf_counter() - started)
    return spent, busy, scans


def _spread(name: str, seconds: Sequence[float]) -> dict[str, float]:
    low, middle, high = np.quantile(np.array(seconds) * 1000, [0.05, 0.5, 0.95])
    return {f"{name}_ms_p5": round(low, 3), f"{name}_ms": round(middle, 3), f"{name}_ms_p95": round(high, 3)}


if __name__ == "__main__":
    print(json.dumps(measure(Path(sys.argv[1]), Path(sys.argv[2]))))

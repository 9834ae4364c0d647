"""A million vectors of one user in a file: how much of the best is found, how fast, in how much memory.

The vectors are made: fifty of a topic, and a message is its topic and as much of its own, so that the best
of a query are many and near each other. The exact answer is a product with all rows as they were given.
"""

import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from benchmarks.provenance import resident_bytes
from episodic_agent.protocols import OBSERVATIONS
from episodic_agent.schemas import Scope, Vector
from episodic_agent.stores.sqlite import SqliteStore

SIZES, QUICK_SIZES = (100_000, 1_000_000), (20_000, 150_000)
WIDTH, TOPIC, AT_ONCE, QUERIES = 384, 50, 20_000, 60
SCOPE = Scope("ana", "bench")
BEST = (10, TOPIC, 200)  # what a search shows; what is near at all; what each leg of a search proposes


def measure(*, quick: bool = False) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield (key, figures) of each size, on SQLite."""
    for count in QUICK_SIZES if quick else SIZES:
        with TemporaryDirectory(prefix="episodic-") as folder:
            yield f"{count:,} vectors", _measured(Path(folder) / "memory.db", count)


def _measured(path: Path, count: int) -> dict[str, Any]:
    random = np.random.default_rng(count)
    topics = random.standard_normal((count // TOPIC, WIDTH), dtype=np.float32)
    queries = _unit(topics[:QUERIES] + random.standard_normal((QUERIES, WIDTH), dtype=np.float32))
    cosines = np.empty((count, QUERIES), dtype=np.float32)
    with closing(SqliteStore(path)) as store:
        for start in range(0, count, AT_ONCE):
            numbers = np.arange(start, min(start + AT_ONCE, count))
            own = random.standard_normal((len(numbers), WIDTH), dtype=np.float32)
            rows = _unit(topics[numbers % len(topics)] + own)
            cosines[numbers] = rows @ queries.T
            with store.begin(SCOPE) as tx:
                tx.index.put_vectors(OBSERVATIONS, "made", numbers.tolist(), rows)
    before = resident_bytes()
    with closing(SqliteStore(path)) as store:
        started = time.perf_counter()
        _asked(store, queries[0], 1)
        cold = time.perf_counter() - started
        held = resident_bytes() - before
        spent = []
        shares: dict[int, list[float]] = {most: [] for most in BEST}
        for place, query in enumerate(queries):
            started = time.perf_counter()
            found = _asked(store, query, max(BEST))
            spent.append(1000 * (time.perf_counter() - started))
            right = np.argsort(-cosines[:, place])
            for most in BEST:
                shares[most].append(len(np.intersect1d(found[:most], right[:most])) / most)
    low, middle, high = np.quantile(spent, [0.05, 0.5, 0.95])
    return {
        "vectors": count,
        "cold_start_ms": round(1000 * cold),
        "best_200_ms_p5": round(float(low), 2),
        "best_200_ms": round(float(middle), 2),
        "best_200_ms_p95": round(float(high), 2),
        "resident_bytes_a_vector": round(held / count),
        **{f"share_of_the_best_{most}": round(float(np.mean(values)), 4) for most, values in shares.items()},
    }


def _asked(store: SqliteStore, query: Vector, limit: int) -> "np.ndarray[Any, np.dtype[np.int64]]":
    with store.begin(SCOPE, write=False) as tx:
        return tx.index.vector_scores(OBSERVATIONS, "made", query, limit=limit)[0]


def _unit(rows: Vector) -> Vector:
    results: Vector = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    return results


if __name__ == "__main__":
    for name, row in measure():
        print(name, row)

"""The default embedder in float32 and in int8: how near the vectors are, how fast, what recall makes of them.

`python -m benchmarks.precision --data DIR` prints the figures. Speeds are of processor time, measured in
pairs by turns, so that both had the same machine. Recall is that of the embedder alone (every message ranked
by cosine) and of the engine, on the first cases of two development sets.
"""

import argparse
import sys
import time
from collections.abc import Callable, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.embedders import CASES
from benchmarks.retrieval import first, measure
from benchmarks.vectors import Remembering
from episodic_agent.engine.evaluate.cases import rows
from episodic_agent.protocols import Embedder
from episodic_agent.schemas import Vector
from episodic_agent.wiring import load_settings, make_embedder

PRECISIONS = ("minilm", "minilm-int8")
PAIRS = 7
TEXTS = 300  # of each pair


def cosines(one: Vector, other: Vector) -> dict[str, float]:
    """Return mean, least and hundredth of the cosines of two embedders' vectors of the same texts."""
    values = (one * other).sum(axis=1)[np.abs(one).sum(axis=1) > 0]
    return {
        "mean": float(values.mean()),
        "least": float(values.min()),
        "p1": float(np.quantile(values, 0.01)),
    }


def ratios(pair: Sequence[Embedder], texts: Sequence[str]) -> list[float]:
    """Return how many times as much processor time the first takes, by turns."""

    def seconds(embedder: Embedder) -> float:
        began = time.process_time()
        embedder.embed(texts)
        return time.process_time() - began

    return sorted(seconds(pair[0]) / seconds(pair[1]) for _ in range(PAIRS))


def recall(path: Path, cases: int, embedder: Embedder) -> dict[str, Any]:
    """Return recall of the embedder alone and of the engine."""
    with first(path, cases) as chosen:
        measured = measure(chosen, Remembering(embedder)).rows
    return {
        row["system"]: {k: v for k, v in row["observation"].items() if k.startswith("recall")}
        for row in measured.values()
        if row["system"] != "bm25"
    }


def main(data: Path, tell: Callable[[str], None] = print) -> None:
    """Print every figure."""
    pair = [embedder for name in PRECISIONS if (embedder := make_embedder(name, load_settings())) is not None]
    for stem, cases in CASES.items():
        path = data / f"{stem}.jsonl.gz"
        chosen = islice(rows(path), cases)
        texts = [text for case in chosen for m in case["messages"] if (text := m["text"][:900]).strip()]
        if stem == next(iter(CASES)):
            tell(f"speed, int8 against float32, processor time: {ratios(pair, texts[:TEXTS])}")
        tell(f"{stem}: {len(texts)} texts, cosines {cosines(*(e.embed(texts) for e in pair))}")
        for embedder in pair:
            tell(f"{stem} | {embedder.name}: {recall(path, cases, embedder)}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    main(parser.parse_args(sys.argv[1:]).data)

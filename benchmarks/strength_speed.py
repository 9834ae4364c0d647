"""How fast a whole memory fades: R of 500,000 memories, `python -m benchmarks.strength_speed`.

The arrays and the loop over one memory after another are timed in turns, so that a machine that is slow for a
while is slow for both.
"""

import argparse
import json
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np

from benchmarks.provenance import provenance
from benchmarks.results import merge
from episodic_agent.core.forgetting import retrievability

RESULTS: Final = Path(__file__).parent / "results"
MEMORIES: Final = 500_000
ROUNDS: Final = 9
TARGET: Final = 10.0  # milliseconds


def measure(count: int = MEMORIES, rounds: int = ROUNDS) -> dict[str, Any]:
    """Return the milliseconds that R of so many memories takes, as arrays and one by one."""
    random = np.random.default_rng(2026)
    stability = np.exp(random.normal(2.0, 1.5, count))
    days = random.uniform(0.0, 900.0, count)
    alone = list(zip(stability.tolist(), days.tolist(), strict=True))
    spent: dict[str, list[float]] = {"arrays": [], "loop": []}
    for _ in range(rounds):
        spent["arrays"].append(_milliseconds(lambda: retrievability(stability, days)))
        spent["loop"].append(_milliseconds(lambda: [retrievability(s, d) for s, d in alone]))
    apart = np.abs(retrievability(stability, days) - [retrievability(s, d) for s, d in alone])
    return {
        "memories": count,
        "rounds": rounds,
        **{f"{name}_ms": _quantiles(found) for name, found in spent.items()},
        "times_faster": round(float(np.median(spent["loop"]) / np.median(spent["arrays"])), 1),
        "largest_difference": float(apart.max()),
        "target_ms": TARGET,
    }


def _milliseconds(work: Callable[[], object]) -> float:
    started = time.perf_counter()
    work()
    return 1000 * (time.perf_counter() - started)


def _quantiles(found: Sequence[float]) -> dict[str, float]:
    return {
        "least": round(min(found), 2),
        "median": round(float(np.median(found)), 2),
        "most": round(max(found), 2),
    }


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and keep the row."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.strength_speed", description=__doc__)
    parser.add_argument("--output", type=Path, default=RESULTS, help="folder of results")
    given = list(sys.argv[1:] if arguments is None else arguments)
    options = parser.parse_args(given)
    row = measure()
    merge(options.output, "strength_speed", {"R of 500,000 memories": {**row, **provenance(given)}})
    print(json.dumps(row, indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(main())

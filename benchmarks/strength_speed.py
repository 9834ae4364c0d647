"""How fast a whole memory fades: R of 500,000 memories, asked for at once.

The arrays and the loop over one memory after another are timed in turns, so that a machine that is slow for a
while is slow for both. Where others use it too, wall time holds their turns; processor time does not.
"""

import os
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final

import numpy as np

from episodic_agent.core.strength import retrievability

MEMORIES: Final = 500_000
QUICK: Final = 50_000
ROUNDS: Final = 9
TURNS: Final = 5  # of the arrays to one of the loop, which takes as long as a hundred
TARGET: Final = 10.0  # milliseconds


def measure(*, quick: bool = False) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the one row."""
    count = QUICK if quick else MEMORIES
    yield f"R of {count:,} memories", faded(count, 2 if quick else ROUNDS)


def faded(count: int, rounds: int) -> dict[str, Any]:
    """Return the milliseconds that R of so many memories takes, as arrays and one by one."""
    random = np.random.default_rng(2026)
    stability = np.exp(random.normal(2.0, 1.5, count))
    days = random.uniform(0.0, 900.0, count)
    alone = list(zip(stability.tolist(), days.tolist(), strict=True))
    spent: dict[str, list[float]] = {"arrays": [], "arrays_processor": [], "loop": []}
    for _ in range(rounds):
        for _ in range(TURNS):
            wall, processor = _milliseconds(lambda: retrievability(stability, days))
            spent["arrays"].append(wall)
            spent["arrays_processor"].append(processor)
        spent["loop"].append(_milliseconds(lambda: [retrievability(s, d) for s, d in alone])[0])
    apart = np.abs(retrievability(stability, days) - [retrievability(s, d) for s, d in alone])
    return {
        "memories": count,
        "rounds": rounds,
        "load": round(os.getloadavg()[0], 1),
        **{f"{name}_ms": _quantiles(found) for name, found in spent.items()},
        "times_faster": round(float(np.median(spent["loop"]) / np.median(spent["arrays"])), 1),
        "largest_difference": float(apart.max()),
        "target_ms": TARGET,
    }


def _milliseconds(work: Callable[[], object]) -> tuple[float, float]:
    """Return the wall and the processor time of something."""
    started, used = time.perf_counter(), time.process_time()
    work()
    return 1000 * (time.perf_counter() - started), 1000 * (time.process_time() - used)


def _quantiles(values: Sequence[float]) -> dict[str, float]:
    return {
        "median": round(float(np.median(values)), 2),
        "min": round(min(values), 2),
        "max": round(max(values), 2),
    }

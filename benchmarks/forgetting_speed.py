"""What forgetting costs among 100,000 observations: one of them, and all of a user; on both stores.

The embedder looks vectors up; the messages lie in threads of fifty, with closed episodes and their words.
"""

import os
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from time import perf_counter
from typing import Any

from benchmarks.context_speed import _vocabulary
from benchmarks.servers import server
from benchmarks.speed import fresh
from benchmarks.synthetic import BEGINNING, WordVectors, conversation
from episodic_agent.core.erasing import Erasure
from episodic_agent.wiring import Memory, is_server

COUNT, QUICK = 100_000, 2_000
EACH = 50  # messages of one thread
USER = "ana"


def measure(*, quick: bool = False) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield (key, figures) of each thing forgotten on each store."""
    count = QUICK if quick else COUNT
    with fresh() as path:
        yield from forgotten("sqlite", f"sqlite:///{path}", count)
    with server() as own:
        yield from forgotten("postgres", own.create("forgetting"), count)


def forgotten(name: str, url: str, count: int) -> Iterator[tuple[str, dict[str, Any]]]:
    """Fill a memory, forget an observation in the middle of it, then the whole user; seconds of each."""
    with Memory.open(url, embedder=WordVectors(_vocabulary()), user_id=USER) as memory:
        ids = _fill(memory, count)
        middle = ids[len(ids) // 2]
        yield f"{name}, preview of one of {count:,}", _timed(memory, url, observation=middle, dry_run=True)
        yield f"{name}, one of {count:,}, unswept", _timed(memory, url, observation=middle, sweep=False)
        yield f"{name}, sweep of {count:,}", _sweep(memory, url)
        yield f"{name}, a user of {count:,}", _timed(memory, url, everything=True)


def _fill(memory: Memory, count: int) -> list[Any]:
    ids: list[Any] = []
    said = [_message(n, one) for n, one in enumerate(conversation(_vocabulary(), count))]
    for start in range(0, count, EACH):
        thread = f"thread {start // EACH}"
        ids += [receipt.id for receipt in memory.add(said[start : start + EACH], thread=thread)]
    memory.flush()
    return ids


def _message(n: int, one: dict[str, Any]) -> dict[str, Any]:
    at = BEGINNING + timedelta(minutes=n)
    return {**one, "role": "assistant" if n % 2 else "user", "timestamp": at.isoformat()}


def _timed(memory: Memory, url: str, **what: Any) -> dict[str, Any]:
    before, started = _size(url), perf_counter()
    receipt: Erasure = memory.forget(**what)
    seconds = perf_counter() - started
    return {
        "seconds": round(seconds, 2),
        "state": receipt.state,
        "residue": receipt.residue,
        "counts": dict(receipt.counts),
        "megabytes_before": before,
        "megabytes_after": _size(url),
        "load": round(os.getloadavg()[0], 1),
    }


def _sweep(memory: Memory, url: str) -> dict[str, Any]:
    before, started = _size(url), perf_counter()
    settled = memory._eraser.settle(memory._space)
    return {
        "seconds": round(perf_counter() - started, 2),
        "state": settled[-1].state,
        "megabytes_before": before,
        "megabytes_after": _size(url),
        "load": round(os.getloadavg()[0], 1),
    }


def _size(url: str) -> float | None:
    if is_server(url):
        return None
    path = Path(url.removeprefix("sqlite:///"))
    beside = [path.with_name(path.name + suffix) for suffix in ("", "-wal")]
    return round(sum(one.stat().st_size for one in beside if one.exists()) / 1e6, 1)

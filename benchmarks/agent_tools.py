"""What agents wait for: a sequence among 10,000 episodes on both stores, and a tool over MCP, cold and warm.

Run as `python -m benchmarks.agent_tools [--quick]`; it prints one JSON object of rows.
"""

import json
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import anyio
from mcp.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client

from benchmarks.servers import server
from benchmarks.speed import fresh
from benchmarks.synthetic import Vocabulary, WordVectors
from episodic_agent.wiring import Memory

EPISODES_TOLD, QUICK_TOLD = 10_000, 300
ASKED = 20
WARM = 30
BEGAN = datetime(2024, 1, 1, tzinfo=UTC)
WORDS = tuple(f"{first}{second}" for first in "bdfgklmnprst" for second in ("ado", "ime", "olu", "erra"))


class AsDefault(WordVectors):
    """Vectors whose cosines count, as those of the default embedder do."""

    name = "minilm-synthetic"


def measure(*, quick: bool = False) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield (key, figures) of sequences on both stores, then of the server."""
    count = QUICK_TOLD if quick else EPISODES_TOLD
    with fresh() as path:
        yield f"sequence, sqlite, {count:,} episodes", sequences(f"sqlite:///{path}", count)
    with server() as own:
        yield f"sequence, postgres, {count:,} episodes", sequences(own.create("told"), count)
    yield "mcp, standard input and output", anyio.run(first_and_next)


def sequences(url: str, count: int) -> dict[str, Any]:
    """Fill a memory with episodes of two messages each and ask for sequences; times are milliseconds."""
    embedder = AsDefault(Vocabulary(WORDS, [1] * len(WORDS), [8]))
    topics = [f"{WORDS[n]} {WORDS[-n - 1]}" for n in range(ASKED)]
    with Memory.open(url, embedder=embedder, policy="seed-001") as memory:
        memory.add(_messages(count), thread="long")
        memory.flush()
        held = memory.stats().episodes
        embedder.embed(topics)
        spent: dict[str, list[float]] = {"topic": [], "recent": [], "since": [], "nothing": []}
        last = BEGAN + timedelta(hours=count // 2)
        for topic in topics:
            for name, wish in _wishes(topic, last).items():
                begun = time.perf_counter()
                memory.get_episode_sequence(limit=10, **wish)
                spent[name].append((time.perf_counter() - begun) * 1e3)
    middle = {f"{name}_median_ms": round(statistics.median(times), 1) for name, times in spent.items()}
    worst = {f"{name}_worst_ms": round(max(times), 1) for name, times in spent.items()}
    return {"episodes": held, **middle, **worst}


def _wishes(topic: str, last: datetime) -> dict[str, dict[str, Any]]:
    return {
        "topic": {"topic": topic},
        "recent": {"topic": topic, "order": "recent"},
        "since": {"topic": topic, "since": last},
        "nothing": {"topic": ""},
    }


def _messages(count: int) -> Iterator[dict[str, Any]]:
    for number in range(count):
        said = " ".join(WORDS[(number * 7 + n * n) % len(WORDS)] for n in range(8))
        for minute, role in enumerate(("user", "assistant")):
            at = BEGAN + timedelta(hours=number, minutes=minute)
            yield {"role": role, "content": f"{said} {number}", "timestamp": at.isoformat()}


async def first_and_next() -> dict[str, Any]:
    """Start the server by the command and ask it with the official client; the model must be at hand."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "memory.db"
        with Memory.open(path) as memory:
            memory.add("The key is under the blue pot")
        start = StdioServerParameters(
            command=sys.executable,
            args=["-m", "episodic_agent", "--db", str(path), "mcp"],
            env=dict(os.environ),
        )
        begun = time.perf_counter()
        async with Client(stdio_client(start)) as client:
            ready = time.perf_counter() - begun
            times = []
            for _ in range(WARM + 1):
                asked = time.perf_counter()
                await client.call_tool("search_memory", {"query": "where is the key?"})
                times.append(time.perf_counter() - asked)
        return {
            "ready_ms": round(ready * 1e3),
            "first_answer_ms": round((ready + times[0]) * 1e3),
            "warm_median_ms": round(statistics.median(times[1:]) * 1e3, 1),
        }


if __name__ == "__main__":
    for key, row in measure(quick="--quick" in sys.argv):
        print(json.dumps({key: row}), flush=True)

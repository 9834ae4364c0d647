"""What agents wait for: chains and sequences among 10,000 episodes on both stores, a tool over MCP.

Run by `python -m benchmarks --only chains_speed`, or alone by `python -m benchmarks.agent_tools [--quick]`,
which prints one JSON object for each row. The model must be at hand: the server is started by the command.
"""

import json
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any
from uuid import UUID

import anyio
from mcp.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client

from benchmarks.servers import server
from benchmarks.speed import fresh
from benchmarks.synthetic import Vocabulary, WordVectors
from benchmarks.users import mine
from episodic_agent.schemas import Scope
from episodic_agent.tools import memory_tools
from episodic_agent.wiring import Memory

EPISODES_TOLD, QUICK_TOLD = 10_000, 300
ASKED = 20
WARM = 30
STARTS = 5
CHAIN, DEEP, DEEP_CHAINS = 10, 100, 2  # sessions of a chain, of a very long one, and how many of these
BEGAN = datetime(2024, 1, 1, tzinfo=UTC)
WORDS = tuple(f"{first}{second}" for first in "bdfgklmnprst" for second in ("ado", "ime", "olu", "erra"))


class AsDefault(WordVectors):
    """Vectors whose cosines count, as those of the default embedder do."""

    name = "minilm-synthetic"


def measure(*, quick: bool = False) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield (key, figures) of chains and sequences on both stores, then of the server."""
    count = QUICK_TOLD if quick else EPISODES_TOLD
    with fresh() as path:
        yield f"sqlite, {count:,} episodes", told(f"sqlite:///{path}", count)
    with server() as own:
        yield f"postgres, {count:,} episodes", told(own.create("told"), count)
    yield "mcp, standard input and output", anyio.run(first_and_next, 2 if quick else STARTS)


def told(url: str, count: int) -> dict[str, Any]:
    """Fill a memory with episodes of four messages each, chain them, and ask; times are milliseconds."""
    embedder = AsDefault(Vocabulary(WORDS, [1] * len(WORDS), [8]))
    topics = [f"{WORDS[n]} {WORDS[-n - 1]}" for n in range(ASKED)]
    with Memory.open(url, embedder=embedder, policy="seed-001") as memory:
        mine(memory).add(_messages(count), thread="long")
        mine(memory).flush()
        chained = _chain(memory)
        embedder.embed(topics)
        asked: dict[str, list[Callable[[], object]]] = {
            f"chain of {CHAIN}": [partial(mine(memory).chains.get, one) for one in chained[CHAIN]],
            f"arc of {CHAIN}": [partial(mine(memory).chains.tree, one) for one in chained[CHAIN]],
            f"chain of {DEEP}": [partial(mine(memory).chains.get, one) for one in chained[DEEP]],
        }
        last = BEGAN + timedelta(hours=count // 2)
        for topic in topics:
            for name, wish in _wishes(topic, last).items():
                call = partial(mine(memory).chains.sequence, limit=10, **wish)
                asked.setdefault(f"sequence, {name}", []).append(call)
        tools = memory_tools(memory)
        for name, value in (
            ("replay_topic", "topic"),
            ("search_memory", "query"),
            ("get_context", "message"),
        ):
            asked[f"tool {name}"] = [partial(tools.answer, name, {value: topic}) for topic in topics]
        held = mine(memory).stats().episodes
        return {
            "episodes": held,
            **dict(pair for name, calls in asked.items() for pair in _spent(name, calls)),
        }


def _spent(name: str, calls: Sequence[Callable[[], object]]) -> Iterator[tuple[str, float]]:
    """Yield the median and the 95th percentile of calls, the first one being warm-up."""
    times = []
    for call in [calls[0], *calls]:
        begun = time.perf_counter()
        call()
        times.append((time.perf_counter() - begun) * 1e3)
    yield f"{name}, ms", round(statistics.median(times[1:]), 1)
    yield f"{name}, p95 ms", round(statistics.quantiles(times[1:], n=20)[-1], 1)


def _chain(memory: Memory) -> dict[int, list[UUID]]:
    """Let episodes go on from one another, in chains of both lengths; return ends of chains by length."""
    ids = [card.episode_id for card in mine(memory).episodes.list()]
    with memory._deps.store.begin(Scope("default", "default")) as tx:
        for place, identity in enumerate(ids):
            length = DEEP if place < DEEP * DEEP_CHAINS else CHAIN
            if place % length:
                tx.episodes.lead(identity, ids[place - 1])
    deep = [ids[place] for place in range(DEEP - 1, min(len(ids), DEEP * DEEP_CHAINS), DEEP)]
    rest = range(DEEP * DEEP_CHAINS + CHAIN - 1, len(ids), CHAIN)
    return {DEEP: deep * (ASKED // len(deep)), CHAIN: [ids[place] for place in rest][:ASKED]}


def _wishes(topic: str, last: datetime) -> dict[str, dict[str, Any]]:
    return {
        "topic": {"topic": topic},
        "recent": {"topic": topic, "order": "recent"},
        "since": {"topic": topic, "since": last},
        "nothing": {"topic": ""},
    }


def _messages(count: int) -> Iterator[dict[str, Any]]:
    for number in range(count):
        text = " ".join(WORDS[(number * 7 + n * n) % len(WORDS)] for n in range(8))
        for minute, role in enumerate(("user", "assistant", "user", "assistant")):
            at = BEGAN + timedelta(hours=number, minutes=minute)
            yield {"role": role, "content": f"{text} {number}", "timestamp": at.isoformat()}


async def first_and_next(starts: int) -> dict[str, Any]:
    """Start the server by the command and ask it with the official client; the model must be at hand."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "memory.db"
        with Memory.open(path) as memory:
            mine(memory).add("The key is under the blue pot")
        ready, first, warm = [], [], []
        for _ in range(starts + 1):  # the first one compiles, and brings files into memory
            begun = time.perf_counter()
            async with Client(stdio_client(_command(path))) as client:
                ready.append((time.perf_counter() - begun) * 1e3)
                for number in range(WARM + 1):
                    asked = time.perf_counter()
                    await client.call_tool("search_memory", {"query": f"where is key {number}?"})
                    times = first if number == 0 else warm
                    since = begun if number == 0 else asked
                    times.append((time.perf_counter() - since) * 1e3)
        return {
            "starts": starts,
            "ready, ms": round(statistics.median(ready[1:])),
            "first answer, ms": round(statistics.median(first[1:])),
            "first answer, worst ms": round(max(first[1:])),
            "warm, ms": round(statistics.median(warm), 1),
            "warm, p95 ms": round(statistics.quantiles(warm, n=20)[-1], 1),
        }


def _command(path: Path) -> StdioServerParameters:
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    values = ["-m", "episodic_agent", "--db", str(path), "mcp"]
    return StdioServerParameters(command=sys.executable, args=values, env=environment)


if __name__ == "__main__":
    for key, row in measure(quick="--quick" in sys.argv):
        print(json.dumps({key: row}), flush=True)

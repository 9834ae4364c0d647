"""What forgetting costs among 100,000 observations: one of them, a thread, all of a user; on both stores.

The embedder looks vectors up; the messages lie in threads of fifty and one of a thousand, with closed
episodes and their words, facts, skills, parts and links, so that there is something to cascade to.
"""

import json
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
from episodic_agent.schemas.erasures import Erasure
from episodic_agent.wiring import Memory, is_server

COUNT, QUICK = 100_000, 2_000
ON_SERVER = 20_000  # to fill a server takes so long
EACH = 50  # messages of one thread
LONG = 1_000  # messages of one more, a fiftieth of them where that is less
STATES = 4  # every so many threads begin with something about the user
LINKED = 100  # threads linked to the next one
DAYS = 16  # of a request that is dealt with alike, which makes a skill
USER = "ana"


def measure(*, quick: bool = False) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield (key, figures) of each thing forgotten on each store."""
    count = QUICK if quick else COUNT
    with fresh() as path:
        yield from forgotten("sqlite", f"sqlite:///{path}", count)
    with server() as own:
        yield from forgotten("postgres", own.create("forgetting"), min(count, ON_SERVER))


def forgotten(name: str, url: str, count: int) -> Iterator[tuple[str, dict[str, Any]]]:
    """Fill a memory, forget an observation in the middle of it, then the whole user; seconds of each."""
    with Memory.open(url, embedder=WordVectors(_vocabulary())) as memory:
        ids = _fill(memory, count)
        yield f"{name}, what {count:,} hold", _held(memory)
        middle = ids[len(ids) // 2]
        yield f"{name}, preview of one of {count:,}", _timed(memory, url, observation=middle, dry_run=True)
        yield f"{name}, one of {count:,}, unswept", _timed(memory, url, observation=middle, sweep=False)
        yield f"{name}, sweep of {count:,}", _sweep(memory, url)
        yield (
            f"{name}, a thread of {_long(count):,}, unswept",
            _timed(memory, url, thread="long", sweep=False),
        )
        yield f"{name}, a user of {count:,}", _timed(memory, url, everything=True)


def _fill(memory: Memory, count: int) -> list[Any]:
    ids: list[Any] = []
    statements = [_message(n, one) for n, one in enumerate(conversation(_vocabulary(), count - 4 * DAYS))]
    memory.user(USER).add(statements[: _long(count)], thread="long", wait=False)
    del statements[: _long(count)]
    for start in range(0, len(statements), EACH):
        number, some = start // EACH, statements[start : start + EACH]
        if number % STATES == 0:
            some[0] = {**some[0], "role": "user", "content": _statement(number // STATES)}
        ids += [receipt.id for receipt in memory.user(USER).add(some, thread=f"thread {number}", wait=False)]
    memory.user(USER).add([one for day in range(DAYS) for one in _request(day)], thread="desk", wait=False)
    for number in range(min(LINKED, len(statements) // EACH - 1)):
        memory.user(USER).links.add(f"thread {number}", f"thread {number + 1}")
    memory.user(USER).flush()
    memory.jobs.run()
    memory.user(USER).facts.consolidate()
    return ids


def _long(count: int) -> int:
    return min(LONG, count // EACH)


def _held(memory: Memory) -> dict[str, Any]:
    held = memory.user(USER).erase(everything=True, dry_run=True)
    return {"facts": len(memory.user(USER).facts.list(limit=COUNT)), "counts": dict(held.counts)}


def _statement(number: int) -> str:
    forms = ("I love {}.", "I live in {}.", "I work as a {}.", "My favourite colour is {}.")
    return forms[number % len(forms)].format(f"Quill{number:05}")


def _request(day: int) -> list[dict[str, Any]]:
    """Return one day's request, which the same tool answers."""
    at = (BEGINNING + timedelta(days=day, hours=3)).isoformat()
    call = {"name": "send_mail", "arguments": json.dumps({"subject": f"Invoice {day}"})}
    statements: list[dict[str, Any]] = [
        {"role": "user", "content": f"Please send the invoice number {day} to the bakery"},
        {"role": "assistant", "tool_calls": [{"id": f"i{day}", "function": call}]},
        {"role": "tool", "tool_call_id": f"i{day}", "content": "sent"},
        {"role": "assistant", "content": f"Invoice {day} was sent to the bakery by mail."},
    ]
    return [{**one, "timestamp": at} for one in statements]


def _message(n: int, values: dict[str, Any]) -> dict[str, Any]:
    at = BEGINNING + timedelta(minutes=n)
    return {**values, "role": "assistant" if n % 2 else "user", "timestamp": at.isoformat()}


def _timed(memory: Memory, url: str, **what: Any) -> dict[str, Any]:
    before, started = _size(url), perf_counter()
    receipt: Erasure = memory.user(USER).erase(**what)
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
    settled = memory._works.eraser.settle(memory._space)
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

"""How long a message that opens a thread takes among 10,000 threads: resolved, stored, linked, on each store.

Vectors cost a look-up, so that what is timed is the memory's own work: `add`, with the link job in it, and
the job alone. Every message opens a thread of its own, and what it may belong with was read by no earlier
one unless it was found again: caches are as cold as they are in life.
"""

import time
from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.servers import server
from benchmarks.speed import WORDS, fresh, spread
from benchmarks.synthetic import BEGINNING, Vocabulary, WordVectors, conversation, questions, real_texts
from benchmarks.users import mine
from episodic_agent.engine.jobs.kinds import LINK
from episodic_agent.engine.later import runner_of
from episodic_agent.engine.links.job import Linker
from episodic_agent.schemas import Job, Scope
from episodic_agent.wiring import Memory

THREADS, QUICK_THREADS = 10_000, 500
ASKED, QUICK_ASKED = 300, 40
TURNS = 4  # messages of a thread
APART = timedelta(hours=2)  # from one thread to the next
CHUNK = 2_000


class Vectors(WordVectors):
    """Made-up vectors under a name whose cosines linking reads."""

    name = "minilm-of-words"


class Timed(Linker):
    """A linker that notes how long each job takes."""

    spent: list[float]

    def handle(self, scope: Scope, jobs: Sequence[Job]) -> None:
        """Do the jobs and note the time."""
        started = time.perf_counter()
        super().handle(scope, jobs)
        self.spent.append(time.perf_counter() - started)


def measure(data: Path, *, quick: bool = False) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield (key, figures) for SQLite and PostgreSQL."""
    texts = real_texts(data, 1_000)
    vocabulary = Vocabulary.of(m["content"] for messages in texts.values() for m in messages)
    vocabulary = vocabulary if vocabulary.words else Vocabulary(WORDS, [1] * len(WORDS), [8])
    threads, asked = (QUICK_THREADS, QUICK_ASKED) if quick else (THREADS, ASKED)
    with fresh() as path:
        yield "linking, SQLite", among(str(path), vocabulary, threads, asked)
    with server() as own:
        yield "linking, PostgreSQL", among(own.create("bench"), vocabulary, threads, asked)


def among(url: str, vocabulary: Vocabulary, threads: int, asked: int) -> dict[str, Any]:
    """Fill a memory with threads, then time messages that each open another."""
    embedder = Vectors(vocabulary)
    statements = lives(vocabulary, threads)
    with Memory.open(url, embedder=embedder, link_policy="none") as memory:
        for start in range(0, len(statements), CHUNK):
            mine(memory).add(statements[start : start + CHUNK])
    openings = questions(statements, asked)
    embedder.embed(openings)
    at = datetime.fromisoformat(statements[-1]["timestamp"])
    with Memory.open(url, embedder=embedder) as memory:
        linker = Timed(memory._deps)
        linker.spent = []
        later = memory._works.later
        handlers = {**later.handlers, LINK: linker.handle}
        later._runner = runner_of(memory._deps, handlers, space=later.space)
        spent, worked = [], []
        for n, text in enumerate(openings, 1):
            started, began = time.perf_counter(), time.process_time()
            mine(memory).add(text, channel="sms", timestamp=at + n * APART)
            spent.append(time.perf_counter() - started)
            worked.append(time.process_time() - began)
        indexes = {"threads": len(mine(memory).threads.list()), "links": len(mine(memory).links.list())}
    return {
        **indexes,
        "add_and_link_ms": _milliseconds(spent),
        "add_and_link_processor_ms": _milliseconds(worked),
        "link_job_ms": _milliseconds(linker.spent),
    }


def lives(vocabulary: Vocabulary, threads: int) -> list[dict[str, Any]]:
    """Make up messages on one channel that fall into so many threads."""
    made = conversation(vocabulary, threads * TURNS)
    for n, message in enumerate(made):
        thread, turn = divmod(n, TURNS)
        message["timestamp"] = (BEGINNING + thread * APART + timedelta(minutes=turn)).isoformat()
        message["channel"] = "sms"
        message["role"] = "assistant" if turn % 2 else "user"
        del message["name"]
    return made


def _milliseconds(seconds: Sequence[float]) -> dict[str, float]:
    spent = [1000 * one for one in seconds]
    return {**spread(spent), "p95": float(f"{np.percentile(spent, 95):.4g}")}

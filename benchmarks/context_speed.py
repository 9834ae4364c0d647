"""What a context costs beyond embedding its message, among 10,000 threads and at the end of a long one.

Each is asked on both stores: of the thread the message goes on with, linked to three others, and of a message
that would open a thread, the links then being given. The embedder looks vectors up.
"""

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime, timedelta
from functools import partial
from typing import Any
from uuid import UUID

import numpy as np

from benchmarks.servers import server
from benchmarks.speed import Spent, fresh, timed
from benchmarks.synthetic import BEGINNING, Vocabulary, WordVectors, conversation
from benchmarks.users import mine
from episodic_agent.engine.context.assembling import Contexts, ThreadContext
from episodic_agent.protocols import Transaction
from episodic_agent.schemas import Link, Scope, Vector
from episodic_agent.wiring import Memory

THREADS, QUICK_THREADS = 10_000, 500
LONG, QUICK_LONG = 5_000, 500
EACH = 4  # messages of one thread
ASKED, QUICK_ASKED = 200, 40
WARM = 5
LINKED = 3
WORDS = tuple(f"{first}{second}" for first in "bdfgklmnprst" for second in ("ado", "ime", "olu", "erra"))
NEW, SAME = "a message that would begin a thread", "a message that goes on with one"


def measure(*, quick: bool = False) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield (key, figures) of every size, store and kind of message."""
    with fresh() as path:
        yield from _store("sqlite", f"sqlite:///{path}", f"sqlite:///{path}.long", quick=quick)
    with server() as own:
        yield from _store("postgres", own.create("many"), own.create("long"), quick=quick)


def _store(name: str, many: str, long: str, *, quick: bool) -> Iterator[tuple[str, dict[str, Any]]]:
    asked = QUICK_ASKED if quick else ASKED
    threads = QUICK_THREADS if quick else THREADS
    for key, row in beside(many, apart(threads * EACH), asked):
        yield f"{name}, {threads:,} threads, {key}", row
    length = QUICK_LONG if quick else LONG
    for key, row in beside(long, together(length), asked):
        yield f"{name}, a thread of {length:,}, {key}", row


def beside(url: str, messages: Sequence[dict[str, Any]], count: int) -> Iterator[tuple[str, dict[str, Any]]]:
    """Fill a memory and ask it; times are milliseconds, the first one that of a process just begun."""
    embedder = WordVectors(_vocabulary())
    with Memory.open(url, embedder=embedder) as memory:
        mine(memory).add(messages, channel="sms")
        linked = _link(memory)
    last = datetime.fromisoformat(messages[-1]["timestamp"])
    texts = [f"And what about {m['content']}" for m in messages[-count - WARM :]]
    embedder.embed(texts)  # from here on a look-up
    for key, after in ((SAME, timedelta(minutes=2)), (NEW, timedelta(minutes=45))):
        with Memory.open(url, embedder=embedder) as memory:
            memory._works.contexts = Contexts(memory._deps, foreseen=_given(linked))
            yield key, _ask(memory, texts, last + after)


def _ask(memory: Memory, texts: Sequence[str], at: datetime) -> dict[str, Any]:
    spent: list[Spent] = []
    contexts: list[ThreadContext] = []
    for text in texts:
        asked = partial(mine(memory).context, text, channel="sms", at=at)
        spent.append(timed(lambda asked=asked: contexts.append(asked())))  # type: ignore[misc]
    warm = spent[WARM:]
    return {
        "threads": len(mine(memory).threads.list()),
        "observations": mine(memory).stats().observations,
        "contexts": len(warm),
        "lines": round(float(np.mean([len(one.items) for one in contexts])), 1),
        "tokens": round(float(np.mean([one.tokens for one in contexts]))),
        "cold_ms": round(1000 * spent[0].wall, 1),
        "ms": _quantiles([one.wall for one in warm]),
        "processor_ms": _quantiles([one.processor for one in warm]),
    }


def _quantiles(seconds: Sequence[float]) -> dict[str, float]:
    results = 1000 * np.quantile(seconds, (0.5, 0.95))
    return {"median": round(float(results[0]), 1), "p95": round(float(results[1]), 1)}


def _link(memory: Memory) -> list[UUID]:
    """Link the newest thread to the three before it; return what a message after it is to be linked to."""
    newest = [thread.id for thread in mine(memory).threads.list()][: LINKED + 1]
    with memory._deps.store.begin(Scope()) as tx:
        for earlier in newest[1:]:
            tx.threads.save(Link(earlier, newest[0], BEGINNING))
    return newest[:LINKED]


def _given(linked: Sequence[UUID]) -> Any:
    def foreseen(
        tx: Transaction, text: str, vector: Vector | None, at: datetime, apart: UUID | None
    ) -> Iterable[tuple[UUID, str, bool]]:
        return [(thread, "continuity", False) for thread in linked]

    return foreseen


def _vocabulary() -> Vocabulary:
    return Vocabulary(
        [a + b for a in WORDS for b in WORDS], [1000 // (n + 1) + 1 for n in range(len(WORDS) ** 2)], [12]
    )


def apart(count: int) -> list[dict[str, Any]]:
    """Make up messages that fall into threads of `EACH`, an hour apart."""
    made = []
    for n, message in enumerate(conversation(_vocabulary(), count)):
        thread, place = divmod(n, EACH)
        made.append(_said(message, n, timedelta(hours=1, minutes=EACH) * thread + timedelta(minutes=place)))
    return made


def together(count: int) -> list[dict[str, Any]]:
    """Make up messages of one thread, a minute apart, after three short ones."""
    messages = conversation(_vocabulary(), count + LINKED * EACH)
    short = LINKED * EACH
    return [
        _said(
            message,
            n,
            timedelta(hours=1) * min(n // EACH, LINKED) + timedelta(minutes=n % EACH if n < short else n),
        )
        for n, message in enumerate(messages)
    ]


def _said(message: dict[str, Any], n: int, after: timedelta) -> dict[str, Any]:
    role = "assistant" if n % 2 else "user"
    text = message["content"] if n % 2 else message["content"].replace(".", "?")
    return {"id": message["id"], "role": role, "content": text, "timestamp": (BEGINNING + after).isoformat()}

"""The kill server of a siege: its lives are writers and workers of the memory whose URL the order names."""

import json
import logging
import os
import random
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeVar

from benchmarks.lives import Order, Plans, Say, serve
from episodic_agent.errors import StoreUnavailable
from episodic_agent.providers.models.staged import StagedModel
from episodic_agent.stores.postgres import PostgresStore
from episodic_agent.testing.models import Answer, ScriptedModel
from episodic_agent.wiring import Memory, utc_now

__all__ = ["PostgresStore"]  # imported for the lives: by itself each would import it when it opens the URL
T = TypeVar("T")
MOMENT = datetime(2025, 6, 1, tzinfo=UTC)
HASTE = 20  # their clock goes so many times as fast as ours: work that failed waits seconds to minutes
PAUSE = 0.05  # seconds between tries while the server is away
LONGEST_OUTAGE = 90.0  # seconds; longer is no restart
POLL = 0.05
LARGEST = 8  # messages of one call
AGAIN = 0.2  # the share of calls that are repeated although they were answered, as by a caller who forgot


def open_memory(
    url: str, space: str, begun: datetime, policy: str = "default", jobs: str = "workers"
) -> Memory:
    """Open a memory whose parts say the same in every run, and whose clock is in a hurry since `begun`."""
    return Memory.open(
        url,
        space=space,
        embedder="hashing",
        policy=policy,
        language_model=answering(),
        clock=lambda: MOMENT + HASTE * (utc_now() - begun),
        jobs=jobs,
    )


def answering() -> StagedModel:
    """Return the model of the stages whose answers decide something here; in all others there is none."""
    return StagedModel(None, dict.fromkeys(("topic_shift", "facts"), ScriptedModel(respond=verdict)))


def verdict(prompt: str, stage: str) -> Answer:
    """Answer a question by what was asked alone, so that every run hears the same."""
    if stage == "facts":
        return {"expected": "", "facts": []}
    sure = sum(prompt.encode()) % 3 == 0
    signals = {"topic_shift": 0.9 if sure else 0.1, "intent_shift": 0.1, "temporal_marker": 0.0}
    return {"is_boundary": sure, "confidence": 0.9, "signals": signals, "updated_event_model": None}


def patiently(call: Callable[[], T], note: Callable[[], object] = lambda: None) -> T:
    """Repeat a call while the server is away, as the documentation asks of callers; `note` each time.

    Raises StoreUnavailable when it stays away.
    """
    pause, deadline = threading.Event(), time.monotonic() + LONGEST_OUTAGE
    while True:
        try:
            return call()
        except StoreUnavailable:
            if time.monotonic() > deadline:
                raise
            note()
            pause.wait(PAUSE)


# --- what they do ---------------------------------------------------------------------------------------


def _opened(order: Order) -> Memory:
    begun = datetime.fromisoformat(order["begun"])
    return patiently(lambda: open_memory(order["url"], order["space"], begun, order["policy"]))


def write(order: Order, say: Say) -> None:
    """Add the messages of some threads from their beginnings, the threads taking random turns.

    What is stored already adds nothing. Every receipt is said as soon as it is there.
    """
    draw = random.Random(order["seed"])
    chats = read_chats(Path(order["chats"]))
    left = [(user, chats[origin]) for user, origin in order["threads"]]
    with _opened(order) as memory:
        while left:
            turn = draw.randrange(len(left))
            user, messages = left.pop(turn)
            size = draw.randint(1, LARGEST)
            for _ in range(2 if draw.random() < AGAIN else 1):
                _add(memory, user, messages[:size], say)
            if messages[size:]:
                left.append((user, messages[size:]))
    say({"done": True})


def _add(memory: Memory, user: str, messages: Sequence[Mapping[str, Any]], say: Say) -> None:
    receipts = patiently(lambda: memory.user(user).add(messages), lambda: say({"repeated": 1}))
    say({"user": user, "acknowledged": [str(receipt.id) for receipt in receipts]})


def read_chats(path: Path) -> dict[str, list[dict[str, Any]]]:
    """Read a file of messages, by conversation."""
    results: dict[str, list[dict[str, Any]]] = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        message = json.loads(line)
        results.setdefault(message["conversation_id"], []).append(message)
    return results


def work(order: Order, say: Say) -> None:
    """Be a worker until the descriptor `stop` ends; what it says of a server that is away is told on."""

    def log(line: str) -> None:
        if "looking again" in line:
            say({"waited": 1})

    with _opened(order) as memory:
        worker = memory.jobs.worker(poll=POLL, say=log)

        def stop() -> None:
            os.read(order["stop"], 1)
            worker.stop()

        threading.Thread(target=stop, daemon=True).start()
        say({"ran": worker.run(), "done": True})


PLANS: Plans = {"write": write, "work": work, "nothing": lambda _order, _say: None}

if __name__ == "__main__":
    logging.getLogger("episodic_agent").setLevel(logging.ERROR)  # that the store is away is no news here
    serve(PLANS)

"""The kill server of the crash tests: its lives add to, import into and look at a database, a path or a URL."""

import gc
import json
import os
import resource
import tempfile
import threading
import time
from collections.abc import Mapping
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from typing import Any

from builders.chats import mine
from builders.models import only
from builders.places import open_store
from engine.crash_server import write_chat

from benchmarks.lives import Order, Plans, Say, serve
from episodic_agent.errors import EpisodicError
from episodic_agent.protocols import Store
from episodic_agent.schemas import Json, Scope
from episodic_agent.stores.postgres import PostgresStore
from episodic_agent.testing.models import ScriptedModel
from episodic_agent.wiring import Memory

__all__ = ["PostgresStore"]  # imported for the lives: by itself each would import it when it opens a URL
MOMENT = datetime(2025, 6, 1, tzinfo=UTC)
WARM = 18  # messages of the conversation that is lived through before the first life


# --- a life ---------------------------------------------------------------------------------------------


def scope_of(order: Order) -> Scope:
    """Return whose memory it is: a space of its own is as good as a database, and made in no time."""
    return Scope("default", order.get("space", "default"))


def open_memory(order: Order) -> Memory:
    # Messages without a time get that of their arrival: the same in every life. A full disk is tried again later.
    clock = None if order["plan"] == "fill" else lambda: MOMENT
    space = scope_of(order).space
    policy, asked, _ = order["policy"].partition(" asked")
    model = only(ScriptedModel(respond=of_length), "topic_shift") if asked else "none"
    parts = {"embedder": "hashing", "policy": policy, "language_model": model}
    return Memory.open(order["db"], space=space, clock=clock, **parts)


def of_length(prompt: str, _stage: str) -> Mapping[str, Json]:
    """Answer a question by its words alone: the same in every life."""
    values = {"topic_shift": 0.5, "intent_shift": 0.0, "temporal_marker": 0.0}
    boundary = len(prompt) % 2 == 0
    return {"is_boundary": boundary, "confidence": 0.9, "signals": values, "updated_event_model": None}


def read_lines(path: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in Path(path).read_text(encoding="utf-8").splitlines()]


def add_all(order: Order, say: Say) -> None:
    """Say what is there, add every message in batches (what is there already adds nothing), then flush."""
    with open_memory(order) as memory:
        say(look(order, memory))
        stream = iter(read_lines(order["file"]))
        for size in order["batches"]:
            receipts = mine(memory).add(islice(stream, size), wait=order.get("wait", True))
            say({"acknowledged": [str(r.id) for r in receipts]})
        assert next(stream, None) is None
        if order.get("flush", True):
            mine(memory).flush()
        say({"done": True})


def import_all(order: Order, say: Say) -> None:
    with open_memory(order) as memory:
        say(look(order, memory))
        mine(memory).import_file(order["file"])
        say({"done": True})


def resegment(order: Order, say: Say) -> None:
    """Say what is there, then segment every thread again; where an earlier life did it nothing changes."""
    with open_memory(order) as memory:
        say(look(order, memory))
        for thread in mine(memory).threads.list():
            mine(memory).boundaries.resegment(thread.origin, order["pass"])
        memory.jobs.run()
        say({"done": True})


def undo(order: Order, say: Say) -> None:
    """Say what is there, then go back to the first generation of every thread."""
    with open_memory(order) as memory:
        say(look(order, memory))
        for thread in mine(memory).threads.list():
            for _ in range(thread.generation):
                mine(memory).boundaries.undo(thread.origin)
        memory.jobs.run()
        say({"done": True})


def open_only(order: Order, say: Say) -> None:
    open_memory(order).close()
    say({"done": True})


def fill_up(order: Order, say: Say) -> None:
    """Add until the disk is full, make room, and go on in the same process with the same items.

    Full is a limit on the size of files (`bytes`), or a small file system with a `ballast` to be thrown out.
    """
    lines = read_lines(order["file"])
    if "ballast" in order:
        Path(order["ballast"]).write_bytes(bytes(order["ballast_bytes"]))
    with open_memory(order) as memory:
        if "bytes" in order:
            resource.setrlimit(resource.RLIMIT_FSIZE, (order["bytes"], resource.RLIM_INFINITY))
        try:
            for line in lines:
                say({"acknowledged": [str(r.id) for r in mine(memory).add([line])]})
        except EpisodicError as error:
            say({"error": type(error).__name__, "message": str(error)})
        say(look(order, memory))
        if "ballast" in order:
            Path(order["ballast"]).unlink()
        else:
            resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
        mine(memory).add(lines)
        mine(memory).flush()
        finish(memory)  # a job that met the full disk waits some seconds
        say({"done": True})


def finish(memory: Memory) -> None:
    """Wait for the later work: that of the background, and what it asked for itself."""
    done_by = time.monotonic() + 30
    while memory.jobs.list() and time.monotonic() < done_by:
        memory.jobs.run()
        time.sleep(0.05)


def read_only(order: Order, say: Say) -> None:
    """As a user who may read the file but not write to it: search, then try to add."""
    if os.geteuid() == 0:
        os.setuid(65534)  # root may write to anything
    search(order, say)
    with open_memory(order) as memory:
        mine(memory).add("one more")


def search(order: Order, say: Say) -> None:
    with open_memory(order) as memory:
        say({"found": len(mine(memory).search("kitchen").observations)})


def inspect(order: Order, say: Say) -> None:
    with open_memory(order) as memory:
        finish(memory)  # what the last life closed upon
        say(look(order, memory) | {"episodes": fingerprint(order)})


def export(order: Order, say: Say) -> None:
    with open_memory(order) as memory:
        say({"exported": list(mine(memory).export())[1:]})


PLANS: Plans = {
    "add": add_all,
    "resegment": resegment,
    "undo": undo,
    "import": import_all,
    "open": open_only,
    "fill": fill_up,
    "read": read_only,
    "search": search,
    "inspect": inspect,
    "export": export,
}


# --- what is there --------------------------------------------------------------------------------------


def look(order: Order, memory: Memory) -> dict[str, Any]:
    """Return every stored observation of each thread in order, and what `doctor` calls an error."""
    sick = [f"{f.invariant}: {f.message}" for f in memory.doctor() if f.severity == "error"]
    store = open_store(order["db"])
    with store.begin(scope_of(order), write=False) as tx:
        stored = {
            t.origin: [str(o.id) for o in tx.observations.read(t.id, 0, 1 << 31)] for t in tx.threads.list()
        }
        waiting = [f"{j.kind} {j.state}" for j in tx.upkeep.jobs()]
        spoke = dict(tx.observations.actors())
    store.close()
    if (number := sum(map(len, stored.values()))) != (counted := sum(spoke.values())):
        sick.append(f"{number} observations are stored, their speakers are counted {counted} times")
    return {"sick": sick, "stored": stored, "jobs": waiting, "spoke": spoke}


def fingerprint(order: Order) -> dict[str, list[list[Any]]]:
    store = open_store(order["db"])
    try:
        return episodes_of(store, scope_of(order))
    finally:
        store.close()


def episodes_of(store: Store, scope: Scope) -> dict[str, list[list[Any]]]:
    """Return of each thread, by its origin, what its episodes are: cover, reason, surprise, strength, words.

    The open frame comes last. Record times and everything else that may differ between two runs is left out.
    """
    answers: dict[str, list[list[Any]]] = {}
    with store.begin(scope, write=False) as tx:
        for thread in tx.threads.list():
            answers[thread.origin] = [
                [e.first_seq, e.last_seq, e.reason, e.surprise, e.stability, e.title, e.summary, e.metadata]
                for e in tx.episodes.list(threads=[thread.id])
            ]
            frame = tx.threads.frame(thread.id)
            answers[thread.origin].append([frame.first_seq, frame.next_seq - 1, frame.cursor])
    return answers


# --- before the first life ------------------------------------------------------------------------------


def warm_up() -> None:
    """Do once what lives do, and throw it away: each would import, and read word lists, before its work begins.

    Nothing stays open: a life inherits modules and tables alone. A kill then falls into the work itself.
    """
    with tempfile.TemporaryDirectory() as folder:
        order = {
            "db": str(Path(folder) / "memory.db"),
            "file": write_chat(Path(folder), WARM),
            "batches": [WARM],
            "policy": "default",
            "pass": "seed-001?max_messages=4",
        }
        for plan in ("add", "import", "inspect", "resegment", "undo", "export", "search"):
            PLANS[plan]({**order, "plan": plan}, lambda _word: None)
    assert threading.active_count() == 1, "a fork would lose a thread that still runs"
    gc.collect()
    gc.freeze()  # what every life inherits is nobody's garbage


if __name__ == "__main__":
    warm_up()
    serve(PLANS)

"""A kill server: `python -m benchmarks.siege_child URL STOP` forks a child for each order, a line of JSON.

A child is a writer or a worker of the memory at the URL; it lives until its order is done, or until something
ends it, and its parent tells on standard output how that was. Everything is imported once here, so that a
life costs milliseconds. The server itself opens no store: a child must not inherit a connection. Workers stop
in good order when the descriptor STOP ends.
"""

import json
import logging
import os
import random
import select
import signal
import sys
import threading
import time
import traceback
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from types import FrameType
from typing import Any, TypeVar

from episodic_agent.errors import EpisodicError, StoreUnavailable
from episodic_agent.providers.scripted import Answer, ScriptedModel
from episodic_agent.stores import faults
from episodic_agent.stores.postgres import PostgresStore
from episodic_agent.wiring import Memory, utc_now

__all__ = ["PostgresStore"]  # imported for the lives: by itself each would import it when it opens the URL
Order = Mapping[str, Any]
Say = Callable[[Mapping[str, Any]], None]
T = TypeVar("T")
MOMENT = datetime(2025, 6, 1, tzinfo=UTC)
HASTE = (
    20  # times as fast as ours goes their clock: work that failed waits seconds to minutes to be tried again
)
PAUSE = 0.05  # seconds between tries while the server is away
LONGEST_OUTAGE = 90.0  # seconds; longer is no restart
POLL = 0.05
LARGEST = 8  # messages of one call
AGAIN = 0.2  # the share of calls that are repeated although they were answered, as by a caller who forgot
REFUSED = 3  # the exit code of a life that an error of the engine ended


# --- the server -----------------------------------------------------------------------------------------


def serve(url: str, stop: int) -> None:
    """Say that everything is imported, then carry out orders until there are none."""
    logging.getLogger("episodic_agent").setLevel(logging.ERROR)  # that the store is away is no news here
    print(json.dumps({"ended": 0, "said": []}), flush=True)
    for line in sys.stdin:
        print(json.dumps(_carry_out(json.loads(line) | {"url": url, "stop": stop})), flush=True)


def _carry_out(order: Order) -> dict[str, Any]:
    ears, mouth = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(ears)
        _live(order, mouth)
    os.close(mouth)
    said = _listen(ears, child, order["die"].get("seconds"))
    _, status = os.waitpid(child, 0)
    return {"ended": os.waitstatus_to_exitcode(status), "said": [json.loads(line) for line in said]}


def _listen(ears: int, child: int, seconds: float | None) -> list[bytes]:
    heard = b""
    deadline = None if seconds is None else time.monotonic() + seconds
    while True:
        wait = None if deadline is None else max(0.0, deadline - time.monotonic())
        if not select.select([ears], [], [], wait)[0]:
            os.kill(child, signal.SIGKILL)
            deadline = None
        elif piece := os.read(ears, 1 << 20):
            heard += piece
        else:
            os.close(ears)
            return heard.split(b"\n")[:-1]  # a line the kill cut off was never said


# --- a life ---------------------------------------------------------------------------------------------


def _live(order: Order, mouth: int) -> None:
    """Do what the order says, and leave without any of the parent's clean-up."""

    def say(word: Mapping[str, Any]) -> None:
        os.write(mouth, json.dumps(word).encode() + b"\n")

    code = 1
    try:
        _arm(order["die"], say)
        PLANS[order["plan"]](order, say)
        sys.setprofile(None)
        code = 0
    except EpisodicError as error:
        say({"error": f"{type(error).__name__}: {error}"})
        code = REFUSED
    finally:
        if code == 1:
            traceback.print_exc()
        os._exit(code)


def _arm(death: Mapping[str, Any], say: Say) -> None:
    """Prepare the end: at the n-th reach of a fault point, or the n-th call of any function in any thread."""

    def die(where: str) -> None:
        sys.setprofile(None)
        say({"died": where})
        os.kill(os.getpid(), signal.SIGKILL)

    if "point" in death:
        faults.arm(death["point"], death["count"], lambda: die(death["point"]))
    if "events" in death:
        left = [death["events"]]

        def count(_frame: FrameType, _event: str, _argument: object) -> None:
            left[0] -= 1
            if left[0] == 0:
                die("anywhere")

        threading.setprofile(count)
        sys.setprofile(count)


def open_memory(
    url: str, space: str, begun: datetime, policy: str = "default", jobs: str = "workers"
) -> Memory:
    """Open a memory whose parts say the same in every run, and whose clock is in a hurry since `begun`."""
    return Memory.open(
        url,
        space=space,
        embedder="hashing",
        policy=policy,
        language_model=ScriptedModel(respond=verdict),
        clock=lambda: MOMENT + HASTE * (utc_now() - begun),
        jobs=jobs,
    )


def verdict(prompt: str, _stage: str) -> Answer:
    """Answer a question by what was asked alone, so that every run hears the same."""
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
    told = read_chats(Path(order["chats"]))
    left = [(user, told[origin]) for user, origin in order["threads"]]
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
    receipts = patiently(lambda: memory.add(messages, user_id=user), lambda: say({"repeated": 1}))
    say({"user": user, "acknowledged": [str(receipt.id) for receipt in receipts]})


def read_chats(path: Path) -> dict[str, list[dict[str, Any]]]:
    """Read a file of messages, by conversation."""
    found: dict[str, list[dict[str, Any]]] = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        message = json.loads(line)
        found.setdefault(message["conversation_id"], []).append(message)
    return found


def work(order: Order, say: Say) -> None:
    """Be a worker until STOP ends; what it says of a server that is away is told on."""

    def log(line: str) -> None:
        if "looking again" in line:
            say({"waited": 1})

    with _opened(order) as memory:
        worker = memory.worker(poll=POLL, say=log)

        def stop() -> None:
            os.read(order["stop"], 1)
            worker.stop()

        threading.Thread(target=stop, daemon=True).start()
        say({"ran": worker.run(), "done": True})


PLANS: Mapping[str, Callable[[Order, Say], None]] = {"write": write, "work": work}

if __name__ == "__main__":
    serve(sys.argv[1], int(sys.argv[2]))

"""Processes that are killed again and again: a server gives one life for each order, a line of JSON.

The server imports everything once and forks a child for each order, so that a life costs milliseconds and
hundreds of them can be ended. It opens no store itself: a child must not inherit a connection. `serve` is the
child's end, of modules run as `python -m`; `serving` is the end of those who give orders.
"""

import json
import os
import select
import signal
import subprocess
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from types import FrameType
from typing import Any

from benchmarks.provenance import interpreter
from episodic_agent.errors import EpisodicError
from episodic_agent.stores import faults

Order = Mapping[str, Any]
Say = Callable[[Mapping[str, Any]], None]
Plans = Mapping[str, Callable[[Order, Say], None]]
REFUSED = 3  # the exit code of a life that an error of the engine ended
KILLED = -signal.SIGKILL


# --- giving orders --------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Life:
    """What ended a life (0, an exit code, minus a signal), and what it said before."""

    ended: int
    said: Sequence[Mapping[str, Any]]
    overdue: bool  # its server killed it, the seconds of its order were over

    def all(self, name: str) -> list[Any]:
        """Return everything said under one name."""
        return [word[name] for word in self.said if name in word]

    def word(self, name: str) -> Any:
        """Return what was said first under a name; None for nothing."""
        return next(iter(self.all(name)), None)


@dataclass(frozen=True, slots=True)
class KillServer:
    """The other end of `serve`; `baseline` is what every order holds that does not say otherwise."""

    process: "subprocess.Popen[str]"
    baseline: Order

    def live(self, **order: Any) -> Life:
        """Give an order and wait for the end of the life it began."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        print(json.dumps({"die": {}, **self.baseline, **order}), file=self.process.stdin, flush=True)
        line = self.process.stdout.readline()
        if not line:
            raise RuntimeError("a kill server died; its message is above")
        return Life(**json.loads(line))


@contextmanager
def serving(
    module: str, *, prefix: Sequence[str] = (), pass_fds: Sequence[int] = (), **usual: Any
) -> Iterator[KillServer]:
    """Start the kill server `module`, `prefix` before its command; it leaves when the block ends."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("EPISODIC_")}
    # What this process imports its children must find too: the repository's root, the tests' folder.
    environment |= {"PYTHONPATH": os.pathsep.join(sys.path), "OPENBLAS_NUM_THREADS": "1"}
    with subprocess.Popen(
        [*prefix, interpreter(), "-m", module],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        pass_fds=pass_fds,
        env=environment,
    ) as process:
        yield KillServer(process, usual)
        assert process.stdin is not None
        process.stdin.close()


# --- the server -----------------------------------------------------------------------------------------


def serve(plans: Plans) -> None:
    """Carry out the orders on standard input until it ends."""
    for line in sys.stdin:
        print(json.dumps(_carry_out(plans, json.loads(line))), flush=True)


def _carry_out(plans: Plans, order: Order) -> dict[str, Any]:
    ears, mouth = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(ears)
        _live(plans, order, mouth)
    os.close(mouth)
    data, overdue = _listen(ears, child, order["die"].get("seconds"))
    _, status = os.waitpid(child, 0)
    words = [json.loads(line) for line in data]
    return {"ended": os.waitstatus_to_exitcode(status), "said": words, "overdue": overdue}


def _listen(ears: int, child: int, seconds: float | None) -> tuple[list[bytes], bool]:
    """Return the lines a child says until it ends, and whether it had to be killed after `seconds`."""
    data = b""
    deadline = None if seconds is None else time.monotonic() + seconds
    overdue = False
    while True:
        wait = None if deadline is None else max(0.0, deadline - time.monotonic())
        if not select.select([ears], [], [], wait)[0]:
            os.kill(child, signal.SIGKILL)
            deadline, overdue = None, True
        elif piece := os.read(ears, 1 << 20):
            data += piece
        else:
            os.close(ears)
            return data.split(b"\n")[:-1], overdue  # a line the kill cut off was never said


# --- a life ---------------------------------------------------------------------------------------------


def _live(plans: Plans, order: Order, mouth: int) -> None:
    """Do what the order says, and leave without any of the parent's clean-up."""

    def say(word: Mapping[str, Any]) -> None:
        os.write(mouth, json.dumps(word).encode() + b"\n")

    code = 1
    try:
        _arm(order["die"])
        plans[order["plan"]](order, say)
        sys.setprofile(None)
        code = 0
    except EpisodicError as error:
        say({"error": type(error).__name__, "message": str(error)})
        code = REFUSED
    finally:
        if code == 1:
            traceback.print_exc()
        os._exit(code)


def die() -> None:
    """End this process as a power cut would."""
    os.kill(os.getpid(), signal.SIGKILL)


def _arm(death: Mapping[str, Any]) -> None:
    """Prepare the end: at the n-th reach of a fault point, or the n-th call of any function in any thread."""
    if "point" in death:
        faults.arm(death["point"], death["count"], die)
    if "events" in death:
        left = [death["events"]]

        def count(_frame: FrameType, _event: str, _argument: object) -> None:
            left[0] -= 1
            if left[0] == 0:
                die()

        threading.setprofile(count)
        sys.setprofile(count)

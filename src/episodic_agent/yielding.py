"""Later work yields: while anybody waits for a verb, the thread that works in the background stands still.

Python runs one thread at a time: beside later work a search took twice as long. Work
yields where it turns to the store, never inside a transaction that writes, which others may wait for.
Its patience has an end, and then it goes on for a while whoever calls: who never pauses holds it up for most
of the time, and not for all of it.
"""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

PATIENCE: Final = 0.05  # seconds; nothing is held up for longer at once
TURN: Final = 0.02  # seconds that what was held up so long goes on for


class _ThreadState(threading.local):
    """What a thread knows of itself."""

    yields = False
    turn_ends = 0.0  # by the monotonic clock


class Callers:
    """The verbs that run, and the threads that yield to them."""

    def __init__(self, patience: float = PATIENCE, turn: float = TURN) -> None:
        self._running = 0
        self._gone = threading.Condition()
        self._thread = _ThreadState()
        self._patience = patience
        self._turn = turn
        self.held_up = 0  # how often something waited

    @contextmanager
    def calling(self) -> Iterator[None]:
        """Let work stand still while the block runs; on a thread that yields itself this does nothing."""
        if self._thread.yields:
            yield
            return
        with self._gone:
            self._running += 1
        try:
            yield
        finally:
            with self._gone:
                self._running -= 1
                if not self._running:
                    self._gone.notify_all()

    @contextmanager
    def yielding(self) -> Iterator[None]:
        """Let this thread yield wherever it turns to the store within the block."""
        self._thread.yields = True
        try:
            yield
        finally:
            self._thread.yields = False

    def give_way(self) -> None:
        """Wait until no verb runs, where this thread yields; no longer than its patience lasts."""
        if not (self._running and self._thread.yields) or time.monotonic() < self._thread.turn_ends:
            return
        with self._gone:
            self.held_up += 1
            if not self._gone.wait_for(lambda: not self._running, self._patience):
                self._thread.turn_ends = time.monotonic() + self._turn


CALLERS: Final = Callers()  # of this process, whichever of its memories is called

"""Run later work on a thread of the process that made it, when its caller does not wait."""

import logging
import threading
from collections.abc import Callable

from episodic_agent.engine.jobs import Runner
from episodic_agent.errors import EpisodicError

SWEEP = 60.0  # seconds between looks of the background thread when nobody wakes it

log = logging.getLogger(__name__)


class Background:
    """One thread, begun when it is first woken."""

    def __init__(self, runner: Runner, sweep: Callable[[], object]) -> None:
        """Take `sweep` to run when the thread is idle."""
        self._runner = runner
        self._sweep = sweep
        self._wake = threading.Event()
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None
        self._lock = threading.Lock()

    def wake(self) -> None:
        """Let the thread run what is due, starting it if need be."""
        with self._lock:
            if self._thread is None or not self._thread.is_alive():
                self._stop.clear()
                self._thread = threading.Thread(target=self._loop, name="episodic-jobs", daemon=True)
                self._thread.start()
        self._wake.set()

    def _loop(self) -> None:
        while not self._stop.is_set():
            woken = self._wake.wait(SWEEP)
            self._wake.clear()
            if self._stop.is_set():
                return
            if not woken:
                self._try_sweep()
            self._runner.try_due()

    def _try_sweep(self) -> None:
        try:
            self._sweep()
        except EpisodicError as error:
            log.warning("silent frames stay open for now: %s", error)

    def close(self) -> None:
        """Stop the thread after the batch it is in; what is left stays for the next opening."""
        self._stop.set()
        self._wake.set()
        self._runner.halt()
        thread = self._thread
        if thread is not None and thread is not threading.current_thread():
            thread.join()
        self._thread = None

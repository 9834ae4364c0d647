"""Run later work on a thread of the process that made it, and close by the clock what falls silent.

A process that ends waits for the batch that runs, whether its memory was closed or not: Python ends a
daemon thread where it stands, and one inside the library that embeds takes the process down with an abort.
"""

import atexit
import logging
import threading
from collections.abc import Callable, Iterable
from datetime import datetime, timedelta
from functools import cache
from weakref import WeakSet

from episodic_agent.engine.jobs.runner import Runner
from episodic_agent.errors import EpisodicError, StoreUnavailable
from episodic_agent.schemas import Scope
from episodic_agent.yielding import CALLERS

SWEEP = 60.0  # seconds between looks at what the clock has made due

log = logging.getLogger(__name__)


class BackgroundWork:
    """One thread that does what is due when it is woken, and sweeps every minute, woken or not."""

    def __init__(
        self, runner: Runner, sweep: Callable[[Callable[[], bool]], object], clock: Callable[[], datetime]
    ) -> None:
        """Take `sweep` to close what is silent; it is given what tells whether to stop."""
        self._runner = runner
        self._sweep = sweep
        self._clock = clock
        self._wake = threading.Event()
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None
        self._lock = threading.Lock()

    def wake(self) -> None:
        """Let the thread run what is due, starting it if need be."""
        self.start()
        self._wake.set()

    def start(self) -> None:
        """Start the thread if it does not run; it waits until it is woken or a sweep is due.

        A process that ends starts none: the work waits for the next opening.
        """
        if _watch_for_end().is_set():
            return
        with _NOTING:
            _RUNNING.add(self)
        with self._lock:
            if self._thread is None or not self._thread.is_alive():
                self._stop.clear()
                self._thread = threading.Thread(target=self._loop, name="episodic-jobs", daemon=True)
                self._thread.start()

    def _loop(self) -> None:
        swept = self._clock()
        while not self._stop.is_set():
            woken = self._wake.wait(SWEEP)
            self._wake.clear()
            if self._stop.is_set():
                return
            # whoever is never left alone for a minute has silent conversations too
            if not woken or self._clock() - swept >= timedelta(seconds=SWEEP):
                swept = self._clock()
                self._try_sweep()
            with CALLERS.yielding():
                self._runner.try_due()

    def _try_sweep(self) -> None:
        try:
            self._sweep(self._stop.is_set)
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


_RUNNING: WeakSet[BackgroundWork] = WeakSet()
_NOTING = threading.Lock()


@cache
def _watch_for_end() -> threading.Event:
    """Have all work closed when the process ends; return what is set from then on."""
    ending = threading.Event()

    def close_all() -> None:
        ending.set()
        with _NOTING:
            running = list(_RUNNING)
        for work in running:
            work.close()

    try:
        # earlier than `atexit`: once pools of threads are closed an embedder fails in the middle of its batch
        threading._register_atexit(close_all)  # type: ignore[attr-defined] # as those pools themselves do
    except AttributeError:  # a Python that has it no more
        atexit.register(close_all)
    except RuntimeError:  # it ends already
        ending.set()
    return ending


def sweep(
    scopes: Iterable[Scope],
    keep_up: Callable[[Scope], int],
    stopped: Callable[[], bool],
    say: Callable[[str], object] = log.warning,
) -> int:
    """Keep up scope by scope until it is stopped; return how many frames that closed.

    Whatever is wrong with one scope is said, and the others have their work done; StoreUnavailable is raised.
    """
    closed = 0
    for scope in scopes:
        if stopped():
            break
        try:
            closed += keep_up(scope)
        except StoreUnavailable:
            raise
        except EpisodicError as error:
            say(f"threads of {scope.user_id} in {scope.space} stay open for now: {error}")
    return closed

"""Run later work: claim, handle in batches, retry with backoff, keep dead letters with their reason.

Embedded, the jobs of a store run in the process that made them: at once when the caller waits, else on
one background thread. A process that dies leaves them; the next opening takes its leases over.
"""

import logging
import threading
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Protocol

from episodic_agent.core.interfaces import Store
from episodic_agent.errors import Conflict, EpisodicError
from episodic_agent.schemas import Job, Scope

LEASE = timedelta(minutes=2)
BATCH = 64
ATTEMPTS = 5
BACKOFF = timedelta(seconds=2)
SWEEP = 60.0  # seconds between looks of the background thread when nobody wakes it

log = logging.getLogger(__name__)


class Handler(Protocol):
    """Handle claimed jobs of one kind and scope; finishing them is part of the effect's transaction."""

    def __call__(self, scope: Scope, jobs: Sequence[Job], /) -> None:
        """Do the work and finish the jobs in one transaction."""


class Runner:
    """Claims due jobs of a store and hands them to their kind's handler."""

    def __init__(
        self,
        store: Store,
        handlers: Mapping[str, Handler],
        clock: Callable[[], datetime],
        owner: str,
        sweep: Callable[[], object],
    ) -> None:
        """Take `owner` to name this process for leases, and `sweep` to run when the thread is idle."""
        self._store = store
        self._handlers = handlers
        self._clock = clock
        self._owner = owner
        self._sweep = sweep
        self._wake = threading.Event()
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None
        self._lock = threading.Lock()

    def run_due(self, scope: Scope | None = None, *, enough: int | None = None) -> int:
        """Run what is due until nothing is (or `enough` jobs ran), and return how many ran.

        A job that fails is tried again later, and after its last attempt becomes a dead letter; it
        never stops the others.
        """
        done = 0
        while enough is None or done < enough:
            claimed = self._store.claim(
                self._owner,
                now=self._clock(),
                lease=LEASE,
                limit=BATCH,
                scope=scope,
                kinds=list(self._handlers),
            )
            if claimed is None:
                break
            self._handle(*claimed)
            done += len(claimed[1])
        return done

    def try_due(self, scope: Scope | None = None, *, sweep: bool = False) -> None:
        """Run what is due; where the store refuses the work waits, for its cause is stored already."""
        try:
            if sweep:
                self._sweep()
            self.run_due(scope)
        except EpisodicError as error:
            log.warning("later work waits: %s", error)

    def _handle(self, scope: Scope, jobs: Sequence[Job]) -> None:
        try:
            self._handlers[jobs[0].kind](scope, jobs)
        except Exception as error:  # noqa: BLE001 - the worker's job boundary: a poisoned job must not stop the rest
            if len(jobs) > 1:  # find the poisoned one: the others must not pay for it
                for job in jobs:
                    self._handle(scope, [job])
                return
            log.warning("job %s %s failed: %s", jobs[0].kind, jobs[0].key, error)
            self._fail(scope, jobs[0], error)

    def _fail(self, scope: Scope, job: Job, error: Exception) -> None:
        last = job.attempts >= ATTEMPTS and not (isinstance(error, EpisodicError) and error.retryable)
        pause = BACKOFF * 2 ** min(job.attempts, 10)
        retry_at = None if last or job.attempts >= 4 * ATTEMPTS else self._clock() + pause
        try:
            with self._store.begin(scope) as tx:
                tx.jobs.fail(job, f"{type(error).__name__}: {error}", retry_at=retry_at)
        except Conflict:
            log.warning("job %s %s was taken over meanwhile", job.kind, job.key)

    def wake(self) -> None:
        """Let the background thread run what is due, starting it if need be."""
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
            self.try_due(sweep=not woken)

    def close(self) -> None:
        """Stop the background thread after the batch it is in; what is left stays for the next opening."""
        self._stop.set()
        self._wake.set()
        thread = self._thread
        if thread is not None and thread is not threading.current_thread():
            thread.join()
        self._thread = None

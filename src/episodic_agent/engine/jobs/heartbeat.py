"""Keep the leases of jobs that are being done, however long they take."""

import logging
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime, timedelta

from episodic_agent.errors import EpisodicError
from episodic_agent.protocols import Store
from episodic_agent.schemas import Job, Scope

TICKS = 6  # of a lease; a lease is renewed at every second one, first when a third of it is gone at most

log = logging.getLogger(__name__)


class HeldJobs:
    """What of one claim is neither done nor given back yet."""

    def __init__(self, scope: Scope, jobs: Sequence[Job], claimed_at: datetime) -> None:
        self.scope = scope
        self.renewed_at = claimed_at
        self.jobs: tuple[Job, ...] = tuple(jobs)  # replaced as a whole: the heartbeat reads it meanwhile
        self.ticks = 0
        self._lock = threading.Lock()

    def drop(self, jobs: Sequence[Job]) -> None:
        """Let go of jobs that are done, given back or lost."""
        gone = {job.id for job in jobs}
        with self._lock:
            self.jobs = tuple(job for job in self.jobs if job.id not in gone)


class Heartbeat:
    """One thread that renews what is held; it begins with the first claim and ends when nothing is held."""

    def __init__(self, store: Store, clock: Callable[[], datetime], lease: timedelta) -> None:
        self._store = store
        self._clock = clock
        self._lease = lease
        self._held: list[HeldJobs] = []
        self._thread: threading.Thread | None = None
        self._closing = threading.Event()
        self._lock = threading.Lock()

    @contextmanager
    def holding(self, held: HeldJobs) -> Iterator[None]:
        """Renew the leases of `held` until the block ends."""
        with self._lock:
            self._held.append(held)
            if self._thread is None or not self._thread.is_alive():
                self._thread = threading.Thread(target=self._beat, name="episodic-heartbeat", daemon=True)
                self._thread.start()
        try:
            yield
        finally:
            with self._lock:
                self._held.remove(held)

    def _beat(self) -> None:
        tick = self._lease.total_seconds() / TICKS
        while not self._closing.wait(tick):
            with self._lock:
                if not self._held:
                    self._thread = None
                    return
                for held in self._held:
                    held.ticks += 1
                due = [held for held in self._held if held.ticks % 2 == 0]
            for held in due:
                self._renew(held)

    def follow(self, now: datetime) -> None:
        """Renew what is held where half a lease went by unrenewed.

        Beats wait by the machine's time, leases end by the memory's clock, and one that is set on, or tells a
        story, leaps over them. Whoever claims by it does this before, or takes the work of other threads of
        its process away.
        """
        with self._lock:
            behind = [held for held in self._held if now - held.renewed_at > self._lease / 2]
        for held in behind:
            self._renew(held)

    def _renew(self, held: HeldJobs) -> None:
        jobs, now = held.jobs, self._clock()
        try:
            ours = self._store.renew(held.scope, jobs, now=now, lease=self._lease) if jobs else ()
        except EpisodicError as error:
            log.warning("leases of %d jobs could not be renewed, trying again: %s", len(jobs), error)
            return
        held.renewed_at = now
        identifiers = {job.id for job in ours}
        still = {job.id for job in held.jobs}  # what ended while we asked is not lost
        lost = [job for job in jobs if job.id not in identifiers and job.id in still]
        for job in lost:
            log.warning("job %s %s is no longer ours; what it does here will be refused", job.kind, job.key)
        held.drop(lost)

    def close(self) -> None:
        """End the thread; leases then last as long as they last."""
        self._closing.set()
        thread = self._thread
        if thread is not None and thread is not threading.current_thread():
            thread.join()

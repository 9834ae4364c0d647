"""Run later work: claim, handle in batches, retry with backoff, keep dead letters with their reason.

The same runner serves the process that made the work and worker processes (`engine.jobs.worker`). Whoever
dies leaves the jobs; whoever comes next takes their leases over. The leases of jobs that are being done are
kept, however long they take.
"""

import logging
import re
import threading
from collections import deque
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Protocol

from episodic_agent.engine.jobs.asking import say_failed
from episodic_agent.engine.jobs.retrying import until_unopposed
from episodic_agent.errors import (
    Conflict,
    EpisodicError,
    InvalidInput,
    ProviderRefused,
    StoreError,
    StoreUnavailable,
)
from episodic_agent.protocols import Store
from episodic_agent.schemas import Job, Scope

TICKS = 6  # of a lease; a lease is renewed at every second one, first when a third of it is gone at most


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


HERE, WORKERS = "here", "workers"  # who does later work
LEASE = timedelta(minutes=2)
BATCH = 64
ATTEMPTS = 5  # at work that fails by itself
PATIENCE = 4 * ATTEMPTS  # at work that a provider may still do
SUSPICIOUS = 2  # processes that died while they held a job, before it is run alone
DEATHS = 30  # of processes, before the job is given up; one that is merely unlucky is done long before
AT_ONCE = 3  # tries of a job whose effect another writer was in the way of, before it waits
BACKOFF = timedelta(seconds=2)
JITTER_BITS = 16
LOOK = 1.0  # seconds between looks at whether another thread has ended or was halted

log = logging.getLogger(__name__)
_FAILED = re.compile(r"attempt (\d+): ")
_UNDER: "ContextVar[Runner | None]" = ContextVar("runner of the work this thread does", default=None)


def check_jobs(jobs: str) -> str:
    """Return who does later work, `here` or `workers`; InvalidInput for anything else.

    >>> check_jobs("workers")
    'workers'
    """
    if jobs not in (HERE, WORKERS):
        raise InvalidInput(f"no way to do later work is called {jobs!r}; there are {HERE} and {WORKERS}")
    return jobs


class Halted(EpisodicError):
    """The runner was told to stop: the job in hand is given back, as if it had not begun."""


def stop_if_halted() -> None:
    """Raise Halted where the runner of this work was told to stop; long work asks now and then."""
    runner = _UNDER.get()
    if runner is not None and runner.halted:
        raise Halted("the process ends; what it was doing is done by the next one")


class Handler(Protocol):
    """Handle claimed jobs of one kind and scope; finishing them is part of the effect's transaction."""

    def __call__(self, scope: Scope, jobs: Sequence[Job], /) -> None:
        """Do the work and finish the jobs in one transaction."""


@dataclass(slots=True)
class Batch:
    """What came of one claim: jobs done, failed (to be tried again, or dead letters), lost to another."""

    scope: Scope
    kind: str
    done: int = 0
    failed: int = 0
    lost: int = 0
    given_back: int = 0


class Runner:
    """Claims due jobs of a store and hands them to their kind's handler."""

    def __init__(
        self,
        store: Store,
        handlers: Mapping[str, Handler],
        *,
        clock: Callable[[], datetime],
        entropy: Callable[[int], int],
        owner: str,
        space: str | None = None,
        scope: Scope | None = None,
        singly: Collection[str] = (),
        awaited: Collection[str] | None = None,
        lease: timedelta = LEASE,
    ) -> None:
        """Take `owner` to name this process for leases; `space` or `scope` bound what it ever claims.

        Jobs of the kinds in `singly` go to their handler one by one, and what is not begun yet is given
        back when the runner is halted. `awaited` are the kinds that `run_due` of a scope waits for where
        another thread does them; None: all.
        """
        self._store = store
        self._handlers = handlers
        self._clock = clock
        self._entropy = entropy
        self._owner = owner
        self._space = space
        self._scope = scope
        self._singly = singly
        self._lease = lease
        self._heartbeat = Heartbeat(store, clock, lease)
        self._stranded: deque[HeldJobs] = (
            deque()
        )  # claimed, but the store went away before it could be said why
        self._claiming = threading.Lock()
        self._halted = False
        self._awaited = awaited
        # by thread: whose jobs of which kind it has; None while it looks for some
        self._at_work: dict[int, tuple[Scope, str] | None] = {}
        self._ended = threading.Condition()

    def run_due(self, scope: Scope | None = None, *, without: Collection[str] = ()) -> int:
        """Run what is due until nothing is (or the runner is halted), and return how many jobs ran.

        A job that fails is tried again later, and after its last attempt becomes a dead letter; it
        never stops the others. What is `awaited` and another thread is doing for `scope` is waited for.
        Jobs of the kinds `without` which it is done are left alone.
        """
        ran = 0
        while not self._halted:
            batch = self.run_batch(scope, without=without)
            if batch is not None:
                ran += batch.done + batch.failed + batch.lost
            elif scope is None or not self._waited_for(scope, without):
                break
        return ran

    def _waited_for(self, scope: Scope, without: Collection[str]) -> bool:
        """Wait until no other thread has jobs of a scope; tell whether any had."""
        me = threading.get_ident()

        def idle() -> bool:
            others = (work for thread, work in self._at_work.items() if thread != me)
            return self._halted or not any(
                work is None or (work[1] not in without and self._is_awaited(scope, *work)) for work in others
            )

        with self._ended:
            if idle():
                return False
            while not idle():
                self._ended.wait(LOOK)  # a signal handler halts, and may not notify
            return True

    def _is_awaited(self, scope: Scope, whose: Scope, kind: str) -> bool:
        return whose == scope and (self._awaited is None or kind in self._awaited)

    @contextmanager
    def _working(self) -> Iterator[None]:
        me = threading.get_ident()
        with self._ended:
            around = self._at_work.get(me)  # work may call for work
            self._at_work[me] = None
        try:
            yield
        finally:
            with self._ended:
                if around is None:
                    del self._at_work[me]
                else:
                    self._at_work[me] = around
                self._ended.notify_all()

    def try_due(self, scope: Scope | None = None, *, without: Collection[str] = ()) -> None:
        """Run what is due; where the store refuses the work waits, for its cause is stored already."""
        try:
            self.run_due(scope, without=without)
        except EpisodicError as error:
            log.warning("later work waits: %s", error)

    def run_batch(self, scope: Scope | None = None, *, without: Collection[str] = ()) -> Batch | None:
        """Claim once and handle what came; None when nothing is due. Raises StoreError when it is away."""
        with self._working():
            return self._run_batch(scope or self._scope, without)

    def _run_batch(self, scope: Scope | None, without: Collection[str]) -> Batch | None:
        self._give_back_stranded()
        with ExitStack() as holding:
            held = self._claim(holding, scope, without)
            return None if held is None else self._handle(held)

    def _claim(self, holding: ExitStack, scope: Scope | None, without: Collection[str]) -> HeldJobs | None:
        """Claim once, and hold what came for as long as `holding` lasts.

        One thread at a time: what another has claimed is held before the clock is looked at again.
        """
        with self._claiming:
            now = self._clock()
            self._heartbeat.follow(now)
            claimed = self._store.claim(
                self._owner,
                now=now,
                lease=self._lease,
                limit=BATCH,
                space=None if scope else self._space,
                scope=scope,
                kinds=[kind for kind in self._handlers if kind not in without],
            )
            if claimed is None:
                return None
            held = HeldJobs(*claimed, now)
            holding.enter_context(self._heartbeat.holding(held))
            return held

    def _handle(self, held: HeldJobs) -> Batch:
        with self._ended:
            self._at_work[threading.get_ident()] = (held.scope, held.jobs[0].kind)
            self._ended.notify_all()
        batch = Batch(held.scope, held.jobs[0].kind)
        under = _UNDER.set(self)
        try:
            self._bury_poison(held, batch)
            self._run(held, batch, self._company(held, batch))
        finally:
            _UNDER.reset(under)
            if held.jobs:
                self._stranded.append(held)
        return batch

    def _company(self, held: HeldJobs, batch: Batch) -> Sequence[Job]:
        """Return the jobs to run together: all of the claim, or just one when there is a suspect.

        A job that kills its process takes along whatever was claimed with it; run alone it dies alone.
        The likeliest innocent goes first.
        """
        suspects = [job for job in held.jobs if deaths(job) >= SUSPICIOUS]
        if not suspects:
            return held.jobs
        alone = min(suspects, key=deaths)
        self._give_back(held, batch, [job for job in held.jobs if job is not alone])
        return [job for job in held.jobs if job is alone]

    def _bury_poison(self, held: HeldJobs, batch: Batch) -> None:
        for job in held.jobs:
            if deaths(job) >= DEATHS:
                log.error("job %s %s is given up: its process died %d times", job.kind, job.key, deaths(job))
                batch.failed += 1
                self._put_back(held, job, f"its process died {deaths(job)} times while it ran", None)

    def _run(self, held: HeldJobs, batch: Batch, jobs: Sequence[Job]) -> None:
        if len(jobs) > 1 and batch.kind not in self._singly:
            try:
                self._handlers[batch.kind](held.scope, jobs)
            except Exception as error:  # noqa: BLE001 - find the poisoned one: the others must not pay for it
                log.info("%d %s jobs failed together, trying each: %s", len(jobs), batch.kind, error)
            else:
                batch.done += len(jobs)
                held.drop(jobs)
                return
        for n, job in enumerate(jobs):
            if n and self._halted:
                self._give_back(held, batch, jobs[n:])
                return
            self._run_one(held, batch, job)

    def _run_one(self, held: HeldJobs, batch: Batch, job: Job) -> None:
        try:
            self._until_done(held, job)
        except Halted:
            self._give_back(held, batch, [job])
        except Exception as error:  # noqa: BLE001 - the worker's job boundary: a poisoned job must not stop the rest
            if isinstance(error, Conflict) and not self._is_ours(held, job):
                log.warning("job %s %s was taken over meanwhile; its effect here was refused", *_names(job))
                batch.lost += 1
                held.drop([job])
                return
            say_failed(log, "job %s %s failed: %s", *_names(job), error=error)
            batch.failed += 1
            text = f"attempt {job.attempts}: {type(error).__name__}: {error}"
            self._put_back(held, job, text, self._retry_at(job, error))
        else:
            batch.done += 1
            held.drop([job])

    def _until_done(self, held: HeldJobs, job: Job) -> None:
        """Handle one job; at once again while another writer is in the way and the job is still ours."""
        for left in reversed(range(AT_ONCE)):
            try:
                self._handlers[job.kind](held.scope, [job])
                return
            except Conflict:
                if not left or not self._is_ours(held, job):
                    raise

    def _is_ours(self, held: HeldJobs, job: Job) -> bool:
        return bool(self._store.renew(held.scope, [job], now=self._clock(), lease=self._lease))

    def _retry_at(self, job: Job, error: Exception) -> datetime | None:
        """Return when to try again; None when the job is to be given up.

        What another writer, an absent store or a refused key prevents is never given up: it is not the
        job's fault.
        """
        passing = isinstance(error, Conflict | StoreUnavailable | ProviderRefused)
        patience = PATIENCE if isinstance(error, EpisodicError) and error.retryable else ATTEMPTS
        if job.attempts >= patience and not passing:
            return None
        share = 0.5 + 0.5 * self._entropy(JITTER_BITS) / (1 << JITTER_BITS)
        return self._clock() + BACKOFF * (1 << min(job.attempts, 10)) * share

    def _put_back(self, held: HeldJobs, job: Job, reason: str, retry_at: datetime | None) -> None:
        try:
            until_unopposed(lambda: self._fail(held.scope, job, reason, retry_at), tries=AT_ONCE)
        except Conflict:
            log.warning("job %s %s was taken over meanwhile", *_names(job))
        held.drop([job])

    def _fail(self, scope: Scope, job: Job, reason: str, retry_at: datetime | None) -> None:
        with self._store.begin(scope) as tx:
            tx.upkeep.put_back(job, error=reason, retry_at=retry_at)

    def _give_back(self, held: HeldJobs, batch: Batch | None, jobs: Sequence[Job]) -> None:
        """Let others have jobs that were claimed and not begun; those no longer ours are let go of."""
        for _ in range(AT_ONCE):
            if not jobs:
                return
            try:
                with self._store.begin(held.scope) as tx:
                    for job in jobs:
                        tx.upkeep.put_back(job)
            except Conflict:  # one of them at least is not ours: find out which are
                ours = {
                    job.id
                    for job in self._store.renew(held.scope, jobs, now=self._clock(), lease=self._lease)
                }
                held.drop([job for job in jobs if job.id not in ours])
                jobs = [job for job in jobs if job.id in ours]
            else:
                held.drop(jobs)
                if batch is not None:
                    batch.given_back += len(jobs)
                return
        held.drop(jobs)  # somebody is always faster: the leases run out

    def _give_back_stranded(self) -> None:
        while self._stranded:
            try:
                held = self._stranded.popleft()
            except IndexError:  # another thread was faster
                return
            try:
                self._give_back(held, None, held.jobs)
            finally:
                if held.jobs:
                    self._stranded.append(held)

    @property
    def halted(self) -> bool:
        """Tell whether it was told to stop."""
        return self._halted

    def halt(self) -> None:
        """Let the batch that runs end, and claim no other. Safe to call from a signal handler."""
        self._halted = True

    def close(self) -> None:
        """Halt, and give back what is still held; where the store is away the leases run out."""
        self.halt()
        with suppress(StoreError):
            self._give_back_stranded()
        self._heartbeat.close()


def deaths(job: Job) -> int:
    """Count the processes that held a job and ended without a word, since it last failed in an orderly way.

    Every claim counts as an attempt, and an orderly failure writes down which attempt it was.

    >>> from dataclasses import replace
    >>> from datetime import UTC, datetime
    >>> from uuid import UUID
    >>> job = Job(UUID(int=1), "encode", "k", "s", datetime(2024, 5, 1, tzinfo=UTC), attempts=4)
    >>> deaths(job), deaths(replace(job, last_error="attempt 2: BadReply: no JSON"))
    (3, 1)
    """
    match = _FAILED.match(job.last_error or "")
    failed = int(match[1]) if match else 0
    before = job.attempts - 1
    return before - failed if failed <= before else before  # a later number is from before a retry by hand


def _names(job: Job) -> tuple[str, str]:
    return job.kind, job.key

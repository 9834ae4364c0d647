"""A worker: a process that does nothing but later work, for as long as it is let.

Any number of them may share a database. Each claims, handles, sweeps silent frames now and then, and waits
a little when there is nothing to do; a database that goes away is waited for.
"""

import queue
from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import datetime, timedelta

from episodic_agent.core.language import plural
from episodic_agent.engine.jobs.background import SWEEP, sweep
from episodic_agent.engine.jobs.runner import Batch, Runner
from episodic_agent.errors import EpisodicError, InvalidInput
from episodic_agent.schemas import Scope

POLL = 1.0  # seconds between looks when nothing is due
LONGEST_POLL = 3600.0
LONGEST_WAIT = 30.0  # seconds between looks for a database that is away
JITTER_BITS = 16

Say = Callable[[str], None]


class Worker:
    """Runs a runner's jobs until it is stopped."""

    def __init__(
        self,
        runner: Runner,
        scopes: Callable[[], Sequence[Scope]],
        upkeep: Callable[[Scope], int],
        settle: Callable[[Sequence[Scope]], object],
        *,
        clock: Callable[[], datetime],
        entropy: Callable[[int], int],
        poll: float = POLL,
        say: Say | None = None,
    ) -> None:
        """Take `upkeep` to close the silent frames of each of `scopes` (it returns how many it closed).

        `settle` then tries again what erasures had to leave in the database.
        `say` receives a line for each batch.

        `poll` is in seconds, jittered so that workers started together do not ask together. Raises
        InvalidInput when it is no waiting time.
        """
        if not 0 < poll <= LONGEST_POLL:
            raise InvalidInput(f"a worker looks every 0 to {LONGEST_POLL:g} seconds, not {poll:g}")
        self._runner = runner
        self._scopes = scopes
        self._upkeep = upkeep
        self._settle = settle
        self._clock = clock
        self._entropy = entropy
        self._poll = poll
        self._say = say or (lambda _line: None)
        self._stopped = False
        # A simple queue and no event: a signal handler may put while the thread it interrupts waits on it.
        self._wakes: queue.SimpleQueue[None] = queue.SimpleQueue()
        self._next_sweep: datetime | None = None

    def run(self, *, once: bool = False) -> int:
        """Work until `stop` is called, or `once` until nothing is due; return how many jobs ran.

        An error that may pass (the database restarts) is waited out, longer each time; with `once`, and
        any other error, it is raised.
        """
        try:
            return self._run(once=once)
        finally:
            self._runner.close()

    def _run(self, *, once: bool) -> int:
        ran = failures = 0
        while not self._stopped:
            try:
                batch = self._look()
            except EpisodicError as error:
                if once or not error.retryable:
                    raise
                failures += 1
                self._wait_out(error, failures)
                continue
            if failures:
                self._say("going on")
                failures = 0
            if batch is not None:
                ran += batch.done + batch.failed + batch.lost
            elif once:
                break
            else:
                self._wait(self._poll)
        return ran

    def stop(self) -> None:
        """End after the batch that runs; what is not begun is given back. Safe in a signal handler."""
        self._stopped = True
        self._runner.halt()
        self._wakes.put(None)

    def _look(self) -> Batch | None:
        begun = self._clock()
        if self._next_sweep is None or begun >= self._next_sweep:
            self._next_sweep = begun + timedelta(seconds=SWEEP * self._jitter())
            self._sweep()
            begun = self._clock()
        batch = self._runner.run_batch()
        if batch is not None:
            self._say(described(batch, self._clock() - begun))
        return batch

    def _sweep(self) -> None:
        scopes = self._scopes()
        closed = sweep(scopes, self._upkeep, lambda: self._stopped, self._say)
        if not self._stopped:
            self._settle(scopes)
        if closed:
            self._say(f"closed {plural(closed, 'silent frame')}")

    def _wait_out(self, error: EpisodicError, failures: int) -> None:
        pause = min(self._poll * 2**failures, max(self._poll, LONGEST_WAIT)) * self._jitter()
        self._say(f"{error}; looking again in {pause:.1f} s")
        self._wait(pause)

    def _wait(self, seconds: float) -> None:
        with suppress(queue.Empty):
            self._wakes.get(timeout=seconds * self._jitter())

    def _jitter(self) -> float:
        return 0.75 + 0.5 * self._entropy(JITTER_BITS) / (1 << JITTER_BITS)


def described(batch: Batch, took: timedelta) -> str:
    """Tell of a batch in one line, for a log.

    >>> described(Batch(Scope("ana", "home"), "encode", done=3, failed=1), timedelta(seconds=2))
    'encode of ana in home: 3 done, 1 failed in 2.00 s'
    """
    counts = (
        ("done", batch.done),
        ("failed", batch.failed),
        ("lost", batch.lost),
        ("given back", batch.given_back),
    )
    text = ", ".join(f"{count} {name}" for name, count in counts if count or name == "done")
    scope = batch.scope
    return f"{batch.kind} of {scope.user_id} in {scope.space}: {text} in {took.total_seconds():.2f} s"

"""Keep what work for turns took: a row with each append, one with each job, both for the turns they were for.

Not to be confused with `engine.boundary.traces`, which is about a thread's boundary checks.
`engine.trace.turns` reads.
"""

import logging
import re
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

from episodic_agent.core.threads.turns import opens_turn
from episodic_agent.core.trace import FAILED, Recorder, Ticks, current, packed, recording
from episodic_agent.engine.jobs.retrying import until_unopposed
from episodic_agent.engine.jobs.runner import Handler
from episodic_agent.errors import EpisodicError
from episodic_agent.protocols import SpanSink, Store, Transaction, ref_of
from episodic_agent.schemas import Job, Observation, Scope, WorkRow
from episodic_agent.schemas.jobs import Span

ADD: Final = "add"
KEPT_DAYS: Final = 30
LONGEST_DAYS: Final = 36_500
STEP: Final = "step"
_DAY: Final = timedelta(days=1)
_QUESTION: Final = re.compile(r"([0-9a-f-]{36}):\d+-(\d+)$")

log = logging.getLogger(__name__)


class Tracer:
    """Records work and keeps it for `days` (0: nothing is kept); a sink is told of it too."""

    def __init__(
        self,
        store: Store,
        clock: Callable[[], datetime],
        days: int = KEPT_DAYS,
        sink: SpanSink | None = None,
        *,
        ticks: Ticks = time.perf_counter,
    ) -> None:
        self._store = store
        self._clock = clock
        self._days = min(days, LONGEST_DAYS)
        self._sink = sink
        self.ticks = ticks
        self._reported: list[tuple[Scope, UUID, datetime, Span]] = []
        self._dropped: dict[Scope, datetime] = {}

    @property
    def on(self) -> bool:
        """Tell whether anybody wants to know."""
        return self._days > 0 or self._sink is not None

    # --- appends -----------------------------------------------------------------------------------------

    @contextmanager
    def appending(self) -> Iterator[None]:
        """Record one transaction of an append."""
        if not self.on:
            yield
            return
        record = Appends(self.ticks)
        with recording(record):
            yield
        for answers in record.reported:  # the transaction is committed: now it happened
            self._tell(*answers)

    def appended(
        self, tx: Transaction, number: int, new: Sequence[Observation], before: Sequence[Span], now: datetime
    ) -> None:
        """Keep what an append took, in its own transaction; `before`: what was done outside of it.

        How long the commit itself takes it cannot know. Steps of an agent are no turns.
        """
        record = current()
        if not isinstance(record, Appends) or new[0].kind == STEP:
            return
        spans = (*before, *record.taken())
        start = min((one.start for one in spans), default=record.begun)
        root = Span(ADD, start, self.ticks() - start, {"messages": len(new)}, spans)
        at = now - timedelta(seconds=max(0.0, record.begun - start))
        if self._days > 0:
            refs = ref_of(number, new[0].seq), ref_of(number, new[-1].seq)
            tx.upkeep.put(WorkRow(*refs, at, ADD, packed(root)))
        if self._sink is not None:
            turn = next((one for one in reversed(new) if opens_turn(one)), new[-1])
            record.reported.append((tx.scope, turn.id, at, root))

    # --- jobs --------------------------------------------------------------------------------------------

    def handled(self, handler: Handler) -> Handler:
        """Return a handler whose work is kept for the turns it was for, where they can be known."""

        def handle(scope: Scope, jobs: Sequence[Job], /) -> None:
            if not self.on:
                handler(scope, jobs)
                return
            began, done = self._clock(), False
            record = Recorder(self.ticks)
            try:
                with recording(record):
                    handler(scope, jobs)
                done = True
            finally:
                if done or len(jobs) == 1:  # jobs that failed together are tried each by itself
                    failure = None if done else type(sys.exc_info()[1]).__name__
                    self._keep(scope, jobs, record, began, failure)

        return handle

    def _keep(
        self, scope: Scope, jobs: Sequence[Job], record: Recorder, began: datetime, failure: str | None
    ) -> None:
        """Keep what jobs took; never raises where it cannot: the work itself is done."""
        root = record.ended(jobs[0].kind, {"jobs": len(jobs)} if len(jobs) > 1 else {})
        answers: list[tuple[UUID, Span]] = []

        def keep() -> None:
            answers.clear()
            with self._store.begin(scope, write=self._days > 0) as tx:
                pairs = turns_of(tx, jobs)
                rows = []
                for job, seen in pairs:
                    extra = {"job": job.key} | ({FAILED: failure} if failure else {})
                    own = Span(
                        root.name, root.start, root.seconds, {**root.attributes, **extra}, root.children
                    )
                    answers.append((seen.id, own))
                    ref = ref_of(tx.threads.number(seen.thread_id), seen.seq)
                    rows.append(WorkRow(ref, ref, began, job.kind, packed(own)))
                if self._days > 0:
                    tx.upkeep.put(*rows)
                    self._drop_old(tx)

        try:
            until_unopposed(keep)
        except EpisodicError as error:
            log.warning("what %s jobs took is not kept: %s", jobs[0].kind, error)
        for turn, span in answers:
            self._tell(scope, turn, began, span)

    def _drop_old(self, tx: Transaction) -> None:
        """Drop what is too old, once a day for each scope that is worked for."""
        now = self._clock()
        if now - self._dropped.get(tx.scope, now - _DAY) >= _DAY:
            tx.upkeep.drop(before=now - self._days * _DAY)
            self._dropped[tx.scope] = now

    def _tell(self, scope: Scope, turn: UUID, at: datetime, root: Span) -> None:
        if self._sink is not None:
            self._sink.export(scope, turn, at, root)

    def close(self) -> None:
        """Send what a sink still holds."""
        if self._sink is not None:
            self._sink.close()


class Appends(Recorder):
    """Records one transaction of an append, which may be of several threads."""

    def __init__(self, ticks: Ticks) -> None:
        super().__init__(ticks)
        self.shared: tuple[Span, ...] = ()
        self.reported: list[tuple[Scope, UUID, datetime, Span]] = []

    def share(self) -> None:
        """Let what was recorded so far count for every thread that follows."""
        self.shared, self.spans = tuple(self.spans), []

    def taken(self) -> Sequence[Span]:
        """Return what one thread's append took, and begin the next one's."""
        spans, self.spans = [*self.shared, *self.spans], []
        return spans


def share() -> None:
    """Let what was recorded so far in this transaction count for every thread it appends to."""
    record = current()
    if isinstance(record, Appends):
        record.share()


def turns_of(tx: Transaction, jobs: Sequence[Job]) -> list[tuple[Job, Observation]]:
    """Return each job's turn as one observation of it; jobs for no turn that can be known are left out.

    The key of a job names an observation, an episode (its last turn is meant) or a thread (its last one);
    where it does not, what the job is done in order with may.
    """
    named = {
        job.id: [one for one in map(_identity, (job.key, job.serial)) if one is not None] for job in jobs
    }
    ids = list(dict.fromkeys(one for some in named.values() for one in some))
    observations, episodes = tx.observations.get(ids), tx.episodes.get(ids)
    result = []
    for job in jobs:
        place = _asked(tx, job.key)
        for identifier in named[job.id] if place is None else ():
            place = observations.get(identifier)
            if place is None and identifier in episodes:
                place = _at(tx, episodes[identifier].thread_id, episodes[identifier].last_seq)
            elif place is None and tx.threads.get(identifier) is not None:
                place = _at(tx, identifier, tx.threads.frame(identifier).next_seq - 1)
            if place is not None:
                break
        if place is not None:
            result.append((job, place))
    return result


def _asked(tx: Transaction, key: str) -> Observation | None:
    """Return the observation a question was about: its id ends in THREAD:FIRST-SEQ."""
    match = _QUESTION.search(key)
    thread = _identity(match[1]) if match else None
    if match is None or thread is None or tx.threads.get(thread) is None:
        return None
    return _at(tx, thread, int(match[2]))


def _identity(text: str) -> UUID | None:
    """Return the id a key names, whole or before a colon.

    >>> _identity("no id") is None, _identity(f"{UUID(int=1)}:2") == UUID(int=1)
    (True, True)
    """
    try:
        return UUID(text.partition(":")[0])
    except ValueError:
        return None


def _at(tx: Transaction, thread: UUID, seq: int) -> Observation | None:
    return next(iter(tx.observations.read(thread, seq, seq)), None)

"""Close open frames by request (`flush`) or by the clock (`upkeep`); both are recorded and replayed (I7)."""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from episodic_agent.core.boundary.contract import Input, ManualCut, Tick
from episodic_agent.core.threads.resolution import INACTIVITY
from episodic_agent.engine.boundary.segmenting import Segmenter, end_thread
from episodic_agent.engine.deps import Deps
from episodic_agent.engine.jobs.retrying import until_unopposed
from episodic_agent.engine.links.candidates import ask_for_end, unjudged
from episodic_agent.engine.sections.job import ask_due
from episodic_agent.engine.threads.resolving import silent_threads
from episodic_agent.errors import NotFound
from episodic_agent.protocols import Transaction
from episodic_agent.schemas import Reason, Scope, Thread


@dataclass(frozen=True, slots=True)
class Closer:
    """The verbs `flush` and `upkeep`."""

    deps: Deps
    segmenter: Segmenter

    def flush(self, scope: Scope, thread_id: UUID | None = None, *, reason: Reason = Reason.MANUAL) -> int:
        """Close the open frame of one thread, or of all the scope's threads; return how many closed.

        What the policy still held pending is decided first, with what there is. NotFound for an unknown
        thread.
        """
        with self.deps.store.begin(scope, write=False) as tx:
            if thread_id is not None and tx.threads.get(thread_id) is None:
                raise NotFound(
                    f"no thread {thread_id} in this memory; `episodic episodes` shows what there is"
                )
            threads = [thread_id] if thread_id else [t.id for t in tx.threads.list()]
        return sum(self._close(scope, t, ManualCut(self.deps.clock(), reason)) for t in threads)

    def upkeep(self, scope: Scope, now: datetime | None = None) -> int:
        """Close frames silent past the gap at which their policy would cut before any later observation.

        Threads that nobody chose and silence has ended are closed with them, and parts of threads that began
        a day ago are to be compacted. Silent in event time and in record time: a backlog that is still being
        imported is not silent.
        """
        moment = now or self.deps.clock()
        with self.deps.store.begin(scope, write=False) as tx:
            unfinished = tx.threads.list("unfinished")
            ended = silent_threads(tx, unfinished, moment, self.deps.channels)
            idle = [t.id for t in unfinished if t.id not in ended and self._idle(tx, t, moment)]
            over = unjudged(tx, self.deps, [t for t in unfinished if t.id not in ended], moment)
        closed = sum(self._close(scope, thread, Tick(moment)) for thread in idle)
        closed += sum(self._end(scope, thread, moment) for thread in sorted(ended))
        if over:
            with self.deps.store.begin(scope) as tx:
                for thread in over:
                    ask_for_end(tx, self.deps, thread, self.deps.clock())
        ask_due(self.deps, scope, moment)
        return closed

    def end(self, scope: Scope, thread_id: UUID, reason: str) -> int:
        """Close one thread by request; return how many frames that closed."""
        return until_unopposed(lambda: self._end_once(scope, thread_id, reason))

    def _end_once(self, scope: Scope, thread_id: UUID, reason: str) -> int:
        with self.deps.store.begin(scope) as tx:
            tx.hold("threads")
            now = self.deps.clock()
            ask_for_end(tx, self.deps, thread_id, now)
            return end_thread(tx, self.segmenter, thread_id, reason, now)

    def _end(self, scope: Scope, thread_id: UUID, now: datetime) -> int:
        return until_unopposed(lambda: self._end_silent(scope, thread_id, now))

    def _end_silent(self, scope: Scope, thread_id: UUID, now: datetime) -> int:
        with self.deps.store.begin(scope) as tx:
            tx.hold("threads")
            still = silent_threads(tx, [_thread(tx, thread_id)], now, self.deps.channels)
            if not still:  # somebody spoke between the look and the lock
                return 0
            at = self.deps.clock()
            ask_for_end(tx, self.deps, thread_id, at)
            return end_thread(tx, self.segmenter, thread_id, INACTIVITY, at)

    def _idle(self, tx: Transaction, thread: Thread, now: datetime) -> bool:
        frame, last = tx.threads.frame(thread.id), thread.last_activity_at
        gap = self.segmenter.of(thread).policy_of(frame).idle_after
        if gap is None or frame.first_seq == frame.next_seq:
            return False
        received = frame.last_received_at
        return now - last > gap and (received is None or now - received > gap)

    def _close(self, scope: Scope, thread: UUID, cut: Input) -> int:
        return until_unopposed(lambda: self._close_once(scope, thread, cut))

    def _close_once(self, scope: Scope, thread: UUID, cut: Input) -> int:
        now = self.deps.clock()
        with self.deps.store.begin(scope) as tx:
            frame = tx.threads.frame(thread)
            if frame.first_seq == frame.next_seq:
                return 0
            matching_thread = _thread(tx, thread)
            if isinstance(cut, Tick) and not self._idle(tx, matching_thread, cut.now):
                return 0  # somebody spoke between the look and the lock
            if isinstance(cut, Tick) and matching_thread.explicit:  # silence closes it no further than this
                ask_for_end(tx, self.deps, thread, now)
            segmenter = self.segmenter.of(matching_thread)
            frame = segmenter.catch_up(tx, frame, now)
            tx.threads.save(segmenter.advance(tx, frame, [cut], now))
        return 1


def _thread(tx: Transaction, thread: UUID) -> Thread:
    matching_thread = tx.threads.get(thread)
    if matching_thread is None:
        raise NotFound(f"no thread {thread}")
    return matching_thread

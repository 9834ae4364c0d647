"""Close what a run left open whose process was killed: the last episode of its thread.

A run leaves a note, a job that names its thread and its process, and takes it away when it ends. Whoever
opens the memory, runs an agent or keeps up finds the notes of processes that are gone, and closes their open
frames as the end of the stream. Of a process on another machine nobody here can tell: its note is looked at
every hour, and counts as left behind when nothing came for as long.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import timedelta
from typing import Final
from uuid import UUID

from episodic_agent.core.identity import thread_id as thread_identity
from episodic_agent.engine.boundary.segmenting import Segmenter, end_frame
from episodic_agent.engine.deps import Deps
from episodic_agent.engine.jobs.kinds import RUN
from episodic_agent.engine.jobs.retrying import until_unopposed
from episodic_agent.errors import Conflict, EpisodicError, NotFound
from episodic_agent.protocols import Transaction
from episodic_agent.schemas import Job, Reason, Scope

LOOK: Final = timedelta(hours=1)  # until a note is looked at, and how long a run elsewhere may be silent
_BETWEEN: Final = "|"


@dataclass(frozen=True, slots=True)
class OpenRun:
    """What a run leaves: its thread, its name, and the process it is of."""

    thread: UUID
    run: str
    owner: str

    def key(self) -> str:
        """Return the key of the job."""
        return _BETWEEN.join([str(self.thread), self.run, self.owner])

    @classmethod
    def of(cls, job: Job) -> "OpenRun":
        """Read a note."""
        thread, run, owner = job.key.split(_BETWEEN, 2)
        return cls(UUID(thread), run, owner)


class Orphans:
    """The notes of runs under way, and the handler of `run` jobs."""

    def __init__(self, deps: Deps, segmenter: Segmenter) -> None:
        self._deps = deps
        self._segmenter = segmenter

    @contextmanager
    def under_way(self, scope: Scope, origin: str, run: str) -> Iterator[None]:
        """Leave a note that a run fills a thread, as long as the block runs."""
        with self._deps.store.begin(scope) as tx:
            thread = tx.threads.get(origin)
            identity = thread_identity(scope, origin) if thread is None else thread.id
            note = OpenRun(identity, run, self._deps.owner)
            self._put(tx, note)
        try:
            yield
        finally:
            with suppress(EpisodicError):  # whoever comes next finds nothing open and takes it away
                until_unopposed(lambda: self._take_away(scope, note))

    def close_left(self, scope: Scope) -> int:
        """Close what dead runs of a scope left open; return how many frames that closed."""
        with self._deps.store.begin(scope, write=False) as tx:
            left = [job for job in tx.upkeep.jobs(state="waiting", kinds=[RUN]) if self._is_left(job)]
        return sum(until_unopposed(lambda one=job: self._close_one(scope, one)) for job in left)  # type: ignore[misc]

    def handle(self, scope: Scope, jobs: Sequence[Job]) -> None:
        """Look at the notes: close what is left behind, look at the others again later."""
        for job in jobs:
            note = OpenRun.of(job)
            with self._deps.store.begin(scope) as tx:
                tx.upkeep.drop(job)
                if self._deps.gone(note.owner) or self._is_silent(tx, note):
                    self._close(tx, note)
                else:
                    self._put(tx, note)

    def _is_left(self, job: Job) -> bool:
        return self._deps.gone(OpenRun.of(job).owner)

    def _close_one(self, scope: Scope, job: Job) -> int:
        with self._deps.store.begin(scope) as tx:
            try:
                tx.upkeep.drop(job.id)
            except (NotFound, Conflict):  # somebody else is closing it
                return 0
            return self._close(tx, OpenRun.of(job))

    def _close(self, tx: Transaction, note: OpenRun) -> int:
        """Close a thread's open frame as the end of its stream, unless another run fills the thread."""
        others = [OpenRun.of(job) for job in tx.upkeep.jobs(kinds=[RUN])]
        if any(one.thread == note.thread and not self._deps.gone(one.owner) for one in others):
            return 0
        thread = tx.threads.get(note.thread)
        if thread is None:
            return 0
        return end_frame(tx, self._segmenter, thread, self._deps.clock(), reason=Reason.END_OF_STREAM)

    def _is_silent(self, tx: Transaction, note: OpenRun) -> bool:
        """Tell whether nothing comes any more from a run of which nobody here can tell whether it lives."""
        if _machine(note.owner) == _machine(self._deps.owner):
            return False
        thread = tx.threads.get(note.thread)
        received = None if thread is None else tx.threads.frame(note.thread).last_received_at
        return received is None or self._deps.clock() - received >= LOOK

    def _put(self, tx: Transaction, note: OpenRun) -> None:
        now = self._deps.clock()
        tx.upkeep.ask(RUN, note.key(), f"{RUN}:{note.thread}", now=now, run_after=now + LOOK)

    def _take_away(self, scope: Scope, note: OpenRun) -> None:
        with self._deps.store.begin(scope) as tx:
            for job in tx.upkeep.jobs(state="waiting", kinds=[RUN]):
                if job.key == note.key():
                    tx.upkeep.drop(job.id)


def _machine(owner: str) -> str:
    return owner.partition(":")[0]

"""The later work of a space as people see it: list it, try it again, cancel it."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from episodic_agent.engine.deps import Deps
from episodic_agent.errors import InvalidInput, NotFound
from episodic_agent.protocols import Store
from episodic_agent.schemas import Job, Scope
from episodic_agent.showing import described

STATES = ("waiting", "leased", "dead")


@dataclass(frozen=True, slots=True)
class JobEntry:
    """One job: whose it is, what it does to what, and how it goes.

    `state` is `waiting`, `leased` (being done) or `dead` (given up); `due` is when it may be (or might have
    been) done; `last_error` is the reason of the last failure.
    """

    id: UUID
    user_id: str
    kind: str
    key: str
    state: str
    attempts: int
    due: datetime
    last_error: str | None

    def __repr__(self) -> str:
        return described(self, self.kind, self.key, self.state, self.last_error, self.id)


@dataclass(frozen=True, slots=True)
class Backlog:
    """Lists, retries and cancels jobs, over some scopes of one space."""

    deps: Deps
    scopes: Sequence[Scope]

    @property
    def _store(self) -> Store:
        return self.deps.store

    def entries(self, state: str | None = None, limit: int | None = None) -> list[JobEntry]:
        """Return the jobs by user, then by when they are due, the first `limit`; InvalidInput."""
        if state is not None and state not in STATES:
            raise InvalidInput(f"no state {state!r} of jobs; there are {', '.join(STATES)}")
        entries: list[JobEntry] = []
        for scope in self.scopes:
            left = None if limit is None else limit - len(entries)
            if left == 0:
                break
            with self._store.begin(scope, write=False) as tx:
                entries.extend(entry(scope, job) for job in tx.upkeep.jobs(state=state, limit=left))
        return entries

    def find(self, value: "UUID | str") -> tuple[Scope, JobEntry]:
        """Return a job by its id, or by the unambiguous beginning or end of it; NotFound otherwise."""
        text = str(value).strip().lower()
        pairs = [
            (scope, e)
            for scope in self.scopes
            for e in Backlog(self.deps, [scope]).entries()
            if text and (str(e.id).startswith(text) or str(e.id).endswith(text))
        ]
        if len(pairs) == 1:
            return pairs[0]
        problem = "no job has the id" if not pairs else f"{len(pairs)} jobs have ids like"
        raise NotFound(f"{problem} {text!r}; `episodic jobs list` shows the ids")

    def retry(self, value: "UUID | str") -> JobEntry:
        """Make a waiting or dead job due now with all its attempts back.

        Raises NotFound, and Conflict while it is being done.
        """
        scope, chosen = self.find(value)
        with self._store.begin(scope) as tx:
            tx.upkeep.put_back(chosen.id, retry_at=self.deps.clock())
        return chosen

    def retry_dead(self) -> int:
        """Try every dead letter again; return how many there were."""
        count = 0
        for scope in self.scopes:
            with self._store.begin(scope, write=False) as tx:
                if not tx.upkeep.jobs(state="dead"):
                    continue  # a scope is not written to for nothing
            with self._store.begin(scope) as tx:
                for job in tx.upkeep.jobs(state="dead"):
                    tx.upkeep.put_back(job.id, retry_at=self.deps.clock())
                    count += 1
        return count

    def cancel(self, value: "UUID | str") -> JobEntry:
        """Delete a waiting or dead job; raises NotFound, and Conflict while it is being done."""
        scope, chosen = self.find(value)
        with self._store.begin(scope) as tx:
            tx.upkeep.drop(chosen.id)
        return chosen


def entry(scope: Scope, job: Job) -> JobEntry:
    """Shape a stored job for people."""
    return JobEntry(
        id=job.id,
        user_id=scope.user_id,
        kind=job.kind,
        key=job.key,
        state=job.state,
        attempts=job.attempts,
        due=job.run_after,
        last_error=job.last_error,
    )

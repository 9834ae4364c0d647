"""What is concluded beside episodes: links, reviews, skills; and later work, with what it took and cost."""

from collections.abc import Mapping, Sequence
from datetime import date, datetime
from typing import Final, Protocol
from uuid import UUID

from episodic_agent.core.skill_records import KeptSkill, SkillState, TurnRef
from episodic_agent.schemas import (
    Job,
    Link,
    ModelUse,
    PendingReview,
    WorkRow,
)


class Links(Protocol):
    """Which threads belong together, and the cross-thread episodes they form."""

    def put(self, link: Link) -> None:
        """Write the link of two threads, in the place of what stood of the two; NotFound for either."""
        ...

    def of(self, threads: Sequence[UUID], *, taken_back: bool = False) -> Sequence[Link]:
        """Return the links of these threads, oldest first; tombstones only where wanted.

        Ties stand as their threads were made.
        """
        ...

    def list(self, *, limit: int, taken_back: bool = False) -> Sequence[Link]:
        """Return the newest links of the scope, newest first."""
        ...

    def join(self, episode_id: UUID, threads: Sequence[UUID]) -> None:
        """Let just these threads form a cross-thread episode; they leave those they were in."""
        ...

    def joined(self, threads: Sequence[UUID]) -> Mapping[UUID, UUID]:
        """Return the cross-thread episode of each of these threads that is in one."""
        ...

    def members(self, episode_id: UUID) -> Sequence[UUID]:
        """Return the threads of a cross-thread episode in order of creation, ties by id."""
        ...


class Reviews(Protocol):
    """Recalls that wait to be judged by what is said after them."""

    def ask(self, pending: PendingReview) -> None:
        """Let a recall be judged by what its thread says next; the same id again changes nothing.

        Raises NotFound for an unknown thread.
        """
        ...

    def pending(self, thread_id: UUID) -> Sequence[PendingReview]:
        """Return what waits in a thread, oldest first."""
        ...

    def settle(self, settled: Sequence[PendingReview]) -> None:
        """Take away what is judged; what is gone already changes nothing."""
        ...


class Jobs(Protocol):
    """Later work of a scope, as rows."""

    def put(
        self, kind: str, key: str, serial: str, *, now: datetime, run_after: datetime | None = None
    ) -> None:
        """Ask for work; a second request for a waiting (kind, key) coalesces with the first."""
        ...

    def finish(self, job: Job) -> None:
        """Delete a claimed job in the transaction of its effect; Conflict when its token is not ours."""
        ...

    def fail(self, job: Job, error: str, *, retry_at: datetime | None) -> None:
        """Put a claimed job back for `retry_at`, or among the dead letters when None."""
        ...

    def release(self, job: Job) -> None:
        """Give a claimed job back untried: it waits again and the claim counts as no attempt."""
        ...

    def list(self, *, state: str | None = None) -> Sequence[Job]: ...
    def retry(self, job_id: UUID, *, now: datetime) -> None: ...
    def cancel(self, job_id: UUID) -> None: ...


class Usage(Protocol):
    """What language models cost a scope, by day, stage and model."""

    def add(self, uses: Sequence[ModelUse]) -> None:
        """Add to what is counted already."""
        ...

    def totals(self, first: date, last: date) -> Sequence[ModelUse]:
        """Return what the scope cost on each day of `first..last` (inclusive), by day, stage, model."""
        ...


class Skills(Protocol):
    """Skills and what may become one, the turns that show them, and the episodes nobody has mined yet."""

    def put(self, kept: KeptSkill, turns: Sequence[TurnRef] = ()) -> KeptSkill:
        """Write a skill, new or known by its id, and add turns to its evidence; return it with its number.

        Turns that are evidence of it already add nothing. Conflict where another one has its pattern;
        NotFound for a turn of an unknown thread.
        """
        ...

    def get(self, skill_id: UUID) -> KeptSkill | None:
        """Read one (in a write transaction nobody else can change it before the end)."""
        ...

    def list(self, *, state: SkillState | None = None) -> Sequence[KeptSkill]:
        """Return all, or those of a state, oldest first, ties by id; held to the end as by `get`."""
        ...

    def by_numbers(self, numbers: Sequence[int]) -> Mapping[int, KeptSkill]: ...
    def evidence(self, skill_id: UUID) -> Sequence[TurnRef]:
        """Return the turns that show a skill, by reference."""
        ...

    def shown_by(self, turns: Sequence[TurnRef]) -> Mapping[TurnRef, Sequence[UUID]]:
        """Return for each of these turns which skills it shows already; turns that show none are left out."""
        ...

    def drop(self, skill_id: UUID) -> None:
        """Delete one with its evidence; an unknown one is gone already. Its words in the index stay."""
        ...

    def await_mining(self, refs: Sequence[int]) -> None:
        """Note episodes, by `ref_of(thread number, first_seq)`, that are to be looked through."""
        ...

    def awaiting(self, *, limit: int) -> Sequence[int]:
        """Return refs that were noted and not taken away, rising."""
        ...

    def mined(self, refs: Sequence[int]) -> None:
        """Take noted refs away."""
        ...


LONGEST_RUN: Final = 256  # observations that one row of work is for, at most


class Work(Protocol):
    """What work for turns took, as rows (docs/tracing.md). Not exported; old rows are dropped."""

    def put(self, rows: Sequence[WorkRow]) -> None:
        """Keep rows; one of the same first reference, time and name takes the place of another."""
        ...

    def of(self, first_ref: int, last_ref: int) -> Sequence[WorkRow]:
        """Return the rows for any of a thread's observations `first_ref..last_ref`, by time, then place."""
        ...

    def drop(self, before: datetime) -> None:
        """Delete what was done before a time."""
        ...

    def named(self, first: UUID, last: UUID, *, limit: int) -> Sequence[UUID]:
        """Return the ids of observations that lie in `first..last`, in order: those that begin alike."""
        ...

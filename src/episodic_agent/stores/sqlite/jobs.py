"""Upkeep as rows: later work, marks and expiries of many spans, what models cost a space by day and stage.

Later work is asked for in the transaction of its cause, claimed under a lease, fenced by a token.
"""

from collections.abc import Sequence
from datetime import date, datetime, timedelta
from typing import Any, Final
from uuid import UUID

import apsw

from episodic_agent.errors import Conflict, NotFound
from episodic_agent.schemas import Job, ModelUse, Observation, Scope
from episodic_agent.stores.faults import reach
from episodic_agent.stores.lease import is_gone
from episodic_agent.stores.nouns import JOB, job_of, use_of
from episodic_agent.stores.rows import to_day, to_json, to_microseconds
from episodic_agent.stores.sqlite.file.connection import every, row, rows
from episodic_agent.stores.sqlite.file.session import SqliteSession
from episodic_agent.stores.tables.upkeep import LedgerTable, UpkeepTable

_JOB: Final = JOB.replace("id,", "number,", 1)
_OLDEST_FIRST: Final = "ORDER BY run_after, number"


class SqliteWork(LedgerTable):
    """The jobs of one transaction. A job's id is its number in the file."""

    _session: SqliteSession

    def ask(
        self, kind: str, key: str, serial: str, *, now: datetime, run_after: datetime | None = None
    ) -> None:
        """Ask for work; a second request for a waiting (kind, key) coalesces with the first.

        The earlier time counts, except that a job put back after a failure keeps its waiting time.
        """
        scope = self._session.own()
        sql = (
            "INSERT INTO job (scope, kind, key, serial, state, run_after, attempts, token)"
            " VALUES (?, ?, ?, ?, 'waiting', ?, 0, 0)"
            " ON CONFLICT (scope, kind, key) WHERE state = 'waiting' DO UPDATE"
            " SET run_after = iif(attempts = 0, min(run_after, excluded.run_after), run_after)"
        )
        due = to_microseconds(now if run_after is None else run_after)
        self._session.db.execute(sql, (scope, kind, key, serial, due))

    def _finish(self, job: Job) -> None:
        sql = "DELETE FROM job WHERE number = ? AND scope = ? AND state = 'leased' AND token = ?"
        self._session.db.execute(sql, self._claimed(job))
        self._expect_one(job)

    def _put_back(self, job: Job, error: str | None, retry_at: datetime | None) -> None:
        if error is None:
            bindings: tuple[int | str, ...] = self._claimed(job)
            changed = "attempts = attempts - 1"
        else:
            changed = "state = 'dead', lease_owner = NULL, lease_until = NULL, last_error = ?"
            bindings = (error, *self._claimed(job))
        sql = f"UPDATE job SET {changed} WHERE number = ? AND scope = ? AND state = 'leased' AND token = ?"
        self._session.db.execute(sql, bindings)
        self._expect_one(job)
        due = job.run_after if error is None else retry_at
        if due is not None:
            put_back(self._session.db, job.id.int, to_microseconds(due))

    def _claimed(self, job: Job) -> tuple[int, int, int]:
        return job.id.int, self._session.own(), job.token

    def _expect_one(self, job: Job) -> None:
        if self._session.db.changes() == 0:
            raise Conflict(f"job {job.kind} {job.key!r} is no longer ours: its lease ran out")

    def jobs(
        self, *, state: str | None = None, kinds: Sequence[str] | None = None, limit: int | None = None
    ) -> Sequence[Job]:
        """Return jobs by the time they are due, then in order of asking."""
        conditions, bindings = ["scope = ?"], list[int | str]([self._session.number])
        if state is not None:
            # as a constant where there is an index of the state
            known = state in ("waiting", "leased")
            conditions.append(f"state = '{state}'" if known else "state = ?")
            bindings += () if known else (state,)
        if kinds is not None:
            conditions.append("kind IN (SELECT value FROM json_each(?))")
            bindings.append(self._session.listed("texts", kinds))
        bindings.append(-1 if limit is None else limit)
        sql = f"SELECT {_JOB} FROM job WHERE {' AND '.join(conditions)} {_OLDEST_FIRST} LIMIT ?"
        return [job_of(columns) for columns in self._session.rows(sql, bindings)]

    def _retry(self, job_id: UUID, due: int) -> None:
        number = self._unclaimed(job_id)
        self._session.db.execute("UPDATE job SET attempts = 0 WHERE number = ?", (number,))
        put_back(self._session.db, number, due)

    def _cancel(self, job_id: UUID) -> None:
        self._session.db.execute("DELETE FROM job WHERE number = ?", (self._unclaimed(job_id),))

    def _unclaimed(self, job_id: UUID) -> int:
        scope = self._session.own()
        number = min(job_id.int, (1 << 63) - 1)
        results = self._session.row("SELECT state FROM job WHERE number = ? AND scope = ?", (number, scope))
        if results is None:
            raise NotFound(f"no job {job_id} in this scope")
        if results[0] == "leased":
            raise Conflict(f"job {job_id} is being done; wait for it to end")
        return number


def put_back(db: apsw.Connection, number: int, due: int) -> None:
    """Let a job wait again; if its like was asked for meanwhile, they become one, with this one's history."""
    duplicate = row(
        db,
        "SELECT w.number FROM job w JOIN job j ON j.number = ? AND j.number <> w.number"
        " WHERE w.scope = j.scope AND w.kind = j.kind AND w.key = j.key AND w.state = 'waiting'",
        (number,),
    )
    if duplicate is not None:
        db.execute("DELETE FROM job WHERE number = ?", duplicate)
    db.execute(
        "UPDATE job SET state = 'waiting', run_after = ?, lease_owner = NULL, lease_until = NULL"
        " WHERE number = ?",
        (due, number),
    )


def renew(session: SqliteSession, jobs: Sequence[Job], until: int) -> list[Job]:
    """Prolong leases and return the jobs whose lease was still held by these claims."""
    sql = (
        "UPDATE job SET lease_until = max(lease_until, ?)"
        " WHERE number = ? AND scope = ? AND state = 'leased' AND token = ? RETURNING number"
    )
    bindings = [(until, job.id.int, session.number, job.token) for job in jobs]
    held = {number for (number,) in every(session.db, sql, bindings)}
    return [job for job in jobs if job.id.int in held]


def release_expired(db: apsw.Connection, now: int) -> None:
    """Put back the jobs whose lease ran out or whose process is gone."""
    leased = rows(db, "SELECT number, run_after, lease_owner, lease_until FROM job WHERE state = 'leased'")
    for number, run_after, owner, until in leased:
        if until <= now or is_gone(owner):
            put_back(db, number, run_after)


def anything_to_claim(db: apsw.Connection, now: int) -> bool:
    """Tell, without a write lock, whether a claim could find something."""
    if row(db, "SELECT 1 FROM job WHERE state = 'waiting' AND run_after <= ? LIMIT 1", (now,)) is not None:
        return True
    leased = rows(db, "SELECT lease_owner, lease_until FROM job WHERE state = 'leased'")
    return any(until <= now or is_gone(owner) for owner, until in leased)


class SqliteClaim:
    """One look for work: who asks, for how long, and for which scope and kinds."""

    def __init__(
        self,
        owner: str,
        now: datetime,
        lease: timedelta,
        *,
        space: str | None,
        scope: Scope | None,
        kinds: Sequence[str] | None,
    ) -> None:
        self._owner = owner
        self._now = to_microseconds(now)
        self._until = to_microseconds(now + lease)
        self._space = space
        self._scope = scope
        self._kinds = kinds

    @property
    def now(self) -> int:
        """Return the time of asking in microseconds."""
        return self._now

    def take(self, db: apsw.Connection, limit: int) -> tuple[Scope, Sequence[Job]] | None:
        """Claim due jobs of one scope and kind, one a serial, oldest first; in a write transaction."""
        release_expired(db, self._now)
        condition, bindings = self._due()
        sql = f"SELECT scope, kind FROM job j WHERE {condition} {_OLDEST_FIRST} LIMIT 1"
        first = row(db, sql, bindings)
        if first is None or limit < 1:
            return None
        sql = f"SELECT number, serial FROM job j WHERE {condition} AND scope = ? AND kind = ? {_OLDEST_FIRST}"
        chosen: dict[str, int] = {}
        for number, serial in db.execute(sql, (*bindings, *first)):
            chosen.setdefault(serial, number)
            if len(chosen) == limit:
                break
        results = row(db, "SELECT space, user_id FROM scope WHERE number = ?", first[:1])
        jobs = self._lease(db, list(chosen.values()))
        reach("after-claim")
        return (Scope(user_id=results[1], space=results[0]), jobs) if results is not None else None

    def _due(self) -> tuple[str, tuple[Any, ...]]:
        """Return the condition of a job that may be done now: due, and nothing of its serial being done."""
        condition = (
            "state = 'waiting' AND run_after <= ? AND NOT EXISTS (SELECT 1 FROM job l"
            " WHERE l.state = 'leased' AND l.scope = j.scope AND l.serial = j.serial)"
        )
        bindings: tuple[Any, ...] = (self._now,)
        if self._scope is not None:
            condition += " AND scope = (SELECT number FROM scope WHERE space = ? AND user_id = ?)"
            bindings = (*bindings, self._scope.space, self._scope.user_id)
        if self._space is not None:
            condition += " AND scope IN (SELECT number FROM scope WHERE space = ?)"
            bindings = (*bindings, self._space)
        if self._kinds is not None:
            condition += f" AND kind IN ({', '.join('?' * len(self._kinds))})"
            bindings = (*bindings, *self._kinds)
        return condition, bindings

    def _lease(self, db: apsw.Connection, numbers: Sequence[int]) -> list[Job]:
        sql = (
            "UPDATE job SET state = 'leased', lease_owner = ?, lease_until = ?, token = token + 1,"
            f" attempts = attempts + 1 WHERE number = ? RETURNING {_JOB}"
        )
        bindings = [(self._owner, self._until, number) for number in numbers]
        return [job_of(columns) for columns in every(db, sql, bindings)]


def count_jobs(
    db: apsw.Connection, scope: Scope | None, space: str | None, due: datetime | None, state: str | None
) -> int:
    """Count waiting and leased jobs (or those of a state) of a scope, a space or all; due ones if asked."""
    condition = "state <> 'dead'" if state is None else "state = ?"
    bindings: list[int | str] = [] if state is None else [state]
    if scope is not None:
        condition += " AND scope = ?"
        bindings.append(SqliteSession(db, scope, write=False).number)
    if space is not None:
        condition += " AND scope IN (SELECT number FROM scope WHERE space = ?)"
        bindings.append(space)
    if due is not None:
        condition += " AND run_after <= ?"
        bindings.append(to_microseconds(due))
    results = row(db, f"SELECT count(*) FROM job WHERE {condition}", bindings)
    return 0 if results is None else int(results[0])


_FROM, _TO = "(p.value ->> 0)", "(p.value ->> 1)"
_TOUCHED: Final = (
    "SELECT p.key, s.kind, s.first_ref, s.last_ref, s.at, s.reason"
    " FROM json_each(?1) k CROSS JOIN json_each(?2) p CROSS JOIN span_mark s"
    " WHERE s.scope = ?3 AND s.kind = k.value AND s.first_ref = (SELECT max(x.first_ref) FROM span_mark x"
    f" WHERE x.scope = ?3 AND x.kind = k.value AND x.first_ref <= {_TO}) AND s.last_ref >= {_FROM}"
)


class SqliteUpkeep(UpkeepTable, SqliteWork):
    """The `UpkeepRecords` of one transaction."""

    _session: SqliteSession

    def _touching(self, kinds: Sequence[str], spans: Sequence[tuple[int, int]]) -> list[tuple[Any, ...]]:
        return self._session.rows(_TOUCHED, (to_json(kinds), to_json(spans), self._session.number))

    def _expired(self, spans: Sequence[tuple[int, int]], now: int) -> list[tuple[Any, ...]]:
        sql = (
            "SELECT DISTINCT e.ref FROM json_each(?) p CROSS JOIN expiry e"
            f" WHERE e.scope = ? AND e.ref BETWEEN {_FROM} AND {_TO} AND e.at <= ? ORDER BY e.ref"
        )
        return self._session.rows(sql, (to_json(spans), self._session.number, now))


def keep_expiries(session: SqliteSession, refs: Sequence[int], observations: Sequence[Observation]) -> None:
    """Note when observations that are just stored are to be erased; most never are."""
    sql = "INSERT INTO expiry (scope, ref, at) VALUES (?, ?, ?)"
    timed = [
        (session.number, ref, to_microseconds(o.expires_at))
        for ref, o in zip(refs, observations, strict=True)
        if o.expires_at is not None
    ]
    if timed:
        session.db.executemany(sql, timed)


_OF_SPACE: Final = (
    "SELECT day, stage, model, sum(calls), sum(failures), sum(refused), sum(late),"
    " sum(prompt_tokens), sum(completion_tokens), sum(microseconds)"
    " FROM usage WHERE scope IN (SELECT number FROM scope WHERE space = ?)"
    " AND day BETWEEN ? AND ? GROUP BY day, stage, model ORDER BY day, stage, model"
)


def usage_of_space(db: apsw.Connection, space: str, first: date, last: date) -> Sequence[ModelUse]:
    """Return what all users of a space cost on each day of `first..last`."""
    return [use_of(found) for found in rows(db, _OF_SPACE, (space, to_day(first), to_day(last)))]

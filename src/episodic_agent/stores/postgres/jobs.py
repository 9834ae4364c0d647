"""Upkeep as rows: later work, and marks and expiries of many spans.

Later work is asked for in the transaction of its cause, claimed under a lease, fenced by a token. Claims of
one scope follow each other (an advisory lock), those of different scopes run side by side. The table names
whose each job is, so that a claim over all spaces reads nothing else.
"""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any, Final, NamedTuple
from uuid import UUID, uuid4

from episodic_agent.errors import Conflict, NotFound
from episodic_agent.schemas import Job, Observation, Scope
from episodic_agent.stores.faults import reach
from episodic_agent.stores.lease import is_gone
from episodic_agent.stores.nouns import JOB, columns_of, job_of
from episodic_agent.stores.postgres.server.batches import bigints, byteas, from_stored, read_columns, texts
from episodic_agent.stores.postgres.server.connection import PostgresConnections
from episodic_agent.stores.postgres.server.session import (
    OWN_ROW,
    Connection,
    PostgresSession,
    key_of,
    keys_of,
)
from episodic_agent.stores.rows import to_microseconds
from episodic_agent.stores.tables.upkeep import MARK, LedgerTable, UpkeepTable

_NOW: Final = "(extract(epoch FROM clock_timestamp()) * 1000000)::bigint"
_OLDEST_FIRST: Final = "ORDER BY run_after, asked_at, id"
_OURS: Final = "j.state = 'leased' AND j.token = %s"
_COPIED: Final = "space, owner, id, name, user_id, kind, key, serial, asked_at, token"
# Of the oldest of them only so many are looked through for jobs of different serials.
_AHEAD: Final = 8
# OFFSET 0 keeps this a look-up by serial whatever the planner believes of so quickly changing a table.
_FREE: Final = (
    "j.state = 'waiting' AND j.run_after <= %s AND NOT EXISTS (SELECT 1 FROM job l"
    " WHERE l.state = 'leased' AND l.space = j.space AND l.owner = j.owner AND l.serial = j.serial OFFSET 0)"
)

_CANDIDATES: Final = (
    "SELECT j.id, j.serial FROM job j WHERE j.space = %s AND j.owner = %s AND j.kind = %s"
    f" AND {_FREE} {_OLDEST_FIRST} LIMIT %s"
)
# What somebody asks for again just now is locked, and left for the next claim. Waiting is told by what it is
# not, so that the rows are found by their ids and not by reading all that wait.
_LEASE: Final = (
    "UPDATE job j SET state = 'leased', lease_owner = %s, lease_until = %s, token = j.token + 1,"
    " attempts = j.attempts + 1 WHERE j.space = %s AND j.owner = %s AND j.id = ANY(ARRAY("
    "SELECT w.id FROM job w WHERE w.space = %s AND w.owner = %s AND w.id = ANY(%s::bytea[])"
    " AND w.state NOT IN ('leased', 'dead') AND w.run_after <= %s FOR UPDATE SKIP LOCKED))"
    f" RETURNING j.run_after, j.asked_at, j.name, j.user_id, {columns_of(JOB, 'j')}"
)


class _JobScope(NamedTuple):
    """Where there is work: a scope's keys, and of what kind."""

    space: int
    owner: int
    kind: str

    @property
    def lock(self) -> int:
        """Return the number that stands for the scope in advisory locks; scopes that share one take turns."""
        return self.space ^ self.owner


class PostgresWork(LedgerTable):
    """The jobs of one transaction.

    A job's id is random: it names one request, however often the same (kind, key) is asked for.
    """

    _session: PostgresSession

    def ask(
        self, kind: str, key: str, serial: str, *, now: datetime, run_after: datetime | None = None
    ) -> None:
        """Ask for work; a second request for a waiting (kind, key) coalesces with the first.

        The earlier time counts, except that a job put back after a failure keeps its waiting time.
        """
        keys, scope = self._session.own(), self._session.scope
        # A request that changes nothing still locks the row: nobody may do the work before this commits.
        sql = (
            "INSERT INTO job (space, owner, id, name, user_id, kind, key, serial, state, run_after, asked_at,"
            f" attempts, token) VALUES (%s, %s, %s, %s, %s, %s, %s, %s, 'waiting', %s, {_NOW}, 0, 0)"
            " ON CONFLICT (space, owner, kind, key) WHERE state = 'waiting' DO UPDATE"
            " SET run_after = excluded.run_after"
            " WHERE job.attempts = 0 AND excluded.run_after < job.run_after"
        )
        due = to_microseconds(now if run_after is None else run_after)
        names = (uuid4().bytes, scope.space, scope.user_id, kind, key, serial)
        self._session.execute(sql, (*keys, *names, due))

    def _finish(self, job: Job) -> None:
        self._session.must_write()
        sql = f"DELETE FROM job j WHERE j.space = %s AND j.owner = %s AND j.id = %s AND {_OURS}"
        self._expect_one(job, self._session.execute(sql, (*self._session.keys, job.id.bytes, job.token)))

    def _put_back(self, job: Job, error: str | None, retry_at: datetime | None) -> None:
        self._session.must_write()
        claimed = (*self._session.keys, job.id.bytes, job.token)
        bindings: tuple[Any, ...]
        if error is None:
            sql = put_back(_OURS, attempts="g.attempts - 1")
            bindings = (*claimed, to_microseconds(job.run_after))
        elif retry_at is not None:
            sql = put_back(_OURS, error="%s")
            bindings = (*claimed, to_microseconds(retry_at), error)
        else:
            sql = (
                "UPDATE job j SET state = 'dead', lease_owner = NULL, lease_until = NULL, last_error = %s"
                f" WHERE j.space = %s AND j.owner = %s AND j.id = %s AND {_OURS}"
            )
            bindings = (error, *claimed)
        self._expect_one(job, self._session.execute(sql, bindings))

    def _expect_one(self, job: Job, index: int) -> None:
        if index == 0:
            raise Conflict(f"job {job.kind} {job.key!r} is no longer ours: its lease ran out")

    def jobs(
        self, *, state: str | None = None, kinds: Sequence[str] | None = None, limit: int | None = None
    ) -> Sequence[Job]:
        sql = f"SELECT {JOB} FROM job WHERE space = %s AND owner = %s"
        bindings: tuple[Any, ...] = self._session.keys
        if state is not None:
            sql, bindings = f"{sql} AND state = %s", (*bindings, state)
        if kinds is not None:
            sql, bindings = f"{sql} AND kind = ANY(%s::text[])", (*bindings, list(kinds))
        rows = self._session.rows(f"{sql} {_OLDEST_FIRST} LIMIT %s", (*bindings, limit))
        return [job_of(read_columns(columns)) for columns in rows]

    def _retry(self, job_id: UUID, due: int) -> None:
        self._session.must_write()
        sql = put_back("j.state <> 'leased'", attempts="0")
        if self._session.execute(sql, (*self._session.keys, job_id.bytes, due)) == 0:
            raise self._refusal(job_id)

    def _cancel(self, job_id: UUID) -> None:
        self._session.must_write()
        sql = "DELETE FROM job WHERE space = %s AND owner = %s AND id = %s AND state <> 'leased'"
        if self._session.execute(sql, (*self._session.keys, job_id.bytes)) == 0:
            raise self._refusal(job_id)

    def _refusal(self, job_id: UUID) -> NotFound | Conflict:
        sql = "SELECT 1 FROM job WHERE space = %s AND owner = %s AND id = %s"
        if self._session.row(sql, (*self._session.keys, job_id.bytes)) is None:
            return NotFound(f"no job {job_id} in this scope")
        return Conflict(f"job {job_id} is being done; wait for it to end")


def put_back(condition: str, *, attempts: str = "g.attempts", error: str = "g.last_error") -> str:
    """Return the statement that lets a job wait again; it binds space, owner, id, the condition's and due.

    If its like was asked for meanwhile they become one, with this one's history. The row is taken out and
    put in again because only an INSERT can meet its like without an error, whoever is asking just now.
    """
    return (
        f"WITH g AS (DELETE FROM job j WHERE j.space = %s AND j.owner = %s AND j.id = %s AND {condition}"
        f" RETURNING j.*) INSERT INTO job ({_COPIED}, state, run_after, attempts, last_error)"
        f" SELECT {columns_of(_COPIED, 'g')}, 'waiting', %s, {attempts}, {error} FROM g"
        " ON CONFLICT (space, owner, kind, key) WHERE state = 'waiting' DO UPDATE SET"
        " id = excluded.id, serial = excluded.serial, asked_at = excluded.asked_at, token = excluded.token,"
        " run_after = excluded.run_after, attempts = excluded.attempts, last_error = excluded.last_error"
    )


def renew(session: PostgresSession, jobs: Sequence[Job], until: datetime) -> list[Job]:
    """Prolong leases and return the jobs whose lease was still held by these claims."""
    sql = (
        "UPDATE job j SET lease_until = greatest(j.lease_until, %s)"
        " FROM unnest(%s::bytea[], %s::bigint[]) AS g (id, token)"
        " WHERE j.space = %s AND j.owner = %s AND j.state = 'leased' AND j.id = g.id AND j.token = g.token"
        " RETURNING j.id"
    )
    claimed = (byteas([job.id.bytes for job in jobs]), bigints([job.token for job in jobs]))
    held = {found for (found,) in session.rows(sql, (to_microseconds(until), *claimed, *session.keys))}
    return [job for job in jobs if job.id.bytes in held]


class PostgresClaim:
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
        self._kinds = kinds
        self._where, self._keys = _narrowed(scope, space)

    def take(self, connections: PostgresConnections, limit: int) -> tuple[Scope, Sequence[Job]] | None:
        """Claim due jobs of one scope and kind, one a serial, oldest first, in a transaction of its own."""
        space, owner = _both(self._keys)
        with connections.claiming(space, owner) as db:
            first, gone, late = self._look(db)
            if gone or late:
                self._put_back(db, gone)
                first = self._oldest(db, [])
            return None if first is None or limit < 1 else self._take(db, first, limit)

    def _look(self, db: Connection) -> tuple[_JobScope | None, Sequence[str], bool]:
        """Return where the oldest job is that may be done now, which owners are gone, whether one is late.

        One statement: idle workers ask all the time.
        """
        sql, bindings = self._oldest_query([])
        look = (
            "SELECT f.space, f.owner, f.kind, l.owners, l.until FROM"
            " (SELECT array_agg(DISTINCT j.lease_owner) AS owners, min(j.lease_until) AS until"
            f" FROM job j WHERE j.state = 'leased' AND {self._where}) l LEFT JOIN ({sql}) f ON true"
        )
        results = db.execute(look.encode(), (*self._keys, *bindings)).fetchone()
        *place, owners, until = results or (None, None, None, None, None)
        gone = [owner for owner in owners or () if is_gone(from_stored(owner))]
        first = None if place[0] is None else _JobScope(*place)
        return first, gone, until is not None and until <= self._now

    def _put_back(self, db: Connection, gone: Sequence[str]) -> None:
        """Let the jobs wait again whose lease ran out or whose process is gone."""
        sql = (
            "SELECT j.space, j.owner, j.id, j.token, j.run_after FROM job j"
            f" WHERE j.state = 'leased' AND {self._where}"
            " AND (j.lease_until <= %s OR j.lease_owner = ANY(%s::text[]))"
            f" {_OLDEST_FIRST} FOR UPDATE SKIP LOCKED"
        )
        for columns in db.execute(sql.encode(), (*self._keys, self._now, texts(gone))).fetchall():
            db.execute(put_back(_OURS).encode(), columns)

    def _take(self, db: Connection, first: _JobScope, limit: int) -> tuple[Scope, Sequence[Job]] | None:
        """Go from scope to scope in the order of their oldest jobs, past those others just claim from."""
        passed, busy = list[int](), list[_JobScope]()
        place: _JobScope | None = first
        while place is not None:
            if self._lock(db, place, wait=False):
                taken = self._lease(db, place, limit)
                if taken is not None:
                    return taken
            else:
                busy.append(place)
            passed.append(place.lock)
            place = self._oldest(db, passed)
        # Only where others claim there is something left: a claim is short, so wait for the first of them.
        if busy and self._lock(db, busy[0], wait=True):
            return self._lease(db, busy[0], limit)
        return None

    def _lock(self, db: Connection, place: _JobScope, *, wait: bool) -> bool:
        """Let nobody else claim from a scope until this transaction ends."""
        if wait:
            db.execute("SELECT pg_advisory_xact_lock(%s)", (place.lock,))
            return True
        results = db.execute("SELECT pg_try_advisory_xact_lock(%s)", (place.lock,)).fetchone()
        return results is not None and bool(results[0])

    def _oldest(self, db: Connection, passed: Sequence[int]) -> _JobScope | None:
        sql, bindings = self._oldest_query(passed)
        results = db.execute(sql.encode(), bindings).fetchone()
        return None if results is None else _JobScope(*results)

    def _oldest_query(self, passed: Sequence[int]) -> tuple[str, tuple[Any, ...]]:
        """Return the query for the place of the oldest job that may be done now, and its bindings."""
        sql = f"SELECT j.space, j.owner, j.kind FROM job j WHERE {_FREE} AND {self._where}"
        bindings: tuple[Any, ...] = (self._now, *self._keys)
        if self._kinds is not None:
            sql, bindings = f"{sql} AND j.kind = ANY(%s::text[])", (*bindings, texts(self._kinds))
        if passed:
            sql, bindings = (
                f"{sql} AND (j.space # j.owner) <> ALL(%s::bigint[])",
                (*bindings, bigints(passed)),
            )
        return f"{sql} {_OLDEST_FIRST} LIMIT 1", bindings

    def _lease(self, db: Connection, place: _JobScope, limit: int) -> tuple[Scope, Sequence[Job]] | None:
        own = (place.space, place.owner)
        bindings = (*own, place.kind, self._now, limit * _AHEAD)
        oldest: dict[str, bytes] = {}
        for identity, serial in db.execute(_CANDIDATES.encode(), bindings).fetchall():
            # The oldest of its serial, be it locked or not: a later one must not overtake it.
            oldest.setdefault(serial, identity)
        chosen = byteas(list(oldest.values())[:limit])
        lease = (self._owner, self._until, *own, *own, chosen, self._now)
        results = db.execute(_LEASE.encode(), lease).fetchall()
        if not results:
            return None
        reach("after-claim")
        rows = [read_columns(columns) for columns in sorted(results, key=lambda columns: columns[:2])]
        _, _, name, user_id, *_ = rows[0]
        return Scope(user_id, name), [job_of(columns[4:]) for columns in rows]


def count_jobs(
    connections: PostgresConnections,
    scope: Scope | None,
    space: str | None,
    due: datetime | None,
    state: str | None,
) -> int:
    """Count waiting and leased jobs (or those of a state) of a scope, a space or all; due ones if asked."""
    where, keys = _narrowed(scope, space)
    sql, bindings = f"SELECT count(*) FROM job j WHERE {where}", tuple[Any, ...](keys)
    if state is None:
        sql = f"{sql} AND j.state <> 'dead'"
    else:
        sql, bindings = f"{sql} AND j.state = %s", (*bindings, state)
    if due is not None:
        sql, bindings = f"{sql} AND j.run_after <= %s", (*bindings, to_microseconds(due))
    space_key, owner = _both(keys)
    with connections.working() if space_key is None else connections.reading(space_key, owner) as db:
        results = db.execute(sql.encode(), bindings).fetchone()
    return 0 if results is None else int(results[0])


def _narrowed(scope: Scope | None, space: str | None) -> tuple[str, tuple[int, ...]]:
    """Return the condition for the jobs of a scope, a space, or all, and its bindings."""
    if scope is not None:
        return "j.space = %s AND j.owner = %s", keys_of(scope)
    return ("true", ()) if space is None else ("j.space = %s", (key_of(space),))


def _both(keys: tuple[int, ...]) -> tuple[int | None, int | None]:
    """Return space and owner, None for what is not narrowed to."""
    return keys[0] if keys else None, keys[1] if len(keys) > 1 else None


_WHOSE: Final = "WHERE space = %s AND owner = %s"
_TOUCHED: Final = (
    "SELECT p.place - 1, s.* FROM unnest(%s::text[]) WITH ORDINALITY AS k (kind, rank)"
    " CROSS JOIN unnest(%s::bigint[], %s::bigint[]) WITH ORDINALITY AS p (first_ref, last_ref, place)"
    f" CROSS JOIN LATERAL (SELECT {MARK} FROM span_mark {_WHOSE} AND kind = k.kind"
    " AND first_ref <= p.last_ref ORDER BY first_ref DESC LIMIT 1) AS s"
    " WHERE s.last_ref >= p.first_ref ORDER BY k.rank"
)
_KEEP: Final = (
    "INSERT INTO expiry (space, owner, ref, at)"
    f" SELECT s.space, s.owner, g.* FROM {OWN_ROW}, unnest(%s::bigint[], %s::bigint[]) AS g"
)


class PostgresUpkeep(UpkeepTable, PostgresWork):
    """The `UpkeepRecords` of one transaction."""

    _session: PostgresSession
    locked = " FOR UPDATE"

    def _touching(self, kinds: Sequence[str], spans: Sequence[tuple[int, int]]) -> list[tuple[Any, ...]]:
        firsts, lasts = bigints([first for first, _ in spans]), bigints([last for _, last in spans])
        rows = self._session.rows(_TOUCHED, (texts(kinds), firsts, lasts, *self._session.keys))
        return [read_columns(columns) for columns in rows]

    def _expired(self, spans: Sequence[tuple[int, int]], now: int) -> list[tuple[Any, ...]]:
        sql = (
            "SELECT DISTINCT e.ref FROM unnest(%s::bigint[], %s::bigint[]) AS p (first_ref, last_ref)"
            f" CROSS JOIN LATERAL (SELECT ref FROM expiry {_WHOSE}"
            " AND ref BETWEEN p.first_ref AND p.last_ref AND at <= %s) AS e ORDER BY e.ref"
        )
        firsts, lasts = bigints([first for first, _ in spans]), bigints([last for _, last in spans])
        return self._session.rows(sql, (firsts, lasts, *self._session.keys, now))


def keep_expiries(session: PostgresSession, refs: Sequence[int], observations: Sequence[Observation]) -> None:
    """Note when observations that are just stored are to be erased; most never are."""
    timed = [
        (ref, to_microseconds(o.expires_at))
        for ref, o in zip(refs, observations, strict=True)
        if o.expires_at is not None
    ]
    if timed:
        columns = bigints([ref for ref, _ in timed]), bigints([at for _, at in timed])
        session.insert(_KEEP, (*session.keys, *columns), len(timed))

"""The PostgreSQL store: borrows connections, begins transactions, hands out jobs."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from datetime import date, datetime, timedelta
from functools import cached_property, partial
from pathlib import Path
from typing import Any, Final

from episodic_agent.errors import EpisodicError, InvalidInput, StoreError
from episodic_agent.protocols import (
    Episodes,
    Index,
    Keys,
    Knowledge,
    Observations,
    Threads,
    Transaction,
    UpkeepRecords,
)
from episodic_agent.schemas import Backup, Job, ModelUse, Scope
from episodic_agent.schemas.erasures import Erasure, Sweep
from episodic_agent.stores.catalogue import POSTGRES
from episodic_agent.stores.faults import reach
from episodic_agent.stores.nouns import use_of
from episodic_agent.stores.postgres.episodes import PostgresEpisodes
from episodic_agent.stores.postgres.erasing import erase_scope, erasures, residue, settle, sweep
from episodic_agent.stores.postgres.facts import PostgresKnowledge
from episodic_agent.stores.postgres.index import PostgresIndex
from episodic_agent.stores.postgres.jobs import PostgresClaim, PostgresUpkeep, count_jobs, renew
from episodic_agent.stores.postgres.observations import PostgresObservations
from episodic_agent.stores.postgres.server.batches import read_columns, to_stored
from episodic_agent.stores.postgres.server.connection import PostgresConnections, PostgresOptions
from episodic_agent.stores.postgres.server.migrate import problems, refuse_other
from episodic_agent.stores.postgres.server.session import (
    Connection,
    KnownScopes,
    PostgresSession,
    key_of,
    keys_of,
)
from episodic_agent.stores.postgres.threads import PostgresThreads
from episodic_agent.stores.postgres.vectors import pack_vectors
from episodic_agent.stores.postgres.words.segments import Segments
from episodic_agent.stores.rows import to_day
from episodic_agent.stores.tables.keys import KeyTable, Run
from episodic_agent.stores.tables.transaction import ScopeTransaction

_NOBODY: Final = (0, 0)  # the keys of a scope that is asked whether rows can be read at all
_OF_SPACE: Final = (
    "SELECT day, stage, model, sum(calls), sum(failures), sum(refused), sum(late),"
    " sum(prompt_tokens), sum(completion_tokens), sum(microseconds)"
    " FROM usage WHERE space = %s AND day BETWEEN %s AND %s"
    ' GROUP BY day, stage, model ORDER BY day, stage COLLATE "C", model COLLATE "C"'
)


def usage_of_space(db: Connection, space: str, first: date, last: date) -> Sequence[ModelUse]:
    """Return what all users of a space cost on each day of `first..last`."""
    results = db.execute(_OF_SPACE, (key_of(space), to_day(first), to_day(last))).fetchall()
    return [use_of(read_columns(columns)) for columns in results]


class PostgresTransaction(ScopeTransaction):
    """Everything one block of work may touch, in one scope."""

    def __init__(self, session: PostgresSession) -> None:
        super().__init__(session, POSTGRES)
        self._session = session

    def embedders(self) -> Sequence[str]:
        sql = (
            "SELECT DISTINCT e.name FROM embedder e WHERE EXISTS (SELECT 1 FROM coarse v WHERE v.space = %s"
            " AND v.owner = %s AND v.embedder = e.number) OR EXISTS (SELECT 1 FROM coarse_packed v"
            " WHERE v.space = %s AND v.owner = %s AND v.embedder = e.number) ORDER BY e.name"
        )
        return [name for (name,) in self._session.rows(sql, (*self._session.keys, *self._session.keys))]

    @cached_property
    def threads(self) -> Threads:
        """Return the `Threads` of this transaction."""
        return PostgresThreads(self._session)

    @cached_property
    def episodes(self) -> Episodes:
        """Return the `Episodes` of this transaction."""
        return PostgresEpisodes(self._session)

    @cached_property
    def observations(self) -> Observations:
        """Return the `Observations` of this transaction."""
        return PostgresObservations(self._session)

    @cached_property
    def index(self) -> Index:
        """Return the `Index` of this transaction."""
        return PostgresIndex(self._session)

    @cached_property
    def knowledge(self) -> Knowledge:
        """Return the `Knowledge` of this transaction."""
        return PostgresKnowledge(self._session)

    @cached_property
    def upkeep(self) -> UpkeepRecords:
        """Return the `UpkeepRecords` of this transaction."""
        return PostgresUpkeep(self._session)


class PostgresStore:
    """A database on a server that holds everything scopes own; safe to share between threads.

    `url` is `postgresql://user@host/database`; options of libpq (`sslmode`, `host` for a socket) may follow.
    The database is made ready when the credential may do so, else StoreError names `episodic admin init-db`.
    Raises StoreUnavailable while no server answers.
    """

    def __init__(self, url: str, options: PostgresOptions | None = None) -> None:
        self._connections = PostgresConnections(url, options or PostgresOptions())
        self._known_scopes = KnownScopes()

    @contextmanager
    def begin(self, scope: Scope, *, write: bool = True) -> Iterator[Transaction]:
        fresh = self._connections.options.fresh
        if write:
            with self._connections.writing(*keys_of(scope)) as db:
                reach("after-begin")
                session = PostgresSession(db, scope, write=True, known_scopes=self._known_scopes, fresh=fresh)
                yield PostgresTransaction(session)
                reach("before-commit")
            session.remember_scope()
            reach("after-commit")
        else:
            with self._connections.reading(*keys_of(scope)) as db:
                session = PostgresSession(db, scope, write=False, fresh=fresh)
                yield PostgresTransaction(session)
        for kind in sorted(session.crowded):
            self._pack(scope, kind)

    def _pack(self, scope: Scope, kind: str) -> None:
        """Pack words and vectors that wait. What is in the way now is not when the next document comes."""
        with suppress(EpisodicError), self._connections.writing(*keys_of(scope)) as db:
            session = PostgresSession(db, scope, write=True, fresh=self._connections.options.fresh)
            if Segments(session, kind).pack():
                pack_vectors(session, kind)

    @cached_property
    def keys(self) -> Keys:
        """Return the keys of the service, which a worker's login may see."""
        return KeyTable(self._reading_keys, self._writing_keys, "%s")

    @contextmanager
    def _reading_keys(self) -> Iterator[Run]:
        with self._connections.working() as db:
            yield partial(_run, db)

    @contextmanager
    def _writing_keys(self) -> Iterator[Run]:
        with self._connections.changing_keys() as db:
            yield partial(_run, db)

    def scopes(self, of: str | Scope | None = None) -> Sequence[Scope]:
        """Return every scope that was ever written to (of one space, or just this one), by space, then user.

        Without a space the credential must be a worker's; StoreError otherwise.
        """
        sql, keys = "SELECT user_id, name FROM scope", tuple[int, ...]()
        if isinstance(of, Scope):
            sql, keys = f"{sql} WHERE space = %s AND owner = %s", keys_of(of)
        elif of is not None:
            sql, keys = f"{sql} WHERE space = %s", (key_of(of),)
        owner = keys[1] if len(keys) > 1 else None
        with self._connections.reading(keys[0], owner) if keys else self._connections.working() as db:
            results = db.execute(sql.encode(), keys).fetchall()
        # Sorted here: the server's collation is not ours.
        return sorted((Scope(user_id, name) for user_id, name in results), key=lambda s: (s.space, s.user_id))

    def claim(
        self,
        owner: str,
        *,
        now: datetime,
        lease: timedelta,
        limit: int = 1,
        space: str | None = None,
        scope: Scope | None = None,
        kinds: Sequence[str] | None = None,
    ) -> tuple[Scope, Sequence[Job]] | None:
        """Claim up to `limit` due jobs of one scope and kind, one per serial, oldest first.

        `owner` is `lease.process_owner()`; without `space` and `scope` the credential must be a worker's.
        Every claim counts as an attempt, so that work which kills its process is given up in the end.
        """
        claim = PostgresClaim(owner, now, lease, space=space, scope=scope, kinds=kinds)
        return claim.take(self._connections, limit)

    def renew(self, scope: Scope, jobs: Sequence[Job], *, now: datetime, lease: timedelta) -> Sequence[Job]:
        with self._connections.writing(*keys_of(scope)) as db:
            return renew(PostgresSession(db, scope, write=True), jobs, now + lease)

    def waiting(
        self,
        scope: Scope | None = None,
        *,
        space: str | None = None,
        due: datetime | None = None,
        state: str | None = None,
    ) -> int:
        return count_jobs(self._connections, scope, space, due, state)

    def usage(self, space: str, first: date, last: date) -> Sequence[ModelUse]:
        with self._connections.reading(key_of(space), None) as db:
            return usage_of_space(db, space, first, last)

    def erase_scope(self, scope: Scope, erasure: Erasure) -> Erasure:
        return erase_scope(self._connections, scope, erasure, self._known_scopes)

    def erasures(self, space: str, scope: Scope | None = None) -> Sequence[Erasure]:
        return erasures(self._connections, space, scope)

    def settle_erasure(self, space: str, erasure: Erasure) -> None:
        """Keep how a receipt stands now: its state, residue and what it waits for."""
        settle(self._connections, space, erasure)

    def sweep(self) -> Sweep:
        """Vacuum the tables; say what stands in the way and where bytes may still lie."""
        return sweep(self._connections)

    def residue(self, scope: Scope, texts: Sequence[str]) -> Sequence[str]:
        return residue(self._connections, scope, texts)

    def backup(
        self, target: Path, *, force: bool = False, progress: Callable[[float], object] | None = None
    ) -> Backup:
        """Raise InvalidInput: a server's database is copied by the server's own programs."""
        del force, progress
        raise InvalidInput(
            f"a database on a server is copied by its own programs: `pg_dump --format=custom --file={target}"
            " --dbname=URL` as its administrator (docs/postgresql.md)"
        )

    def salvage(self, now: datetime) -> Sequence[str]:
        """Return nothing: a server's pages are repaired by its administrator."""
        del now
        return []

    def check(self, *, quick: bool = False) -> Sequence[str]:
        """Return what is wrong with the database itself (one line each); empty when sound.

        A `quick` one asks it for one row, as the application does, and whether its schema is this version's.
        """
        try:
            if not quick:
                with self._connections.plain() as db:
                    return problems(db)
            with self._connections.reading(*_NOBODY) as db:
                db.execute("SELECT 1 FROM scope LIMIT 1")
                refuse_other(db, self._connections.address)
                return []
        except StoreError as error:
            return [str(error)]

    def close(self) -> None:
        """Close the connections. Closing twice does nothing."""
        self._connections.close()


def _run(db: Connection, sql: str, bindings: Sequence[Any]) -> Sequence[Sequence[Any]]:
    """Run a statement and return its rows, none where it has none; strings come back as they were written."""
    cursor = db.execute(sql.encode(), [to_stored(v) if isinstance(v, str) else v for v in bindings])
    return [] if cursor.description is None else [read_columns(columns) for columns in cursor.fetchall()]

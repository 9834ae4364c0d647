"""The SQLite store: opens the file, begins transactions, hands out jobs."""

import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from datetime import date, datetime, timedelta
from functools import cache, cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING

import apsw

from episodic_agent.errors import StoreDamaged, StoreError
from episodic_agent.lazily import module
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
from episodic_agent.stores.catalogue import SQLITE
from episodic_agent.stores.faults import reach
from episodic_agent.stores.rows import to_microseconds
from episodic_agent.stores.sqlite.file.connection import DAMAGED, SqliteConnections, SqliteOptions, rows
from episodic_agent.stores.sqlite.file.migrate import (
    Migration,
    go_on_without_log,
    migrate,
    schema_checksum,
    shipped_migrations,
)
from episodic_agent.stores.sqlite.file.session import SqliteSession
from episodic_agent.stores.tables.keys import KeyTable, Run
from episodic_agent.stores.tables.transaction import ScopeTransaction
from episodic_agent.yielding import CALLERS

if TYPE_CHECKING:
    from episodic_agent.stores.sqlite import episodes, erasing, facts, index, jobs, observations, threads
    from episodic_agent.stores.sqlite import jobs as job_rows
    from episodic_agent.stores.sqlite.file import backup, connection, salvage
    from episodic_agent.stores.sqlite.file.backup import Share
else:
    backup = module("episodic_agent.stores.sqlite.file.backup")
    episodes = module("episodic_agent.stores.sqlite.episodes")
    erasing = module("episodic_agent.stores.sqlite.erasing")
    facts = module("episodic_agent.stores.sqlite.facts")
    index = module("episodic_agent.stores.sqlite.index")
    job_rows = module("episodic_agent.stores.sqlite.jobs")
    threads = module("episodic_agent.stores.sqlite.threads")
    observations = module("episodic_agent.stores.sqlite.observations")
    jobs = module("episodic_agent.stores.sqlite.jobs")
    salvage = module("episodic_agent.stores.sqlite.file.salvage")
    connection = module("episodic_agent.stores.sqlite.file.connection")

MEMORY = ":memory:"


class SqliteTransaction(ScopeTransaction):
    """Everything one block of work may touch, in one scope."""

    def __init__(self, session: SqliteSession, shelves: "Callable[[], index.Shelves]") -> None:
        super().__init__(session, SQLITE)
        self._session = session
        self._shelves = shelves

    def embedders(self) -> Sequence[str]:
        """Return the names of the embedders whose vectors the scope holds, in order."""
        sql = (
            "SELECT DISTINCT embedder FROM stream s WHERE scope = ? AND embedder <> ''"
            " AND EXISTS (SELECT 1 FROM vector v WHERE v.stream = s.number) ORDER BY embedder"
        )
        return [name for (name,) in self._session.rows(sql, (self._session.number,))]

    @cached_property
    def threads(self) -> Threads:
        """Return the `Threads` of this transaction."""
        return threads.SqliteThreads(self._session)

    @cached_property
    def episodes(self) -> Episodes:
        """Return the `Episodes` of this transaction."""
        return episodes.SqliteEpisodes(self._session)

    @cached_property
    def observations(self) -> Observations:
        """Return the `Observations` of this transaction."""
        return observations.SqliteObservations(self._session)

    @cached_property
    def index(self) -> Index:
        """Return the `Index` of this transaction."""
        return index.SqliteIndex(self._session, self._shelves())

    @cached_property
    def knowledge(self) -> Knowledge:
        """Return the `Knowledge` of this transaction."""
        return facts.SqliteKnowledge(self._session)

    @cached_property
    def upkeep(self) -> UpkeepRecords:
        """Return the `UpkeepRecords` of this transaction."""
        return jobs.SqliteUpkeep(self._session)


class SqliteStore:
    """A file that holds everything scopes own; safe to share between threads, and between processes by path.

    `path` ":memory:" is a temporary file that goes with the store. `synchronous` is "normal" (survives a
    killed process), "full" (survives a power cut) or "off" (throw-away data). `busy_timeout` is how long a
    writer waits for another; `cache_bytes` bounds the copies of index rows kept in memory; `max_bytes` bounds
    the file. Raises StoreUnavailable or StoreError (not a database, damaged, newer, another program's).
    """

    def __init__(
        self,
        path: str | Path,
        *,
        synchronous: str = "normal",
        busy_timeout: timedelta = timedelta(seconds=30),
        cache_bytes: int = 1 << 30,
        max_bytes: int | None = None,
        migrations: Sequence[Migration] | None = None,
        connections: SqliteConnections | None = None,
    ) -> None:
        self._folder: tempfile.TemporaryDirectory[str] | None = None
        if str(path) == MEMORY:
            self._folder = tempfile.TemporaryDirectory(prefix="episodic-")
            path, synchronous = Path(self._folder.name) / "memory.db", "off"
        self._migrations = shipped_migrations() if migrations is None else tuple(migrations)
        options = SqliteOptions(synchronous, busy_timeout, max_bytes)
        self._connections = connections or SqliteConnections(Path(path), options)
        self._cache_bytes = cache_bytes
        self._connections.make_file()
        with self._connections.borrow_to_write() as db:
            migrate(db, str(path), self._migrations, patience=busy_timeout)

    @property
    def path(self) -> Path:
        """Return where the file is."""
        return self._connections.path

    @cached_property
    def _shelves(self) -> "index.Shelves":
        return index.Shelves.with_budget(self._cache_bytes)

    @contextmanager
    def begin(self, scope: Scope, *, write: bool = True) -> Iterator[Transaction]:
        """Open a transaction: committed when the block ends, rolled back when it raises."""
        CALLERS.give_way()
        if write:
            with self._connections.writing() as db:
                reach("after-begin")
                yield SqliteTransaction(SqliteSession(db, scope, write=True), lambda: self._shelves)
                reach("before-commit")
            reach("after-commit")
            return
        with self._connections.borrow() as db:
            db.execute("BEGIN")
            yield SqliteTransaction(SqliteSession(db, scope, write=False), lambda: self._shelves)
            db.execute("COMMIT")

    @cached_property
    def keys(self) -> Keys:
        """Return the keys of the service."""
        return KeyTable(self._reading_keys, self._writing_keys, "?")

    @contextmanager
    def _reading_keys(self) -> Iterator[Run]:
        with self._connections.borrow() as db:
            yield partial(rows, db)

    @contextmanager
    def _writing_keys(self) -> Iterator[Run]:
        with self._connections.writing() as db:
            yield partial(rows, db)

    def scopes(self, of: str | Scope | None = None) -> Sequence[Scope]:
        """Return every scope ever written to (of one space, or just this one), by space, then user."""
        with self._connections.borrow() as db:
            if isinstance(of, Scope):
                sql = "SELECT user_id, space FROM scope WHERE space = ? AND user_id = ?"
                results = rows(db, sql, (of.space, of.user_id))
            else:
                sql = (
                    "SELECT user_id, space FROM scope WHERE space = ifnull(?, space) ORDER BY space, user_id"
                )
                results = rows(db, sql, (of,))
        return [Scope(user_id, space) for user_id, space in results]

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

        `owner` is `lease.process_owner()`; `space` or `scope` narrows the search. Every claim counts as an
        attempt, so that work which kills its process is given up in the end.
        """
        claim = job_rows.SqliteClaim(owner, now, lease, space=space, scope=scope, kinds=kinds)
        with self._connections.borrow() as db:
            # Idle workers ask all the time: no write lock for a no.
            if not job_rows.anything_to_claim(db, claim.now):
                return None
        with self._connections.writing() as db:
            return claim.take(db, limit)

    def renew(self, scope: Scope, jobs: Sequence[Job], *, now: datetime, lease: timedelta) -> Sequence[Job]:
        """Prolong the leases of claimed jobs (a heartbeat); return those that are still ours."""
        with self._connections.writing() as db:
            return job_rows.renew(SqliteSession(db, scope, write=True), jobs, to_microseconds(now + lease))

    def waiting(
        self,
        scope: Scope | None = None,
        *,
        space: str | None = None,
        due: datetime | None = None,
        state: str | None = None,
    ) -> int:
        """Count waiting and leased jobs, or those of a state, of a scope, a space or all."""
        with self._connections.borrow() as db:
            return job_rows.count_jobs(db, scope, space, due, state)

    def usage(self, space: str, first: date, last: date) -> Sequence[ModelUse]:
        """Return what all users of a space cost on each day of `first..last`, by day, stage, model."""
        with self._connections.borrow() as db:
            return jobs.usage_of_space(db, space, first, last)

    def erase_scope(self, scope: Scope, erasure: Erasure) -> Erasure:
        """Delete everything of a scope in one transaction with its receipt; return it with its counts."""
        return erasing.erase_scope(self._connections, scope, erasure)

    def erasures(self, space: str, scope: Scope | None = None) -> Sequence[Erasure]:
        """Return the receipts of a space, or of one user, oldest first."""
        return erasing.erasures(self._connections, space, scope)

    def settle_erasure(self, space: str, erasure: Erasure) -> None:
        """Keep how a receipt stands now: its state, residue and what it waits for."""
        erasing.settle(self._connections, space, erasure)

    def sweep(self) -> Sweep:
        """Rewrite the file without what was deleted; say what stands in the way."""
        return erasing.sweep(self._connections)

    def residue(self, scope: Scope, texts: Sequence[str]) -> Sequence[str]:
        """Return those of some strings that stand in the file or beside it, not in a kept observation."""
        del scope  # the file holds everybody's
        return erasing.residue(self._connections, texts)

    def backup(self, target: Path, *, force: bool = False, progress: "Share | None" = None) -> Backup:
        """Copy the database as it is now to a file, verified, while others write."""
        return backup.backup(self._connections, target, force=force, progress=progress)

    def salvage(self, now: datetime) -> Sequence[str]:
        """Save what can be read in a new file beside this one; return what was saved and what was lost."""
        return salvage.salvage(self.path, self._migrations, now)

    def check(self, *, quick: bool = False) -> Sequence[str]:
        """Return what is wrong with the file itself (one line each); empty when sound.

        A `quick` one reads the first and the last row of every table, as they are in the file now.
        """
        try:
            if quick:
                with self._connections.fresh() as db:
                    _read_ends(db, self.path)
                return []
            with self._connections.borrow() as db:
                return self._problems(db)
        except StoreError as error:
            return [str(error)]

    def _problems(self, db: apsw.Connection) -> list[str]:
        texts = [str(line) for (line,) in rows(db, "PRAGMA integrity_check") if line != "ok"]
        broken = rows(db, "PRAGMA foreign_key_check")
        texts += [f"{table} row {number} points to a missing {parent}" for table, number, parent, _ in broken]
        if _checksum_made_by(tuple(self._migrations)) != schema_checksum(db):
            texts.append("the schema was changed by hand; it is not what the migrations made")
        return texts

    def close(self) -> None:
        """Close the file; a temporary one is deleted. Closing twice does nothing."""
        self._connections.close()
        if self._folder is not None:
            self._folder.cleanup()


@cache  # a process examines many files of one schema: making it is most of examining a small file
def _checksum_made_by(migrations: tuple[Migration, ...]) -> str:
    """Return the checksum of the schema that migrations make of an empty file."""
    with closing(apsw.Connection(MEMORY)) as fresh:
        migrate(fresh, MEMORY, migrations)
        return schema_checksum(fresh)


def _read_ends(db: apsw.Connection, path: Path) -> None:
    """Read the first and the last row of every table; raises what reading them raises."""
    tables = rows(db, "SELECT name FROM sqlite_schema WHERE type = 'table'")
    if not tables:
        raise StoreDamaged(f"{path} is damaged: nothing is in it any more; {DAMAGED}")
    for (table,) in tables:
        keys = [name for _, name, *_, place in rows(db, f'PRAGMA table_info("{table}")') if place]
        order = ", ".join(f'"{key}" DESC' for key in keys)
        for sql in (f'SELECT * FROM "{table}"', f'SELECT * FROM "{table}" ORDER BY {order or "rowid DESC"}'):
            rows(db, f"{sql} LIMIT 1")


def scratch_store() -> SqliteStore:
    """Open an empty store in this process's memory: nothing of it is on a disk, and closing it ends it."""
    connections = connection.ScratchConnections()
    return SqliteStore(connections.path, connections=connections)


def repair_file(path: Path, now: datetime) -> Sequence[str]:
    """Do what a file needs before it can be opened; return what was done, a line each.

    A missing log is gone on without; of a file too damaged to be opened what can be read is saved in a new
    one.
    """
    if not path.exists():
        return []
    done = []
    if missing := go_on_without_log(path):
        done.append(f"went on without the log: {missing}")
    try:
        SqliteStore(path).close()
    except StoreDamaged:
        done += salvage.salvage(path, shipped_migrations(), now)
    return done

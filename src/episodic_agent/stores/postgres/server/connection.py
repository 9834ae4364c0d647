"""Connections to one database of a server: a small pool, and transactions that name whose they are.

The pool is our own, not the driver's: connecting happens in the thread that needs it, so that it hears at
once why it failed; no thread of the pool outlives a fork or holds up the end of the process.
"""

import os
import threading
import weakref
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import timedelta
from typing import Final

import psycopg
from psycopg.errors import error_from_result
from psycopg.pq import ExecStatus, TransactionStatus

from episodic_agent.core.language import plural
from episodic_agent.errors import InvalidInput, StoreError, StoreUnavailable
from episodic_agent.stores.migrations import Migration
from episodic_agent.stores.postgres.server.address import Address, read_address
from episodic_agent.stores.postgres.server.distribute import has_citus
from episodic_agent.stores.postgres.server.failures import (
    lost,
    lost_at_commit,
    refused,
    translate,
    unanswered,
)
from episodic_agent.stores.postgres.server.migrate import APP, SCHEMA, WORKER, prepare, shipped_migrations
from episodic_agent.stores.postgres.server.session import FRESH, Connection

_SYNCHRONOUS: Final = ("normal", "full", "off")
_READ: Final = "ISOLATION LEVEL REPEATABLE READ READ ONLY"
_WRITE: Final = "ISOLATION LEVEL READ COMMITTED"

# After a fork the child must neither use nor close the parent's connections: both ends would talk into one
# socket. They are parked here so that nothing collects them.
_inherited: list[Connection] = []


@dataclass(frozen=True, slots=True)
class PostgresOptions:
    """How connections are made: how many at most, how long to wait for one or for a lock, durability.

    `synchronous`: `normal` and `full` acknowledge what the server has synced to disk (the same here), `off`
    does not wait: for data that may be lost with the machine. Words of `fresh` documents of a scope and kind
    wait as rows before they are packed.
    """

    pool_size: int = 10
    patience: timedelta = timedelta(seconds=30)
    connect_timeout: timedelta = timedelta(seconds=10)
    synchronous: str = "normal"
    application_name: str = "episodic"
    fresh: int = FRESH

    def __post_init__(self) -> None:
        if self.synchronous not in _SYNCHRONOUS:
            known = ", ".join(_SYNCHRONOUS)
            raise InvalidInput(f"synchronous must be one of {known}, not {self.synchronous!r}")
        if self.pool_size < 1:
            raise InvalidInput(f"a pool has at least one connection, not {self.pool_size}")

    def address(self, url: str) -> Address:
        """Read a URL with these options; raises InvalidInput."""
        seconds = self.connect_timeout.total_seconds()
        return read_address(url, connect_timeout=seconds, application_name=self.application_name)


def connect(address: Address) -> Connection:
    """Open one connection; raises StoreError or StoreUnavailable with the reason."""
    try:
        return psycopg.connect(address.conninfo, autocommit=True)
    except psycopg.Error as error:
        raise refused(error, address) from error


def run(db: Connection, statements: str) -> None:
    """Run statements in one round trip; raises psycopg.Error.

    Goes past the driver's cursor, which takes as long again as the server does to begin a transaction.
    """
    result = db.pgconn.exec_(statements.encode())
    if result.status not in (ExecStatus.COMMAND_OK, ExecStatus.TUPLES_OK):
        error = error_from_result(result, db.info.encoding)
        close_if_lost(db, error)
        raise error


def run_each(db: Connection, statements: Sequence[str]) -> None:
    """Run statements in one round trip, each as a message of its own; raises psycopg.Error.

    A cluster's coordinator warns of a message that holds several.
    """
    try:
        with db.pipeline():
            for statement in statements:
                db.execute(statement.encode(), prepare=False)
    except psycopg.Error as error:
        close_if_lost(db, error)
        raise


def close_if_lost(db: Connection, error: psycopg.Error) -> bool:
    """Close a connection that an error ended, for libpq may notice only later; tell whether it is closed."""
    if unanswered(error) or error.diag.severity_nonlocalized in ("FATAL", "PANIC"):
        db.close()
    return db.closed


class PostgresConnections:
    """A small pool for one database and one process; made anew after a fork."""

    def __init__(
        self, url: str, options: PostgresOptions, *, migrations: Sequence[Migration] | None = None
    ) -> None:
        self.options = options
        self.address = options.address(url)
        self._closed = False
        self._start_pool()
        db = connect(self.address)
        try:
            server = prepare(db, self.address, migrations or shipped_migrations())
            self._is_cluster = has_citus(db)
            self._idle.append(db)
        except psycopg.Error as error:
            raise translate(error, self.address, options.patience) from error
        finally:
            if not self._idle:
                db.close()
        self._search_path = f'{SCHEMA}, "{server.vector_schema}"'
        # What the server was told to do beyond `on` (waiting for a replica, say) is left as it is.
        self._durable = "on" if server.synchronous_commit == "off" else server.synchronous_commit

    def _start_pool(self) -> None:
        self._process = os.getpid()
        self._idle: list[Connection] = []
        # A store that nobody closed ends its sessions with the process, as politely as a closed one.
        weakref.finalize(self, _end_all, self._process, self._idle)
        self._lock = threading.Lock()
        self._free = threading.BoundedSemaphore(self.options.pool_size)
        self._mine = threading.local()

    def _notice_fork(self) -> None:
        if os.getpid() != self._process:
            _inherited.extend(self._idle)
            self._start_pool()

    # --- transactions ---------------------------------------------------------------------------------

    @contextmanager
    def writing(self, space: int, owner: int) -> Iterator[Connection]:
        """Begin a write transaction of one scope: committed when the block ends, rolled back when it raises.

        StoreError when this thread writes already: it would wait for itself.
        """
        commit = "off" if self.options.synchronous == "off" else self._durable
        with self._one_write(), self._transaction(self._begin_write(space, owner, APP, commit)) as db:
            yield db

    @contextmanager
    def claiming(self, space: int | None, owner: int | None) -> Iterator[Connection]:
        """Begin a short write transaction on jobs, over all spaces as a worker when none is named.

        It is not waited for to reach the disk: a claim that is lost with the server did no harm.
        """
        role = WORKER if space is None else APP
        with self._one_write(), self._transaction(self._begin_write(space, owner, role, "off")) as db:
            yield db

    @contextmanager
    def changing_keys(self) -> Iterator[Connection]:
        """Begin a write transaction on the service's keys, as a worker; what is revoked is so for good."""
        commit = "off" if self.options.synchronous == "off" else self._durable
        with self._one_write(), self._transaction(self._begin_write(None, None, WORKER, commit)) as db:
            yield db

    @contextmanager
    def reading(self, space: int, owner: int | None) -> Iterator[Connection]:
        """Begin a read transaction of one scope (of a whole space without an owner): one snapshot."""
        with self._transaction(self._begin(_READ, APP, _keys(space, owner))) as db:
            yield db

    @contextmanager
    def working(self) -> Iterator[Connection]:
        """Begin a read transaction as a worker: jobs and names of every space, one snapshot."""
        with self._transaction(self._begin(_READ, WORKER, {})) as db:
            yield db

    @contextmanager
    def plain(self) -> Iterator[Connection]:
        """Begin a read transaction as the login itself, for looking at the catalogue."""
        with self._transaction(self._begin(_READ, None, {})) as db:
            yield db

    def _begin_write(self, space: int | None, owner: int | None, role: str, commit: str) -> Sequence[str]:
        patience = round(self.options.patience.total_seconds() * 1000)
        settings = {"lock_timeout": f"{max(1, patience)}", "synchronous_commit": commit}
        return self._begin(_WRITE, role, {**settings, **_keys(space, owner)})

    def _begin(self, mode: str, role: str | None, settings: dict[str, str]) -> Sequence[str]:
        """Return the messages that begin a transaction."""
        # All of it ends with the transaction, so connections shared through pgbouncer carry nothing over.
        # The SELECT also takes the snapshot of a read transaction.
        if self._is_cluster:
            # The nodes hear of SET LOCAL, not of set_config.
            chosen = [f"SET LOCAL {name} = '{value}'" for name, value in settings.items()]
            become = [f"SET LOCAL ROLE {role}"] if role else []
            local = "SET LOCAL citus.propagate_set_commands = 'local'"
            path = f"SET LOCAL search_path = {self._search_path}"
            return [f"BEGIN {mode}", *become, local, path, *chosen, "SELECT"]
        become_role = f"SET LOCAL ROLE {role}; " if role else ""
        everything = {"search_path": self._search_path, **settings}
        calls = ", ".join(f"set_config('{name}', '{value}', true)" for name, value in everything.items())
        return [f"BEGIN {mode}; {become_role}SELECT {calls}"]

    @contextmanager
    def _one_write(self) -> Iterator[None]:
        self._notice_fork()
        mine = self._mine
        if getattr(mine, "writes", False):
            raise StoreError(
                f"a write transaction on {self.address.place} is already open in this thread; end it first"
            )
        mine.writes = True
        try:
            yield
        finally:
            mine.writes = False

    @contextmanager
    def _transaction(self, begin: Sequence[str]) -> Iterator[Connection]:
        self._notice_fork()
        with self._place():
            db = self._begun(begin)
            try:
                yield db
                self._commit(db)
            except psycopg.Error as error:
                if close_if_lost(db, error):
                    raise lost(error, self.address) from error
                raise translate(error, self.address, self.options.patience) from error
            finally:
                self._give_back(db)

    def _begun(self, begin: Sequence[str]) -> Connection:
        """Return a connection with the transaction begun; what is found dead is replaced at once."""
        db = self._take()
        if db is None:
            db = connect(self.address)
        else:
            try:
                self._open(db, begin)
                return db
            except psycopg.Error as error:
                if not db.closed:
                    self._give_back(db)
                    raise translate(error, self.address, self.options.patience) from error
            # The server was restarted, or somebody ended the session. Nothing was asked yet.
            db = connect(self.address)
        try:
            self._open(db, begin)
        except psycopg.Error as error:
            self._give_back(db)
            raise translate(error, self.address, self.options.patience) from error
        return db

    def _open(self, db: Connection, begin: Sequence[str]) -> None:
        if self._is_cluster:
            run_each(db, begin)
        else:
            run(db, *begin)

    def _commit(self, db: Connection) -> None:
        if os.getpid() != self._process:
            raise StoreError("a transaction was open across a fork; only the parent process may end it")
        if db.pgconn.transaction_status == TransactionStatus.INERROR:
            raise StoreError(
                f"a statement failed in {self.address.place} and the block went on; nothing was kept: repeat"
            )
        try:
            run(db, "COMMIT")
        except psycopg.Error as error:
            if db.closed:
                raise lost_at_commit(error, self.address) from error
            raise

    # --- the pool -------------------------------------------------------------------------------------

    @contextmanager
    def _place(self) -> Iterator[None]:
        """Take one of the pool's places.

        A thread that holds one is given another without waiting: threads that read inside their writes
        would else wait for each other.
        """
        free, mine = self._free, self._mine  # a fork inside the block makes new ones
        held = getattr(mine, "held", 0)
        seconds = self.options.patience.total_seconds()
        if not held and not free.acquire(timeout=seconds):
            raise StoreUnavailable(
                f"{self.address.server}: {plural(self.options.pool_size, 'connection')}, busy for "
                f"{seconds:g} s; try again, or raise EPISODIC_CONNECTIONS"
            )
        mine.held = held + 1
        try:
            yield
        finally:
            mine.held = held
            if not held:
                free.release()

    def _take(self) -> Connection | None:
        with self._lock:
            if self._closed:
                raise StoreError(f"the store on {self.address.place} is closed; open it again")
            return self._idle.pop() if self._idle else None

    def _give_back(self, db: Connection) -> None:
        if os.getpid() != self._process:
            _inherited.append(db)
            return
        if db.pgconn.transaction_status in (TransactionStatus.INTRANS, TransactionStatus.INERROR):
            with suppress(psycopg.Error):
                run(db, "ROLLBACK")
        with self._lock:
            idle = db.pgconn.transaction_status == TransactionStatus.IDLE
            if idle and not self._closed and len(self._idle) < self.options.pool_size:
                self._idle.append(db)
                return
        db.close()

    def close(self) -> None:
        """Close what is idle now and the lent connections when they come back. Twice does nothing."""
        self._notice_fork()
        with self._lock:
            self._closed = True
            idle = self._idle.copy()
            self._idle.clear()
        for db in idle:
            db.close()


def _end_all(process: int, idle: list[Connection]) -> None:
    if os.getpid() == process:
        for db in idle:
            db.close()


def _keys(space: int | None, owner: int | None) -> dict[str, str]:
    """Return the settings the policies read; '' for what is not narrowed."""
    return {
        "episodic.space": "" if space is None else f"{space:d}",
        "episodic.owner": "" if owner is None else f"{owner:d}",
    }

"""The SQLite store: opens the file, begins transactions, hands out jobs."""

import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import date, datetime, timedelta
from pathlib import Path

import apsw

from episodic_agent.core.erasing import Erasure
from episodic_agent.core.interfaces import (
    Care,
    Chains,
    Episodes,
    Erasing,
    Facts,
    Index,
    Jobs,
    Links,
    Places,
    Reviews,
    Skills,
    ThreadParts,
    Threads,
    Transaction,
    Usage,
    Work,
)
from episodic_agent.errors import StoreError
from episodic_agent.schemas import Job, ModelUse, Scope
from episodic_agent.stores.faults import reach
from episodic_agent.stores.rows import to_microseconds
from episodic_agent.stores.sqlite.care import SqliteCare
from episodic_agent.stores.sqlite.chains import SqliteChains
from episodic_agent.stores.sqlite.connection import Connections, Options, row, rows
from episodic_agent.stores.sqlite.episodes import SqliteEpisodes
from episodic_agent.stores.sqlite.erasing import (
    SqliteErasing,
    erase_scope,
    erasures,
    residue,
    settle,
    sweep,
)
from episodic_agent.stores.sqlite.facts import SqliteFacts
from episodic_agent.stores.sqlite.index import Shelves, SqliteIndex
from episodic_agent.stores.sqlite.jobs import Claim, SqliteJobs, anything_to_claim, count_waiting, renew
from episodic_agent.stores.sqlite.links import SqliteLinks
from episodic_agent.stores.sqlite.migrate import Migration, migrate, schema_checksum, shipped_migrations
from episodic_agent.stores.sqlite.parts import SqliteThreadParts
from episodic_agent.stores.sqlite.places import SqlitePlaces
from episodic_agent.stores.sqlite.reviews import SqliteReviews
from episodic_agent.stores.sqlite.session import Session
from episodic_agent.stores.sqlite.skills import SqliteSkills
from episodic_agent.stores.sqlite.threads import SqliteThreads
from episodic_agent.stores.sqlite.usage import SqliteUsage, usage_of_space
from episodic_agent.stores.sqlite.work import SqliteWork

MEMORY = ":memory:"


class SqliteTransaction:
    """Everything one block of work may touch, in one scope."""

    def __init__(self, session: Session, shelves: Shelves) -> None:
        self._session = session
        self.threads: Threads = SqliteThreads(session)
        self.episodes: Episodes = SqliteEpisodes(session)
        self.parts: ThreadParts = SqliteThreadParts(session)
        self.links: Links = SqliteLinks(session)
        self.chains: Chains = SqliteChains(session)
        self.reviews: Reviews = SqliteReviews(session)
        self.places: Places = SqlitePlaces(session)
        self.index: Index = SqliteIndex(session, shelves)
        self.jobs: Jobs = SqliteJobs(session)
        self.usage: Usage = SqliteUsage(session)
        self.work: Work = SqliteWork(session)
        self.skills: Skills = SqliteSkills(session)
        self.facts: Facts = SqliteFacts(session)
        self.erasing: Erasing = SqliteErasing(session)
        self.care: Care = SqliteCare(session)

    @property
    def scope(self) -> Scope:
        """Return whose memory this is."""
        return self._session.scope


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
    ) -> None:
        self._folder: tempfile.TemporaryDirectory[str] | None = None
        if str(path) == MEMORY:
            self._folder = tempfile.TemporaryDirectory(prefix="episodic-")
            path, synchronous = Path(self._folder.name) / "memory.db", "off"
        self._migrations = shipped_migrations() if migrations is None else tuple(migrations)
        self._connections = Connections(Path(path), Options(synchronous, busy_timeout, max_bytes))
        self._shelves = Shelves.with_budget(cache_bytes)
        with self._connections.borrow_to_write() as db:
            migrate(db, str(path), self._migrations, patience=busy_timeout)

    @property
    def path(self) -> Path:
        """Return where the file is."""
        return self._connections.path

    @contextmanager
    def begin(self, scope: Scope, *, write: bool = True) -> Iterator[Transaction]:
        """Open a transaction: committed when the block ends, rolled back when it raises."""
        if write:
            with self._connections.borrow_to_write() as db:
                db.execute("BEGIN IMMEDIATE")
                reach("after-begin")
                yield SqliteTransaction(Session(db, scope, write=True), self._shelves)
                reach("before-commit")
                db.execute("COMMIT")
            reach("after-commit")
            return
        with self._connections.borrow() as db:
            db.execute("BEGIN")
            yield SqliteTransaction(Session(db, scope, write=False), self._shelves)
            db.execute("COMMIT")

    def scopes(self, space: str | None = None) -> Sequence[Scope]:
        """Return every scope that was ever written to (of one space), by space, then user."""
        sql = "SELECT user_id, space FROM scope WHERE space = ifnull(?, space) ORDER BY space, user_id"
        with self._connections.borrow() as db:
            found = rows(db, sql, (space,))
        return [Scope(user_id, space) for user_id, space in found]

    def exists(self, scope: Scope) -> bool:
        """Tell whether a scope was ever written to."""
        with self._connections.borrow() as db:
            names = (scope.space, scope.user_id)
            return row(db, "SELECT 1 FROM scope WHERE space = ? AND user_id = ?", names) is not None

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
        claim = Claim(owner, now, lease, space=space, scope=scope, kinds=kinds)
        with self._connections.borrow() as db:
            # Idle workers ask all the time: no write lock for a no.
            if not anything_to_claim(db, claim.now):
                return None
        with self._connections.borrow_to_write() as db:
            db.execute("BEGIN IMMEDIATE")
            taken = claim.take(db, limit)
            db.execute("COMMIT")
            return taken

    def renew(self, scope: Scope, jobs: Sequence[Job], *, now: datetime, lease: timedelta) -> Sequence[Job]:
        """Prolong the leases of claimed jobs (a heartbeat); return those that are still ours."""
        with self._connections.borrow_to_write() as db:
            db.execute("BEGIN IMMEDIATE")
            ours = renew(Session(db, scope, write=True), jobs, to_microseconds(now + lease))
            db.execute("COMMIT")
            return ours

    def waiting(
        self, scope: Scope | None = None, *, space: str | None = None, due: datetime | None = None
    ) -> int:
        """Count waiting and leased jobs of a scope, a space or all (only those due at `due`, when given)."""
        with self._connections.borrow() as db:
            return count_waiting(db, scope, space, due)

    def usage(self, space: str, first: date, last: date) -> Sequence[ModelUse]:
        """Return what all users of a space cost on each day of `first..last`, by day, stage, model."""
        with self._connections.borrow() as db:
            return usage_of_space(db, space, first, last)

    def erase_scope(self, scope: Scope, erasure: Erasure) -> Erasure:
        """Delete everything of a scope in one transaction with its receipt; return it with its counts."""
        return erase_scope(self._connections, scope, erasure)

    def erasures(self, space: str, scope: Scope | None = None) -> Sequence[Erasure]:
        """Return the receipts of a space, or of one user, oldest first."""
        return erasures(self._connections, space, scope)

    def settle_erasure(self, space: str, erasure: Erasure) -> None:
        """Keep how a receipt stands now: its state, residue and what it waits for."""
        settle(self._connections, space, erasure)

    def sweep(self) -> str:
        """Rewrite the file without what was deleted; return what stands in the way, "" if nothing."""
        return sweep(self._connections)

    def residue(self, scope: Scope, texts: Sequence[str]) -> Sequence[str]:
        """Return those of some strings that stand in the file or beside it, not in a kept observation."""
        del scope  # the file holds everybody's
        return residue(self._connections, texts)

    def check(self) -> Sequence[str]:
        """Return what is wrong with the file itself (one line each); empty when sound."""
        try:
            with self._connections.borrow() as db:
                return self._problems(db)
        except StoreError as error:
            return [str(error)]

    def _problems(self, db: apsw.Connection) -> list[str]:
        found = [str(line) for (line,) in rows(db, "PRAGMA quick_check") if line != "ok"]
        broken = rows(db, "PRAGMA foreign_key_check")
        found += [f"{table} row {number} points to a missing {parent}" for table, number, parent, _ in broken]
        fresh = apsw.Connection(":memory:")
        migrate(fresh, MEMORY, self._migrations)
        if schema_checksum(fresh) != schema_checksum(db):
            found.append("the schema was changed by hand; it is not what the migrations made")
        fresh.close()
        return found

    def close(self) -> None:
        """Close the file; a temporary one is deleted. Closing twice does nothing."""
        self._connections.close()
        if self._folder is not None:
            self._folder.cleanup()

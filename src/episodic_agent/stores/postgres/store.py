"""The PostgreSQL store: borrows connections, begins transactions, hands out jobs."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import date, datetime, timedelta

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
from episodic_agent.stores.postgres.care import PostgresCare
from episodic_agent.stores.postgres.chains import PostgresChains
from episodic_agent.stores.postgres.connection import Connections, Options
from episodic_agent.stores.postgres.episodes import PostgresEpisodes
from episodic_agent.stores.postgres.erasing import (
    PostgresErasing,
    erase_scope,
    erasures,
    residue,
    settle,
    sweep,
)
from episodic_agent.stores.postgres.facts import PostgresFacts
from episodic_agent.stores.postgres.index import PostgresIndex
from episodic_agent.stores.postgres.jobs import Claim, PostgresJobs, count_waiting, renew
from episodic_agent.stores.postgres.links import PostgresLinks
from episodic_agent.stores.postgres.migrate import problems
from episodic_agent.stores.postgres.parts import PostgresThreadParts
from episodic_agent.stores.postgres.places import PostgresPlaces
from episodic_agent.stores.postgres.reviews import PostgresReviews
from episodic_agent.stores.postgres.session import KnownScopes, Session, key_of, keys_of
from episodic_agent.stores.postgres.skills import PostgresSkills
from episodic_agent.stores.postgres.threads import PostgresThreads
from episodic_agent.stores.postgres.usage import PostgresUsage, usage_of_space
from episodic_agent.stores.postgres.work import PostgresWork


class PostgresTransaction:
    """Everything one block of work may touch, in one scope."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self.threads: Threads = PostgresThreads(session)
        self.episodes: Episodes = PostgresEpisodes(session)
        self.parts: ThreadParts = PostgresThreadParts(session)
        self.links: Links = PostgresLinks(session)
        self.chains: Chains = PostgresChains(session)
        self.reviews: Reviews = PostgresReviews(session)
        self.places: Places = PostgresPlaces(session)
        self.index: Index = PostgresIndex(session)
        self.jobs: Jobs = PostgresJobs(session)
        self.usage: Usage = PostgresUsage(session)
        self.work: Work = PostgresWork(session)
        self.skills: Skills = PostgresSkills(session)
        self.facts: Facts = PostgresFacts(session)
        self.erasing: Erasing = PostgresErasing(session)
        self.care: Care = PostgresCare(session)

    @property
    def scope(self) -> Scope:
        """Return whose memory this is."""
        return self._session.scope


class PostgresStore:
    """A database on a server that holds everything scopes own; safe to share between threads.

    `url` is `postgresql://user@host/database`; options of libpq (`sslmode`, `host` for a socket) may follow.
    The database is made ready when the credential may do so, else StoreError names `episodic admin init-db`.
    Raises StoreUnavailable while no server answers.
    """

    def __init__(self, url: str, options: Options | None = None) -> None:
        self._connections = Connections(url, options or Options())
        self._known_scopes = KnownScopes()

    @contextmanager
    def begin(self, scope: Scope, *, write: bool = True) -> Iterator[Transaction]:
        """Open a transaction: committed when the block ends, rolled back when it raises."""
        if write:
            with self._connections.writing(*keys_of(scope)) as db:
                reach("after-begin")
                session = Session(db, scope, write=True, known_scopes=self._known_scopes)
                yield PostgresTransaction(session)
                reach("before-commit")
            session.remember_scope()
            reach("after-commit")
            return
        with self._connections.reading(*keys_of(scope)) as db:
            yield PostgresTransaction(Session(db, scope, write=False))

    def scopes(self, space: str | None = None) -> Sequence[Scope]:
        """Return every scope that was ever written to (of one space), by space, then user.

        Without a space the credential must be a worker's; StoreError otherwise.
        """
        if space is None:
            with self._connections.working() as db:
                found = db.execute("SELECT user_id, name FROM scope").fetchall()
        else:
            with self._connections.reading(key_of(space), None) as db:
                sql = "SELECT user_id, name FROM scope WHERE space = %s"
                found = db.execute(sql, (key_of(space),)).fetchall()
        # Sorted here: the server's collation is not ours.
        return sorted((Scope(user_id, name) for user_id, name in found), key=lambda s: (s.space, s.user_id))

    def exists(self, scope: Scope) -> bool:
        """Tell whether a scope was ever written to."""
        keys = keys_of(scope)
        with self._connections.reading(*keys) as db:
            sql = "SELECT 1 FROM scope WHERE space = %s AND owner = %s"
            return db.execute(sql, keys).fetchone() is not None

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
        claim = Claim(owner, now, lease, space=space, scope=scope, kinds=kinds)
        return claim.take(self._connections, limit)

    def renew(self, scope: Scope, jobs: Sequence[Job], *, now: datetime, lease: timedelta) -> Sequence[Job]:
        """Prolong the leases of claimed jobs (a heartbeat); return those that are still ours."""
        with self._connections.writing(*keys_of(scope)) as db:
            return renew(Session(db, scope, write=True), jobs, now + lease)

    def waiting(
        self, scope: Scope | None = None, *, space: str | None = None, due: datetime | None = None
    ) -> int:
        """Count waiting and leased jobs of a scope, a space or all (only those due at `due`, when given)."""
        return count_waiting(self._connections, scope, space, due)

    def usage(self, space: str, first: date, last: date) -> Sequence[ModelUse]:
        """Return what all users of a space cost on each day of `first..last`, by day, stage, model."""
        with self._connections.reading(key_of(space), None) as db:
            return usage_of_space(db, space, first, last)

    def erase_scope(self, scope: Scope, erasure: Erasure) -> Erasure:
        """Delete everything of a scope in one transaction with its receipt; return it with its counts."""
        return erase_scope(self._connections, scope, erasure, self._known_scopes)

    def erasures(self, space: str, scope: Scope | None = None) -> Sequence[Erasure]:
        """Return the receipts of a space, or of one user, oldest first."""
        return erasures(self._connections, space, scope)

    def settle_erasure(self, space: str, erasure: Erasure) -> None:
        """Keep how a receipt stands now: its state, residue and what it waits for."""
        settle(self._connections, space, erasure)

    def sweep(self) -> str:
        """Vacuum the tables; return what stands in the way, "" if nothing."""
        return sweep(self._connections)

    def residue(self, scope: Scope, texts: Sequence[str]) -> Sequence[str]:
        """Return those of some strings that stand in the scope's rows, not in a kept observation."""
        return residue(self._connections, scope, texts)

    def check(self) -> Sequence[str]:
        """Return what is wrong with the database itself (one line each); empty when sound."""
        try:
            with self._connections.plain() as db:
                return problems(db)
        except StoreError as error:
            return [str(error)]

    def close(self) -> None:
        """Close the connections. Closing twice does nothing."""
        self._connections.close()

"""A store, and the transaction that is the unit of work in one scope."""

from collections.abc import Sequence
from contextlib import AbstractContextManager
from datetime import date, datetime, timedelta
from typing import Protocol

from episodic_agent.core.erasing import Erasure
from episodic_agent.core.interfaces.care import Care
from episodic_agent.core.interfaces.chains import Chains
from episodic_agent.core.interfaces.erasing import Erasing
from episodic_agent.core.interfaces.facts import Facts
from episodic_agent.core.interfaces.index import Index
from episodic_agent.core.interfaces.records import Episodes, Places, ThreadParts, Threads
from episodic_agent.core.interfaces.relations import Jobs, Links, Reviews, Skills, Usage, Work
from episodic_agent.schemas import (
    Job,
    ModelUse,
    Scope,
)


class Transaction(Protocol):
    """The unit of work in one scope: everything in it becomes visible together or not at all."""

    @property
    def scope(self) -> Scope: ...
    @property
    def threads(self) -> Threads: ...
    @property
    def episodes(self) -> Episodes: ...
    @property
    def links(self) -> Links: ...
    @property
    def chains(self) -> Chains: ...
    @property
    def parts(self) -> ThreadParts: ...
    @property
    def reviews(self) -> Reviews: ...
    @property
    def places(self) -> Places: ...
    @property
    def index(self) -> Index: ...
    @property
    def jobs(self) -> Jobs: ...
    @property
    def usage(self) -> Usage: ...
    @property
    def work(self) -> Work: ...
    @property
    def skills(self) -> Skills: ...
    @property
    def facts(self) -> Facts: ...
    @property
    def erasing(self) -> Erasing: ...
    @property
    def care(self) -> Care: ...


class Store(Protocol):
    """A database that holds everything scopes own."""

    def begin(self, scope: Scope, *, write: bool = True) -> AbstractContextManager[Transaction]:
        """Open a transaction: committed when the block ends, rolled back when it raises.

        A read transaction sees one snapshot. A scope is created by its first write; reading an unknown
        scope sees nothing. Raises StoreUnavailable when the database is locked, full or read-only.
        """
        ...

    def scopes(self, space: str | None = None) -> Sequence[Scope]:
        """Return every scope that was ever written to (of one space), by space, then user.

        Where a database holds tenants apart, looking past one space takes a worker's credential.
        """
        ...

    def exists(self, scope: Scope) -> bool: ...
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

        Expired leases, and leases of processes of this machine that are gone, count as due. `space` or
        `scope` narrows the search; without either, a database that holds tenants apart asks for a
        worker's credential.
        """
        ...

    def renew(self, scope: Scope, jobs: Sequence[Job], *, now: datetime, lease: timedelta) -> Sequence[Job]:
        """Prolong the leases of claimed jobs (a heartbeat); return those that are still ours."""
        ...

    def waiting(
        self, scope: Scope | None = None, *, space: str | None = None, due: datetime | None = None
    ) -> int:
        """Count waiting and leased jobs of a scope, a space or all (only those due at `due`, when given)."""
        ...

    def usage(self, space: str, first: date, last: date) -> Sequence[ModelUse]:
        """Return what all users of a space cost on each day of `first..last`, by day, stage, model."""
        ...

    def erase_scope(self, scope: Scope, erasure: Erasure) -> Erasure:
        """Delete everything of a scope in one transaction with its receipt; return it with its counts."""
        ...

    def erasures(self, space: str, scope: Scope | None = None) -> Sequence[Erasure]:
        """Return the receipts of a space, or of one user, oldest first."""
        ...

    def settle_erasure(self, space: str, erasure: Erasure) -> None:
        """Keep how a receipt stands now: its state, residue and what it waits for."""
        ...

    def sweep(self) -> str:
        """Take what is deleted out of the database's files; return what stands in the way, "" if nothing."""
        ...

    def residue(self, scope: Scope, texts: Sequence[str]) -> Sequence[str]:
        """Return those of some strings that are still found, and not in an observation that is kept.

        A file is searched byte by byte, with what lies beside it; on a server the scope's rows are.
        """
        ...

    def check(self) -> Sequence[str]:
        """Return what is wrong with the file itself (one line each); empty when sound."""
        ...

    def close(self) -> None: ...

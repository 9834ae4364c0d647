"""A store, and the transaction that is the unit of work in one scope."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Literal, Protocol
from uuid import UUID

from episodic_agent.protocols.episodes import Episodes
from episodic_agent.protocols.index import Index
from episodic_agent.protocols.knowledge import Knowledge
from episodic_agent.protocols.observations import Observations
from episodic_agent.protocols.threads import Threads
from episodic_agent.protocols.upkeep import UpkeepRecords
from episodic_agent.schemas import (
    AuditEntry,
    AuditKind,
    Backup,
    Decision,
    Job,
    ModelUse,
    Scope,
)
from episodic_agent.schemas.erasures import Erasure, Sweep
from episodic_agent.schemas.keys import ApiKey

Countable = Literal[
    "threads",
    "observations",
    "unhashed",  # observations without a content hash, stored before there was one
    "expiring",  # observations that expire some day
    "episodes",  # current event episodes
    "unconsolidated",  # those with words that are not consolidated
    "facts",
    "current facts",  # those nothing has ended
    "open observations",  # those in frames that may still grow
    "waiting jobs",  # those that wait or are being done
    "link decisions",
    "chain decisions",
]


class Transaction(Protocol):
    """The unit of work in one scope: everything in it becomes visible together or not at all."""

    @property
    def scope(self) -> Scope: ...
    def hold(self, what: Literal["threads", "facts"]) -> None:
        """Let no other writer resolve threads, or change facts, of this scope before the end of this one.

        Call it before reading what is to be changed; all that writes facts holds them too.
        """
        ...

    def count(self, what: Countable, *, since: datetime | None = None, limit: int | None = None) -> int:
        """Count what the scope holds, up to a limit where it is given; of decisions those after a time."""
        ...

    def holdings(self, thread_id: UUID | None = None) -> Mapping[str, int]:
        """Count what the scope, or one of its threads, holds, by kind of thing."""
        ...

    def embedders(self) -> Sequence[str]:
        """Return the names of the embedders whose vectors the scope holds, in order."""
        ...

    def record(self, what: Erasure | AuditEntry) -> None:
        """Keep the receipt of what is erased here, in place of the one of the same id.

        Or who did what here, in place of the entry of the same time and id.
        """
        ...

    def audit(
        self,
        *,
        since: datetime | None = None,
        until: datetime | None = None,
        kinds: Sequence[AuditKind] | None = None,
        limit: int | None = None,
    ) -> Sequence[AuditEntry]:
        """Return entries of [since, until) in record time (of these kinds), newest first, up to a limit."""
        ...

    def drop_audit(self, before: datetime) -> int:
        """Delete entries from before a time; return how many."""
        ...

    def request(self, key: bytes, oldest: datetime) -> bytes | None:
        """Return what was kept by a key since a time (the digest of a batch, …), None without it."""
        ...

    def keep_request(self, key: bytes, digest: bytes, *, now: datetime, oldest: datetime) -> bytes:
        """Keep a digest, or a short text, by a key unless there is one; return the one that stands.

        What came before `oldest` is forgotten.
        """
        ...

    @property
    def threads(self) -> Threads: ...
    @property
    def episodes(self) -> Episodes: ...
    @property
    def observations(self) -> Observations: ...
    @property
    def index(self) -> Index: ...
    @property
    def knowledge(self) -> Knowledge: ...
    @property
    def upkeep(self) -> UpkeepRecords: ...


class Keys(Protocol):
    """The keys of the service, of all spaces; a database that holds tenants apart asks for a worker's login.

    Every method raises StoreError where the login may not see them.
    """

    def add(self, key: ApiKey, digest: bytes) -> None:
        """Keep a new key by the digest of what its holder sends."""
        ...

    def by_digest(self, digest: bytes) -> ApiKey | None:
        """Return the key of a digest, a revoked one too."""
        ...

    def list(self) -> Sequence[ApiKey]:
        """Return the keys of all spaces, revoked ones too, oldest first."""
        ...

    def touch(self, key_id: str, day: date) -> None:
        """Keep the last day on which a key was used."""
        ...

    def revoke(self, key_id: str, at: datetime) -> None:
        """Let a key open nothing from a time on, which may be to come; a later one changes nothing."""
        ...


class Store(Protocol):
    """A database that holds everything scopes own."""

    @property
    def keys(self) -> Keys: ...

    def begin(self, scope: Scope, *, write: bool = True) -> AbstractContextManager[Transaction]:
        """Open a transaction: committed when the block ends, rolled back when it raises.

        A read transaction sees one snapshot. A scope is created by its first write; reading an unknown
        scope sees nothing. Raises StoreUnavailable when the database is locked, full or read-only.
        """
        ...

    def scopes(self, of: str | Scope | None = None) -> Sequence[Scope]:
        """Return every scope that was ever written to (of one space, or just this one), by space, then user.

        Where a database holds tenants apart, looking past one space takes a worker's credential.
        """
        ...

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
        self,
        scope: Scope | None = None,
        *,
        space: str | None = None,
        due: datetime | None = None,
        state: str | None = None,
    ) -> int:
        """Count waiting and leased jobs of a scope, a space or all (only those due at `due`, when given).

        With a `state` those in it, which may be "dead".
        """
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
        """Keep how a receipt that `erasures` returned stands now; another space's stays as it is."""
        ...

    def sweep(self) -> Sweep:
        """Take what is deleted out of the database as far as this login may; say what was done.

        Never raises for what hinders it: what is erased is erased, and a later sweep completes it.
        """
        ...

    def residue(self, scope: Scope, texts: Sequence[str]) -> Sequence[str]:
        """Return those of some strings that are still found, and not in an observation that is kept.

        A file is searched byte by byte, with what lies beside it; on a server the scope's rows are. A word
        is looked for in small and in capital letters: what is made of a text writes it otherwise.
        """
        ...

    def backup(
        self, target: Path, *, force: bool = False, progress: Callable[[float], object] | None = None
    ) -> Backup:
        """Copy the database as it is now to a file, verified, while others write.

        `force` replaces a file that is there; `progress` is told how much is done, from 0 to 1. Raises
        InvalidInput for a target that cannot be, and on a server; StoreError where the copy is not sound.
        """
        ...

    def salvage(self, now: datetime) -> Sequence[str]:
        """Save what can be read of a damaged database in a new one; return what was saved, and what was lost.

        The damaged one is left as it is. Empty where a database is repaired by its own means.
        """
        ...

    def check(self, *, quick: bool = False) -> Sequence[str]:
        """Return what is wrong with the file itself (one line each); empty when sound.

        A `quick` one only tries whether it can be read, in a time that does not grow with what is in it.
        """
        ...

    def close(self) -> None: ...


def stored_decision(tx: Transaction, identity: UUID | None) -> Decision | None:
    """Return the decision that an episode or a link names, None where it names none or it is gone."""
    return None if identity is None else next(iter(tx.knowledge.decisions(ids=[identity])), None)

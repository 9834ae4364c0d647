"""What a transaction of either store says of its scope as a whole, and what is kept of calls.

Of calls: which batch came with which idempotency key, and who did what.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Final, Literal
from uuid import UUID

from episodic_agent.lazily import module
from episodic_agent.protocols import Countable
from episodic_agent.schemas import AuditEntry, AuditKind, Scope
from episodic_agent.schemas.erasures import Erasure
from episodic_agent.stores.catalogue import StoredTable
from episodic_agent.stores.nouns import AUDIT, audit_columns, audit_of
from episodic_agent.stores.rows import to_microseconds
from episodic_agent.stores.tables.dialect import EVERY, Rows, placed, replacing, row_of

if TYPE_CHECKING:
    from episodic_agent.stores.tables import counting, erasing
else:
    counting = module("episodic_agent.stores.tables.counting")
    erasing = module("episodic_agent.stores.tables.erasing")


class ScopeTransaction:
    """Everything one block of work may touch, in one scope; its aggregates are each store's own."""

    def __init__(self, session: Rows, tables: Sequence[StoredTable]) -> None:
        self._rows = session
        self._tables = tables

    @property
    def scope(self) -> Scope:
        """Return whose memory this is."""
        return self._rows.scope

    def hold(self, what: Literal["threads", "facts"]) -> None:
        """Let no other writer resolve threads, or change facts, before the end of this transaction."""
        if what == "threads":
            self._rows.hold_threads()
        else:
            self._rows.hold_facts()

    def count(self, what: Countable, *, since: datetime | None = None, limit: int | None = None) -> int:
        """Count what the scope holds, up to a limit where it is given; of decisions those after a time."""
        return counting.count(self._rows, what, since, limit)

    def holdings(self, thread_id: UUID | None = None) -> Mapping[str, int]:
        """Count what the scope, or one of its threads, holds, by kind of thing."""
        return erasing.holdings(self._rows, self._tables, thread_id)

    def record(self, what: Erasure | AuditEntry) -> None:
        """Keep a receipt, or an entry of the audit, in place of the one of the same id."""
        if isinstance(what, AuditEntry):
            put_entry(self._rows, what)
        else:
            erasing.record(self._rows, what)

    def audit(
        self,
        *,
        since: datetime | None = None,
        until: datetime | None = None,
        kinds: Sequence[AuditKind] | None = None,
        limit: int | None = None,
    ) -> Sequence[AuditEntry]:
        """Return entries of [since, until) (of these kinds), newest first, up to a limit."""
        return entries(self._rows, since, until, kinds, limit)

    def drop_audit(self, before: datetime) -> int:
        """Delete entries from before a time; return how many."""
        return drop_entries(self._rows, before)

    def request(self, key: bytes, oldest: datetime) -> bytes | None:
        """Return the digest of the batch that came with an idempotency key since a time."""
        return request(self._rows, key, oldest)

    def keep_request(self, key: bytes, digest: bytes, *, now: datetime, oldest: datetime) -> bytes:
        """Keep the digest that came with a key, unless there is one; return the one that stands."""
        return keep_request(self._rows, key, digest, now=now, oldest=oldest)


_REQUEST: Final = "SELECT digest FROM request WHERE :mine AND key = :key AND at >= :oldest"
_PUT_REQUEST: Final = (
    "INSERT INTO request (:keys, key, digest, at) VALUES (:own, :key, :digest, :at)"
    " ON CONFLICT (:keys, key) DO NOTHING"
)
_DROP_REQUESTS: Final = "DELETE FROM request WHERE :mine AND at < :oldest"
_PUT_ENTRY: Final = (
    f"INSERT INTO audit (:keys, {AUDIT}) VALUES (:own, {placed(AUDIT)})"
    f" ON CONFLICT (:keys, at, number) DO UPDATE SET {replacing(AUDIT, 2)}"
)
_ENTRIES: Final = (
    f"SELECT {AUDIT} FROM audit WHERE :mine AND at >= :since AND at < :until AND kind IN :texts(kinds)"
    " ORDER BY at DESC, number DESC LIMIT :limit"
)
_DROP_ENTRIES: Final = "DELETE FROM audit WHERE :mine AND at < :before"


def request(session: Rows, key: bytes, oldest: datetime) -> bytes | None:
    """Return the digest that came with a key since a time."""
    results = session.read(_REQUEST, key=key, oldest=to_microseconds(oldest))
    return bytes(results[0][0]) if results else None


def keep_request(session: Rows, key: bytes, digest: bytes, *, now: datetime, oldest: datetime) -> bytes:
    """Keep a digest by its key unless there is one; drop the older ones; return the one that stands."""
    session.alter(_DROP_REQUESTS, oldest=to_microseconds(oldest))
    session.change(_PUT_REQUEST, key=key, digest=digest, at=to_microseconds(now))
    return request(session, key, oldest) or digest


def put_entry(session: Rows, entry: AuditEntry) -> None:
    """Keep an entry, in place of the one of the same time and id."""
    session.change(_PUT_ENTRY, **row_of(AUDIT, audit_columns(entry)))


def entries(
    session: Rows,
    since: datetime | None,
    until: datetime | None,
    kinds: Sequence[AuditKind] | None,
    limit: int | None,
) -> Sequence[AuditEntry]:
    """Return entries of [since, until) (of these kinds), newest first, up to a limit."""
    results = session.read(
        _ENTRIES,
        since=-EVERY if since is None else to_microseconds(since),
        until=EVERY if until is None else to_microseconds(until),
        kinds=[kind.value for kind in (AuditKind if kinds is None else kinds)],
        limit=EVERY if limit is None else limit,
    )
    return [audit_of(columns) for columns in results]


def drop_entries(session: Rows, before: datetime) -> int:
    """Delete entries from before a time; return how many."""
    return session.alter(_DROP_ENTRIES, before=to_microseconds(before))

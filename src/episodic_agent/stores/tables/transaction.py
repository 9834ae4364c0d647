"""What a transaction of either store says of its scope as a whole."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Literal
from uuid import UUID

from episodic_agent.lazily import module
from episodic_agent.protocols import Countable
from episodic_agent.schemas import AuditEntry, AuditKind, Scope
from episodic_agent.schemas.erasures import Erasure
from episodic_agent.stores.catalogue import StoredTable
from episodic_agent.stores.tables.dialect import Rows

if TYPE_CHECKING:
    from episodic_agent.stores.tables import calls, counting, erasing
else:
    calls = module("episodic_agent.stores.tables.calls")
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
            calls.put_entry(self._rows, what)
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
        return calls.entries(self._rows, since, until, kinds, limit)

    def drop_audit(self, before: datetime) -> int:
        """Delete entries from before a time; return how many."""
        return calls.drop_entries(self._rows, before)

    def request(self, key: bytes, oldest: datetime) -> bytes | None:
        """Return the digest of the batch that came with an idempotency key since a time."""
        return calls.request(self._rows, key, oldest)

    def keep_request(self, key: bytes, digest: bytes, *, now: datetime, oldest: datetime) -> bytes:
        """Keep the digest that came with a key, unless there is one; return the one that stands."""
        return calls.keep_request(self._rows, key, digest, now=now, oldest=oldest)

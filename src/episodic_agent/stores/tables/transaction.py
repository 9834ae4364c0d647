"""What a transaction of either store says of its scope as a whole."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Final, Literal
from uuid import UUID

from episodic_agent.lazily import module
from episodic_agent.protocols import Countable
from episodic_agent.schemas import AuditEntry, AuditKind, Scope
from episodic_agent.schemas.erasures import Erasure
from episodic_agent.stores.catalogue import StoredTable
from episodic_agent.stores.fact_rows import CURRENT
from episodic_agent.stores.hashing import UNHASHED
from episodic_agent.stores.nouns import AUDIT, audit_columns, audit_of
from episodic_agent.stores.rows import to_microseconds
from episodic_agent.stores.tables.dialect import EVERY, Rows, placed, replacing, row_of

if TYPE_CHECKING:
    from episodic_agent.stores.tables import erasing
else:
    erasing = module("episodic_agent.stores.tables.erasing")

_EPISODES: Final = "episode WHERE :mine AND kind = 'event' AND generation_to IS NULL"
# In order, so that the index of just these is taken.
_PENDING: Final = f"{_EPISODES} AND consolidated_at IS NULL AND encoding_version > 0 ORDER BY created_at"
_OPEN: Final = "(SELECT thread AS open, next_seq - first_seq AS held FROM frame WHERE :mine) f"
_JOBS: Final = "SELECT count(*) FROM job WHERE :mine AND state"
# What the index of types leaves out is said in its own words.
_DECIDED: Final = "SELECT count(*) FROM decision WHERE :mine AND at > :since AND type <> 'boundary' AND type"
_COUNTS: Final[Mapping[Countable, str]] = {
    "threads": "SELECT count(*) FROM thread WHERE :mine",
    "observations": "SELECT sum(spoke) FROM actor WHERE :mine",
    "unhashed": f"SELECT count(*) FROM observation WHERE :mine AND {UNHASHED}",
    "expiring": "SELECT count(*) FROM expiry WHERE :mine",
    "episodes": f"SELECT count(*) FROM {_EPISODES}",
    "unconsolidated": f"SELECT count(*) FROM (SELECT 1 FROM {_PENDING} LIMIT :limit) p",
    "facts": "SELECT count(*) FROM fact WHERE :mine",
    "current facts": f"SELECT count(*) FROM fact WHERE :mine AND {CURRENT}",
    # Frames have no index of scopes: they are looked up by the threads.
    "open observations": f"SELECT sum(held) FROM thread JOIN {_OPEN} ON open = number WHERE :mine",
    "waiting jobs": f"SELECT ({_JOBS} = 'waiting') + ({_JOBS} = 'leased')",  # each has an index of its own
    "link decisions": f"{_DECIDED} = 'link'",
    "chain decisions": f"{_DECIDED} = 'chain'",
}
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
        if what == "threads":
            self._rows.hold_threads()
        else:
            self._rows.hold_facts()

    def count(self, what: Countable, *, since: datetime | None = None, limit: int | None = None) -> int:
        most, after = EVERY if limit is None else limit, -EVERY if since is None else to_microseconds(since)
        [(result,)] = self._rows.read(_COUNTS[what], limit=most, since=after)
        return min(int(result or 0), most)

    def holdings(self, thread_id: UUID | None = None) -> Mapping[str, int]:
        return erasing.holdings(self._rows, self._tables, thread_id)

    def record(self, what: Erasure | AuditEntry) -> None:
        """Keep a receipt, or an entry of the audit, in place of the one of the same id."""
        if isinstance(what, AuditEntry):
            self._rows.change(_PUT_ENTRY, **row_of(AUDIT, audit_columns(what)))
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
        results = self._rows.read(
            _ENTRIES,
            since=-EVERY if since is None else to_microseconds(since),
            until=EVERY if until is None else to_microseconds(until),
            kinds=[kind.value for kind in (AuditKind if kinds is None else kinds)],
            limit=EVERY if limit is None else limit,
        )
        return [audit_of(columns) for columns in results]

    def drop_audit(self, before: datetime) -> int:
        return self._rows.alter(_DROP_ENTRIES, before=to_microseconds(before))

    def request(self, key: bytes, oldest: datetime) -> bytes | None:
        """Return the digest of the batch that came with an idempotency key since a time."""
        results = self._rows.read(_REQUEST, key=key, oldest=to_microseconds(oldest))
        return bytes(results[0][0]) if results else None

    def keep_request(self, key: bytes, digest: bytes, *, now: datetime, oldest: datetime) -> bytes:
        self._rows.alter(_DROP_REQUESTS, oldest=to_microseconds(oldest))
        self._rows.change(_PUT_REQUEST, key=key, digest=digest, at=to_microseconds(now))
        return self.request(key, oldest) or digest

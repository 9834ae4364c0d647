"""What is kept of calls: which batch came with which idempotency key, and who did what."""

from collections.abc import Sequence
from datetime import datetime
from typing import Final

from episodic_agent.schemas import AuditEntry, AuditKind
from episodic_agent.stores.nouns import AUDIT, audit_columns, audit_of
from episodic_agent.stores.rows import to_microseconds
from episodic_agent.stores.tables.dialect import EVERY, Rows, placed, replacing, row_of

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

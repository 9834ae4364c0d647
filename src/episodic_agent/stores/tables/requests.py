"""Which batch came with which idempotency key, as rows."""

from datetime import datetime
from typing import Final

from episodic_agent.stores.rows import to_microseconds
from episodic_agent.stores.tables.dialect import Rows

_READ: Final = "SELECT digest FROM request WHERE :mine AND key = :key AND at >= :oldest"
_PUT: Final = (
    "INSERT INTO request (:keys, key, digest, at) VALUES (:own, :key, :digest, :at)"
    " ON CONFLICT (:keys, key) DO NOTHING"
)
_DROP: Final = "DELETE FROM request WHERE :mine AND at < :oldest"


def request(session: Rows, key: bytes, oldest: datetime) -> bytes | None:
    """Return the digest that came with a key since a time."""
    results = session.read(_READ, key=key, oldest=to_microseconds(oldest))
    return bytes(results[0][0]) if results else None


def keep_request(session: Rows, key: bytes, digest: bytes, *, now: datetime, oldest: datetime) -> bytes:
    """Keep a digest by its key unless there is one; drop the older ones; return the one that stands."""
    session.alter(_DROP, oldest=to_microseconds(oldest))
    session.change(_PUT, key=key, digest=digest, at=to_microseconds(now))
    return request(session, key, oldest) or digest

"""Observations read as they lie in the file, so that damage to their bytes raises nothing."""

from collections.abc import Sequence
from typing import Any, Final
from uuid import UUID

import apsw

from episodic_agent.stores.rows import altered_of
from episodic_agent.stores.sqlite.file.connection import rows

_IN_SPAN: Final = (
    "SELECT ref, id, at, received_at, CAST(at_source AS BLOB), utc_offset, CAST(kind AS BLOB),"
    " CAST(actor AS BLOB), CAST(channel AS BLOB), CAST(external_id AS BLOB), CAST(text AS BLOB),"
    " CAST(data AS BLOB), content_hash, erased_at FROM observation"
    " WHERE ref BETWEEN ? AND ? AND +scope = ? AND content_hash IS NOT NULL ORDER BY ref"
)
_TEXTS: Final = frozenset({4, 6, 7, 8, 9, 10, 11})  # the columns read as bytes


def altered(
    db: apsw.Connection, scope: int, thread_id: UUID, first_ref: int, last_ref: int
) -> list[tuple[int, UUID]]:
    """Return (seq, id) of those observations of a thread that are not what was stored, in order."""
    results = rows(db, _IN_SPAN, (first_ref, last_ref, scope))
    return altered_of(thread_id, map(_decoded, results))


def _decoded(columns: Sequence[Any]) -> list[Any]:
    return [
        value.decode("utf-8", "surrogateescape") if place in _TEXTS and isinstance(value, bytes) else value
        for place, value in enumerate(columns)
    ]

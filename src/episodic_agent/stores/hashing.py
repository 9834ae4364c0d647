"""The content hash of an observation: what tells later whether its row still says what was stored.

It is kept in the row itself and goes when the row is erased: the hash of a short text gives it away to
whoever guesses.
"""

import json
from collections.abc import Iterable, Sequence
from hashlib import blake2b
from typing import Any, Final
from uuid import UUID

from episodic_agent.protocols import split_ref

UNHASHED: Final = "content_hash IS NULL AND erased_at IS NULL"
_BYTES: Final = 16


def content_hash(thread_id: UUID, seq: int, columns: Sequence[Any]) -> bytes:
    """Return the BLAKE2b hash of an observation's `OBSERVATION` columns without the ref, and of its place.

    Times are microseconds since 1970 UTC, as stored. A damaged row is hashed too, whatever its columns hold.

    >>> content_hash(UUID(int=1), 0, [b"id", 5, "tea"]).hex()
    '9113630f2edbfe54c7f9f1b1c1c4799a'
    """
    text = _FORM.encode([thread_id.hex, seq, *columns])
    return blake2b(text.encode(), digest_size=_BYTES).digest()


def altered_of(thread_id: UUID, rows: Iterable[Sequence[Any]]) -> list[tuple[int, UUID]]:
    """Return (seq, id) of those rows of a thread that are not what was stored.

    A row holds the `STORED_OBSERVATION` columns and when it was erased: of an erased one no hash is left.
    """
    result = []
    for ref, *columns, stored, erased_at in rows:
        seq = split_ref(ref)[1]
        if erased_at is not None or bytes(stored) != content_hash(thread_id, seq, columns):
            result.append((seq, UUID(bytes=bytes(columns[0])[:16].ljust(16, b"\0"))))
    return result


def _plain(value: object) -> str:
    return bytes(value).hex() if isinstance(value, bytes | bytearray | memoryview) else repr(value)


# JSON in ASCII: one form for all strings, lone surrogates too, and the same in every version of the language.
_FORM: Final = json.JSONEncoder(separators=(",", ":"), default=_plain)

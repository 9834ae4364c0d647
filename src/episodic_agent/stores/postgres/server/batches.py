"""Columns of a batch as the server's arrays, in its binary form.

The driver would write arrays as text, item by item: 256 ids take it 5 ms, and 10 microseconds this way.
"""

import struct
from collections.abc import Iterable, Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import ArrayLike

from episodic_agent.stores.postgres.server.packing import BYTEA, INTEGER, TEXT, Binary, integers

_ESCAPE: Final = "\x1a"  # SUBSTITUTE: in no text a person writes
_NUL: Final = _ESCAPE + "0"
_ITSELF: Final = _ESCAPE + "1"


def to_stored(text: str) -> str:
    r"""Return a string without NUL that `from_stored` turns back.

    >>> to_stored("a\0b"), to_stored("plain")
    ('a\x1a0b', 'plain')
    """
    if "\0" in text or _ESCAPE in text:
        return text.replace(_ESCAPE, _ITSELF).replace("\0", _NUL)
    return text


def from_stored(text: str) -> str:
    r"""Undo `to_stored`.

    >>> from_stored(to_stored("a\0\x1a0"))
    'a\x00\x1a0'
    """
    if _ESCAPE in text:
        return text.replace(_NUL, "\0").replace(_ITSELF, _ESCAPE)
    return text


def read_columns(columns: Iterable[Any]) -> tuple[Any, ...]:
    """Return a row with its strings as they were written."""
    return tuple([from_stored(value) if type(value) is str else value for value in columns])


_HEAD: Final = struct.Struct("!5i")  # dimensions, may hold NULL, type, items, number of the first
_LENGTH: Final = struct.Struct("!i").pack
_INTEGER_ITEM: Final = struct.Struct("!ii").pack
_NULL: Final = _LENGTH(-1)


def bigints(numbers: ArrayLike) -> Binary:
    """Return integers as `bigint[]`."""
    return integers(np.asarray(numbers, dtype=np.int64))


def optional_integers(numbers: Sequence[int | None]) -> Binary:
    """Return small integers, some of them missing, as `integer[]`."""
    items = [_NULL if number is None else _INTEGER_ITEM(4, number) for number in numbers]
    return Binary(_HEAD.pack(1, 1, INTEGER, len(items), 1) + b"".join(items))


def texts(strings: Sequence[str | None]) -> Binary:
    """Return strings, some of them missing, as `text[]`."""
    return _array([None if string is None else to_stored(string).encode() for string in strings], TEXT)


def byteas(values: Sequence[bytes | None]) -> Binary:
    """Return byte strings, some of them missing, as `bytea[]`."""
    return _array(values, BYTEA)


def _array(values: Sequence[bytes | None], type_number: int) -> Binary:
    parts = [_HEAD.pack(1, 1, type_number, len(values), 1)]
    for value in values:
        if value is None:
            parts.append(_NULL)
        else:
            parts += _LENGTH(len(value)), value
    return Binary(b"".join(parts))

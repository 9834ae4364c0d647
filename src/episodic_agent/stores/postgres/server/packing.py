"""Numbers to and from the server in its binary format, whole arrays at a time.

The driver's own lists cost a Python object a number; a recall reads thousands of postings, a chunk writes
as many, and a vector is 384 numbers. Arrays come back through `array_send(…)`, as bytes like any other.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import psycopg
from numpy.typing import NDArray
from psycopg.adapt import Buffer, Dumper
from psycopg.pq import Format

# The types' numbers in every server's catalogue.
INTEGER: Final = 23
TEXT: Final = 25
BYTEA: Final = 17
_INTEGERS: Final = {"i2": 21, "i4": INTEGER, "i8": 20}
_HEADER: Final = np.dtype([(name, ">i4") for name in ("axes", "nulls", "type", "length", "first")])


@dataclass(frozen=True, slots=True)
class Binary:
    """A parameter that is in the server's format already; the statement must cast it to its type."""

    data: bytes


class _BinaryDumper(Dumper):
    format = Format.BINARY

    def dump(self, obj: Binary) -> Buffer:
        """Return the bytes as they are."""
        return obj.data


psycopg.adapters.register_dumper(Binary, _BinaryDumper)


def array(elements: NDArray[Any], type_number: int) -> Binary:
    """Return elements of one fixed width, in the server's format each, as an array of a type."""
    header = np.zeros(1, dtype=_HEADER)
    header["type"] = type_number
    if not len(elements):
        return Binary(header.tobytes()[:12])
    header["axes"], header["length"], header["first"] = 1, len(elements), 1
    packed = np.empty(len(elements), dtype=[("size", ">i4"), ("value", elements.dtype, elements.shape[1:])])
    packed["size"] = elements.dtype.itemsize * int(np.prod(elements.shape[1:], dtype=np.int64))
    packed["value"] = elements
    return Binary(header.tobytes() + packed.tobytes())


def integers(values: NDArray[np.integer[Any]]) -> Binary:
    """Return integers as an array of the type of their width: int16, int32 or int64."""
    width = f"i{values.dtype.itemsize}"
    return array(values.astype(f">{width}"), _INTEGERS[width])


def half_vectors(rows: NDArray[np.float16], type_number: int) -> Binary:
    """Return rows [n, d] as an array of `halfvec`; its type's number differs from database to database."""
    return array(_halves(rows), type_number)


def half_vector(row: NDArray[np.float16]) -> Binary:
    """Return one row [d] as a `halfvec`."""
    return Binary(_halves(row[None]).tobytes())


def halves_sent(values: Sequence[bytes]) -> NDArray[np.float16]:
    """Read what `halfvec_send` made of vectors of one width: rows [n, d].

    >>> halves_sent([half_vector(np.array([1.0, -2.0], dtype=np.float16)).data]).tolist()
    [[1.0, -2.0]]
    """
    packed = np.frombuffer(b"".join(values), dtype=_half_vector_type((len(values[0]) - 4) // 2))
    rows: NDArray[np.float16] = packed["v"]
    return rows


def _halves(rows: NDArray[np.float16]) -> NDArray[Any]:
    packed = np.zeros(len(rows), dtype=_half_vector_type(rows.shape[1]))
    packed["dimensions"], packed["v"] = rows.shape[1], rows
    return packed


def _half_vector_type(dimensions: int) -> np.dtype[Any]:
    return np.dtype([("dimensions", ">i2"), ("unused", ">i2"), ("v", ">f2", (dimensions,))])


def numbers(sent: bytes | None, kind: str = "i8") -> NDArray[Any]:
    """Read what `array_send` made of integers without nulls (of no rows at all: None); `kind` is their type.

    >>> numbers(integers(np.array([3, -1])).data).tolist()
    [3, -1]
    """
    if sent is None or len(sent) <= _HEADER.itemsize:
        return np.empty(0, dtype=kind)
    packed = np.frombuffer(sent, dtype=[("size", ">i4"), ("value", f">{kind}")], offset=_HEADER.itemsize)
    results: NDArray[Any] = packed["value"].astype(kind)
    return results

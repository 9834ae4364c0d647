"""Blocks of postings, as bytes: the terms of a segment's documents, spread by the first bits of their hashes.

A segment numbers its documents from 0. Bucket 0 holds their references, bucket 1 their lengths; the bucket of
a term is 1 followed by the first bits of its hash: the more documents, the more bits, so that a block stays
about as large. A block holds its terms, rising, where the postings of each end, the postings' documents, and
how often the term occurs in each.
"""

from collections.abc import Iterator
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from episodic_agent.stores.scoring import LongIntegers as Integers
from episodic_agent.stores.terms import narrow_counts, wide_counts

Small = NDArray[np.uint16]
Hashes = NDArray[np.uint64]

REFERENCES: Final = 0
LENGTHS: Final = 1
GONE: Final = -1  # the reference of a document that was taken out
_BITS: Final = ((1 << 10, 5), (1 << 13, 8), (1 << 16, 11))  # documents a segment has less than, and its bits
MOST: Final = (1 << 16) - 1  # documents a segment has at most: they are numbered in two bytes
ALL_BITS: Final = tuple(bits for _, bits in _BITS)


class Postings(NamedTuple):
    """Postings, by term and document: hashes, numbers of documents, counts."""

    terms: Hashes
    places: Small
    counts: Small

    def at(self, rows: Integers) -> "Postings":
        """Return some of them."""
        return Postings(self.terms[rows], self.places[rows], self.counts[rows])


def bits_of(documents: int) -> int:
    """Return how many bits of a term's hash choose its bucket in a segment of so many documents."""
    return next(bits for below, bits in _BITS if documents < below)


def bucket_of(term: int, bits: int) -> int:
    """Return the bucket of a term, a signed 64-bit hash.

    >>> bucket_of(0, 5), bucket_of(-1, 5)
    (32, 63)
    """
    return 1 << bits | (term & 0xFFFFFFFFFFFFFFFF) >> 64 - bits


def packed_references(refs: Integers) -> bytes:
    """Return the references of a segment's documents, as runs of neighbours.

    >>> references(packed_references(np.array([7, 8, GONE, 9]))).tolist()
    [7, 8, -1, 9]
    """
    breaks = np.ones(len(refs), dtype=np.bool_)
    breaks[1:] = (refs[1:] != refs[:-1] + 1) | (refs[:-1] == GONE)
    starts = np.flatnonzero(breaks)
    sizes = np.diff(np.append(starts, len(refs)))
    return refs[starts].astype("<i8").tobytes() + sizes.astype("<u2").tobytes()


def references(body: bytes) -> Integers:
    """Read what `packed_references` made."""
    runs = len(body) // 10
    starts = np.frombuffer(body, dtype="<i8", count=runs)
    sizes = np.frombuffer(body, dtype="<u2", offset=8 * runs).astype(np.int64)
    ends = np.cumsum(sizes)
    refs: Integers = np.repeat(starts - (ends - sizes), sizes) + np.arange(int(sizes.sum()))
    return refs


def packed_lengths(lengths: NDArray[np.int32]) -> bytes:
    """Return documents' lengths, in two bytes each where all fit."""
    wide = len(lengths) and int(lengths.max()) > MOST
    return lengths.astype("<u4" if wide else "<u2").tobytes()


def lengths_of(body: bytes, documents: int) -> NDArray[np.int32]:
    """Read what `packed_lengths` made."""
    return np.frombuffer(body, dtype="<u4" if len(body) > 2 * documents else "<u2").astype(np.int32)


def blocks(postings: Postings, bits: int) -> Iterator[tuple[int, bytes]]:
    """Yield (bucket, body) of postings in the order of their terms."""
    buckets = postings.terms >> np.uint64(64 - bits)
    for rows in np.split(np.arange(len(buckets)), np.flatnonzero(buckets[1:] != buckets[:-1]) + 1):
        if len(rows):
            yield 1 << bits | int(buckets[rows[0]]), block(postings.at(rows))


def block(postings: Postings) -> bytes:
    """Return one block of postings in the order of their terms."""
    terms = postings.terms
    starts = np.flatnonzero(np.append(True, terms[1:] != terms[:-1]))
    ends = np.append(starts[1:], len(terms))
    return b"".join(
        (
            len(starts).to_bytes(4, "little"),
            terms[starts].astype("<u8").tobytes(),
            ends.astype("<u4").tobytes(),
            postings.places.astype("<u2").tobytes(),
            narrow_counts(postings.counts),
        )
    )


def postings_of(body: bytes) -> Postings:
    """Read a whole block."""
    count = int.from_bytes(body[:4], "little")
    ends = np.frombuffer(body, dtype="<u4", count=count, offset=4 + 8 * count)
    sizes, total = np.diff(ends, prepend=np.uint32(0)), int(ends[-1])
    terms = np.repeat(np.frombuffer(body, dtype="<u8", count=count, offset=4), sizes)
    first = 4 + 12 * count
    places = np.frombuffer(body, dtype="<u2", count=total, offset=first)
    counts = wide_counts(body[first + 2 * total :], total)
    return Postings(terms, places, np.frombuffer(counts, dtype="<u2"))


def find(body: bytes, term: bytes) -> tuple[Small, Small] | None:
    """Return the documents of a block that hold a term, and how often; None where none does.

    >>> terms = np.array([3, 3, 9], np.uint64)
    >>> made = block(Postings(terms, np.array([0, 4, 4], np.uint16), np.array([1, 2, 1], np.uint16)))
    >>> [column.tolist() for column in find(made, (3).to_bytes(8, "little"))]
    [[0, 4], [1, 2]]
    """
    count = int.from_bytes(body[:4], "little")
    ends = 4 + 8 * count
    at = body.find(term, 4, ends)
    while at >= 0 and (at - 4) % 8:
        at = body.find(term, at + 1, ends)
    if at < 0:
        return None
    here = ends + (at - 4) // 2
    start = 0 if at == 4 else int.from_bytes(body[here - 4 : here], "little")
    end = int.from_bytes(body[here : here + 4], "little")
    first = ends + 4 * count
    total = int.from_bytes(body[first - 4 : first], "little")
    places = np.frombuffer(body, dtype="<u2", count=end - start, offset=first + 2 * start)
    after = first + 2 * total
    width = (len(body) - after) // total
    if not width:
        return places, np.ones(end - start, dtype=np.uint16)
    offset = after + width * start
    counts = np.frombuffer(body, dtype=f"<u{width}", count=end - start, offset=offset)
    return places, counts.astype(np.uint16)

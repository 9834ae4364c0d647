"""The segments of one kind's documents: packed when enough have come, merged when there are many.

Who changes segments of a kind holds a row, so that nobody else does meanwhile; who appends holds none.
Packing is a transaction of its own, after the one that wrote, and gives up rather than make anybody wait.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from episodic_agent.stores.postgres.server.batches import bigints, byteas
from episodic_agent.stores.postgres.server.session import OWN_ROW, PostgresSession
from episodic_agent.stores.postgres.words.blocks import (
    ALL_BITS,
    GONE,
    LENGTHS,
    MOST,
    REFERENCES,
    Postings,
    bits_of,
    block,
    blocks,
    lengths_of,
    packed_lengths,
    packed_references,
    postings_of,
    references,
)
from episodic_agent.stores.scoring import LongIntegers as Integers
from episodic_agent.stores.terms import wide_counts

_PACKED: Final = 1 << 14  # documents packed into one segment at most
_MERGED: Final = 8  # segments of about one size that become one

_MINE: Final = "space = %s AND owner = %s AND kind = %s"
_HOLD: Final = (
    "INSERT INTO total (space, owner, kind, thread, documents, length)"
    f' SELECT s.space, s.owner, %s::"char", 0::integer, 0::bigint, 0::bigint FROM {OWN_ROW}'
    " ON CONFLICT (space, owner, kind, thread) DO UPDATE SET documents = total.documents"
)
_NUMBERED: Final = (
    f"SELECT segment, body, 0::bigint FROM posting_block WHERE {_MINE} AND bucket = {REFERENCES}"
    f" UNION ALL SELECT NULL, NULL, count(*) FROM document WHERE {_MINE}"
)
_BODIES: Final = f"SELECT segment, bucket, body FROM posting_block WHERE {_MINE}"
_OF_SEGMENTS: Final = f"{_BODIES} AND segment = ANY(%s::bigint[])"
_TAKE: Final = f"DELETE FROM document WHERE {_MINE} RETURNING ref, length, terms, counts"
_DELETE: Final = f"DELETE FROM posting_block WHERE {_MINE} AND segment = ANY(%s::bigint[])"
_DELETE_BUCKETS: Final = (
    f"DELETE FROM posting_block WHERE {_MINE} AND segment = %s AND bucket = ANY(%s::bigint[])"
)
_INSERT: Final = (
    "INSERT INTO posting_block (space, owner, kind, segment, bucket, body)"
    f' SELECT s.space, s.owner, %s::"char", %s::bigint, g.* FROM {OWN_ROW},'
    " unnest(%s::bigint[], %s::bytea[]) AS g"
)
_KINDS: Final = (
    f"SELECT DISTINCT kind::text FROM posting_block WHERE space = %s AND owner = %s AND bucket = {REFERENCES}"
)


class _SegmentWords(NamedTuple):
    """A segment in memory: references (GONE of what was taken out) and lengths of its documents, postings."""

    refs: Integers
    lengths: NDArray[np.int32]
    postings: Postings


class Segments:
    """The segments of one kind, as one transaction changes them."""

    def __init__(self, session: PostgresSession, kind: str) -> None:
        self._session = session
        self._kind = kind
        self._mine = (*session.keys, kind)

    def numbered(self) -> tuple[dict[int, Integers], int]:
        """Return the references of each segment's documents, and how many documents are in none."""
        numbered, fresh = dict[int, Integers](), 0
        for segment, body, waiting in self._session.rows(_NUMBERED, (*self._mine, *self._mine)):
            if segment is None:
                fresh = waiting
            else:
                numbered[segment] = references(body)
        return numbered, fresh

    def documents(self, first: int, last: int) -> Integers:
        """Return the references, rising, of packed documents with at least one term between two."""
        sql = f"{_BODIES} AND bucket = ANY(%s::bigint[])"
        rows = self._session.rows(sql, (*self._mine, bigints([REFERENCES, LENGTHS])))
        bodies = {(segment, bucket): body for segment, bucket, body in rows}
        packed = [np.empty(0, dtype=np.int64)]
        for segment, bucket in bodies:
            if bucket == REFERENCES:
                refs = references(bodies[segment, REFERENCES])
                lengths = lengths_of(bodies[segment, LENGTHS], len(refs))
                packed.append(refs[(lengths > 0) & (refs >= max(first, 0)) & (refs <= last)])
        return np.sort(np.concatenate(packed))

    def take_out(self, targets: Integers, numbered: Mapping[int, Integers]) -> dict[int, int]:
        """Take documents out of the segments they were seen in; return the length of each that was there."""
        if not any(np.isin(targets, refs).any() for refs in numbered.values()):
            return {}
        self._hold()
        gone: dict[int, int] = {}
        for segment, refs in self.numbered()[0].items():
            places = np.flatnonzero(np.isin(refs, targets))
            if len(places):
                gone |= self._without(segment, places)
        return gone

    def _without(self, segment: int, places: Integers) -> dict[int, int]:
        """Take documents out of one segment, by their numbers in it."""
        bodies = {bucket: body for _, bucket, body in self._rows([segment])}
        refs = references(bodies.pop(REFERENCES))
        lengths = lengths_of(bodies.pop(LENGTHS), len(refs))
        gone = dict(zip(refs[places].tolist(), lengths[places].tolist(), strict=True))
        refs[places], lengths[places] = GONE, 0
        if (refs == GONE).all():
            self._session.execute(_DELETE, (*self._mine, bigints([segment])))
            return gone
        changed = {REFERENCES: packed_references(refs), LENGTHS: packed_lengths(lengths)}
        emptied = []
        for bucket, body in bodies.items():
            postings = postings_of(body)
            remaining = refs[postings.places] != GONE
            if not remaining.any():
                emptied.append(bucket)
            elif not remaining.all():
                changed[bucket] = block(postings.at(np.flatnonzero(remaining)))
        self._session.execute(_DELETE_BUCKETS, (*self._mine, segment, bigints([*changed, *emptied])))
        self._write(segment, changed.items())
        return gone

    # --- packing ----------------------------------------------------------------------------------------

    def pack(self) -> bool:
        """Pack the documents that are in no segment, where they are enough; tell whether they were."""
        self._session.execute("SET LOCAL lock_timeout = '50ms'")
        self._hold()
        numbered, waiting = self.numbered()
        if waiting < self._session.fresh:
            return False
        last = max(numbered, default=0)
        rows = sorted(self._session.rows(_TAKE, self._mine))
        for start in range(0, len(rows), _PACKED):
            last += 1
            made = _segment_of(rows[start : start + _PACKED])
            self._save(last, made)
            numbered[last] = made.refs
        for bits in ALL_BITS:
            alike = [number for number, refs in numbered.items() if bits_of(len(refs)) == bits]
            if len(alike) >= _MERGED and sum(len(numbered[number]) for number in alike) <= MOST:
                last += 1
                numbered[last] = self._merge(alike, last)
                for number in alike:
                    del numbered[number]
        return True

    def _merge(self, numbers: Sequence[int], into: int) -> Integers:
        bodies: dict[int, dict[int, bytes]] = {number: {} for number in numbers}
        for segment, bucket, body in self._rows(numbers):
            bodies[segment][bucket] = body
        made = _merged([_read(bodies[number]) for number in numbers])
        self._session.execute(_DELETE, (*self._mine, bigints(numbers)))
        self._save(into, made)
        return made.refs

    def _save(self, number: int, segment: _SegmentWords) -> None:
        bodies = {
            REFERENCES: packed_references(segment.refs),
            LENGTHS: packed_lengths(segment.lengths),
            **dict(blocks(segment.postings, bits_of(len(segment.refs)))),
        }
        self._write(number, bodies.items())

    def _write(self, segment: int, bodies: Iterable[tuple[int, bytes]]) -> None:
        rows = sorted(bodies)
        columns = bigints([bucket for bucket, _ in rows]), byteas([body for _, body in rows])
        self._session.insert(_INSERT, (self._kind, segment, *self._session.keys, *columns), len(rows))

    def _rows(self, segments: Sequence[int]) -> list[tuple[Any, ...]]:
        return self._session.rows(_OF_SEGMENTS, (*self._mine, bigints(segments)))

    def _hold(self) -> None:
        """Let nobody else change the segments before the transaction's end."""
        self._session.insert(_HOLD, (self._kind, *self._session.keys), 1)


def take_out_thread(session: PostgresSession, thread: int) -> None:
    """Take all packed documents of a thread out."""
    for (kind,) in session.rows(_KINDS, session.keys):
        segments = Segments(session, kind)
        numbered, _ = segments.numbered()
        refs = np.concatenate([*numbered.values()])
        segments.take_out(refs[refs >> 32 == thread], numbered)


def _segment_of(rows: Sequence[tuple[int, int, bytes, bytes]]) -> _SegmentWords:
    """Return documents' rows, by reference, as a segment."""
    sizes = [len(terms) // 8 for _, _, terms, _ in rows]
    terms = np.frombuffer(b"".join([terms for _, _, terms, _ in rows]), dtype="<u8")
    counts = b"".join([wide_counts(row[3], size) for row, size in zip(rows, sizes, strict=True)])
    places = np.repeat(np.arange(len(rows), dtype=np.uint16), sizes)
    postings = Postings(terms, places, np.frombuffer(counts, dtype="<u2"))
    return _SegmentWords(
        np.array([ref for ref, _, _, _ in rows], dtype=np.int64),
        np.array([length for _, length, _, _ in rows], dtype=np.int32),
        _in_order(postings),
    )


def _read(bodies: Mapping[int, bytes]) -> _SegmentWords:
    refs = references(bodies[REFERENCES])
    read = [postings_of(body) for bucket, body in sorted(bodies.items()) if bucket > LENGTHS]
    return _SegmentWords(refs, lengths_of(bodies[LENGTHS], len(refs)), _joined(read))


def _merged(segments: Sequence[_SegmentWords]) -> _SegmentWords:
    """Return one segment of several, its documents by reference, without those that were taken out."""
    refs = np.concatenate([segment.refs for segment in segments])
    starts = np.cumsum([0, *(len(segment.refs) for segment in segments)])
    order = np.argsort(refs, kind="stable")
    order = order[np.searchsorted(refs[order], 0) :]
    renumbered = np.zeros(len(refs), dtype=np.uint16)
    renumbered[order] = np.arange(len(order), dtype=np.uint16)
    moved = [
        Postings(part.terms, renumbered[start + part.places.astype(np.int64)], part.counts)
        for start, (_, _, part) in zip(starts, segments, strict=False)
    ]
    lengths = np.concatenate([segment.lengths for segment in segments])
    return _SegmentWords(refs[order], lengths[order], _in_order(_joined(moved)))


def _joined(postings: Sequence[Postings]) -> Postings:
    if not postings:
        return Postings(np.empty(0, np.uint64), np.empty(0, np.uint16), np.empty(0, np.uint16))
    return Postings(
        np.concatenate([one.terms for one in postings]),
        np.concatenate([one.places for one in postings]),
        np.concatenate([one.counts for one in postings]),
    )


def _in_order(postings: Postings) -> Postings:
    return postings.at(np.lexsort((postings.places, postings.terms)))

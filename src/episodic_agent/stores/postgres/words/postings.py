"""The words of one transaction's scope: postings read a query at a time, and BM25 over them."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from episodic_agent.protocols import Posting, Refs, Scores, TextStatistics, split_ref
from episodic_agent.stores.faults import reach
from episodic_agent.stores.postgres.server.batches import bigints
from episodic_agent.stores.postgres.server.packing import integers
from episodic_agent.stores.postgres.server.session import OWN_ROW, PostgresSession
from episodic_agent.stores.postgres.words.blocks import (
    ALL_BITS,
    LENGTHS,
    REFERENCES,
    bucket_of,
    find,
    lengths_of,
    references,
)
from episodic_agent.stores.postgres.words.segments import Segments
from episodic_agent.stores.scoring import LongIntegers as Integers
from episodic_agent.stores.scoring import SortedRefs, best, term_scores
from episodic_agent.stores.terms import LARGEST_COUNT, narrow_counts, term_hash, wide_counts

_FRESH: Final = -1
_TOTAL: Final = -2
_MINE: Final = "space = %s AND owner = %s AND kind = %s"
# Blocks of the terms asked for, the documents that are in none, and the totals: one look, one snapshot.
_READ: Final = (
    "SELECT bucket, segment, body, NULL::bytea, 0::bigint FROM posting_block"
    f" WHERE {_MINE} AND bucket = ANY(%s::bigint[])"
    f" UNION ALL SELECT {_FRESH}, ref, terms, counts, length FROM document WHERE {_MINE}"
    f" UNION ALL SELECT {_TOTAL}, coalesce(sum(documents), 0)::bigint, NULL, NULL,"
    f" coalesce(sum(length), 0)::bigint FROM total WHERE {_MINE}"
)
_COUNT: Final = (
    f"SELECT coalesce(sum(documents), 0)::bigint, coalesce(sum(length), 0)::bigint FROM total WHERE {_MINE}"
)
_FRESH_ONES: Final = f"SELECT ref FROM document WHERE {_MINE} AND ref BETWEEN %s AND %s AND length > 0"
_WRITE_DOCUMENTS: Final = (
    "INSERT INTO document (space, owner, kind, ref, length, terms, counts)"
    f' SELECT s.space, s.owner, %s::"char", g.* FROM {OWN_ROW},'
    " unnest(%s::bigint[], %s::integer[], %s::bytea[], %s::bytea[]) AS g"
    " ON CONFLICT DO NOTHING RETURNING ref"
)
_WRITE_TOTALS: Final = (
    "INSERT INTO total (space, owner, kind, thread, documents, length)"
    f' SELECT s.space, s.owner, %s::"char", g.* FROM {OWN_ROW},'
    " unnest(%s::integer[], %s::bigint[], %s::bigint[]) AS g"
    " ON CONFLICT (space, owner, kind, thread) DO UPDATE"
    " SET documents = total.documents + excluded.documents, length = total.length + excluded.length"
)
_DELETE_DOCUMENTS: Final = (
    f"DELETE FROM document WHERE {_MINE} AND ref = ANY(%s::bigint[]) RETURNING ref, length"
)


@lru_cache(maxsize=1 << 17)
def term_number(kind: str, term: str) -> int:
    """Return the 64-bit number that stands for a word of one kind of documents."""
    return int.from_bytes(term_hash(kind + term), "little", signed=True)


class _Held(NamedTuple):
    """One term's postings, in no order."""

    refs: Integers
    lengths: NDArray[np.int32]
    counts: NDArray[np.int32]


class PostgresWords:
    """The words of one kind. What was read stays for the rest of the transaction, until it writes itself."""

    def __init__(self, session: PostgresSession, kind: str) -> None:
        self._session = session
        self._kind = kind
        self._drop()

    def _drop(self) -> None:
        self._documents: int | None = None
        self._length = 0
        self._held: dict[str, _Held] = {}
        self._asked: object = None
        self._answer: tuple[SortedRefs, Scores] = (
            SortedRefs(np.empty(0, dtype=np.int64)),
            np.empty(0, dtype=np.float32),
        )

    # --- reading ----------------------------------------------------------------------------------------

    @property
    def documents(self) -> int:
        """Count the documents."""
        if self._documents is None:
            ((self._documents, self._length),) = self._session.rows(_COUNT, (*self._session.keys, self._kind))
        return self._documents or 0

    def between(self, first: int, last: int) -> Integers:
        """Return the refs, rising, of documents with at least one term between two."""
        rows = self._session.rows(_FRESH_ONES, (*self._session.keys, self._kind, first, last))
        fresh = np.array([ref for (ref,) in rows], dtype=np.int64)
        return np.union1d(fresh, Segments(self._session, self._kind).documents(first, last))

    def statistics(self, terms: Sequence[str]) -> TextStatistics:
        """Return what BM25 needs to know of the documents."""
        self._need(terms)
        documents = self.documents
        average = self._length / documents if documents else 0.0
        return TextStatistics(documents, average, {term: len(self._held[term].refs) for term in terms})

    def best(
        self, weights: Mapping[str, float], limit: int, *, k1: float, b: float, average_length: float
    ) -> tuple[Refs, Scores]:
        """Return the best documents with a score above 0, falling, ties by ref."""
        ordered, scores = self._scores(weights, k1, b, average_length)
        held = np.flatnonzero(scores > 0)
        return best(ordered.refs[held], scores[held], limit)

    def of(
        self, weights: Mapping[str, float], refs: Refs, *, k1: float, b: float, average_length: float
    ) -> Scores:
        """Return the scores of given refs, 0 where no term occurs."""
        ordered, held = self._scores(weights, k1, b, average_length)
        places, there = ordered.find(refs)
        scores: NDArray[np.float32] = np.zeros(len(refs), dtype=np.float32)
        scores[there] = held[places[there]]
        return scores

    def _scores(
        self, weights: Mapping[str, float], k1: float, b: float, average_length: float
    ) -> tuple[SortedRefs, Scores]:
        """Return BM25 of every document that holds one of the terms, by ref."""
        asked = (tuple(weights.items()), k1, b, average_length)
        if asked != self._asked:
            self._need(weights)
            terms = [self._held[term] for term in weights]
            refs = [held.refs for held in terms] or [np.empty(0, dtype=np.int64)]
            ordered = SortedRefs(np.concatenate(refs))
            total = np.zeros(len(ordered.refs))
            for held, weight in zip(terms, weights.values(), strict=True):
                # A term has one posting a document, so plain indexed addition is exact.
                total[ordered.find(held.refs)[0]] += term_scores(
                    weight, held.counts, held.lengths, k1=k1, b=b, average_length=average_length
                )
            self._asked, self._answer = asked, (ordered, total.astype(np.float32))
        return self._answer

    def _need(self, terms: Iterable[str]) -> None:
        missing = [term for term in dict.fromkeys(terms) if term not in self._held]
        if missing:
            self._read(missing)

    def _read(self, terms: Sequence[str]) -> None:
        """Read the postings of terms, and the totals."""
        mine = (*self._session.keys, self._kind)
        numbers = {term: term_number(self._kind, term) for term in terms}
        places = {term: [bucket_of(number, bits) for bits in ALL_BITS] for term, number in numbers.items()}
        buckets = {REFERENCES, LENGTHS, *(bucket for three in places.values() for bucket in three)}
        bodies: dict[int, dict[int, bytes]] = {}
        fresh: list[tuple[int, int, bytes, bytes]] = []
        rows = self._session.rows(_READ, (*mine, bigints(sorted(buckets)), *mine, *mine))
        for bucket, number, body, counts, length in rows:
            if bucket == _TOTAL:
                self._documents, self._length = number, length
            elif bucket == _FRESH:
                fresh.append((number, length, body, counts))
            else:
                bodies.setdefault(number, {})[bucket] = body
        if len(fresh) >= 2 * self._session.fresh:
            self._session.crowded.add(self._kind)
        held = _Fresh(fresh, np.array([*numbers.values()], dtype=np.int64))
        packed = [_Packed(segment) for segment in bodies.values() if REFERENCES in segment]
        for term, number in numbers.items():
            there = [held.find(number)]
            digits = number.to_bytes(8, "little", signed=True)
            there += [match for segment in packed for match in segment.find(digits, places[term])]
            self._held[term] = _Held(*(np.concatenate(columns) for columns in zip(*there, strict=True)))

    # --- writing ----------------------------------------------------------------------------------------

    def put(self, documents: Mapping[int, Posting]) -> None:
        """Index documents by ref; those indexed before are replaced."""
        self._drop()
        self._session.own()
        held = {ref: _Document(self._kind, document) for ref, document in sorted(documents.items())}
        written = self._insert(held)
        gone: dict[int, int] = {}
        if len(written) < len(held):
            replaced = {ref: document for ref, document in held.items() if ref not in written}
            gone = self._delete([*replaced])
            self._insert(replaced)
        reach("mid-postings")
        segments = Segments(self._session, self._kind)
        numbered, fresh = segments.numbered()
        if fresh >= self._session.fresh:
            self._session.crowded.add(self._kind)
        gone |= segments.take_out(np.array([*held], dtype=np.int64), numbered)
        self._count(gone, -1)
        self._count({ref: document.length for ref, document in held.items()}, 1)

    def _insert(self, documents: "Mapping[int, _Document]") -> set[int]:
        """Write the documents' own rows; return those that were not there before."""
        bindings = (
            integers(np.array([*documents], dtype=np.int64)),
            integers(np.array([document.length for document in documents.values()], dtype=np.int32)),
            [document.terms for document in documents.values()],
            [document.counts for document in documents.values()],
        )
        rows = self._session.rows(_WRITE_DOCUMENTS, (self._kind, *self._session.keys, *bindings))
        self._session.expect_scope(len(rows), len(documents))
        return {ref for (ref,) in rows}

    def _delete(self, refs: Sequence[int]) -> dict[int, int]:
        """Delete the documents' own rows; return the length of each that was there."""
        binary = integers(np.array(refs, dtype=np.int64))
        return dict(self._session.rows(_DELETE_DOCUMENTS, (*self._session.keys, self._kind, binary)))

    def drop(self, refs: Sequence[int]) -> None:
        """Take documents out."""
        self._drop()
        gone = self._delete(refs)
        if len(gone) < len(refs):
            segments = Segments(self._session, self._kind)
            gone |= segments.take_out(np.array(refs, dtype=np.int64), segments.numbered()[0])
        self._count(gone, -1)

    def _count(self, lengths: Mapping[int, int], sign: int) -> None:
        """Book documents that came (1) or went (-1), thread by thread, in one order for all writers."""
        booked: dict[int, tuple[int, int]] = {}
        for ref, length in lengths.items():
            thread = split_ref(ref)[0]
            count, total = booked.get(thread, (0, 0))
            booked[thread] = (count + sign, total + sign * length)
        if not booked:
            return
        threads = sorted(booked)
        columns = np.array([booked[thread] for thread in threads], dtype=np.int64)
        bindings = (
            integers(np.array(threads, dtype=np.int32)),
            integers(columns[:, 0]),
            integers(columns[:, 1]),
        )
        self._session.insert(_WRITE_TOTALS, (self._kind, *self._session.keys, *bindings), len(threads))


class _Document:
    """A document on its way in: its length, its terms' hashes and how often each occurs."""

    def __init__(self, kind: str, posting: Posting) -> None:
        self.length = posting.length
        terms = [term_number(kind, term) for term in posting.terms]
        self.terms = np.array(terms, dtype="<i8").tobytes()
        counts = [min(count, LARGEST_COUNT) for count in posting.terms.values()]
        self.counts = narrow_counts(np.array(counts, dtype=np.uint16))


class _Packed:
    """A segment as far as it was read."""

    def __init__(self, bodies: Mapping[int, bytes]) -> None:
        self._bodies = bodies
        self._refs = references(bodies[REFERENCES])
        self._lengths = lengths_of(bodies[LENGTHS], len(self._refs))

    def find(self, term: bytes, buckets: Sequence[int]) -> Iterator[_Held]:
        """Yield the postings of a term."""
        for bucket in buckets:
            if bucket in self._bodies and (match := find(self._bodies[bucket], term)):
                places, counts = match
                yield _Held(self._refs[places], self._lengths[places], counts.astype(np.int32))


class _Fresh:
    """Those documents in no segment that hold a term asked for."""

    def __init__(self, rows: Sequence[tuple[int, int, bytes, bytes]], asked: Integers) -> None:
        sizes = [len(terms) // 8 for _, _, terms, _ in rows]
        self._refs = np.array([ref for ref, _, _, _ in rows], dtype=np.int64)
        self._lengths = np.array([length for _, length, _, _ in rows], dtype=np.int32)
        terms = np.frombuffer(b"".join([terms for _, _, terms, _ in rows]), dtype="<i8")
        counts = b"".join([wide_counts(row[3], size) for row, size in zip(rows, sizes, strict=True)])
        # All terms at once: one comparison for each took as long as the rest of the reading.
        known = np.sort(asked)
        hits = np.flatnonzero(known[np.searchsorted(known, terms).clip(max=len(known) - 1)] == terms)
        hits = hits[np.argsort(terms[hits], kind="stable")]
        self._terms = terms[hits]
        self._counts = np.frombuffer(counts, dtype="<u2")[hits].astype(np.int32)
        self._places = np.repeat(np.arange(len(rows)), sizes)[hits]

    def find(self, term: int) -> _Held:
        """Return the postings of a term."""
        here = slice(self._terms.searchsorted(term), self._terms.searchsorted(term, side="right"))
        places = self._places[here]
        return _Held(self._refs[places], self._lengths[places], self._counts[here])

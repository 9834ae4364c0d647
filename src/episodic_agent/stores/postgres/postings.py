"""The words of one transaction's scope: postings as rows, read a query at a time, and BM25 over them."""

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from episodic_agent.protocols import Posting, Refs, Scores, TextStatistics, split_ref
from episodic_agent.stores.arrays import Integers, SortedRefs, best
from episodic_agent.stores.faults import reach
from episodic_agent.stores.postgres.server.packing import integers, numbers
from episodic_agent.stores.postgres.server.session import OWN_ROW, PostgresSession
from episodic_agent.stores.scoring import term_scores
from episodic_agent.stores.terms import LARGEST_COUNT, term_hash

# One row a term, its postings in arrays, and one for the totals: a row a posting took six times as long.
_READ: Final = (
    "SELECT term, count(*), 0::bigint, array_send(array_agg(ref)), array_send(array_agg(length)),"
    " array_send(array_agg(count)) FROM posting"
    " WHERE space = %s AND owner = %s AND term = ANY(%s::bigint[]) GROUP BY term"
    " UNION ALL SELECT NULL, coalesce(sum(documents), 0)::bigint, coalesce(sum(length), 0)::bigint,"
    " NULL, NULL, NULL FROM total WHERE space = %s AND owner = %s AND kind = %s"
)
_WRITE_DOCUMENTS: Final = (
    "INSERT INTO document (space, owner, kind, ref, length, terms)"
    f' SELECT s.space, s.owner, %s::"char", g.* FROM {OWN_ROW},'
    " unnest(%s::bigint[], %s::integer[], %s::bytea[]) AS g"
    " ON CONFLICT DO NOTHING RETURNING ref"
)
_WRITE_POSTINGS: Final = (
    "INSERT INTO posting (space, owner, term, ref, length, count)"
    f" SELECT s.space, s.owner, g.* FROM {OWN_ROW},"
    " unnest(%s::bigint[], %s::bigint[], %s::integer[], %s::integer[]) AS g"
)
_WRITE_TOTALS: Final = (
    "INSERT INTO total (space, owner, kind, thread, documents, length)"
    f' SELECT s.space, s.owner, %s::"char", g.* FROM {OWN_ROW},'
    " unnest(%s::integer[], %s::bigint[], %s::bigint[]) AS g"
    " ON CONFLICT (space, owner, kind, thread) DO UPDATE"
    " SET documents = total.documents + excluded.documents, length = total.length + excluded.length"
)
_DELETE_DOCUMENTS: Final = (
    "DELETE FROM document WHERE space = %s AND owner = %s AND kind = %s AND ref = ANY(%s::bigint[])"
    " RETURNING ref, length, terms"
)
_DELETE_POSTINGS: Final = (
    "DELETE FROM posting p USING unnest(%s::bigint[], %s::bigint[]) AS g (term, ref)"
    " WHERE p.space = %s AND p.owner = %s AND p.term = g.term AND p.ref = g.ref"
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
            self._read([])
        return self._documents or 0

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
        if missing or self._documents is None:
            self._read(missing)

    def _read(self, terms: Sequence[str]) -> None:
        asked = {term_number(self._kind, term): term for term in terms}
        keys = self._session.keys
        binary = integers(np.array([*asked], dtype=np.int64))
        empty = np.empty(0, dtype=np.int64)
        for term in terms:
            self._held[term] = _Held(empty, empty.astype(np.int32), empty.astype(np.int32))
        for number, count, length, *columns in self._session.rows(_READ, (*keys, binary, *keys, self._kind)):
            if number is None:
                self._documents, self._length = count, length
                continue
            refs, lengths, counts = columns
            self._held[asked[number]] = _Held(numbers(refs), numbers(lengths, "i4"), numbers(counts, "i4"))

    # --- writing ----------------------------------------------------------------------------------------

    def put(self, documents: Mapping[int, Posting]) -> None:
        """Index documents by ref; those indexed before are replaced."""
        self._drop()
        keys = self._session.own()
        held = {ref: _Document(self._kind, document) for ref, document in sorted(documents.items())}
        written = self._insert(held)
        if len(written) < len(held):
            replaced = {ref: document for ref, document in held.items() if ref not in written}
            self.drop([*replaced])
            self._insert(replaced)
        reach("mid-postings")
        columns = _columns(held)
        self._session.insert(_WRITE_POSTINGS, (*keys, *columns), sum(len(d.terms) for d in held.values()))
        self._count(held, 1)

    def _insert(self, documents: "Mapping[int, _Document]") -> set[int]:
        """Write the documents' own rows; return those that were not there before."""
        bindings = (
            integers(np.array([*documents], dtype=np.int64)),
            integers(np.array([document.length for document in documents.values()], dtype=np.int32)),
            [document.terms.tobytes() for document in documents.values()],
        )
        rows = self._session.rows(_WRITE_DOCUMENTS, (self._kind, *self._session.keys, *bindings))
        self._session.expect_scope(len(rows), len(documents))
        return {ref for (ref,) in rows}

    def drop(self, refs: Sequence[int]) -> None:
        """Take documents out."""
        self._drop()
        keys = self._session.keys
        binary = integers(np.array(refs, dtype=np.int64))
        rows = self._session.rows(_DELETE_DOCUMENTS, (*keys, self._kind, binary))
        gone = {ref: _Gone(length, np.frombuffer(terms, dtype="<i8")) for ref, length, terms in rows}
        if not gone:
            return
        terms = np.concatenate([document.terms for document in gone.values()])
        sizes = [len(document.terms) for document in gone.values()]
        of = np.repeat(np.array([*gone], dtype=np.int64), sizes)
        self._session.execute(_DELETE_POSTINGS, (integers(terms), integers(of), *keys))
        self._count(gone, -1)

    def _count(self, documents: "Mapping[int, _Document | _Gone]", sign: int) -> None:
        """Book documents that came (1) or went (-1), thread by thread, in one order for all writers."""
        booked: dict[int, tuple[int, int]] = {}
        for ref, document in documents.items():
            thread = split_ref(ref)[0]
            count, length = booked.get(thread, (0, 0))
            booked[thread] = (count + sign, length + sign * document.length)
        threads = sorted(booked)
        columns = np.array([booked[thread] for thread in threads], dtype=np.int64)
        bindings = (
            integers(np.array(threads, dtype=np.int32)),
            integers(columns[:, 0]),
            integers(columns[:, 1]),
        )
        self._session.insert(_WRITE_TOTALS, (self._kind, *self._session.keys, *bindings), len(threads))


class _Gone(NamedTuple):
    length: int
    terms: NDArray[np.int64]


class _Document:
    """A document on its way in: its terms' numbers and counts."""

    def __init__(self, kind: str, posting: Posting) -> None:
        self.length = posting.length
        self.terms = np.array([term_number(kind, term) for term in posting.terms], dtype="<i8")
        self.counts = np.array([min(n, LARGEST_COUNT) for n in posting.terms.values()], dtype=np.int32)


def _columns(documents: "Mapping[int, _Document]") -> tuple[Any, ...]:
    """Return the postings of documents as columns, in the order of the index: neighbours share its pages."""
    held = [*documents.values()]
    sizes = [len(document.terms) for document in held]
    terms = np.concatenate([document.terms for document in held])
    refs = np.repeat(np.array([*documents], dtype=np.int64), sizes)
    lengths = np.repeat(np.array([document.length for document in held], dtype=np.int32), sizes)
    counts = np.concatenate([document.counts for document in held])
    order = np.lexsort((refs, terms))
    return tuple(integers(column[order]) for column in (terms, refs, lengths, counts))

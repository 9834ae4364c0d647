"""The text and vector index of one transaction, and what ranking reads beside scores: marks, times."""

import struct
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter
from typing import Final

import numpy as np
from numpy.typing import NDArray

from episodic_agent.core.vectors import as_floats, in_halves
from episodic_agent.errors import InvalidInput
from episodic_agent.protocols import (
    LAST_REF,
    Cover,
    EpisodeMark,
    ObservationMark,
    Posting,
    Refs,
    Scores,
    TextStatistics,
)
from episodic_agent.schemas import TimeSource, Vector
from episodic_agent.stores.faults import reach
from episodic_agent.stores.rows import to_json, unique
from episodic_agent.stores.sqlite.episodes import SqliteConditions
from episodic_agent.stores.sqlite.file.session import EACH, SqliteSession, number_list
from episodic_agent.stores.sqlite.streams import (
    WORDS,
    Matrix,
    MatrixView,
    Shelf,
    SketchView,
    SqliteWords,
    StreamRow,
    Streams,
    WordsView,
    stored_rows,
)
from episodic_agent.stores.tables.episodes import MarkTable
from episodic_agent.stores.terms import LARGEST_COUNT, term_hash

_CURRENT: Final = "e.kind = 'event' AND e.generation_to IS NULL"
_MARK: Final = "(e.thread << 32) | e.first_seq, lower(hex(e.id)), e.stability, e.last_reviewed_at"
_OWNER_OF_PLACE: Final = (
    f"SELECT p.value, {_MARK} FROM {EACH} episode e WHERE e.scope = ? AND e.thread = p.value >> 32"
    " AND e.first_seq = (SELECT max(x.first_seq) FROM episode x WHERE x.scope = e.scope"
    " AND x.thread = p.value >> 32 AND x.first_seq <= (p.value & 4294967295)"
    " AND x.kind = 'event' AND x.generation_to IS NULL)"
    f" AND e.last_seq >= (p.value & 4294967295) AND {_CURRENT}"
)
# `p.value` is a pair of refs. The episodes of a span begin with the last one that begins at it or before.
_FROM, _TO = "(p.value ->> 0)", "(p.value ->> 1)"
_OWNERS_OF_SPAN: Final = (
    "SELECT DISTINCT (e.thread << 32) | e.first_seq AS ref, (e.thread << 32) | e.last_seq, lower(hex(e.id))"
    f" FROM {EACH} episode e WHERE e.scope = ? AND e.thread = {_FROM} >> 32"
    " AND e.first_seq >= ifnull((SELECT max(x.first_seq) FROM episode x WHERE x.scope = e.scope"
    f" AND x.thread = {_FROM} >> 32 AND x.first_seq <= ({_FROM} & 4294967295)"
    " AND x.kind = 'event' AND x.generation_to IS NULL), 0)"
    f" AND e.first_seq <= ({_TO} & 4294967295) AND e.last_seq >= ({_FROM} & 4294967295) AND {_CURRENT}"
    " ORDER BY ref"
)
_NO_TIME: Final = np.iinfo(np.int64).min


class SqliteMarks(MarkTable):
    """Marks of observations and episodes."""

    _session: SqliteSession

    def observation_marks(self, refs: Refs) -> Sequence[ObservationMark]:
        """Read the marks of observations in the order of refs; unknown and erased ones are left out."""
        sql = (
            f"SELECT o.ref, lower(hex(o.id)), o.actor, o.at, o.at_source = '{TimeSource.ASSUMED}',"
            f" octet_length(o.text) FROM {EACH} observation o"
            " WHERE o.ref = p.value AND o.scope = ? AND o.erased_at IS NULL"
        )
        rows = self._session.rows(sql, (number_list(refs.tolist()), self._session.number))
        return [ObservationMark._make(columns) for columns in rows]

    def times(self, refs: Refs) -> NDArray[np.int64]:
        """Return event times of observation refs in microseconds since 1970 (missing: minimum int64)."""
        sql = (
            f"SELECT o.ref, o.at FROM {EACH} observation o"
            " WHERE o.ref = p.value AND o.scope = ? AND o.erased_at IS NULL"
        )
        limits: list[int] = refs.tolist()
        rows = self._session.rows(sql, (number_list(limits), self._session.number))
        indexes: dict[int, int] = dict(rows)
        return np.array([indexes.get(ref, _NO_TIME) for ref in limits], dtype=np.int64)

    def _covering(self, refs: Sequence[int] | Refs) -> Mapping[int, EpisodeMark]:
        rows = self._session.rows(_OWNER_OF_PLACE, (number_list(refs), self._session.number))
        return {columns[0]: EpisodeMark._make(columns[1:]) for columns in rows}

    def _marks(self, refs: Sequence[int] | Refs) -> Mapping[int, EpisodeMark]:
        sql = (
            f"SELECT {_MARK} FROM {EACH} episode e WHERE e.scope = ? AND e.thread = p.value >> 32"
            f" AND e.first_seq = (p.value & 4294967295) AND {_CURRENT}"
        )
        rows = self._session.rows(sql, (number_list(refs), self._session.number))
        return {columns[0]: EpisodeMark._make(columns) for columns in rows}

    def _covers(self, spans: Sequence[tuple[int, int]]) -> Sequence[Cover]:
        rows = self._session.rows(_OWNERS_OF_SPAN, (to_json(spans), self._session.number))
        return [Cover._make(columns) for columns in rows]


@dataclass(frozen=True, slots=True)
class Shelves:
    """The copies of index rows all transactions of a process share."""

    words: Shelf[SqliteWords]
    matrices: Shelf[Matrix]

    @classmethod
    def with_budget(cls, budget: int) -> "Shelves":
        """Share out a budget in bytes: words need about a tenth of what vectors need."""
        return cls(Shelf(SqliteWords, budget // 8), Shelf(Matrix, budget - budget // 8))


class SqliteIndex(SqliteConditions, SqliteMarks):
    """The `Index` of one transaction."""

    _session: SqliteSession

    def __init__(self, session: SqliteSession, shelves: Shelves) -> None:
        super().__init__(session)
        self._shelves = shelves
        self._streams = Streams(session)
        self._words_views: dict[str, WordsView] = {}
        self._matrix_views: dict[tuple[str, str], MatrixView | SketchView] = {}

    # --- writing ----------------------------------------------------------------------------------------

    def put_postings(self, kind: str, postings: Sequence[Posting]) -> None:
        """Index documents' words; a document indexed before is replaced."""
        latest = {int(posting.ref): posting for posting in postings}
        if not latest:
            return
        stream = self._streams.open(kind, WORDS, 0)
        removed = self._take_away("document", stream, latest)
        n = self._streams.grow(kind, WORDS, added=len(latest), removed=removed)
        columns = [
            (place, stream.number, posting.ref, posting.length, *_packed(posting.terms))
            for place, posting in enumerate(latest.values(), n)
        ]
        sql = "INSERT INTO document (n, stream, ref, length, terms, counts) VALUES (?, ?, ?, ?, ?, ?)"
        middle = len(columns) // 2
        self._session.db.executemany(sql, columns[:middle])
        reach("mid-postings")
        self._session.db.executemany(sql, columns[middle:])
        self._words_views.pop(kind, None)

    def put_vectors(self, kind: str, embedder: str, refs: Sequence[int], vectors: Vector) -> None:
        """Index vectors [n, d]; a ref may come several times (chunks of one text), replaced as a whole.

        Raises InvalidInput for another number of dimensions than the embedder's earlier vectors, or NaN.
        """
        if not len(refs):
            return
        rows = np.asarray(vectors, dtype=np.float32)
        if embedder == WORDS or rows.ndim != 2 or len(rows) != len(refs) or not np.isfinite(rows).all():
            raise InvalidInput(f"vectors must be finite, [{len(refs)}, d], with a name; got {rows.shape}")
        stream = self._streams.open(kind, embedder, rows.shape[1])
        if stream.width != rows.shape[1]:
            raise InvalidInput(
                f"{embedder} gave {stream.width} dimensions before, now {rows.shape[1]}; "
                f"serve the model it was, or name this one otherwise"
            )
        numbers = [int(ref) for ref in refs]
        removed = self._take_away("vector", stream, unique(numbers))
        n = self._streams.grow(kind, embedder, added=len(numbers), removed=removed)
        chunks: dict[int, int] = {}
        halves = in_halves(rows).astype("<f2", copy=False)
        columns = []
        for place, ref in enumerate(numbers):
            chunk = chunks.get(ref, 0)
            chunks[ref] = chunk + 1
            columns.append((n + place, stream.number, ref, chunk, halves[place].tobytes()))
        sql = "INSERT INTO vector (n, stream, ref, chunk, half) VALUES (?, ?, ?, ?, ?)"
        middle = len(columns) // 2
        self._session.db.executemany(sql, columns[:middle])
        reach("mid-vectors")
        self._session.db.executemany(sql, columns[middle:])
        self._matrix_views.pop((kind, embedder), None)

    def drop(self, kind: str, refs: Sequence[int]) -> None:
        """Take documents out of the index: their words and the vectors of every embedder."""
        self._session.must_write()
        for embedder, stream in self._streams.of_kind(kind):
            table = "document" if embedder == WORDS else "vector"
            removed = self._take_away(table, stream, unique(map(int, refs)))
            if removed:
                self._streams.grow(kind, embedder, added=0, removed=removed)
                self._words_views.pop(kind, None)
                self._matrix_views.pop((kind, embedder), None)

    def _take_away(self, table: str, stream: StreamRow, refs: Iterable[int]) -> int:
        """Delete the rows of refs and return how many there were."""
        sql = f"DELETE FROM {table} WHERE stream = ? AND ref IN (SELECT value FROM json_each(?))"
        self._session.db.execute(sql, (stream.number, number_list(refs)))
        return self._session.db.changes()

    # --- words ------------------------------------------------------------------------------------------

    def statistics(self, kind: str, terms: Sequence[str]) -> TextStatistics:
        """Return what BM25 needs of the scope's documents of a kind."""
        words = self._words(kind)
        if words is None:
            return TextStatistics(0, 0.0, dict.fromkeys(terms, 0))
        return TextStatistics(words.documents, words.average_length, words.frequencies(terms))

    def text_scores(
        self,
        kind: str,
        weights: Mapping[str, float],
        refs: Refs | None = None,
        *,
        k1: float,
        b: float,
        average_length: float,
        limit: int = 0,
    ) -> tuple[Refs, Scores]:
        """Score by BM25 the best `limit` above 0, falling, ties by ref; or just these refs, in order."""
        words = self._words(kind)
        if refs is not None:
            targets = np.asarray(refs, dtype=np.int64)
            if words is None:
                return targets, np.zeros(len(targets), dtype=np.float32)
            return targets, words.of(weights, targets, k1, b, average_length)
        if words is None:
            return np.empty(0, dtype=np.int64), np.empty(0, dtype=np.float32)
        return words.best(weights, k1, b, average_length, limit)

    def _words(self, kind: str) -> WordsView | None:
        stream = self._streams.find(kind, WORDS)
        if stream is None:
            return None
        if kind not in self._words_views:
            private = stream.number in self._streams.written
            copy = self._shelves.words.copy_of(self._session.db, stream, private=private)
            self._words_views[kind] = copy.view(stream.last)
        return self._words_views[kind]

    # --- vectors ----------------------------------------------------------------------------------------

    def vector_scores(
        self, kind: str, embedder: str, query: Vector, refs: Refs | None = None, *, limit: int = 0
    ) -> tuple[Refs, Scores]:
        """Score by cosine (best chunk) the best `limit`, falling, ties by ref; or just these, in order."""
        matrix = self._matrix(kind, embedder, query)
        if refs is not None:
            targets = np.asarray(refs, dtype=np.int64)
            if matrix is None:
                return targets, np.full(len(targets), np.nan, dtype=np.float32)
            return targets, matrix.of(query, targets)
        if matrix is None:
            return np.empty(0, dtype=np.int64), np.empty(0, dtype=np.float32)
        return matrix.best(query, limit)

    def _matrix(self, kind: str, embedder: str, query: Vector) -> MatrixView | SketchView | None:
        stream = self._streams.find(kind, embedder)
        if stream is None or embedder == WORDS:
            return None
        if np.size(query) != stream.width:
            raise InvalidInput(
                f"{embedder} has {stream.width} dimensions, the query {np.size(query)}; "
                f"serve the model it was, or name this one otherwise"
            )
        key = (kind, embedder)
        if key not in self._matrix_views:
            private = stream.number in self._streams.written
            copy = self._shelves.matrices.copy_of(self._session.db, stream, private=private)
            self._matrix_views[key] = copy.view(stream.last, stored_rows(self._session.db, stream))
        return self._matrix_views[key]

    def vectors(
        self, kind: str, embedder: str, refs: Sequence[int], *, every: bool = False
    ) -> Mapping[int, Vector]:
        """Read the first vector (chunk 0) of each ref that has one; with `every` all its chunks, [n, d]."""
        stream = self._streams.find(kind, embedder)
        if stream is None:
            return {}
        view = self._matrix_views.get((kind, embedder))
        if view is not None:
            return view.all_rows(refs) if every else view.first_rows(refs)
        sql = f"SELECT v.ref, v.half FROM {EACH} vector v WHERE v.stream = ? AND v.ref = p.value"
        rows = self._session.rows(
            f"{sql} ORDER BY v.ref, v.chunk" if every else f"{sql} AND v.chunk = 0",
            (number_list(refs), stream.number),
        )
        results = [(ref, as_floats(np.frombuffer(half, dtype="<f2"))) for ref, half in rows]
        if not every:
            return dict(results)
        return {ref: np.stack([v for _, v in same]) for ref, same in groupby(results, key=itemgetter(0))}

    def unindexed(
        self, kind: str, embedder: str, *, limit: int, first_ref: int = 0, last_ref: int = LAST_REF
    ) -> Sequence[int]:
        """Return refs, rising, of documents with at least one term but no vector of this embedder."""
        words = self._streams.find(kind, WORDS)
        if words is None:
            return []
        vectors = self._streams.find(kind, embedder)
        sql = (
            "SELECT ref FROM document d WHERE stream = ? AND ref BETWEEN ? AND ? AND length > 0"
            " AND NOT EXISTS (SELECT 1 FROM vector v WHERE v.stream = ? AND v.ref = d.ref)"
            " ORDER BY ref LIMIT ?"
        )
        number = -1 if vectors is None else vectors.number
        return [ref for (ref,) in self._session.rows(sql, (words.number, first_ref, last_ref, number, limit))]


def _packed(terms: Mapping[str, int]) -> tuple[bytes, bytes]:
    """Return a document's term hashes and counts as `wide_counts` reads them."""
    counts = [min(count, LARGEST_COUNT) for count in terms.values()]
    largest = max(counts, default=1)
    packed = b"" if largest == 1 else struct.pack(f"<{len(counts)}{'B' if largest < 256 else 'H'}", *counts)
    return b"".join(map(term_hash, terms)), packed

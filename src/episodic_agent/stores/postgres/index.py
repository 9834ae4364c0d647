"""The text and vector index of one transaction, and what ranking reads beside scores: marks, times."""

from collections.abc import Mapping, Sequence
from typing import Final
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from episodic_agent.errors import Conflict, InvalidInput
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
from episodic_agent.stores.postgres.metadata import PostgresConditions
from episodic_agent.stores.postgres.server.batches import bigints, read_columns
from episodic_agent.stores.postgres.server.large import EFFORT, LARGE, has_index
from episodic_agent.stores.postgres.server.packing import integers, numbers
from episodic_agent.stores.postgres.server.session import Connection, PostgresSession
from episodic_agent.stores.postgres.vectors import Vectors, delete
from episodic_agent.stores.postgres.words.postings import PostgresWords
from episodic_agent.stores.tables.episodes import MarkTable

_OWN: Final = "e.space = %s AND e.owner = %s"
_CURRENT: Final = "e.kind = 'event' AND e.generation_to IS NULL"
_REF: Final = "((e.thread::bigint << 32) | e.first_seq)"
_MARK: Final = f"{_REF} AS ref, encode(e.id, 'hex') AS name, e.stability, e.last_reviewed_at"
# One look-up for each place: joined as sets, all episodes of the scope were read.
_AT_PLACES: Final = (
    " FROM unnest(%s::bigint[]) AS p (ref) CROSS JOIN LATERAL (SELECT * FROM episode e"
    f" WHERE {_OWN} AND e.thread = (p.ref >> 32)::integer AND e.first_seq = p.ref & 4294967295"
    f" AND {_CURRENT} OFFSET 0) e"
)
_OWNER_OF_PLACE: Final = (
    "SELECT p.ref, m.ref, m.name, m.stability, m.last_reviewed_at FROM unnest(%s::bigint[]) AS p (ref)"
    f" CROSS JOIN LATERAL (SELECT {_MARK}, e.last_seq FROM episode e"
    f" WHERE {_OWN} AND e.thread = (p.ref >> 32)::integer AND e.first_seq <= p.ref & 4294967295"
    f" AND {_CURRENT} ORDER BY e.first_seq DESC LIMIT 1) m WHERE m.last_seq >= p.ref & 4294967295"
)
# The last episode that begins at a span's first ref or before it, and those that begin inside: two look-ups.
# In order, so that the index in that order is taken; without statistics another one looks as good.
_SPAN: Final = (
    f"SELECT e.thread, e.first_seq, e.last_seq, e.id FROM episode e WHERE {_OWN}"
    f" AND e.thread = (p.first >> 32)::integer AND {_CURRENT}"
)
_OWNERS_OF_SPAN: Final = (
    f"SELECT DISTINCT {_REF} AS ref, (e.thread::bigint << 32) | e.last_seq, encode(e.id, 'hex')"
    " FROM unnest(%s::bigint[], %s::bigint[]) AS p (first, last) CROSS JOIN LATERAL ("
    f"(SELECT * FROM ({_SPAN} AND e.first_seq <= p.first & 4294967295 ORDER BY e.first_seq DESC LIMIT 1) b"
    " WHERE b.last_seq >= p.first & 4294967295)"
    f" UNION ALL ({_SPAN} AND e.first_seq > p.first & 4294967295"
    " AND e.first_seq <= p.last & 4294967295 ORDER BY e.first_seq OFFSET 0)) e ORDER BY ref"
)
_NO_TIME: Final = np.iinfo(np.int64).min


class PostgresMarks(MarkTable):
    """Marks of observations and episodes."""

    _session: PostgresSession

    def observation_marks(self, refs: Refs) -> Sequence[ObservationMark]:
        sql = (
            f"SELECT ref, encode(id, 'hex'), actor, at, at_source = '{TimeSource.ASSUMED}',"
            " octet_length(replace(text, chr(26), '')) FROM observation"  # without `to_stored`'s escapes
            " WHERE space = %s AND owner = %s AND ref = ANY(%s::bigint[]) AND erased_at IS NULL"
        )
        limits: list[int] = refs.tolist()
        rows = self._session.rows(sql, (*self._session.keys, bigints(refs)))
        marks = {columns[0]: ObservationMark._make(read_columns(columns)) for columns in rows}
        return [marks[ref] for ref in limits if ref in marks]

    def times(self, refs: Refs) -> NDArray[np.int64]:
        sql = (
            "SELECT ref, at FROM observation"
            " WHERE space = %s AND owner = %s AND ref = ANY(%s::bigint[]) AND erased_at IS NULL"
        )
        limits: list[int] = refs.tolist()
        indexes: dict[int, int] = dict(self._session.rows(sql, (*self._session.keys, bigints(refs))))
        return np.array([indexes.get(ref, _NO_TIME) for ref in limits], dtype=np.int64)

    def _covering(self, refs: Sequence[int] | Refs) -> Mapping[int, EpisodeMark]:
        rows = self._session.rows(_OWNER_OF_PLACE, (bigints(refs), *self._session.keys))
        return {columns[0]: EpisodeMark._make(columns[1:]) for columns in rows}

    def _marks(self, refs: Sequence[int] | Refs) -> Mapping[int, EpisodeMark]:
        sql = f"SELECT {_MARK}{_AT_PLACES}"
        rows = self._session.rows(sql, (bigints(refs), *self._session.keys))
        read = {columns[0]: EpisodeMark._make(columns) for columns in rows}
        return {ref: read[ref] for ref in map(int, refs) if ref in read}

    def _covers(self, spans: Sequence[tuple[int, int]]) -> Sequence[Cover]:
        ends = [bigints([span[end] for span in spans]) for end in (0, 1)]
        keys = self._session.keys
        rows = self._session.rows(_OWNERS_OF_SPAN, (*ends, *keys, *keys))
        return [Cover._make(columns) for columns in rows]


_TRIES: Final = 20
_READ: Final = "SELECT width, number FROM embedder WHERE name = %s"
# Where somebody else has just taken the number nothing is written, and the next try sees theirs.
_WRITE: Final = (
    "INSERT INTO embedder (number, name, width)"
    " SELECT coalesce(max(number), 0) + 1, %s, %s FROM embedder ON CONFLICT DO NOTHING"
)

# What one connection has read of its database and will not change any more. Filled from committed rows only.
_known: WeakKeyDictionary[Connection, dict[str, dict[int, int]]] = WeakKeyDictionary()


class Embedders:
    """The embedders as one transaction sees them."""

    def __init__(self, session: PostgresSession) -> None:
        self._session = session
        self._made: dict[str, dict[int, int]] = {}

    def of(self, name: str, *, fresh: bool = False) -> Mapping[int, int]:
        """Return width -> number of an embedder, {} of an unknown one; `fresh` reads the known ones again."""
        if name in self._made:
            return self._made[name]
        known = _known.setdefault(self._session.db, {})
        if fresh or name not in known:
            results = dict(self._session.rows(_READ, (name,)))
            if not results:
                return {}
            known[name] = results
        return known[name]

    def number(self, name: str, width: int) -> int:
        """Return the number of a name and width, given now if it is the first time; Conflict in a crowd."""
        for _ in range(_TRIES):
            indexes = self._made.get(name) or self.of(name, fresh=True)
            if width in indexes:
                return indexes[width]
            if self._session.execute(_WRITE, (name, width)):
                # Ours alone until the end: it may be rolled back.
                self._made[name] = dict(self._session.rows(_READ, (name,)))
        raise Conflict(f"too many embedders were named at once; add with {name!r} again")

    def all(self) -> list[int]:
        """Return the numbers of all embedders."""
        return [number for (number,) in self._session.rows("SELECT number FROM embedder")]


_OF_KIND: Final = (
    "space = %s AND owner = %s AND embedder = ANY(%s::smallint[]) AND kind = %s AND ref BETWEEN %s AND %s"
)
_INDEXED: Final = (
    f"SELECT array_send(array_agg(ref)) FROM (SELECT ref FROM coarse WHERE {_OF_KIND}"
    f" UNION ALL SELECT ref FROM coarse_packed WHERE {_OF_KIND}) AS r"
)


class PostgresIndex(PostgresConditions, PostgresMarks):
    """The `Index` of one transaction. Scopes of `large` documents use an HNSW index where they have one."""

    _session: PostgresSession

    def __init__(self, session: PostgresSession, *, large: int = LARGE) -> None:
        super().__init__(session)
        self._large = large
        self._embedders = Embedders(session)
        self._words: dict[str, PostgresWords] = {}
        self._vectors: dict[tuple[str, int], Vectors] = {}

    # --- writing ----------------------------------------------------------------------------------------

    def put_postings(self, kind: str, postings: Sequence[Posting]) -> None:
        latest = {int(posting.ref): posting for posting in postings}
        if latest:
            self._words_of(kind).put(latest)

    def put_vectors(self, kind: str, embedder: str, refs: Sequence[int], vectors: Vector) -> None:
        """Index vectors [n, d]; a ref may come several times (chunks of one text), replaced as a whole.

        Raises InvalidInput for another number of dimensions than the embedder's earlier vectors, or NaN.
        """
        if not len(refs):
            return
        rows = np.asarray(vectors, dtype=np.float32)
        if not embedder or rows.ndim != 2 or len(rows) != len(refs) or not np.isfinite(rows).all():
            raise InvalidInput(f"vectors must be finite, [{len(refs)}, d], with a name; got {rows.shape}")
        self._session.own()
        width = rows.shape[1]
        if width not in self._embedders.of(embedder):
            self._refuse_another_width(kind, embedder, width)
        number = self._embedders.of(embedder).get(width) or self._embedders.number(embedder, width)
        self._vectors.pop((kind, number), None)
        Vectors(self._session, kind, number, width).put(np.array(refs, dtype=np.int64), rows)

    def drop(self, kind: str, refs: Sequence[int]) -> None:
        """Take documents out of the index: their words and the vectors of every embedder."""
        self._session.must_write()
        targets = np.unique(np.array(refs, dtype=np.int64))
        self._words_of(kind).drop(targets.tolist())
        delete(self._session, kind, targets, self._embedders.all())
        self._vectors = {key: vectors for key, vectors in self._vectors.items() if key[0] != kind}

    # --- words ------------------------------------------------------------------------------------------

    def statistics(self, kind: str, terms: Sequence[str]) -> TextStatistics:
        """Return what BM25 needs of the scope's documents of a kind."""
        return self._words_of(kind).statistics(terms)

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
        words = self._words_of(kind)
        if refs is not None:
            targets = np.asarray(refs, dtype=np.int64)
            return targets, words.of(weights, targets, k1=k1, b=b, average_length=average_length)
        return words.best(weights, limit, k1=k1, b=b, average_length=average_length)

    def _words_of(self, kind: str) -> PostgresWords:
        if kind not in self._words:
            self._words[kind] = PostgresWords(self._session, kind)
        return self._words[kind]

    # --- vectors ----------------------------------------------------------------------------------------

    def vector_scores(
        self, kind: str, embedder: str, query: Vector, refs: Refs | None = None, *, limit: int = 0
    ) -> tuple[Refs, Scores]:
        if refs is not None:
            targets = np.asarray(refs, dtype=np.int64)
            return targets, self._cosines(kind, embedder, query, targets)
        number = self._number(kind, embedder, query)
        if number is None:
            return np.empty(0, dtype=np.int64), np.empty(0, dtype=np.float32)
        vectors = self._vectors_of(kind, number, np.size(query))
        documents = self._words_of(kind).documents
        if documents >= self._large and has_index(self._session, kind, number):
            return vectors.likely(query, limit, max(EFFORT, 2 * limit))
        refs, scores = vectors.best(query, limit, documents=documents)
        if not len(refs) and limit > 0:
            self._refuse_another_width(kind, embedder, np.size(query))
        return refs, scores

    def _cosines(self, kind: str, embedder: str, query: Vector, target: Refs) -> Scores:
        number = self._number(kind, embedder, query)
        if number is None:
            return np.full(len(target), np.nan, dtype=np.float32)
        scores = self._vectors_of(kind, number, np.size(query)).of(query, target)
        if len(scores) and np.isnan(scores).all():
            self._refuse_another_width(kind, embedder, np.size(query))
        return scores

    def vectors(
        self, kind: str, embedder: str, refs: Sequence[int], *, every: bool = False
    ) -> Mapping[int, Vector]:
        results: dict[int, Vector] = {}
        for width, number in self._embedders.of(embedder).items():
            stored = self._vectors_of(kind, number, width)
            results |= stored.all_rows(refs) if every else stored.first_rows(refs)
        return results

    def unindexed(
        self, kind: str, embedder: str, *, limit: int, first_ref: int = 0, last_ref: int = LAST_REF
    ) -> Sequence[int]:
        """Return refs, rising, of documents with at least one term but no vector of this embedder."""
        own = integers(np.array([*self._embedders.of(embedder).values()], dtype=np.int16))
        documents = self._words_of(kind).between(first_ref, last_ref)
        if not len(documents):
            return []
        bindings = (*self._session.keys, own, kind, int(documents[0]), int(documents[-1]))
        ((sent,),) = self._session.rows(_INDEXED, (*bindings, *bindings))
        missing: list[int] = np.setdiff1d(documents, numbers(sent))[:limit].tolist()
        return missing

    def _vectors_of(self, kind: str, number: int, width: int) -> Vectors:
        if (kind, number) not in self._vectors:
            self._vectors[kind, number] = Vectors(self._session, kind, number, width)
        return self._vectors[kind, number]

    def _number(self, kind: str, embedder: str, query: Vector) -> int | None:
        """Return the embedder's number; InvalidInput when its vectors here have another width."""
        index = self._embedders.of(embedder).get(np.size(query))
        if index is None:
            self._refuse_another_width(kind, embedder, np.size(query))
            index = self._embedders.of(embedder).get(np.size(query))
        return index

    def _refuse_another_width(self, kind: str, embedder: str, width: int) -> None:
        for other, number in self._embedders.of(embedder, fresh=True).items():
            if other != width and self._vectors_of(kind, number, other).exist():
                raise InvalidInput(
                    f"{embedder} has {other} dimensions here, not {width}; use its own vectors"
                )

"""The vectors of one transaction's scope: candidates by the server, scores from their rows, here.

They are unit vectors as halfvec, 2 bytes a number: in `coarse` those that came last, in `coarse_packed` all
others, a scope's side by side, so that a scan reads few pages. The server compares them with a query in half
precision, and takes them for as long as a unit; what it proposes is scored here, with the query as it is. By
how much the two can differ has a bound, so the answer is provably that of all rows.
"""

from collections.abc import Sequence
from typing import Any, Final
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from episodic_agent.core.vectors import Halves, as_floats, in_halves, length_error, scales
from episodic_agent.protocols import Refs, Scores
from episodic_agent.schemas import Vector
from episodic_agent.stores.faults import reach
from episodic_agent.stores.postgres.server.packing import (
    half_vector,
    half_vectors,
    halves_sent,
    integers,
    numbers,
)
from episodic_agent.stores.postgres.server.session import OWN_ROW, Connection, PostgresSession
from episodic_agent.stores.scoring import LongIntegers as Integers
from episodic_agent.stores.scoring import SortedRefs, best, best_of_each, products, unit

_SPARE: Final = 32
_FEW: Final = 400  # documents whose rows are all read rather than searched
_BATCH: Final = 4096  # rows read at once
_TOGETHER: Final = 64  # rows that lie side by side as they come
_WIDEST_SEARCH: Final = 1000  # what hnsw.ef_search may be at most

_KEYS: Final = "space = %s AND owner = %s AND embedder = %s AND kind = %s"
_FRESH: Final = f"SELECT ref, chunk, v FROM coarse WHERE {_KEYS}"
_PACKED: Final = f"SELECT ref, chunk, v FROM coarse_packed WHERE {_KEYS}"
_ROWS: Final = f"({_FRESH} UNION ALL {_PACKED}) AS r"
_WRITE: Final = (
    "INSERT INTO {} (space, owner, embedder, kind, ref, chunk, v)"
    ' SELECT s.space, s.owner, %s::smallint, %s::"char", g.*'
    f" FROM {OWN_ROW},"
    " unnest(%s::bigint[], %s::smallint[], %s::halfvec[]) AS g ON CONFLICT DO NOTHING"
)
_TAKE: Final = (
    "DELETE FROM coarse WHERE space = %s AND owner = %s AND kind = %s"
    " RETURNING embedder, ref, chunk, halfvec_send(v)"
)
_PACK: Final = _WRITE.format("coarse_packed").removesuffix(" ON CONFLICT DO NOTHING")
# Plain rows: one field of a megabyte, put together on the server, took twice as long to arrive.
_READ: Final = f"SELECT ref, chunk, halfvec_send(v) FROM {_ROWS}"
_THESE: Final = " WHERE ref = ANY(%s::bigint[])"
# How many rows are proposed and how far the farthest is; then all rows of every ref one of whose rows is.
_PROPOSE: Final = (
    "WITH c AS MATERIALIZED ({proposed})"
    " SELECT (SELECT count(*) FROM c), NULL, (SELECT float8send(max(far)) FROM c)"
    f" UNION ALL {_READ} WHERE ref IN (SELECT ref FROM c)"
)
_FIRST: Final = (
    f"SELECT array_send(array_agg(ref)) FROM (SELECT DISTINCT ref FROM {_ROWS} ORDER BY ref LIMIT %s) AS f"
)
# SET LOCAL, not set_config: the nodes of a cluster hear of one and not of the other, and would look less far.
_SEARCH_WIDELY: Final = "SET LOCAL hnsw.ef_search = {}"
_SEARCH_ON: Final = "SET LOCAL hnsw.iterative_scan = relaxed_order"
_DISTANCE: Final = "v <#> %s::halfvec"
_HALF_TYPE: WeakKeyDictionary[Connection, int] = WeakKeyDictionary()


def rounding_bound(query: Vector, rounded: Halves) -> float:
    """Return by how much the server's score may miss the cosine of a unit query with any row.

    Rows: what their rounding did to their length, which a cosine is divided by. The query: what its rounding
    really took. All sums in float32: 2^-24 a term, generously.

    >>> rounding_bound(np.array([1.0, 0.0]), np.array([1.0, 0.0], dtype=np.float16)) < 5e-4
    True
    """
    dimensions = len(query)
    missed = float(np.linalg.norm(query.astype(np.float64) - rounded.astype(np.float64)))
    return float(1.001 * (length_error(dimensions) + missed) + (3 * dimensions + 24) * 2.0**-24)


class Vectors:
    """The vectors of one (kind, embedder). Rows read once stay for the rest of the transaction."""

    def __init__(self, session: PostgresSession, kind: str, number: int, width: int) -> None:
        self._session = session
        self._keys = (*session.keys, number, kind)
        self._known: Integers = np.empty(0, dtype=np.int64)  # refs asked for, rising
        self._refs: Integers = np.empty(0, dtype=np.int64)
        self._complete = False  # every row is held
        self._rows: Vector | None = None
        self._ordered = SortedRefs(self._refs)
        self._asked: bytes | None = None
        self._answer: Scores = np.empty(0, dtype=np.float32)

    # --- reading ----------------------------------------------------------------------------------------

    def best(self, query: Vector, limit: int, *, documents: int) -> tuple[Refs, Scores]:
        """Return the best refs by cosine (best row counts), falling, ties by ref: of all rows, exactly.

        `documents` is about how many there are: of few all rows are read, and nothing after that.
        """
        targets = unit(query)
        if self._complete or 0 < documents <= _FEW:
            self._need_all()
            return best(self._ordered.refs, self._cosines(targets), limit)
        if limit <= 0 or not targets.any():
            return self._first(limit)
        rounded = targets.astype(np.float16)
        asked, bound = limit + max(limit // 2, _SPARE), rounding_bound(targets, rounded)
        while True:
            count, far = self._propose(rounded, f"ORDER BY far LIMIT {asked}", ())
            refs, scores = best(self._ordered.refs, self._cosines(targets), limit)
            if count < asked:
                return refs, scores
            if len(refs) == limit:
                break
            asked *= 4  # several rows a ref
        worst = float(scores[-1])
        if bound - far < worst:
            return refs, scores
        # Whoever could still be among the best is at least this near.
        self._propose(rounded, f"WHERE {_DISTANCE} <= %s", (half_vector(rounded), bound - worst))
        return best(self._ordered.refs, self._cosines(targets), limit)

    def likely(self, query: Vector, limit: int, effort: int) -> tuple[Refs, Scores]:
        """Return the best of what the scope's HNSW index proposes: `effort` rows, scored exactly."""
        targets = unit(query)
        if limit <= 0 or not targets.any():
            return self._first(limit)
        self._session.execute(_SEARCH_WIDELY.format(min(effort, _WIDEST_SEARCH)))
        self._session.execute(_SEARCH_ON)
        width, vector = f"halfvec({len(targets)})", half_vector(targets.astype(np.float16))
        space, owner, number, kind = self._keys
        # Written out, as the index's own condition is: a parameter could be anybody's.
        mine = f"space = {space} AND owner = {owner} AND embedder = {number} AND kind = '{kind}'"
        far = f"SELECT ref, v::{width} <#> %s::{width} AS far FROM"
        proposed = (
            f"{far} coarse WHERE {mine} UNION ALL"
            f" ({far} coarse_packed WHERE {mine} ORDER BY far LIMIT {max(limit, effort)})"
        )
        sql = _PROPOSE.format(proposed=proposed).replace(_KEYS, mine)
        self._hold(self._session.rows(sql, (vector, vector))[1:])
        return best(self._ordered.refs, self._cosines(targets), limit)

    def of(self, query: Vector, refs: Refs) -> Scores:
        """Return cosines of given refs (best row), NaN where there is none."""
        targets, distinct = unit(query), np.unique(refs)
        if len(distinct) > _BATCH and not self._complete:
            return self._of_many(targets, refs, distinct)
        self._need(distinct)
        return _scores_found(refs, self._ordered, self._cosines(targets))

    def _of_many(self, vector: Vector, refs: Refs, distinct: Integers) -> Scores:
        """Score a whole filter's worth, batch by batch, and keep none of it."""
        scores: NDArray[np.float32] = np.full(len(refs), np.nan, dtype=np.float32)
        for start in range(0, len(distinct), _BATCH):
            batch = distinct[start : start + _BATCH]
            results, rows = self._read(batch)
            if not len(results):
                continue
            ordered = SortedRefs(results)
            cosines = best_of_each(products(rows, vector) * scales(rows), ordered)
            there = np.flatnonzero((refs >= batch[0]) & (refs <= batch[-1]))
            scores[there] = _scores_found(refs[there], ordered, cosines)
        return scores

    def first_rows(self, refs: Sequence[int]) -> dict[int, Vector]:
        """Return the first row of each ref that has one."""
        targets = np.unique(np.array(refs, dtype=np.int64))
        self._need(targets)
        places, there = self._ordered.find(targets)
        if self._rows is None:
            return {}
        rows = self._ordered.order[self._ordered.starts[places[there]]].tolist()
        return {ref: self._rows[row].copy() for ref, row in zip(targets[there].tolist(), rows, strict=True)}

    def all_rows(self, refs: Sequence[int]) -> dict[int, Vector]:
        """Return all rows of each ref that has any, [n, d], in the order of their chunks."""
        targets = np.unique(np.array(refs, dtype=np.int64))
        self._need(targets)
        places, there = self._ordered.find(targets)
        if self._rows is None:
            return {}
        return {
            ref: self._rows[self._ordered.rows(place)]
            for ref, place in zip(targets[there].tolist(), places[there].tolist(), strict=True)
        }

    def exist(self) -> bool:
        """Tell whether there is any."""
        return bool(self._session.rows(f"SELECT 1 FROM {_ROWS} LIMIT 1", (*self._keys, *self._keys)))

    def _propose(self, query: Halves, chosen: str, bindings: tuple[Any, ...]) -> tuple[int, float]:
        """Read the rows of the refs chosen; return how many were, and the distance of the farthest."""
        keys = (*self._keys, *self._keys)
        proposed = f"SELECT ref, {_DISTANCE} AS far FROM {_ROWS} {chosen}"
        sql = _PROPOSE.format(proposed=proposed)
        (count, _, far), *results = self._session.rows(sql, (half_vector(query), *keys, *bindings, *keys))
        self._hold(results)
        return count, 0.0 if far is None else float(np.frombuffer(far, dtype=">f8")[0])

    def _first(self, limit: int) -> tuple[Refs, Scores]:
        """Return the first refs: a zero query is unlike them all."""
        refs = np.sort(numbers(self._session.rows(_FIRST, (*self._keys, *self._keys, max(limit, 0)))[0][0]))
        return refs, np.zeros(len(refs), dtype=np.float32)

    def _need(self, refs: Integers) -> None:
        if self._complete:
            return
        missing = np.setdiff1d(refs, self._known, assume_unique=True)
        for start in range(0, len(missing), _BATCH):
            batch = missing[start : start + _BATCH]
            self._keep(*self._read(batch))
            self._known = np.union1d(self._known, batch)

    def _read(self, refs: Integers) -> tuple[Integers, Vector]:
        return _unpacked(self._session.rows(_READ + _THESE, (*self._keys, *self._keys, integers(refs))))

    def _need_all(self) -> None:
        if not self._complete:
            self._hold(self._session.rows(_READ, (*self._keys, *self._keys)))
            self._complete = True

    def _hold(self, values: Sequence[tuple[Any, ...]]) -> None:
        refs, rows = _unpacked(values)
        new = ~np.isin(refs, self._known)
        self._keep(refs[new], rows[new])
        self._known = np.union1d(self._known, refs)

    def _keep(self, refs: Integers, rows: Vector) -> None:
        if not len(refs):
            return
        self._rows = rows if self._rows is None else np.concatenate((self._rows, rows))
        self._refs = np.concatenate((self._refs, refs))
        self._ordered = SortedRefs(self._refs)
        self._asked = None

    def _cosines(self, vector: Vector) -> Scores:
        """Return the cosine of each ref that is held, in the order of refs."""
        asked = vector.tobytes()
        if asked != self._asked:
            rows = np.empty((0, len(vector)), dtype=np.float32) if self._rows is None else self._rows
            self._answer = best_of_each(products(rows, vector) * scales(rows), self._ordered)
            self._asked = asked
        return self._answer

    # --- writing ----------------------------------------------------------------------------------------

    def put(self, refs: Integers, rows: Vector) -> None:
        """Write rows [n, d]; a ref may come several times (chunks), and is replaced as a whole."""
        session = self._session
        own, other = ("coarse_packed", "coarse") if len(refs) >= _TOGETHER else ("coarse", "coarse_packed")
        write = _WRITE.format(own)
        halves = half_vectors(in_halves(rows), _half_type(session))
        bindings = (*self._keys[2:], *self._keys[:2], integers(refs), integers(_chunks(refs)), halves)
        written = session.insert(write, bindings, len(refs))
        _delete(other, session, self._keys[3], np.unique(refs), [self._keys[2]])
        if written < len(refs):
            # Some were there: every ref has a chunk 0, so none goes unnoticed.
            _delete(own, session, self._keys[3], np.unique(refs), [self._keys[2]])
            session.insert(write, bindings, len(refs))
        reach("mid-vectors")


def delete(session: PostgresSession, kind: str, refs: Integers, embedders: Sequence[int]) -> None:
    """Delete the vectors of refs that these embedders made."""
    for table in ("coarse", "coarse_packed"):
        _delete(table, session, kind, refs, embedders)


def pack_vectors(session: PostgresSession, kind: str) -> None:
    """Move the vectors of a kind that came last to the others, by embedder and ref."""
    taken: dict[int, list[tuple[int, int, bytes]]] = {}
    for number, ref, chunk, sent in session.rows(_TAKE, (*session.keys, kind)):
        taken.setdefault(number, []).append((ref, chunk, sent))
    for number, rows in taken.items():
        rows.sort()
        for start in range(0, len(rows), _BATCH):
            batch = rows[start : start + _BATCH]
            refs, chunks = np.array([row[:2] for row in batch], dtype=np.int64).T
            halves = half_vectors(halves_sent([row[2] for row in batch]), _half_type(session))
            columns = integers(refs), integers(chunks.astype(np.int16)), halves
            session.insert(_PACK, (number, kind, *session.keys, *columns), len(batch))


def _delete(
    table: str, session: PostgresSession, kind: str, refs: Integers, embedders: Sequence[int]
) -> None:
    session.execute(
        f"DELETE FROM {table} WHERE space = %s AND owner = %s AND embedder = ANY(%s::smallint[])"
        " AND kind = %s AND ref = ANY(%s::bigint[])",
        (*session.keys, integers(np.array(embedders, dtype=np.int16)), kind, integers(refs)),
    )


def _half_type(session: PostgresSession) -> int:
    if session.db not in _HALF_TYPE:
        _HALF_TYPE[session.db] = session.rows("SELECT 'halfvec'::regtype::oid::bigint")[0][0]
    return _HALF_TYPE[session.db]


def _chunks(refs: Integers) -> NDArray[np.int16]:
    """Return which row of its ref each row is.

    >>> _chunks(np.array([7, 7, 5, 7])).tolist()
    [0, 1, 0, 2]
    """
    ordered = SortedRefs(refs)
    chunks = np.empty(len(refs), dtype=np.int16)
    sizes = np.diff(np.append(ordered.starts, len(refs)))
    chunks[ordered.order] = np.arange(len(refs)) - np.repeat(ordered.starts, sizes)
    return chunks


def _unpacked(values: Sequence[tuple[Any, ...]]) -> tuple[Integers, Vector]:
    """Return refs and float32 rows [n, d] by ref and chunk."""
    if not values:
        return np.empty(0, dtype=np.int64), np.empty((0, 0), dtype=np.float32)
    places = np.array([row[:2] for row in values], dtype=np.int64)
    order = np.lexsort((places[:, 1], places[:, 0]))
    return places[order, 0], as_floats(halves_sent([row[2] for row in values])[order])


def _scores_found(refs: Refs, ordered: SortedRefs, cosines: Scores) -> Scores:
    places, there = ordered.find(refs)
    scores: NDArray[np.float32] = np.full(len(refs), np.nan, dtype=np.float32)
    scores[there] = cosines[places[there]]
    return scores

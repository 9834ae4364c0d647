"""Observations of threads, as rows.

Unlike SQLite's, these writers run side by side: reading a frame in order to write locks it, so that one
thread takes one append at a time, and nothing an append touches is shared between threads.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final
from uuid import UUID

import numpy as np

from episodic_agent.core.places import visits_of
from episodic_agent.errors import Conflict, InvalidInput
from episodic_agent.protocols import ref_of, split_ref
from episodic_agent.schemas import Observation, Receipt
from episodic_agent.stores.faults import reach
from episodic_agent.stores.nouns import OBSERVATION, STORED_OBSERVATION, observation_columns, observation_of
from episodic_agent.stores.postgres.erasing import PostgresErasing
from episodic_agent.stores.postgres.jobs import keep_expiries
from episodic_agent.stores.postgres.server.batches import (
    bigints,
    byteas,
    from_stored,
    optional_integers,
    read_columns,
    texts,
)
from episodic_agent.stores.postgres.server.packing import Binary
from episodic_agent.stores.postgres.server.session import EACH, LAST_SEQ, OWN_ROW, PostgresSession
from episodic_agent.stores.postgres.threads import go_on
from episodic_agent.stores.rows import altered_of, restored, shortened
from episodic_agent.stores.tables.observations import ObservationTable

_READ: Final = f"SELECT {OBSERVATION} FROM observation WHERE space = %s AND owner = %s AND erased_at IS NULL"
_KNOWN: Final = EACH.format(
    "SELECT id, ref, erased_at IS NOT NULL FROM observation WHERE space = %s AND owner = %s"
)
_BY_ID: Final = EACH.format(_READ)
_IN_RANGES: Final = (
    "SELECT s.place, o.* FROM unnest(%s::bigint[], %s::bigint[]) WITH ORDINALITY AS s (first, last, place)"
    f" CROSS JOIN LATERAL ({_READ} AND ref BETWEEN s.first AND s.last ORDER BY ref) AS o"
    " ORDER BY s.place, o.ref"
)
# The types of STORED_OBSERVATION, in its order.
_COLUMN_TYPES: Final = ["bigint", "bytea", "bigint", "bigint", "text", "integer", *["text"] * 6, "bytea"]
_AS_ARRAY: Final[Mapping[str, Callable[[Sequence[Any]], Binary]]] = {
    "bigint": bigints,
    "bytea": byteas,
    "text": texts,
    "integer": optional_integers,
}
_APPEND: Final = (
    f"INSERT INTO observation (space, owner, {STORED_OBSERVATION}) SELECT s.space, s.owner, g.*"
    f" FROM {OWN_ROW}, unnest({', '.join(f'%s::{name}[]' for name in _COLUMN_TYPES)}) AS g"
    # Where the thread ends elsewhere nothing is written.
    " WHERE (SELECT max(o.ref) FROM observation o"
    " WHERE o.space = %s AND o.owner = %s AND o.ref BETWEEN %s AND %s) IS NOT DISTINCT FROM %s::bigint"
    " ON CONFLICT DO NOTHING RETURNING ref"
)
_SPEAK: Final = (
    "INSERT INTO actor (space, owner, thread, name, spoke)"
    f" SELECT s.space, s.owner, %s::integer, g.name, g.spoke FROM {OWN_ROW},"
    " unnest(%s::text[], %s::bigint[]) AS g (name, spoke)"
    " ON CONFLICT (space, owner, thread, name) DO UPDATE SET spoke = actor.spoke + excluded.spoke"
)


class PostgresObservations(PostgresErasing, ObservationTable):
    """The `Observations` of one transaction."""

    _session: PostgresSession
    place = "strpos"

    def known(self, ids: Sequence[UUID]) -> Mapping[UUID, Receipt]:
        rows = self._session.rows(_KNOWN, (byteas([key.bytes for key in ids]), *self._session.keys))
        return self._receipts(rows)

    def append(self, observations: Sequence[Observation]) -> None:
        if not observations:
            return
        keys, first = self._session.own(), observations[0]
        number = self._session.thread_number(first.thread_id)
        for offset, item in enumerate(observations):
            if item.thread_id != first.thread_id or item.seq != first.seq + offset:
                raise InvalidInput("a chunk must be observations of one thread with consecutive seqs")
        first_ref = ref_of(number, first.seq)
        thread = (ref_of(number, 0), ref_of(number, LAST_SEQ), first_ref - 1 if first.seq else None)
        written = self._session.rows(_APPEND, (*keys, *_in_columns(first_ref, observations), *keys, *thread))
        self._session.expect_scope(len(written), len(observations))
        if len(written) < len(observations):
            self._take_back([ref for (ref,) in written])
            raise self._misfit(number, first)
        # The chunk is one statement: half-way is where how often its actors spoke is not counted yet.
        reach("mid-append")
        self._count_actors(number, observations)
        if visits := visits_of(number, observations):
            go_on(self._session, visits)
        keep_expiries(self._session, [ref_of(number, o.seq) for o in observations], observations)
        reach("after-append")

    def _take_back(self, refs: Sequence[int]) -> None:
        """Delete what was written of a chunk that does not fit: whoever catches the Conflict may go on."""
        sql = "DELETE FROM observation WHERE space = %s AND owner = %s AND ref = ANY(%s::bigint[])"
        if refs:
            self._session.execute(sql, (*self._session.keys, bigints(refs)))

    def _misfit(self, number: int, first: Observation) -> Conflict:
        sql = "SELECT max(ref) FROM observation WHERE space = %s AND owner = %s AND ref BETWEEN %s AND %s"
        row = self._session.row(sql, (*self._session.keys, ref_of(number, 0), ref_of(number, LAST_SEQ)))
        last = row[0] if row is not None else None
        expected = 0 if last is None else split_ref(last)[1] + 1
        if first.seq != expected:
            return Conflict(f"thread {first.thread_id} continues at {expected}, not at {first.seq}")
        return Conflict(f"an observation id of thread {first.thread_id} is stored already")

    def _count_actors(self, number: int, observations: Sequence[Observation]) -> None:
        spoke = Counter(item.actor for item in observations)
        counts = texts(list(spoke)), bigints(list(spoke.values()))
        self._session.insert(_SPEAK, (number, *self._session.keys, *counts), len(spoke))

    def _range(self, thread_id: UUID, first_seq: int, last_seq: int) -> Sequence[Observation]:
        span = self._session.span(thread_id, first_seq, last_seq)
        if span is None:
            return []
        sql = f"{_READ} AND ref BETWEEN %s AND %s ORDER BY ref"
        return self._observations(self._session.rows(sql, (*self._session.keys, *span)))

    def _ranges(self, spans: Sequence[tuple[UUID, int, int]]) -> Sequence[Sequence[Observation]]:
        self._session.find_threads(thread for thread, _, _ in spans)
        refs = [self._session.span(*span) or (0, -1) for span in spans]
        ends = bigints([first for first, _ in refs]), bigints([last for _, last in refs])
        rows = self._session.rows(_IN_RANGES, (*ends, *self._session.keys))
        read: list[list[Observation]] = [[] for _ in spans]
        observations = self._observations([tuple(columns) for _, *columns in rows])
        for (place, *_), observation in zip(rows, observations, strict=True):
            read[place - 1].append(observation)
        return read

    def _by_refs(self, refs: Sequence[int]) -> Mapping[int, Observation]:
        sql = f"{_READ} AND ref = ANY(%s::bigint[])"
        rows = self._session.rows(sql, (*self._session.keys, bigints(refs)))
        read = {columns[0]: item for columns, item in zip(rows, self._observations(rows), strict=True)}
        return {ref: read[ref] for ref in refs if ref in read}

    def _by_ids(self, ids: Sequence[UUID]) -> Mapping[UUID, Observation]:
        rows = self._session.rows(_BY_ID, (byteas([key.bytes for key in ids]), *self._session.keys))
        read = {item.id: item for item in self._observations(rows)}
        return {identity: read[identity] for identity in ids if identity in read}

    def _observations(self, values: Sequence[tuple[Any, ...]]) -> Sequence[Observation]:
        threads = self._session.thread_ids([split_ref(columns[0])[0] for columns in values])
        return [
            observation_of(read_columns(columns), threads[split_ref(columns[0])[0]]) for columns in values
        ]

    def save_records(self, thread_id: UUID, records: Mapping[int, bytes | None]) -> None:
        keys, number = self._session.own(), self._session.thread_number(thread_id)
        if gone := [ref_of(number, seq) for seq, cues in records.items() if cues is None]:
            sql = "DELETE FROM verdict WHERE space = %s AND owner = %s AND ref = ANY(%s::bigint[])"
            self._session.execute(sql, (*keys, bigints(gone)))
        data = {ref_of(number, seq): shortened(cues) for seq, cues in records.items() if cues is not None}
        sql = (
            "INSERT INTO verdict (space, owner, ref, cues)"
            f" SELECT s.space, s.owner, g.ref, g.cues FROM {OWN_ROW},"
            " unnest(%s::bigint[], %s::bytea[]) AS g (ref, cues)"
            " ON CONFLICT (space, owner, ref) DO UPDATE SET cues = excluded.cues"
        )
        columns = bigints(list(data)), byteas(list(data.values()))
        self._session.insert(sql, (*keys, *columns), len(data))

    def records(self, thread_id: UUID, first_seq: int, last_seq: int) -> Mapping[int, bytes]:
        span = self._session.span(thread_id, first_seq, last_seq)
        if span is None:
            return {}
        sql = (
            "SELECT ref, cues FROM verdict"
            " WHERE space = %s AND owner = %s AND ref BETWEEN %s AND %s ORDER BY ref"
        )
        rows = self._session.rows(sql, (*self._session.keys, *span))
        return {split_ref(ref)[1]: restored(cues) for ref, cues in rows}

    # --- damage -----------------------------------------------------------------------------------------

    def altered(self, thread_id: UUID, first_seq: int, last_seq: int) -> Sequence[tuple[int, UUID]]:
        span = self._session.span(thread_id, first_seq, last_seq)
        if span is None:
            return []
        sql = (
            f"SELECT {STORED_OBSERVATION}, erased_at FROM observation WHERE space = %s AND owner = %s"
            " AND ref BETWEEN %s AND %s AND content_hash IS NOT NULL ORDER BY ref"
        )
        result = map(read_columns, self._session.rows(sql, (*self._session.keys, *span)))
        return altered_of(thread_id, result)

    # --- the scope as a whole ---------------------------------------------------------------------------

    def actors(self, *, limit: int = 200) -> Mapping[str, int]:
        """Return speakers with how often each spoke, most frequent first, ties by name."""
        sql = (
            "SELECT name, sum(spoke)::bigint AS spoke FROM actor WHERE space = %s AND owner = %s"
            ' GROUP BY name ORDER BY 2 DESC, name COLLATE "C" LIMIT %s'
        )
        rows = self._session.rows(sql, (*self._session.keys, limit))
        return {from_stored(name): spoke for name, spoke in rows}


def _in_columns(first_ref: int, observations: Sequence[Observation]) -> Sequence[Binary]:
    """Return the `OBSERVATION` columns of a chunk, each as one array."""
    columns = zip(*[observation_columns(item) for item in observations], strict=True)
    refs = bigints(np.arange(first_ref, first_ref + len(observations)))
    return [refs, *(_AS_ARRAY[name](column) for name, column in zip(_COLUMN_TYPES[1:], columns, strict=True))]

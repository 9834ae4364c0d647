"""Observations of threads, as rows."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final
from uuid import UUID

import apsw

from episodic_agent.core.places import visits_of
from episodic_agent.errors import Conflict, InvalidInput
from episodic_agent.lazily import module
from episodic_agent.protocols import ref_of, split_ref
from episodic_agent.schemas import Observation, Receipt
from episodic_agent.stores.faults import reach
from episodic_agent.stores.nouns import (
    OBSERVATION,
    STORED_OBSERVATION,
    columns_of,
    observation_columns,
    observation_of,
)
from episodic_agent.stores.rows import (
    to_json,
)
from episodic_agent.stores.sqlite.erasing import SqliteErasing
from episodic_agent.stores.sqlite.file.connection import all_or_nothing
from episodic_agent.stores.sqlite.file.content import altered
from episodic_agent.stores.sqlite.file.session import EACH, SqliteSession, id_list, number_list
from episodic_agent.stores.sqlite.jobs import keep_expiries
from episodic_agent.stores.sqlite.threads import go_on
from episodic_agent.stores.tables.observations import ObservationTable

if TYPE_CHECKING:
    from episodic_agent.stores import rows as kept_records
else:
    kept_records = module("episodic_agent.stores.rows")  # a listing reads no record of a check

_LOOK_UP: Final = f"SELECT {columns_of(OBSERVATION, 'o')} FROM {EACH} observation o"
# With the plus rows are found by their refs: without statistics those of a scope look as few.
_IN_RANGES: Final = (
    f"SELECT p.key, {columns_of(OBSERVATION, 'o')} FROM {EACH} observation o"
    " WHERE o.ref BETWEEN p.value ->> 0 AND p.value ->> 1 AND +o.scope = ? AND o.erased_at IS NULL"
    " ORDER BY p.key, o.ref"
)
_INSERT_OBSERVATION: Final = (
    f"INSERT INTO observation (scope, {STORED_OBSERVATION}) VALUES ({', '.join('?' * 14)})"
)
_LAST_SEQ: Final = 0xFFFFFFFF


class SqliteObservations(SqliteErasing, ObservationTable):
    """The `Observations` of one transaction."""

    _session: SqliteSession
    place = "instr"

    def known(self, ids: Sequence[UUID]) -> Mapping[UUID, Receipt]:
        """Return first receipts (added=False) of ids that are stored already; `erased` of tombstones."""
        scope = self._session.number
        sql = (
            f"SELECT o.id, o.ref, o.erased_at IS NOT NULL FROM {EACH} observation o"
            " WHERE o.scope = ? AND o.id = unhex(p.value)"
        )
        return self._receipts(self._session.rows(sql, (id_list(ids), scope)))

    def append(self, observations: Sequence[Observation]) -> None:
        """Insert observations of one thread with consecutive seqs, and begin or go on with its stays.

        Conflict on a taken id or seq or a gap.
        """
        if not observations:
            return
        scope = self._session.own()
        first = observations[0]
        number = self._session.thread_number(first.thread_id)
        for offset, item in enumerate(observations):
            if item.thread_id != first.thread_id or item.seq != first.seq + offset:
                raise InvalidInput("a chunk must be observations of one thread with consecutive seqs")
        self._check_next(number, first)
        columns = [(scope, ref_of(number, item.seq), *observation_columns(item)) for item in observations]
        middle = len(columns) // 2
        try:
            # Whoever catches the Conflict finds none of the chunk.
            with all_or_nothing(self._session.db):
                self._session.db.executemany(_INSERT_OBSERVATION, columns[:middle])
                reach("mid-append")
                self._session.db.executemany(_INSERT_OBSERVATION, columns[middle:])
                self._count_actors(scope, observations)
                if visits := visits_of(number, observations):
                    go_on(self._session, visits)
                keep_expiries(self._session, [ref for _, ref, *_ in columns], observations)
        except apsw.ConstraintError as error:
            raise Conflict(f"an observation id of thread {first.thread_id} is stored already") from error
        reach("after-append")

    def _check_next(self, number: int, first: Observation) -> None:
        sql = "SELECT max(ref) FROM observation WHERE ref BETWEEN ? AND ?"
        row = self._session.row(sql, (ref_of(number, 0), ref_of(number, _LAST_SEQ)))
        last = row[0] if row is not None else None
        expected = 0 if last is None else split_ref(last)[1] + 1
        if first.seq != expected:
            raise Conflict(f"thread {first.thread_id} continues at {expected}, not at {first.seq}")

    def _count_actors(self, scope: int, observations: Sequence[Observation]) -> None:
        spoke = Counter(item.actor for item in observations)
        sql = (
            "INSERT INTO actor (scope, name, spoke) VALUES (?, ?, ?)"
            " ON CONFLICT (scope, name) DO UPDATE SET spoke = spoke + excluded.spoke"
        )
        self._session.db.executemany(sql, [(scope, name, count) for name, count in spoke.items()])

    def _range(self, thread_id: UUID, first_seq: int, last_seq: int) -> Sequence[Observation]:
        span = self._session.span(thread_id, first_seq, last_seq)
        if span is None:
            return []
        sql = (
            f"SELECT {OBSERVATION} FROM observation"
            " WHERE ref BETWEEN ? AND ? AND +scope = ? AND erased_at IS NULL ORDER BY ref"
        )
        return self._observations(self._session.rows(sql, (*span, self._session.number)))

    def _ranges(self, spans: Sequence[tuple[UUID, int, int]]) -> Sequence[Sequence[Observation]]:
        self._session.find_threads([thread for thread, _, _ in spans])
        refs = [self._session.span(*span) for span in spans]
        rows = self._session.rows(_IN_RANGES, (to_json(refs), self._session.number))
        read: list[list[Observation]] = [[] for _ in spans]
        observations = self._observations([tuple(columns) for _, *columns in rows])
        for (place, *_), observation in zip(rows, observations, strict=True):
            read[place].append(observation)
        return read

    def _by_refs(self, refs: Sequence[int]) -> Mapping[int, Observation]:
        sql = f"{_LOOK_UP} WHERE o.ref = p.value AND o.scope = ? AND o.erased_at IS NULL"
        rows = self._session.rows(sql, (number_list(refs), self._session.number))
        return {columns[0]: item for columns, item in zip(rows, self._observations(rows), strict=True)}

    def _by_ids(self, ids: Sequence[UUID]) -> Mapping[UUID, Observation]:
        sql = f"{_LOOK_UP} WHERE o.scope = ? AND o.id = unhex(p.value) AND o.erased_at IS NULL"
        rows = self._session.rows(sql, (id_list(ids), self._session.number))
        return {item.id: item for item in self._observations(rows)}

    def _observations(self, values: Sequence[tuple[Any, ...]]) -> Sequence[Observation]:
        threads = self._session.thread_ids([split_ref(columns[0])[0] for columns in values])
        return [observation_of(columns, threads[split_ref(columns[0])[0]]) for columns in values]

    def save_records(self, thread_id: UUID, records: Mapping[int, bytes | None]) -> None:
        """Keep the packed record of the check at each seq; None takes one away."""
        scope, number = self._session.own(), self._session.thread_number(thread_id)
        sql = "UPDATE observation SET cues = ? WHERE ref = ? AND scope = ?"
        columns = [
            (None if record is None else kept_records.shortened(record), ref_of(number, seq), scope)
            for seq, record in sorted(records.items())
        ]
        self._session.db.executemany(sql, columns)

    def records(self, thread_id: UUID, first_seq: int, last_seq: int) -> Mapping[int, bytes]:
        """Read the packed records of `first_seq..last_seq` (inclusive) that there are."""
        span = self._session.span(thread_id, first_seq, last_seq)
        if span is None:
            return {}
        sql = (
            "SELECT ref, cues FROM observation"
            " WHERE ref BETWEEN ? AND ? AND +scope = ? AND cues IS NOT NULL ORDER BY ref"
        )
        rows = self._session.rows(sql, (*span, self._session.number))
        return {split_ref(ref)[1]: kept_records.restored(cues) for ref, cues in rows}

    # --- damage -----------------------------------------------------------------------------------------

    def altered(self, thread_id: UUID, first_seq: int, last_seq: int) -> Sequence[tuple[int, UUID]]:
        """Return (seq, id) of those observations of a span that are not what was stored, in order."""
        span = self._session.span(thread_id, first_seq, last_seq)
        return [] if span is None else altered(self._session.db, self._session.number, thread_id, *span)

    # --- the scope as a whole ---------------------------------------------------------------------------

    def actors(self, *, limit: int = 200) -> Mapping[str, int]:
        """Return speakers with how often each spoke, most frequent first, ties by name."""
        sql = "SELECT name, spoke FROM actor WHERE scope = ? ORDER BY spoke DESC, name LIMIT ?"
        return dict(self._session.rows(sql, (self._session.number, limit)))

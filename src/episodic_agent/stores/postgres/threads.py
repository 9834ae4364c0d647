"""Threads, their open frames and their observations, as rows.

Unlike SQLite's, these writers run side by side: reading a frame in order to write locks it, so that one
thread takes one append at a time, and nothing an append touches is shared between threads.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, Final
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from episodic_agent.core.interfaces import ObservationMark, Refs, ref_of, split_ref
from episodic_agent.core.places import stays_of
from episodic_agent.errors import Conflict, InvalidInput
from episodic_agent.schemas import Frame, Observation, Receipt, Thread, TimeSource
from episodic_agent.stores.faults import reach
from episodic_agent.stores.nouns import (
    CHANGING,
    FRAME,
    OBSERVATION,
    THREAD,
    changing_columns,
    columns_of,
    frame_columns,
    frame_of,
    observation_columns,
    observation_of,
    thread_of,
)
from episodic_agent.stores.postgres.batches import bigints, byteas, optional_integers, texts
from episodic_agent.stores.postgres.care import keep_expiries
from episodic_agent.stores.postgres.packing import Binary
from episodic_agent.stores.postgres.places import go_on
from episodic_agent.stores.postgres.session import EACH, LAST_SEQ, Session
from episodic_agent.stores.postgres.text import from_stored, read_columns
from episodic_agent.stores.rows import optional_time, span_microseconds, to_microseconds

_READ: Final = f"SELECT {OBSERVATION} FROM observation WHERE space = %s AND owner = %s AND erased_at IS NULL"
_KNOWN: Final = EACH.format("SELECT id, ref FROM observation WHERE space = %s AND owner = %s")
_BY_ID: Final = EACH.format(_READ)
_THREADS: Final = EACH.format(f"SELECT {THREAD} FROM thread WHERE space = %s AND owner = %s")
_IN_RANGES: Final = (
    "SELECT s.place, o.* FROM unnest(%s::bigint[], %s::bigint[]) WITH ORDINALITY AS s (first, last, place)"
    f" CROSS JOIN LATERAL ({_READ} AND ref BETWEEN s.first AND s.last ORDER BY ref) AS o"
    " ORDER BY s.place, o.ref"
)
# The types of OBSERVATION, in its order.
_COLUMN_TYPES: Final = ["bigint", "bytea", "bigint", "bigint", "text", "integer", *["text"] * 6]
_AS_ARRAY: Final[Mapping[str, Callable[[Sequence[Any]], Binary]]] = {
    "bigint": bigints,
    "bytea": byteas,
    "text": texts,
    "integer": optional_integers,
}
_APPEND: Final = (
    f"INSERT INTO observation (space, owner, {OBSERVATION}) SELECT %s, %s, g.*"
    f" FROM unnest({', '.join(f'%s::{name}[]' for name in _COLUMN_TYPES)}) AS g"
    # Where the thread ends elsewhere nothing is written.
    " WHERE (SELECT max(o.ref) FROM observation o"
    " WHERE o.space = %s AND o.owner = %s AND o.ref BETWEEN %s AND %s) IS NOT DISTINCT FROM %s::bigint"
    " ON CONFLICT DO NOTHING RETURNING ref"
)
_SPEAK: Final = (
    "INSERT INTO actor (space, owner, thread, name, spoke)"
    " SELECT %s, %s, %s, g.name, g.spoke FROM unnest(%s::text[], %s::bigint[]) AS g (name, spoke)"
    " ON CONFLICT (space, owner, thread, name) DO UPDATE SET spoke = actor.spoke + excluded.spoke"
)
_INSERT_THREAD: Final = (
    f"INSERT INTO thread (space, owner, number, id, origin, {CHANGING})"
    f" VALUES ({', '.join(['%s'] * (CHANGING.count(',') + 6))}) ON CONFLICT DO NOTHING"
)
_SAVE_THREAD: Final = (
    f"UPDATE thread SET {', '.join(f'{name} = %s' for name in CHANGING.split(', '))}"
    " WHERE space = %s AND owner = %s AND number = %s"
)
_CONTINUABLE: Final = (
    f"SELECT {THREAD} FROM thread WHERE space = %s AND owner = %s AND modality = 'message'"
    " AND (status = 'open' OR closed_for = 'inactivity')"
    " AND NOT (explicit AND channels = '[]' AND selected_at IS NULL)"
)
# What nobody selected is read off the index of activity; what somebody did is rarely more than a few.
_CURRENT: Final = (
    f"SELECT * FROM (({_CONTINUABLE} AND selected_at IS NULL ORDER BY last_activity_at DESC, id LIMIT %s)"
    f" UNION ALL ({_CONTINUABLE} AND selected_at IS NOT NULL)) AS t"
    " ORDER BY greatest(last_activity_at, coalesce(selected_at, last_activity_at)) DESC, id LIMIT %s"
)
_NO_TIME: Final = np.iinfo(np.int64).min


class PostgresThreads:
    """The `Threads` of one transaction."""

    def __init__(self, session: Session) -> None:
        self._session = session

    # --- threads ----------------------------------------------------------------------------------------

    def get(self, thread_id: UUID) -> Thread | None:
        """Read one thread."""
        return self._one("id = %s", thread_id.bytes)

    def many(self, thread_ids: Sequence[UUID]) -> Mapping[UUID, Thread]:
        """Read several threads at once; unknown ones are left out."""
        ids = byteas([identity.bytes for identity in dict.fromkeys(thread_ids)])
        found = self._session.rows(_THREADS, (ids, *self._session.keys))
        return {thread.id: thread for thread in map(self._thread, found)}

    def by_origin(self, origin: str) -> Thread | None:
        """Find a thread by the caller's own name of it."""
        return self._one("origin = %s", origin)

    def _one(self, condition: str, value: bytes | str) -> Thread | None:
        sql = f"SELECT {THREAD} FROM thread WHERE space = %s AND owner = %s AND {condition}"
        found = self._session.row(sql, (*self._session.keys, value))
        return None if found is None else self._thread(found)

    def _thread(self, columns: tuple[Any, ...]) -> Thread:
        thread = thread_of(read_columns(columns))
        self._session.remember_thread(columns[0], thread.id)
        return thread

    def number(self, thread_id: UUID) -> int:
        """Return the thread's number for `ref_of`; raises NotFound."""
        return self._session.thread_number(thread_id)

    def by_numbers(self, numbers: Sequence[int]) -> Mapping[int, UUID]:
        """Return the ids of those numbers that are threads of this scope."""
        return self._session.thread_ids(numbers)

    def create(self, thread: Thread, frame: Frame) -> None:
        """Write a new thread with its empty frame; raises Conflict when the origin or id is taken."""
        if frame.thread_id != thread.id:
            raise InvalidInput(f"the frame of thread {frame.thread_id} was given for thread {thread.id}")
        keys, number = self._session.own(), self._next_number()
        names = (number, thread.id.bytes, thread.origin)
        if self._session.execute(_INSERT_THREAD, (*keys, *names, *changing_columns(thread))) == 0:
            raise Conflict(f"a thread {thread.id} or of origin {thread.origin!r} exists already")
        self._session.remember_thread(number, thread.id)
        sql = (
            f"INSERT INTO frame (space, owner, thread, {FRAME})"
            " VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s)"
        )
        self._session.execute(sql, (*keys, number, *frame_columns(frame), frame.version))

    def _next_number(self) -> int:
        # Locks the scope's row to the end of the transaction: threads of a scope begin one by one.
        sql = "UPDATE scope SET threads = threads + 1 WHERE space = %s AND owner = %s RETURNING threads"
        found = self._session.row(sql, self._session.keys)
        if found is None:
            raise self._session.miss_scope()
        return int(found[0])

    def save(self, thread: Thread) -> None:
        """Write a thread's changed fields; raises NotFound. Its origin never changes."""
        keys, number = self._session.own(), self._session.thread_number(thread.id)
        self._session.execute(_SAVE_THREAD, (*changing_columns(thread), *keys, number))

    def list(self, *, limit: int | None = None) -> Sequence[Thread]:
        """Return threads by last activity, newest first, ties by id."""
        sql = (
            f"SELECT {THREAD} FROM thread WHERE space = %s AND owner = %s"
            " ORDER BY last_activity_at DESC, id LIMIT %s"
        )
        return [self._thread(columns) for columns in self._session.rows(sql, (*self._session.keys, limit))]

    def current(self, *, limit: int) -> Sequence[Thread]:
        """Return the threads that a message without one may go on with, as the port says."""
        found = self._session.rows(_CURRENT, (*self._session.keys, limit) * 2)
        return [self._thread(columns) for columns in found]

    def begun(self, until: datetime, *, limit: int) -> Sequence[Thread]:
        """Return threads of messages that began by an event time, most recently active first, ties by id."""
        sql = (
            f"SELECT {THREAD} FROM thread WHERE space = %s AND owner = %s AND modality = 'message'"
            " AND created_at <= %s ORDER BY last_activity_at DESC, id LIMIT %s"
        )
        found = self._session.rows(sql, (*self._session.keys, to_microseconds(until), limit))
        return [self._thread(columns) for columns in found]

    def unfinished(self) -> Sequence[Thread]:
        """Return threads that are open though nobody chose them, or whose frame holds something."""
        sql = (
            f"SELECT {columns_of(THREAD, 't')} FROM thread t JOIN frame f"
            " ON f.space = t.space AND f.owner = t.owner AND f.thread = t.number"
            " WHERE t.space = %s AND t.owner = %s"
            " AND (f.first_seq < f.next_seq OR t.status = 'open' AND NOT t.explicit)"
            " ORDER BY t.last_activity_at, t.id"
        )
        return [self._thread(columns) for columns in self._session.rows(sql, self._session.keys)]

    def hold(self) -> None:
        """Let no other writer resolve threads of this scope before the transaction's end."""
        keys = self._session.own()
        sql = "SELECT threads FROM scope WHERE space = %s AND owner = %s FOR NO KEY UPDATE"
        if self._session.row(sql, keys) is None:
            raise self._session.miss_scope()

    def timeouts(self) -> Mapping[str, timedelta]:
        """Return the user's own timeouts by channel ("" for all)."""
        sql = "SELECT channel, lasts FROM timeout WHERE space = %s AND owner = %s ORDER BY channel"
        found = self._session.rows(sql, self._session.keys)
        return {from_stored(channel): timedelta(microseconds=lasts) for channel, lasts in found}

    def set_timeout(self, channel: str, timeout: timedelta | None) -> None:
        """Keep the user's own timeout of a channel ("" for all); None takes it away."""
        keys = self._session.own()
        if timeout is None:
            sql = "DELETE FROM timeout WHERE space = %s AND owner = %s AND channel = %s"
            self._session.execute(sql, (*keys, channel))
            return
        sql = (
            "INSERT INTO timeout (space, owner, channel, lasts) VALUES (%s, %s, %s, %s)"
            " ON CONFLICT (space, owner, channel) DO UPDATE SET lasts = excluded.lasts"
        )
        self._session.execute(sql, (*keys, channel, span_microseconds(timeout)))

    # --- frames -----------------------------------------------------------------------------------------

    def frame(self, thread_id: UUID) -> Frame:
        """Read a thread's frame; raises NotFound. In a write transaction nobody else can until its end."""
        sql = f"SELECT {FRAME} FROM frame WHERE space = %s AND owner = %s AND thread = %s"
        if self._session.write:
            sql += " FOR NO KEY UPDATE"
        found = self._session.row(sql, (*self._session.keys, self._session.thread_number(thread_id)))
        if found is None:
            raise Conflict(f"thread {thread_id} was deleted just now; repeat the call")
        return frame_of(read_columns(found), thread_id)

    def frames(self, thread_ids: Sequence[UUID]) -> Mapping[UUID, Frame]:
        """Read several frames at once, to look at only; unknown ones are left out."""
        numbers = self._session.find_threads(thread_ids)
        sql = f"SELECT thread, {FRAME} FROM frame WHERE space = %s AND owner = %s AND"
        sql += " thread = ANY(%s::bigint[])"
        found = self._session.rows(sql, (*self._session.keys, bigints(list(numbers))))
        return {
            numbers[number]: frame_of(read_columns(columns), numbers[number]) for number, *columns in found
        }

    def save_frame(self, frame: Frame) -> None:
        """Write the frame whose stored version is `frame.version`, as version + 1; Conflict otherwise."""
        keys, number = self._session.own(), self._session.thread_number(frame.thread_id)
        sql = (
            "UPDATE frame SET policy = %s, embedder = %s, next_seq = %s, first_seq = %s, cursor = %s,"
            " state = %s, question = %s, last_received_at = %s, version = version + 1"
            " WHERE space = %s AND owner = %s AND thread = %s AND version = %s"
        )
        if self._session.execute(sql, (*frame_columns(frame), *keys, number, frame.version)) == 0:
            raise Conflict(f"the frame of thread {frame.thread_id} is no longer at version {frame.version}")

    # --- observations -----------------------------------------------------------------------------------

    def known(self, ids: Sequence[UUID]) -> Mapping[UUID, Receipt]:
        """Return first receipts (added=False) of those observation ids that are stored already."""
        rows = self._session.rows(_KNOWN, (byteas([key.bytes for key in ids]), *self._session.keys))
        found = [(UUID(bytes=key), *split_ref(ref)) for key, ref in rows]
        threads = self._session.thread_ids([number for _, number, _ in found])
        return {key: Receipt(key, threads[number], seq, added=False) for key, number, seq in found}

    def append(self, observations: Sequence[Observation]) -> None:
        """Insert observations of one thread with consecutive seqs, and begin or go on with its stays.

        Conflict on a taken id or seq or a gap.
        """
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
        if len(written) < len(observations):
            self._take_back([ref for (ref,) in written])
            raise self._misfit(number, first)
        # The chunk is one statement: half-way is where how often its actors spoke is not counted yet.
        reach("mid-append")
        self._count_actors(number, observations)
        if stays := stays_of(number, observations):
            go_on(self._session, stays)
        keep_expiries(self._session, [ref_of(number, o.seq) for o in observations], observations)
        reach("after-append")

    def _take_back(self, refs: Sequence[int]) -> None:
        """Delete what was written of a chunk that does not fit: whoever catches the Conflict may go on."""
        sql = "DELETE FROM observation WHERE space = %s AND owner = %s AND ref = ANY(%s::bigint[])"
        if refs:
            self._session.execute(sql, (*self._session.keys, bigints(refs)))

    def _misfit(self, number: int, first: Observation) -> Conflict:
        sql = "SELECT max(ref) FROM observation WHERE space = %s AND owner = %s AND ref BETWEEN %s AND %s"
        found = self._session.row(sql, (*self._session.keys, ref_of(number, 0), ref_of(number, LAST_SEQ)))
        last = found[0] if found is not None else None
        expected = 0 if last is None else split_ref(last)[1] + 1
        if first.seq != expected:
            return Conflict(f"thread {first.thread_id} continues at {expected}, not at {first.seq}")
        return Conflict(f"an observation id of thread {first.thread_id} is stored already")

    def _count_actors(self, number: int, observations: Sequence[Observation]) -> None:
        spoke = Counter(item.actor for item in observations)
        counts = texts(list(spoke)), bigints(list(spoke.values()))
        self._session.execute(_SPEAK, (*self._session.keys, number, *counts))

    def observations(self, thread_id: UUID, first_seq: int, last_seq: int) -> Sequence[Observation]:
        """Read `first_seq..last_seq` (inclusive) in order; erased ones are left out."""
        span = self._session.span(thread_id, first_seq, last_seq)
        if span is None:
            return []
        sql = f"{_READ} AND ref BETWEEN %s AND %s ORDER BY ref"
        return self._observations(self._session.rows(sql, (*self._session.keys, *span)))

    def ranges(self, spans: Sequence[tuple[UUID, int, int]]) -> Sequence[Sequence[Observation]]:
        """Read several ranges (thread, first seq, last seq) at once, each as `observations` reads it."""
        self._session.find_threads(thread for thread, _, _ in spans)
        refs = [self._session.span(*span) or (0, -1) for span in spans]
        ends = bigints([first for first, _ in refs]), bigints([last for _, last in refs])
        found = self._session.rows(_IN_RANGES, (*ends, *self._session.keys))
        read: list[list[Observation]] = [[] for _ in spans]
        observations = self._observations([tuple(columns) for _, *columns in found])
        for (place, *_), observation in zip(found, observations, strict=True):
            read[place - 1].append(observation)
        return read

    def by_refs(self, refs: Sequence[int]) -> Mapping[int, Observation]:
        """Read observations by their refs; unknown and erased ones are left out."""
        sql = f"{_READ} AND ref = ANY(%s::bigint[])"
        found = self._session.rows(sql, (*self._session.keys, bigints(refs)))
        read = {columns[0]: item for columns, item in zip(found, self._observations(found), strict=True)}
        return {ref: read[ref] for ref in refs if ref in read}

    def marks(self, refs: Refs) -> Sequence[ObservationMark]:
        """Read the marks of observations in the order of refs; unknown and erased ones are left out."""
        sql = (
            f"SELECT ref, encode(id, 'hex'), actor, at, at_source = '{TimeSource.ASSUMED}',"
            " octet_length(replace(text, chr(26), '')) FROM observation"  # without `to_stored`'s escapes
            " WHERE space = %s AND owner = %s AND ref = ANY(%s::bigint[]) AND erased_at IS NULL"
        )
        wanted: list[int] = refs.tolist()
        found = self._session.rows(sql, (*self._session.keys, bigints(refs)))
        marks = {columns[0]: ObservationMark._make(read_columns(columns)) for columns in found}
        return [marks[ref] for ref in wanted if ref in marks]

    def by_ids(self, ids: Sequence[UUID]) -> Mapping[UUID, Observation]:
        """Read observations by their ids; unknown and erased ones are left out."""
        found = self._session.rows(_BY_ID, (byteas([key.bytes for key in ids]), *self._session.keys))
        read = {item.id: item for item in self._observations(found)}
        return {identity: read[identity] for identity in ids if identity in read}

    def _observations(self, found: Sequence[tuple[Any, ...]]) -> Sequence[Observation]:
        threads = self._session.thread_ids([split_ref(columns[0])[0] for columns in found])
        return [observation_of(read_columns(columns), threads[split_ref(columns[0])[0]]) for columns in found]

    def save_records(self, thread_id: UUID, records: Mapping[int, bytes | None]) -> None:
        """Keep the packed record of the check at each seq; None takes one away."""
        keys, number = self._session.own(), self._session.thread_number(thread_id)
        if gone := [ref_of(number, seq) for seq, cues in records.items() if cues is None]:
            sql = "DELETE FROM verdict WHERE space = %s AND owner = %s AND ref = ANY(%s::bigint[])"
            self._session.execute(sql, (*keys, bigints(gone)))
        kept = {ref_of(number, seq): cues for seq, cues in records.items() if cues is not None}
        sql = (
            "INSERT INTO verdict (space, owner, ref, cues)"
            " SELECT %s, %s, g.ref, g.cues FROM unnest(%s::bigint[], %s::bytea[]) AS g (ref, cues)"
            " ON CONFLICT (space, owner, ref) DO UPDATE SET cues = excluded.cues"
        )
        self._session.execute(sql, (*keys, bigints(list(kept)), byteas(list(kept.values()))))

    def records(self, thread_id: UUID, first_seq: int, last_seq: int) -> Mapping[int, bytes]:
        """Read the packed records of `first_seq..last_seq` (inclusive) that there are."""
        span = self._session.span(thread_id, first_seq, last_seq)
        if span is None:
            return {}
        sql = (
            "SELECT ref, cues FROM verdict"
            " WHERE space = %s AND owner = %s AND ref BETWEEN %s AND %s ORDER BY ref"
        )
        return {
            split_ref(ref)[1]: cues for ref, cues in self._session.rows(sql, (*self._session.keys, *span))
        }

    # --- the scope as a whole ---------------------------------------------------------------------------

    def count(self) -> int:
        """Count the scope's observations."""
        sql = "SELECT coalesce(sum(spoke), 0)::bigint FROM actor WHERE space = %s AND owner = %s"
        found = self._session.row(sql, self._session.keys)
        return 0 if found is None else int(found[0])

    def actors(self, *, limit: int = 200) -> Mapping[str, int]:
        """Return speakers with how often each spoke, most frequent first, ties by name."""
        sql = (
            "SELECT name, sum(spoke)::bigint AS spoke FROM actor WHERE space = %s AND owner = %s"
            ' GROUP BY name ORDER BY 2 DESC, name COLLATE "C" LIMIT %s'
        )
        found = self._session.rows(sql, (*self._session.keys, limit))
        return {from_stored(name): spoke for name, spoke in found}

    def last_at(self) -> datetime | None:
        """Return the newest event time in the scope."""
        sql = "SELECT max(at) FROM observation WHERE space = %s AND owner = %s AND erased_at IS NULL"
        found = self._session.row(sql, self._session.keys)
        return None if found is None else optional_time(found[0])

    def times(self, refs: Refs) -> NDArray[np.int64]:
        """Return event times of observation refs in microseconds since 1970 (missing: minimum int64)."""
        sql = (
            "SELECT ref, at FROM observation"
            " WHERE space = %s AND owner = %s AND ref = ANY(%s::bigint[]) AND erased_at IS NULL"
        )
        wanted: list[int] = refs.tolist()
        found: dict[int, int] = dict(self._session.rows(sql, (*self._session.keys, bigints(refs))))
        return np.array([found.get(ref, _NO_TIME) for ref in wanted], dtype=np.int64)

    def between(self, start: datetime, end: datetime, *, limit: int) -> Refs:
        """Return refs of observations whose event time lies in [start, end), oldest first, ties by ref."""
        sql = (
            "SELECT ref FROM observation WHERE space = %s AND owner = %s AND at >= %s AND at < %s"
            " AND erased_at IS NULL ORDER BY at, ref LIMIT %s"
        )
        bindings = (*self._session.keys, to_microseconds(start), to_microseconds(end), limit)
        return np.array([ref for (ref,) in self._session.rows(sql, bindings)], dtype=np.int64)


def _in_columns(first_ref: int, observations: Sequence[Observation]) -> Sequence[Binary]:
    """Return the `OBSERVATION` columns of a chunk, each as one array."""
    columns = zip(*[observation_columns(item) for item in observations], strict=True)
    refs = bigints(np.arange(first_ref, first_ref + len(observations)))
    return [refs, *(_AS_ARRAY[name](column) for name, column in zip(_COLUMN_TYPES[1:], columns, strict=True))]

"""Threads, their open frames and their observations, as rows."""

from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, Final
from uuid import UUID

import apsw
import numpy as np
from numpy.typing import NDArray

from episodic_agent.core.interfaces import ObservationMark, Refs, ref_of, split_ref
from episodic_agent.core.places import stays_of
from episodic_agent.errors import Conflict, InvalidInput, NotFound
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
from episodic_agent.stores.rows import (
    optional_time,
    span_microseconds,
    to_json,
    to_microseconds,
)
from episodic_agent.stores.sqlite.care import keep_expiries
from episodic_agent.stores.sqlite.connection import all_or_nothing
from episodic_agent.stores.sqlite.places import go_on
from episodic_agent.stores.sqlite.session import EACH, Session, id_list, number_list

_LOOK_UP: Final = f"SELECT {columns_of(OBSERVATION, 'o')} FROM {EACH} observation o"
_IN_RANGES: Final = (
    f"SELECT p.key, {columns_of(OBSERVATION, 'o')} FROM {EACH} observation o"
    " WHERE o.ref BETWEEN p.value ->> 0 AND p.value ->> 1 AND o.scope = ? AND o.erased_at IS NULL"
    " ORDER BY p.key, o.ref"
)
_INSERT_OBSERVATION: Final = f"INSERT INTO observation (scope, {OBSERVATION}) VALUES ({', '.join('?' * 13)})"
_INSERT_THREAD: Final = (
    f"INSERT INTO thread (scope, id, origin, {CHANGING})"
    f" VALUES ({', '.join('?' * (CHANGING.count(',') + 4))})"
)
_SAVE_THREAD: Final = (
    f"UPDATE thread SET {', '.join(f'{name} = ?' for name in CHANGING.split(', '))}"
    " WHERE number = ? AND scope = ?"
)
_CONTINUABLE: Final = (
    f"SELECT {THREAD} FROM thread WHERE scope = ? AND modality = 'message'"
    " AND (status = 'open' OR closed_for = 'inactivity')"
    " AND NOT (explicit AND channels = '[]' AND selected_at IS NULL)"
)
# What nobody selected is read off the index of activity; what somebody did is rarely more than a few.
_CURRENT: Final = (
    f"SELECT * FROM (SELECT * FROM ({_CONTINUABLE} AND selected_at IS NULL"
    " ORDER BY last_activity_at DESC, id LIMIT ?)"
    f" UNION ALL {_CONTINUABLE} AND selected_at IS NOT NULL)"
    " ORDER BY max(last_activity_at, ifnull(selected_at, last_activity_at)) DESC, id LIMIT ?"
)
_LAST_SEQ: Final = 0xFFFFFFFF
_NO_TIME: Final = np.iinfo(np.int64).min


class SqliteThreads:
    """The `Threads` of one transaction."""

    def __init__(self, session: Session) -> None:
        self._session = session

    # --- threads ----------------------------------------------------------------------------------------

    def get(self, thread_id: UUID) -> Thread | None:
        """Read one thread."""
        return self._one("id = ?", thread_id.bytes)

    def many(self, thread_ids: Sequence[UUID]) -> Mapping[UUID, Thread]:
        """Read several threads at once; unknown ones are left out."""
        sql = (
            f"SELECT {columns_of(THREAD, 't')} FROM {EACH} thread t"
            " WHERE t.scope = ? AND t.id = unhex(p.value)"
        )
        found = self._session.rows(sql, (id_list(thread_ids), self._session.number))
        return {thread.id: thread for thread in map(self._thread, found)}

    def by_origin(self, origin: str) -> Thread | None:
        """Find a thread by the caller's own name of it."""
        return self._one("origin = ?", origin)

    def _one(self, condition: str, value: bytes | str) -> Thread | None:
        sql = f"SELECT {THREAD} FROM thread WHERE scope = ? AND {condition}"
        found = self._session.row(sql, (self._session.number, value))
        return None if found is None else self._thread(found)

    def _thread(self, columns: tuple[Any, ...]) -> Thread:
        thread = thread_of(columns)
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
        scope = self._session.own()
        try:
            self._session.db.execute(
                _INSERT_THREAD, (scope, thread.id.bytes, thread.origin, *changing_columns(thread))
            )
        except apsw.ConstraintError as error:
            raise Conflict(f"a thread {thread.id} or of origin {thread.origin!r} exists already") from error
        number = self._session.db.last_insert_rowid()
        self._session.remember_thread(number, thread.id)
        sql = (
            "INSERT INTO frame (thread, scope, policy, embedder, next_seq, first_seq, cursor, state,"
            " question, last_received_at, version) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
        )
        self._session.db.execute(sql, (number, scope, *frame_columns(frame), frame.version))

    def save(self, thread: Thread) -> None:
        """Write a thread's changed fields; raises NotFound. Its origin never changes."""
        scope, number = self._session.own(), self._session.thread_number(thread.id)
        self._session.db.execute(_SAVE_THREAD, (*changing_columns(thread), number, scope))

    def list(self, *, limit: int | None = None) -> Sequence[Thread]:
        """Return threads by last activity, newest first, ties by id."""
        sql = f"SELECT {THREAD} FROM thread WHERE scope = ? ORDER BY last_activity_at DESC, id LIMIT ?"
        found = self._session.rows(sql, (self._session.number, -1 if limit is None else limit))
        return [self._thread(columns) for columns in found]

    def current(self, *, limit: int) -> Sequence[Thread]:
        """Return the threads that a message without one may go on with, as the port says."""
        scope = self._session.number
        found = self._session.rows(_CURRENT, (scope, limit, scope, limit))
        return [self._thread(columns) for columns in found]

    def begun(self, until: datetime, *, limit: int) -> Sequence[Thread]:
        """Return threads of messages that began by an event time, most recently active first, ties by id."""
        sql = (
            f"SELECT {THREAD} FROM thread WHERE scope = ? AND modality = 'message' AND +created_at <= ?"
            " ORDER BY last_activity_at DESC, id LIMIT ?"
        )
        found = self._session.rows(sql, (self._session.number, to_microseconds(until), limit))
        return [self._thread(columns) for columns in found]

    def unfinished(self) -> Sequence[Thread]:
        """Return threads that are open though nobody chose them, or whose frame holds something."""
        sql = (
            f"SELECT {columns_of(THREAD, 't')} FROM thread t JOIN frame f ON f.thread = t.number"
            " WHERE t.scope = ? AND (f.first_seq < f.next_seq OR t.status = 'open' AND NOT t.explicit)"
            " ORDER BY t.last_activity_at, t.id"
        )
        return [self._thread(columns) for columns in self._session.rows(sql, (self._session.number,))]

    def hold(self) -> None:
        """Let no other writer resolve threads of this scope before the transaction's end."""
        self._session.own()  # a write transaction is alone here

    def timeouts(self) -> Mapping[str, timedelta]:
        """Return the user's own timeouts by channel ("" for all)."""
        sql = "SELECT channel, lasts FROM timeout WHERE scope = ? ORDER BY channel"
        found = self._session.rows(sql, (self._session.number,))
        return {channel: timedelta(microseconds=lasts) for channel, lasts in found}

    def set_timeout(self, channel: str, timeout: timedelta | None) -> None:
        """Keep the user's own timeout of a channel ("" for all); None takes it away."""
        scope = self._session.own()
        if timeout is None:
            self._session.db.execute("DELETE FROM timeout WHERE scope = ? AND channel = ?", (scope, channel))
            return
        sql = (
            "INSERT INTO timeout (scope, channel, lasts) VALUES (?, ?, ?)"
            " ON CONFLICT (scope, channel) DO UPDATE SET lasts = excluded.lasts"
        )
        self._session.db.execute(sql, (scope, channel, span_microseconds(timeout)))

    # --- frames -----------------------------------------------------------------------------------------

    def frame(self, thread_id: UUID) -> Frame:
        """Read a thread's frame; raises NotFound."""
        sql = f"SELECT {FRAME} FROM frame WHERE thread = ? AND scope = ?"
        found = self._session.row(sql, (self._session.thread_number(thread_id), self._session.number))
        if found is None:
            raise NotFound(f"thread {thread_id} has no frame")
        return frame_of(found, thread_id)

    def frames(self, thread_ids: Sequence[UUID]) -> Mapping[UUID, Frame]:
        """Read several frames at once, to look at only; unknown ones are left out."""
        numbers = self._session.find_threads(thread_ids)
        sql = (
            f"SELECT f.thread, {columns_of(FRAME, 'f')} FROM {EACH} frame f"
            " WHERE f.thread = p.value AND f.scope = ?"
        )
        found = self._session.rows(sql, (number_list(numbers), self._session.number))
        return {numbers[number]: frame_of(tuple(columns), numbers[number]) for number, *columns in found}

    def save_frame(self, frame: Frame) -> None:
        """Write the frame whose stored version is `frame.version`, as version + 1; Conflict otherwise."""
        scope, number = self._session.own(), self._session.thread_number(frame.thread_id)
        sql = (
            "UPDATE frame SET policy = ?, embedder = ?, next_seq = ?, first_seq = ?, cursor = ?, state = ?,"
            " question = ?, last_received_at = ?, version = version + 1"
            " WHERE thread = ? AND scope = ? AND version = ?"
        )
        self._session.db.execute(sql, (*frame_columns(frame), number, scope, frame.version))
        if self._session.db.changes() == 0:
            raise Conflict(f"the frame of thread {frame.thread_id} is no longer at version {frame.version}")

    # --- observations -----------------------------------------------------------------------------------

    def known(self, ids: Sequence[UUID]) -> Mapping[UUID, Receipt]:
        """Return first receipts (added=False) of those observation ids that are stored already."""
        scope = self._session.number
        sql = f"SELECT o.id, o.ref FROM {EACH} observation o WHERE o.scope = ? AND o.id = unhex(p.value)"
        rows = self._session.rows(sql, (id_list(ids), scope))
        found = [(UUID(bytes=key), *split_ref(ref)) for key, ref in rows]
        threads = self._session.thread_ids([number for _, number, _ in found])
        return {key: Receipt(key, threads[number], seq, added=False) for key, number, seq in found}

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
                if stays := stays_of(number, observations):
                    go_on(self._session, stays)
                keep_expiries(self._session, [ref for _, ref, *_ in columns], observations)
        except apsw.ConstraintError as error:
            raise Conflict(f"an observation id of thread {first.thread_id} is stored already") from error
        reach("after-append")

    def _check_next(self, number: int, first: Observation) -> None:
        sql = "SELECT max(ref) FROM observation WHERE ref BETWEEN ? AND ?"
        found = self._session.row(sql, (ref_of(number, 0), ref_of(number, _LAST_SEQ)))
        last = found[0] if found is not None else None
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

    def observations(self, thread_id: UUID, first_seq: int, last_seq: int) -> Sequence[Observation]:
        """Read `first_seq..last_seq` (inclusive) in order; erased ones are left out."""
        span = self._session.span(thread_id, first_seq, last_seq)
        if span is None:
            return []
        sql = (
            f"SELECT {OBSERVATION} FROM observation"
            " WHERE ref BETWEEN ? AND ? AND scope = ? AND erased_at IS NULL ORDER BY ref"
        )
        return self._observations(self._session.rows(sql, (*span, self._session.number)))

    def ranges(self, spans: Sequence[tuple[UUID, int, int]]) -> Sequence[Sequence[Observation]]:
        """Read several ranges (thread, first seq, last seq) at once, each as `observations` reads it."""
        self._session.find_threads([thread for thread, _, _ in spans])
        refs = [self._session.span(*span) for span in spans]
        found = self._session.rows(_IN_RANGES, (to_json(refs), self._session.number))
        read: list[list[Observation]] = [[] for _ in spans]
        observations = self._observations([tuple(columns) for _, *columns in found])
        for (place, *_), observation in zip(found, observations, strict=True):
            read[place].append(observation)
        return read

    def by_refs(self, refs: Sequence[int]) -> Mapping[int, Observation]:
        """Read observations by their refs; unknown and erased ones are left out."""
        sql = f"{_LOOK_UP} WHERE o.ref = p.value AND o.scope = ? AND o.erased_at IS NULL"
        found = self._session.rows(sql, (number_list(refs), self._session.number))
        return {columns[0]: item for columns, item in zip(found, self._observations(found), strict=True)}

    def marks(self, refs: Refs) -> Sequence[ObservationMark]:
        """Read the marks of observations in the order of refs; unknown and erased ones are left out."""
        sql = (
            f"SELECT o.ref, lower(hex(o.id)), o.actor, o.at, o.at_source = '{TimeSource.ASSUMED}',"
            f" octet_length(o.text) FROM {EACH} observation o"
            " WHERE o.ref = p.value AND o.scope = ? AND o.erased_at IS NULL"
        )
        found = self._session.rows(sql, (number_list(refs.tolist()), self._session.number))
        return [ObservationMark._make(columns) for columns in found]

    def by_ids(self, ids: Sequence[UUID]) -> Mapping[UUID, Observation]:
        """Read observations by their ids; unknown and erased ones are left out."""
        sql = f"{_LOOK_UP} WHERE o.scope = ? AND o.id = unhex(p.value) AND o.erased_at IS NULL"
        found = self._session.rows(sql, (id_list(ids), self._session.number))
        return {item.id: item for item in self._observations(found)}

    def _observations(self, found: Sequence[tuple[Any, ...]]) -> Sequence[Observation]:
        threads = self._session.thread_ids([split_ref(columns[0])[0] for columns in found])
        return [observation_of(columns, threads[split_ref(columns[0])[0]]) for columns in found]

    def save_records(self, thread_id: UUID, records: Mapping[int, bytes | None]) -> None:
        """Keep the packed record of the check at each seq; None takes one away."""
        scope, number = self._session.own(), self._session.thread_number(thread_id)
        sql = "UPDATE observation SET cues = ? WHERE ref = ? AND scope = ?"
        columns = [(cues, ref_of(number, seq), scope) for seq, cues in sorted(records.items())]
        self._session.db.executemany(sql, columns)

    def records(self, thread_id: UUID, first_seq: int, last_seq: int) -> Mapping[int, bytes]:
        """Read the packed records of `first_seq..last_seq` (inclusive) that there are."""
        span = self._session.span(thread_id, first_seq, last_seq)
        if span is None:
            return {}
        sql = (
            "SELECT ref, cues FROM observation"
            " WHERE ref BETWEEN ? AND ? AND scope = ? AND cues IS NOT NULL ORDER BY ref"
        )
        found = self._session.rows(sql, (*span, self._session.number))
        return {split_ref(ref)[1]: cues for ref, cues in found}

    # --- the scope as a whole ---------------------------------------------------------------------------

    def count(self) -> int:
        """Count the scope's observations."""
        found = self._session.row("SELECT sum(spoke) FROM actor WHERE scope = ?", (self._session.number,))
        return 0 if found is None or found[0] is None else int(found[0])

    def actors(self, *, limit: int = 200) -> Mapping[str, int]:
        """Return speakers with how often each spoke, most frequent first, ties by name."""
        sql = "SELECT name, spoke FROM actor WHERE scope = ? ORDER BY spoke DESC, name LIMIT ?"
        return dict(self._session.rows(sql, (self._session.number, limit)))

    def last_at(self) -> datetime | None:
        """Return the newest event time in the scope."""
        sql = "SELECT max(at) FROM observation WHERE scope = ? AND erased_at IS NULL"
        found = self._session.row(sql, (self._session.number,))
        return None if found is None else optional_time(found[0])

    def times(self, refs: Refs) -> NDArray[np.int64]:
        """Return event times of observation refs in microseconds since 1970 (missing: minimum int64)."""
        sql = (
            f"SELECT o.ref, o.at FROM {EACH} observation o"
            " WHERE o.ref = p.value AND o.scope = ? AND o.erased_at IS NULL"
        )
        wanted: list[int] = refs.tolist()
        rows = self._session.rows(sql, (number_list(wanted), self._session.number))
        found: dict[int, int] = dict(rows)
        return np.array([found.get(ref, _NO_TIME) for ref in wanted], dtype=np.int64)

    def between(self, start: datetime, end: datetime, *, limit: int) -> Refs:
        """Return refs of observations whose event time lies in [start, end), oldest first, ties by ref."""
        sql = (
            "SELECT ref FROM observation WHERE scope = ? AND at >= ? AND at < ? AND erased_at IS NULL"
            " ORDER BY at, ref LIMIT ?"
        )
        bindings = (self._session.number, to_microseconds(start), to_microseconds(end), limit)
        return np.array([ref for (ref,) in self._session.rows(sql, bindings)], dtype=np.int64)

"""Threads, their frames and sections as rows: what is asked for is told apart here, looked up by stores."""

from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any, Final, overload
from uuid import UUID

from episodic_agent.errors import Conflict, InvalidInput
from episodic_agent.protocols import WhichThreads
from episodic_agent.schemas import Frame, Joined, Link, Section, Thread
from episodic_agent.stores.catalogue import StoredTable, deleting_thread
from episodic_agent.stores.nouns import (
    CHANGING,
    FRAME,
    SECTION,
    THREAD,
    changing_columns,
    frame_columns,
    frame_of,
    section_columns,
    section_of,
    thread_of,
)
from episodic_agent.stores.rows import from_json, id_of, to_microseconds
from episodic_agent.stores.tables.dialect import EVERY, Table, placed, replacing, row_of
from episodic_agent.stores.tables.erasing import SPOKEN, ActorTable, of_thread
from episodic_agent.stores.tables.links import LinkTable

_READ_SECTION: Final = f"SELECT thread, {SECTION} FROM part WHERE :mine"
_NEWEST_SECTION: Final = "compacted_through IS NOT NULL ORDER BY first_at DESC, thread DESC, first_seq DESC"
_SAVE_SECTION: Final = (
    f"INSERT INTO part (:keys, thread, {SECTION}) VALUES (:own, :thread, {placed(SECTION)})"
    f" ON CONFLICT (:keys, thread, first_seq) DO UPDATE SET {replacing(SECTION, 1)}"
)
_DROP_SECTION: Final = "DELETE FROM part WHERE :mine AND thread = :thread AND first_seq = :first"


class SectionTable(Table):
    """What compaction takes one by one."""

    def section(self, thread_id: UUID, seq: int | None = None) -> Section | None:
        place = "" if seq is None else "AND first_seq <= :seq "
        sql = f"AND thread = :thread {place}ORDER BY first_seq DESC"
        return next(iter(self._sections(sql, thread_id, seq=seq, limit=1)), None)

    def sections(
        self,
        thread_id: UUID | None = None,
        *,
        grown: datetime | None = None,
        compacted: bool = False,
        limit: int | None = None,
    ) -> Sequence[Section]:
        most = EVERY if limit is None else limit
        if grown is not None:
            until = to_microseconds(grown)
            sql = "AND grown AND first_at <= :until ORDER BY first_at, thread"
            return self._sections(sql, thread_id, until=until, limit=most)
        of_thread = "" if thread_id is None else "AND thread = :thread "
        return self._sections(
            f"{of_thread}{f'AND {_NEWEST_SECTION}' if compacted else 'ORDER BY thread, first_seq'}",
            thread_id,
            limit=most,
        )

    def _save_section(self, section: Section) -> None:
        number = self._session.thread_number(section.thread_id)
        self._session.change(_SAVE_SECTION, thread=number, **row_of(SECTION, section_columns(section)))

    def _drop_section(self, thread_id: UUID, first_seq: int) -> None:
        self._session.change(_DROP_SECTION, thread=self._session.find_thread(thread_id), first=first_seq)

    def _sections(self, which: str, thread_id: UUID | None, **values: Any) -> list[Section]:
        number = None if thread_id is None else self._session.find_thread(thread_id)
        if thread_id is not None and number is None:
            return []
        results = self._session.read(f"{_READ_SECTION} {which} LIMIT :limit", thread=number, **values)
        threads = self._session.thread_ids([columns[0] for columns in results])
        return [section_of(columns[1:], threads[columns[0]]) for columns in results]


class DroppingTable(SectionTable, ActorTable):
    """Threads with their sections, as far as deleting goes."""

    tables: Sequence[StoredTable]

    def drop(self, thread_id: UUID, section: int | None = None) -> None:
        """Delete every row of a thread (raises NotFound), or only that of the section that begins there."""
        if section is not None:
            self._drop_section(thread_id, section)
            return
        number = self._session.thread_number(thread_id)
        values = of_thread(self._session, thread_id)
        for actor, count in self._session.read(SPOKEN, **values):
            self._silence(number, actor, count)
        for sql in deleting_thread(self.tables):
            self._session.alter(sql, **values)


_READ: Final = f"SELECT {THREAD} FROM thread WHERE :mine"
_ALL: Final = f"{_READ} ORDER BY last_activity_at DESC, id LIMIT :limit"
_OLDEST: Final = f"{_READ} ORDER BY created_at, id LIMIT :limit"
_GROWING: Final = (
    f"{_READ} AND EXISTS (SELECT 1 FROM (SELECT thread AS open FROM frame"
    " WHERE :mine AND first_seq < next_seq) f WHERE open = number)"
    " ORDER BY last_activity_at DESC, id LIMIT :limit"
)
_UNFINISHED: Final = (
    f"SELECT {THREAD} FROM thread JOIN"
    " (SELECT thread AS open, first_seq < next_seq AS growing FROM frame WHERE :mine) f ON open = number"
    " WHERE :mine AND (growing OR status = 'open' AND NOT explicit) ORDER BY last_activity_at, id"
)
_NUMBERED: Final = "SELECT number, id, channels FROM thread WHERE :mine"
_SAVE: Final = (
    f"UPDATE thread SET {', '.join(f'{name} = :{name}' for name in CHANGING.split(', '))}"
    " WHERE :mine AND number = :number"
)
# The name that the message gave which began a thread (`is_unnamed` in the engine): it ends with a time.
UNNAMED: Final = "(origin LIKE '% ____-__-__T__:__:__Z' OR origin LIKE '% ____-__-__T__:__:__Z (%)')"
_NEW_FRAME: Final = f"INSERT INTO frame (:keys, thread, {FRAME}) VALUES (:own, :thread, {placed(FRAME)})"
_FRAMED: Final = FRAME.removesuffix(", version")
_SAVE_FRAME: Final = (
    f"UPDATE frame SET {', '.join(f'{name} = :{name}' for name in _FRAMED.split(', '))},"
    " version = version + 1 WHERE :mine AND thread = :thread AND version = :version"
)


class ThreadTable(DroppingTable, LinkTable):
    """Threads, as both stores keep them."""

    _locked = ""  # what ends a read of a frame that nobody else changes before the end

    def get(self, key: UUID | str) -> Thread | None:
        if isinstance(key, str):
            results = self._session.read(f"{_READ} AND origin = :origin", origin=key)
        else:
            results = self._session.read(f"{_READ} AND id = :id", id=key.bytes)
        return self._thread(results[0]) if results else None

    def list(
        self,
        which: WhichThreads = "all",
        *,
        ids: Sequence[UUID] | None = None,
        begun: datetime | None = None,
        picked: Sequence[str] = (),
        limit: int | None = None,
    ) -> Sequence[Thread]:
        """Return the threads that are asked for, as the port says."""
        if ids is not None:
            results = self._many(ids)
        elif begun is not None:
            results = self._begun(to_microseconds(begun), limit)
        elif which == "current":
            results = self._current(picked, limit)
        elif which == "unfinished":
            results = self._session.read(_UNFINISHED)
        else:
            sql = {"growing": _GROWING, "oldest": _OLDEST}.get(which, _ALL)
            results = self._session.read(sql, limit=EVERY if limit is None else limit)
        return [self._thread(columns) for columns in results]

    def _thread(self, columns: tuple[Any, ...]) -> Thread:
        thread = thread_of(columns)
        self._session.remember_thread(columns[0], thread.id)
        return thread

    @abstractmethod
    def _many(self, ids: Sequence[UUID]) -> Sequence[tuple[Any, ...]]:
        """Look up the threads of these ids, in any order."""

    @abstractmethod
    def _begun(self, until: int, limit: int | None) -> Sequence[tuple[Any, ...]]:
        """Look up threads of messages that began by a time, by last activity, newest first."""

    @abstractmethod
    def _current(self, picked: Sequence[str], limit: int | None) -> Sequence[tuple[Any, ...]]:
        """Look up the threads that a message may go on with."""

    def number(self, thread_id: UUID) -> int:
        return self._session.thread_number(thread_id)

    def by_numbers(
        self,
        numbers: Sequence[int] | None = None,
        *,
        came_by: Callable[[tuple[str, ...]], bool] | None = None,
    ) -> Mapping[int, UUID]:
        """Return the ids of those numbers that are threads, where the channels they came by pass."""
        if numbers is not None and came_by is None:
            return self._session.thread_ids(numbers)
        sql = _NUMBERED if numbers is None else f"{_NUMBERED} AND number IN :numbers(threads)"
        rows = self._session.read(
            f"{sql} ORDER BY number", **({} if numbers is None else {"threads": [*numbers]})
        )
        distinct = dict.fromkeys(channels for *_, channels in rows)
        passes = {one: came_by is None or came_by(tuple(from_json(one))) for one in distinct}
        ids = {number: id_of(identity) for number, identity, channels in rows if passes[channels]}
        for number, identity in ids.items():
            self._session.remember_thread(number, identity)
        return ids

    def save(self, changed: Thread | Frame | Section | Link | Joined) -> None:
        if isinstance(changed, Frame):
            self._save_frame(changed)
        elif isinstance(changed, Section):
            self._save_section(changed)
        elif isinstance(changed, Link):
            self._put_link(changed)
        elif isinstance(changed, Joined):
            self._join(changed.episode_id, changed.threads)
        else:
            self._save_thread(changed)

    @overload
    def frame(self, key: UUID) -> Frame: ...

    @overload
    def frame(self, key: Sequence[UUID]) -> Mapping[UUID, Frame]: ...

    def frame(self, key: UUID | Sequence[UUID]) -> Frame | Mapping[UUID, Frame]:
        """Read a thread's frame (raises NotFound), or several at once, to look at only."""
        return self._frame(key) if isinstance(key, UUID) else self._frames(key)

    def create(self, thread: Thread, frame: Frame) -> None:
        if frame.thread_id != thread.id:
            raise InvalidInput(f"the frame of thread {frame.thread_id} was given for thread {thread.id}")
        number = self._add(thread)
        if number is None:
            raise Conflict(f"a thread {thread.id} or of origin {thread.origin!r} exists already")
        self._session.remember_thread(number, thread.id)
        columns = row_of(FRAME, (*frame_columns(frame), frame.version))
        self._session.change(_NEW_FRAME, thread=number, **columns)

    @abstractmethod
    def _add(self, thread: Thread) -> int | None:
        """Write a new thread; return its number, None when its origin or id is taken."""

    def _save_thread(self, thread: Thread) -> None:
        number = self._session.thread_number(thread.id)
        self._session.change(_SAVE, number=number, **row_of(CHANGING, changing_columns(thread)))

    def _save_frame(self, frame: Frame) -> None:
        number = self._session.thread_number(frame.thread_id)
        columns = row_of(_FRAMED, frame_columns(frame))
        if not self._session.change(_SAVE_FRAME, thread=number, version=frame.version, **columns):
            raise Conflict(f"the frame of thread {frame.thread_id} is no longer at version {frame.version}")

    def _frame(self, thread_id: UUID) -> Frame:
        number = self._session.thread_number(thread_id)
        sql = f"SELECT {FRAME} FROM frame WHERE :mine AND thread = :thread"
        results = self._session.read(sql + (self._locked if self._session.writes else ""), thread=number)
        if not results:
            raise Conflict(f"thread {thread_id} was deleted just now; repeat the call")
        return frame_of(results[0], thread_id)

    def _frames(self, thread_ids: Sequence[UUID]) -> Mapping[UUID, Frame]:
        numbers = self._session.find_threads(thread_ids)
        sql = f"SELECT thread, {FRAME} FROM frame WHERE :mine AND thread IN :numbers(threads)"
        results = self._session.read(sql, threads=[*numbers])
        return {numbers[number]: frame_of(tuple(columns), numbers[number]) for number, *columns in results}

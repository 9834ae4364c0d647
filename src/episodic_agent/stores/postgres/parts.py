"""The parts of threads as rows: what compaction has done with each, and what it has still to do."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from episodic_agent.schemas import ThreadPart
from episodic_agent.stores.nouns import PART, part_columns, part_of
from episodic_agent.stores.postgres.session import Session
from episodic_agent.stores.postgres.text import read_columns
from episodic_agent.stores.rows import to_microseconds

_SELECT: Final = f"SELECT thread, {PART} FROM part WHERE space = %s AND owner = %s"
_CHANGING: Final = PART.split(", ")[1:]
_SAVE: Final = (
    f"INSERT INTO part (space, owner, thread, {PART}) VALUES ({', '.join(['%s'] * (PART.count(',') + 4))})"
    " ON CONFLICT (space, owner, thread, first_seq) DO UPDATE SET "
    + ", ".join(f"{name} = excluded.{name}" for name in _CHANGING)
)


class PostgresThreadParts:
    """The `ThreadParts` of one transaction."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def at(self, thread_id: UUID, seq: int) -> ThreadPart | None:
        """Return the part that an observation is in."""
        condition = "AND first_seq <= %s ORDER BY first_seq DESC LIMIT 1"
        return next(iter(self._of(thread_id, condition, seq)), None)

    def last(self, thread_id: UUID) -> ThreadPart | None:
        """Return the part a thread's next observation joins or follows."""
        return next(iter(self._of(thread_id, "ORDER BY first_seq DESC LIMIT %s", 1)), None)

    def of_thread(self, thread_id: UUID) -> Sequence[ThreadPart]:
        """Return a thread's parts in order."""
        return self._of(thread_id, "ORDER BY first_seq LIMIT %s", None)

    def grown(self, until: datetime, *, limit: int) -> Sequence[ThreadPart]:
        """Return parts nobody asked to be compacted since they grew that began by an event time."""
        sql = f"{_SELECT} AND grown AND first_at <= %s ORDER BY first_at, thread LIMIT %s"
        return self._parts(self._session.rows(sql, (*self._session.keys, to_microseconds(until), limit)))

    def compacted(self, *, limit: int, thread_id: UUID | None = None) -> Sequence[ThreadPart]:
        """Return parts (of a thread) that have words, newest first turn first."""
        newest = (
            "AND compacted_through IS NOT NULL ORDER BY first_at DESC, thread DESC, first_seq DESC LIMIT %s"
        )
        if thread_id is not None:
            return self._of(thread_id, newest, limit)
        return self._parts(self._session.rows(f"{_SELECT} {newest}", (*self._session.keys, limit)))

    def save(self, part: ThreadPart) -> None:
        """Write a part, in place of the one that begins at the same observation; raises NotFound."""
        keys, number = self._session.own(), self._session.thread_number(part.thread_id)
        self._session.execute(_SAVE, (*keys, number, *part_columns(part)))

    def drop(self, thread_id: UUID, first_seq: int) -> None:
        """Delete the row of a part; an unknown one is gone already."""
        keys, number = self._session.own(), self._session.find_thread(thread_id)
        sql = "DELETE FROM part WHERE space = %s AND owner = %s AND thread = %s AND first_seq = %s"
        self._session.execute(sql, (*keys, number, first_seq))

    def _of(self, thread_id: UUID, condition: str, value: int | None) -> list[ThreadPart]:
        number = self._session.find_thread(thread_id)
        if number is None:
            return []
        sql = f"{_SELECT} AND thread = %s {condition}"
        return self._parts(self._session.rows(sql, (*self._session.keys, number, value)))

    def _parts(self, found: Sequence[tuple[Any, ...]]) -> list[ThreadPart]:
        threads = self._session.thread_ids([columns[0] for columns in found])
        return [part_of(read_columns(columns[1:]), threads[columns[0]]) for columns in found]

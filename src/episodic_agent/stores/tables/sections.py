"""The sections of threads as rows: what compaction has done with each, and what it has still to do."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from episodic_agent.schemas import Section
from episodic_agent.stores.nouns import SECTION, section_columns, section_of
from episodic_agent.stores.rows import to_microseconds
from episodic_agent.stores.tables.dialect import EVERY, Table, placed, replacing, row_of

_READ: Final = f"SELECT thread, {SECTION} FROM part WHERE :mine"
_NEWEST: Final = "compacted_through IS NOT NULL ORDER BY first_at DESC, thread DESC, first_seq DESC"
_SAVE: Final = (
    f"INSERT INTO part (:keys, thread, {SECTION}) VALUES (:own, :thread, {placed(SECTION)})"
    f" ON CONFLICT (:keys, thread, first_seq) DO UPDATE SET {replacing(SECTION, 1)}"
)
_DROP: Final = "DELETE FROM part WHERE :mine AND thread = :thread AND first_seq = :first"


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
            f"{of_thread}{f'AND {_NEWEST}' if compacted else 'ORDER BY thread, first_seq'}",
            thread_id,
            limit=most,
        )

    def _save_section(self, section: Section) -> None:
        number = self._session.thread_number(section.thread_id)
        self._session.change(_SAVE, thread=number, **row_of(SECTION, section_columns(section)))

    def _drop_section(self, thread_id: UUID, first_seq: int) -> None:
        self._session.change(_DROP, thread=self._session.find_thread(thread_id), first=first_seq)

    def _sections(self, which: str, thread_id: UUID | None, **values: Any) -> list[Section]:
        number = None if thread_id is None else self._session.find_thread(thread_id)
        if thread_id is not None and number is None:
            return []
        results = self._session.read(f"{_READ} {which} LIMIT :limit", thread=number, **values)
        threads = self._session.thread_ids([columns[0] for columns in results])
        return [section_of(columns[1:], threads[columns[0]]) for columns in results]

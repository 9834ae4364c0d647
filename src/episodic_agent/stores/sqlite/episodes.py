"""Episodes, their encodings and the decisions that made them, as rows.

`generation_from`..`generation_to` is half open: an episode belongs to generations from <= g < to, and is
current while `generation_to` is NULL.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from episodic_agent.protocols import ref_of
from episodic_agent.schemas import Episode
from episodic_agent.schemas.chains import Condition
from episodic_agent.stores.nouns import (
    EPISODE,
    columns_of,
    episode_of,
)
from episodic_agent.stores.rows import (
    to_microseconds,
)
from episodic_agent.stores.sqlite.chains import SqliteNodes
from episodic_agent.stores.sqlite.file.session import EACH, SqliteSession, id_list, number_list
from episodic_agent.stores.sqlite.metadata import SqliteConditions, SqliteMetadata
from episodic_agent.stores.tables.episodes import EpisodeTable

_READ: Final = f"{columns_of(EPISODE, 'e')}, w.title, w.summary, w.encoded_by, w.metadata"
_WORDED: Final = (
    "episode e LEFT JOIN encoding w"
    " ON w.scope = e.scope AND w.episode = e.id AND w.version = e.encoding_version"
)
_SELECT: Final = f"SELECT {_READ} FROM {_WORDED}"
_LOOK_UP: Final = f"SELECT {_READ} FROM {EACH} {_WORDED}"
# Left alone the planner reads all episodes of the scope for each thread.
_OF_THREADS: Final = _LOOK_UP.replace("episode e ", "episode e INDEXED BY episode_cover ")
_CURRENT: Final = "e.kind = 'event' AND e.generation_to IS NULL"
_PENDING: Final = f"e.scope = ? AND {_CURRENT} AND e.consolidated_at IS NULL AND e.encoding_version > 0"
# `p.value` is a pair of refs. The episodes of a span begin with the last one that begins at it or before.
_FROM, _TO = "(p.value ->> 0)", "(p.value ->> 1)"


class SqliteEpisodes(SqliteMetadata, EpisodeTable, SqliteNodes):
    """The `Episodes` of one transaction."""

    _session: SqliteSession

    def _by_ids(self, ids: Sequence[UUID]) -> Mapping[UUID, Episode]:
        sql = f"{_LOOK_UP} WHERE e.scope = ? AND e.id = unhex(p.value)"
        rows = self._session.rows(sql, (id_list(ids), self._session.number))
        return {episode.id: episode for episode in self._episodes(rows)}

    def _of_thread(self, thread_id: UUID, generation: int | None) -> Sequence[Episode]:
        number = self._session.find_thread(thread_id)
        if number is None:
            return []
        scope = self._session.number
        if generation is None:
            sql = f"{_SELECT} WHERE e.scope = ? AND e.thread = ? AND {_CURRENT} ORDER BY e.first_seq"
            return self._episodes(self._session.rows(sql, (scope, number)))
        sql = (
            f"{_SELECT} WHERE e.scope = ? AND e.thread = ? AND e.kind = 'event' AND e.generation_from <= ?"
            " AND (e.generation_to IS NULL OR e.generation_to > ?) ORDER BY e.first_seq"
        )
        return self._episodes(self._session.rows(sql, (scope, number, generation, generation)))

    def _of_threads(self, thread_ids: Sequence[UUID]) -> Sequence[Episode]:
        numbers = self._session.find_threads(thread_ids)
        sql = f"{_OF_THREADS} WHERE e.scope = ? AND e.thread = p.value AND {_CURRENT} ORDER BY e.first_seq"
        return self._episodes(self._session.rows(sql, (number_list(numbers), self._session.number)))

    def _by_refs(self, refs: Sequence[int]) -> Mapping[int, Episode]:
        sql = (
            f"{_LOOK_UP} WHERE e.scope = ? AND e.thread = p.value >> 32"
            f" AND e.first_seq = (p.value & 4294967295) AND {_CURRENT}"
        )
        rows = self._session.rows(sql, (number_list(refs), self._session.number))
        places = [ref_of(columns[1], columns[4]) for columns in rows]
        return dict(zip(places, self._episodes(rows), strict=True))

    def _unconsolidated(self, limit: int | None) -> Sequence[Episode]:
        sql = f"{_SELECT} WHERE {_PENDING} ORDER BY e.created_at, e.id LIMIT ?"
        return self._episodes(self._session.rows(sql, (self._session.number, -1 if limit is None else limit)))

    def _about(self, fields: Sequence[Sequence[Condition]]) -> Sequence[UUID]:
        return SqliteConditions(self._session).passing(fields)

    def _recent(
        self, since: datetime | None, before: datetime | None, limit: int | None
    ) -> Sequence[Episode]:
        conditions, bindings = [f"e.scope = ? AND {_CURRENT}"], [self._session.number]
        for time, comparison in ((since, ">="), (before, "<")):
            if time is not None:
                conditions.append(f"e.end_at {comparison} ?")
                bindings.append(to_microseconds(time))
        newest = "e.end_at DESC, e.thread DESC, e.first_seq DESC"
        sql = f"{_SELECT} WHERE {' AND '.join(conditions)} ORDER BY {newest} LIMIT ?"
        return self._episodes(self._session.rows(sql, (*bindings, -1 if limit is None else limit)))

    def _episodes(self, values: Sequence[tuple[Any, ...]]) -> Sequence[Episode]:
        threads = self._session.thread_ids([columns[1] for columns in values])
        return [episode_of(columns, threads[columns[1]]) for columns in values]

"""Episodes, their encodings and the decisions that made them, as rows.

`generation_from`..`generation_to` is half open: an episode belongs to generations from <= g < to, and is
current while `generation_to` is NULL.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Final
from uuid import UUID

import apsw

from episodic_agent.core.chains import metadata_terms
from episodic_agent.errors import Conflict, NotFound
from episodic_agent.protocols import ref_of
from episodic_agent.schemas import Encoding, Episode
from episodic_agent.schemas.chains import Condition
from episodic_agent.stores.faults import reach
from episodic_agent.stores.nouns import (
    EPISODE,
    columns_of,
    episode_columns,
    episode_of,
    own_words,
)
from episodic_agent.stores.rows import (
    to_json,
    to_microseconds,
)
from episodic_agent.stores.sqlite.chains import SqliteNodes
from episodic_agent.stores.sqlite.file.session import EACH, SqliteSession, id_list, number_list
from episodic_agent.stores.sqlite.metadata import SqliteConditions, SqliteMetadata
from episodic_agent.stores.tables.episodes import EpisodeTable

_INSERT: Final = f"INSERT INTO episode (scope, {EPISODE}) VALUES ({', '.join('?' * 22)})"
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

    def _insert(self, episode: Episode) -> None:
        scope, number = self._session.own(), self._session.thread_number(episode.thread_id)
        sql = "SELECT 1 FROM episode WHERE scope = ? AND id = ?"
        if self._session.row(sql, (scope, episode.id.bytes)) is not None:
            return
        try:
            self._session.db.execute(_INSERT, (scope, *episode_columns(episode, number)))
        except apsw.ConstraintError as error:
            place = f"{episode.first_seq} of thread {episode.thread_id}"
            raise Conflict(f"a current episode begins at {place} already") from error
        if episode.encoding_version > 0:
            self._encode(own_words(episode))

    def archive(self, thread_id: UUID, first_seq: int, last_seq: int) -> int:
        """Archive the current closed event episodes that end within a span of seqs; return how many."""
        sql = (
            "UPDATE episode AS e SET state = 'archived' WHERE e.scope = ? AND e.thread = ?"
            f" AND e.last_seq BETWEEN ? AND ? AND e.state = 'closed' AND {_CURRENT}"
        )
        scope, number = self._session.own(), self._session.thread_number(thread_id)
        self._session.db.execute(sql, (scope, number, first_seq, last_seq))
        return self._session.db.changes()

    def retire(self, ids: Sequence[UUID], generation: int) -> None:
        """Let current event episodes end with the generation before this one; Conflict where one is not."""
        scope, target = self._session.own(), id_list(ids)
        sql = f"SELECT e.id FROM {EACH} episode e WHERE e.id = unhex(p.value) AND e.scope = ? AND {_CURRENT}"
        if len(self._session.rows(sql, (target, scope))) != len(ids):
            raise Conflict("an episode to be replaced is no longer current; repeat the call")
        sql = (
            "UPDATE episode SET generation_to = ?"
            " WHERE scope = ? AND id IN (SELECT unhex(value) FROM json_each(?))"
        )
        self._session.db.execute(sql, (generation, scope, target))
        reach("after-retire")

    def revive(self, thread_id: UUID, generation: int) -> None:
        """Undo a generation: delete what it made, make current again what it retired; NotFound."""
        scope, number = self._session.own(), self._session.thread_number(thread_id)
        made = (
            "SELECT id FROM episode WHERE scope = ?1 AND thread = ?2 AND kind = 'event'"
            " AND generation_from >= ?3"
        )
        for sql in (
            f"DELETE FROM encoding WHERE scope = ?1 AND episode IN ({made})",
            f"DELETE FROM metadata_term WHERE scope = ?1 AND episode IN ({made})",
            f"DELETE FROM decision WHERE scope = ?1 AND subject IN ({made})",
            f"DELETE FROM episode WHERE scope = ?1 AND id IN ({made})",
        ):
            self._session.db.execute(sql, (scope, number, generation))
        reach("mid-revive")
        sql = (
            "UPDATE episode SET generation_to = NULL WHERE scope = ? AND thread = ? AND kind = 'event'"
            " AND generation_to = ?"
        )
        self._session.db.execute(sql, (scope, number, generation))

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

    def _encode(self, encoding: Encoding) -> bool:
        scope = self._session.own()
        sql = (
            "INSERT INTO encoding (scope, episode, version, title, summary, metadata, encoded_by, created_at)"
            " VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (scope, episode, version) DO NOTHING"
        )
        words = (encoding.title, encoding.summary, to_json(encoding.metadata), encoding.by)
        key = (scope, encoding.episode_id.bytes, encoding.version)
        try:
            self._session.db.execute(sql, (*key, *words, to_microseconds(encoding.created_at)))
        except apsw.ConstraintError as error:
            raise NotFound(f"no episode {encoding.episode_id} in this scope") from error
        sql = "UPDATE episode SET encoding_version = ? WHERE scope = ? AND id = ? AND encoding_version < ?"
        self._session.db.execute(sql, (encoding.version, scope, encoding.episode_id.bytes, encoding.version))
        newest = self._session.db.changes() > 0
        if newest:
            self._describe(encoding.episode_id, metadata_terms(encoding.metadata))
        return newest

    def _consolidate(self, ids: Sequence[UUID], at: datetime) -> None:
        identifiers = set(ids)
        sql = (
            f"UPDATE episode AS e SET consolidated_at = ? WHERE {_PENDING}"
            " AND e.id IN (SELECT unhex(value) FROM json_each(?))"
        )
        self._session.db.execute(sql, (to_microseconds(at), self._session.own(), id_list(identifiers)))
        if self._session.db.changes() != len(identifiers):
            raise Conflict("an episode to be consolidated is no longer pending; repeat the call")

    def _reconsider(self, ids: Sequence[UUID]) -> None:
        sql = (
            "UPDATE episode SET consolidated_at = NULL"
            " WHERE scope = ? AND id IN (SELECT unhex(value) FROM json_each(?))"
        )
        self._session.db.execute(sql, (self._session.own(), id_list(set(ids))))

"""Episodes, their encodings and the decisions that made them, as rows.

`generation_from`..`generation_to` is half open: an episode belongs to generations from <= g < to, and is
current while `generation_to` is NULL.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Final
from uuid import UUID

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
from episodic_agent.stores.postgres.chains import PostgresNodes
from episodic_agent.stores.postgres.metadata import PostgresConditions, PostgresMetadata
from episodic_agent.stores.postgres.server.batches import bigints, byteas
from episodic_agent.stores.postgres.server.session import PostgresSession
from episodic_agent.stores.postgres.server.text import read_columns
from episodic_agent.stores.rows import (
    to_json,
    to_microseconds,
)
from episodic_agent.stores.tables.episodes import EpisodeTable

_INSERT: Final = (
    f"INSERT INTO episode (space, owner, {EPISODE}) VALUES ({', '.join(['%s'] * 23)}) ON CONFLICT DO NOTHING"
)
_OWN: Final = "e.space = %s AND e.owner = %s"
_SHOWN: Final = f"{columns_of(EPISODE, 'e')}, w.title, w.summary, w.encoded_by, w.metadata"
# OFFSET 0 keeps this a look-up for each episode, however few rows the planner believes a scope has. The keys
# are named again: a cluster does not see through LATERAL whose rows these are.
_NEWEST: Final = (
    " LEFT JOIN LATERAL (SELECT * FROM encoding w WHERE w.space = %s AND w.owner = %s"
    " AND w.episode = e.id AND w.version = e.encoding_version OFFSET 0) w ON true"
)
_SELECT: Final = f"SELECT {_SHOWN} FROM episode e{_NEWEST} WHERE {_OWN}"
_CURRENT: Final = "e.kind = 'event' AND e.generation_to IS NULL"
_OF_THREADS: Final = (
    "SELECT o.* FROM unnest(%s::bigint[]) AS p (thread) CROSS JOIN LATERAL"
    f" ({_SELECT} AND e.thread = p.thread::integer AND {_CURRENT} ORDER BY e.first_seq OFFSET 0) o"
)
_PENDING: Final = f"{_CURRENT} AND e.consolidated_at IS NULL AND e.encoding_version > 0"
# One look-up for each place: joined as sets, all episodes of the scope were read.
_AT_PLACES: Final = (
    " FROM unnest(%s::bigint[]) AS p (ref) CROSS JOIN LATERAL (SELECT * FROM episode e"
    f" WHERE {_OWN} AND e.thread = (p.ref >> 32)::integer AND e.first_seq = p.ref & 4294967295"
    f" AND {_CURRENT} OFFSET 0) e"
)


class PostgresEpisodes(PostgresMetadata, EpisodeTable, PostgresNodes):
    """The `Episodes` of one transaction."""

    _session: PostgresSession

    def _insert(self, episode: Episode) -> None:
        keys, number = self._session.own(), self._session.thread_number(episode.thread_id)
        if self._session.execute(_INSERT, (*keys, *episode_columns(episode, number))) == 0:
            if not self._exists(episode.id):
                place = f"{episode.first_seq} of thread {episode.thread_id}"
                raise Conflict(f"a current episode begins at {place} already")
            return
        if episode.encoding_version > 0:
            self._encode(own_words(episode))

    def archive(self, thread_id: UUID, first_seq: int, last_seq: int) -> int:
        """Archive the current closed event episodes that end within a span of seqs; return how many."""
        keys, number = self._session.own(), self._session.thread_number(thread_id)
        # Locked in the order of their ids, as whoever retires them or gives them words does.
        held = (
            f"SELECT e.id FROM episode e WHERE {_OWN} AND e.thread = %s AND e.last_seq BETWEEN %s AND %s"
            f" AND e.state = 'closed' AND {_CURRENT} ORDER BY e.id FOR NO KEY UPDATE"
        )
        rows = self._session.rows(held, (*keys, number, first_seq, last_seq))
        ids = byteas([bytes(identity) for (identity,) in rows])
        sql = (
            "UPDATE episode SET state = 'archived' WHERE space = %s AND owner = %s AND id = ANY(%s::bytea[])"
        )
        return self._session.execute(sql, (*keys, ids)) if rows else 0

    def retire(self, ids: Sequence[UUID], generation: int) -> None:
        """Let current event episodes end with the generation before this one; Conflict where one is not."""
        keys, binary = self._session.own(), byteas([identity.bytes for identity in ids])
        # Locked in the order of their ids, as whoever gives them words does.
        held = (
            f"SELECT e.id FROM episode e WHERE {_OWN} AND e.id = ANY(%s::bytea[]) AND {_CURRENT}"
            " ORDER BY e.id FOR NO KEY UPDATE"
        )
        if len(self._session.rows(held, (*keys, binary))) != len(ids):
            raise Conflict("an episode to be replaced is no longer current; repeat the call")
        sql = (
            "UPDATE episode SET generation_to = %s WHERE space = %s AND owner = %s AND id = ANY(%s::bytea[])"
        )
        self._session.execute(sql, (generation, *keys, binary))
        reach("after-retire")

    def revive(self, thread_id: UUID, generation: int) -> None:
        """Undo a generation: delete what it made, make current again what it retired; NotFound."""
        keys, number = self._session.own(), self._session.thread_number(thread_id)
        made = (
            f"SELECT e.id FROM episode e WHERE {_OWN} AND e.thread = %s AND e.kind = 'event'"
            " AND e.generation_from >= %s ORDER BY e.id FOR UPDATE"
        )
        rows = self._session.rows(made, (*keys, number, generation))
        gone = byteas([bytes(identity) for (identity,) in rows])
        derived = (("encoding", "episode"), ("metadata_term", "episode"), ("decision", "subject"))
        for table, column in (*derived, ("episode", "id")):
            sql = f"DELETE FROM {table} WHERE space = %s AND owner = %s AND {column} = ANY(%s::bytea[])"
            self._session.execute(sql, (*keys, gone))
        reach("mid-revive")
        sql = (
            "UPDATE episode SET generation_to = NULL WHERE space = %s AND owner = %s AND thread = %s"
            " AND kind = 'event' AND generation_to = %s"
        )
        self._session.execute(sql, (*keys, number, generation))

    def _exists(self, episode_id: UUID) -> bool:
        sql = f"SELECT 1 FROM episode e WHERE {_OWN} AND e.id = %s"
        return self._session.row(sql, (*self._session.keys, episode_id.bytes)) is not None

    def _by_ids(self, ids: Sequence[UUID]) -> Mapping[UUID, Episode]:
        sql = f"{_SELECT} AND e.id = ANY(%s::bytea[])"
        keys = self._session.keys
        rows = self._session.rows(sql, (*keys, *keys, byteas([identity.bytes for identity in ids])))
        read = {episode.id: episode for episode in self._episodes(rows)}
        return {identity: read[identity] for identity in ids if identity in read}

    def _of_thread(self, thread_id: UUID, generation: int | None) -> Sequence[Episode]:
        number = self._session.find_thread(thread_id)
        if number is None:
            return []
        keys = self._session.keys
        if generation is None:
            sql = f"{_SELECT} AND e.thread = %s AND {_CURRENT} ORDER BY e.first_seq"
            return self._episodes(self._session.rows(sql, (*keys, *keys, number)))
        sql = (
            f"{_SELECT} AND e.thread = %s AND e.kind = 'event' AND e.generation_from <= %s"
            " AND (e.generation_to IS NULL OR e.generation_to > %s) ORDER BY e.first_seq"
        )
        return self._episodes(self._session.rows(sql, (*keys, *keys, number, generation, generation)))

    def _of_threads(self, thread_ids: Sequence[UUID]) -> Sequence[Episode]:
        numbers = self._session.find_threads(thread_ids)
        keys = self._session.keys
        return self._episodes(self._session.rows(_OF_THREADS, (bigints(list(numbers)), *keys, *keys)))

    def _by_refs(self, refs: Sequence[int]) -> Mapping[int, Episode]:
        sql, keys = f"SELECT {_SHOWN}{_AT_PLACES}{_NEWEST}", self._session.keys
        rows = self._session.rows(sql, (bigints(refs), *keys, *keys))
        places = [ref_of(columns[1], columns[4]) for columns in rows]
        read = dict(zip(places, self._episodes(rows), strict=True))
        return {ref: read[ref] for ref in refs if ref in read}

    def _unconsolidated(self, limit: int | None) -> Sequence[Episode]:
        sql = f"{_SELECT} AND {_PENDING} ORDER BY e.created_at, e.id LIMIT %s"
        keys = self._session.keys
        return self._episodes(self._session.rows(sql, (*keys, *keys, limit)))

    def _about(self, fields: Sequence[Sequence[Condition]]) -> Sequence[UUID]:
        return PostgresConditions(self._session).passing(fields)

    def _recent(
        self, since: datetime | None, before: datetime | None, limit: int | None
    ) -> Sequence[Episode]:
        conditions, bindings = [_CURRENT], [*self._session.keys, *self._session.keys]
        for time, comparison in ((since, ">="), (before, "<")):
            if time is not None:
                conditions.append(f"e.end_at {comparison} %s")
                bindings.append(to_microseconds(time))
        newest = "e.end_at DESC, e.thread DESC, e.first_seq DESC"
        sql = f"{_SELECT} AND {' AND '.join(conditions)} ORDER BY {newest} LIMIT %s"
        return self._episodes(self._session.rows(sql, (*bindings, limit)))

    def _episodes(self, values: Sequence[tuple[Any, ...]]) -> Sequence[Episode]:
        threads = self._session.thread_ids([columns[1] for columns in values])
        return [episode_of(read_columns(columns), threads[columns[1]]) for columns in values]

    def _encode(self, encoding: Encoding) -> bool:
        keys, identity, version = self._session.own(), encoding.episode_id.bytes, encoding.version
        sql = (
            "UPDATE episode SET encoding_version = %s"
            " WHERE space = %s AND owner = %s AND id = %s AND encoding_version < %s"
        )
        newest = self._session.execute(sql, (version, *keys, identity, version)) > 0
        if not newest and not self._exists(encoding.episode_id):
            raise NotFound(f"no episode {encoding.episode_id} in this scope")
        sql = (
            "INSERT INTO encoding (space, owner, episode, version, title, summary, metadata, encoded_by,"
            " created_at) VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s)"
            " ON CONFLICT (space, owner, episode, version) DO NOTHING"
        )
        words = (encoding.title, encoding.summary, to_json(encoding.metadata), encoding.by)
        self._session.execute(sql, (*keys, identity, version, *words, to_microseconds(encoding.created_at)))
        if newest:
            self._describe(encoding.episode_id, metadata_terms(encoding.metadata))
        return newest

    def _consolidate(self, ids: Sequence[UUID], at: datetime) -> None:
        keys, identifiers = self._session.own(), set(ids)
        # Locked in the order of their ids, as whoever retires them or gives them words does.
        held = (
            f"SELECT e.id FROM episode e WHERE {_OWN} AND e.id = ANY(%s::bytea[]) AND {_PENDING}"
            " ORDER BY e.id FOR NO KEY UPDATE"
        )
        listed = byteas([identity.bytes for identity in identifiers])
        if len(self._session.rows(held, (*keys, listed))) != len(identifiers):
            raise Conflict("an episode to be consolidated is no longer pending; repeat the call")
        whose = "space = %s AND owner = %s AND id = ANY(%s::bytea[])"
        sql = f"UPDATE episode SET consolidated_at = %s WHERE {whose}"
        self._session.execute(sql, (to_microseconds(at), *keys, listed))

    def _reconsider(self, ids: Sequence[UUID]) -> None:
        whose = "space = %s AND owner = %s AND id = ANY(%s::bytea[])"
        held = f"SELECT id FROM episode WHERE {whose} ORDER BY id FOR NO KEY UPDATE"
        keys = (*self._session.own(), byteas(sorted(identity.bytes for identity in set(ids))))
        self._session.rows(held, keys)
        self._session.execute(f"UPDATE episode SET consolidated_at = NULL WHERE {whose}", keys)

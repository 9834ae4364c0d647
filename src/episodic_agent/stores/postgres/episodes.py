"""Episodes, their encodings and the decisions that made them, as rows.

`generation_from`..`generation_to` is half open: an episode belongs to generations from <= g < to, and is
current while `generation_to` is NULL.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from episodic_agent.protocols import Walk, ref_of
from episodic_agent.schemas import Episode
from episodic_agent.schemas.chains import Condition, TreeNode
from episodic_agent.stores.nouns import EPISODE, columns_of, episode_of
from episodic_agent.stores.postgres.metadata import PostgresConditions, PostgresMetadata
from episodic_agent.stores.postgres.server.batches import bigints, byteas, read_columns
from episodic_agent.stores.postgres.server.session import PostgresSession
from episodic_agent.stores.rows import optional_id, to_microseconds, to_time
from episodic_agent.stores.tables.dialect import Table
from episodic_agent.stores.tables.episodes import EpisodeTable

_MINE: Final = "space = %s AND owner = %s"
_NODE: Final = "id, parent_episode_id, start_at"


class PostgresNodes(Table):
    """Episodes as the nodes of chains."""

    _session: PostgresSession

    def nodes(self, ids: Sequence[UUID], walk: Walk = "self") -> Sequence[TreeNode]:
        """Return those of these episodes that there are, or those they lead to, by id, each once."""
        if walk == "above":
            return self._walked("id = walk.parent_episode_id", ids)
        if walk == "below":
            return self._walked("parent_episode_id = walk.id", ids)
        column = "parent_episode_id" if walk == "children" else "id"
        return self._read(f"SELECT DISTINCT e.* FROM {_keyed_rows(f'{column} = k.key')} ORDER BY e.id", ids)

    def _walked(self, step: str, ids: Sequence[UUID]) -> list[TreeNode]:
        sql = (
            f"WITH RECURSIVE walk AS (SELECT e.* FROM {_keyed_rows('id = k.key')} UNION SELECT e.* FROM walk"
            f" CROSS JOIN LATERAL (SELECT {_NODE} FROM episode WHERE {_MINE} AND {step} OFFSET 0) e)"
            " SELECT * FROM walk ORDER BY id"
        )
        return self._read(sql, ids, self._session.keys)

    def _read(self, sql: str, ids: Sequence[UUID], more: Sequence[int] = ()) -> list[TreeNode]:
        binary = byteas([identity.bytes for identity in ids])
        rows = self._session.rows(sql, (binary, *self._session.keys, *more))
        return [
            TreeNode(UUID(bytes=bytes(key)), optional_id(parent), to_time(at)) for key, parent, at in rows
        ]


def _keyed_rows(which: str) -> str:
    return (
        "unnest(%s::bytea[]) AS k (key) CROSS JOIN LATERAL"
        f" (SELECT {_NODE} FROM episode WHERE {_MINE} AND {which} OFFSET 0) e"
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
    _changing, _deleting = " ORDER BY id FOR NO KEY UPDATE", " ORDER BY id FOR UPDATE"

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

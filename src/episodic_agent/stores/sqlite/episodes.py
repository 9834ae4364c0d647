"""Episodes, their encodings, the decisions that made them, and which goes on from which, as rows.

`generation_from`..`generation_to` is half open: an episode belongs to generations from <= g < to, and is
current while `generation_to` is NULL. What episodes are about is kept inverted: the rows of metadata, and
what passes conditions on them.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from episodic_agent.protocols import Walk, ref_of
from episodic_agent.schemas import Episode
from episodic_agent.schemas.chains import Condition, Term, TreeNode
from episodic_agent.schemas.strength import Standing
from episodic_agent.stores.nouns import EPISODE, columns_of, episode_of
from episodic_agent.stores.rows import id_of, optional_id, to_json, to_microseconds, to_time
from episodic_agent.stores.sqlite.file.session import EACH, SqliteSession, id_list, number_list
from episodic_agent.stores.tables.dialect import Table
from episodic_agent.stores.tables.episodes import ConditionTable, EpisodeTable, passing_all

_NODE: Final = "e.id, e.parent_episode_id, e.start_at"
_CHILDREN: Final = "episode e INDEXED BY episode_parent"


class SqliteNodes(Table):
    """Episodes as the nodes of chains."""

    _session: SqliteSession

    def nodes(self, ids: Sequence[UUID], walk: Walk = "self") -> Sequence[TreeNode]:
        """Return those of these episodes that there are, or those they lead to, by id, each once."""
        if walk == "above":
            return self._walked("episode e WHERE e.scope = ? AND e.id = walk.parent", ids)
        if walk == "below":
            # without statistics all of a scope looks as few as the children of one
            return self._walked(f"{_CHILDREN} WHERE e.scope = ? AND e.parent_episode_id = walk.id", ids)
        if walk == "children":
            step = f"{_CHILDREN} WHERE e.scope = ? AND e.parent_episode_id = unhex(p.value)"
        else:
            step = "episode e WHERE e.scope = ? AND e.id = unhex(p.value)"
        sql = f"SELECT DISTINCT {_NODE} FROM {EACH} {step} ORDER BY e.id"
        return _read(self._session.rows(sql, (id_list(ids), self._session.number)))

    def _walked(self, step: str, ids: Sequence[UUID]) -> list[TreeNode]:
        sql = (
            f"WITH RECURSIVE walk (id, parent, at) AS (SELECT {_NODE} FROM {EACH} episode e"
            " WHERE e.scope = ? AND e.id = unhex(p.value)"
            f" UNION SELECT {_NODE} FROM walk CROSS JOIN {step}) SELECT id, parent, at FROM walk ORDER BY id"
        )
        scope = self._session.number
        return _read(self._session.rows(sql, (id_list(ids), scope, scope)))


def _read(rows: Sequence[tuple[Any, ...]]) -> list[TreeNode]:
    return [TreeNode(id_of(key), optional_id(parent), to_time(at)) for key, parent, at in rows]


_FULL: Final = "m.value IN (SELECT value FROM json_each(?))"
_PART: Final = "EXISTS (SELECT 1 FROM json_each(?) p WHERE instr(m.value, p.value))"
_SPAN: Final = (
    "(e.thread << 32) | e.first_seq AS ref, (e.thread << 32) | e.last_seq, lower(hex(e.id)),"
    " e.start_at, e.end_at, e.stability, e.last_reviewed_at"
)
_CURRENT: Final = "e.kind = 'event' AND e.generation_to IS NULL"


class SqliteMetadata(Table):
    """The rows of episodes."""

    _session: SqliteSession

    def _describe(self, episode_id: UUID, terms: Sequence[Term]) -> None:
        """Write an episode's rows in the place of those it had."""
        scope = self._session.own()
        sql = "DELETE FROM metadata_term WHERE scope = ? AND episode = ?"
        self._session.db.execute(sql, (scope, episode_id.bytes))
        sql = "INSERT INTO metadata_term (scope, field, value, episode) VALUES (?, ?, ?, ?)"
        rows = [(scope, term.field, term.value, episode_id.bytes) for term in dict.fromkeys(terms)]
        self._session.db.executemany(sql, rows)


class SqliteConditions(ConditionTable):
    """Episodes that pass conditions."""

    _session: SqliteSession

    def described(self, ids: Sequence[UUID]) -> Sequence[tuple[UUID, Term]]:
        """Return the rows of these episodes, by episode, field, value."""
        sql = (
            f"SELECT DISTINCT m.episode, m.field, m.value FROM {EACH} metadata_term m"
            " WHERE m.scope = ? AND m.episode = unhex(p.value) ORDER BY m.episode, m.field, m.value"
        )
        rows = self._session.rows(sql, (id_list(ids), self._session.number))
        return [(id_of(episode), Term(field, value)) for episode, field, value in rows]

    def spans(
        self,
        fields: Sequence[Sequence[Condition]],
        *,
        since: datetime | None = None,
        until: datetime | None = None,
    ) -> Sequence[Standing]:
        """Return where the current event episodes that pass every field stand, by reference."""
        source, conditions, numbers = "episode e", ["e.scope = ?", _CURRENT], [self._session.number]
        bindings: list[Any] = []
        if fields:
            passed = [key.hex() for key in passing_all(fields, self._passing)]
            source, bindings = f"{EACH} episode e", [to_json(passed)]
            conditions.append("e.id = unhex(p.value)")
        elif since is not None:  # what begins then ends later: by the index on ends
            conditions.append("e.end_at >= ?")
            numbers.append(to_microseconds(since))
        for moment, condition in ((since, "e.start_at >= ?"), (until, "e.start_at < ?")):
            if moment is not None:
                conditions.append(condition)
                numbers.append(to_microseconds(moment))
        sql = f"SELECT {_SPAN} FROM {source} WHERE {' AND '.join(conditions)} ORDER BY ref"
        return [Standing._make(columns) for columns in self._session.rows(sql, (*bindings, *numbers))]

    def _passing(self, condition: Condition) -> list[bytes]:
        value = _PART if condition.contains else _FULL
        sql = f"SELECT m.episode FROM metadata_term m WHERE m.scope = ? AND m.field = ? AND {value}"
        rows = self._session.rows(sql, (self._session.number, condition.field, to_json(condition.values)))
        return [episode for (episode,) in rows]


_READ: Final = f"{columns_of(EPISODE, 'e')}, w.title, w.summary, w.encoded_by, w.metadata"
_WORDED: Final = (
    "episode e LEFT JOIN encoding w"
    " ON w.scope = e.scope AND w.episode = e.id AND w.version = e.encoding_version"
)
_SELECT: Final = f"SELECT {_READ} FROM {_WORDED}"
_LOOK_UP: Final = f"SELECT {_READ} FROM {EACH} {_WORDED}"
# Left alone the planner reads all episodes of the scope for each thread.
_OF_THREADS: Final = _LOOK_UP.replace("episode e ", "episode e INDEXED BY episode_cover ")
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

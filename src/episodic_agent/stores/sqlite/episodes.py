"""Episodes, their encodings and the decisions that made them, as rows.

`generation_from`..`generation_to` is half open: an episode belongs to generations from <= g < to, and is
current while `generation_to` is NULL.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Final
from uuid import UUID

import apsw

from episodic_agent.core.chaining import metadata_terms
from episodic_agent.core.forgetting import Strength
from episodic_agent.core.interfaces import Cover, EpisodeMark, Refs, ref_of
from episodic_agent.errors import Conflict, NotFound
from episodic_agent.schemas import Decision, Encoding, Episode, EpisodeState
from episodic_agent.stores.faults import reach
from episodic_agent.stores.nouns import (
    DECISION,
    EPISODE,
    columns_of,
    decision_columns,
    decision_of,
    episode_columns,
    episode_of,
    in_threads,
    own_words,
)
from episodic_agent.stores.rows import (
    from_json,
    optional_bytes,
    optional_microseconds,
    to_json,
    to_microseconds,
    to_time,
)
from episodic_agent.stores.sqlite.chains import SqliteChains
from episodic_agent.stores.sqlite.session import EACH, Session, id_list, number_list

_INSERT: Final = f"INSERT INTO episode (scope, {EPISODE}) VALUES ({', '.join('?' * 22)})"
_READ: Final = f"{columns_of(EPISODE, 'e')}, w.title, w.summary, w.encoded_by, w.metadata"
_WORDED: Final = (
    "episode e LEFT JOIN encoding w"
    " ON w.scope = e.scope AND w.episode = e.id AND w.version = e.encoding_version"
)
_SELECT: Final = f"SELECT {_READ} FROM {_WORDED}"
_LOOK_UP: Final = f"SELECT {_READ} FROM {EACH} {_WORDED}"
_CURRENT: Final = "e.kind = 'event' AND e.generation_to IS NULL"
_PENDING: Final = f"e.scope = ? AND {_CURRENT} AND e.consolidated_at IS NULL AND e.encoding_version > 0"
_MARK: Final = "(e.thread << 32) | e.first_seq, lower(hex(e.id)), e.stability, e.last_reviewed_at"
_OWNER_OF_PLACE: Final = (
    f"SELECT p.value, {_MARK} FROM {EACH} episode e WHERE e.scope = ? AND e.thread = p.value >> 32"
    " AND e.first_seq = (SELECT max(x.first_seq) FROM episode x WHERE x.scope = e.scope"
    " AND x.thread = p.value >> 32 AND x.first_seq <= (p.value & 4294967295)"
    " AND x.kind = 'event' AND x.generation_to IS NULL)"
    f" AND e.last_seq >= (p.value & 4294967295) AND {_CURRENT}"
)
# `p.value` is a pair of refs. The episodes of a span begin with the last one that begins at it or before.
_FROM, _TO = "(p.value ->> 0)", "(p.value ->> 1)"
_OWNERS_OF_SPAN: Final = (
    "SELECT DISTINCT (e.thread << 32) | e.first_seq AS ref, (e.thread << 32) | e.last_seq, lower(hex(e.id))"
    f" FROM {EACH} episode e WHERE e.scope = ? AND e.thread = {_FROM} >> 32"
    " AND e.first_seq >= ifnull((SELECT max(x.first_seq) FROM episode x WHERE x.scope = e.scope"
    f" AND x.thread = {_FROM} >> 32 AND x.first_seq <= ({_FROM} & 4294967295)"
    " AND x.kind = 'event' AND x.generation_to IS NULL), 0)"
    f" AND e.first_seq <= ({_TO} & 4294967295) AND e.last_seq >= ({_FROM} & 4294967295) AND {_CURRENT}"
    " ORDER BY ref"
)


class SqliteEpisodes:
    """The `Episodes` of one transaction."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def insert(self, episode: Episode) -> None:
        """Write an episode row; inserting the same id again changes nothing.

        Raises Conflict when another current event episode begins at the same observation.
        """
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
            self.encode(own_words(episode))

    def change(
        self,
        episode_id: UUID,
        *,
        state: EpisodeState,
        last_seq: int,
        end_at: datetime | None = None,
        reason: str | None = None,
        decision_id: UUID | None = None,
    ) -> None:
        """Move an episode that owns no observations on; what is None stays. NotFound for any other."""
        sql = (
            "UPDATE episode SET state = ?, last_seq = ?, end_at = ifnull(?, end_at),"
            " reason = ifnull(?, reason), decision_id = ifnull(?, decision_id)"
            " WHERE scope = ? AND id = ? AND kind <> 'event'"
        )
        changed = (state.value, last_seq, optional_microseconds(end_at), reason, optional_bytes(decision_id))
        self._session.db.execute(sql, (*changed, self._session.own(), episode_id.bytes))
        if self._session.db.changes() == 0:
            raise NotFound(f"no episode {episode_id} in this scope that others make up")

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
        scope, wanted = self._session.own(), id_list(ids)
        sql = f"SELECT e.id FROM {EACH} episode e WHERE e.id = unhex(p.value) AND e.scope = ? AND {_CURRENT}"
        if len(self._session.rows(sql, (wanted, scope))) != len(ids):
            raise Conflict("an episode to be replaced is no longer current; repeat the call")
        sql = (
            "UPDATE episode SET generation_to = ?"
            " WHERE scope = ? AND id IN (SELECT unhex(value) FROM json_each(?))"
        )
        self._session.db.execute(sql, (generation, scope, wanted))
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

    def get(self, episode_id: UUID) -> Episode | None:
        """Read one episode with its newest encoding."""
        return self.by_ids([episode_id]).get(episode_id)

    def by_ids(self, ids: Sequence[UUID]) -> Mapping[UUID, Episode]:
        """Read episodes by their ids; unknown ones are left out."""
        sql = f"{_LOOK_UP} WHERE e.scope = ? AND e.id = unhex(p.value)"
        found = self._session.rows(sql, (id_list(ids), self._session.number))
        return {episode.id: episode for episode in self._episodes(found)}

    def of_thread(self, thread_id: UUID, *, generation: int | None = None) -> Sequence[Episode]:
        """Return the event episodes of a thread's current (or the given) generation by first_seq."""
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

    def of_threads(self, thread_ids: Sequence[UUID]) -> Mapping[UUID, Sequence[Episode]]:
        """Return the current event episodes of several threads at once, each by first_seq."""
        numbers = self._session.find_threads(thread_ids)
        sql = f"{_LOOK_UP} WHERE e.scope = ? AND e.thread = p.value AND {_CURRENT} ORDER BY e.first_seq"
        found = self._episodes(self._session.rows(sql, (number_list(numbers), self._session.number)))
        return in_threads(thread_ids, found)

    def covering(self, refs: Refs) -> Mapping[int, EpisodeMark]:
        """Return the current event episode that owns each observation ref; none for those of open frames."""
        found = self._session.rows(_OWNER_OF_PLACE, (number_list(refs.tolist()), self._session.number))
        return {columns[0]: EpisodeMark._make(columns[1:]) for columns in found}

    def marks(self, refs: Sequence[int]) -> Mapping[int, EpisodeMark]:
        """Return the marks of current event episodes by `ref_of(thread number, first_seq)`."""
        sql = (
            f"SELECT {_MARK} FROM {EACH} episode e WHERE e.scope = ? AND e.thread = p.value >> 32"
            f" AND e.first_seq = (p.value & 4294967295) AND {_CURRENT}"
        )
        found = self._session.rows(sql, (number_list(refs), self._session.number))
        return {columns[0]: EpisodeMark._make(columns) for columns in found}

    def by_refs(self, refs: Sequence[int]) -> Mapping[int, Episode]:
        """Return current event episodes by `ref_of(thread number, first_seq)`."""
        sql = (
            f"{_LOOK_UP} WHERE e.scope = ? AND e.thread = p.value >> 32"
            f" AND e.first_seq = (p.value & 4294967295) AND {_CURRENT}"
        )
        found = self._session.rows(sql, (number_list(refs), self._session.number))
        places = [ref_of(columns[1], columns[4]) for columns in found]
        return dict(zip(places, self._episodes(found), strict=True))

    def covers(self, spans: Sequence[tuple[int, int]]) -> Sequence[Cover]:
        """Return the current event episodes that own some of these spans of refs, by reference."""
        found = self._session.rows(_OWNERS_OF_SPAN, (to_json(spans), self._session.number))
        return [Cover._make(columns) for columns in found]

    def recent(
        self, *, limit: int, since: datetime | None = None, before: datetime | None = None
    ) -> Sequence[Episode]:
        """Return current event episodes whose end lies in [since, before), newest end first, ties by id."""
        conditions, bindings = [f"e.scope = ? AND {_CURRENT}"], [self._session.number]
        for time, comparison in ((since, ">="), (before, "<")):
            if time is not None:
                conditions.append(f"e.end_at {comparison} ?")
                bindings.append(to_microseconds(time))
        sql = f"{_SELECT} WHERE {' AND '.join(conditions)} ORDER BY e.end_at DESC, e.id LIMIT ?"
        return self._episodes(self._session.rows(sql, (*bindings, limit)))

    def _episodes(self, found: Sequence[tuple[Any, ...]]) -> list[Episode]:
        threads = self._session.thread_ids([columns[1] for columns in found])
        return [episode_of(columns, threads[columns[1]]) for columns in found]

    def encode(self, encoding: Encoding) -> None:
        """Append a version of an episode's words; the same version again changes nothing; NotFound."""
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
        if self._session.db.changes():
            SqliteChains(self._session).describe(encoding.episode_id, metadata_terms(encoding.metadata))

    def strengthen(self, before: Episode, after: Strength, last_reviewed_at: datetime) -> None:
        """Give an episode another strength and clock; Conflict where `before` is no longer so."""
        sql = (
            "UPDATE episode SET stability = ?, difficulty = ?, last_reviewed_at = ?"
            " WHERE scope = ? AND id = ? AND stability = ? AND difficulty = ? AND last_reviewed_at = ?"
        )
        now = (float(after.stability), float(after.difficulty), to_microseconds(last_reviewed_at))
        reviewed = to_microseconds(before.last_reviewed_at)
        known = (before.id.bytes, float(before.stability), float(before.difficulty), reviewed)
        self._session.db.execute(sql, (*now, self._session.own(), *known))
        if not self._session.db.changes():
            raise Conflict(f"episode {before.id} was reviewed by another just now; repeat the call")

    def unconsolidated(self, *, limit: int) -> Sequence[Episode]:
        """Return current event episodes that have words and are not consolidated, oldest created first."""
        sql = f"{_SELECT} WHERE {_PENDING} ORDER BY e.created_at, e.id LIMIT ?"
        return self._episodes(self._session.rows(sql, (self._session.number, limit)))

    def count_unconsolidated(self, *, limit: int | None = None) -> int:
        """Count those, up to a limit where it is given."""
        # in order, so that the index of just these is taken
        sql = f"SELECT count(*) FROM (SELECT 1 FROM episode e WHERE {_PENDING} ORDER BY e.created_at LIMIT ?)"
        found = self._session.row(sql, (self._session.number, -1 if limit is None else limit))
        return 0 if found is None else int(found[0])

    def consolidate(self, ids: Sequence[UUID], at: datetime) -> None:
        """Set `consolidated_at` of pending episodes; Conflict where one is not, or no longer, among them."""
        wanted = set(ids)
        sql = (
            f"UPDATE episode AS e SET consolidated_at = ? WHERE {_PENDING}"
            " AND e.id IN (SELECT unhex(value) FROM json_each(?))"
        )
        self._session.db.execute(sql, (to_microseconds(at), self._session.own(), id_list(wanted)))
        if self._session.db.changes() != len(wanted):
            raise Conflict("an episode to be consolidated is no longer pending; repeat the call")

    def reconsider(self, ids: Sequence[UUID]) -> None:
        """Let episodes wait to be consolidated again."""
        sql = (
            "UPDATE episode SET consolidated_at = NULL"
            " WHERE scope = ? AND id IN (SELECT unhex(value) FROM json_each(?))"
        )
        self._session.db.execute(sql, (self._session.own(), id_list(set(ids))))

    def encodings(self, episode_id: UUID) -> Sequence[Encoding]:
        """Return every version of an episode's words, oldest first."""
        sql = (
            "SELECT version, title, summary, metadata, encoded_by, created_at FROM encoding"
            " WHERE scope = ? AND episode = ? ORDER BY version"
        )
        found = self._session.rows(sql, (self._session.number, episode_id.bytes))
        return [
            Encoding(episode_id, version, title, summary, from_json(metadata), by, to_time(created))
            for version, title, summary, metadata, by, created in found
        ]

    def count(self) -> int:
        """Count the scope's current event episodes."""
        sql = f"SELECT count(*) FROM episode e WHERE e.scope = ? AND {_CURRENT}"
        found = self._session.row(sql, (self._session.number,))
        return 0 if found is None else int(found[0])

    # --- decisions --------------------------------------------------------------------------------------

    def decide(self, decision: Decision) -> None:
        """Write a decision; the same id again changes nothing."""
        scope = self._session.own()
        sql = (
            f"INSERT INTO decision (scope, {DECISION}) VALUES (?, ?, ?, ?, ?, ?, ?, ?)"
            " ON CONFLICT (scope, id) DO NOTHING"
        )
        self._session.db.execute(sql, (scope, *decision_columns(decision)))

    def revoke(self, *decision_ids: UUID) -> None:
        """Delete decisions whose effect was undone; an unknown one is gone already."""
        sql = "DELETE FROM decision WHERE scope = ? AND id IN (SELECT unhex(value) FROM json_each(?))"
        self._session.db.execute(sql, (self._session.own(), id_list(decision_ids)))

    def amend(self, decision: Decision) -> None:
        """Keep the outcome and the detail of a decision written before; NotFound."""
        identity, *_, outcome, body = decision_columns(decision)
        sql = "UPDATE decision SET outcome = ?, body = ? WHERE scope = ? AND id = ?"
        self._session.db.execute(sql, (outcome, body, self._session.own(), identity))
        if not self._session.db.changes():
            raise NotFound(f"no decision {decision.id} in this scope")

    def decision(self, decision_id: UUID) -> Decision | None:
        """Read one decision."""
        sql = f"SELECT {DECISION} FROM decision WHERE scope = ? AND id = ?"
        found = self._session.row(sql, (self._session.number, decision_id.bytes))
        return None if found is None else decision_of(found)

    def decisions(
        self,
        *,
        subject: UUID | None = None,
        type: str | None = None,
        last: int | None = None,
        since: datetime | None = None,
    ) -> Sequence[Decision]:
        """Return decisions (from a time on) by time, then id; only the `last` so many where that is given."""
        conditions: list[str] = ["scope = ?"]
        bindings: list[int | bytes | str] = [self._session.number]
        if subject is not None:
            conditions.append("subject = ?")
            bindings.append(subject.bytes)
        if type is not None:
            # The index of types is not for the few of a subject: it would lead past everybody else's.
            conditions.append(_of_type(type) if subject is None else "type = ?")
            bindings.append(type)
        if since is not None:
            conditions.append("at >= ?")
            bindings.append(to_microseconds(since))
        sql = f"SELECT {DECISION} FROM decision WHERE {' AND '.join(conditions)} ORDER BY at DESC, id DESC"
        found = self._session.rows(f"{sql} LIMIT ?", (*bindings, -1 if last is None else last))
        return [decision_of(columns) for columns in reversed(found)]

    def decided(self, type: str, since: datetime) -> int:
        """Count the decisions of a type that are younger than a time."""
        sql = f"SELECT count(*) FROM decision WHERE scope = ? AND {_of_type(type)} AND at > ?"
        found = self._session.row(sql, (self._session.number, type, to_microseconds(since)))
        return 0 if found is None else int(found[0])


def _of_type(type: str) -> str:
    """Ask for a type; what the index of types leaves out is said in its own words."""
    return "type = ?" if type == "boundary" else "type = ? AND type <> 'boundary'"

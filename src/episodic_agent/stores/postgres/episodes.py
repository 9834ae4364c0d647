"""Episodes, their encodings and the decisions that made them, as rows.

`generation_from`..`generation_to` is half open: an episode belongs to generations from <= g < to, and is
current while `generation_to` is NULL.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Final
from uuid import UUID

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
from episodic_agent.stores.postgres.batches import bigints, byteas
from episodic_agent.stores.postgres.chains import PostgresChains
from episodic_agent.stores.postgres.session import Session
from episodic_agent.stores.postgres.text import read_columns
from episodic_agent.stores.rows import (
    from_json,
    optional_bytes,
    optional_microseconds,
    to_json,
    to_microseconds,
    to_time,
)

_INSERT: Final = (
    f"INSERT INTO episode (space, owner, {EPISODE}) VALUES ({', '.join(['%s'] * 23)}) ON CONFLICT DO NOTHING"
)
_OWN: Final = "e.space = %s AND e.owner = %s"
_SHOWN: Final = f"{columns_of(EPISODE, 'e')}, w.title, w.summary, w.encoded_by, w.metadata"
# OFFSET 0 keeps this a look-up for each episode, however few rows the planner believes a scope has.
_NEWEST: Final = (
    " LEFT JOIN LATERAL (SELECT * FROM encoding w WHERE w.space = e.space"
    " AND w.owner = e.owner AND w.episode = e.id AND w.version = e.encoding_version OFFSET 0) w ON true"
)
_SELECT: Final = f"SELECT {_SHOWN} FROM episode e{_NEWEST} WHERE {_OWN}"
_CURRENT: Final = "e.kind = 'event' AND e.generation_to IS NULL"
_OF_THREADS: Final = (
    "SELECT o.* FROM unnest(%s::bigint[]) AS p (thread) CROSS JOIN LATERAL"
    f" ({_SELECT} AND e.thread = p.thread::integer AND {_CURRENT} ORDER BY e.first_seq OFFSET 0) o"
)
_PENDING: Final = f"{_CURRENT} AND e.consolidated_at IS NULL AND e.encoding_version > 0"
_REF: Final = "((e.thread::bigint << 32) | e.first_seq)"
_MARK: Final = f"{_REF} AS ref, encode(e.id, 'hex') AS name, e.stability, e.last_reviewed_at"
# One look-up for each place: joined as sets, all episodes of the scope were read.
_AT_PLACES: Final = (
    " FROM unnest(%s::bigint[]) AS p (ref) CROSS JOIN LATERAL (SELECT * FROM episode e"
    f" WHERE {_OWN} AND e.thread = (p.ref >> 32)::integer AND e.first_seq = p.ref & 4294967295"
    f" AND {_CURRENT} OFFSET 0) e"
)
_OWNER_OF_PLACE: Final = (
    "SELECT p.ref, m.ref, m.name, m.stability, m.last_reviewed_at FROM unnest(%s::bigint[]) AS p (ref)"
    f" CROSS JOIN LATERAL (SELECT {_MARK}, e.last_seq FROM episode e"
    f" WHERE {_OWN} AND e.thread = (p.ref >> 32)::integer AND e.first_seq <= p.ref & 4294967295"
    f" AND {_CURRENT} ORDER BY e.first_seq DESC LIMIT 1) m WHERE m.last_seq >= p.ref & 4294967295"
)
# The last episode that begins at a span's first ref or before it, and those that begin inside: two look-ups.
# In order, so that the index in that order is taken; without statistics another one looks as good.
_SPAN: Final = (
    f"SELECT e.thread, e.first_seq, e.last_seq, e.id FROM episode e WHERE {_OWN}"
    f" AND e.thread = (p.first >> 32)::integer AND {_CURRENT}"
)
_OWNERS_OF_SPAN: Final = (
    f"SELECT DISTINCT {_REF} AS ref, (e.thread::bigint << 32) | e.last_seq, encode(e.id, 'hex')"
    " FROM unnest(%s::bigint[], %s::bigint[]) AS p (first, last) CROSS JOIN LATERAL ("
    f"(SELECT * FROM ({_SPAN} AND e.first_seq <= p.first & 4294967295 ORDER BY e.first_seq DESC LIMIT 1) b"
    " WHERE b.last_seq >= p.first & 4294967295)"
    f" UNION ALL ({_SPAN} AND e.first_seq > p.first & 4294967295"
    " AND e.first_seq <= p.last & 4294967295 ORDER BY e.first_seq OFFSET 0)) e ORDER BY ref"
)


class PostgresEpisodes:
    """The `Episodes` of one transaction."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def insert(self, episode: Episode) -> None:
        """Write an episode row; inserting the same id again changes nothing.

        Raises Conflict when another current event episode begins at the same observation.
        """
        keys, number = self._session.own(), self._session.thread_number(episode.thread_id)
        if self._session.execute(_INSERT, (*keys, *episode_columns(episode, number))) == 0:
            if not self._exists(episode.id):
                place = f"{episode.first_seq} of thread {episode.thread_id}"
                raise Conflict(f"a current episode begins at {place} already")
            return
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
            "UPDATE episode SET state = %s, last_seq = %s, end_at = coalesce(%s::bigint, end_at),"
            " reason = coalesce(%s::text, reason), decision_id = coalesce(%s::bytea, decision_id)"
            " WHERE space = %s AND owner = %s AND id = %s AND kind <> 'event'"
        )
        changed = (state.value, last_seq, optional_microseconds(end_at), reason, optional_bytes(decision_id))
        if self._session.execute(sql, (*changed, *self._session.own(), episode_id.bytes)) == 0:
            raise NotFound(f"no episode {episode_id} in this scope that others make up")

    def archive(self, thread_id: UUID, first_seq: int, last_seq: int) -> int:
        """Archive the current closed event episodes that end within a span of seqs; return how many."""
        keys, number = self._session.own(), self._session.thread_number(thread_id)
        # Locked in the order of their ids, as whoever retires them or gives them words does.
        held = (
            f"SELECT e.id FROM episode e WHERE {_OWN} AND e.thread = %s AND e.last_seq BETWEEN %s AND %s"
            f" AND e.state = 'closed' AND {_CURRENT} ORDER BY e.id FOR NO KEY UPDATE"
        )
        found = self._session.rows(held, (*keys, number, first_seq, last_seq))
        ids = byteas([bytes(identity) for (identity,) in found])
        sql = (
            "UPDATE episode SET state = 'archived' WHERE space = %s AND owner = %s AND id = ANY(%s::bytea[])"
        )
        return self._session.execute(sql, (*keys, ids)) if found else 0

    def retire(self, ids: Sequence[UUID], generation: int) -> None:
        """Let current event episodes end with the generation before this one; Conflict where one is not."""
        keys, wanted = self._session.own(), byteas([identity.bytes for identity in ids])
        # Locked in the order of their ids, as whoever gives them words does.
        held = (
            f"SELECT e.id FROM episode e WHERE {_OWN} AND e.id = ANY(%s::bytea[]) AND {_CURRENT}"
            " ORDER BY e.id FOR NO KEY UPDATE"
        )
        if len(self._session.rows(held, (*keys, wanted))) != len(ids):
            raise Conflict("an episode to be replaced is no longer current; repeat the call")
        sql = (
            "UPDATE episode SET generation_to = %s WHERE space = %s AND owner = %s AND id = ANY(%s::bytea[])"
        )
        self._session.execute(sql, (generation, *keys, wanted))
        reach("after-retire")

    def revive(self, thread_id: UUID, generation: int) -> None:
        """Undo a generation: delete what it made, make current again what it retired; NotFound."""
        keys, number = self._session.own(), self._session.thread_number(thread_id)
        made = (
            f"SELECT e.id FROM episode e WHERE {_OWN} AND e.thread = %s AND e.kind = 'event'"
            " AND e.generation_from >= %s ORDER BY e.id FOR UPDATE"
        )
        found = self._session.rows(made, (*keys, number, generation))
        gone = byteas([bytes(identity) for (identity,) in found])
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

    def get(self, episode_id: UUID) -> Episode | None:
        """Read one episode with its newest encoding."""
        return self.by_ids([episode_id]).get(episode_id)

    def by_ids(self, ids: Sequence[UUID]) -> Mapping[UUID, Episode]:
        """Read episodes by their ids; unknown ones are left out."""
        sql = f"{_SELECT} AND e.id = ANY(%s::bytea[])"
        found = self._session.rows(sql, (*self._session.keys, byteas([identity.bytes for identity in ids])))
        read = {episode.id: episode for episode in self._episodes(found)}
        return {identity: read[identity] for identity in ids if identity in read}

    def of_thread(self, thread_id: UUID, *, generation: int | None = None) -> Sequence[Episode]:
        """Return the event episodes of a thread's current (or the given) generation by first_seq."""
        number = self._session.find_thread(thread_id)
        if number is None:
            return []
        keys = self._session.keys
        if generation is None:
            sql = f"{_SELECT} AND e.thread = %s AND {_CURRENT} ORDER BY e.first_seq"
            return self._episodes(self._session.rows(sql, (*keys, number)))
        sql = (
            f"{_SELECT} AND e.thread = %s AND e.kind = 'event' AND e.generation_from <= %s"
            " AND (e.generation_to IS NULL OR e.generation_to > %s) ORDER BY e.first_seq"
        )
        return self._episodes(self._session.rows(sql, (*keys, number, generation, generation)))

    def of_threads(self, thread_ids: Sequence[UUID]) -> Mapping[UUID, Sequence[Episode]]:
        """Return the current event episodes of several threads at once, each by first_seq."""
        numbers = self._session.find_threads(thread_ids)
        found = self._session.rows(_OF_THREADS, (bigints(list(numbers)), *self._session.keys))
        return in_threads(thread_ids, self._episodes(found))

    def covering(self, refs: Refs) -> Mapping[int, EpisodeMark]:
        """Return the current event episode that owns each observation ref; none for those of open frames."""
        found = self._session.rows(_OWNER_OF_PLACE, (bigints(refs), *self._session.keys))
        return {columns[0]: EpisodeMark._make(columns[1:]) for columns in found}

    def marks(self, refs: Sequence[int]) -> Mapping[int, EpisodeMark]:
        """Return the marks of current event episodes by `ref_of(thread number, first_seq)`."""
        sql = f"SELECT {_MARK}{_AT_PLACES}"
        found = self._session.rows(sql, (bigints(refs), *self._session.keys))
        read = {columns[0]: EpisodeMark._make(columns) for columns in found}
        return {ref: read[ref] for ref in refs if ref in read}

    def by_refs(self, refs: Sequence[int]) -> Mapping[int, Episode]:
        """Return current event episodes by `ref_of(thread number, first_seq)`."""
        sql = f"SELECT {_SHOWN}{_AT_PLACES}{_NEWEST}"
        found = self._session.rows(sql, (bigints(refs), *self._session.keys))
        places = [ref_of(columns[1], columns[4]) for columns in found]
        read = dict(zip(places, self._episodes(found), strict=True))
        return {ref: read[ref] for ref in refs if ref in read}

    def covers(self, spans: Sequence[tuple[int, int]]) -> Sequence[Cover]:
        """Return the current event episodes that own some of these spans of refs, by reference."""
        ends = [bigints([span[end] for span in spans]) for end in (0, 1)]
        keys = self._session.keys
        found = self._session.rows(_OWNERS_OF_SPAN, (*ends, *keys, *keys))
        return [Cover._make(columns) for columns in found]

    def recent(
        self, *, limit: int, since: datetime | None = None, before: datetime | None = None
    ) -> Sequence[Episode]:
        """Return current event episodes whose end lies in [since, before), newest end first, ties by id."""
        conditions, bindings = [_CURRENT], list(self._session.keys)
        for time, comparison in ((since, ">="), (before, "<")):
            if time is not None:
                conditions.append(f"e.end_at {comparison} %s")
                bindings.append(to_microseconds(time))
        sql = f"{_SELECT} AND {' AND '.join(conditions)} ORDER BY e.end_at DESC, e.id LIMIT %s"
        return self._episodes(self._session.rows(sql, (*bindings, limit)))

    def _episodes(self, found: Sequence[tuple[Any, ...]]) -> list[Episode]:
        threads = self._session.thread_ids([columns[1] for columns in found])
        return [episode_of(read_columns(columns), threads[columns[1]]) for columns in found]

    def encode(self, encoding: Encoding) -> None:
        """Append a version of an episode's words; the same version again changes nothing; NotFound."""
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
            terms = metadata_terms(encoding.metadata)
            PostgresChains(self._session).describe(encoding.episode_id, terms)

    def strengthen(self, before: Episode, after: Strength, last_reviewed_at: datetime) -> None:
        """Give an episode another strength and clock; Conflict where `before` is no longer so."""
        sql = (
            "UPDATE episode SET stability = %s, difficulty = %s, last_reviewed_at = %s"
            " WHERE space = %s AND owner = %s AND id = %s"
            " AND stability = %s AND difficulty = %s AND last_reviewed_at = %s"
        )
        now = (float(after.stability), float(after.difficulty), to_microseconds(last_reviewed_at))
        reviewed = to_microseconds(before.last_reviewed_at)
        known = (before.id.bytes, float(before.stability), float(before.difficulty), reviewed)
        if self._session.execute(sql, (*now, *self._session.own(), *known)) == 0:
            raise Conflict(f"episode {before.id} was reviewed by another just now; repeat the call")

    def unconsolidated(self, *, limit: int) -> Sequence[Episode]:
        """Return current event episodes that have words and are not consolidated, oldest created first."""
        sql = f"{_SELECT} AND {_PENDING} ORDER BY e.created_at, e.id LIMIT %s"
        return self._episodes(self._session.rows(sql, (*self._session.keys, limit)))

    def count_unconsolidated(self, *, limit: int | None = None) -> int:
        """Count those, up to a limit where it is given."""
        some = f"SELECT 1 FROM episode e WHERE {_OWN} AND {_PENDING} ORDER BY e.created_at LIMIT %s"
        found = self._session.row(f"SELECT count(*) FROM ({some}) p", (*self._session.keys, limit))
        return 0 if found is None else int(found[0])

    def consolidate(self, ids: Sequence[UUID], at: datetime) -> None:
        """Set `consolidated_at` of pending episodes; Conflict where one is not, or no longer, among them."""
        keys, wanted = self._session.own(), set(ids)
        # Locked in the order of their ids, as whoever retires them or gives them words does.
        held = (
            f"SELECT e.id FROM episode e WHERE {_OWN} AND e.id = ANY(%s::bytea[]) AND {_PENDING}"
            " ORDER BY e.id FOR NO KEY UPDATE"
        )
        listed = byteas([identity.bytes for identity in wanted])
        if len(self._session.rows(held, (*keys, listed))) != len(wanted):
            raise Conflict("an episode to be consolidated is no longer pending; repeat the call")
        whose = "space = %s AND owner = %s AND id = ANY(%s::bytea[])"
        sql = f"UPDATE episode SET consolidated_at = %s WHERE {whose}"
        self._session.execute(sql, (to_microseconds(at), *keys, listed))

    def reconsider(self, ids: Sequence[UUID]) -> None:
        """Let episodes wait to be consolidated again."""
        whose = "space = %s AND owner = %s AND id = ANY(%s::bytea[])"
        held = f"SELECT id FROM episode WHERE {whose} ORDER BY id FOR NO KEY UPDATE"
        keys = (*self._session.own(), byteas(sorted(identity.bytes for identity in set(ids))))
        self._session.rows(held, keys)
        self._session.execute(f"UPDATE episode SET consolidated_at = NULL WHERE {whose}", keys)

    def encodings(self, episode_id: UUID) -> Sequence[Encoding]:
        """Return every version of an episode's words, oldest first."""
        sql = (
            "SELECT version, title, summary, metadata, encoded_by, created_at FROM encoding"
            " WHERE space = %s AND owner = %s AND episode = %s ORDER BY version"
        )
        found = self._session.rows(sql, (*self._session.keys, episode_id.bytes))
        return [
            Encoding(episode_id, version, title, summary, from_json(metadata), by, to_time(created))
            for version, title, summary, metadata, by, created in map(read_columns, found)
        ]

    def count(self) -> int:
        """Count the scope's current event episodes."""
        sql = f"SELECT count(*) FROM episode e WHERE {_OWN} AND {_CURRENT}"
        found = self._session.row(sql, self._session.keys)
        return 0 if found is None else int(found[0])

    # --- decisions --------------------------------------------------------------------------------------

    def decide(self, decision: Decision) -> None:
        """Write a decision; the same id again changes nothing."""
        keys = self._session.own()
        sql = (
            f"INSERT INTO decision (space, owner, {DECISION}) VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s)"
            " ON CONFLICT (space, owner, id) DO NOTHING"
        )
        self._session.execute(sql, (*keys, *decision_columns(decision)))

    def revoke(self, *decision_ids: UUID) -> None:
        """Delete decisions whose effect was undone; an unknown one is gone already."""
        keys, ids = self._session.own(), byteas([one.bytes for one in decision_ids])
        if decision_ids:
            sql = "DELETE FROM decision WHERE space = %s AND owner = %s AND id = ANY(%s::bytea[])"
            self._session.execute(sql, (*keys, ids))

    def amend(self, decision: Decision) -> None:
        """Keep the outcome and the detail of a decision written before; NotFound."""
        identity, *_, outcome, body = decision_columns(decision)
        sql = "UPDATE decision SET outcome = %s, body = %s WHERE space = %s AND owner = %s AND id = %s"
        if self._session.execute(sql, (outcome, body, *self._session.own(), identity)) == 0:
            raise NotFound(f"no decision {decision.id} in this scope")

    def decision(self, decision_id: UUID) -> Decision | None:
        """Read one decision."""
        sql = f"SELECT {DECISION} FROM decision WHERE space = %s AND owner = %s AND id = %s"
        found = self._session.row(sql, (*self._session.keys, decision_id.bytes))
        return None if found is None else decision_of(read_columns(found))

    def decisions(
        self,
        *,
        subject: UUID | None = None,
        type: str | None = None,
        last: int | None = None,
        since: datetime | None = None,
    ) -> Sequence[Decision]:
        """Return decisions (from a time on) by time, then id; only the `last` so many where that is given."""
        conditions: list[str] = ["space = %s AND owner = %s"]
        bindings: list[int | bytes | str | None] = [*self._session.keys]
        if subject is not None:
            conditions.append("subject = %s")
            bindings.append(subject.bytes)
        if type is not None:
            # The index of types is not for the few of a subject: it would lead past everybody else's.
            conditions.append(_of_type(type) if subject is None else "type = %s")
            bindings.append(type)
        if since is not None:
            conditions.append("at >= %s")
            bindings.append(to_microseconds(since))
        sql = f"SELECT {DECISION} FROM decision WHERE {' AND '.join(conditions)} ORDER BY at DESC, id DESC"
        found = self._session.rows(f"{sql} LIMIT %s", (*bindings, last))
        return [decision_of(read_columns(columns)) for columns in reversed(found)]

    def decided(self, type: str, since: datetime) -> int:
        """Count the decisions of a type that are younger than a time."""
        sql = (
            f"SELECT count(*) FROM decision WHERE space = %s AND owner = %s AND {_of_type(type)} AND at > %s"
        )
        found = self._session.row(sql, (*self._session.keys, type, to_microseconds(since)))
        return 0 if found is None else int(found[0])


def _of_type(type: str) -> str:
    """Ask for a type; what the index of types leaves out is said in its own words."""
    return "type = %s" if type == "boundary" else "type = %s AND type <> 'boundary'"

"""Facts with their evidence, what became of old ids, and what must not be learned again, as rows."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from episodic_agent.core.fact_records import Candidate, Evidence, FactTombstone, KeptFact
from episodic_agent.stores.fact_rows import (
    CHANGING,
    CURRENT,
    FACT,
    evidence_columns,
    evidence_of,
    fact_columns,
    fact_of,
    group_columns,
    groups_of,
    holders,
    tombstone_of,
)
from episodic_agent.stores.faults import reach
from episodic_agent.stores.nouns import columns_of
from episodic_agent.stores.postgres.batches import bigints, byteas, texts
from episodic_agent.stores.postgres.packing import Binary
from episodic_agent.stores.postgres.session import Session
from episodic_agent.stores.postgres.text import read_columns
from episodic_agent.stores.rows import to_microseconds, to_time

_NAMES: Final = CHANGING.split(", ")
_PUT: Final = (
    f"INSERT INTO fact (space, owner, id, number, {CHANGING}, created_at)"
    f" VALUES ({', '.join(['%s'] * (len(_NAMES) + 5))}) ON CONFLICT (space, owner, id) DO UPDATE"
    f" SET {', '.join(f'{name} = excluded.{name}' for name in _NAMES)}"
)
_OWN: Final = "space = %s AND owner = %s"
_READ: Final = columns_of(FACT, "f")
# One look-up for each: without statistics a scope is believed to hold a row or two, and all of it is read.
_WHERE: Final = "WHERE f.space = %s AND f.owner = %s"
_EACH_ID: Final = (
    "FROM unnest(%s::bytea[]) AS p (id)"
    f" CROSS JOIN LATERAL (SELECT * FROM fact f {_WHERE} AND f.id = p.id OFFSET 0) f"
)
_EACH_NUMBER: Final = (
    f"SELECT {_READ} FROM unnest(%s::bigint[]) AS p (number)"
    f" CROSS JOIN LATERAL (SELECT * FROM fact f {_WHERE} AND f.number = p.number OFFSET 0) f"
)
_EVIDENCE: Final = (
    "SELECT e.fact, e.observation, e.body FROM unnest(%s::bigint[]) AS p (fact)"
    " CROSS JOIN LATERAL (SELECT * FROM fact_evidence e"
    " WHERE e.space = %s AND e.owner = %s AND e.fact = p.fact OFFSET 0) e ORDER BY e.fact, e.place"
)
_OF_SLOT: Final = (
    f"SELECT {_READ} FROM unnest(%s::bytea[], %s::text[]) AS p (slot, attribute) CROSS JOIN LATERAL"
    f" (SELECT * FROM fact f {_WHERE} AND f.slot = p.slot AND f.attribute = p.attribute OFFSET 0) f"
)
_OF_GROUP: Final = (
    f"SELECT {_READ} FROM unnest(%s::bytea[], %s::bytea[]) AS p (slot, matter) CROSS JOIN LATERAL"
    f" (SELECT * FROM fact f {_WHERE} AND f.slot = p.slot AND f.matter = p.matter OFFSET 0) f"
)
_RESTING: Final = (
    "SELECT e.fact FROM unnest(%s::bytea[]) AS p (observation) CROSS JOIN LATERAL"
    " (SELECT * FROM fact_evidence e WHERE e.space = %s AND e.owner = %s"
    " AND e.observation = p.observation OFFSET 0) e"
)
_REST: Final = (
    "INSERT INTO fact_evidence (space, owner, fact, place, observation, body) SELECT %s, %s, g.*"
    " FROM unnest(%s::bigint[], %s::bigint[], %s::bytea[], %s::text[]) AS g"
)


class PostgresFacts:
    """The `Facts` of one transaction."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._last: int | None = None  # the number given last, once the scope's facts are held

    def hold(self) -> None:
        """Let no other writer change facts of this scope before the end of this write transaction."""
        self._hold()

    def _hold(self) -> tuple[int, int]:
        keys = self._session.own()
        if self._last is None:
            sql = "INSERT INTO fact_number (space, owner, last) VALUES (%s, %s, 0) ON CONFLICT DO NOTHING"
            self._session.execute(sql, keys)
            sql = f"SELECT last FROM fact_number WHERE {_OWN} FOR UPDATE"
            found = self._session.row(sql, keys)
            if found is None:
                raise self._session.miss_scope()
            self._last = int(found[0])
        return keys

    # --- writing ----------------------------------------------------------------------------------------

    def put(self, facts: Sequence[KeptFact]) -> Sequence[KeptFact]:
        """Write facts, new or in place of those with their ids; return them as they are kept now."""
        keys = self._hold()
        found = self._numbered({kept.id: kept for kept in facts})
        for kept in found.values():
            columns = (*fact_columns(kept.fact), to_microseconds(kept.created_at))
            self._session.execute(_PUT, (*keys, kept.id.bytes, kept.number, *columns))
        self._forget("fact_evidence", "fact", [kept.number for kept in found.values()])
        reach("mid-facts")
        rows = [
            (kept.number, place, *evidence_columns(one))
            for kept in found.values()
            for place, one in enumerate(kept.fact.evidence)
        ]
        if rows:
            numbers, places, observations, bodies = zip(*rows, strict=True)
            columns = (bigints(numbers), bigints(places), byteas(observations), texts(bodies))
            self._session.execute(_REST, (*keys, *columns))
        self._forget_ids("fact_move", "id", list(found))
        return [found[kept.id] for kept in facts]

    def _numbered(self, facts: Mapping[UUID, KeptFact]) -> dict[UUID, KeptFact]:
        """Return facts with the numbers and times of those that are known, and new numbers."""
        assert self._last is not None
        known = self._known(list(facts))
        last, found = self._last, {}
        for identity, kept in facts.items():
            if identity not in known:
                last += 1
            number, created_at = known.get(identity, (last, kept.created_at))
            found[identity] = replace(kept, number=number, created_at=created_at)
        if last != self._last:
            sql = f"UPDATE fact_number SET last = %s WHERE {_OWN}"
            self._session.execute(sql, (last, *self._session.keys))
            self._last = last
        return found

    def _known(self, ids: Sequence[UUID]) -> dict[UUID, tuple[int, datetime]]:
        sql = f"SELECT f.id, f.number, f.created_at {_EACH_ID}"
        found = self._session.rows(sql, (_ids(ids), *self._session.keys))
        return {UUID(bytes=bytes(identity)): (number, to_time(at)) for identity, number, at in found}

    def drop(self, ids: Sequence[UUID]) -> Sequence[int]:
        """Delete facts with their evidence and the old ids that led to them; return the numbers they had."""
        self._hold()
        for column in ("id", "now"):
            self._forget_ids("fact_move", column, ids)
        return self._delete(ids)

    def moved(self, gone: Mapping[UUID, UUID | None]) -> Sequence[int]:
        """Delete facts whose evidence others hold now; return the numbers they had."""
        keys = self._hold()
        numbers, led = self._delete(list(gone)), holders(gone)
        nowhere = [old for old, holder in led.items() if holder is None]
        for column in ("id", "now"):
            self._forget_ids("fact_move", column, nowhere)
        moved = {old: holder for old, holder in led.items() if holder is not None}
        if moved:
            columns = _ids(list(moved)), _ids(list(moved.values()))
            sql = (
                "UPDATE fact_move m SET now = g.now FROM unnest(%s::bytea[], %s::bytea[]) AS g (old, now)"
                " WHERE m.space = %s AND m.owner = %s AND m.now = g.old"
            )
            self._session.execute(sql, (*columns, *keys))
            sql = (
                "INSERT INTO fact_move (space, owner, id, now) SELECT %s, %s, g.*"
                " FROM unnest(%s::bytea[], %s::bytea[]) AS g"
                " ON CONFLICT (space, owner, id) DO UPDATE SET now = excluded.now"
            )
            self._session.execute(sql, (*keys, *columns))
        return numbers

    def _delete(self, ids: Sequence[UUID]) -> list[int]:
        numbers = sorted(number for number, _ in self._known(ids).values())
        self._forget("fact_evidence", "fact", numbers)
        self._forget("fact", "number", numbers)
        return numbers

    def _forget(self, table: str, column: str, numbers: Sequence[int]) -> None:
        if numbers:
            sql = f"DELETE FROM {table} WHERE {_OWN} AND {column} = ANY(%s::bigint[])"
            self._session.execute(sql, (*self._session.keys, bigints(numbers)))

    def _forget_ids(self, table: str, column: str, ids: Sequence[UUID]) -> None:
        if ids:
            sql = f"DELETE FROM {table} WHERE {_OWN} AND {column} = ANY(%s::bytea[])"
            self._session.execute(sql, (*self._session.keys, _ids(ids)))

    # --- reading ----------------------------------------------------------------------------------------

    def get(self, fact_id: UUID) -> KeptFact | None:
        """Read one."""
        return self.by_ids([fact_id]).get(fact_id)

    def by_ids(self, ids: Sequence[UUID]) -> Mapping[UUID, KeptFact]:
        """Return those of these ids that there are."""
        found = self._session.rows(f"SELECT {_READ} {_EACH_ID}", (_ids(ids), *self._session.keys))
        return {kept.id: kept for kept in self._facts(found)}

    def by_numbers(self, numbers: Sequence[int]) -> Mapping[int, KeptFact]:
        """Return those of these numbers that there are."""
        found = self._session.rows(_EACH_NUMBER, (bigints([*numbers]), *self._session.keys))
        return {kept.number: kept for kept in self._facts(found)}

    def list(self, *, current: bool = False, limit: int | None = None) -> Sequence[KeptFact]:
        """Return all (the newest), or those nothing has ended, by `valid_at`, oldest first, ties by id."""
        sql = f"SELECT {FACT} FROM fact WHERE {_whose(current)} ORDER BY valid_at DESC, id DESC LIMIT %s"
        return self._facts(self._session.rows(sql, (*self._session.keys, limit))[::-1])

    def count(self, *, current: bool = False) -> int:
        """Count all, or those nothing has ended."""
        sql = f"SELECT count(*) FROM fact WHERE {_whose(current)}"
        found = self._session.row(sql, self._session.keys)
        return 0 if found is None else int(found[0])

    def of_slots(self, slots: Sequence[tuple[str, str]]) -> Sequence[KeptFact]:
        """Return the facts of these (subject, attribute), past and present, in the order of `list`."""
        asked = [(group_columns(*slot, "")[0], slot[1]) for slot in slots]
        columns = byteas([slot for slot, _ in asked]), texts([attribute for _, attribute in asked])
        return self._ordered(self._session.rows(_OF_SLOT, (*columns, *self._session.keys)))

    def concerning(self, candidates: Sequence[Candidate]) -> Sequence[KeptFact]:
        """Return all that `learn` needs to know to weigh these candidates, in the order of `list`."""
        groups = groups_of(candidates)
        columns = byteas([slot for slot, _ in groups]), byteas([matter for _, matter in groups])
        found = self._session.rows(_OF_GROUP, (*columns, *self._session.keys))
        return self._ordered([*found, *self._resting({one.evidence.observation_id for one in candidates})])

    def resting_on(self, observation_ids: Sequence[UUID]) -> Sequence[KeptFact]:
        """Return facts with evidence in one of these observations, in the order of `list`."""
        return self._ordered(self._resting(set(observation_ids)))

    def _resting(self, observations: set[UUID]) -> Sequence[tuple[Any, ...]]:
        found = self._session.rows(_RESTING, (_ids(list(observations)), *self._session.keys))
        numbers = bigints(sorted({number for (number,) in found}))
        return self._session.rows(_EACH_NUMBER, (numbers, *self._session.keys)) if found else []

    def _ordered(self, found: Sequence[tuple[Any, ...]]) -> Sequence[KeptFact]:
        once = {columns[0]: columns for columns in found}
        return sorted(self._facts(list(once.values())), key=lambda kept: (kept.fact.valid_at, kept.id))

    def _facts(self, found: Sequence[tuple[Any, ...]]) -> Sequence[KeptFact]:
        evidence: dict[int, list[Evidence]] = {columns[0]: [] for columns in found}
        if evidence:
            rows = self._session.rows(_EVIDENCE, (bigints([*evidence]), *self._session.keys))
            for number, observation, body in map(read_columns, rows):
                evidence[number].append(evidence_of(observation, body))
        return [fact_of(read_columns(columns), evidence[columns[0]]) for columns in found]

    # --- what became of old ids, and what must not be learned again ---------------------------------------

    def successor(self, fact_id: UUID) -> UUID | None:
        """Return the fact that holds the evidence of one that is gone; None where there is none."""
        sql = f"SELECT now FROM fact_move WHERE {_OWN} AND id = %s"
        found = self._session.row(sql, (*self._session.keys, fact_id.bytes))
        return None if found is None else UUID(bytes=bytes(found[0]))

    def near(self, first: UUID, last: UUID, *, limit: int = 2) -> Sequence[UUID]:
        """Return facts whose ids lie between two, by id; else the successors of ids that are gone."""
        for column, table in (("id", "fact"), ("now", "fact_move")):
            sql = (
                f"SELECT DISTINCT {column} FROM {table} WHERE {_OWN} AND id BETWEEN %s AND %s"
                f" ORDER BY {column} LIMIT %s"
            )
            found = self._session.rows(sql, (*self._session.keys, first.bytes, last.bytes, limit))
            if found:
                return [UUID(bytes=bytes(identity)) for (identity,) in found]
        return []

    def moves(self) -> Mapping[UUID, UUID]:
        """Return for each id that is gone where it leads, by id."""
        sql = f"SELECT id, now FROM fact_move WHERE {_OWN} ORDER BY id"
        found = self._session.rows(sql, self._session.keys)
        return {UUID(bytes=bytes(identity)): UUID(bytes=bytes(now)) for identity, now in found}

    def bury(self, tombstones: Sequence[FactTombstone]) -> None:
        """Keep what is not to be learned again; one that is there already stays as it is."""
        keys = self._hold()
        sql = (
            "INSERT INTO fact_tombstone (space, owner, observation, mark, deleted_at) SELECT %s, %s, g.*"
            " FROM unnest(%s::bytea[], %s::text[], %s::bigint[]) AS g ON CONFLICT DO NOTHING"
        )
        observations = _ids([one.observation_id for one in tombstones])
        times = bigints([to_microseconds(one.deleted_at) for one in tombstones])
        if tombstones:
            marks = texts([one.mark for one in tombstones])
            self._session.execute(sql, (*keys, observations, marks, times))

    def tombstones(self, observation_ids: Sequence[UUID] | None = None) -> Sequence[FactTombstone]:
        """Return all, or those of these observations, by observation, then mark."""
        whose, wanted = _OWN, list[Binary]()
        if observation_ids is not None:
            whose, wanted = f"{_OWN} AND observation = ANY(%s::bytea[])", [_ids(observation_ids)]
        sql = f"SELECT observation, mark, deleted_at FROM fact_tombstone WHERE {whose}"
        rows = self._session.rows(sql, (*self._session.keys, *wanted))
        found = [tombstone_of(read_columns(columns)) for columns in rows]
        # Sorted here: the server's collation is not ours.
        return sorted(found, key=lambda one: (one.observation_id, one.mark))

    def unbury(self, observation_ids: Sequence[UUID]) -> None:
        """Take away the tombstones of observations, as when those are erased."""
        self._hold()
        self._forget_ids("fact_tombstone", "observation", observation_ids)


def _ids(ids: Sequence[UUID]) -> Binary:
    return byteas([identity.bytes for identity in ids])


def _whose(current: bool) -> str:
    return f"{_OWN} AND {CURRENT}" if current else _OWN

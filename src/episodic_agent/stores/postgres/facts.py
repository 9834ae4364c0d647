"""Facts as rows: how they are held, written and looked up here; with skills and decisions the `Knowledge`."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from episodic_agent.schemas.facts import FactTombstone, StoredFact
from episodic_agent.stores.fact_rows import (
    CHANGING,
    FACT,
    evidence_columns,
    fact_columns,
    holders,
)
from episodic_agent.stores.faults import reach
from episodic_agent.stores.nouns import columns_of
from episodic_agent.stores.postgres.server.batches import bigints, byteas, texts
from episodic_agent.stores.postgres.server.packing import Binary
from episodic_agent.stores.postgres.server.session import OWN_ROW, PostgresSession
from episodic_agent.stores.postgres.server.text import read_columns
from episodic_agent.stores.postgres.skills import PostgresSkills
from episodic_agent.stores.rows import to_microseconds, to_time
from episodic_agent.stores.tables.decisions import DecisionTable
from episodic_agent.stores.tables.facts import FactTable

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
    "INSERT INTO fact_evidence (space, owner, fact, place, observation, body) SELECT s.space, s.owner, g.*"
    f" FROM {OWN_ROW}, unnest(%s::bigint[], %s::bigint[], %s::bytea[], %s::text[]) AS g"
)


class PostgresKnowledge(FactTable, PostgresSkills, DecisionTable):
    """The `Knowledge` of one transaction."""

    _session: PostgresSession

    # --- writing ----------------------------------------------------------------------------------------

    def put_facts(self, facts: Sequence[StoredFact]) -> Sequence[StoredFact]:
        """Write facts, new or in place of those with their ids; return them as they are kept now."""
        keys, last = self._session.own(), self._session.hold_facts()
        matching_facts = self._with_numbers({kept.id: kept for kept in facts}, last)
        for fact in matching_facts.values():
            columns = (*fact_columns(fact.fact), to_microseconds(fact.created_at))
            self._session.execute(_PUT, (*keys, fact.id.bytes, fact.number, *columns))
        self._forget("fact_evidence", "fact", [kept.number for kept in matching_facts.values()])
        reach("mid-facts")
        rows = [
            (kept.number, place, *evidence_columns(one))
            for kept in matching_facts.values()
            for place, one in enumerate(kept.fact.evidence)
        ]
        if rows:
            numbers, places, observations, bodies = zip(*rows, strict=True)
            columns = (bigints(numbers), bigints(places), byteas(observations), texts(bodies))
            self._session.insert(_REST, (*keys, *columns), len(rows))
        self._forget_ids("fact_move", "id", list(matching_facts))
        return [matching_facts[kept.id] for kept in facts]

    def _with_numbers(self, facts: Mapping[UUID, StoredFact], last: int) -> dict[UUID, StoredFact]:
        """Return facts with the numbers and times of those that are known, and new numbers."""
        known = self._known(list(facts))
        result = {}
        for identity, fact in facts.items():
            if identity not in known:
                last += 1
            number, created_at = known.get(identity, (last, fact.created_at))
            result[identity] = replace(fact, number=number, created_at=created_at)
        self._session.number_facts(last)
        return result

    def _known(self, ids: Sequence[UUID]) -> dict[UUID, tuple[int, datetime]]:
        sql = f"SELECT f.id, f.number, f.created_at {_EACH_ID}"
        rows = self._session.rows(sql, (_ids(ids), *self._session.keys))
        return {UUID(bytes=bytes(identity)): (number, to_time(at)) for identity, number, at in rows}

    def move_facts(self, gone: Mapping[UUID, UUID | None]) -> Sequence[int]:
        """Delete facts whose evidence others hold now; return the numbers they had."""
        self._session.hold_facts()
        keys = self._session.keys
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
                "INSERT INTO fact_move (space, owner, id, now) SELECT s.space, s.owner, g.*"
                f" FROM {OWN_ROW}, unnest(%s::bytea[], %s::bytea[]) AS g"
                " ON CONFLICT (space, owner, id) DO UPDATE SET now = excluded.now"
            )
            self._session.insert(sql, (*keys, *columns), len(moved))
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

    def _of_ids(self, ids: Sequence[UUID]) -> list[tuple[Any, ...]]:
        return self._looked_up(f"SELECT {_READ} {_EACH_ID}", _ids(ids))

    def _of_numbers(self, numbers: Sequence[int]) -> list[tuple[Any, ...]]:
        return self._looked_up(_EACH_NUMBER, bigints([*numbers]))

    def _of_slots(self, slots: Sequence[tuple[bytes, str]]) -> list[tuple[Any, ...]]:
        columns = byteas([slot for slot, _ in slots]), texts([attribute for _, attribute in slots])
        return self._looked_up(_OF_SLOT, *columns)

    def _of_groups(self, groups: Sequence[tuple[bytes, bytes]]) -> list[tuple[Any, ...]]:
        columns = byteas([slot for slot, _ in groups]), byteas([matter for _, matter in groups])
        return self._looked_up(_OF_GROUP, *columns)

    def _resting(self, observations: set[UUID]) -> list[tuple[Any, ...]]:
        looked_up = self._looked_up(_RESTING, _ids(list(observations)))
        return self._of_numbers(sorted({number for (number,) in looked_up})) if looked_up else []

    def _evidence(self, numbers: Sequence[int]) -> list[tuple[Any, ...]]:
        return self._looked_up(_EVIDENCE, bigints([*numbers]))

    def _looked_up(self, sql: str, *columns: Binary) -> list[tuple[Any, ...]]:
        rows = self._session.rows(sql, (*columns, *self._session.keys))
        return [read_columns(read) for read in rows]

    # --- what must not be learned again -----------------------------------------------------------------

    def bury(self, tombstones: Sequence[FactTombstone]) -> None:
        """Keep what is not to be learned again; one that is there already stays as it is."""
        self._session.hold_facts()
        keys = self._session.keys
        sql = (
            "INSERT INTO fact_tombstone (space, owner, observation, mark, deleted_at)"
            f" SELECT s.space, s.owner, g.* FROM {OWN_ROW},"
            " unnest(%s::bytea[], %s::text[], %s::bigint[]) AS g ON CONFLICT DO NOTHING"
        )
        observations = _ids([one.observation_id for one in tombstones])
        times = bigints([to_microseconds(one.deleted_at) for one in tombstones])
        if tombstones:
            marks = texts([one.mark for one in tombstones])
            self._session.insert(sql, (*keys, observations, marks, times), len(tombstones))


def _ids(ids: Sequence[UUID]) -> Binary:
    return byteas([identity.bytes for identity in ids])

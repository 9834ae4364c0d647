"""Facts as rows: how they are held, written and looked up here; with skills and decisions the `Knowledge`."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from episodic_agent.protocols import ref_of
from episodic_agent.schemas.facts import StoredFact
from episodic_agent.schemas.skills import StoredSkill, TurnRef
from episodic_agent.stores.fact_rows import CHANGING, FACT, SKILL, SKILL_CHANGING, fact_columns, skill_columns
from episodic_agent.stores.nouns import columns_of
from episodic_agent.stores.postgres.server.batches import bigints, byteas, read_columns, texts
from episodic_agent.stores.postgres.server.packing import Binary
from episodic_agent.stores.postgres.server.session import OWN_ROW, PostgresSession
from episodic_agent.stores.rows import to_microseconds, to_time
from episodic_agent.stores.tables.facts import DecisionTable, FactTable, SkillTable

_SKILL_NAMES: Final = [name.strip() for name in SKILL_CHANGING.split(",")]
_TYPES: Final = [*["text"] * 5, *["double precision"] * 2, *["bigint"] * 5]  # of what changes, in its order
_PUT_SKILL: Final = (
    f"INSERT INTO skill (space, owner, id, number, {SKILL_CHANGING}) SELECT s.space, s.owner, %s::bytea,"
    " coalesce((SELECT max(k.number) FROM skill k WHERE k.space = %s AND k.owner = %s), 0) + 1,"
    f" {', '.join(f'%s::{name}' for name in _TYPES)} FROM {OWN_ROW}"
    " ON CONFLICT (space, owner, id) DO UPDATE"
    f" SET {', '.join(f'{name} = excluded.{name}' for name in _SKILL_NAMES)} RETURNING number"
)
_TURNS: Final = (
    "INSERT INTO skill_turn (space, owner, ref, skill) SELECT s.space, s.owner, g.ref, %s::bytea"
    f" FROM {OWN_ROW}, unnest(%s::bigint[]) AS g (ref) ON CONFLICT DO NOTHING"
)


class PostgresSkills(SkillTable):
    """Skills on a server."""

    _session: PostgresSession
    locked = " FOR UPDATE"

    def put_skill(self, skill: StoredSkill, turns: Sequence[TurnRef] = ()) -> StoredSkill:
        keys = self._session.own()
        row = self._session.row(_PUT_SKILL, (skill.id.bytes, *keys, *skill_columns(skill), *keys))
        if row is None:
            raise self._session.miss_scope()
        refs = sorted(ref_of(self._session.thread_number(turn.thread_id), turn.seq) for turn in turns)
        if refs:
            self._session.insert(_TURNS, (skill.id.bytes, *keys, bigints(refs)), len(refs))
        return replace(skill, number=row[0])

    def _await_mining(self, refs: Sequence[int]) -> None:
        sql = (
            "INSERT INTO unmined (space, owner, ref) SELECT s.space, s.owner, g.ref"
            f" FROM {OWN_ROW}, unnest(%s::bigint[]) AS g (ref) ON CONFLICT DO NOTHING"
        )
        # in one order everywhere: two writers of the same refs then wait, and never for each other
        self._session.insert(sql, (*self._session.own(), bigints(refs)), len(refs))

    def _numbered(self, numbers: Sequence[int]) -> list[tuple[Any, ...]]:
        sql = f"SELECT {SKILL} FROM skill WHERE :mine AND number IN :numbers(numbers) ORDER BY created_at, id"
        return self._session.read(sql, numbers=[*numbers])

    def _showing(self, refs: Sequence[int]) -> list[tuple[Any, ...]]:
        sql = "SELECT ref, skill FROM skill_turn WHERE :mine AND ref IN :numbers(refs) ORDER BY ref, skill"
        return self._session.read(sql, refs=refs)


_NAMES: Final = CHANGING.split(", ")
_PUT: Final = (
    f"INSERT INTO fact (space, owner, id, number, {CHANGING}, created_at)"
    f" VALUES ({', '.join(['%s'] * (len(_NAMES) + 5))}) ON CONFLICT (space, owner, id) DO UPDATE"
    f" SET {', '.join(f'{name} = excluded.{name}' for name in _NAMES)}"
)
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

    def _write(self, facts: Mapping[UUID, StoredFact]) -> Mapping[UUID, StoredFact]:
        keys, last = self._session.own(), self._session.hold_facts()
        numbered = self._with_numbers(facts, last)
        for fact in numbered.values():
            columns = (*fact_columns(fact.fact), to_microseconds(fact.created_at))
            self._session.execute(_PUT, (*keys, fact.id.bytes, fact.number, *columns))
        return numbered

    def _rest(self, rows: Sequence[tuple[Any, ...]]) -> None:
        if rows:
            numbers, places, observations, bodies = zip(*rows, strict=True)
            columns = (bigints(numbers), bigints(places), byteas(observations), texts(bodies))
            self._session.insert(_REST, (*self._session.keys, *columns), len(rows))

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


def _ids(ids: Sequence[UUID]) -> Binary:
    return byteas([identity.bytes for identity in ids])

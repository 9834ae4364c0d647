"""Facts and skills as rows: how they are held, written and looked up; with decisions the `Knowledge`."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final
from uuid import UUID

import apsw

from episodic_agent.errors import Conflict
from episodic_agent.protocols import ref_of
from episodic_agent.schemas.facts import StoredFact
from episodic_agent.schemas.skills import StoredSkill, TurnRef
from episodic_agent.stores.fact_rows import CHANGING, FACT, SKILL, SKILL_CHANGING, fact_columns, skill_columns
from episodic_agent.stores.nouns import columns_of
from episodic_agent.stores.rows import to_json, to_microseconds, to_time
from episodic_agent.stores.sqlite.file.session import EACH, SqliteSession, id_list, number_list
from episodic_agent.stores.tables.facts import DecisionTable, FactTable, SkillTable

_OF_SKILL: Final = [name.strip() for name in SKILL_CHANGING.split(",")]
_NEXT: Final = "(SELECT ifnull(max(number), 0) + 1 FROM skill WHERE scope = ?1)"
_PUT_SKILL: Final = (
    f"INSERT INTO skill (scope, id, number, {SKILL_CHANGING})"
    f" VALUES (?1, ?2, {_NEXT}, {', '.join(f'?{n}' for n in range(3, 3 + len(_OF_SKILL)))})"
    f" ON CONFLICT (scope, id) DO UPDATE SET {', '.join(f'{name} = excluded.{name}' for name in _OF_SKILL)}"
    " RETURNING number"
)


class SqliteSkills(SkillTable):
    """Skills in a file."""

    _session: SqliteSession

    def put_skill(self, skill: StoredSkill, turns: Sequence[TurnRef] = ()) -> StoredSkill:
        """Write a skill, new or known by its id, and add turns to its evidence; return it with its number."""
        scope = self._session.own()
        try:
            row = self._session.row(_PUT_SKILL, (scope, skill.id.bytes, *skill_columns(skill)))
        except apsw.ConstraintError as error:
            raise Conflict(
                f"another skill has the pattern of {skill.skill.name!r}; repeat the call"
            ) from error
        assert row is not None
        refs = [ref_of(self._session.thread_number(turn.thread_id), turn.seq) for turn in turns]
        sql = "INSERT OR IGNORE INTO skill_turn (scope, ref, skill) VALUES (?, ?, ?)"
        self._session.db.executemany(sql, [(scope, ref, skill.id.bytes) for ref in refs])
        return replace(skill, number=row[0])

    def _await_mining(self, refs: Sequence[int]) -> None:
        scope = self._session.own()
        sql = "INSERT OR IGNORE INTO unmined (scope, ref) VALUES (?, ?)"
        self._session.db.executemany(sql, [(scope, ref) for ref in refs])

    def _numbered(self, numbers: Sequence[int]) -> list[tuple[Any, ...]]:
        sql = (
            f"SELECT {columns_of(SKILL, 's')} FROM {EACH} skill s WHERE s.scope = ? AND s.number = p.value"
            " ORDER BY s.created_at, s.id"
        )
        return self._session.rows(sql, (number_list(numbers), self._session.number))

    def _showing(self, refs: Sequence[int]) -> list[tuple[Any, ...]]:
        sql = f"SELECT s.ref, s.skill FROM {EACH} skill_turn s WHERE s.scope = ? AND s.ref = p.value"
        return self._session.rows(sql, (number_list(refs), self._session.number))


_NAMES: Final = CHANGING.split(", ")
_PUT: Final = (
    f"INSERT INTO fact (scope, id, {CHANGING}, created_at) VALUES ({', '.join('?' * (len(_NAMES) + 3))})"
    f" ON CONFLICT (scope, id) DO UPDATE SET {', '.join(f'{name} = excluded.{name}' for name in _NAMES)}"
    " RETURNING number, created_at"
)
_READ: Final = columns_of(FACT, "f")
_EACH_ID: Final = f"{EACH} fact f WHERE f.scope = ? AND f.id = unhex(p.value)"
_EVIDENCE: Final = (
    f"SELECT e.fact, e.observation, e.body FROM {EACH} fact_evidence e WHERE e.fact = p.value"
    " AND e.scope = ? ORDER BY e.fact, e.place"
)
# Rows of `p` are pairs here.
_OF_SLOT: Final = (
    f"SELECT {_READ} FROM {EACH} fact f"
    " WHERE f.scope = ? AND f.slot = unhex(p.value ->> 0) AND f.attribute = (p.value ->> 1)"
)
_OF_GROUP: Final = (
    f"SELECT {_READ} FROM {EACH} fact f"
    " WHERE f.scope = ? AND f.slot = unhex(p.value ->> 0) AND f.matter = unhex(p.value ->> 1)"
)
_RESTING: Final = (
    f"SELECT {_READ} FROM {EACH} fact_evidence e CROSS JOIN fact f"
    " WHERE e.scope = ? AND e.observation = unhex(p.value) AND f.number = e.fact"
)


class SqliteKnowledge(FactTable, SqliteSkills, DecisionTable):
    """The `Knowledge` of one transaction."""

    _session: SqliteSession

    # --- writing ----------------------------------------------------------------------------------------

    def _write(self, facts: Mapping[UUID, StoredFact]) -> Mapping[UUID, StoredFact]:
        scope = self._session.own()
        return {identity: self._put(scope, kept) for identity, kept in facts.items()}

    def _rest(self, rows: Sequence[tuple[Any, ...]]) -> None:
        scope = self._session.own()
        sql = "INSERT INTO fact_evidence (scope, fact, place, observation, body) VALUES (?, ?, ?, ?, ?)"
        self._session.db.executemany(sql, [(scope, *columns) for columns in rows])

    def _put(self, scope: int, fact: StoredFact) -> StoredFact:
        columns = (scope, fact.id.bytes, *fact_columns(fact.fact), to_microseconds(fact.created_at))
        row = self._session.row(_PUT, columns)
        assert row is not None
        return replace(fact, number=row[0], created_at=to_time(row[1]))

    # --- reading ----------------------------------------------------------------------------------------

    def _of_ids(self, ids: Sequence[UUID]) -> list[tuple[Any, ...]]:
        return self._session.rows(f"SELECT {_READ} FROM {_EACH_ID}", (id_list(ids), self._session.number))

    def _of_numbers(self, numbers: Sequence[int]) -> list[tuple[Any, ...]]:
        sql = f"SELECT {_READ} FROM {EACH} fact f WHERE f.number = p.value AND f.scope = ?"
        return self._session.rows(sql, (number_list(numbers), self._session.number))

    def _of_slots(self, slots: Sequence[tuple[bytes, str]]) -> list[tuple[Any, ...]]:
        asked = to_json([(slot.hex(), attribute) for slot, attribute in slots])
        return self._session.rows(_OF_SLOT, (asked, self._session.number))

    def _of_groups(self, groups: Sequence[tuple[bytes, bytes]]) -> list[tuple[Any, ...]]:
        asked = to_json([(slot.hex(), matter.hex()) for slot, matter in groups])
        return self._session.rows(_OF_GROUP, (asked, self._session.number))

    def _resting(self, observations: set[UUID]) -> list[tuple[Any, ...]]:
        asked = id_list(sorted(observations))
        return self._session.rows(_RESTING, (asked, self._session.number))

    def _evidence(self, numbers: Sequence[int]) -> list[tuple[Any, ...]]:
        return self._session.rows(_EVIDENCE, (number_list(numbers), self._session.number))

    # --- what must not be learned again -----------------------------------------------------------------

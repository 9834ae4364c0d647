"""Skills as rows: how they are written and looked up here."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final

import apsw

from episodic_agent.errors import Conflict
from episodic_agent.protocols import ref_of
from episodic_agent.schemas.skills import StoredSkill, TurnRef
from episodic_agent.stores.nouns import columns_of
from episodic_agent.stores.skill_rows import CHANGING, SKILL, skill_columns
from episodic_agent.stores.sqlite.file.session import EACH, SqliteSession, number_list
from episodic_agent.stores.tables.skills import SkillTable

_NAMES: Final = [name.strip() for name in CHANGING.split(",")]
_NEXT: Final = "(SELECT ifnull(max(number), 0) + 1 FROM skill WHERE scope = ?1)"
_PUT: Final = (
    f"INSERT INTO skill (scope, id, number, {CHANGING})"
    f" VALUES (?1, ?2, {_NEXT}, {', '.join(f'?{n}' for n in range(3, 3 + len(_NAMES)))})"
    f" ON CONFLICT (scope, id) DO UPDATE SET {', '.join(f'{name} = excluded.{name}' for name in _NAMES)}"
    " RETURNING number"
)


class SqliteSkills(SkillTable):
    """Skills in a file."""

    _session: SqliteSession

    def put_skill(self, skill: StoredSkill, turns: Sequence[TurnRef] = ()) -> StoredSkill:
        """Write a skill, new or known by its id, and add turns to its evidence; return it with its number."""
        scope = self._session.own()
        try:
            row = self._session.row(_PUT, (scope, skill.id.bytes, *skill_columns(skill)))
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

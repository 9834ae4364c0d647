"""Skills, the turns that show them, and the episodes nobody has mined yet, as rows."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final
from uuid import UUID

import apsw

from episodic_agent.core.interfaces import ref_of, split_ref
from episodic_agent.core.skill_records import KeptSkill, SkillState, TurnRef
from episodic_agent.errors import Conflict
from episodic_agent.stores.skill_rows import CHANGING, SKILL, skill_columns, skill_of
from episodic_agent.stores.sqlite.session import EACH, Session, number_list

_NAMES: Final = [name.strip() for name in CHANGING.split(",")]
_NEXT: Final = "(SELECT ifnull(max(number), 0) + 1 FROM skill WHERE scope = ?1)"
_PUT: Final = (
    f"INSERT INTO skill (scope, id, number, {CHANGING})"
    f" VALUES (?1, ?2, {_NEXT}, {', '.join(f'?{n}' for n in range(3, 3 + len(_NAMES)))})"
    f" ON CONFLICT (scope, id) DO UPDATE SET {', '.join(f'{name} = excluded.{name}' for name in _NAMES)}"
    " RETURNING number"
)


class SqliteSkills:
    """The `Skills` of one transaction."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def put(self, kept: KeptSkill, turns: Sequence[TurnRef] = ()) -> KeptSkill:
        """Write a skill, new or known by its id, and add turns to its evidence; return it with its number."""
        scope = self._session.own()
        try:
            found = self._session.row(_PUT, (scope, kept.id.bytes, *skill_columns(kept)))
        except apsw.ConstraintError as error:
            raise Conflict(
                f"another skill has the pattern of {kept.skill.name!r}; repeat the call"
            ) from error
        assert found is not None
        refs = [ref_of(self._session.thread_number(turn.thread_id), turn.seq) for turn in turns]
        sql = "INSERT OR IGNORE INTO skill_turn (scope, ref, skill) VALUES (?, ?, ?)"
        self._session.db.executemany(sql, [(scope, ref, kept.id.bytes) for ref in refs])
        return replace(kept, number=found[0])

    def get(self, skill_id: UUID) -> KeptSkill | None:
        """Read one."""
        sql = f"SELECT {SKILL} FROM skill WHERE scope = ? AND id = ?"
        found = self._session.row(sql, (self._session.number, skill_id.bytes))
        return None if found is None else skill_of(found)

    def list(self, *, state: SkillState | None = None) -> Sequence[KeptSkill]:
        """Return all, or those of a state, oldest first, ties by id."""
        sql = (
            f"SELECT {SKILL} FROM skill WHERE scope = ? AND state = ifnull(?, state) ORDER BY created_at, id"
        )
        wanted = None if state is None else state.value
        return [skill_of(columns) for columns in self._session.rows(sql, (self._session.number, wanted))]

    def by_numbers(self, numbers: Sequence[int]) -> Mapping[int, KeptSkill]:
        """Return those of these numbers that there are."""
        names = ", ".join(f"s.{name.strip()}" for name in SKILL.split(","))
        sql = f"SELECT {names} FROM {EACH} skill s WHERE s.scope = ? AND s.number = p.value"
        found = self._session.rows(sql, (number_list(numbers), self._session.number))
        return {kept.number: kept for kept in map(skill_of, found)}

    def evidence(self, skill_id: UUID) -> Sequence[TurnRef]:
        """Return the turns that show a skill, by reference."""
        sql = "SELECT ref FROM skill_turn WHERE scope = ? AND skill = ? ORDER BY ref"
        return self._turns(
            [ref for (ref,) in self._session.rows(sql, (self._session.number, skill_id.bytes))]
        )

    def shown_by(self, turns: Sequence[TurnRef]) -> Mapping[TurnRef, Sequence[UUID]]:
        """Return for each of these turns which skills it shows already; turns that show none are left out."""
        asked: dict[int, TurnRef] = {}
        for turn in turns:
            number = self._session.find_thread(turn.thread_id)
            if number is not None:
                asked[ref_of(number, turn.seq)] = turn
        sql = f"SELECT s.ref, s.skill FROM {EACH} skill_turn s WHERE s.scope = ? AND s.ref = p.value"
        shown: dict[TurnRef, list[UUID]] = {}
        for ref, skill in self._session.rows(sql, (number_list(asked), self._session.number)):
            shown.setdefault(asked[ref], []).append(UUID(bytes=skill))
        return shown

    def drop(self, skill_id: UUID) -> None:
        """Delete one with its evidence; an unknown one is gone already."""
        keys = (self._session.own(), skill_id.bytes)
        self._session.db.execute("DELETE FROM skill_turn WHERE scope = ? AND skill = ?", keys)
        self._session.db.execute("DELETE FROM skill WHERE scope = ? AND id = ?", keys)

    def await_mining(self, refs: Sequence[int]) -> None:
        """Note episodes, by their first reference, that are to be looked through."""
        scope = self._session.own()
        sql = "INSERT OR IGNORE INTO unmined (scope, ref) VALUES (?, ?)"
        self._session.db.executemany(sql, [(scope, int(ref)) for ref in refs])

    def awaiting(self, *, limit: int) -> Sequence[int]:
        """Return refs that were noted and not taken away, rising."""
        sql = "SELECT ref FROM unmined WHERE scope = ? ORDER BY ref LIMIT ?"
        return [ref for (ref,) in self._session.rows(sql, (self._session.number, limit))]

    def mined(self, refs: Sequence[int]) -> None:
        """Take noted refs away."""
        sql = "DELETE FROM unmined WHERE scope = ? AND ref IN (SELECT value FROM json_each(?))"
        self._session.db.execute(sql, (self._session.own(), number_list(refs)))

    def _turns(self, refs: Sequence[int]) -> Sequence[TurnRef]:
        split = [split_ref(ref) for ref in refs]
        threads = self._session.thread_ids([number for number, _ in split])
        return [TurnRef(threads[number], seq) for number, seq in split if number in threads]

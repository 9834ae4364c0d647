"""Skills, the turns that show them, and the episodes nobody has mined yet, as rows."""

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, Final, overload
from uuid import UUID

from episodic_agent.protocols import ref_of, split_ref
from episodic_agent.schemas.skills import SkillState, StoredSkill, TurnRef
from episodic_agent.stores.rows import id_of
from episodic_agent.stores.skill_rows import SKILL, skill_of
from episodic_agent.stores.tables.dialect import Table

_READ: Final = f"SELECT {SKILL} FROM skill WHERE :mine"
_OLDEST: Final = "ORDER BY created_at, id"


class SkillTable(Table):
    """Skills, as both stores keep them."""

    locked = ""  # what ends a read whose rows nobody else may change before the end

    def skills(
        self,
        *,
        ids: Sequence[UUID] | None = None,
        numbers: Sequence[int] | None = None,
        state: SkillState | None = None,
    ) -> Sequence[StoredSkill]:
        if numbers is not None:
            results = self._numbered(numbers)
        elif ids is not None:
            data = [identity.bytes for identity in ids]
            results = self._held(f"{_READ} AND id IN :ids(ids) {_OLDEST}", ids=data)
        elif state is not None:
            results = self._held(f"{_READ} AND state = :state {_OLDEST}", state=state.value)
        else:
            results = self._held(f"{_READ} {_OLDEST}")
        return [skill_of(columns) for columns in results]

    def _held(self, sql: str, **values: Any) -> list[tuple[Any, ...]]:
        return self._session.read(sql + (self.locked if self._session.writes else ""), **values)

    @abstractmethod
    def _numbered(self, numbers: Sequence[int]) -> list[tuple[Any, ...]]:
        """Look up skills by their numbers, oldest first, without a lock."""

    @overload
    def evidence(self, key: UUID) -> Sequence[TurnRef]: ...

    @overload
    def evidence(self, key: Sequence[TurnRef]) -> Mapping[TurnRef, Sequence[UUID]]: ...

    def evidence(self, key: UUID | Sequence[TurnRef]) -> Sequence[TurnRef] | Mapping[TurnRef, Sequence[UUID]]:
        """Return the turns that show a skill, or for each of these turns which skills it shows."""
        return self._turns_of(key) if isinstance(key, UUID) else self._shown_by(key)

    def _turns_of(self, skill_id: UUID) -> Sequence[TurnRef]:
        sql = "SELECT ref FROM skill_turn WHERE :mine AND skill = :skill ORDER BY ref"
        split = [split_ref(ref) for (ref,) in self._session.read(sql, skill=skill_id.bytes)]
        threads = self._session.thread_ids([number for number, _ in split])
        return [TurnRef(threads[number], seq) for number, seq in split if number in threads]

    def _shown_by(self, turns: Sequence[TurnRef]) -> Mapping[TurnRef, Sequence[UUID]]:
        asked: dict[int, TurnRef] = {}
        for turn in turns:
            number = self._session.find_thread(turn.thread_id)
            if number is not None:
                asked[ref_of(number, turn.seq)] = turn
        shown: dict[TurnRef, list[UUID]] = {}
        for ref, skill in self._showing(list(asked)):
            shown.setdefault(asked[ref], []).append(id_of(skill))
        return shown

    @abstractmethod
    def _showing(self, refs: Sequence[int]) -> list[tuple[Any, ...]]:
        """Look up (ref, skill) of these turns."""

    def drop_skill(self, skill_id: UUID) -> None:
        for sql in (
            "DELETE FROM skill_turn WHERE :mine AND skill = :skill",
            "DELETE FROM skill WHERE :mine AND id = :skill",
        ):
            self._session.change(sql, skill=skill_id.bytes)

    def note_mining(self, refs: Sequence[int], *, done: bool = False) -> None:
        """Note that episodes, by their first reference, wait to be looked through, or no more."""
        if done:
            self._session.change("DELETE FROM unmined WHERE :mine AND ref IN :numbers(refs)", refs=list(refs))
        else:
            self._await_mining(sorted({int(ref) for ref in refs}))

    @abstractmethod
    def _await_mining(self, refs: Sequence[int]) -> None: ...

    def awaiting(self, *, limit: int) -> Sequence[int]:
        sql = "SELECT ref FROM unmined WHERE :mine ORDER BY ref LIMIT :limit"
        return [ref for (ref,) in self._session.read(sql, limit=limit)]

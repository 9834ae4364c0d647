"""Skills, the turns that show them, and the episodes nobody has mined yet, as rows."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final
from uuid import UUID

from episodic_agent.core.interfaces import ref_of, split_ref
from episodic_agent.core.skill_records import KeptSkill, SkillState, TurnRef
from episodic_agent.stores.postgres.batches import bigints
from episodic_agent.stores.postgres.session import Session
from episodic_agent.stores.postgres.text import read_columns
from episodic_agent.stores.skill_rows import CHANGING, SKILL, skill_columns, skill_of

_NAMES: Final = [name.strip() for name in CHANGING.split(",")]
_PUT: Final = (
    f"INSERT INTO skill (space, owner, id, number, {CHANGING})"
    " SELECT %s, %s, %s, coalesce((SELECT max(number) FROM skill WHERE space = %s AND owner = %s), 0) + 1,"
    f" {', '.join(['%s'] * len(_NAMES))}"
    " ON CONFLICT (space, owner, id) DO UPDATE"
    f" SET {', '.join(f'{name} = excluded.{name}' for name in _NAMES)} RETURNING number"
)
_TURNS: Final = (
    "INSERT INTO skill_turn (space, owner, ref, skill) SELECT %s, %s, g.ref, %s"
    " FROM unnest(%s::bigint[]) AS g (ref) ON CONFLICT DO NOTHING"
)
_WHOSE: Final = "WHERE space = %s AND owner = %s"


class PostgresSkills:
    """The `Skills` of one transaction."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def put(self, kept: KeptSkill, turns: Sequence[TurnRef] = ()) -> KeptSkill:
        """Write a skill, new or known by its id, and add turns to its evidence; return it with its number."""
        keys = self._session.own()
        found = self._session.row(_PUT, (*keys, kept.id.bytes, *keys, *skill_columns(kept)))
        assert found is not None
        refs = sorted(ref_of(self._session.thread_number(turn.thread_id), turn.seq) for turn in turns)
        if refs:
            self._session.execute(_TURNS, (*keys, kept.id.bytes, bigints(refs)))
        return replace(kept, number=found[0])

    def get(self, skill_id: UUID) -> KeptSkill | None:
        """Read one (in a write transaction nobody else can change it before the end)."""
        sql = f"SELECT {SKILL} FROM skill {_WHOSE} AND id = %s"
        found = self._session.row(sql + self._lock(), (*self._session.keys, skill_id.bytes))
        return None if found is None else skill_of(read_columns(found))

    def list(self, *, state: SkillState | None = None) -> Sequence[KeptSkill]:
        """Return all, or those of a state, oldest first, ties by id; locked as by `get`."""
        wanted = None if state is None else state.value
        sql = f"SELECT {SKILL} FROM skill {_WHOSE} AND state = coalesce(%s, state) ORDER BY created_at, id"
        found = self._session.rows(sql + self._lock(), (*self._session.keys, wanted))
        return [skill_of(read_columns(columns)) for columns in found]

    def by_numbers(self, numbers: Sequence[int]) -> Mapping[int, KeptSkill]:
        """Return those of these numbers that there are."""
        sql = f"SELECT {SKILL} FROM skill {_WHOSE} AND number = ANY(%s::bigint[])"
        found = self._session.rows(sql, (*self._session.keys, bigints([*numbers])))
        return {kept.number: kept for kept in (skill_of(read_columns(columns)) for columns in found)}

    def evidence(self, skill_id: UUID) -> Sequence[TurnRef]:
        """Return the turns that show a skill, by reference."""
        sql = f"SELECT ref FROM skill_turn {_WHOSE} AND skill = %s ORDER BY ref"
        found = self._session.rows(sql, (*self._session.keys, skill_id.bytes))
        split = [split_ref(ref) for (ref,) in found]
        threads = self._session.thread_ids([number for number, _ in split])
        return [TurnRef(threads[number], seq) for number, seq in split if number in threads]

    def shown_by(self, turns: Sequence[TurnRef]) -> Mapping[TurnRef, Sequence[UUID]]:
        """Return for each of these turns which skills it shows already; turns that show none are left out."""
        asked: dict[int, TurnRef] = {}
        for turn in turns:
            number = self._session.find_thread(turn.thread_id)
            if number is not None:
                asked[ref_of(number, turn.seq)] = turn
        sql = f"SELECT ref, skill FROM skill_turn {_WHOSE} AND ref = ANY(%s::bigint[]) ORDER BY ref, skill"
        shown: dict[TurnRef, list[UUID]] = {}
        for ref, skill in self._session.rows(sql, (*self._session.keys, bigints([*asked]))):
            shown.setdefault(asked[ref], []).append(UUID(bytes=skill))
        return shown

    def drop(self, skill_id: UUID) -> None:
        """Delete one with its evidence; an unknown one is gone already."""
        keys = (*self._session.own(), skill_id.bytes)
        self._session.execute(f"DELETE FROM skill_turn {_WHOSE} AND skill = %s", keys)
        self._session.execute(f"DELETE FROM skill {_WHOSE} AND id = %s", keys)

    def await_mining(self, refs: Sequence[int]) -> None:
        """Note episodes, by their first reference, that are to be looked through."""
        sql = (
            "INSERT INTO unmined (space, owner, ref) SELECT %s, %s, g.ref"
            " FROM unnest(%s::bigint[]) AS g (ref) ON CONFLICT DO NOTHING"
        )
        # in one order everywhere: two writers of the same refs then wait, and never for each other
        self._session.execute(sql, (*self._session.own(), bigints(sorted(refs))))

    def awaiting(self, *, limit: int) -> Sequence[int]:
        """Return refs that were noted and not taken away, rising."""
        sql = f"SELECT ref FROM unmined {_WHOSE} ORDER BY ref LIMIT %s"
        return [ref for (ref,) in self._session.rows(sql, (*self._session.keys, limit))]

    def mined(self, refs: Sequence[int]) -> None:
        """Take noted refs away."""
        sql = f"DELETE FROM unmined {_WHOSE} AND ref = ANY(%s::bigint[])"
        self._session.execute(sql, (*self._session.own(), bigints([*refs])))

    def _lock(self) -> str:
        return " FOR UPDATE" if self._session.write else ""

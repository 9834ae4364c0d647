"""Skills as rows: how they are written and looked up here."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final

from episodic_agent.protocols import ref_of
from episodic_agent.schemas.skills import StoredSkill, TurnRef
from episodic_agent.stores.postgres.server.batches import bigints
from episodic_agent.stores.postgres.server.session import OWN_ROW, PostgresSession
from episodic_agent.stores.skill_rows import CHANGING, SKILL, skill_columns
from episodic_agent.stores.tables.skills import SkillTable

_NAMES: Final = [name.strip() for name in CHANGING.split(",")]
_TYPES: Final = [*["text"] * 5, *["double precision"] * 2, *["bigint"] * 5]  # of CHANGING, in its order
_PUT: Final = (
    f"INSERT INTO skill (space, owner, id, number, {CHANGING}) SELECT s.space, s.owner, %s::bytea,"
    " coalesce((SELECT max(k.number) FROM skill k WHERE k.space = %s AND k.owner = %s), 0) + 1,"
    f" {', '.join(f'%s::{name}' for name in _TYPES)} FROM {OWN_ROW}"
    " ON CONFLICT (space, owner, id) DO UPDATE"
    f" SET {', '.join(f'{name} = excluded.{name}' for name in _NAMES)} RETURNING number"
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
        """Write a skill, new or known by its id, and add turns to its evidence; return it with its number."""
        keys = self._session.own()
        row = self._session.row(_PUT, (skill.id.bytes, *keys, *skill_columns(skill), *keys))
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

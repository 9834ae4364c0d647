"""Facts with their evidence, what became of old ids, and what must not be learned again, as rows."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
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
from episodic_agent.stores.rows import to_json, to_microseconds, to_time
from episodic_agent.stores.sqlite.session import EACH, Session, id_list, number_list

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


class SqliteFacts:
    """The `Facts` of one transaction."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def hold(self) -> None:
        """Let no other writer change facts before the end of this transaction: there is but one writer."""
        self._session.must_write()

    # --- writing ----------------------------------------------------------------------------------------

    def put(self, facts: Sequence[KeptFact]) -> Sequence[KeptFact]:
        """Write facts, new or in place of those with their ids; return them as they are kept now."""
        scope = self._session.own()
        latest = {kept.id: kept for kept in facts}
        found = {identity: self._put(scope, kept) for identity, kept in latest.items()}
        self._forget("fact_evidence", "fact", [kept.number for kept in found.values()])
        reach("mid-facts")
        sql = "INSERT INTO fact_evidence (scope, fact, place, observation, body) VALUES (?, ?, ?, ?, ?)"
        rows = [
            (scope, kept.number, place, *evidence_columns(one))
            for kept in found.values()
            for place, one in enumerate(kept.fact.evidence)
        ]
        self._session.db.executemany(sql, rows)
        self._forget_ids("fact_move", "id", list(found))
        return [found[kept.id] for kept in facts]

    def _put(self, scope: int, kept: KeptFact) -> KeptFact:
        columns = (scope, kept.id.bytes, *fact_columns(kept.fact), to_microseconds(kept.created_at))
        found = self._session.row(_PUT, columns)
        assert found is not None
        return replace(kept, number=found[0], created_at=to_time(found[1]))

    def drop(self, ids: Sequence[UUID]) -> Sequence[int]:
        """Delete facts with their evidence and the old ids that led to them; return the numbers they had."""
        self._session.own()
        for column in ("id", "now"):
            self._forget_ids("fact_move", column, ids)
        return self._delete(ids)

    def moved(self, gone: Mapping[UUID, UUID | None]) -> Sequence[int]:
        """Delete facts whose evidence others hold now; return the numbers they had."""
        scope = self._session.own()
        numbers = self._delete(list(gone))
        for old, holder in holders(gone).items():
            if holder is None:
                for column in ("id", "now"):
                    self._forget_ids("fact_move", column, [old])
                continue
            keys = (holder.bytes, scope, old.bytes)
            self._session.db.execute("UPDATE fact_move SET now = ? WHERE scope = ? AND now = ?", keys)
            sql = "INSERT OR REPLACE INTO fact_move (now, scope, id) VALUES (?, ?, ?)"
            self._session.db.execute(sql, keys)
        return numbers

    def _delete(self, ids: Sequence[UUID]) -> list[int]:
        found = self._session.rows(f"SELECT f.number FROM {_EACH_ID}", (id_list(ids), self._session.number))
        numbers = [number for (number,) in found]
        self._forget("fact_evidence", "fact", numbers)
        self._forget("fact", "number", numbers)
        return sorted(set(numbers))

    def _forget(self, table: str, column: str, numbers: Sequence[int]) -> None:
        # `+`: no index of the scope, which would lead past all of its rows
        sql = f"DELETE FROM {table} WHERE +scope = ? AND {column} IN (SELECT value FROM json_each(?))"
        self._session.db.execute(sql, (self._session.own(), number_list(numbers)))

    def _forget_ids(self, table: str, column: str, ids: Sequence[UUID]) -> None:
        sql = f"DELETE FROM {table} WHERE scope = ? AND {column} IN (SELECT unhex(value) FROM json_each(?))"
        self._session.db.execute(sql, (self._session.own(), id_list(ids)))

    # --- reading ----------------------------------------------------------------------------------------

    def get(self, fact_id: UUID) -> KeptFact | None:
        """Read one."""
        return self.by_ids([fact_id]).get(fact_id)

    def by_ids(self, ids: Sequence[UUID]) -> Mapping[UUID, KeptFact]:
        """Return those of these ids that there are."""
        found = self._session.rows(f"SELECT {_READ} FROM {_EACH_ID}", (id_list(ids), self._session.number))
        return {kept.id: kept for kept in self._facts(found)}

    def by_numbers(self, numbers: Sequence[int]) -> Mapping[int, KeptFact]:
        """Return those of these numbers that there are."""
        sql = f"SELECT {_READ} FROM {EACH} fact f WHERE f.number = p.value AND f.scope = ?"
        found = self._session.rows(sql, (number_list(numbers), self._session.number))
        return {kept.number: kept for kept in self._facts(found)}

    def list(self, *, current: bool = False, limit: int | None = None) -> Sequence[KeptFact]:
        """Return all (the newest), or those nothing has ended, by `valid_at`, oldest first, ties by id."""
        sql = f"SELECT {FACT} FROM fact WHERE {_whose(current)} ORDER BY valid_at DESC, id DESC LIMIT ?"
        found = self._session.rows(sql, (self._session.number, -1 if limit is None else limit))
        return self._facts(found[::-1])

    def count(self, *, current: bool = False) -> int:
        """Count all, or those nothing has ended."""
        sql = f"SELECT count(*) FROM fact WHERE {_whose(current)}"
        found = self._session.row(sql, (self._session.number,))
        return 0 if found is None else int(found[0])

    def of_slots(self, slots: Sequence[tuple[str, str]]) -> Sequence[KeptFact]:
        """Return the facts of these (subject, attribute), past and present, in the order of `list`."""
        asked = {(group_columns(*slot, "")[0].hex(), slot[1]) for slot in slots}
        return self._ordered(self._session.rows(_OF_SLOT, (to_json(list(asked)), self._session.number)))

    def concerning(self, candidates: Sequence[Candidate]) -> Sequence[KeptFact]:
        """Return all that `learn` needs to know to weigh these candidates, in the order of `list`."""
        groups = to_json([(slot.hex(), matter.hex()) for slot, matter in groups_of(candidates)])
        found = self._session.rows(_OF_GROUP, (groups, self._session.number))
        return self._ordered([*found, *self._resting({one.evidence.observation_id for one in candidates})])

    def resting_on(self, observation_ids: Sequence[UUID]) -> Sequence[KeptFact]:
        """Return facts with evidence in one of these observations, in the order of `list`."""
        return self._ordered(self._resting(set(observation_ids)))

    def _resting(self, observations: set[UUID]) -> Sequence[tuple[Any, ...]]:
        asked = id_list(sorted(observations))
        return self._session.rows(_RESTING, (asked, self._session.number))

    def _ordered(self, found: Sequence[tuple[Any, ...]]) -> Sequence[KeptFact]:
        once = {columns[0]: columns for columns in found}
        return sorted(self._facts(list(once.values())), key=lambda kept: (kept.fact.valid_at, kept.id))

    def _facts(self, found: Sequence[tuple[Any, ...]]) -> Sequence[KeptFact]:
        evidence: dict[int, list[Evidence]] = {columns[0]: [] for columns in found}
        rows = self._session.rows(_EVIDENCE, (number_list(evidence), self._session.number))
        for number, observation, body in rows:
            evidence[number].append(evidence_of(observation, body))
        return [fact_of(columns, evidence[columns[0]]) for columns in found]

    # --- what became of old ids, and what must not be learned again ---------------------------------------

    def successor(self, fact_id: UUID) -> UUID | None:
        """Return the fact that holds the evidence of one that is gone; None where there is none."""
        sql = "SELECT now FROM fact_move WHERE scope = ? AND id = ?"
        found = self._session.row(sql, (self._session.number, fact_id.bytes))
        return None if found is None else UUID(bytes=found[0])

    def near(self, first: UUID, last: UUID, *, limit: int = 2) -> Sequence[UUID]:
        """Return facts whose ids lie between two, by id; else the successors of ids that are gone."""
        for column, table in (("id", "fact"), ("now", "fact_move")):
            sql = (
                f"SELECT DISTINCT {column} FROM {table} WHERE scope = ? AND id BETWEEN ? AND ?"
                f" ORDER BY {column} LIMIT ?"
            )
            found = self._session.rows(sql, (self._session.number, first.bytes, last.bytes, limit))
            if found:
                return [UUID(bytes=identity) for (identity,) in found]
        return []

    def moves(self) -> Mapping[UUID, UUID]:
        """Return for each id that is gone where it leads, by id."""
        sql = "SELECT id, now FROM fact_move WHERE scope = ? ORDER BY id"
        found = self._session.rows(sql, (self._session.number,))
        return {UUID(bytes=identity): UUID(bytes=now) for identity, now in found}

    def bury(self, tombstones: Sequence[FactTombstone]) -> None:
        """Keep what is not to be learned again; one that is there already stays as it is."""
        scope = self._session.own()
        sql = (
            "INSERT OR IGNORE INTO fact_tombstone (scope, observation, mark, deleted_at) VALUES (?, ?, ?, ?)"
        )
        rows = [
            (scope, one.observation_id.bytes, one.mark, to_microseconds(one.deleted_at)) for one in tombstones
        ]
        self._session.db.executemany(sql, rows)

    def tombstones(self, observation_ids: Sequence[UUID] | None = None) -> Sequence[FactTombstone]:
        """Return all, or those of these observations, by observation, then mark."""
        whose: str = "scope = ?"
        bindings: list[int | str] = [self._session.number]
        if observation_ids is not None:
            whose += " AND observation IN (SELECT unhex(value) FROM json_each(?))"
            bindings.append(id_list(observation_ids))
        sql = f"SELECT observation, mark, deleted_at FROM fact_tombstone WHERE {whose} ORDER BY 1, 2"
        return [tombstone_of(columns) for columns in self._session.rows(sql, bindings)]

    def unbury(self, observation_ids: Sequence[UUID]) -> None:
        """Take away the tombstones of observations, as when those are erased."""
        self._forget_ids("fact_tombstone", "observation", observation_ids)


def _whose(current: bool) -> str:
    return f"scope = ? AND {CURRENT}" if current else "scope = ?"

"""Facts with their evidence, what became of old ids, and what must not be learned again, as rows.

How facts are looked up by many keys at once, and how they are written and held, each store does its own way.
"""

from abc import abstractmethod
from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from episodic_agent.schemas.facts import FactCandidate, FactTombstone, StoredFact
from episodic_agent.stores.fact_rows import (
    CURRENT,
    FACT,
    evidence_columns,
    fact_of,
    group_columns,
    groups_of,
    holders,
    tombstone_of,
)
from episodic_agent.stores.faults import reach
from episodic_agent.stores.rows import id_of, to_microseconds
from episodic_agent.stores.tables.dialect import EVERY, Table, placed, row_of

_NEWEST: Final = "ORDER BY valid_at DESC, id DESC"
_TOMBSTONE: Final = "observation, mark, deleted_at"
_TOMBSTONES: Final = f"SELECT {_TOMBSTONE} FROM fact_tombstone WHERE :mine"
_BURY: Final = (
    f"INSERT INTO fact_tombstone (:keys, {_TOMBSTONE}) VALUES (:own, {placed(_TOMBSTONE)})"
    " ON CONFLICT DO NOTHING"
)
_MOVE: Final = (
    "UPDATE fact_move SET now = :now WHERE :mine AND now = :old",
    "INSERT INTO fact_move (:keys, id, now) VALUES (:own, :old, :now)"
    " ON CONFLICT (:keys, id) DO UPDATE SET now = excluded.now",
)
_BY_OBSERVATION: Final = "ORDER BY observation, mark:exact"


class FactTable(Table):
    """Facts, as both stores read them."""

    def facts(
        self,
        *,
        ids: Sequence[UUID] | None = None,
        between: tuple[UUID, UUID] | None = None,
        numbers: Sequence[int] | None = None,
        slots: Iterable[tuple[str, str]] | None = None,
        resting_on: Collection[UUID] | None = None,
        candidates: Sequence[FactCandidate] | None = None,
        current: datetime | None = None,
        limit: int | None = None,
    ) -> Sequence[StoredFact]:
        if ids is not None:
            results = self._of_ids(ids)
        elif between is not None:
            results = self._between(*between, EVERY if limit is None else limit)
        elif numbers is not None:
            results = self._of_numbers(numbers)
        elif slots is not None:
            results = self._of_slots(list({(group_columns(*slot, "")[0], slot[1]) for slot in slots}))
        elif resting_on is not None:
            results = self._resting(set(resting_on))
        elif candidates is not None:
            observations = {one.evidence.observation_id for one in candidates}
            results = [*self._of_groups(groups_of(candidates)), *self._resting(observations)]
        else:
            return self._facts(self._newest(current, limit)[::-1])
        once = {columns[0]: columns for columns in results}
        return sorted(self._facts(list(once.values())), key=lambda kept: (kept.fact.valid_at, kept.id))

    def _between(self, first: UUID, last: UUID, limit: int) -> list[tuple[Any, ...]]:
        sql = f"SELECT {FACT} FROM fact WHERE :mine AND id BETWEEN :first AND :last ORDER BY id LIMIT :limit"
        return self._session.read(sql, first=first.bytes, last=last.bytes, limit=limit)

    def _newest(self, current: datetime | None, limit: int | None) -> list[tuple[Any, ...]]:
        sql, values = f"SELECT {FACT} FROM fact WHERE :mine", dict[str, int]()
        if current is not None:  # the end of some is announced, and still to come
            sql = f"{sql} AND ({CURRENT} OR invalid_at > :current)"
            values["current"] = to_microseconds(current)
        if limit is None:
            return self._session.read(f"{sql} {_NEWEST}", **values)
        return self._session.read(f"{sql} {_NEWEST} LIMIT :limit", limit=limit, **values)

    def _facts(self, values: Sequence[tuple[Any, ...]]) -> list[StoredFact]:
        proofs: dict[int, list[tuple[bytes, str]]] = {columns[0]: [] for columns in values}
        for number, *proof in self._evidence(list(proofs)) if proofs else ():
            proofs[number].append((proof[0], proof[1]))
        return [fact_of(columns, tuple(proofs[columns[0]])) for columns in values]

    @abstractmethod
    def _of_ids(self, ids: Sequence[UUID]) -> list[tuple[Any, ...]]: ...
    @abstractmethod
    def _of_numbers(self, numbers: Sequence[int]) -> list[tuple[Any, ...]]: ...
    @abstractmethod
    def _of_slots(self, slots: Sequence[tuple[bytes, str]]) -> list[tuple[Any, ...]]:
        """Look up (hash of the slot, attribute)."""

    @abstractmethod
    def _of_groups(self, groups: Sequence[tuple[bytes, bytes]]) -> list[tuple[Any, ...]]:
        """Look up (hash of the slot, hash of the matter)."""

    @abstractmethod
    def _resting(self, observations: set[UUID]) -> list[tuple[Any, ...]]:
        """Look up facts with evidence in one of these observations."""

    @abstractmethod
    def _evidence(self, numbers: Sequence[int]) -> list[tuple[Any, ...]]:
        """Look up (fact, observation, body) of the evidence, by fact, then in its order."""

    # --- writing ----------------------------------------------------------------------------------------

    def put_facts(self, facts: Sequence[StoredFact]) -> Sequence[StoredFact]:
        written = self._write({kept.id: kept for kept in facts})
        self._forget("fact_evidence", "fact", [kept.number for kept in written.values()])
        reach("mid-facts")
        self._rest(
            [
                (kept.number, place, *evidence_columns(one, kept.fact))
                for kept in written.values()
                for place, one in enumerate(kept.fact.evidence)
            ]
        )
        self._forget_ids("fact_move", "id", list(written))
        return [written[kept.id] for kept in facts]

    @abstractmethod
    def _write(self, facts: Mapping[UUID, StoredFact]) -> Mapping[UUID, StoredFact]:
        """Write facts without their evidence; return them with their numbers and times."""

    @abstractmethod
    def _rest(self, rows: Sequence[tuple[Any, ...]]) -> None:
        """Write evidence: the fact's number, the place in it, the observation, the body."""

    def move_facts(self, gone: Mapping[UUID, UUID | None]) -> Sequence[int]:
        self._session.hold_facts()
        numbers = sorted(columns[0] for columns in self._of_ids(list(gone)))
        self._forget("fact_evidence", "fact", numbers)
        self._forget("fact", "number", numbers)
        led = holders(gone)
        for column in ("id", "now"):
            self._forget_ids("fact_move", column, [old for old, holder in led.items() if holder is None])
        moved = [{"old": old.bytes, "now": now.bytes} for old, now in led.items() if now is not None]
        for sql in _MOVE:
            self._session.change_all(sql, moved)
        return numbers

    def bury(self, tombstones: Sequence[FactTombstone]) -> None:
        self._session.hold_facts()
        rows = [(one.observation_id.bytes, one.mark, to_microseconds(one.deleted_at)) for one in tombstones]
        self._session.change_all(_BURY, [row_of(_TOMBSTONE, columns) for columns in rows])

    def _forget(self, table: str, column: str, numbers: Sequence[int]) -> None:
        sql = f"DELETE FROM {table} WHERE :also AND {column} IN :numbers(numbers)"
        self._session.change(sql, numbers=numbers)

    def _forget_ids(self, table: str, column: str, ids: Sequence[UUID]) -> None:
        if ids:
            sql = f"DELETE FROM {table} WHERE :mine AND {column} IN :ids(ids)"
            self._session.change(sql, ids=[one.bytes for one in ids])

    # --- what became of old ids, and what must not be learned again -------------------------------------

    def moves(self, first: UUID | None = None, last: UUID | None = None) -> Mapping[UUID, UUID]:
        """Return for each id that is gone (from the first to the last of these) where it leads, by id."""
        sql, values = "SELECT id, now FROM fact_move WHERE :mine", dict[str, bytes]()
        if first is not None:
            sql += " AND id BETWEEN :first AND :last"
            values = {"first": first.bytes, "last": (last or first).bytes}
        results = self._session.read(f"{sql} ORDER BY id", **values)
        return {id_of(identity): id_of(now) for identity, now in results}

    def tombstones(self, observation_ids: Sequence[UUID] | None = None) -> Sequence[FactTombstone]:
        if observation_ids is None:
            results = self._session.read(f"{_TOMBSTONES} {_BY_OBSERVATION}")
        else:
            ids = [identity.bytes for identity in observation_ids]
            sql = f"{_TOMBSTONES} AND observation IN :ids(ids) {_BY_OBSERVATION}"
            results = self._session.read(sql, ids=ids)
        return [tombstone_of(columns) for columns in results]

"""Facts with their evidence, what became of old ids, and what must not be learned again, as rows.

How facts are looked up by many keys at once, and how they are written and held, each store does its own way.
"""

from abc import abstractmethod
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, Final
from uuid import UUID

from episodic_agent.schemas.facts import FactCandidate, FactEvidence, FactTombstone, StoredFact
from episodic_agent.stores.fact_rows import (
    CURRENT,
    FACT,
    evidence_of,
    fact_of,
    group_columns,
    groups_of,
    tombstone_of,
)
from episodic_agent.stores.tables.dialect import EVERY, Table

_NEWEST: Final = "ORDER BY valid_at DESC, id DESC"
_TOMBSTONES: Final = "SELECT observation, mark, deleted_at FROM fact_tombstone WHERE :mine"
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
        current: bool = False,
        limit: int | None = None,
    ) -> Sequence[StoredFact]:
        """Return the facts that are asked for, by `valid_at`, oldest first, ties by id."""
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

    def _newest(self, current: bool, limit: int | None) -> list[tuple[Any, ...]]:
        sql = f"SELECT {FACT} FROM fact WHERE :mine{f' AND {CURRENT}' if current else ''} {_NEWEST}"
        if limit is None:
            return self._session.read(sql)
        return self._session.read(f"{sql} LIMIT :limit", limit=limit)

    def _facts(self, values: Sequence[tuple[Any, ...]]) -> list[StoredFact]:
        evidence: dict[int, list[FactEvidence]] = {columns[0]: [] for columns in values}
        for number, observation, body in self._evidence(list(evidence)) if evidence else ():
            evidence[number].append(evidence_of(observation, body))
        return [fact_of(columns, evidence[columns[0]]) for columns in values]

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

    # --- what became of old ids, and what must not be learned again -------------------------------------

    def moves(self, first: UUID | None = None, last: UUID | None = None) -> Mapping[UUID, UUID]:
        """Return for each id that is gone (from the first to the last of these) where it leads, by id."""
        sql, values = "SELECT id, now FROM fact_move WHERE :mine", dict[str, bytes]()
        if first is not None:
            sql += " AND id BETWEEN :first AND :last"
            values = {"first": first.bytes, "last": (last or first).bytes}
        results = self._session.read(f"{sql} ORDER BY id", **values)
        return {UUID(bytes=identity): UUID(bytes=now) for identity, now in results}

    def tombstones(self, observation_ids: Sequence[UUID] | None = None) -> Sequence[FactTombstone]:
        """Return all, or those of these observations, by observation, then mark."""
        if observation_ids is None:
            results = self._session.read(f"{_TOMBSTONES} {_BY_OBSERVATION}")
        else:
            ids = [identity.bytes for identity in observation_ids]
            sql = f"{_TOMBSTONES} AND observation IN :ids(ids) {_BY_OBSERVATION}"
            results = self._session.read(sql, ids=ids)
        return [tombstone_of(columns) for columns in results]

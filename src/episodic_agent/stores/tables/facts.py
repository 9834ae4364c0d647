"""What is known, as rows: facts with their evidence, skills, and the decisions behind episodes and links.

Of facts: what became of old ids, and what must not be learned again. Of skills: the turns that show them, and
the episodes nobody has mined yet. How many keys are looked up at once, and how rows are written and held,
each store does its own way.
"""

from abc import abstractmethod
from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, Final, overload
from uuid import UUID

from episodic_agent.errors import NotFound
from episodic_agent.protocols import ref_of, split_ref
from episodic_agent.schemas import Decision
from episodic_agent.schemas.facts import FactCandidate, FactTombstone, StoredFact
from episodic_agent.schemas.skills import SkillState, StoredSkill, TurnRef
from episodic_agent.stores.fact_rows import (
    CURRENT,
    FACT,
    SKILL,
    evidence_columns,
    fact_of,
    group_columns,
    groups_of,
    holders,
    skill_of,
    tombstone_of,
)
from episodic_agent.stores.faults import reach
from episodic_agent.stores.nouns import DECISION, decision_columns, decision_of
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


_PUT: Final = (
    f"INSERT INTO decision (:keys, {DECISION}) VALUES (:own, {placed(DECISION)})"
    " ON CONFLICT (:keys, id) DO NOTHING"
)
_AMEND: Final = "UPDATE decision SET outcome = :outcome, body = :body WHERE :mine AND id = :id"


class DecisionTable(Table):
    """Who decided what, from what, and how it turned out."""

    def decide(self, decision: Decision, *, amend: bool = False) -> None:
        """Write a decision, or amend its outcome and detail."""
        columns = row_of(DECISION, decision_columns(decision))
        if not amend:
            self._session.change(_PUT, **columns)
        elif not self._session.change(_AMEND, **columns):
            raise NotFound(f"no decision {decision.id} in this scope")

    def revoke(self, *decision_ids: UUID) -> None:
        self._session.own()
        if decision_ids:
            ids = [one.bytes for one in decision_ids]
            self._session.change("DELETE FROM decision WHERE :mine AND id IN :ids(ids)", ids=ids)

    def decisions(
        self,
        *,
        ids: Sequence[UUID] | None = None,
        subject: UUID | None = None,
        type: str | None = None,
        last: int | None = None,
        since: datetime | None = None,
    ) -> Sequence[Decision]:
        if ids is not None:
            sql = f"SELECT {DECISION} FROM decision WHERE :mine AND id IN :ids(ids)"
            results = self._session.read(sql, ids=[one.bytes for one in ids])
            return sorted(map(decision_of, results), key=lambda one: (one.at, one.id))
        conditions: list[str] = [":mine"]
        values: dict[str, Any] = {"last": EVERY if last is None else last}
        if subject is not None:
            conditions.append("subject = :subject")
            values["subject"] = subject.bytes
        if type is not None:
            # The index of types is not for the few of a subject: it would lead past everybody else's.
            conditions.append(_of_type(type) if subject is None else "type = :type")
            values["type"] = type
        if since is not None:
            conditions.append("at >= :since")
            values["since"] = to_microseconds(since)
        sql = f"SELECT {DECISION} FROM decision WHERE {' AND '.join(conditions)} ORDER BY at DESC, id DESC"
        results = self._session.read(f"{sql} LIMIT :last", **values)
        return [decision_of(columns) for columns in reversed(results)]


def _of_type(type: str) -> str:
    """Ask for a type; what the index of types leaves out is said in its own words."""
    return "type = :type" if type == "boundary" else "type = :type AND type <> 'boundary'"

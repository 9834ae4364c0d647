"""What is concluded as a store keeps it: facts and skills with their evidence, and every decision."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Protocol, overload
from uuid import UUID

from episodic_agent.schemas import Decision
from episodic_agent.schemas.facts import FactCandidate, FactTombstone, StoredFact
from episodic_agent.schemas.skills import SkillState, StoredSkill, TurnRef


class Knowledge(Protocol):
    """Facts, skills, and decisions. Words and vectors in the index are the caller's to keep."""

    # --- facts: whoever writes them holds them (`Transaction.hold`) -------------------------------

    def put_facts(self, facts: Sequence[StoredFact]) -> Sequence[StoredFact]:
        """Write facts, new or in place of those with their ids; return them as they are kept now.

        A new one gets the next number of the scope; one known keeps its number and `created_at`.
        """
        ...

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
        """Return facts by `valid_at`, oldest first, ties by id.

        Those of these ids, of ids that lie between two (both included; `limit` takes the first of these), of
        these numbers, of these (subject, attribute), past and present (subjects are
        the same in any case; to like and to dislike are slots of their own), or with evidence in one of
        these observations; for `candidates` all that `learn` needs to weigh them as it would among all
        facts. Without any of these all, or those that nothing has ended by `current` (event time); `limit`
        takes the newest of them.
        """
        ...

    def move_facts(self, gone: Mapping[UUID, UUID | None]) -> Sequence[int]:
        """Delete facts whose evidence others hold now (`Changes.gone`); return the numbers they had.

        Their ids, and those that led to them, lead to the new holder; None is led nowhere.
        """
        ...

    def moves(self, first: UUID | None = None, last: UUID | None = None) -> Mapping[UUID, UUID]:
        """Return for each id that is gone which fact holds its evidence now, by id.

        Only for those from a first to a last id, both included; without a last for the first alone.
        """
        ...

    def bury(self, tombstones: Sequence[FactTombstone]) -> None:
        """Keep what is not to be learned again; one that is there already stays as it is.

        Erasing an observation takes its tombstones away.
        """
        ...

    def tombstones(self, observation_ids: Sequence[UUID] | None = None) -> Sequence[FactTombstone]:
        """Return all, or those of these observations, by observation, then mark."""
        ...

    # --- skills, the turns that show them, and the episodes nobody has mined yet ------------------------

    def put_skill(self, skill: StoredSkill, turns: Sequence[TurnRef] = ()) -> StoredSkill:
        """Write a skill, new or known by its id, and add turns to its evidence; return it with its number.

        Turns that are evidence of it already add nothing. Conflict where another one has its pattern;
        NotFound for a turn of an unknown thread.
        """
        ...

    def skills(
        self,
        *,
        ids: Sequence[UUID] | None = None,
        numbers: Sequence[int] | None = None,
        state: SkillState | None = None,
    ) -> Sequence[StoredSkill]:
        """Return all, or those of ids, of numbers or of a state, oldest first, ties by id.

        In a write transaction nobody else can change them before the end, but for those of numbers.
        """
        ...

    @overload
    def evidence(self, key: UUID) -> Sequence[TurnRef]:
        """Return the turns that show a skill, by reference."""
        ...

    @overload
    def evidence(self, key: Sequence[TurnRef]) -> Mapping[TurnRef, Sequence[UUID]]:
        """Return for each of these turns which skills it shows already; turns that show none are left out."""
        ...

    def drop_skill(self, skill_id: UUID) -> None:
        """Delete one with its evidence; an unknown one is gone already. Its words in the index stay."""
        ...

    def note_mining(self, refs: Sequence[int], *, done: bool = False) -> None:
        """Note that episodes, by `ref_of(thread number, first_seq)`, wait to be mined, or no more."""
        ...

    def awaiting(self, *, limit: int) -> Sequence[int]:
        """Return refs that were noted and not taken away, rising."""
        ...

    # --- who decided what, from what, and how it turned out ---------------------------------------------

    def decide(self, decision: Decision, *, amend: bool = False) -> None:
        """Write a decision; the same id again changes nothing.

        `amend` keeps the outcome and the detail of one written before instead; NotFound.
        """
        ...

    def revoke(self, *decision_ids: UUID) -> None:
        """Delete decisions whose effect was undone; an unknown one is gone already."""
        ...

    def decisions(
        self,
        *,
        ids: Sequence[UUID] | None = None,
        subject: UUID | None = None,
        type: str | None = None,
        last: int | None = None,
        since: datetime | None = None,
    ) -> Sequence[Decision]:
        """Return decisions by time, then id: those of these ids that there are, or all of a subject and type.

        Of the latter (not of ids) those from a time on, only the `last` so many where that is given.
        """
        ...

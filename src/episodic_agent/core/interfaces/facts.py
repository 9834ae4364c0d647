"""Facts as a store keeps them: with evidence, what became of old ids, what must not be learned again."""

from collections.abc import Mapping, Sequence
from typing import Protocol
from uuid import UUID

from episodic_agent.core.fact_records import Candidate, FactTombstone, KeptFact


class Facts(Protocol):
    """Facts with their evidence. Their words and vectors in the index (FACTS) are the caller's to keep."""

    def hold(self) -> None:
        """Let no other writer change facts of this scope before the end of this write transaction.

        Call it before reading what is to be changed; all that writes here holds too.
        """
        ...

    def put(self, facts: Sequence[KeptFact]) -> Sequence[KeptFact]:
        """Write facts, new or in place of those with their ids; return them as they are kept now.

        A new one gets the next number of the scope; one known keeps its number and `created_at`.
        """
        ...

    def drop(self, ids: Sequence[UUID]) -> Sequence[int]:
        """Delete facts with their evidence and the old ids that led to them; return the numbers they had."""
        ...

    def get(self, fact_id: UUID) -> KeptFact | None: ...
    def by_ids(self, ids: Sequence[UUID]) -> Mapping[UUID, KeptFact]: ...
    def by_numbers(self, numbers: Sequence[int]) -> Mapping[int, KeptFact]: ...
    def list(self, *, current: bool = False, limit: int | None = None) -> Sequence[KeptFact]:
        """Return all, or those nothing has ended, by `valid_at`, oldest first, ties by id.

        A `limit` takes the newest of them, in the same order.
        """
        ...

    def count(self, *, current: bool = False) -> int:
        """Count all, or those nothing has ended."""
        ...

    def of_slots(self, slots: Sequence[tuple[str, str]]) -> Sequence[KeptFact]:
        """Return the facts of these (subject, attribute), past and present, in the order of `list`.

        Subjects are the same in any case. To like and to dislike are slots of their own here.
        """
        ...

    def concerning(self, candidates: Sequence[Candidate]) -> Sequence[KeptFact]:
        """Return all that `learn` needs to know to weigh these candidates as it would among all facts.

        Those they bear on (`group_of`) and those that rest on the same observations, in the order of `list`.
        """
        ...

    def resting_on(self, observation_ids: Sequence[UUID]) -> Sequence[KeptFact]:
        """Return facts with evidence in one of these observations, in the order of `list`."""
        ...

    def moved(self, gone: Mapping[UUID, UUID | None]) -> Sequence[int]:
        """Delete facts whose evidence others hold now (`Changes.gone`); return the numbers they had.

        Their ids, and those that led to them, lead to the new holder; None is led nowhere.
        """
        ...

    def successor(self, fact_id: UUID) -> UUID | None:
        """Return the fact that holds the evidence of one that is gone; None where there is none."""
        ...

    def near(self, first: UUID, last: UUID, *, limit: int = 2) -> Sequence[UUID]:
        """Return facts whose ids lie between two, both included, by id, `limit` at most.

        Where there are none, the successors of ids that are gone and lie there, each once.
        """
        ...

    def moves(self) -> Mapping[UUID, UUID]:
        """Return for each id that is gone where it leads, by id."""
        ...

    def bury(self, tombstones: Sequence[FactTombstone]) -> None:
        """Keep what is not to be learned again; one that is there already stays as it is."""
        ...

    def tombstones(self, observation_ids: Sequence[UUID] | None = None) -> Sequence[FactTombstone]:
        """Return all, or those of these observations, by observation, then mark."""
        ...

    def unbury(self, observation_ids: Sequence[UUID]) -> None:
        """Take away the tombstones of observations, as when those are erased."""
        ...

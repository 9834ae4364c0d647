"""What belongs together and what does not, who decided it, and what episodes are about."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Protocol, overload
from uuid import UUID

from episodic_agent.schemas import Decision, Link
from episodic_agent.schemas.chains import Refusal, Term


class Relations(Protocol):
    """Links of threads, refused chains, decisions, and the inverted table of metadata."""

    # --- threads that belong together, and the cross-thread episodes they form --------------------------

    def put(self, *records: Link | Refusal) -> None:
        """Write links of two threads, each in the place of what stood of the two; NotFound for either.

        And that chains were taken back, each in the place of what was refused of the same pair.
        """
        ...

    def links(
        self, threads: Sequence[UUID] | None = None, *, limit: int | None = None, taken_back: bool = False
    ) -> Sequence[Link]:
        """Return the links of these threads, oldest first, ties as their threads were made.

        Without threads the newest of the scope, up to a limit, newest first. Tombstones only where wanted.
        """
        ...

    def join(self, episode_id: UUID, threads: Sequence[UUID]) -> None:
        """Let just these threads form a cross-thread episode; they leave those they were in."""
        ...

    @overload
    def joined(self, key: Sequence[UUID]) -> Mapping[UUID, UUID]:
        """Return the cross-thread episode of each of these threads that is in one."""
        ...

    @overload
    def joined(self, key: UUID) -> Sequence[UUID]:
        """Return the threads of a cross-thread episode in order of creation, ties by id."""
        ...

    # --- chains that were taken back --------------------------------------------------------------------

    def lift(self, child: UUID, parent: UUID) -> None:
        """Forget a refusal; an unknown one is gone already."""
        ...

    def refusals(self, child: UUID | None = None) -> Sequence[Refusal]:
        """Return the refusals of an episode, or all, oldest first, ties by child, then parent."""
        ...

    # --- what episodes are about ------------------------------------------------------------------------

    def described(self, ids: Sequence[UUID]) -> Sequence[tuple[UUID, Term]]:
        """Return the rows of these episodes, by episode, field, value."""
        ...

    # --- decisions --------------------------------------------------------------------------------------

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

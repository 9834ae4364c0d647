"""Which episode goes on from which, the links that were taken back, and what episodes are about."""

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol
from uuid import UUID

from episodic_agent.core.chain_records import Condition, Node, Refusal, Term
from episodic_agent.core.interfaces.index import Span


class Chains(Protocol):
    """The parents of episodes, refused links, and the inverted table of metadata."""

    def lead(self, child: UUID, parent: UUID | None) -> None:
        """Let an episode go on from another, or from none; NotFound for either. Loops are not looked for."""
        ...

    def nodes(self, ids: Sequence[UUID]) -> Sequence[Node]:
        """Return those of these episodes that there are, by id."""
        ...

    def children(self, ids: Sequence[UUID]) -> Sequence[Node]:
        """Return the episodes whose parent is one of these, by id."""
        ...

    def above(self, ids: Sequence[UUID]) -> Sequence[Node]:
        """Return these episodes and all they go on from, by id, each once though parents run in a circle."""
        ...

    def below(self, ids: Sequence[UUID]) -> Sequence[Node]:
        """Return these episodes and all that goes on from them, by id, each once."""
        ...

    def latest(self, *, limit: int, before: datetime) -> Sequence[UUID]:
        """Return closed parts and sessions that ended at a time or before, newest end first, ties by id."""
        ...

    def refuse(self, refusal: Refusal) -> None:
        """Remember that a link was taken back; the same pair again takes the other's place."""
        ...

    def lift(self, child: UUID, parent: UUID) -> None:
        """Forget a refusal; an unknown one is gone already."""
        ...

    def refusals(self, child: UUID | None = None) -> Sequence[Refusal]:
        """Return the refusals of an episode, or all, oldest first, ties by child, then parent."""
        ...

    def describe(self, episode_id: UUID, terms: Sequence[Term]) -> None:
        """Write an episode's rows in the place of those it had.

        `Episodes.encode` does so with each newest version: this is to mend what is missing.
        """
        ...

    def described(self, ids: Sequence[UUID]) -> Sequence[tuple[UUID, Term]]:
        """Return the rows of these episodes, by episode, field, value."""
        ...

    def matching(
        self, fields: Sequence[Sequence[Condition]], among: Sequence[UUID] | None = None
    ) -> Sequence[UUID]:
        """Return the episodes (of these, where given) that pass every field by any condition, by id.

        Episodes that were replaced have their rows still: whoever asks reads what is current.
        """
        ...

    def spans(
        self,
        fields: Sequence[Sequence[Condition]],
        *,
        since: datetime | None = None,
        until: datetime | None = None,
    ) -> Sequence[Span]:
        """Return what the current event episodes that pass every field own, by reference.

        Those that begin at `since` or after and before `until`; without fields every one of these passes.
        """
        ...

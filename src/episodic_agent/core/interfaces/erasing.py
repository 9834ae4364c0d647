"""Erasing for good, inside one transaction: what a store takes away, and the receipts it keeps."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Protocol
from uuid import UUID

from episodic_agent.core.erasing import Erasure, Tombstone


class Erasing(Protocol):
    """Takes rows away for good (I12). What is derived from them is the engine's to derive again."""

    def erase(self, thread_id: UUID, seqs: Sequence[int], at: datetime) -> int:
        """Leave tombstones in the place of a thread's observations; return how many were none yet.

        Their check records, what their work took and the turns of skills that begin with them go too; how
        often their actors spoke is put right. Index, stays and episodes are left alone.
        """
        ...

    def erased(self, thread_id: UUID, first_seq: int, last_seq: int) -> Sequence[Tombstone]:
        """Return the tombstones of `first_seq..last_seq` (inclusive) in order."""
        ...

    def unword(self, episode_ids: Sequence[UUID]) -> None:
        """Delete every version of episodes' words, and who decided them where others make them up."""
        ...

    def remove(self, episode_ids: Sequence[UUID]) -> None:
        """Delete episodes, replaced ones too, with their words and the decisions about them."""
        ...

    def replaced(self, thread_id: UUID, seqs: Sequence[int]) -> Sequence[UUID]:
        """Return the episodes that a resegmentation replaced and that owned some of these observations."""
        ...

    def drop_thread(self, thread_id: UUID) -> None:
        """Delete every row of a thread; NotFound. Drop it from the index before, and its jobs."""
        ...

    def count(self, thread_id: UUID | None = None) -> Mapping[str, int]:
        """Count what the scope, or one of its threads, holds, by kind of thing."""
        ...

    def holding(self, texts: Sequence[str], *, limit: int) -> Sequence[int]:
        """Return the references of observations that hold one of some texts to the letter, in order.

        Every observation of the scope is read.
        """
        ...

    def recall_jobs(self) -> None:
        """Take every claimed job of the scope back and blank its errors: no worker keeps what it read."""
        ...

    def record(self, erasure: Erasure) -> None:
        """Keep a receipt, in place of the one of the same id."""
        ...

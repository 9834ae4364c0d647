"""Observations as a store keeps them, with the records of their checks, until they are erased."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Literal, Protocol, overload
from uuid import UUID

from episodic_agent.schemas import Observation, Receipt
from episodic_agent.schemas.erasures import Tombstone


class Observations(Protocol):
    """What was observed, and what is left of what was erased for good (docs/forgetting.md)."""

    def known(self, ids: Sequence[UUID]) -> Mapping[UUID, Receipt]:
        """Return first receipts (added=False) of those observation ids that are stored already.

        Of one that was erased the state is `erased`.
        """
        ...

    def append(self, observations: Sequence[Observation]) -> None:
        """Insert observations of one thread with consecutive seqs, and begin or go on with its stays.

        Conflict on a taken id or seq.
        """
        ...

    @overload
    def read(self, thread: UUID, first_seq: int, last_seq: int) -> Sequence[Observation]:
        """Read `first_seq..last_seq` (inclusive) of a thread in order; erased ones are left out."""
        ...

    @overload
    def read(self, thread: Sequence[tuple[UUID, int, int]]) -> Sequence[Sequence[Observation]]:
        """Read several ranges (thread, first seq, last seq) at once."""
        ...

    @overload
    def get(self, keys: Sequence[int]) -> Mapping[int, Observation]:
        """Read those at these references; unknown and erased ones are left out."""
        ...

    @overload
    def get(self, keys: Sequence[UUID]) -> Mapping[UUID, Observation]:
        """Read those of these ids."""
        ...

    def near(self, first: UUID, last: UUID, *, limit: int) -> Sequence[UUID]:
        """Return the ids of observations that lie in `first..last`, in order: those that begin alike."""
        ...

    def quoting(self, texts: Sequence[str], *, limit: int) -> Sequence[int]:
        """Return the references of observations that hold one of some texts, in any case, in order.

        Every observation of the scope is read.
        """
        ...

    def having(
        self,
        field: Literal["external_id", "actor", "channel"],
        values: Sequence[str],
        *,
        limit: int | None = None,
        besides: Sequence[int] | None = None,
    ) -> Sequence[int]:
        """Return the references of observations with one of some values in a field, in order, up to a limit.

        Every observation of the scope is looked at. With the numbers of threads, `besides`, it is those of
        these threads that have none of the values; channels are then asked for as `channel_name` has them.
        """
        ...

    def save_records(self, thread_id: UUID, records: Mapping[int, bytes | None]) -> None:
        """Keep the packed record of the check at each seq; None takes one away."""
        ...

    def records(self, thread_id: UUID, first_seq: int, last_seq: int) -> Mapping[int, bytes]:
        """Read the packed records of `first_seq..last_seq` (inclusive) that there are."""
        ...

    def altered(self, thread_id: UUID, first_seq: int, last_seq: int) -> Sequence[tuple[int, UUID]]:
        """Return (seq, id) of those observations of a span that are not what was stored, in order."""
        ...

    def hash_older(self, *, limit: int) -> int:
        """Hash up to `limit` observations that have no content hash as they are now; return how many."""
        ...

    def actors(self, *, limit: int = 200) -> Mapping[str, int]:
        """Return speakers of the scope with how often each spoke, most frequent first."""
        ...

    def last_at(self) -> datetime | None:
        """Return the newest event time in the scope."""
        ...

    # --- erasing for good (I12) -------------------------------------------------------------------------

    def erase(self, thread_id: UUID, seqs: Sequence[int], at: datetime) -> int:
        """Leave tombstones in the place of a thread's observations; return how many were none yet.

        Their check records, what their work took, the tombstones of facts that rested on them and the turns
        of skills that begin with them go too; how often their actors spoke is put right. Index, stays and
        episodes are left alone: what is derived is the engine's to derive again.
        """
        ...

    def erased(self, stretches: Sequence[tuple[UUID, int, int]]) -> Sequence[Tombstone]:
        """Return the tombstones of stretches (thread, first seq, last seq; inclusive), by thread in order.

        Those of unknown threads are none.
        """
        ...

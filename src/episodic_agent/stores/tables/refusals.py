"""Chains that were taken back, as rows: neither of such a pair is proposed for the other again."""

from collections.abc import Sequence
from typing import Final
from uuid import UUID

from episodic_agent.schemas.chains import Refusal
from episodic_agent.stores.rows import id_of, to_microseconds, to_time
from episodic_agent.stores.tables.dialect import Table

_PUT: Final = (
    "INSERT INTO chain_refusal (:keys, child, parent, at, by) VALUES (:own, :child, :parent, :at, :by)"
    " ON CONFLICT (:keys, child, parent) DO UPDATE SET at = excluded.at, by = excluded.by"
)
_READ: Final = "SELECT child, parent, at, by FROM chain_refusal WHERE :mine"
_OLDEST: Final = "ORDER BY at, child, parent"


class RefusalTable(Table):
    """Pairs of episodes that do not belong together."""

    def _refuse(self, refusal: Refusal) -> None:
        pair = {"child": refusal.child.bytes, "parent": refusal.parent.bytes}
        self._session.change(_PUT, **pair, at=to_microseconds(refusal.at), by=refusal.by)

    def _lift(self, refusal: Refusal) -> None:
        sql = "DELETE FROM chain_refusal WHERE :mine AND child = :child AND parent = :parent"
        self._session.change(sql, child=refusal.child.bytes, parent=refusal.parent.bytes)

    def refusals(self, child: UUID | None = None) -> Sequence[Refusal]:
        """Return the refusals of an episode, or all, oldest first, ties by child, then parent."""
        if child is None:
            results = self._session.read(f"{_READ} {_OLDEST}")
        else:
            results = self._session.read(f"{_READ} AND child = :child {_OLDEST}", child=child.bytes)
        return [Refusal(id_of(one), id_of(other), to_time(at), by) for one, other, at, by in results]

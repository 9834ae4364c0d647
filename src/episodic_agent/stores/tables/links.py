"""Which threads belong together, as rows."""

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, Final, overload
from uuid import UUID

from episodic_agent.schemas import Link
from episodic_agent.schemas.chains import Refusal
from episodic_agent.stores.nouns import LINK, link_columns, link_of
from episodic_agent.stores.rows import id_of, to_microseconds, to_time
from episodic_agent.stores.tables.dialect import EVERY, Table, placed, replacing, row_of

_REVERSED: Final = "DELETE FROM link WHERE :mine AND later = :earlier AND earlier = :later"
_PUT: Final = (
    f"INSERT INTO link (:keys, {LINK}) VALUES (:own, {placed(LINK)})"
    f" ON CONFLICT (:keys, later, earlier) DO UPDATE SET {replacing(LINK, 2)}"
)
_THERE: Final = "unlinked_at IS NULL"


class LinkTable(Table):
    """Links of two threads, and the cross-thread episodes they form."""

    def _put_link(self, link: Link) -> None:
        later, earlier = self._session.thread_number(link.later), self._session.thread_number(link.earlier)
        self._session.change(_REVERSED, later=later, earlier=earlier)
        self._session.change(_PUT, **row_of(LINK, link_columns(link, later, earlier)))

    def links(
        self, threads: Sequence[UUID] | None = None, *, limit: int | None = None, taken_back: bool = False
    ) -> Sequence[Link]:
        there = "" if taken_back else f" AND {_THERE}"
        if threads is None:
            newest = "ORDER BY at DESC, later DESC, earlier DESC LIMIT :limit"
            sql = f"SELECT {LINK} FROM link WHERE :mine{there} {newest}"
            return self._links(self._session.read(sql, limit=EVERY if limit is None else limit))
        sides = [
            f"SELECT {LINK} FROM link WHERE :mine AND {side} IN :numbers(threads){there}"
            for side in ("later", "earlier")
        ]
        sql = f"{' UNION '.join(sides)} ORDER BY at, later, earlier"
        return self._links(self._session.read(sql, threads=list(self._session.find_threads(threads))))

    def _links(self, values: Sequence[tuple[Any, ...]]) -> Sequence[Link]:
        threads = self._session.thread_ids([number for columns in values for number in columns[:2]])
        return [link_of(columns, threads) for columns in values]

    @overload
    def joined(self, key: Sequence[UUID]) -> Mapping[UUID, UUID]: ...

    @overload
    def joined(self, key: UUID) -> Sequence[UUID]: ...

    def joined(self, key: Sequence[UUID] | UUID) -> Mapping[UUID, UUID] | Sequence[UUID]:
        """Return the cross-thread episode of each of these threads, or the threads of such an episode."""
        return self._members(key) if isinstance(key, UUID) else self._joined(key)

    @abstractmethod
    def _join(self, episode_id: UUID, threads: Sequence[UUID]) -> None:
        """Let just these threads form a cross-thread episode; they leave those they were in."""

    @abstractmethod
    def _members(self, episode_id: UUID) -> Sequence[UUID]:
        """Return the threads of a cross-thread episode in order of creation, ties by id."""

    def _joined(self, threads: Sequence[UUID]) -> Mapping[UUID, UUID]:
        numbers = self._session.find_threads(threads)
        sql = "SELECT thread, episode FROM joined WHERE :mine AND thread IN :numbers(threads)"
        results = self._session.read(sql, threads=list(numbers))
        return {numbers[number]: id_of(episode) for number, episode in results}


_PUT_REFUSAL: Final = (
    "INSERT INTO chain_refusal (:keys, child, parent, at, by) VALUES (:own, :child, :parent, :at, :by)"
    " ON CONFLICT (:keys, child, parent) DO UPDATE SET at = excluded.at, by = excluded.by"
)
_READ_REFUSAL: Final = "SELECT child, parent, at, by FROM chain_refusal WHERE :mine"
_OLDEST: Final = "ORDER BY at, child, parent"


class RefusalTable(Table):
    """Pairs of episodes that do not belong together."""

    def _refuse(self, refusal: Refusal) -> None:
        pair = {"child": refusal.child.bytes, "parent": refusal.parent.bytes}
        self._session.change(_PUT_REFUSAL, **pair, at=to_microseconds(refusal.at), by=refusal.by)

    def _lift(self, refusal: Refusal) -> None:
        sql = "DELETE FROM chain_refusal WHERE :mine AND child = :child AND parent = :parent"
        self._session.change(sql, child=refusal.child.bytes, parent=refusal.parent.bytes)

    def refusals(self, child: UUID | None = None) -> Sequence[Refusal]:
        if child is None:
            results = self._session.read(f"{_READ_REFUSAL} {_OLDEST}")
        else:
            results = self._session.read(f"{_READ_REFUSAL} AND child = :child {_OLDEST}", child=child.bytes)
        return [Refusal(id_of(one), id_of(other), to_time(at), by) for one, other, at, by in results]

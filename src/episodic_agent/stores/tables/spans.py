"""Episodes by conditions on their metadata, marks for ranking, and replaced episodes by what they owned."""

from abc import abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from itertools import groupby
from typing import TYPE_CHECKING, Final
from uuid import UUID

from episodic_agent.lazily import module
from episodic_agent.protocols import Cover, EpisodeMark, Refs, ref_of, split_ref
from episodic_agent.schemas.chains import Condition
from episodic_agent.stores.rows import id_of, to_microseconds
from episodic_agent.stores.tables.dialect import Table

if TYPE_CHECKING:
    import numpy as np
else:
    np = module("numpy")

_REPLACED: Final = (
    "SELECT id, first_seq, last_seq FROM episode WHERE :mine AND thread = :thread AND kind = 'event'"
    " AND generation_to IS NOT NULL AND first_seq <= :last AND last_seq >= :first"
)


def passing_all(
    fields: Sequence[Sequence[Condition]],
    passing: Callable[[Condition], Iterable[bytes]],
) -> frozenset[bytes]:
    """Return the keys that pass every field by any of its conditions.

    >>> by_value = {"leak": [b"1", b"2"], "bread": [b"3"], "tim": [b"2", b"3"]}
    >>> tags, who = [Condition("tag", ("leak",)), Condition("tag", ("bread",))], [Condition("who", ("tim",))]
    >>> sorted(passing_all([tags, who], lambda one: by_value[one.values[0]]))
    [b'2', b'3']
    """
    data: frozenset[bytes] | None = None
    for field in fields:
        passed = frozenset(found for condition in field for found in passing(condition))
        data = passed if data is None else data & passed
    return data or frozenset()


class ConditionTable(Table):
    """Episodes that pass conditions, as both stores find them."""

    def passing(self, fields: Sequence[Sequence[Condition]]) -> Sequence[UUID]:
        """Return the episodes, replaced ones too, that pass every field by any condition, by id."""
        return [id_of(key) for key in sorted(passing_all(fields, self._passing))]

    @abstractmethod
    def _passing(self, condition: Condition) -> Iterable[bytes]:
        """Look up the keys of the episodes that pass one condition."""


class MarkTable(Table):
    """What ranking reads of observations and episodes, as both stores read it."""

    def between(self, start: datetime, end: datetime, *, limit: int, newest: bool = False) -> Refs:
        """Return refs of observations whose event time lies in [start, end), oldest first, ties by ref."""
        order = "at DESC, ref DESC" if newest else "at, ref"
        sql = (
            "SELECT ref FROM observation WHERE :mine AND at >= :start AND at < :end AND erased_at IS NULL"
            f" ORDER BY {order} LIMIT :n"
        )
        times = {"start": to_microseconds(start), "end": to_microseconds(end)}
        refs = [ref for (ref,) in self._session.read(sql, n=limit, **times)]
        return np.array(refs[::-1] if newest else refs, dtype=np.int64)

    def episode_marks(
        self, refs: Sequence[int] | Refs, *, covering: bool = False
    ) -> Mapping[int, EpisodeMark]:
        """Return the marks of the current event episodes that begin at these refs, or that own them."""
        return self._covering(refs) if covering else self._marks(refs)

    def covers(self, spans: Sequence[tuple[int, int]], *, replaced: bool = False) -> Sequence[Cover]:
        return self._replaced(spans) if replaced else self._covers(spans)

    @abstractmethod
    def _covering(self, refs: Sequence[int] | Refs) -> Mapping[int, EpisodeMark]:
        """Look up the episodes that own these refs."""

    @abstractmethod
    def _marks(self, refs: Sequence[int] | Refs) -> Mapping[int, EpisodeMark]:
        """Look up the episodes that begin at these refs."""

    @abstractmethod
    def _covers(self, spans: Sequence[tuple[int, int]]) -> Sequence[Cover]:
        """Look up the current episodes that own some of these spans."""

    def _replaced(self, spans: Sequence[tuple[int, int]]) -> list[Cover]:
        covers: set[Cover] = set()
        for number, group in groupby(sorted(spans), key=lambda span: split_ref(span[0])[0]):
            own = [(split_ref(first)[1], split_ref(last)[1]) for first, last in group]
            bounds = {"first": own[0][0], "last": max(last for _, last in own)}
            for key, first, last in self._session.read(_REPLACED, thread=number, **bounds):
                if any(first <= end and begin <= last for begin, end in own):
                    covers.add(Cover(ref_of(number, first), ref_of(number, last), key.hex()))
        return sorted(covers)

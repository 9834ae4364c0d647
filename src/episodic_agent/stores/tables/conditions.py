"""How the fields of a filter over metadata work together, the same on every store."""

from abc import abstractmethod
from collections.abc import Callable, Iterable, Sequence
from uuid import UUID

from episodic_agent.schemas.chains import Condition
from episodic_agent.stores.tables.dialect import Table


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
        return [UUID(bytes=key) for key in sorted(passing_all(fields, self._passing))]

    @abstractmethod
    def _passing(self, condition: Condition) -> Iterable[bytes]:
        """Look up the keys of the episodes that pass one condition."""

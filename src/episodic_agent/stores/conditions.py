"""How the fields of a filter over metadata work together, the same on every store."""

from collections.abc import Callable, Iterable, Sequence

from episodic_agent.schemas.chains import Condition


def passing_all(
    fields: Sequence[Sequence[Condition]],
    passing: Callable[[Condition], Iterable[bytes]],
    among: frozenset[bytes] | None = None,
) -> frozenset[bytes]:
    """Return the keys (of these, where given) that pass every field by any of its conditions.

    >>> by_value = {"leak": [b"1", b"2"], "bread": [b"3"], "tim": [b"2", b"3"]}
    >>> tags, who = [Condition("tag", ("leak",)), Condition("tag", ("bread",))], [Condition("who", ("tim",))]
    >>> sorted(passing_all([tags, who], lambda one: by_value[one.values[0]]))
    [b'2', b'3']
    """
    data = among
    for field in fields:
        passed = frozenset(found for condition in field for found in passing(condition))
        data = passed if data is None else data & passed
    return data or frozenset()

"""Policy `seed-003`: reciprocal rank fusion over episode summaries, times retrievability (seed 003).

Kept for conformance. Not the default: ranks span 1/61 to 1/160, so a month of age outweighs relevance.
"""

from collections.abc import Mapping, Sequence
from typing import Final

CONSTANT: Final = 60
PER_LEG: Final = 100


def reciprocal_ranks(legs: Sequence[Sequence[str]]) -> dict[str, float]:
    """Return the sum of 1 / (60 + rank) over the legs, ranks from 1; a leg lists ids, best first.

    >>> {key: round(value, 7) for key, value in reciprocal_ranks([["a", "b"], ["a", "c", "b"]]).items()}
    {'a': 0.0327869, 'b': 0.032002, 'c': 0.016129}
    """
    sums: dict[str, float] = {}
    for leg in legs:
        for rank, key in enumerate(dict.fromkeys(leg), 1):
            sums[key] = sums.get(key, 0.0) + 1 / (CONSTANT + rank)
    return sums


def seed_003(
    lexical: Sequence[str], dense: Sequence[str], retrievability: Mapping[str, float], limit: int
) -> list[tuple[str, float]]:
    """Return at most `limit` (id, score) pairs: the best 100 of each leg fused, cut at 100, times R, sorted.

    Ties go to the smaller id. An id without retrievability counts as 1.

    >>> [(key, round(score, 6)) for key, score in seed_003(["a", "b"], ["a"], {"a": 0.4, "b": 1.0}, 5)]
    [('b', 0.016129), ('a', 0.013115)]
    """
    fused = reciprocal_ranks([lexical[:PER_LEG], dense[:PER_LEG]])
    pairs = sorted(fused.items(), key=lambda item: (-item[1], item[0]))[:PER_LEG]
    aged = [(key, score * retrievability.get(key, 1.0)) for key, score in pairs]
    return sorted(aged, key=lambda item: (-item[1], item[0]))[: max(limit, 0)]

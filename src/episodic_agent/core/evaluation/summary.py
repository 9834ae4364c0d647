"""What every report shares: numbers that are valid JSON, and how sure a mean is."""

import math
from collections.abc import Sequence

import numpy as np

from episodic_agent.errors import InvalidInput

_DECIMALS = 6


def rounded(value: float) -> float | None:
    """Round to the six decimals of a report; what JSON cannot say (NaN, infinity) becomes None.

    >>> rounded(2 / 3), rounded(math.inf)
    (0.666667, None)
    """
    return round(float(value), _DECIMALS) if math.isfinite(value) else None


def bootstrap_interval(
    values: Sequence[float], seed: int, rounds: int = 1000, *, level: float = 0.95
) -> tuple[float, float]:
    """Return the percentile bootstrap interval of the mean of `values` (Efron 1979).

    One value per independent case: a dialogue, a question, or a person where questions share one. Pass
    the differences of two systems on the same cases to compare them: an interval without 0 is a
    difference. The same seed gives the same interval. Raises InvalidInput for no values, values that
    are not finite, fewer than one round, or a level outside (0, 1).

    >>> low, high = bootstrap_interval([0.0, 1.0] * 50, seed=7)
    >>> 0.38 < low < 0.5 < high < 0.62
    True
    >>> bootstrap_interval([0.25], seed=7)
    (0.25, 0.25)
    """
    sample = np.asarray(values, dtype=np.float64)
    if sample.ndim != 1 or sample.size == 0 or not np.isfinite(sample).all():
        raise InvalidInput("a bootstrap needs a flat list of at least one finite value")
    if rounds < 1 or not 0.0 < level < 1.0:
        raise InvalidInput("a bootstrap needs at least one round and a level between 0 and 1")
    generator = np.random.default_rng(seed)
    # One round at a time: all rounds at once would need rounds x len(values) indices in memory.
    means = [sample[generator.integers(sample.size, size=sample.size)].mean() for _ in range(rounds)]
    tail = (1.0 - level) / 2.0
    low, high = np.quantile(means, [tail, 1.0 - tail])
    return float(low), float(high)

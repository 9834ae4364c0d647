"""What every report shares: numbers that are valid JSON."""

import math

_DECIMALS = 6


def rounded(value: float) -> float | None:
    """Round to the six decimals of a report; what JSON cannot say (NaN, infinity) becomes None.

    >>> rounded(2 / 3), rounded(math.inf)
    (0.666667, None)
    """
    return round(float(value), _DECIMALS) if math.isfinite(value) else None

"""Silence as a cue: how long it was, in itself and by this thread's own measure."""

import math
from collections.abc import Sequence
from typing import Final

KNOTS: Final = (
    0.0,
    1.0,
    2.0,
    3.0,
    4.0,
    5.0,
    6.0,
)  # log(1 + minutes): 0 s, 1.7, 6.4, 19, 54 min, 2.5 h, 6.7 h


def log_minutes(seconds: float) -> float:
    """Return log(1 + minutes) of a gap; a late arrival's negative gap counts as none.

    >>> log_minutes(0.0), round(log_minutes(3600.0), 3), log_minutes(-5.0)
    (0.0, 4.111, 0.0)
    """
    return round(math.log1p(max(0.0, seconds) / 60.0), 4)


def hats(value: float, knots: Sequence[float] = KNOTS) -> list[float]:
    """Return the piecewise-linear basis at a value: its two neighbouring knots share a weight of 1.

    >>> hats(1.25, (0.0, 1.0, 2.0)), hats(9.0, (0.0, 1.0, 2.0))
    ([0.0, 0.75, 0.25], [0.0, 0.0, 1.0])
    """
    shares = [0.0] * len(knots)
    value = min(max(value, knots[0]), knots[-1])
    for place in range(len(knots) - 1):
        low, high = knots[place], knots[place + 1]
        if value <= high:
            shares[place + 1] = (value - low) / (high - low)
            shares[place] = 1.0 - shares[place + 1]
            break
    return shares

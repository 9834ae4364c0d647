"""Silence as a cue: how long it was, in itself and by this thread's own measure."""

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import Final

# log(1 + minutes): 1.7, 6.4, 19, 54 min, 2.5 h, 6.7 h, 18 h; below the first one reads and types
KNOTS: Final = (1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0)


def log_minutes(seconds: float) -> float:
    """Return log(1 + minutes) of a gap; a late arrival's negative gap counts as none.

    >>> log_minutes(0.0), round(log_minutes(3600.0), 3), log_minutes(-5.0)
    (0.0, 4.111, 0.0)
    """
    return round(math.log1p(max(0.0, seconds) / 60.0), 4)


def ramps(value: float, knots: Sequence[float] = KNOTS) -> list[float]:
    """Return how much of each stretch from knot to knot lies below a value, each in [0, 1].

    Weighted by rises that are not negative they make a broken line that never falls.

    >>> ramps(1.25, (0.0, 1.0, 2.0)), ramps(9.0, (0.0, 1.0, 2.0))
    ([1.0, 0.25], [1.0, 1.0])
    """
    return [min(1.0, max(0.0, (value - low) / (high - low))) for low, high in pairwise(knots)]

"""What probability to ask for: half the F1 that a thread's own probabilities promise.

To gain F1, cut a gap whose probability is over half the best F1 there is to be had: where the network is sure
of everything (F1 near 1) that is .5, where it hardly tells (F1 .3) one in seven is worth a cut. How well it
tells is a matter of the thread, and its own probabilities say it, if they are right on the whole.
"""

import math
from collections.abc import Sequence
from typing import Final, NamedTuple

BINS: Final = 32  # of the root of the probability
_PRIOR: Final = 10.0  # gaps that the training material counts for
_WINDOW: Final = 800  # gaps of the thread; with so many, all count half
_LEAST: Final = 0.1
_FEW, _MANY = 0.03, 0.25  # shares of gaps that are cut at least and at most, as far as can be told
_EVERY: Final = 8


class Promise(NamedTuple):
    """How many gaps of a thread had which probability, and what is asked for since it was last asked."""

    counts: tuple[float, ...] = (0.0,) * BINS
    seen: int = 0
    asked: float = 0.0

    def asking(self, prior: Sequence[float]) -> "Promise":
        """Return the promise with what to ask of the next gap; now and then is often enough to ask anew."""
        return self if self.asked and self.seen % _EVERY else self._replace(asked=asked(self.counts, prior))

    def add(self, probability: float) -> "Promise":
        """Return the promise with one more gap.

        >>> Promise().add(0.97).counts[-1], Promise().add(1.0).seen
        (1.0, 1)
        """
        at, values, seen = bin_of(probability), self.counts, self.seen
        if seen >= _WINDOW:
            values, seen = tuple([round(one / 2.0, 3) for one in values]), _WINDOW // 2
        return Promise((*values[:at], values[at] + 1.0, *values[at + 1 :]), seen + 1, self.asked)


def asked(counts: Sequence[float], prior: Sequence[float]) -> float:
    """Return the probability to ask for; `prior` is the share of the training's gaps in each bin.

    >>> sure, unsure = [0.0] * BINS, [0.0] * BINS
    >>> sure[bin_of(0.01)] = unsure[bin_of(0.05)] = 0.9
    >>> sure[bin_of(0.95)] = unsure[bin_of(0.3)] = 0.1
    >>> asked((0.0,) * BINS, sure), asked((0.0,) * BINS, unsure)
    (0.4662, 0.1667)
    """
    mixed = [count + _PRIOR * share for count, share in zip(counts, prior, strict=True)]
    expected = [count * middle for count, middle in zip(mixed, _MIDDLES, strict=True)]
    gaps, total, cut, hit, best = sum(mixed), sum(expected), 0.0, 0.0, 0.0
    fewest = most = 0.0
    for at in range(BINS - 1, -1, -1):
        before, cut, hit = cut, cut + mixed[at], hit + expected[at]
        best = max(best, 2.0 * hit / (cut + total))
        if not fewest and cut >= _FEW * gaps:
            fewest = _within(at, before, cut, _FEW * gaps)
        if not most and cut >= _MANY * gaps:
            most = _within(at, before, cut, _MANY * gaps)
    return round(max(_LEAST, min(fewest, max(most, best / 2.0))), 4)


def _within(at: int, before: float, cut: float, value: float) -> float:
    """Return the probability inside a bin over which so many gaps lie."""
    low, high = (at / BINS) ** 2, ((at + 1) / BINS) ** 2
    return high - (high - low) * (value - before) / (cut - before)


def bin_of(probability: float) -> int:
    """Return the bin of a probability; those of small ones are narrow.

    >>> bin_of(0.0), bin_of(0.04), bin_of(1.0) == BINS - 1
    (0, 6, True)
    """
    return min(BINS - 1, int(math.sqrt(probability) * BINS))


_MIDDLES: Final = tuple((at**2 + (at + 1) ** 2) / (2 * BINS**2) for at in range(BINS))

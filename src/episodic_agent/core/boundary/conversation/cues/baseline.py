"""What is usual in a thread: the running mean of every cue, so that a gap is read against its own thread."""

import math
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from episodic_agent.schemas import Vector

TRUST: Final = 6.0  # what is usual in the training material counts like so many gaps of the thread
_WINDOW: Final = 50.0  # older gaps fade
_LONGEST: Final = 300  # messages; beyond, a thread is just long


class BaselineCues(NamedTuple):
    """The mean of each cue over the gaps judged so far; `with_vectors` counts those that had vectors."""

    means: Vector
    seen: float = 0.0
    with_vectors: float = 0.0

    def add(self, cues: NDArray[np.float64], lexical: int) -> "BaselineCues":
        """Return the means with one more gap; `lexical` is how many cues need no vector.

        >>> usual = BaselineCues(np.zeros(3, np.float32)).add(np.array([1.0, 2.0]), 2)
        >>> usual.add(np.array([3.0, 2.0, 5.0]), 2).means.tolist()
        [2.0, 2.0, 5.0]
        """
        seen, size = min(self.seen + 1.0, _WINDOW), cues.size
        full = size > lexical
        with_vectors = min(self.with_vectors + full, _WINDOW)
        moved = self.means.copy()
        known = moved[:size]
        step = cues.astype(np.float32)
        step -= known
        if not full or with_vectors == seen:
            step /= seen
        else:
            step[:lexical] /= seen
            step[lexical:] /= with_vectors
        known += step
        return BaselineCues(
            moved.astype(np.float16).astype(np.float32), seen, with_vectors
        )  # as it is packed

    def shares(self, lexical: int, size: int) -> Vector | float:
        """Return how far each of `size` cues' means is trusted over the training material's, in [0, 1).

        >>> BaselineCues(np.zeros(3, np.float32), 6.0, 6.0).shares(2, 3)
        0.5
        """
        share = self.seen / (self.seen + TRUST)
        if size <= lexical or self.with_vectors == self.seen:
            return share
        trusted = np.full(size, share, np.float32)
        trusted[lexical:] = self.with_vectors / (self.with_vectors + TRUST)
        return trusted


def how_far(position: int) -> float:
    """Return the log of how many messages the thread has: long talks change their topic less often.

    >>> how_far(1), how_far(10**6) == how_far(300)
    (0.0, True)
    """
    return math.log(min(max(position, 1), _LONGEST))

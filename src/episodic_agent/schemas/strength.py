"""Strength: the FSRS state of a memory, and the ratings that change it."""

from dataclasses import dataclass
from enum import IntEnum


class Rating(IntEnum):
    """How a recalled memory served."""

    AGAIN = 1
    HARD = 2
    GOOD = 3
    EASY = 4


@dataclass(frozen=True, slots=True)
class Strength:
    """A memory's FSRS state: `stability` in days (at least 0.001), `difficulty` in [1, 10]."""

    stability: float
    difficulty: float

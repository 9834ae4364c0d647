"""Strength: the FSRS state of a memory, the ratings that change it, and what retention reads of it."""

from dataclasses import dataclass
from enum import IntEnum
from typing import NamedTuple


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


class Standing(NamedTuple):
    """What filters and retention read of a current event episode: its place, its time and its strength.

    `name` is the id in 32 hexadecimal digits; the refs are those of the first and the last observation it
    owns; `start_at`, `end_at` and `last_reviewed_at` are microseconds since 1970 UTC, `stability` is in days.
    """

    first_ref: int
    last_ref: int
    name: str
    start_at: int
    end_at: int
    stability: float
    last_reviewed_at: int

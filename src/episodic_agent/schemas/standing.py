"""What retention reads of an episode."""

from typing import NamedTuple


class Standing(NamedTuple):
    """What retention reads of a current event episode: its id in hex, its first and last ref, its strength.

    `end_at` and `last_reviewed_at` are microseconds since 1970 UTC, `stability` is in days.
    """

    name: str
    first_ref: int
    last_ref: int
    end_at: int
    stability: float
    last_reviewed_at: int

"""What a rating does to an episode's strength (seed 003, with the clock's trap taken out).

A lapse that also set the clock back to zero would let a memory that was just called noise rank above its twin
for weeks, because it would count as fresh. So Again lowers the stability and leaves the clock; `seed-003` is
the document to the letter.
"""

from dataclasses import dataclass
from datetime import datetime
from typing import Final

from episodic_agent.core.strength.decay import next_state
from episodic_agent.schemas.strength import Rating, Strength

SEED: Final = "seed-003"
_DAY: Final = 86_400.0


@dataclass(frozen=True, slots=True)
class Reviewed:
    """An episode's strength and its two clocks.

    `last_reviewed_at` is what retrievability counts from; `last_rated_at` when it was last rated at all.
    """

    strength: Strength
    last_reviewed_at: datetime
    last_rated_at: datetime | None = None


def reviewed(before: Reviewed, rating: Rating, at: datetime, *, policy: str = "default") -> Reviewed | None:
    """Return what an episode becomes by a rating at a record time; None where it was rated that day already.

    Days are those of UTC; a clock that was set back counts as the same day.

    >>> from datetime import UTC, timedelta
    >>> born = datetime(2026, 3, 1, 12, tzinfo=UTC)
    >>> fresh = Reviewed(Strength(2.3065, 2.1181), born)
    >>> after = reviewed(fresh, Rating.GOOD, born + timedelta(days=1))
    >>> round(after.strength.stability, 4), after.last_reviewed_at.day
    (7.3153, 2)
    >>> reviewed(after, Rating.GOOD, born + timedelta(days=1, hours=3)) is None
    True
    """
    if before.last_rated_at is not None and at.date() <= before.last_rated_at.date():
        return None
    days = int(max(0.0, (at - before.last_reviewed_at).total_seconds()) // _DAY)
    after = next_state(before.strength.stability, before.strength.difficulty, days, rating)
    if rating is Rating.AGAIN and policy != SEED:
        return Reviewed(after, before.last_reviewed_at, at)
    return Reviewed(after, max(at, before.last_reviewed_at), at)

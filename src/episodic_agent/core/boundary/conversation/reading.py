"""What it is worth where a reader of a whole conversation sees its subject change, and where not.

A model that reads finished talk for its titles and facts divides it by subject in the same answer. That is
evidence for the boundaries named, and against those inside a part: of a witness who names so many of the
true ones (`NAMED`) and calls so few of the others one (`ALARMS`). Named out of all messages, with both sides
known, a boundary is therefore worth more than a yes to a question about one gap (`asking`). It is no order:
what is certain (six hours of silence, a flush) stays, and who only acknowledges begins nothing.
"""

import math
from collections.abc import Mapping
from typing import Final, NamedTuple

from episodic_agent.core.boundary.conversation.asking import PLACES
from episodic_agent.core.boundary.conversation.model import logit, sigmoid

NAMED: Final = 0.8  # share of the true boundaries that a reader names
ALARMS: Final = 0.05  # share of all other gaps that one calls a boundary
FOR: Final = math.log(NAMED / ALARMS)  # log-odds that a boundary gains by being named
AGAINST: Final = math.log((1.0 - ALARMS) / (1.0 - NAMED))  # and loses by lying inside a part
UNREAD, READ = "unread", "model_reading"  # the cues a reading leaves
LEFT: Final = (UNREAD, READ)


class WeighedReading(NamedTuple):
    """What a reader said of a gap, and the probability without it: enough to weigh it again."""

    unread: float
    named: bool

    @property
    def probability(self) -> float:
        """Return the probability of a boundary with the reading, to four places.

        >>> WeighedReading(0.1, True).probability, WeighedReading(0.5, False).probability
        (0.64, 0.1739)
        >>> WeighedReading(1.0, False).probability > 0.99, WeighedReading(0.0, True).probability < 0.01
        (True, True)
        """
        return round(sigmoid(logit(self.unread) + (FOR if self.named else -AGAINST)), PLACES)


def shown(reading: WeighedReading) -> dict[str, float]:
    """Return what a record keeps of a reading, as cues; `read` undoes it."""
    return {UNREAD: reading.unread, READ: float(reading.named)}


def read(cues: Mapping[str, float]) -> WeighedReading | None:
    """Return the reading a record keeps; None where nobody read the whole of it.

    >>> read(shown(WeighedReading(0.2, True))), read({"content": 0.4})
    (WeighedReading(unread=0.2, named=True), None)
    """
    return WeighedReading(cues[UNREAD], cues[READ] >= 0.5) if UNREAD in cues else None

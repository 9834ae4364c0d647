"""What was observed, and the receipt for keeping it."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta, timezone
from enum import StrEnum
from typing import Final
from uuid import UUID

from episodic_agent.schemas.values import Json
from episodic_agent.showing import described

OPEN: Final = "open"  # states of a receipt
ERASED: Final = "erased"


class Kind(StrEnum):
    """What an observation is."""

    MESSAGE = "message"
    TOOL = "tool"
    STEP = "step"


class TimeSource(StrEnum):
    """Where an observation's event time comes from; assumed times give no gap cue and no date words.

    `received`: said live, without a time, so it happened when it came. `assumed`: of old talk whose times
    nobody knows.
    """

    GIVEN = "given"
    DATE_ONLY = "date_only"
    RECEIVED = "received"
    ASSUMED = "assumed"

    @property
    def has_clock(self) -> bool:
        """Tell whether the time of day is known."""
        return self in (TimeSource.GIVEN, TimeSource.RECEIVED)


@dataclass(frozen=True, slots=True)
class Observation:
    """One item of experience, in order: a message, a tool call with its result, or an embodied step.

    `seq` is gapless per thread from 0; `at` is event time; `received_at` is record time.
    `prediction_error` and `location_confidence` lie in [0, 1]. `expires_at` is when it is to be erased.
    """

    id: UUID
    thread_id: UUID
    seq: int
    at: datetime
    received_at: datetime
    actor: str
    text: str
    kind: Kind = Kind.MESSAGE
    at_source: TimeSource = TimeSource.GIVEN
    utc_offset: int | None = None
    external_id: str | None = None
    channel: str | None = None
    location: str | None = None
    location_confidence: float | None = None
    events: tuple[Mapping[str, Json], ...] = ()
    prediction_error: float | None = None
    extras: Mapping[str, Json] = field(default_factory=dict)
    expires_at: datetime | None = None

    def __repr__(self) -> str:
        return described(self, self.at, f"{self.actor}: {self.text}")


def by_time(observations: Iterable[Observation]) -> list[Observation]:
    """Return what was said by its times; what has none of its own stays behind what it came after.

    >>> from dataclasses import replace
    >>> when = datetime(2026, 4, 10, 17, 40)
    >>> answer = Observation(UUID(int=1), UUID(int=9), 0, when, when, "Farid", "32")
    >>> late = replace(answer, seq=1, at=when - timedelta(minutes=2), text="How much?")
    >>> [said.text for said in by_time([answer, late])]
    ['How much?', '32']
    """
    timed: list[tuple[datetime, Observation]] = []
    for observation in observations:
        is_known = not timed or observation.at_source.has_clock
        timed.append((observation.at if is_known else timed[-1][0], observation))
    return [one for _, one in sorted(timed, key=lambda pair: pair[0])]


def by_clock(at: datetime, utc_offset: int | None) -> datetime:
    """Return a moment by a clock so many seconds ahead of UTC; as it is where nobody knows the clock.

    >>> by_clock(datetime(2026, 3, 13, 23, 40, tzinfo=timezone.utc), 3600).isoformat()
    '2026-03-14T00:40:00+01:00'
    """
    return at if utc_offset is None else at.astimezone(timezone(timedelta(seconds=utc_offset)))


@dataclass(frozen=True, slots=True)
class Receipt:
    """What `add` acknowledges for one observation: durable, searchable, exactly once (I2, I10).

    `state` is `open`, or `erased` where the id is that of an observation that was erased: it stays so, and
    nothing was kept.
    """

    id: UUID
    thread_id: UUID
    seq: int
    added: bool
    state: str = OPEN

    def __repr__(self) -> str:
        known = "erased, not added" if self.state == ERASED else "known already"
        return described(self, "added" if self.added else known, f"message {self.seq}", str(self.id))

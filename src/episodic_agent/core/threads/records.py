"""What resolution reads and answers: small values that a store can give and keep as they are."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from typing import Final
from uuid import UUID

from episodic_agent.schemas import Json

INACTIVITY: Final = "inactivity"  # why a thread was closed, by the next message or by the clock
OPEN: Final = "open"
CLOSED: Final = "closed"


@dataclass(frozen=True, slots=True)
class ThreadView:
    """What resolution needs of a thread.

    `created_at` is the event time of the earliest observation in it, `last_activity_at` that of the latest.
    `timeout` is the thread's own. `closed_for` is the reason a closed thread was closed for: one that was
    closed for `inactivity` can still be continued by a message that was only slow to arrive. `selected_at` is
    when the user chose it last, which counts as activity. `unpicked` tells that nobody ever named or selected
    it, and `answered` that the agent has spoken in it besides: whoever lets resolution find the place of
    answers does not pick threads. `speakers` are who said each of its latest messages, where anybody asked.
    """

    id: UUID
    channels: tuple[str, ...]
    explicit: bool
    created_at: datetime
    last_activity_at: datetime
    status: str = OPEN
    timeout: timedelta | None = None
    closed_for: str = ""
    selected_at: datetime | None = None
    unpicked: bool = False
    answered: bool = False
    speakers: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Arriving:
    """An observation looking for its thread; `at` is event time, aware UTC.

    `thread` is the one the caller names; `creates` says that an unknown one is to be created (the
    `conversation_id` of seeds 001 and 003). `reply` marks what the agent says or does: it keeps a thread
    alive and never opens one. `leans` tells that it means nothing without what went before ("and on
    Thursday?"). `speaker` is who says it, "" where that is the agent or nobody asked.
    """

    id: UUID
    at: datetime
    channel: str | None = None
    thread: UUID | None = None
    creates: bool = False
    reply: bool = False
    leans: bool = False
    speaker: str = ""


class IntakeVerdict(StrEnum):
    """What becomes of an observation."""

    CONTINUES = "continues"
    OPENS = "opens"
    REOPENS = "reopens"
    LATE = "late"  # joins a thread whose time was before the current one's; that thread stays as it is
    DUPLICATE = "duplicate"


@dataclass(frozen=True, slots=True)
class Resolution:
    """Where an observation belongs, and why.

    `thread` is None where a new one is to be opened and nobody has named it yet. `closes` is the thread that
    ends with it, for inactivity. The next four are the thread's values afterwards (a duplicate's are those
    it has). `gap` and `timeout` are what was compared, None where nothing was. `why` is one line.
    """

    verdict: IntakeVerdict
    thread: UUID | None
    closes: UUID | None
    explicit: bool
    created_at: datetime
    last_activity_at: datetime
    channels: tuple[str, ...]
    why: str
    gap: timedelta | None = None
    timeout: timedelta | None = None

    @property
    def new(self) -> bool:
        """Tell whether a thread is to be created."""
        return self.verdict is IntakeVerdict.OPENS

    def features(self) -> dict[str, float]:
        """Return what a Decision of type `thread` records: the seconds that were compared."""
        compared = {"gap_seconds": self.gap, "timeout_seconds": self.timeout}
        return {name: span.total_seconds() for name, span in compared.items() if span is not None}


@dataclass(frozen=True, slots=True)
class Settled(Resolution):
    """A resolution whose thread has its name, opened or not."""

    thread: UUID

    @classmethod
    def of(cls, resolution: Resolution, thread: UUID) -> "Settled":
        """Return a resolution with its thread's name."""
        return cls(
            resolution.verdict,
            thread,
            resolution.closes,
            resolution.explicit,
            resolution.created_at,
            resolution.last_activity_at,
            resolution.channels,
            resolution.why,
            resolution.gap,
            resolution.timeout,
        )


def as_record(
    thread: ThreadView,
    user_id: str,
    *,
    timeout: timedelta,
    turn_count: int,
    primary_episode_id: str | None = None,
    cross_thread_episodes: Sequence[str] = (),
    summary: str = "",
) -> Mapping[str, Json]:
    """Return a thread's metadata as in seed 002, section 1.3: its fields, its order, times with Z.

    `timeout` is the one in force, the thread's own or another.

    >>> at = datetime(2025, 11, 5, 10, tzinfo=UTC)
    >>> view = ThreadView(UUID(int=1), ("sms",), False, at, at + timedelta(minutes=45))
    >>> record = as_record(view, "ana", timeout=timedelta(minutes=30), turn_count=3)
    >>> record["last_activity_at"], record["inactivity_timeout_minutes"], record["explicit_channel"]
    ('2025-11-05T10:45:00Z', 30, False)
    """
    minutes = timeout / timedelta(minutes=1)
    return {
        "thread_id": str(thread.id),
        "user_id": user_id,
        "created_at": with_z(thread.created_at),
        "last_activity_at": with_z(thread.last_activity_at),
        "channels": list(thread.channels),
        "inactivity_timeout_minutes": int(minutes) if minutes.is_integer() else minutes,
        "explicit_channel": thread.explicit,
        "primary_episode_id": primary_episode_id,
        "cross_thread_episodes": list(cross_thread_episodes),
        "turn_count": turn_count,
        "summary": summary,
    }


def with_z(at: datetime) -> str:
    """Return a time in ISO 8601, in UTC with a Z.

    >>> with_z(datetime(2025, 11, 5, 10, tzinfo=UTC))
    '2025-11-05T10:00:00Z'
    """
    return at.astimezone(UTC).isoformat().removesuffix("+00:00") + "Z"

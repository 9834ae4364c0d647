"""A thread: the observations of one conversation or run, in order."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from episodic_agent.showing import described


@dataclass(frozen=True, slots=True)
class Thread:
    """An ordered stream of observations with one owner: a conversation, or one run of an agent.

    `created_at` is the event time of its earliest observation, `last_activity_at` that of its latest.
    `explicit` tells that the caller chose it (by a name, or on a channel where users choose); silence never
    ends it then. `timeout` is its own longest silence, `closed_for` why it was closed, `selected_at` when it
    was last chosen to be gone on with (event time), `turn_count` how many user messages it holds.
    """

    id: UUID
    origin: str
    created_at: datetime
    last_activity_at: datetime
    title: str | None = None
    status: str = "open"
    modality: str = "message"
    channels: tuple[str, ...] = ()
    generation: int = 0
    explicit: bool = False
    timeout: timedelta | None = None
    closed_for: str = ""
    selected_at: datetime | None = None
    turn_count: int = 0

    def __repr__(self) -> str:
        return described(self, self.title, self.origin, self.status, self.last_activity_at)

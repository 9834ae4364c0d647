"""A section of a thread, and its words at three resolutions."""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID


@dataclass(frozen=True, slots=True)
class Section:
    """What compaction knows of a part of a thread; its span and words are those of its primary episode.

    `first_at` is the event time of its first turn, `turns_before` how many turns the thread had before it,
    `opened_for` why it was begun ("" the first of a thread). `ended` tells that its thread was closed after
    it. `grown` tells that observations came since it was last to be compacted, `trigger` why that was.
    `compacted_through` is the last seq that its newest compaction covers, None before the first.
    """

    thread_id: UUID
    first_seq: int
    episode_id: UUID
    first_at: datetime
    turns_before: int = 0
    opened_for: str = ""
    ended: bool = False
    grown: bool = True
    trigger: str = ""
    compacted_through: int | None = None
    compacted_at: datetime | None = None

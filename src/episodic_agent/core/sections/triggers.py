"""When a part of a thread is compacted, and when the next part begins (seed 002, section 4.1).

A thread is compacted part by part: a part is a primary episode. The 51st turn, a turn that begins a day
after the part's first, and the reopening of a closed thread each open a new part; what comes before is done.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Final
from uuid import UUID


class Trigger(StrEnum):
    """Why a part is due, in falling priority."""

    MANUAL = "manual"
    THREAD_END = "thread_end"
    SIZE = "size"
    TIME = "time"


PRIORITY: Final = {trigger: number for number, trigger in enumerate(Trigger)}
REOPENED: Final = "reopened"


@dataclass(frozen=True, slots=True)
class SectionLimits:
    """How large a part may become: in turns, and in time since its first turn."""

    turns: int = 50
    age: timedelta = timedelta(hours=24)


@dataclass(frozen=True, slots=True)
class SectionState:
    """A primary episode as compaction sees it.

    `first_at` is the event time of its first turn; `closed` tells that its thread was closed after it (and
    may have been reopened since, with another part); `followed` that another part has begun.
    `compacted_through` is the last seq that its newest compaction covers, None before the first.
    """

    episode_id: UUID
    first_seq: int
    last_seq: int
    turns: int
    first_at: datetime
    closed: bool = False
    followed: bool = False
    compacted_through: int | None = None


@dataclass(frozen=True, slots=True)
class Due:
    """A part that is to be compacted. Two of the same `key` are the same work: it is done once."""

    trigger: Trigger
    episode_id: UUID
    last_seq: int

    @property
    def key(self) -> str:
        """Return what a job for it is unique by: the episode and its last observation."""
        return f"{self.episode_id}:{self.last_seq}"


def due(
    section: SectionState, now: datetime, *, manual: bool = False, limits: SectionLimits = SectionLimits()
) -> list[Due]:
    """Return why a part is due now, the highest priority first; nothing where all of it is compacted.

    A full part waits for the turn that opens the next one: its last turn may still be answered.

    >>> from datetime import UTC
    >>> began = datetime(2025, 11, 5, 10, tzinfo=UTC)
    >>> part = SectionState(UUID(int=1), 0, 99, 50, began, closed=True, followed=True)
    >>> [found.trigger.value for found in due(part, began + timedelta(hours=25))]
    ['thread_end', 'size', 'time']
    """
    if section.compacted_through is not None and section.compacted_through >= section.last_seq:
        return []
    met = {
        Trigger.MANUAL: manual,
        Trigger.THREAD_END: section.closed,
        Trigger.SIZE: section.turns > limits.turns or (section.turns == limits.turns and section.followed),
        Trigger.TIME: now - section.first_at >= limits.age,
    }
    return [Due(trigger, section.episode_id, section.last_seq) for trigger in Trigger if met[trigger]]


def most_urgent(dues: list[Due]) -> list[Due]:
    """Return each piece of work once, under its highest trigger; the most urgent first, then in given order.

    >>> one, other = Due(Trigger.TIME, UUID(int=1), 9), Due(Trigger.SIZE, UUID(int=2), 4)
    >>> [work.trigger.value for work in most_urgent([one, other, Due(Trigger.MANUAL, UUID(int=1), 9)])]
    ['manual', 'size']
    """
    first: dict[str, Due] = {}
    for work in sorted(dues, key=lambda work: PRIORITY[work.trigger]):
        first.setdefault(work.key, work)
    return list(first.values())


def opens_section(
    section: SectionState,
    at: datetime,
    *,
    opens_turn: bool,
    reopens: bool = False,
    limits: SectionLimits = SectionLimits(),
) -> str | None:
    """Return why the next observation begins a new part ("reopened", "size", "time"), None where it does not.

    Parts are made of whole turns, so only what opens a turn begins one; a reopened thread begins one anyway.

    >>> from datetime import UTC
    >>> began = datetime(2025, 11, 5, 10, tzinfo=UTC)
    >>> full = SectionState(UUID(int=1), 0, 99, 50, began)
    >>> [opens_section(full, began, opens_turn=opens) for opens in (True, False)]
    ['size', None]
    """
    if reopens:
        return REOPENED
    if not opens_turn or section.turns == 0:
        return None
    if section.turns >= limits.turns:
        return Trigger.SIZE.value
    return Trigger.TIME.value if at - section.first_at >= limits.age else None

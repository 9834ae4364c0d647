"""Episodes: the open frame, the closed episode, every version of its words."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from uuid import UUID

from episodic_agent.schemas.values import Json
from episodic_agent.showing import as_card, described


class EpisodeKind(StrEnum):
    """An `event` owns observations; the others only have members (invariant I3)."""

    EVENT = "event"
    PRIMARY = "primary"
    CROSS_THREAD = "cross_thread"


class EpisodeState(StrEnum):
    """Where an episode is in its life."""

    OPEN = "open"
    CLOSED = "closed"
    COMPACTED = "compacted"
    ARCHIVED = "archived"


class Reason(StrEnum):
    """Why a boundary fell, in falling priority (hard, content, time)."""

    MANUAL = "manual"
    LOCATION_CHANGE = "location_change"
    THREAD_END = "thread_end"
    WORLD_END = "world_end"  # a simulated world was over (terminated or truncated) and begins anew
    SURPRISE = "surprise"
    TOPIC_SHIFT = "topic_shift"
    SALIENT_EVENT = "salient_event"
    PREDICTION_ERROR = "prediction_error"
    TIME_GAP = "time_gap"
    SIZE_CAP = "size_cap"
    TIME_INTERVAL = "time_interval"
    END_OF_STREAM = "end_of_stream"


@dataclass(frozen=True, slots=True)
class Frame:
    """The stored open frame of a thread: observations `first_seq..next_seq-1`; from `cursor` on undecided.

    `state` is the boundary machine's serialised state, `question` the serialised question it waits for.
    `version` grows with every write and guards against lost updates.
    """

    thread_id: UUID
    policy: str
    embedder: str
    next_seq: int = 0
    first_seq: int = 0
    cursor: int = 0
    state: bytes = b""
    question: bytes | None = None
    last_received_at: datetime | None = None
    version: int = 0


@dataclass(frozen=True, slots=True)
class Episode:
    """Frozen experience: a segment of one thread with its cover, strength and words.

    `stability` is in days, `difficulty` in [1, 10] (FSRS-6), `surprise` in [0, 1]. Title and summary are
    those of the newest encoding (`encoding_version`), 0 while the episode has not been encoded yet.
    """

    id: UUID
    thread_id: UUID
    first_seq: int
    last_seq: int
    start_at: datetime
    end_at: datetime
    created_at: datetime
    reason: str
    surprise: float
    stability: float
    difficulty: float
    last_reviewed_at: datetime
    decision_id: UUID | None = None
    kind: EpisodeKind = EpisodeKind.EVENT
    state: EpisodeState = EpisodeState.CLOSED
    generation_from: int = 0
    generation_to: int | None = None
    consolidated_at: datetime | None = None
    parent_episode_id: UUID | None = None
    title: str = ""
    summary: str = ""
    encoding_version: int = 0
    encoded_by: str = ""
    metadata: Mapping[str, Json] = field(default_factory=dict)

    def __repr__(self) -> str:
        return described(
            self,
            self.start_at,
            self.title or "untitled",
            f"{self.first_seq}-{self.last_seq}",
            self.reason,
            self.id,
        )

    @property
    def size(self) -> int:
        """Count the observations the cover holds."""
        return self.last_seq - self.first_seq + 1

    @property
    def micro(self) -> str:
        """Return the shortest words of a compacted part (seed 002); "" of any other episode."""
        return str(self.metadata.get("micro", ""))

    @property
    def macro(self) -> str:
        """Return the distilled words of a compacted part; its `summary` is what seed 002 calls meso."""
        return str(self.metadata.get("macro", ""))

    def _repr_html_(self) -> str:
        """Show the episode in a notebook."""
        beside = f"{self.start_at:%Y-%m-%d %H:%M}"
        return as_card(self.title or "untitled", beside, [self.summary] if self.summary else [])


@dataclass(frozen=True, slots=True)
class Encoding:
    """One version of an episode's words; earlier versions are kept (I4: the cover never changes)."""

    episode_id: UUID
    version: int
    title: str
    summary: str
    metadata: Mapping[str, Json]
    by: str
    created_at: datetime

    def __repr__(self) -> str:
        return described(self, f"version {self.version}", self.title, self.summary, self.by)

"""The nouns of episodic memory: what every other room speaks about.

Frozen, slotted dataclasses; the ActiveContextFrame alone is mutable (seed 000's custom detectors write
to it). Times are aware UTC. Event time (`at`, `start_at`, `end_at`) and record time (`created_at`,
`last_reviewed_at`) are never mixed. `docs/glossary.md` explains each word.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from enum import StrEnum
from typing import TypeAlias
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

Json: TypeAlias = "str | int | float | bool | Sequence[Json] | Mapping[str, Json] | None"
Vector: TypeAlias = NDArray[np.float32]


class Kind(StrEnum):
    """What an observation is."""

    MESSAGE = "message"
    TOOL = "tool"
    STEP = "step"


class TimeSource(StrEnum):
    """Where an observation's event time comes from; assumed times give no gap cue and no date words."""

    GIVEN = "given"
    DATE_ONLY = "date_only"
    ASSUMED = "assumed"


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
    SURPRISE = "surprise"
    TOPIC_SHIFT = "topic_shift"
    SALIENT_EVENT = "salient_event"
    PREDICTION_ERROR = "prediction_error"
    TIME_GAP = "time_gap"
    SIZE_CAP = "size_cap"
    TIME_INTERVAL = "time_interval"
    END_OF_STREAM = "end_of_stream"


@dataclass(frozen=True, slots=True)
class Scope:
    """Whose memory it is. Every row carries both names and every query stays inside one scope (I11)."""

    user_id: str = "default"
    space: str = "default"


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


@dataclass(frozen=True, slots=True)
class Entity:
    """A thing a sensor perceives: its stable id, what it is called, and the state it is in."""

    id: str
    label: str
    category: str = ""
    state: str = ""
    visible: bool = True
    distance: float | None = None


@dataclass(frozen=True, slots=True)
class Reading:
    """What a sensor delivers for one step, before anything is concluded from it.

    `number` is the sensor's own count of its readings; `at` is None where the sensor has no clock;
    `place` is None where it cannot tell, `confidence` in [0, 1] says how sure it is. `changes` are events
    the sensor reports itself. `restarts` marks the first reading of a new world (an environment was reset):
    what came before is over.
    """

    number: int
    at: datetime | None = None
    place: str | None = None
    confidence: float = 1.0
    entities: tuple[Entity, ...] = ()
    changes: tuple[Mapping[str, Json], ...] = ()
    action: str = ""
    text: str = ""
    prediction_error: float | None = None
    restarts: bool = False
    extras: Mapping[str, Json] = field(default_factory=dict)


@dataclass(slots=True)
class ActiveContextFrame:
    """The open end of a thread as seed 000 shows it to custom detectors; mutable on purpose."""

    acf_id: str = ""
    step_count: int = 0
    location_label: str = "unknown"
    location_confidence: float = 0.0
    entities: list[Mapping[str, Json]] = field(default_factory=list)
    events: list[Mapping[str, Json]] = field(default_factory=list)
    extras: dict[str, Json] = field(default_factory=dict)
    observations: list[Observation] = field(default_factory=list)
    event_model: str = ""
    detector_state: dict[str, Json] = field(default_factory=dict)
    version: int = 0


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


@dataclass(frozen=True, slots=True)
class ThreadPart:
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


@dataclass(frozen=True, slots=True)
class Decision:
    """The record of an automatic verdict; from it the verdict can be recomputed (I6)."""

    id: UUID
    type: str
    at: datetime
    subject: UUID
    features: Mapping[str, float]
    score: float
    threshold: float
    verdict: str
    policy_version: str
    confidence_label: str = "HIGH"
    alternatives: Sequence[Mapping[str, Json]] = ()
    detail: Mapping[str, Json] = field(default_factory=dict)
    outcome: str | None = None


@dataclass(frozen=True, slots=True)
class Link:
    """Two threads that belong together: `later` goes on with `earlier` (seed 002, section 2).

    `basis` tells how it came about: "continuity", "recall" (the user asked for it) or "hand"; `label` is HIGH
    or UNCERTAIN. `at` is record time; `unlinked_at` says when it was taken back: it stays as a tombstone.
    """

    earlier: UUID
    later: UUID
    at: datetime
    basis: str = "continuity"
    label: str = "HIGH"
    decision_id: UUID | None = None
    unlinked_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class PendingReview:
    """A recall that waits to be judged by what its thread says from `after_seq` on.

    `shown` are the ids of the episodes in the order they were shown, `policy` is that of the recall; `at` is
    record time.
    """

    id: UUID
    thread_id: UUID
    after_seq: int
    at: datetime
    query: str
    shown: tuple[UUID, ...]
    policy: str = "default"


@dataclass(frozen=True, slots=True)
class Job:
    """Later work, written in the transaction of its cause; unique per (kind, key) while waiting."""

    id: UUID
    kind: str
    key: str
    serial: str
    run_after: datetime
    attempts: int = 0
    state: str = "waiting"
    token: int = 0
    last_error: str | None = None


@dataclass(frozen=True, slots=True)
class ModelUse:
    """What calls of a language model cost on one day (UTC), by stage and model.

    `calls` counts failed ones too; tokens are the server's, or estimated where it does not tell; `seconds`
    is how long answers were waited for, together.
    """

    day: date
    stage: str
    model: str
    calls: int = 0
    failures: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    seconds: float = 0.0

    @property
    def tokens(self) -> int:
        """Return what a budget counts: tokens of prompts and answers."""
        return self.prompt_tokens + self.completion_tokens


@dataclass(frozen=True, slots=True)
class WorkRow:
    """What one piece of work for turns took, as it is kept: which observations it was for, when, how long.

    `first_ref..last_ref` lie in one thread, at most 256 of them; `body` is the packed span.
    """

    first_ref: int
    last_ref: int
    at: datetime
    name: str
    body: str


@dataclass(frozen=True, slots=True)
class Receipt:
    """What `add` acknowledges for one observation: durable, searchable, exactly once (I2, I10)."""

    id: UUID
    thread_id: UUID
    seq: int
    added: bool
    state: str = "open"

"""The values that cross the boundary machine's door: what goes in, what comes out.

Everything here is frozen. Inputs are exactly the three that a replay needs: arrivals in seq order,
manual cuts, and clock ticks. A policy never sees a store, a clock or a model.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Generic, Protocol, TypeAlias, TypeVar, runtime_checkable

from episodic_agent.schemas import Json, Observation, Reason, Vector

KEEP_LAST = "keep_last"  # the triggering observation opens the next episode
DRAIN_ALL = "drain_all"  # the triggering observation closes its own episode


@dataclass(frozen=True, slots=True)
class Arrival:
    """An observation with the vector of its (first window of) text; None where there is no embedder."""

    observation: Observation
    vector: Vector | None


@dataclass(frozen=True, slots=True)
class ManualCut:
    """A request to close everything taken in so far (`flush`, thread end); drains all."""

    at: datetime
    reason: Reason = Reason.MANUAL


@dataclass(frozen=True, slots=True)
class Tick:
    """The clock, as an input: closes the frame only where any later observation would be cut off anyway."""

    now: datetime


Input: TypeAlias = Arrival | ManualCut | Tick


@dataclass(frozen=True, slots=True)
class Boundary:
    """The verdict to freeze: observations before `before_seq` close, the rest stay open.

    `first_seq < before_seq <= decided_at_seq` for keep-last cuts (delay = decided_at_seq - before_seq, at
    most the policy's hindsight; a size cap may split the open frame at any earlier gap, its weakest);
    drain-all cuts have before_seq = decided_at_seq + 1. `probability`,
    `surprise` and the cues lie in [0, 1]; `surprise` is that of the episode that ends here.
    """

    before_seq: int
    decided_at_seq: int
    reason: str
    probability: float
    threshold: float
    surprise: float = 0.0
    edge: str = KEEP_LAST
    cues: Mapping[str, float] = field(default_factory=dict)
    detail: Mapping[str, Json] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Record:
    """What a check saw at one observation, cut or not: kept with the observation (I6).

    `action` is the verdict's word (skip, keep, cut, ask, …); numbers are rounded before deciding, so the
    stored record recomputes the verdict. `surprise` is how badly the event model predicted this
    observation, in [0, 1].
    """

    seq: int
    action: str
    probability: float
    threshold: float
    surprise: float = 0.0
    cues: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Question:
    """What a policy wants to ask a language model before it can go on.

    The engine adds the frame's observations `first_seq..seq`. A settled question is recognised by `id`.
    `gap` is the seq of the message that may begin a new event; None: the newest, the one at `seq`.
    """

    id: str
    seq: int
    first_seq: int
    event_model: str = ""
    gap: int | None = None

    @property
    def asked_of(self) -> int:
        """Return the seq of the message in question."""
        return self.seq if self.gap is None else self.gap


@dataclass(frozen=True, slots=True)
class Verdict:
    """The model's validated answer; `vector` embeds `updated_event_model` where one came back."""

    is_boundary: bool
    confidence: float
    signals: Mapping[str, float] = field(default_factory=dict)
    updated_event_model: str | None = None
    vector: Vector | None = None


M = TypeVar("M")
M_co = TypeVar("M_co", covariant=True)


@dataclass(frozen=True, slots=True)
class Check(Generic[M]):
    """One step of a policy: its new memory and what it concluded."""

    memory: M
    cuts: tuple[Boundary, ...] = ()
    records: tuple[Record, ...] = ()
    question: Question | None = None


@runtime_checkable
class Policy(Protocol[M]):
    """A frozen, named way to cut. `memory` is the policy's own small immutable value.

    `name` is dated and stored on the frame; `hindsight` is the largest delay in observations;
    `idle_after` is the gap past which the policy cuts before any later observation (None: never),
    which is what lets the clock close a silent frame. An arrival without a vector is judged with what
    there is; `needs_vectors` says whether arrivals wait for theirs, because the verdict may depend on it.
    """

    @property
    def name(self) -> str: ...
    @property
    def hindsight(self) -> int: ...
    @property
    def idle_after(self) -> timedelta | None: ...
    @property
    def needs_vectors(self) -> bool: ...
    def begin(self) -> M:
        """Return the memory of a thread nobody has spoken in yet."""
        ...

    def check(self, memory: M, arrival: Arrival) -> Check[M]:
        """Take in one arrival; may cut, may ask."""
        ...

    def settle(self, memory: M, question: Question, verdict: Verdict | None) -> Check[M]:
        """Finish the check that asked; None is the deterministic fallback."""
        ...

    def drain(self, memory: M, cut: ManualCut) -> Check[M]:
        """Decide what is pending with what there is, then close everything (drain all)."""
        ...

    def pack(self, memory: M) -> Json:
        """Return the memory as plain JSON of at most 16 kB; `unpack` undoes it exactly."""
        ...

    def unpack(self, packed: Json) -> M:
        """Rebuild the memory from `pack`'s value."""
        ...


@runtime_checkable
class TwoThresholds(Protocol):
    """A policy that cuts above a high threshold, and above a low one where other signs agree."""

    @property
    def low_threshold(self) -> float: ...


@runtime_checkable
class Resuming(Protocol[M_co]):
    """A policy that keeps more of an open frame than may be packed: it is shown the frame again."""

    def resume(self, packed: Json, opened: Sequence[Arrival]) -> M_co:
        """Rebuild the memory from `pack`'s value and the open frame's arrivals, in order."""
        ...


class AsksNothing:
    """What policies share that put no question to a model."""

    __slots__ = ()

    def settle(self, memory: M, question: Question, verdict: Verdict | None) -> Check[M]:
        """Return the memory as it is: this policy asks nothing."""
        return Check(memory)


class JudgesSteps(AsksNothing):
    """What policies for an agent's steps share: they look at place, events and time alone."""

    __slots__ = ()

    @property
    def needs_vectors(self) -> bool:
        """Return False: nothing waits for an embedding."""
        return False

    @property
    def idle_after(self) -> timedelta | None:
        """Return None: silence alone does not cut an agent's steps, so the clock may not."""
        return None


class JudgesAtOnce(JudgesSteps):
    """What policies share that look at no later step before they cut, as in seed 000."""

    __slots__ = ()

    @property
    def hindsight(self) -> int:
        """Return 0: the step that triggers closes its own episode."""
        return 0


@dataclass(frozen=True, slots=True)
class Step(Generic[M]):
    """What `run` made of a batch: the new state, the cuts and records, and the question it stopped at.

    `consumed` counts the inputs taken in; with a question open, the rest wait.
    """

    memory: M
    cuts: Sequence[Boundary]
    records: Sequence[Record]
    question: Question | None
    consumed: int

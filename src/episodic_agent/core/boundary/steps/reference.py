"""Seed 000 to the letter, as policies the engine runs: `stub` and `seed-000`.

Nothing is mended: any new label is a new place ("unknown" among them), events count as often as they are
told, the step that triggers closes its own episode, and nothing bounds a frame's length. The arithmetic is
that of `detectors.py`; a test keeps the two in step.
"""

from dataclasses import dataclass, field, replace
from typing import Any, Final

from episodic_agent.core.boundary.contract import (
    DRAIN_ALL,
    Arrival,
    Boundary,
    Check,
    JudgesAtOnce,
    ManualCut,
    Record,
)
from episodic_agent.core.boundary.steps.detectors import REFERENCE, hysteresis
from episodic_agent.core.boundary.steps.parameters import refuse_less_than, refuse_negative, refuse_thresholds
from episodic_agent.core.boundary.steps.scoring import ScoringWeights, parts
from episodic_agent.core.boundary.steps.trail import (
    UNKNOWN,
    StepNote,
    Trail,
    error_of,
    note_of,
    pack_trail,
    unpack_trail,
)
from episodic_agent.errors import InvalidInput
from episodic_agent.schemas import Json, Observation, Reason

STUB, HYSTERESIS = "stub", "seed-000"
_DISARMED: Final = "disarmed"


@dataclass(frozen=True, slots=True)
class ReferenceStepsMemory:
    """The open frame and, for `seed-000`, the label of the step before and whether the detector is armed."""

    trail: Trail = field(default_factory=Trail)
    previous: str | None = None
    armed: bool = True


@dataclass(frozen=True, slots=True)
class _ReferencePolicy(JudgesAtOnce):
    """What both policies of the letter share: drains, packing, no hindsight, no clock."""

    def begin(self) -> ReferenceStepsMemory:
        """Return the memory of an agent that has not moved yet."""
        return ReferenceStepsMemory()

    def drain(self, memory: ReferenceStepsMemory, cut: ManualCut) -> Check[ReferenceStepsMemory]:
        """Close everything; the detector itself is not told, as in seed 000."""
        if not memory.trail.steps:
            return Check(memory)
        last = memory.trail.first_seq + memory.trail.steps - 1
        closed = Boundary(last + 1, last, cut.reason, 1.0, 1.0, edge=DRAIN_ALL, detail=memory.trail.detail())
        return Check(replace(memory, trail=Trail()), (closed,))

    def pack(self, memory: ReferenceStepsMemory) -> Json:
        """Return the memory as plain JSON."""
        return {"trail": pack_trail(memory.trail), "previous": memory.previous, "armed": memory.armed}

    def unpack(self, packed: Json) -> ReferenceStepsMemory:
        """Rebuild the memory; raises InvalidInput when the value was not made by `pack`."""
        try:
            body: Any = packed
            return ReferenceStepsMemory(unpack_trail(body["trail"]), body["previous"], bool(body["armed"]))
        except (KeyError, TypeError, ValueError) as error:
            raise InvalidInput(f"cannot read a packed memory of steps: {error!r}; resegment") from error


@dataclass(frozen=True, slots=True)
class StubPolicy(_ReferencePolicy):
    """Cut every `freeze_interval` steps (seed 000's StubBoundaryDetector).

    >>> StubPolicy(freeze_interval=2).name
    'stub'
    """

    freeze_interval: int = 50
    name: str = STUB

    def __post_init__(self) -> None:
        refuse_less_than(1, freeze_interval=self.freeze_interval)

    def check(self, memory: ReferenceStepsMemory, arrival: Arrival) -> Check[ReferenceStepsMemory]:
        """Take in one step; close with it when the frame has its steps."""
        trail = memory.trail.add(_note(arrival.observation))
        share = round(min(trail.steps / self.freeze_interval, 1.0), 6)
        cuts = trail.steps >= self.freeze_interval
        record = Record(arrival.observation.seq, "cut" if cuts else "keep", share, 1.0)
        return _decided(replace(memory, trail=trail), record, Reason.TIME_INTERVAL, cuts=cuts)


@dataclass(frozen=True, slots=True)
class HysteresisPolicy(_ReferencePolicy):
    """Cut as seed 000's HysteresisBoundaryDetector does; thresholds and weights are its own.

    >>> HysteresisPolicy(time_interval=50).name
    'seed-000'
    """

    high_threshold: float = 0.8
    low_threshold: float = 0.3
    time_interval: int = 100
    location_weight: float = 1.0
    event_weight: float = 0.5
    prediction_weight: float = 0.3
    name: str = HYSTERESIS
    weights: ScoringWeights = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        refuse_thresholds(self.low_threshold, self.high_threshold)
        refuse_less_than(1, time_interval=self.time_interval)
        refuse_negative(
            location_weight=self.location_weight,
            event_weight=self.event_weight,
            prediction_weight=self.prediction_weight,
        )
        weights = ScoringWeights(
            self.location_weight, self.event_weight, self.prediction_weight, self.time_interval
        )
        object.__setattr__(self, "weights", weights)

    def check(self, memory: ReferenceStepsMemory, arrival: Arrival) -> Check[ReferenceStepsMemory]:
        """Take in one step; close with it when armed and the score is over the high threshold."""
        seen = arrival.observation
        note = _note(seen)
        trail = memory.trail.add(note)
        current = seen.location or UNKNOWN
        moved = memory.previous is not None and current != memory.previous
        contributions = parts(self.weights, moved, trail.salient, note.error, trail.steps)
        fires, armed = hysteresis(memory.armed, contributions.score, self.low_threshold, self.high_threshold)
        action = "cut" if fires else "keep" if memory.armed else _DISARMED
        record = Record(
            seen.seq, action, contributions.score, self.high_threshold, note.error, contributions.cues()
        )
        after = ReferenceStepsMemory(trail, current, armed)
        return _decided(after, record, contributions.reason, cuts=fires)


def _note(seen: Observation) -> StepNote:
    salient = sum(1 for event in seen.events if event.get("type") in REFERENCE)
    return note_of(seen, error=error_of(seen) or 0.0, salient=salient)


def _decided(
    memory: ReferenceStepsMemory, record: Record, reason: Reason, *, cuts: bool
) -> Check[ReferenceStepsMemory]:
    """Close with the step that triggered; the surprise is the error at the cut."""
    if not cuts:
        return Check(memory, records=(record,))
    cut = Boundary(
        record.seq + 1,
        record.seq,
        reason,
        record.probability,
        record.threshold,
        record.surprise,
        DRAIN_ALL,
        record.cues,
        memory.trail.detail(),
    )
    return Check(replace(memory, trail=Trail()), (cut,), (record,))

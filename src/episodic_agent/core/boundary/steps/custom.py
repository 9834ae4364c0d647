"""Run anybody's BoundaryDetector under the engine: mutable, perhaps faulty, never a lost step.

**Its private state** is the difficulty: a detector may keep what it likes in its attributes, while a frame
must survive restarts, batches and transactions that are tried again. Three ways, the first that serves:

1. Attributes that are plain JSON (numbers, texts, lists, objects) are packed with the frame and put back
   exactly. The document's `MyBoundaryDetector` is one of these.
2. `acf.detector_state`, an object of plain JSON, belongs to the detector, is packed, and outlives cuts.
3. Anything else (sets, models, connections) is rebuilt: a new detector is shown the steps of the open frame
   again, from its beginning. What it remembered from before that frame is then lost, and only then can a
   restart move a later cut. A detector that needs more keeps it in 2. One that draws random numbers or
   reads a clock cannot be repeated by anybody.

**Its errors** cost nothing: the step is kept, nothing is cut, and the error is counted, told to who watches
(`tell`) and named in the detail of the episode (the record of such a step says `error`). A detector that
tries to end the process (SystemExit) is one that raises. `max_steps` bounds a frame whatever it does.

Every cut closes with the step that triggered it, as in seed 000.
"""

import copy
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
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
from episodic_agent.core.boundary.steps.events import count_new
from episodic_agent.core.boundary.steps.parameters import refuse_less_than
from episodic_agent.core.boundary.steps.predictor import (
    Expectations,
    learn,
    look,
    pack_expectations,
    predict,
    unpack_expectations,
)
from episodic_agent.core.boundary.steps.scoring import CUT, clamped
from episodic_agent.core.boundary.steps.trail import (
    UNKNOWN,
    Trail,
    error_of,
    note_of,
    pack_trail,
    unpack_trail,
)
from episodic_agent.core.language import plural
from episodic_agent.errors import InvalidInput
from episodic_agent.protocols import BoundaryDetector
from episodic_agent.schemas import ActiveContextFrame, Json, Observation, Reason


def context_frame(
    opened: Sequence[Observation], state: Mapping[str, Json], error: float | None = None
) -> ActiveContextFrame:
    """Return the frame after the last of `opened`: events of all its steps, place and entities of the last.

    `error` fills `extras["prediction_error"]` where the step brings none. What a detector writes to
    `detector_state` is kept; the rest is made anew for each step.

    >>> context_frame((), {}).location_label
    'unknown'
    """
    if not opened:
        return ActiveContextFrame(detector_state=dict(state))
    last = opened[-1]
    extras = dict(last.extras)
    brought = last.prediction_error if last.prediction_error is not None else error
    if brought is not None:
        extras["prediction_error"] = brought
    confidence = last.location_confidence
    return ActiveContextFrame(
        acf_id=f"{last.thread_id}:{opened[0].seq}",
        step_count=len(opened),
        location_label=last.location or UNKNOWN,
        location_confidence=float(last.location is not None) if confidence is None else clamped(confidence),
        entities=_entities(last.extras.get("entities")),
        events=[dict(event) for seen in opened for event in seen.events],
        extras=extras,
        observations=list(opened),
        detector_state=dict(state),
        version=len(opened),
    )


def _entities(value: Json) -> list[Mapping[str, Json]]:
    if not isinstance(value, Sequence) or isinstance(value, str):
        return []
    return [dict(one) if isinstance(one, Mapping) else {"label": one} for one in value]


def plain(value: object, longest: int) -> dict[str, Json] | None:
    """Return a mapping as it survives JSON, None if it does not come back the same or is too long.

    >>> plain({"count": 3}, 100), plain({"places": {"hall"}}, 100), plain({"pair": (1, 2)}, 100)
    ({'count': 3}, None, None)
    """
    try:
        written = json.dumps(value, allow_nan=False)
        read = json.loads(written)
    except (TypeError, ValueError, RecursionError):
        return None
    same = isinstance(read, dict) and len(written) <= longest and read == value and _alike(value, read)
    return read if same else None


def _alike(item: object, other: object) -> bool:
    """Say whether two equal values are of the same types all the way down: True is not 1, (1,) is not [1]."""
    if type(item) is not type(other):
        return False
    if isinstance(item, dict) and isinstance(other, dict):
        return all(_alike(value, other[key]) for key, value in item.items())
    if isinstance(item, list) and isinstance(other, list):
        return all(map(_alike, item, other))
    return True


UNNAMED: Final = "detector"  # the reason of a detector that cuts without one
LONGEST_REASON, LONGEST_ERROR, LONGEST_STATE = 60, 200, 4_000  # characters


class LiveDetector:
    """A live detector and how many steps it was shown, so that nobody uses it out of turn."""

    __slots__ = ("detector", "shown")

    def __init__(self, detector: BoundaryDetector, shown: int) -> None:
        self.detector = detector
        self.shown = shown


@dataclass(frozen=True, slots=True)
class CustomStepsMemory:
    """The open frame, what the detector keeps (`state`, and `inner` where it is plain), and its errors.

    `state_before` is what it kept when the frame began; `expected_errors` are the errors its steps were shown
    with; `shown` counts the steps it ever saw; `counted` are the keys of salient events, each counted once.
    """

    opened: tuple[Observation, ...] = ()
    trail: Trail = field(default_factory=Trail)
    shown: int = 0
    state: Mapping[str, Json] = field(default_factory=dict)
    state_before: Mapping[str, Json] = field(default_factory=dict)
    inner: Mapping[str, Json] | None = None
    errors: int = 0
    last_error: str = ""
    counted: tuple[int, ...] = ()
    expected: Expectations = field(default_factory=Expectations)
    expected_errors: tuple[float | None, ...] = ()
    running: LiveDetector | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class CustomPolicy(JudgesAtOnce):
    """Cut where a detector of the user's own says so.

    `make` builds a new detector, each time alike; `name` is stored on frames and decisions. A process that
    continues such a frame must know the same `make` by that name. `tell` is called with the seq of each step
    at which the detector failed, and why; again when the step is tried again.

    >>> from episodic_agent.core.boundary.steps.detectors import StubBoundaryDetector
    >>> CustomPolicy(StubBoundaryDetector).name
    'detector:StubBoundaryDetector'
    """

    make: Callable[[], BoundaryDetector]
    name: str = ""
    max_steps: int = 1_000
    predict: int = 1
    tell: Callable[[int, str], object] | None = field(default=None, compare=False, repr=False)

    def __post_init__(self) -> None:
        refuse_less_than(1, max_steps=self.max_steps)
        if not self.name:
            label = getattr(self.make, "__name__", type(self.make).__name__)
            object.__setattr__(self, "name", f"detector:{label}")

    def begin(self) -> CustomStepsMemory:
        """Return the memory of a thread the detector has not seen."""
        return CustomStepsMemory()

    def check(self, memory: CustomStepsMemory, arrival: Arrival) -> Check[CustomStepsMemory]:
        """Show the detector one more step; close with it where the detector or the cap says so."""
        seen = arrival.observation
        error, expected = self._expect(memory.expected, seen)
        running = self._running(memory)
        opened = (*memory.opened, seen)
        salient, counted = count_new(seen.events, memory.counted)
        note = note_of(seen, error=error or 0.0, salient=salient)
        memory = replace(
            memory,
            opened=opened,
            trail=memory.trail.add(note),
            expected=expected,
            counted=counted,
            expected_errors=(*memory.expected_errors, error),
            shown=memory.shown + 1,
        )
        cuts, reason, fault, state = _ask(running.detector, opened, memory.state, error)
        running.shown = memory.shown
        inner = plain(getattr(running.detector, "__dict__", None), LONGEST_STATE)
        memory = replace(memory, state=state, inner=inner, running=running)
        if fault:
            memory = replace(memory, errors=memory.errors + 1, last_error=fault)
            if self.tell is not None:
                self.tell(seen.seq, fault)
        if not cuts and memory.trail.steps >= self.max_steps:
            cuts, reason = True, str(Reason.SIZE_CAP)
        action = f"{CUT}{reason}" if cuts else "error" if fault else "keep"
        record = Record(seen.seq, action, float(cuts), 1.0, note.error)
        return self._close(memory, reason, record) if cuts else Check(memory, records=(record,))

    def drain(self, memory: CustomStepsMemory, cut: ManualCut) -> Check[CustomStepsMemory]:
        """Close everything; the detector is not told, its next frame simply begins again."""
        return self._close(memory, cut.reason) if memory.opened else Check(memory)

    def pack(self, memory: CustomStepsMemory) -> Json:
        """Return the memory without the open frame's steps as plain JSON; `resume` puts them back."""
        return {
            "trail": pack_trail(memory.trail),
            "shown": memory.shown,
            "state": dict(memory.state),
            "state_before": dict(memory.state_before),
            "inner": None if memory.inner is None else dict(memory.inner),
            "errors": memory.errors,
            "last_error": memory.last_error,
            "counted": list(memory.counted),
            "expected": pack_expectations(memory.expected),
            "expected_errors": list(memory.expected_errors),
        }

    def unpack(self, packed: Json) -> CustomStepsMemory:
        """Rebuild the memory of an empty frame; raises InvalidInput where steps are open: `resume` them."""
        return self.resume(packed, ())

    def resume(self, packed: Json, opened: Sequence[Arrival]) -> CustomStepsMemory:
        """Rebuild the memory from `pack`'s value and the open frame's steps, in order.

        Raises InvalidInput when the value was not made by `pack` or the steps are not those of the frame.
        """
        try:
            memory = _unpacked(packed, [one.observation for one in opened])
        except (KeyError, TypeError, ValueError) as error:
            raise InvalidInput(f"{self.name} cannot read its packed memory: {error!r}; resegment") from error
        if memory.trail.steps != len(opened):
            raise InvalidInput(
                f"{self.name} continues a frame of {plural(memory.trail.steps, 'step')}; "
                f"resume it with them, not {len(opened)}"
            )
        return memory

    def _expect(self, known: Expectations, seen: Observation) -> tuple[float | None, Expectations]:
        error = error_of(seen)
        if not self.predict:
            return error, known
        things = look(seen.extras)
        if error is None and things is not None:
            error = predict(known, seen.location, things)
        return error, learn(known, seen.location, things)

    def _running(self, memory: CustomStepsMemory) -> LiveDetector:
        """Return the live detector if it is exactly where this memory is, else one brought there."""
        live = memory.running
        if live is not None and live.shown == memory.shown:
            return live
        running = LiveDetector(_made(self.make), memory.shown)
        if memory.inner is not None:
            running.detector.__dict__.clear()
            running.detector.__dict__.update(plain(dict(memory.inner), LONGEST_STATE) or {})
            return running
        state = memory.state_before
        for place, error in enumerate(memory.expected_errors):
            _, _, _, state = _ask(running.detector, memory.opened[: place + 1], state, error)
        return running

    def _close(self, memory: CustomStepsMemory, reason: str, *records: Record) -> Check[CustomStepsMemory]:
        last = memory.opened[-1].seq
        detail = memory.trail.detail()
        if memory.errors:
            detail |= {"detector_errors": memory.errors, "last_error": memory.last_error}
        surprise = memory.trail.peak
        cut = Boundary(last + 1, last, reason, 1.0, 1.0, surprise, DRAIN_ALL, detail=detail)
        rest = replace(
            memory,
            opened=(),
            trail=Trail(),
            state_before=memory.state,
            errors=0,
            last_error="",
            expected_errors=(),
        )
        return Check(rest, (cut,), records)


def adapt(detector: BoundaryDetector | Callable[[], BoundaryDetector], name: str = "") -> CustomPolicy:
    """Return the policy of a detector: of its class, of a function that makes one, or of one ready-made.

    A ready-made one is copied as it is now, for every thread its own.

    >>> from episodic_agent.core.boundary.steps.detectors import StubBoundaryDetector
    >>> adapt(StubBoundaryDetector(7)).name, adapt(StubBoundaryDetector, "mine").name
    ('detector:StubBoundaryDetector', 'mine')
    """
    if isinstance(detector, BoundaryDetector):
        pristine = copy.deepcopy(detector)
        return CustomPolicy(partial(copy.deepcopy, pristine), name or f"detector:{type(detector).__name__}")
    return CustomPolicy(detector, name)


class _Unmade(BoundaryDetector):
    """Stands in for a detector that could not be made: every check tells why."""

    def __init__(self, why: BaseException) -> None:
        self._why = why

    def check(self, acf: ActiveContextFrame) -> tuple[bool, str | None]:
        raise self._why


def _made(make: Callable[[], BoundaryDetector]) -> BoundaryDetector:
    try:
        return make()
    except (Exception, SystemExit) as broken:  # noqa: BLE001 (as in `_ask`)
        return _Unmade(broken)


def _ask(
    detector: BoundaryDetector, opened: Sequence[Observation], state: Mapping[str, Json], error: float | None
) -> tuple[bool, str, str, Mapping[str, Json]]:
    """Show a detector one step; return its verdict, its reason, what went wrong, and its state."""
    acf = context_frame(opened, plain(dict(state), LONGEST_STATE) or {}, error)
    try:
        cuts, reason = detector.check(acf)
        cuts, text = bool(cuts), str(reason or UNNAMED)[:LONGEST_REASON]
    except (Exception, SystemExit) as broken:  # noqa: BLE001 (somebody else's code: whatever it raises, the step is kept)
        return False, "", f"{type(broken).__name__}: {broken}"[:LONGEST_ERROR], state
    remaining = plain(acf.detector_state, LONGEST_STATE)
    if remaining is None:
        fault = f"detector_state must be plain JSON of at most {LONGEST_STATE} characters; it was not kept"
        return cuts, text, fault, state
    return cuts, text, "", remaining


def _unpacked(body: Any, opened: Sequence[Observation]) -> CustomStepsMemory:
    return CustomStepsMemory(
        tuple(opened),
        unpack_trail(body["trail"]),
        body["shown"],
        body["state"],
        body["state_before"],
        body["inner"],
        body["errors"],
        body["last_error"],
        tuple(body.get("counted", ())),
        unpack_expectations(body["expected"]),
        tuple(body["expected_errors"]),
    )

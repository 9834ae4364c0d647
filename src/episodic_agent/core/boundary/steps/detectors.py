"""Seed 000's detectors as its document shows them: mutable, one `check` a step, made by hand or by name.

The engine runs their pure twins (`reference.py`); these are for whoever drives an ActiveContextFrame of their
own, and for subclasses. Whoever calls `check` empties the frame after a cut, as seed 000's orchestrator does.
"""

from collections.abc import Mapping
from dataclasses import astuple
from typing import Final

from episodic_agent.core.boundary.steps.events import SALIENT
from episodic_agent.core.boundary.steps.parameters import (
    read_parameters,
    refuse_less_than,
    refuse_negative,
    refuse_thresholds,
)
from episodic_agent.core.boundary.steps.scoring import (
    Contributions,
    ScoringWeights,
    clamped,
    debug_line,
    over,
    parts,
    under,
)
from episodic_agent.errors import InvalidInput
from episodic_agent.protocols import BoundaryDetector
from episodic_agent.schemas import ActiveContextFrame, Json, Reason

REFERENCE: Final = tuple(sorted(SALIENT))  # compared, not hashed: an event may hold anything under `type`
STUB: Final[Mapping[str, float]] = {"freeze_interval": 50}
DETECTORS: Final = ("StubBoundaryDetector", "HysteresisBoundaryDetector")
HYSTERESIS: Final[Mapping[str, float]] = {
    "high_threshold": 0.8,
    "low_threshold": 0.3,
    "time_interval": 100,
    "location_weight": 1.0,
    "event_weight": 0.5,
    "prediction_weight": 0.3,
}


class StubBoundaryDetector(BoundaryDetector):
    """Freeze every `freeze_interval` steps (seed 000, for tests and development).

    >>> StubBoundaryDetector(2).check(ActiveContextFrame(step_count=2))
    (True, 'time_interval')
    """

    def __init__(self, freeze_interval: int = 50) -> None:
        refuse_less_than(1, freeze_interval=freeze_interval)
        self._interval = freeze_interval

    def check(self, acf: ActiveContextFrame) -> tuple[bool, str | None]:
        """Return true with `time_interval` once the frame has its steps."""
        if acf.step_count >= self._interval:
            return True, str(Reason.TIME_INTERVAL)
        return False, None


class HysteresisBoundaryDetector(BoundaryDetector):
    """Freeze where the score of place, events, error and time rises over the high threshold (seed 000).

    After a cut it is disarmed until the score falls under the low threshold. `parts` and `line` tell what
    the last check saw. The four methods of the document may be overridden.

    >>> detector = HysteresisBoundaryDetector()
    >>> detector.check(ActiveContextFrame(step_count=1, location_label="kitchen"))
    (False, None)
    >>> detector.check(ActiveContextFrame(step_count=2, location_label="hall"))
    (True, 'location_change')
    >>> detector.line
    'Boundary score: 1.00 (loc=1.0, evt=0.0, pred=0.0, time=0.0) -> TRIGGER'
    """

    def __init__(
        self,
        high_threshold: float = 0.8,
        low_threshold: float = 0.3,
        time_interval: int = 100,
        location_weight: float = 1.0,
        event_weight: float = 0.5,
        prediction_weight: float = 0.3,
    ) -> None:
        refuse_thresholds(low_threshold, high_threshold)
        refuse_less_than(1, time_interval=time_interval)
        refuse_negative(
            location_weight=location_weight, event_weight=event_weight, prediction_weight=prediction_weight
        )
        self.high_threshold = high_threshold
        self.low_threshold = low_threshold
        self.time_interval = time_interval
        self.location_weight = location_weight
        self.event_weight = event_weight
        self.prediction_weight = prediction_weight
        self.line = ""
        self._previous_location: str | None = None
        self._armed = True
        # plain numbers, so that the adapter of custom detectors can pack a subclass
        self._contributions = [0.0, 0.0, 0.0, 0.0]

    @property
    def parts(self) -> Contributions:
        """Return the contributions the last check saw."""
        return Contributions(*self._contributions)

    def check(self, acf: ActiveContextFrame) -> tuple[bool, str | None]:
        """Score the frame; return true with the reason of the largest part, or false and None."""
        score = self._compute_score(acf)
        fires, self._armed = hysteresis(self._armed, score, self.low_threshold, self.high_threshold)
        self.line = debug_line(self.parts, fires)
        return (True, str(self.parts.reason)) if fires else (False, None)

    def _compute_score(self, acf: ActiveContextFrame) -> float:
        weights = ScoringWeights(
            self.location_weight, self.event_weight, self.prediction_weight, self.time_interval
        )
        contributions = parts(
            weights,
            self._location_changed(acf),
            self._count_salient_events(acf),
            clamped(self._get_prediction_error(acf)),
            acf.step_count,
        )
        self._contributions = list(astuple(contributions))
        return contributions.score

    def _location_changed(self, acf: ActiveContextFrame) -> bool:
        current, previous = acf.location_label, self._previous_location
        self._previous_location = current
        return previous is not None and current != previous

    def _count_salient_events(self, acf: ActiveContextFrame) -> int:
        return sum(1 for event in acf.events if event.get("type") in REFERENCE)

    def _get_prediction_error(self, acf: ActiveContextFrame) -> Json:
        return acf.extras.get("prediction_error", 0.0)


def hysteresis(armed: bool, score: float, low: float, high: float) -> tuple[bool, bool]:
    """Return whether a score triggers and whether the detector is armed after it (seed 000).

    >>> hysteresis(True, 0.9, 0.3, 0.8), hysteresis(False, 0.9, 0.3, 0.8), hysteresis(False, 0.2, 0.3, 0.8)
    ((True, False), (False, False), (False, True))
    """
    if armed:
        fires = over(score, high)
        return fires, not fires
    return False, under(score, low)


def detector(name: str, parameters: Mapping[str, object] | None = None) -> BoundaryDetector:
    """Return one of seed 000's detectors by its class name, with a profile's parameters.

    Parameters may carry `boundary_`; `freeze_interval` is the period of both. Raises InvalidInput for an
    unknown name, an unknown parameter or a value that cannot be, naming it.

    >>> detector("HysteresisBoundaryDetector", {"boundary_time_interval": 50}).time_interval
    50
    """
    arguments = dict(parameters or {})
    if name not in DETECTORS:
        raise InvalidInput(f"unknown boundary detector {name!r}; known: {', '.join(DETECTORS)}")
    if name == DETECTORS[0]:
        return StubBoundaryDetector(int(read_parameters(arguments, STUB).get("freeze_interval", 50)))
    if "freeze_interval" in arguments:
        if "time_interval" in arguments or "boundary_time_interval" in arguments:
            raise InvalidInput("freeze_interval and time_interval are one number here; give one of them")
        arguments["time_interval"] = arguments.pop("freeze_interval")
    read = dict(HYSTERESIS) | read_parameters(arguments, HYSTERESIS)
    return HysteresisBoundaryDetector(
        read["high_threshold"],
        read["low_threshold"],
        int(read["time_interval"]),
        location_weight=read["location_weight"],
        event_weight=read["event_weight"],
        prediction_weight=read["prediction_weight"],
    )

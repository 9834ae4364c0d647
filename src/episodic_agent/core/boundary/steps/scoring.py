"""Seed 000's score of a step: four contributions, their sum, the reason, and the line a debugger reads."""

from collections.abc import Mapping
from dataclasses import astuple, dataclass, fields
from typing import Final

from episodic_agent.core.boundary.contract import Record
from episodic_agent.schemas import Json, Reason

TOLERANCE: Final = 1e-9  # .5 + .1 is not .6 in binary: thresholds are compared with this slack
PLACES: Final = 6
TIME_WEIGHT: Final = 0.2
EVENT_UNIT: Final = 0.2
DECIMALS: Final = ("keep", "disarmed", "error")  # the actions of a record that cut nothing
CUT: Final = "cut: "  # before the reason that a detector of one's own cut for
_REASONS: Final = (  # in falling priority, which decides between equal contributions
    Reason.LOCATION_CHANGE,
    Reason.SALIENT_EVENT,
    Reason.PREDICTION_ERROR,
    Reason.TIME_INTERVAL,
)
_ERRORS: Final = ("prediction_error", "prediction_error_magnitude")


@dataclass(frozen=True, slots=True)
class ScoringWeights:
    """How much each factor may contribute; `event_unit` is the share of one event, `interval` in steps."""

    location: float = 1.0
    event: float = 0.5
    prediction: float = 0.3
    interval: int = 100
    time: float = TIME_WEIGHT
    event_unit: float = EVENT_UNIT


@dataclass(frozen=True, slots=True)
class Contributions:
    """The contributions to a score, each already weighted and rounded."""

    location: float = 0.0
    event: float = 0.0
    prediction: float = 0.0
    time: float = 0.0

    @property
    def score(self) -> float:
        """Return the sum, at most 1.

        >>> Contributions(location=1.0, time=0.05).score
        1.0
        """
        return round(min(self.location + self.event + self.prediction + self.time, 1.0), PLACES)

    @property
    def content(self) -> float:
        """Return the score without its time part: what must calm down before the detector re-arms."""
        return round(min(self.location + self.event + self.prediction, 1.0), PLACES)

    @property
    def reason(self) -> Reason:
        """Return the reason of the largest contribution, ties by priority.

        >>> str(Contributions(event=0.3, prediction=0.3).reason)
        'salient_event'
        """
        largest = max(astuple(self))
        named = zip(_REASONS, astuple(self), strict=True)
        return next(reason for reason, part in named if part >= largest - TOLERANCE)

    def cues(self) -> dict[str, float]:
        """Return the contributions by name, as a record keeps them.

        >>> Contributions(time=0.1).cues()["time"]
        0.1
        """
        return {part.name: min(getattr(self, part.name), 1.0) for part in fields(self)}


def parts(weights: ScoringWeights, moved: bool, salient: int, error: float, steps: int) -> Contributions:
    """Return the contributions of seed 000's formula.

    >>> five = parts(ScoringWeights(), False, 5, 0.4, 91)
    >>> five.score, parts(ScoringWeights(), False, 9, 0.0, 0).event
    (0.802, 0.5)
    """
    return Contributions(
        location=round(weights.location * moved, PLACES),
        event=round(min(weights.event_unit * salient, 1.0) * weights.event, PLACES),
        prediction=round(error * weights.prediction, PLACES),
        time=round(min(steps / weights.interval, 1.0) * weights.time, PLACES),
    )


def over(score: float, threshold: float) -> bool:
    """Say whether a score is over a threshold: equal is not over.

    >>> over(0.1 + 0.5, 0.6), over(0.61, 0.6)
    (False, True)
    """
    return score > threshold + TOLERANCE


def under(score: float, threshold: float) -> bool:
    """Say whether a score is under a threshold: equal is not under."""
    return score < threshold - TOLERANCE


def clamped(value: object) -> float:
    """Return a prediction error in [0, 1]; NaN and what is no number count 0.

    >>> clamped(5.0), clamped(float("nan")), clamped("high"), clamped(-1)
    (1.0, 0.0, 0.0, 0.0)
    """
    if isinstance(value, bool) or not isinstance(value, int | float) or value != value:  # noqa: PLR0124
        return 0.0
    return float(min(1, max(0, value)))


def error_in(extras: Mapping[str, Json]) -> float | None:
    """Return the prediction error that a step's extras bring, None where they bring none.

    >>> error_in({"prediction_error_magnitude": 0.4}), error_in({})
    (0.4, None)
    """
    arguments = next((extras[name] for name in _ERRORS if extras.get(name) is not None), None)
    return None if arguments is None else clamped(arguments)


def debug_line(contributions: Contributions, triggered: bool) -> str:
    """Return the line seed 000 prints for a step; the numbers in brackets are contributions.

    >>> debug_line(Contributions(event=0.2, prediction=0.1, time=0.15), False)
    'Boundary score: 0.45 (loc=0.0, evt=0.2, pred=0.1, time=0.15)'
    >>> debug_line(Contributions(location=1.0, time=0.05), True)
    'Boundary score: 1.00 (loc=1.0, evt=0.0, pred=0.0, time=0.05) -> TRIGGER'
    """
    loc, evt, pred, time = (round(part, 2) for part in astuple(contributions))
    line = f"Boundary score: {contributions.score:.2f} (loc={loc}, evt={evt}, pred={pred}, time={time})"
    return f"{line} -> TRIGGER" if triggered else line


def record_line(record: Record) -> str:
    """Return the debug line of a check the engine ran, from what its record kept.

    A detector of one's own has no score: the line says what it decided.

    >>> record_line(Record(7, "cut: event_accumulation", 1.0, 1.0))
    'Detector: event_accumulation -> TRIGGER'
    >>> record_line(Record(7, "place", 1.0, 0.8, cues={"location": 1.0, "time": 0.05}))
    'Boundary score: 1.00 (loc=1.0, evt=0.0, pred=0.0, time=0.05) -> TRIGGER'
    """
    if record.action.startswith(CUT):
        return f"Detector: {record.action.removeprefix(CUT)} -> TRIGGER"
    if not record.cues and record.threshold == 1.0:
        return "Detector: it failed here" if record.action == "error" else "Detector: no boundary"
    contributions = Contributions(
        **{part.name: record.cues.get(part.name, 0.0) for part in fields(Contributions)}
    )
    return debug_line(contributions, record.action not in DECIMALS)

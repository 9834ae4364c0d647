"""How sure one may be of a skill: at creation, after uses, after lying idle."""

from dataclasses import replace
from datetime import datetime, timedelta
from typing import Final

from episodic_agent.schemas.skills import Skill

THRESHOLD: Final = 0.7  # a pattern becomes a skill above this
_FEWEST: Final = 3  # times a pattern must have been seen to count at all
_RANGE: Final = 47  # from 3 times to 50 its count says more and more
_COUNTS: Final = 0.4
_VALIDATES: Final = 0.6
_SETTLED: Final = 5  # uses after which experience is weighed against the first estimate, once
_SUCCESS: Final = 0.05
_FAILURE: Final = 0.10
_IDLE: Final = 0.95
_IDLE_DAYS: Final = 30


def initial_confidence(count: int, validation: float) -> float:
    """Return the confidence of a pattern seen `count` times that passed this share of its checks.

    >>> round(initial_confidence(15, 1.0), 3), round(initial_confidence(5, 0.875), 3)
    (0.702, 0.542)
    """
    seen = min(max((count - _FEWEST) / _RANGE, 0.0), 1.0)
    return _COUNTS * seen + _VALIDATES * _clamped(validation)


def settled(initial: float, success_rate: float) -> float:
    """Return the confidence at the fifth use: the first estimate and the experience, half and half.

    >>> round(settled(0.90, 4 / 5), 3)
    0.85
    """
    return _clamped(0.5 * initial + 0.5 * success_rate)


def faded(confidence: float, idle: timedelta) -> float:
    """Return what is left of a confidence after some time without use: 5 % less for each full 30 days.

    >>> round(faded(0.80, timedelta(days=35)), 3), round(faded(0.80, timedelta(days=29)), 3)
    (0.76, 0.8)
    """
    periods = max(idle // timedelta(days=_IDLE_DAYS), 0)
    return _clamped(confidence * _IDLE**periods)


def present_confidence(skill: Skill, now: datetime) -> float:
    """Return how sure one may be of a skill now, idle time taken off."""
    return skill.confidence if skill.last_used is None else faded(skill.confidence, now - skill.last_used)


def after_use(skill: Skill, success: bool, at: datetime) -> Skill:
    """Return a skill after it was used, well or not, at a time.

    Idle time is taken off first. Before the fifth use a success only counts; the fifth settles; each later
    one adds .05. A failure takes .10 at any time but at the fifth. A use that is reported late does not move
    `last_used` back.
    """
    uses, successes = skill.uses + 1, skill.successes + success
    confidence = present_confidence(skill, at)
    if uses == _SETTLED:
        confidence = settled(skill.initial, successes / uses)
    elif not success:
        confidence = _clamped(confidence - _FAILURE)
    elif uses > _SETTLED:
        confidence = _clamped(confidence + _SUCCESS)
    last = at if skill.last_used is None else max(skill.last_used, at)
    return replace(skill, confidence=confidence, uses=uses, successes=successes, last_used=last)


def _clamped(value: float) -> float:
    return min(max(value, 0.0), 1.0)

"""The ActiveContextFrame that a custom detector is shown, made from the observations of the open frame."""

import json
from collections.abc import Mapping, Sequence

from episodic_agent.core.boundary.steps.scoring import clamped
from episodic_agent.core.boundary.steps.trail import UNKNOWN
from episodic_agent.schemas import ActiveContextFrame, Json, Observation


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

"""Parameters as profiles write them: with or without `boundary_`, checked by name, refused when wrong."""

import difflib
import math
from collections.abc import Mapping, Sequence
from typing import Final

from episodic_agent.errors import InvalidInput

PREFIX: Final = "boundary_"
PRESETS: Final[Mapping[str, Mapping[str, float]]] = {  # seed 000, "Tuning Guidelines"
    "shorter": {"high_threshold": 0.6, "low_threshold": 0.2, "time_interval": 50},
    "longer": {"high_threshold": 0.9, "low_threshold": 0.4, "time_interval": 200},
    "event-heavy": {"high_threshold": 0.8, "event_weight": 0.7, "prediction_weight": 0.5},
}


def plain_name(key: str, known: Sequence[str]) -> str:
    """Return a parameter's own name, its `boundary_` taken off.

    Raises InvalidInput for a name nobody knows, with the nearest known one.

    >>> plain_name("boundary_high_threshold", ["high_threshold"])
    'high_threshold'
    >>> plain_name("high_treshold", ["high_threshold", "low_threshold"])
    Traceback (most recent call last):
    ...
    episodic_agent.errors.InvalidInput: unknown parameter 'high_treshold'; did you mean 'high_threshold'?
    """
    name = key if key in known else key.removeprefix(PREFIX)
    if name in known:
        return name
    close = difflib.get_close_matches(name, known, n=1, cutoff=0.4)
    remedy = f"did you mean {close[0]!r}?" if close else f"known: {', '.join(known)}"
    raise InvalidInput(f"unknown parameter {key!r}; {remedy}")


def read_parameters(arguments: Mapping[str, object], defaults: Mapping[str, float]) -> dict[str, float]:
    """Return the known parameters among `arguments` by their plain names, whole where the default is whole.

    Raises InvalidInput for an unknown name, a name given twice and a value that is no number.

    >>> read_parameters({"boundary_time_interval": 50}, {"time_interval": 100, "low_threshold": 0.3})
    {'time_interval': 50}
    """
    values: dict[str, float] = {}
    for key, value in arguments.items():
        name = plain_name(key, list(defaults))
        if name in values:
            raise InvalidInput(f"{name} is given twice, with and without {PREFIX!r}; give it once")
        values[name] = _number(key, value, complete=isinstance(defaults[name], int))
    return values


def _number(key: str, value: object, *, complete: bool) -> float:
    target = "a whole number" if complete else "a number"
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise InvalidInput(f"{key} must be {target}, not {value!r}")
    if complete and value != int(value):
        raise InvalidInput(f"{key} must be {target}, not {value!r}")
    return int(value) if complete else float(value)


def refuse_thresholds(low: float, high: float) -> None:
    """Raise InvalidInput unless 0 <= low < high <= 1.

    >>> refuse_thresholds(0.3, 0.8)
    """
    if not 0.0 <= high <= 1.0:
        raise InvalidInput(f"high_threshold must lie in [0, 1], not {high}")
    if not 0.0 <= low < high:
        raise InvalidInput(f"low_threshold must be at least 0 and under high_threshold ({high}), not {low}")


def refuse_negative(**values: float) -> None:
    """Raise InvalidInput, naming the key, for a negative or broken number.

    >>> refuse_negative(event_weight=0.5)
    """
    for name, value in values.items():
        if not value >= 0 or math.isinf(value):  # NaN is not >= 0
            raise InvalidInput(f"{name} cannot be negative, not {value}; give 0 or more")


def refuse_less_than(least: int, **values: int) -> None:
    """Raise InvalidInput, naming the key, for a count below the least that makes sense.

    >>> refuse_less_than(1, time_interval=100)
    """
    for name, value in values.items():
        if value < least:
            raise InvalidInput(f"{name} must be at least {least}, not {value}")

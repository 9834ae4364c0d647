"""What a plot shows of an agent's steps: factors of the score, places, what froze the frame."""

import math
from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Final, NamedTuple

from episodic_agent.core.language import plural
from episodic_agent.engine.boundary.traces import BoundaryTrace
from episodic_agent.faces.plot.words import plain, reason_words

FACTORS: Final[Mapping[str, str]] = {  # seed 000's, in the order they are stacked, and their short names
    "location": "loc",
    "event": "evt",
    "prediction": "pred",
    "time": "time",
}
FLUSHED: Final = ("manual", "end_of_stream")  # reasons that no score led to


class PlotVisit(NamedTuple):
    """A run of steps in one place: indexes from `start` up to, not including, `end`."""

    place: str
    start: int
    end: int


def factors(trace: BoundaryTrace) -> dict[str, list[float]]:
    """Return the contributions to each score by factor, 0 where nothing was checked; {} without any."""
    results = {name: trace.cues[name] for name in FACTORS if name in trace.cues}
    return {name: [0.0 if math.isnan(v) else v for v in values] for name, values in results.items()}


def others(trace: BoundaryTrace) -> dict[str, Sequence[float]]:
    """Return the cues that are no factor of the score, whatever a policy calls them."""
    known = FACTORS if trace.unit == "step" else ()
    return {name: values for name, values in trace.cues.items() if name not in known}


def visits(trace: BoundaryTrace) -> list[PlotVisit]:
    """Return the runs of steps in one place, those in none left out.

    >>> flat = [0.0, 0.0, 0.0]
    >>> walk = BoundaryTrace([0, 1, 2], [None] * 3, ["a"] * 3, [""] * 3, flat, flat, flat, unit="step",
    ...     places=["Hall", "hall", "den"])
    >>> visits(walk)
    [PlotVisit(place='Hall', start=0, end=2), PlotVisit(place='den', start=2, end=3)]
    """
    result = []
    for key, group in groupby(range(len(trace.places)), lambda i: (trace.places[i] or "").casefold()):
        inside = list(group)
        if key:
            result.append(PlotVisit(trace.places[inside[0]] or "", inside[0], inside[-1] + 1))
    return result


def freezes(trace: BoundaryTrace) -> list[tuple[int, str]]:
    """Return the checks that froze the frame: (index, reason), rising."""
    pairs = [(trace.frozen_at(n), reason) for n, (_, reason) in enumerate(trace.freezes)]
    return [(index, reason) for index, reason in pairs if index is not None]


def freeze_words(trace: BoundaryTrace, index: int, reason: str) -> str:
    """Say why the frame froze, and what the score was made of where a score led to it.

    >>> walk = BoundaryTrace([0], [None], ["a"], [""], [1.0], [0.8], [0.0], unit="step",
    ...     cues={"location": [1.0], "event": [0.0], "time": [0.04]})
    >>> freeze_words(walk, 0, "location_change")
    'another place: loc 1.00 + time 0.04'
    """
    parts = {FACTORS[name]: values[index] for name, values in factors(trace).items()}
    text = " + ".join(f"{name} {part:.2f}" for name, part in parts.items() if part >= 0.005)
    words = reason_words(reason) or "cut"
    return f"{words}: {text}" if text and reason not in FLUSHED else words


def why_began(trace: BoundaryTrace, number: int, start: int, reason: str, joint: str = " ") -> str:
    """Say why an episode (0 is the first) began, with the score that led to it."""
    words = reason_words(reason)
    frozen = start
    if trace.unit == "step":
        index = trace.frozen_at(number - 1) if number else None
        if index is None or reason in FLUSHED:
            return words
        frozen = index
    score = trace.probability[frozen]
    return words if math.isnan(score) or not words else f"{words}{joint}{score:.2f}"


def counted(trace: BoundaryTrace) -> str:
    """Say how much a trace holds: observations, episodes and, of steps, places.

    >>> counted(BoundaryTrace([0], [None], ["a"], [""], [0.0], [1.0], [0.0], unit="step", places=["den"]))
    '1 step, 1 episode, 1 place'
    """
    texts = [plural(len(trace.seqs), trace.unit), plural(len(trace.episodes()), "episode")]
    places = {plain(stay.place).casefold() for stay in visits(trace)}
    return ", ".join([*texts, *([plural(len(places), "place")] if places else [])])

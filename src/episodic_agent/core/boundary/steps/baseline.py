"""What a thread of told steps has taught so far, and what its open frame holds: small, capped, immutable.

Each dictionary keeps what was met last: of more things or words than it holds, the one met longest ago is
forgotten, as if it had never been.
"""

import math
from collections.abc import Iterable, Mapping
from typing import Final, NamedTuple

from episodic_agent.core.boundary.steps.reduced import ToldStep

THINGS, WORDS, FRAME_THINGS, FRAME_WORDS, KINDS = 96, 160, 40, 72, 24
RECENT: Final = 10  # settled steps kept whole: a place may be cut that far back
_BINS: Final = 24  # of waits, a quarter of a log-minute each
_WINDOW: Final = 200.0  # waits and moves; older ones fade


class Met(NamedTuple):
    """A thing of the thread: where it was met last, how often, and when (None: no time)."""

    pos: int
    times: int
    at: float | None


class StepFrame(NamedTuple):
    """The open frame; `first` holds its first actions in order, `size` its steps."""

    size: int = 0
    start: float | None = None
    things: Mapping[int, int] = {}
    terms: frozenset[int] = frozenset()
    actions: frozenset[int] = frozenset()
    first: tuple[int, ...] = ()
    places: frozenset[int] = frozenset()


class Pace(NamedTuple):
    """Running mean and variance of something, over a window."""

    seen: float = 0.0
    mean: float = 0.0
    variance: float = 0.0

    def add(self, value: float) -> "Pace":
        """Return the pace with one more value.

        >>> Pace().add(1.0).add(3.0)
        Pace(seen=2.0, mean=2.0, variance=1.0)
        """
        seen = min(self.seen + 1.0, _WINDOW)
        step = value - self.mean
        mean = self.mean + step / seen
        variance = self.variance + (step * (value - mean) - self.variance) / seen
        return Pace(seen, round(mean, 4), round(variance, 4))

    def z(self, value: float, mean: float, spread: float) -> float:
        """Return how unusual a value is, in up to 4 standard deviations; six values of a prior steady it."""
        share = self.seen / (self.seen + 6.0)
        baseline = share * self.mean + (1.0 - share) * mean
        variance = share * self.variance + (1.0 - share) * spread * spread
        return max(-4.0, min(4.0, (value - baseline) / max(math.sqrt(variance), 1e-3)))


class StepBaseline(NamedTuple):
    """The thread so far: its things, words and kinds of action, how it waits and how often it moves."""

    pos: int = 0
    things: Mapping[int, Met] = {}
    words: Mapping[int, int] = {}
    kinds: frozenset[int] = frozenset()
    waits: Pace = Pace()
    histogram: tuple[int, ...] = (0,) * _BINS
    moves: Pace = Pace()
    run: int = 0


def log_minutes(seconds: float) -> float:
    """Return log(1 + minutes) of a wait, 0 for one that goes back in time.

    >>> log_minutes(-5.0), round(log_minutes(60.0), 3)
    (0.0, 0.693)
    """
    return math.log1p(max(0.0, seconds) / 60.0)


def bin_of(wait: float) -> int:
    """Return the place of a wait in the histogram."""
    return min(_BINS - 1, int(wait * 4.0))


def framed(frame: StepFrame, step: ToldStep) -> StepFrame:
    """Return the frame with one more step."""
    things = dict(frame.things)
    for thing in sorted(step.things):  # in an order that survives packing
        things[thing] = things.pop(thing, 0) + 1
    _decay(things, FRAME_THINGS)
    known = (
        frame.terms
        if step.terms <= frame.terms or len(frame.terms) >= FRAME_WORDS
        else frame.terms | step.terms
    )
    return StepFrame(
        frame.size + 1,
        step.at if frame.start is None else frame.start,
        things,
        known,
        frame.actions
        if step.action in frame.actions or len(frame.actions) >= KINDS
        else frame.actions | {step.action},
        frame.first if len(frame.first) >= 3 else (*frame.first, step.action),
        frame.places if not step.place or len(frame.places) >= KINDS else frame.places | {step.place},
    )


def learnt(baseline: StepBaseline, before: ToldStep | None, step: ToldStep) -> StepBaseline:
    """Return the habits after one more step; `before` is the one settled before it."""
    things, numbers = dict(baseline.things), dict(baseline.words)
    for thing in sorted(step.things):  # in an order that survives packing
        met = things.pop(thing, None)
        things[thing] = Met(baseline.pos, 1 if met is None else met.times + 1, step.at)
    for term in sorted(step.terms):
        numbers[term] = numbers.pop(term, 0) + 1
    _decay(things, THINGS)
    _decay(numbers, WORDS)
    waits, histogram, moves, run = baseline.waits, baseline.histogram, baseline.moves, 0
    if before is not None:
        run = baseline.run + 1 if before.things == step.things else 0
        if before.at is not None and step.at is not None:
            wait = log_minutes(step.at - before.at)
            waits, at = waits.add(wait), bin_of(wait)
            histogram = (*histogram[:at], histogram[at] + 1, *histogram[at + 1 :])
        if before.place and step.place:
            moves = moves.add(float(before.place != step.place))
    kinds = baseline.kinds
    kinds = kinds if step.action in kinds or len(kinds) >= KINDS else kinds | {step.action}
    return StepBaseline(baseline.pos + 1, things, numbers, kinds, waits, histogram, moves, run)


def _decay(known: dict[int, object] | dict[int, int] | dict[int, Met], most: int) -> None:
    while len(known) > most:
        del known[next(iter(known))]


def walked(steps: Iterable[ToldStep]) -> StepFrame:
    """Return the frame of some steps."""
    frame = StepFrame()
    for step in steps:
        frame = framed(frame, step)
    return frame

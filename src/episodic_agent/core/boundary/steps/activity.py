"""What the learned default keeps of told steps beside the rules' memory, and how it is packed without loss.

`left` are settled steps, each in the frame it belongs to; `right` those whose gap still waits for its
hindsight, with what the rules had recorded of them.

**What is asked for** is half the F1 that a thread's own probabilities promise. To gain F1, cut a gap whose
probability is over half the best F1 there is to be had: where the network is sure of everything (F1 near 1)
that is .5, where it hardly tells (F1 .3) one in seven is worth a cut. How well it tells is a matter of the
thread, and its own probabilities say it, if they are right on the whole.
"""

import math
from base64 import b64decode, b64encode
from collections.abc import Sequence
from typing import Any, Final, NamedTuple

import numpy as np

from episodic_agent.core.boundary.contract import Record
from episodic_agent.core.boundary.conversation.cues import BaselineCues
from episodic_agent.core.boundary.steps.baseline import (
    RECENT,
    Met,
    Pace,
    StepBaseline,
    StepFrame,
    framed,
    learnt,
    walked,
)
from episodic_agent.core.boundary.steps.cues import NAMES
from episodic_agent.core.boundary.steps.reduced import (
    ToldStep,
    pack_hashes,
    pack_step,
    unpack_hashes,
    unpack_step,
)
from episodic_agent.schemas import Json

BINS: Final = 32  # of the root of the probability
_PRIOR: Final = 10.0  # gaps that the training material counts for
_WINDOW: Final = 800  # gaps of the thread; with so many, all count half
_LEAST: Final = 0.1
_FEW, _MANY = 0.03, 0.25  # shares of gaps that are cut at least and at most, as far as can be told
_EVERY: Final = 8


class Promise(NamedTuple):
    """How many gaps of a thread had which probability, and what is asked for since it was last asked."""

    counts: tuple[float, ...] = (0.0,) * BINS
    seen: int = 0
    asked: float = 0.0

    def asking(self, prior: Sequence[float]) -> "Promise":
        """Return the promise with what to ask of the next gap; now and then is often enough to ask anew."""
        return self if self.asked and self.seen % _EVERY else self._replace(asked=asked(self.counts, prior))

    def add(self, probability: float) -> "Promise":
        """Return the promise with one more gap.

        >>> Promise().add(0.97).counts[-1], Promise().add(1.0).seen
        (1.0, 1)
        """
        at, values, seen = bin_of(probability), self.counts, self.seen
        if seen >= _WINDOW:
            values, seen = tuple([round(one / 2.0, 3) for one in values]), _WINDOW // 2
        return Promise((*values[:at], values[at] + 1.0, *values[at + 1 :]), seen + 1, self.asked)


def asked(counts: Sequence[float], prior: Sequence[float]) -> float:
    """Return the probability to ask for; `prior` is the share of the training's gaps in each bin.

    >>> sure, unsure = [0.0] * BINS, [0.0] * BINS
    >>> sure[bin_of(0.01)] = unsure[bin_of(0.05)] = 0.9
    >>> sure[bin_of(0.95)] = unsure[bin_of(0.3)] = 0.1
    >>> asked((0.0,) * BINS, sure), asked((0.0,) * BINS, unsure)
    (0.4662, 0.1667)
    """
    mixed = [count + _PRIOR * share for count, share in zip(counts, prior, strict=True)]
    expected = [count * middle for count, middle in zip(mixed, _MIDDLES, strict=True)]
    gaps, total, cut, hit, best = sum(mixed), sum(expected), 0.0, 0.0, 0.0
    fewest = most = 0.0
    for at in range(BINS - 1, -1, -1):
        before, cut, hit = cut, cut + mixed[at], hit + expected[at]
        best = max(best, 2.0 * hit / (cut + total))
        if not fewest and cut >= _FEW * gaps:
            fewest = _within(at, before, cut, _FEW * gaps)
        if not most and cut >= _MANY * gaps:
            most = _within(at, before, cut, _MANY * gaps)
    return round(max(_LEAST, min(fewest, max(most, best / 2.0))), 4)


def _within(at: int, before: float, cut: float, value: float) -> float:
    """Return the probability inside a bin over which so many gaps lie."""
    low, high = (at / BINS) ** 2, ((at + 1) / BINS) ** 2
    return high - (high - low) * (value - before) / (cut - before)


def bin_of(probability: float) -> int:
    """Return the bin of a probability; those of small ones are narrow.

    >>> bin_of(0.0), bin_of(0.04), bin_of(1.0) == BINS - 1
    (0, 6, True)
    """
    return min(BINS - 1, int(math.sqrt(probability) * BINS))


_MIDDLES: Final = tuple((at**2 + (at + 1) ** 2) / (2 * BINS**2) for at in range(BINS))


class StepActivity(NamedTuple):
    """The told steps of a thread: its open frame, what it taught, and the gaps that wait."""

    baseline: BaselineCues = BaselineCues(np.zeros(len(NAMES), np.float32))
    frame: StepFrame = StepFrame()
    step_baseline: StepBaseline = StepBaseline()
    left: tuple[ToldStep, ...] = ()
    right: tuple[ToldStep, ...] = ()
    records: tuple[Record, ...] = ()
    promise: Promise = Promise()


def settled(activity: StepActivity) -> StepActivity:
    """Return the activity with its oldest waiting step in the open frame."""
    step, before = activity.right[0], activity.left[-1] if activity.left else None
    return activity._replace(
        frame=framed(activity.frame, step),
        step_baseline=learnt(activity.step_baseline, before, step),
        left=(*activity.left[1 - RECENT :], step),
        right=activity.right[1:],
        records=activity.records[1:],
    )


def reopened(activity: StepActivity, before_seq: int) -> StepActivity:
    """Return the activity of a frame that begins at `before_seq`: what waits before it is settled uncut."""
    while activity.right and activity.right[0].seq < before_seq:
        activity = settled(activity)
    return activity._replace(frame=walked(one for one in activity.left if one.seq >= before_seq))


def pack_activity(activity: StepActivity) -> Json:
    """Return the activity as plain JSON; numbers were rounded when they were made."""
    usual, frame, baseline = activity.baseline, activity.frame, activity.step_baseline
    return {
        "usual": [usual.seen, b64encode(usual.means.astype(np.float16).tobytes()).decode()],
        "frame": [
            frame.size,
            frame.start,
            [pack_hashes(frame.things), list(frame.things.values())],
            pack_hashes(sorted(frame.terms)),
            pack_hashes(sorted(frame.actions)),
            pack_hashes(frame.first),
            pack_hashes(sorted(frame.places)),
        ],
        "habits": [
            baseline.pos,
            [pack_hashes(baseline.things), [list(met) for met in baseline.things.values()]],
            [pack_hashes(baseline.words), list(baseline.words.values())],
            pack_hashes(sorted(baseline.kinds)),
            list(baseline.waits),
            list(baseline.histogram),
            list(baseline.moves),
            baseline.run,
        ],
        "left": [pack_step(one) for one in activity.left],
        "right": [pack_step(one) for one in activity.right],
        "records": [
            [one.seq, one.action, one.probability, one.threshold, one.surprise, dict(one.cues)]
            for one in activity.records
        ],
        "promise": [list(activity.promise.counts), *activity.promise[1:]],
    }


def unpack_activity(packed: Any) -> StepActivity:
    """Rebuild an activity; raises KeyError, TypeError or ValueError for what `pack_activity` did not make."""
    seen, means = packed["usual"]
    baseline = BaselineCues(np.frombuffer(b64decode(means), np.float16).astype(np.float32), seen, seen)
    if baseline.means.size != len(NAMES):
        raise ValueError(f"{baseline.means.size} means of {len(NAMES)} cues")
    counts, *promised = packed["promise"]
    return StepActivity(
        baseline,
        _unpack_frame(packed["frame"]),
        _unpack_baseline(packed["habits"]),
        tuple(map(unpack_step, packed["left"])),
        tuple(map(unpack_step, packed["right"])),
        tuple(Record(*one) for one in packed["records"]),
        Promise(tuple(counts), *promised),
    )


def _unpack_frame(packed: Any) -> StepFrame:
    size, start, things, terms, actions, first, places = packed
    return StepFrame(
        size,
        start,
        _unpack_table(things),
        frozenset(unpack_hashes(terms)),
        frozenset(unpack_hashes(actions)),
        tuple(unpack_hashes(first)),
        frozenset(unpack_hashes(places)),
    )


def _unpack_baseline(packed: Any) -> StepBaseline:
    pos, things, words, kinds, waits, histogram, moves, run = packed
    return StepBaseline(
        pos,
        {thing: Met(*met) for thing, met in _unpack_table(things).items()},
        _unpack_table(words),
        frozenset(unpack_hashes(kinds)),
        Pace(*waits),
        tuple(histogram),
        Pace(*moves),
        run,
    )


def _unpack_table(packed: Any) -> dict[int, Any]:
    """Return the values by hash, in the order they were packed."""
    hashes, values = packed
    return dict(zip(unpack_hashes(hashes), values, strict=True))

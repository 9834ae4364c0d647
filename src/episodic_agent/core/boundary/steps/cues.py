"""What speaks for the end of an activity between two told steps: cues for the network, a number each.

Left of the gap stands the open frame (and the four steps before the gap), right of it the steps that came
since. No cue reads a word for what it means: they ask whether things, words, actions and places come back,
how rare they are in this thread, and how long was waited. Numbers are small, most of them in [0, 1]; the
network holds each against its own mean in the thread as well.

**Waits.** A network that learnt from few sensors does not know by itself that more silence is more evidence:
at some hours it may say less than at some minutes. So a gap after a pause gets the highest log-odds that any
wait up to its own would have given it, everything else being the same (`as_if`, `most_up_to`). That never
falls as the wait grows.
"""

import math
from collections.abc import Mapping, Sequence
from itertools import accumulate
from typing import Final

import numpy as np
from numpy.typing import NDArray

from episodic_agent.core.boundary.steps.baseline import Met, StepBaseline, StepFrame, bin_of, log_minutes
from episodic_agent.core.boundary.steps.reduced import ToldStep

LEFT: Final = 4  # steps before the gap that are looked at one by one
DELAY: Final = 2  # steps after the one behind the gap: its hindsight
_MISSING: Final = ToldStep(
    -1, None, 0, 0, frozenset(), frozenset()
)  # what has not come by the time of a drain
NEVER: Final = 0.5  # what is said of things where a step has none

WAIT_PRIOR: Final = 0.3, 0.6  # mean and spread of log-minutes that a thread is taken to wait at first
RAMPS: Final = tuple((one, 1.0 / (0.5 * one + 0.05)) for one in (0.05, 0.2, 0.5, 1.0, 2.0, 3.0, 4.0))

PLACE: Final = (
    "moved", "moved, confirmed", "moved, back", "place new in frame", "placed", "moves", "moved before",
)  # fmt: skip
TIME: Final = (
    "timed", "wait", *(f"wait > {one}" for one, _ in RAMPS), "wait after", "wait over wait after",
    "frame minutes", "since R0",
)  # fmt: skip
FORESEEN: Final = (  # what the thread taught to expect, and what came instead
    "wait z", "wait tail", "rare R0", "rare L1", "met R0", "met R1", "never R0", "never R1",
)  # fmt: skip
THINGS: Final = (
    "things in frame R0", "things in frame R1", "things in frame R2", "things in L1 R0", "things in L1 R1",
    "recent R0", "recent R1", "recent R2", "often in frame R0", "R0 in R1", "R0 in R2", "things across",
    "R0 is L1", "run",
)  # fmt: skip
ACTIONS: Final = (
    "same action", "action in frame", "R0 first again", "R1 second again", "R2 third again", "kinds",
)  # fmt: skip
WORDS: Final = (
    "words L1 R0", "unseen R0", "unseen R1", "unseen R2", "words R0 R1", "words L1 R1", "words across",
    "known across",
)  # fmt: skip
LENGTH: Final = ("size", "one", "two", "three", "four")
NAMES: Final = (*PLACE, *TIME, *FORESEEN, *THINGS, *ACTIONS, *WORDS, *LENGTH)


def gap_cues(
    frame: StepFrame, baseline: StepBaseline, left: Sequence[ToldStep], right: Sequence[ToldStep]
) -> list[float]:
    """Return all cues of the gap between `left` (settled, newest last) and `right`, as NAMES.

    Right are the step behind the gap and up to DELAY more.

    >>> from episodic_agent.core.boundary.steps.baseline import learnt, walked
    >>> mug, pan = (ToldStep(0, None, 0, 1, frozenset({n}), frozenset({n})) for n in (7, 8))
    >>> found = gap_cues(walked([mug]), learnt(StepBaseline(), None, mug), [mug], [pan, pan])
    >>> dict(zip(NAMES, found, strict=True))["things in frame R0"], len(found) == len(NAMES)
    (0.0, True)
    """
    before = left[-1]
    if len(right) <= DELAY:
        right = (*right, *(_MISSING,) * (DELAY + 1 - len(right)))
    values = _place(frame, baseline, left, right)
    values += _time(frame, baseline, before, right)
    values += _foreseen(baseline, before, right)
    values += _things(frame, baseline, left, right)
    values += _actions(frame, baseline, before, right)
    values += _words(frame, baseline, left, right)
    size = frame.size
    values += (math.log1p(size), size == 1, size == 2, size == 3, size == 4)
    return values


def _place(
    frame: StepFrame, baseline: StepBaseline, left: Sequence[ToldStep], right: Sequence[ToldStep]
) -> list[float]:
    here, there, then = left[-1].place, right[0].place, right[1].place
    known = here != 0 and there != 0
    moved = known and here != there
    earlier = left[-2].place if len(left) > 1 else 0
    return [
        moved,
        moved and then == there,
        moved and then == here,
        known and there not in frame.places,
        known,
        baseline.moves.mean,
        bool(earlier) and bool(here) and earlier != here,
    ]


def _time(
    frame: StepFrame, baseline: StepBaseline, before: ToldStep, right: Sequence[ToldStep]
) -> list[float]:
    first, second = right[0].at, right[1].at
    if before.at is None or first is None:
        return [0.0] * len(TIME)
    wait = log_minutes(first - before.at)
    after = log_minutes(second - first) if second is not None else 0.0
    frame_time = log_minutes(before.at - frame.start) if frame.start is not None else 0.0
    met = [baseline.things[thing] for thing in right[0].things if thing in baseline.things]
    since = min([log_minutes(first - one.at) for one in met if one.at is not None], default=0.0)
    ramps = [max(0.0, min(1.0, (wait - low) * slope)) for low, slope in RAMPS]
    return [1.0, wait, *ramps, after, wait - after, frame_time, since]


def _foreseen(baseline: StepBaseline, before: ToldStep, right: Sequence[ToldStep]) -> list[float]:
    z = tail = 0.0
    if before.at is not None and right[0].at is not None:
        wait = log_minutes(right[0].at - before.at)
        z = baseline.waits.z(wait, *WAIT_PRIOR)
        answers = baseline.histogram
        tail = -math.log((sum(answers[bin_of(wait) :]) + 1.0) / (sum(answers) + 2.0))
    things, numbers = baseline.things, baseline.words
    return [
        z,
        tail,
        _rare(things, right[0], baseline.pos),
        _rare(things, before, baseline.pos),
        _share(right[0].things, things),
        _share(right[1].things, things),
        _unknown(right[0].terms, numbers),
        _unknown(right[1].terms, numbers),
    ]


def _things(
    frame: StepFrame, baseline: StepBaseline, left: Sequence[ToldStep], right: Sequence[ToldStep]
) -> list[float]:
    near, (first, second, third) = left[-1].things, (one.things for one in right)
    inside, known, pos = frame.things, baseline.things, baseline.pos
    earlier = frozenset().union(*[one.things for one in left[-LEFT:]])
    later = first | second | third
    return [
        _share(first, inside),
        _share(second, inside),
        _share(third, inside),
        _overlap(first, near),
        _overlap(second, near),
        _recent(first, known, pos),
        _recent(second, known, pos),
        _recent(third, known, pos),
        math.log1p(max([inside.get(thing, 0) for thing in first], default=0)),
        _overlap(second, first),
        _overlap(third, first),
        len(earlier & later) / max(1, len(earlier | later)),
        bool(first) and first == near,
        math.log1p(baseline.run),
    ]


def _actions(
    frame: StepFrame, baseline: StepBaseline, before: ToldStep, right: Sequence[ToldStep]
) -> list[float]:
    first, begun = right[0].action, frame.first
    return [
        first == before.action,
        first in frame.actions,
        bool(begun) and first == begun[0],
        len(begun) > 1 and right[1].action == begun[1],
        len(begun) > 2 and right[2].action == begun[2],
        math.log1p(len(baseline.kinds)),
    ]


def _words(
    frame: StepFrame, baseline: StepBaseline, left: Sequence[ToldStep], right: Sequence[ToldStep]
) -> list[float]:
    near, (first, second, third) = left[-1].terms, (one.terms for one in right)
    earlier = frozenset().union(*[one.terms for one in left[-LEFT:]])
    later = first | second | third
    return [
        _alike(near, first),
        _outside(first, frame.terms),
        _outside(second, frame.terms),
        _outside(third, frame.terms),
        _alike(first, second),
        _alike(near, second),
        _alike(earlier, later),
        _weighed(later, frame.terms, baseline),
    ]


def _weighed(later: frozenset[int], inside: frozenset[int], baseline: StepBaseline) -> float:
    """Return the share of the words to come that the frame has, rare words weighing more."""
    numbers = baseline.words
    total = math.fsum([1.0 / (1 + numbers.get(term, 0)) for term in later])  # exact, so in any order
    return (
        math.fsum([1.0 / (1 + numbers.get(term, 0)) for term in later & inside]) / total if later else NEVER
    )


def _share(things: frozenset[int], known: Mapping[int, object]) -> float:
    return len(things & known.keys()) / len(things) if things else NEVER


def _overlap(things: frozenset[int], others: frozenset[int]) -> float:
    return len(things & others) / len(things) if things else NEVER


def _recent(things: frozenset[int], known: Mapping[int, Met], pos: int) -> float:
    if not things:
        return NEVER
    return sum([thing in known and pos - known[thing].pos <= 12 for thing in things]) / len(things)


def _rare(known: Mapping[int, Met], step: ToldStep, pos: int) -> float:
    """Return minus the log of the share of a step's commonest thing in the thread; -3 for a step of none."""
    if not step.things:
        return -3.0
    often = max([known[thing].times if thing in known else 0 for thing in step.things])
    return -math.log((often + 0.5) / (pos + 1.0))


def _unknown(terms: frozenset[int], known: Mapping[int, int]) -> float:
    return 1.0 - len(terms & known.keys()) / len(terms) if terms else NEVER


def _outside(terms: frozenset[int], frame: frozenset[int]) -> float:
    return len(terms - frame) / len(terms) if terms else NEVER


def _alike(terms: frozenset[int], others: frozenset[int]) -> float:
    return len(terms & others) / math.sqrt(len(terms) * len(others)) if terms and others else 0.0


# --- the same gap after other waits --------------------------------------------------------------------

PACE: Final = 60.0  # seconds; up to here a wait is how long an act takes, and the network judges it as it is
PAUSE: Final = 900.0  # seconds; from here on a wait is a pause, whatever place the next step seems to be in
# Seconds: nothing, then two to each doubling up to more than a day. Fewer than sixteen sensors' steps of a
# minute would fall between, and more cost more than they tell.
_WAITS: Final = (0.0, *sorted((PAUSE, *(2.0 ** (half / 2) for half in range(34)))))
_LOGGED: Final = np.array([log_minutes(wait) for wait in _WAITS])
_BINNED: Final = np.array([bin_of(wait) for wait in _LOGGED.tolist()])
_RAMPED: Final = np.clip(
    (_LOGGED[:, None] - [low for low, _ in RAMPS]) * [slope for _, slope in RAMPS], 0.0, 1.0
)
_WAIT, _OVER, _SINCE, _Z, _TAIL = map(
    NAMES.index, ("wait", "wait over wait after", "since R0", "wait z", "wait tail")
)
_FIRST_PAUSE: Final = _WAITS.index(PAUSE)


def wait_before(before: ToldStep, step: ToldStep) -> float | None:
    """Return the seconds between two steps whose times were given, 0 for time that goes back; else None."""
    return None if before.at is None or step.at is None else max(0.0, step.at - before.at)


def as_if(
    cues: NDArray[np.float64], baseline: StepBaseline, before: ToldStep, right: Sequence[ToldStep]
) -> NDArray[np.float64]:
    """Return the cues of the gap before `right[0]` for each wait there might have been, (waits, cues).

    `cues` are those with the wait there was; both steps at the gap must have times.
    """
    rows = np.tile(cues, (len(_WAITS), 1))
    rows[:, _WAIT] = _LOGGED
    rows[:, _WAIT + 1 : _WAIT + 1 + len(RAMPS)] = _RAMPED
    # what came after the step stays as far from it
    rows[:, _OVER] = _LOGGED + (cues[_OVER] - cues[_WAIT])
    met = [baseline.things[thing].at for thing in right[0].things if thing in baseline.things]
    times = [at for at in met if at is not None]
    if times and before.at is not None:
        rows[:, _SINCE] = [log_minutes(before.at - max(times) + wait) for wait in _WAITS]
    rows[:, _Z] = [baseline.waits.z(wait, *WAIT_PRIOR) for wait in _LOGGED.tolist()]
    longer = np.array([*accumulate(reversed(baseline.histogram))])[::-1]
    rows[:, _TAIL] = -np.log((longer[_BINNED] + 1.0) / (longer[0] + 2.0))
    return rows.round(3)


def most_up_to(logits: NDArray[np.float64], wait: float, *, pauses: bool = False) -> float | None:
    """Return the highest log-odds of all waits up to `wait`; None for no pause where only `pauses` count.

    Between two waits that were judged it rises evenly.

    >>> falling = np.linspace(1.0, 0.0, len(_WAITS))
    >>> most_up_to(falling, 0.0), most_up_to(falling, 40.0), most_up_to(-falling, 1e6)
    (1.0, 1.0, -0.0)
    >>> most_up_to(falling, 60.0, pauses=True) is None
    True
    """
    first = _FIRST_PAUSE if pauses else 0
    if wait < _WAITS[first]:
        return None
    most = np.maximum.accumulate(logits[first:])
    return float(np.interp(log_minutes(wait), _LOGGED[first:], most))

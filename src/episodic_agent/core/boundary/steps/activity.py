"""What the learned default keeps of told steps beside the rules' memory, and how it is packed without loss.

`left` are settled steps, each in the frame it belongs to; `right` those whose gap still waits for its
hindsight, with what the rules had recorded of them.
"""

from base64 import b64decode, b64encode
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, cast

import numpy as np

from episodic_agent.core.boundary.contract import Record
from episodic_agent.core.boundary.conversation.cues.baseline import BaselineCues
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
from episodic_agent.core.boundary.steps.probability import Promise
from episodic_agent.core.boundary.steps.reduced import (
    ToldStep,
    pack_hashes,
    pack_step,
    unpack_hashes,
    unpack_step,
)
from episodic_agent.schemas import Json


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


def unpack_activity(packed: Json) -> StepActivity:
    """Rebuild an activity; raises KeyError, TypeError or ValueError for what `pack_activity` did not make."""
    body = cast(Mapping[str, Json], packed)
    seen, means = cast("tuple[float, str]", body["usual"])
    baseline = BaselineCues(np.frombuffer(b64decode(means), np.float16).astype(np.float32), seen, seen)
    if baseline.means.size != len(NAMES):
        raise ValueError(f"{baseline.means.size} means of {len(NAMES)} cues")
    return StepActivity(
        baseline,
        _unpack_frame(body["frame"]),
        _unpack_baseline(body["habits"]),
        tuple(map(unpack_step, cast(Sequence[Json], body["left"]))),
        tuple(map(unpack_step, cast(Sequence[Json], body["right"]))),
        tuple(Record(*one) for one in cast("Sequence[Sequence[Any]]", body["records"])),
        _unpack_promise(body["promise"]),
    )


def _unpack_promise(packed: Json) -> Promise:
    counts, seen, asked = cast(Sequence[Json], packed)
    return Promise(tuple(cast("Sequence[float]", counts)), cast(int, seen), cast(float, asked))


def _unpack_frame(packed: Json) -> StepFrame:
    size, start, things, terms, actions, first, places = cast(Sequence[Json], packed)
    return StepFrame(
        cast(int, size),
        cast("float | None", start),
        _unpack_table(things),
        frozenset(unpack_hashes(terms)),
        frozenset(unpack_hashes(actions)),
        tuple(unpack_hashes(first)),
        frozenset(unpack_hashes(places)),
    )


def _unpack_baseline(packed: Json) -> StepBaseline:
    pos, things, words, kinds, waits, histogram, moves, run = cast(Sequence[Json], packed)
    met = _unpack_table(things)
    return StepBaseline(
        cast(int, pos),
        {thing: Met(*one) for thing, one in met.items()},
        _unpack_table(words),
        frozenset(unpack_hashes(kinds)),
        Pace(*cast("Sequence[float]", waits)),
        tuple(cast("Sequence[int]", histogram)),
        Pace(*cast("Sequence[float]", moves)),
        cast(int, run),
    )


def _unpack_table(packed: Json) -> dict[int, Any]:
    """Return the values by hash, in the order they were packed."""
    hashes, values = cast(Sequence[Json], packed)
    return dict(zip(unpack_hashes(hashes), cast(Sequence[Any], values), strict=True))

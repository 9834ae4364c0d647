"""What the learned default keeps of told steps beside the rules' memory, and how it is packed without loss.

`left` are settled steps, each in the frame it belongs to; `right` those whose gap still waits for its
hindsight, with what the rules had recorded of them.
"""

from base64 import b64decode, b64encode
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, cast

import numpy as np

from episodic_agent.core.boundary.contract import Record
from episodic_agent.core.boundary.cues.usual import Usual
from episodic_agent.core.boundary.steps.cues import NAMES
from episodic_agent.core.boundary.steps.habits import (
    RECENT,
    Frame,
    Habits,
    Met,
    Pace,
    framed,
    learnt,
    walked,
)
from episodic_agent.core.boundary.steps.odds import Promise
from episodic_agent.core.boundary.steps.told import Told, pack_hashes, pack_told, unpack_hashes, unpack_told
from episodic_agent.schemas import Json


class Activity(NamedTuple):
    """The told steps of a thread: its open frame, what it taught, and the gaps that wait."""

    usual: Usual = Usual(np.zeros(len(NAMES), np.float32))
    frame: Frame = Frame()
    habits: Habits = Habits()
    left: tuple[Told, ...] = ()
    right: tuple[Told, ...] = ()
    records: tuple[Record, ...] = ()
    promise: Promise = Promise()


def settled(activity: Activity) -> Activity:
    """Return the activity with its oldest waiting step in the open frame."""
    step, before = activity.right[0], activity.left[-1] if activity.left else None
    return activity._replace(
        frame=framed(activity.frame, step),
        habits=learnt(activity.habits, before, step),
        left=(*activity.left[1 - RECENT :], step),
        right=activity.right[1:],
        records=activity.records[1:],
    )


def reopened(activity: Activity, before_seq: int) -> Activity:
    """Return the activity of a frame that begins at `before_seq`: what waits before it is settled uncut."""
    while activity.right and activity.right[0].seq < before_seq:
        activity = settled(activity)
    return activity._replace(frame=walked(one for one in activity.left if one.seq >= before_seq))


def pack_activity(activity: Activity) -> Json:
    """Return the activity as plain JSON; numbers were rounded when they were made."""
    usual, frame, habits = activity.usual, activity.frame, activity.habits
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
            habits.pos,
            [pack_hashes(habits.things), [list(met) for met in habits.things.values()]],
            [pack_hashes(habits.words), list(habits.words.values())],
            pack_hashes(sorted(habits.kinds)),
            list(habits.waits),
            list(habits.histogram),
            list(habits.moves),
            habits.run,
        ],
        "left": [pack_told(one) for one in activity.left],
        "right": [pack_told(one) for one in activity.right],
        "records": [
            [one.seq, one.action, one.probability, one.threshold, one.surprise, dict(one.cues)]
            for one in activity.records
        ],
        "promise": [list(activity.promise.counts), *activity.promise[1:]],
    }


def unpack_activity(packed: Json) -> Activity:
    """Rebuild an activity; raises KeyError, TypeError or ValueError for what `pack_activity` did not make."""
    body = cast(Mapping[str, Json], packed)
    seen, means = cast("tuple[float, str]", body["usual"])
    usual = Usual(np.frombuffer(b64decode(means), np.float16).astype(np.float32), seen, seen)
    if usual.means.size != len(NAMES):
        raise ValueError(f"{usual.means.size} means of {len(NAMES)} cues")
    return Activity(
        usual,
        _unpack_frame(body["frame"]),
        _unpack_habits(body["habits"]),
        tuple(map(unpack_told, cast(Sequence[Json], body["left"]))),
        tuple(map(unpack_told, cast(Sequence[Json], body["right"]))),
        tuple(Record(*one) for one in cast("Sequence[Sequence[Any]]", body["records"])),
        _unpack_promise(body["promise"]),
    )


def _unpack_promise(packed: Json) -> Promise:
    counts, seen, asked = cast(Sequence[Json], packed)
    return Promise(tuple(cast("Sequence[float]", counts)), cast(int, seen), cast(float, asked))


def _unpack_frame(packed: Json) -> Frame:
    size, start, things, terms, actions, first, places = cast(Sequence[Json], packed)
    return Frame(
        cast(int, size),
        cast("float | None", start),
        _unpack_table(things),
        frozenset(unpack_hashes(terms)),
        frozenset(unpack_hashes(actions)),
        tuple(unpack_hashes(first)),
        frozenset(unpack_hashes(places)),
    )


def _unpack_habits(packed: Json) -> Habits:
    pos, things, words, kinds, waits, histogram, moves, run = cast(Sequence[Json], packed)
    met = _unpack_table(things)
    return Habits(
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

"""What the `default` policy remembers between two messages: small, immutable, and the same after packing.

Units whose gap is undecided are `pending`; decided ones are absorbed into the frame's running event model
(a content-weighted sum of vectors, the places where terms were last seen) and the newest stay in `settled`.
"""

import base64
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import lru_cache
from itertools import islice
from typing import Final, NamedTuple, TypeAlias, cast
from zlib import crc32

import numpy as np

from episodic_agent.core.boundary.contract import Arrival
from episodic_agent.core.boundary.conversation.cues import MOST_COUNTED, BaselineCues, compact, smoothed
from episodic_agent.core.boundary.conversation.speech import Speech, speech
from episodic_agent.schemas import Json, Vector

LEFT: Final = 5  # settled units kept for windows and depths; with two pending ones pack stays under 16 kB
_RESTED: Final = 10  # messages that a thread counts as after a long silence, if it had more
_VOCABULARY: Final = 256  # content terms remembered, newest first
_ACTORS: Final = 6
_CUES: Final = 160  # room for all cues of `cues.gap`, which imports this module
ROLES: Final = {  # names that say what somebody is; all others are alike
    "user": 1, "human": 1, "customer": 1, "client": 1, "用户": 1, "客户": 1,
    "assistant": 2, "agent": 2, "system": 2, "bot": 2, "model": 2, "ai": 2, "客服": 2, "tool": 2,
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class MessageUnit:
    """One message as the cues need it; `at` is seconds since 1970 or None where the time is not given.

    `bag` (its terms as a set) and `share` (its vector as it enters a blend) follow from the rest and are not
    packed: a unit takes part in five judgements.
    """

    seq: int
    at: float | None
    actor: int
    role: int
    vector: Vector | None
    terms: tuple[int, ...]
    speech: Speech
    reaction: float
    bag: frozenset[int] = field(init=False, repr=False, compare=False)
    share: Vector | None = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        vector = self.vector
        part = None if vector is None else vector * np.float32(0.05 + self.speech.content)
        object.__setattr__(self, "bag", frozenset(self.terms))
        object.__setattr__(self, "share", part)


class RunningMean(NamedTuple):
    """A mean and variance that forget: the newest of about fifty values count most."""

    seen: float = 0.0
    mean: float = 0.0
    variance: float = 0.0

    def add(self, value: float) -> "RunningMean":
        """Return the statistics with one more value.

        >>> RunningMean().add(2.0).add(4.0).mean
        3.0
        """
        seen, mean, variance = self
        seen = seen + 1.0 if seen < 49.0 else 50.0
        step = value - mean
        mean += step / seen
        variance += (step * (value - mean) - variance) / seen
        return RunningMean(seen, round(mean, 6), round(variance, 6))

    def z(self, value: float, mean: float, sd: float, trust: float = 6.0) -> float:
        """Return the z-score of a value; a prior (mean, sd) counts like `trust` values.

        >>> RunningMean().z(1.0, 0.0, 0.5), RunningMean(50.0, 1.0, 0.25).z(1.0, 0.0, 0.5) < 0.3
        (2.0, True)
        """
        share = self.seen / (self.seen + trust)
        middle = share * self.mean + (1.0 - share) * mean
        spread = math.sqrt(share * self.variance + (1.0 - share) * sd * sd)
        return round(min(4.0, max(-4.0, (value - middle) / max(spread, 1e-3))), 3)


GapBaseline: TypeAlias = tuple[tuple[RunningMean, ...], BaselineCues, float]
_FRESH: Final = (RunningMean(),) * 7
_NOTHING: Final = BaselineCues(np.zeros(_CUES, np.float32))
ADJACENT, TO_FRAME, UNSEEN, LENGTH, SILENCE, ACKS, COSINE = range(7)


@dataclass(frozen=True, slots=True)
class ConversationMemory:
    """The state of one thread: its undecided tail, its open frame and its habits.

    `probabilities` and `surprises` hold one number for every settled unit of the open frame: the probability
    that
    a boundary lies before it (0 for the first) and its surprise. `expected` is the sum of the probabilities
    so far (`cues.py`). `asked` is the id of the question that is open, if one is: about the gap before
    the oldest pending unit.
    """

    settled: tuple[MessageUnit, ...] = ()
    pending: tuple[MessageUnit, ...] = ()
    position: int = 0
    first_seq: int = 0
    probabilities: tuple[float, ...] = ()
    surprises: tuple[float, ...] = ()
    frame_sum: Vector | None = None
    thread_sum: Vector | None = None
    content: float = 0.0
    answered: float = 0.5
    opener: int = 0
    last: Mapping[int, int] = field(default_factory=dict)
    counts: Mapping[int, int] = field(default_factory=dict)
    stats: tuple[RunningMean, ...] = _FRESH
    actors: tuple[int, ...] = ()
    baseline: BaselineCues = _NOTHING
    expected: float = 0.0
    asked: str = ""

    @property
    def size(self) -> int:
        """Count the settled units of the open frame."""
        return len(self.probabilities)

    @property
    def newest(self) -> MessageUnit | None:
        """Return the unit taken in last, None once everything was drained."""
        return self.pending[-1] if self.pending else self.settled[-1] if self.settled else None


def intake(arrival: Arrival) -> MessageUnit:
    """Return a message reduced to its cues. Blank text has no vector: all blanks would look alike."""
    seen = arrival.observation
    cues, reaction, terms = speech(seen.text)
    usable = arrival.vector is not None and bool(seen.text.strip())
    actor, role = _speaker(seen.actor)
    return MessageUnit(
        seq=seen.seq,
        at=_seconds(seen.at) if seen.at_source.has_clock else None,
        actor=actor,
        role=role,
        vector=compact(arrival.vector) if usable and arrival.vector is not None else None,
        terms=terms,
        speech=cues,
        reaction=reaction,
    )


@lru_cache(maxsize=1_024)
def _speaker(actor: str) -> tuple[int, int]:
    """Return a speaker's hash and role (1 user, 2 assistant, 0 neither)."""
    name = actor.strip().casefold()
    return crc32(name.encode("utf-8", "replace")), ROLES.get(name, 0)


def waiting(memory: ConversationMemory, unit: MessageUnit) -> ConversationMemory:
    """Return the memory with one more pending unit."""
    return ConversationMemory(  # spares the loop of `replace`
        memory.settled,
        (*memory.pending, unit),
        memory.position,
        memory.first_seq,
        memory.probabilities,
        memory.surprises,
        memory.frame_sum,
        memory.thread_sum,
        memory.content,
        memory.answered,
        memory.opener,
        memory.last,
        memory.counts,
        memory.stats,
        memory.actors,
        memory.baseline,
        memory.expected,
    )


def absorb(
    memory: ConversationMemory,
    unit: MessageUnit,
    probability: float,
    surprise: float,
    new: float,
    baseline: GapBaseline,
) -> ConversationMemory:
    """Return the memory with its oldest pending unit settled in the open frame, its words and vector learnt.

    `baseline` are the thread's after it.
    """
    position = memory.position
    last, counts = _learn(memory.last, memory.counts, unit.terms, position)
    frame, thread = memory.frame_sum, memory.thread_sum
    if unit.share is not None:
        frame = _add(frame, unit.share, 1.0)
        thread = _add(thread, unit.share, 0.98)
    return ConversationMemory(  # every field is new: half the time of `replace`
        settled=(*memory.settled, unit)[-LEFT:],
        pending=memory.pending[1:],
        position=position + 1,
        first_seq=memory.first_seq if memory.probabilities else unit.seq,
        probabilities=(*memory.probabilities, probability if memory.probabilities else 0.0),
        surprises=(*memory.surprises, surprise),
        frame_sum=frame,
        thread_sum=thread,
        content=round(memory.content + unit.speech.content, 3),
        answered=new if unit.speech.content > 0.3 else memory.answered,
        opener=memory.opener if memory.probabilities else unit.actor,
        last=last,
        counts=counts,
        stats=baseline[0],
        baseline=baseline[1],
        expected=baseline[2],
        actors=_met(memory.actors, unit.actor),
    )


def close(memory: ConversationMemory) -> ConversationMemory:
    """Return the memory after its open frame was closed: habits and vocabulary stay, the event model goes."""
    return replace(memory, probabilities=(), surprises=(), frame_sum=None, content=0.0, answered=0.5)


def rested(memory: ConversationMemory) -> ConversationMemory:
    """Return the memory after a long silence: how the thread goes stays, what it was about does not.

    Its words and its vector are gone. It counts as a thread of a few messages, of which so many boundaries
    were expected as its own rate makes: what comes is judged as a sitting, in a chat of years as well.
    """
    position = min(memory.position, _RESTED)
    rate = smoothed(position) / smoothed(memory.position) if memory.position else 0.0
    return ConversationMemory(
        position=position,
        stats=memory.stats,
        actors=memory.actors,
        baseline=memory.baseline,
        expected=round(memory.expected * rate, 4),
    )


def blend(units: Sequence[MessageUnit], size: int) -> Vector | None:
    """Return the content-weighted sum of the units' vectors of that size, None if there is none."""
    return next(reversed(blends(units, size)), None)


def blends(units: Sequence[MessageUnit], size: int) -> list[Vector | None]:
    """Return the `blend` of the first unit, of the first two, and so on."""
    total: Vector | None = None
    results: list[Vector | None] = []
    for unit in units:
        part = unit.share
        if part is not None and part.size == size:
            total = part if total is None else total + part
        results.append(total)
    return results


def _add(total: Vector | None, vector: Vector, keep: float) -> Vector:
    """Return a running sum with one more vector, rounded as packing will round it."""
    if total is not None and total.size == vector.size:
        vector = (total if keep == 1.0 else total * np.float32(keep)) + vector
    return vector.astype(np.float16).astype(np.float32)


def _learn(
    last: Mapping[int, int], counts: Mapping[int, int], terms: Sequence[int], position: int
) -> tuple[Mapping[int, int], Mapping[int, int]]:
    """Note where terms were last seen and in how many units; beyond the limit the oldest are forgotten."""
    if not terms:
        return last, counts
    places, numbers = dict(last), dict(counts)
    for term in places.keys() & terms:
        del places[term]  # a newly seen term moves to the end: the dict is ordered by last place
    places.update(dict.fromkeys(terms, position))
    for term in terms:
        known = numbers.get(term, 0)
        if known < MOST_COUNTED:
            numbers[term] = known + 1
    if len(places) > _VOCABULARY:
        for term in list(islice(places, len(places) - _VOCABULARY)):
            del places[term], numbers[term]
    return places, numbers


def _met(actors: tuple[int, ...], key: int) -> tuple[int, ...]:
    return actors if key in actors else (*actors, key)[-_ACTORS:]


def _seconds(at: datetime) -> float:
    return round(at.timestamp(), 3)


def pack_memory(memory: ConversationMemory) -> Json:
    """Return the memory as JSON; vectors as base64 of float16, which they are rounded to."""
    asked: dict[str, Json] = {"asked": memory.asked} if memory.asked else {}
    return asked | {
        "units": [_pack_unit(unit) for unit in (*memory.settled, *memory.pending)],
        "pending": len(memory.pending),
        "numbers": [memory.position, memory.first_seq, memory.opener],
        "floats": [memory.content, memory.answered, memory.expected],
        "odds": list(memory.probabilities),
        "surprises": list(memory.surprises),
        "frame": _pack_array(memory.frame_sum, np.float16),
        "thread": _pack_array(memory.thread_sum, np.float16),
        "terms": [
            _pack_array(np.array(list(memory.last)), np.uint16),
            _pack_array(memory.position - np.array(list(memory.last.values()), dtype=np.int64), np.uint32),
            _pack_array(np.array([memory.counts[term] for term in memory.last]), np.uint8),
        ],
        "stats": [list(one) for one in memory.stats],
        "actors": list(memory.actors),
        "usual": [
            memory.baseline.seen,
            memory.baseline.with_vectors,
            _pack_array(memory.baseline.means, np.float16),
        ],
    }


def unpack_memory(packed: Json) -> ConversationMemory:
    """Undo `pack_memory` exactly; a memory packed before habits were kept begins without them."""
    body = cast(Mapping[str, Json], packed)
    units = tuple(_unpack_unit(one) for one in cast(Sequence[Json], body["units"]))
    waiting = cast(int, body["pending"])
    position, first_seq, opener = cast(Sequence[int], body["numbers"])
    content, answered, *expected = cast(Sequence[float], body["floats"])
    keys, ages, numbers = [_unpack_array(one, kind) for one, kind in zip(
        cast(Sequence[Json], body["terms"]), (np.uint16, np.uint32, np.uint8), strict=True
    )]  # fmt: skip
    terms = [] if keys is None else [int(key) for key in keys]
    return ConversationMemory(
        settled=units[: len(units) - waiting],
        pending=units[len(units) - waiting :],
        position=position,
        first_seq=first_seq,
        probabilities=tuple(cast(Sequence[float], body["odds"])),
        surprises=tuple(cast(Sequence[float], body["surprises"])),
        frame_sum=_unpack_vector(body["frame"]),
        thread_sum=_unpack_vector(body["thread"]),
        content=content,
        answered=answered,
        opener=opener,
        last={} if ages is None else {t: position - int(a) for t, a in zip(terms, ages, strict=True)},
        counts={} if numbers is None else {t: int(n) for t, n in zip(terms, numbers, strict=True)},
        stats=tuple(RunningMean(*cast(Sequence[float], one)) for one in cast(Sequence[Json], body["stats"])),
        actors=tuple(cast(Sequence[int], body["actors"])),
        baseline=_unpack_baseline(cast(Sequence[Json], body.get("usual", (0.0, 0.0, None)))),
        expected=expected[0] if expected else smoothed(position),
        asked=cast(str, body.get("asked", "")),
    )


def _pack_unit(unit: MessageUnit) -> Json:
    return [
        unit.seq,
        unit.at,
        unit.actor,
        unit.role,
        _pack_array(unit.vector, np.float16),
        _pack_array(np.array(unit.terms), np.uint16),
        list(unit.speech),
        unit.reaction,
    ]


def _unpack_unit(packed: Json) -> MessageUnit:
    seq, at, actor, role, vector, terms, cues, reaction = cast(Sequence[Json], packed)
    hashes = _unpack_array(terms, np.uint16)
    return MessageUnit(
        seq=cast(int, seq),
        at=cast("float | None", at),
        actor=cast(int, actor),
        role=cast(int, role),
        vector=_unpack_vector(vector),
        terms=() if hashes is None else tuple(int(one) for one in hashes),
        speech=Speech(*cast(Sequence[float], cues)),
        reaction=cast(float, reaction),
    )


def _unpack_baseline(packed: Sequence[Json]) -> BaselineCues:
    seen, with_vectors, means = packed
    known = _unpack_vector(means)
    return _NOTHING if known is None else BaselineCues(known, cast(float, seen), cast(float, with_vectors))


def _unpack_vector(packed: Json) -> Vector | None:
    half = _unpack_array(packed, np.float16)
    return None if half is None else half.astype(np.float32)


def _pack_array(array: "np.typing.NDArray[np.generic] | None", kind: "np.typing.DTypeLike") -> Json:
    return None if array is None else base64.b64encode(array.astype(kind).tobytes()).decode()


def _unpack_array(packed: Json, kind: "np.typing.DTypeLike") -> Vector | None:
    if packed is None:
        return None
    return cast(Vector, np.frombuffer(base64.b64decode(cast(str, packed)), dtype=kind))

"""The cues of one gap as a flat list of numbers: what the learned model of `default` reads.

Left (L1, L2, ...) are the settled units before the gap, nearest first; right (R0, R1, R2) the one after it
and what hindsight adds. Similarities are in standard deviations of the embedder's neighbouring messages.
"""

import math
from collections.abc import Sequence
from functools import lru_cache
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from episodic_agent.core.boundary.conversation.cues import (
    Pairs,
    PairWeights,
    cosines,
    overlap,
    share_new,
    share_unseen,
)
from episodic_agent.core.boundary.conversation.memory import (
    ACKS,
    ADJACENT,
    LENGTH,
    TO_FRAME,
    UNSEEN,
    ConversationMemory,
    MessageUnit,
    blends,
)
from episodic_agent.core.boundary.conversation.speech import Speech
from episodic_agent.schemas import Vector

_SILENT: Final = Speech(*[0.0] * len(Speech._fields))
_NO_TERMS: Final[frozenset[int]] = frozenset()
_RIGHT: Final = 3
_NAMES: Final = tuple(  # of the vectors around a gap, by how many units stand left of it
    ("thread", "frame", "A2", "A4", "B", *("L1", "L2", "L3", "L4")[:left], "R0", "R1", "R2")
    for left in range(5)
)
_PAIRS: Final = (  # similarities that are cues as they stand
    ("L1", "R0"), ("L2", "R0"), ("L3", "R0"), ("frame", "R0"), ("thread", "R0"), ("A2", "B"), ("A4", "B"),
    ("frame", "B"), ("L2", "L1"), ("frame", "L1"), ("A2", "R0"), ("R0", "R1"), ("L1", "R1"), ("frame", "R1"),
    ("A2", "R1"), ("R0", "R2"), ("R1", "R2"), ("frame", "R2"), ("L1", "R2"), ("thread", "R1"),
)  # fmt: skip
_IN_FRAME: Final = (("L1", "R0"), ("L2", "R0"), ("L3", "R0"), ("L4", "R0"))  # as far as the frame reaches
_L2_L1, _R0_R1, _FRAME_R0 = (_PAIRS.index(pair) for pair in (("L2", "L1"), ("R0", "R1"), ("frame", "R0")))
VECTOR_NAMES: Final = (
    *("~".join(pair) for pair in _PAIRS), "best", "depth left", "depth right", "z L1~R0",
    "z frame~R0",
)  # fmt: skip
LEXICAL_NAMES: Final = (
    "words L1~R0", "words A2~R0", "words A4~B", "words L2~R0", "words R0~R1", "words L1~R1", "words R0~R2",
    "words L2~L1", "unseen R0", "unseen R1", "unseen R2", "never R0", "never R1", "z unseen", "again R0",
)  # fmt: skip
SPEECH_NAMES: Final = tuple(
    f"{cue} {unit}" for unit in ("L2", "L1", "R0", "R1", "R2") for cue in Speech._fields
)
BASELINE_NAMES: Final = (  # nothing here may depend on how often this policy cut before: it would run away
    "same L1 R0", "same L2 L1", "same R0 R1", "same R1 R2", "opener R0", "user R0", "assistant R0",
    "speakers", "frame size", "one", "two", "three", "frame content", "mean length", "mean acks",
    "mean unseen", "length R0 relative",
)  # fmt: skip
LEXICAL: Final = (*LEXICAL_NAMES, *SPEECH_NAMES, *BASELINE_NAMES)
ALL: Final = (*LEXICAL, *VECTOR_NAMES)


def gap_cues(
    memory: ConversationMemory, right: Sequence[MessageUnit], scale: tuple[float, float], vectors: bool
) -> list[float]:
    """Return the cues named in `ALL` (with `vectors`) or `LEXICAL` for the gap before `right[0]`.

    `scale` is the mean and spread of the cosine of neighbours under the embedder in use.
    """
    values = [*_lexical(memory, right), *_speech(memory, right), *_baseline(memory, right)]
    return [*values, *similarities(memory, right, scale)] if vectors else values


def similarities(
    memory: ConversationMemory, right: Sequence[MessageUnit], scale: tuple[float, float]
) -> list[float]:
    """Return the cues named in `VECTOR_NAMES`; a unit that is missing or has no vector gives 0."""
    names, rows = _rows(memory, right)
    places = _places(tuple(names))
    mean, spread = scale
    standard = (cosines(rows, places.pairs) - mean) / spread
    if places.missing is not None:
        standard[places.missing] = 0.0
    values: list[float] = standard.tolist()
    plain, in_frame = values[: len(_PAIRS)], values[len(_PAIRS) :][: memory.size]
    near = plain[0]
    plain += (
        max(in_frame, default=0.0),
        plain[_L2_L1] - near,
        plain[_R0_R1] - near,
        memory.stats[ADJACENT].z(near, 0.0, 1.0),
        memory.stats[TO_FRAME].z(plain[_FRAME_R0], 0.3, 1.0),
    )
    return plain


class _PairRows(NamedTuple):
    """Where `_PAIRS` and `_IN_FRAME` stand among rows, and which of them are not there (None: all are)."""

    pairs: Pairs
    missing: NDArray[np.bool_] | None


@lru_cache(maxsize=512)
def _places(rows: tuple[str, ...]) -> _PairRows:
    number = {name: at for at, name in enumerate(rows)}
    targets = (*_PAIRS, *_IN_FRAME)
    known = [one in number and other in number for one, other in targets]
    pairs = [
        (number[one], number[other]) if k else (0, 0) for k, (one, other) in zip(known, targets, strict=True)
    ]
    return _PairRows(Pairs.of(pairs, len(rows)), None if all(known) else ~np.array(known))


def _rows(memory: ConversationMemory, right: Sequence[MessageUnit]) -> tuple[list[str], list[Vector]]:
    """Return the names and vectors around the gap: units, the last 2 and 4 left (A2, A4), all right (B)."""
    near, first = memory.settled[:-5:-1], right[0].vector
    size = 0 if first is None else first.size
    before = blends(near[: memory.size], size)
    named: list[Vector | None] = [
        memory.thread_sum,
        memory.frame_sum,
        before[:2][-1],
        before[-1],
        blends(right, size)[-1],
        *[unit.vector for unit in near],
        *[unit.vector for unit in right],
    ]
    names, rows = [], []
    for name, row in zip(_NAMES[len(near)], named, strict=False):
        if row is not None and row.size == size:
            names.append(name)
            rows.append(row)
    return names, rows


def _lexical(memory: ConversationMemory, right: Sequence[MessageUnit]) -> list[float]:
    """Return the cues named in `LEXICAL_NAMES`."""
    weights, last, size = PairWeights(memory.counts), memory.last, memory.size
    start = memory.position - size
    left = [unit.bag for unit in memory.settled[:-5:-1]]
    after = [unit.bag for unit in right]
    l1, l2 = (*left, _NO_TERMS)[:2]
    r0, r1, r2 = (*after, _NO_TERMS, _NO_TERMS)[:_RIGHT]
    a2 = l1 if size == 1 else l1 | l2
    a4 = a2 if size <= 2 else a2.union(*left[2:size])
    unseen = share_unseen(r0, last, start)
    return [
        overlap(l1, r0, weights),
        overlap(a2, r0, weights),
        overlap(a4, r0.union(*after[1:]), weights),
        overlap(l2, r0, weights),
        overlap(r0, r1, weights),
        overlap(l1, r1, weights),
        overlap(r0, r2, weights),
        overlap(l2, l1, weights),
        unseen,
        share_unseen(r1, last, start),
        share_unseen(r2, last, start),
        share_new(r0, last),
        share_new(r1, last),
        memory.stats[UNSEEN].z(unseen, 0.7, 0.3),
        math.log1p((1.0 - unseen) * len(r0)),
    ]


def _speech(memory: ConversationMemory, right: Sequence[MessageUnit]) -> list[float]:
    """Return what the two units before and the three after the gap do, as `SPEECH_NAMES` has it."""
    l1, l2 = ([unit.speech for unit in memory.settled[:-3:-1]] + [_SILENT])[:2]
    r0, r1, r2 = ([unit.speech for unit in right] + [_SILENT, _SILENT])[:_RIGHT]
    return [*l2, *l1, *r0, *r1, *r2]


def _baseline(memory: ConversationMemory, right: Sequence[MessageUnit]) -> list[float]:
    """Return the cues named in `BASELINE_NAMES`: who speaks, how long the frame is, this thread's habits."""
    settled, first = memory.settled, right[0]
    before = [unit.actor for unit in settled[-2:]]
    after = [unit.actor for unit in right]
    size, stats = memory.size, memory.stats
    length = stats[LENGTH]
    return [
        float(before[-1:] == after[:1]),
        float(len(before) == 2 and before[0] == before[1]),
        float(len(after) > 1 and after[0] == after[1]),
        float(len(after) > 2 and after[1] == after[2]),
        float(first.actor == memory.opener),
        float(first.role == 1),
        float(first.role == 2),
        math.log(max(len(memory.actors), 1)),
        math.log1p(size) / 2.0,
        float(size == 1),
        float(size == 2),
        float(size == 3),
        math.log1p(memory.content) / 2.0,
        length.mean,
        stats[ACKS].mean,
        stats[UNSEEN].mean,
        length.z(first.speech.length, 0.8, 0.2),
    ]

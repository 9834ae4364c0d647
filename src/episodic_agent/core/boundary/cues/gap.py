"""The cues of one gap as a flat list of numbers: what the learned model of `default` reads.

Left (L1, L2, ...) are the settled units before the gap, nearest first; right (R0, R1, R2) the one after it
and what hindsight adds. Similarities are in standard deviations of the embedder's neighbouring messages.
"""

import math
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import chain
from typing import Final

from episodic_agent.core.boundary.cues.cohesion import cosines, overlap, share_unseen, weighed
from episodic_agent.core.boundary.cues.speech import Speech
from episodic_agent.core.boundary.default_memory import (
    ACKS,
    ADJACENT,
    LENGTH,
    TO_FRAME,
    UNSEEN,
    Memory,
    Unit,
    blends,
)
from episodic_agent.schemas import Vector

_SILENT: Final = (0.0,) * len(Speech._fields)
_RIGHT: Final = 3
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
HABIT_NAMES: Final = (  # nothing here may depend on how often this policy cut before: it would run away
    "same L1 R0", "same L2 L1", "same R0 R1", "same R1 R2", "opener R0", "user R0", "assistant R0",
    "speakers", "frame size", "one", "two", "three", "frame content", "mean length", "mean acks",
    "mean unseen", "length R0 relative",
)  # fmt: skip
LEXICAL: Final = (*LEXICAL_NAMES, *SPEECH_NAMES, *HABIT_NAMES)
ALL: Final = (*LEXICAL, *VECTOR_NAMES)


def gap_cues(memory: Memory, right: Sequence[Unit], scale: tuple[float, float], vectors: bool) -> list[float]:
    """Return the cues named in `ALL` (with `vectors`) or `LEXICAL` for the gap before `right[0]`.

    `scale` is the mean and spread of the cosine of neighbours under the embedder in use.
    """
    found = chain(
        _lexical(memory, right),
        _speech(memory, right),
        _habits(memory, right),
        similarities(memory, right, scale) if vectors else (),
    )
    return list(found)


def similarities(memory: Memory, right: Sequence[Unit], scale: tuple[float, float]) -> list[float]:
    """Return the cues named in `VECTOR_NAMES`; a unit that is missing or has no vector gives 0."""
    rows = _rows(memory, right)
    flat = list(chain.from_iterable(cosines(list(rows.values()))))
    mean, spread = scale
    found = [0.0 if at < 0 else (flat[at] - mean) / spread for at in _places(tuple(rows))]
    plain, in_frame = found[: len(_PAIRS)], found[len(_PAIRS) :][: memory.size]
    near = plain[0]
    return [
        *plain,
        max(in_frame, default=0.0),
        plain[_L2_L1] - near,
        plain[_R0_R1] - near,
        memory.stats[ADJACENT].z(near, 0.0, 1.0),
        memory.stats[TO_FRAME].z(plain[_FRAME_R0], 0.3, 1.0),
    ]


@lru_cache(maxsize=512)
def _places(rows: tuple[str, ...]) -> list[int]:
    """Return where `_PAIRS` and `_IN_FRAME` stand in the flat table of the rows so named, -1 where not."""
    number = {name: at for at, name in enumerate(rows)}
    return [
        number[one] * len(rows) + number[other] if one in number and other in number else -1
        for one, other in (*_PAIRS, *_IN_FRAME)
    ]


def _rows(memory: Memory, right: Sequence[Unit]) -> dict[str, Vector]:
    """Return the vectors around the gap by name: units, the last 2 and 4 left (A2, A4), all right (B)."""
    rows: dict[str, Vector] = {}
    near = memory.settled[::-1]
    size = next((unit.vector.size for unit in (*right, *near) if unit.vector is not None), 0)
    for name, total in (("thread", memory.thread_sum), ("frame", memory.frame_sum)):
        if total is not None and total.size == size:
            rows[name] = total
    before = blends(near[: min(4, memory.size)], size)
    for name, sums in (("A2", before[:2]), ("A4", before), ("B", blends(right, size))):
        if sums and sums[-1] is not None:
            rows[name] = sums[-1]
    for side, units in (("L", near), ("R", right)):
        for number, unit in enumerate(units, start=side == "L"):
            if unit.vector is not None and unit.vector.size == size:
                rows[f"{side}{number}"] = unit.vector
    return rows


def _lexical(memory: Memory, right: Sequence[Unit]) -> list[float]:
    """Return the cues named in `LEXICAL_NAMES`."""
    counts, last = memory.counts, memory.last
    start = memory.position - memory.size
    left = [unit.terms for unit in memory.settled[:-5:-1]]
    after = [unit.terms for unit in right]
    r0, r1, r2 = (after[n] if n < len(after) else () for n in range(_RIGHT))
    l1, l2 = (weighed(left[n] if n < len(left) else (), counts) for n in range(2))
    a2 = l1 if memory.size == 1 else weighed(chain(*left[: min(2, memory.size)]), counts)
    a4 = a2 if memory.size <= 2 else weighed(chain(*left[: min(4, memory.size)]), counts)
    first, second, third = (weighed(terms, counts) for terms in (r0, r1, r2))
    block = first if len(after) == 1 else weighed(chain(*after), counts)
    unseen = share_unseen(r0, last, start)
    return [
        overlap(l1, first, counts),
        overlap(a2, first, counts),
        overlap(a4, block, counts),
        overlap(l2, first, counts),
        overlap(first, second, counts),
        overlap(l1, second, counts),
        overlap(first, third, counts),
        overlap(l2, l1, counts),
        unseen,
        share_unseen(r1, last, start),
        share_unseen(r2, last, start),
        share_unseen(r0, last, 0),
        share_unseen(r1, last, 0),
        memory.stats[UNSEEN].z(unseen, 0.7, 0.3),
        math.log1p((1.0 - unseen) * len(r0)),
    ]


def _speech(memory: Memory, right: Sequence[Unit]) -> Iterator[float]:
    """Yield what the two units before and the three after the gap do, as `SPEECH_NAMES` has it."""
    settled = memory.settled
    before = [_SILENT if len(settled) < n else settled[-n].speech for n in (2, 1)]
    after = [right[n].speech if n < len(right) else _SILENT for n in range(_RIGHT)]
    return chain(*before, *after)


def _habits(memory: Memory, right: Sequence[Unit]) -> list[float]:
    """Return the cues named in `HABIT_NAMES`: who speaks, how long the frame is, this thread's habits."""
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

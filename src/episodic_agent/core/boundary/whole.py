"""Segment a thread with all of it known: judge every gap, then choose the best set of cuts together.

A pass over the whole thread is for `resegment`, not for messages as they come. It reads the same inputs as
the machine and returns the same kinds of values, so that everything downstream treats its cuts alike.
"""

import math
from bisect import bisect_left
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from episodic_agent.core.boundary.contract import (
    DRAIN_ALL,
    Arrival,
    Boundary,
    Input,
    Policy,
    Record,
)
from episodic_agent.core.boundary.default import DefaultPolicy
from episodic_agent.core.boundary.machine import replay
from episodic_agent.schemas import Reason

# How the pass works, stored with what it made: a change that may move a cut is a new name.
WHOLE: Final = "whole-2026-12"
_LEAST: Final = 1e-4  # probabilities are kept off 0 and 1, where log-odds end


@dataclass(frozen=True, slots=True)
class Segmented:
    """What a pass made of a thread: its cuts in order, and one record for each observation it judged."""

    cuts: Sequence[Boundary]
    records: Sequence[Record]


def whole_thread(inputs: Sequence[Input], policy: Policy[Any]) -> Segmented:
    """Choose the cuts of a thread of which all inputs are known; pure.

    With `default`, one run of the policy gives every gap its probability; then dynamic programming takes the
    cuts whose log-odds above the policy's threshold have the greatest sum, no episode as long as
    `max_length`. Manual cuts, ticks and silences past `idle_after` are cuts in any case. A gap the policy had
    not decided yet is cut only where the length leaves no other: more messages may tell. Each cut reaches
    its threshold, or is a `size_cap` with `size` and `max_length` in its detail, or drains (I6). Any other
    policy is replayed.
    """
    step = replay(inputs, policy)
    judged = {r.seq: r for r in step.records}
    records = list(judged.values())
    seqs = [item.observation.seq for item in inputs if isinstance(item, Arrival)]
    if not isinstance(policy, DefaultPolicy) or not seqs:
        return Segmented(step.cuts, records)
    found = {bisect_left(seqs, c.before_seq): c for c in step.cuts if c.reason != Reason.SIZE_CAP}
    held = {place for place, cut in found.items() if _is_fixed(cut)}
    gains = [_gain(judged.get(seq), policy.threshold) for seq in seqs]
    chosen = best_cuts(gains, held, policy.max_length - 1)
    certain = [0, *sorted(found), len(seqs)]
    cuts: list[Boundary] = []
    begun = 0
    # a drain closes everything: the place it cuts at may lie behind the last observation
    for place in [*chosen, *sorted(held & {len(seqs)})]:
        cut = found.get(place) or _forced(seqs[place], judged, certain, place, policy)
        peak = max((judged[s].surprise for s in seqs[begun:place] if s in judged), default=0.0)
        decided = cut.decided_at_seq if cut.edge == DRAIN_ALL else seqs[-1]
        cuts.append(replace(cut, surprise=peak, decided_at_seq=decided))
        begun = place
    return Segmented(cuts, records)


def best_cuts(gains: Sequence[float], fixed: "set[int]", longest: int) -> list[int]:
    """Return the places (rising, from 1 on) of the cuts with the greatest sum of gains.

    A cut at place n lies before item n and gains `gains[n]`; `fixed` places are cut in any case, and no piece
    is longer than `longest` items. Ties leave pieces long.

    >>> best_cuts([0.0, -1.0, 2.0, -3.0, -0.5, -1.0], set(), 3)
    [2, 4]
    >>> best_cuts([0.0, -1.0, -1.0], {1}, 9)
    [1]
    """
    count = len(gains)
    best = [0.0] * (count + 1)
    back = [0] * (count + 1)
    ahead: deque[int] = deque([0])  # places a piece may begin at, the best of them first
    for place in range(1, count + 1):
        while ahead[0] < place - longest:
            ahead.popleft()
        back[place] = ahead[0]
        best[place] = best[back[place]] + (gains[place] if place < count and place not in fixed else 0.0)
        if place in fixed:
            ahead.clear()
        while ahead and best[ahead[-1]] < best[place]:
            ahead.pop()
        ahead.append(place)
    places: list[int] = []
    place = back[count]
    while place > 0:
        places.append(place)
        place = back[place]
    return places[::-1]


def _is_fixed(cut: Boundary) -> bool:
    return cut.edge == DRAIN_ALL or (cut.reason == Reason.TIME_GAP and cut.probability >= 1.0)


def _gain(record: Record | None, threshold: float) -> float:
    """Return how far the log-odds of a gap lie above the threshold's."""
    probability = min(max(record.probability if record is not None else 0.0, _LEAST), 1.0 - _LEAST)
    if record is not None and record.probability >= threshold:
        return max(_LEAST, _log_odds(probability) - _log_odds(threshold))  # on it counts as over it
    return _log_odds(probability) - _log_odds(threshold)


def _log_odds(probability: float) -> float:
    return math.log(probability / (1.0 - probability))


def _forced(
    seq: int, judged: Mapping[int, Record], certain: Sequence[int], place: int, policy: DefaultPolicy
) -> Boundary:
    """Return the cut that only the length asks for; `certain` are the places between which it divides."""
    after = bisect_left(certain, place)
    size = certain[after] - certain[after - 1]
    record = judged.get(seq, Record(seq, "keep", 0.0, policy.threshold))
    return Boundary(
        seq,
        seq,
        Reason.SIZE_CAP,
        record.probability,
        policy.threshold,
        cues=record.cues,
        detail={"size": size, "max_length": policy.max_length},
    )

"""The pass over a whole thread: where the `default` policy would cut it if it had seen the end first.

Online a gap is judged a message or two later, and how often a thread should be cut is learnt while it goes
on. Afterwards both are known. This pass takes the policy's own probabilities (the longest delay, its own
frames), adds how well the messages on both sides hold together by the measure of this thread, and shifts all
log-odds by one number: the one that makes the expected number of boundaries most plausible for a thread so
long. Then each stretch between fixed cuts (manual, clock, long silence) is cut where the evidence is
positive; what would still be too long is split where the least evidence is lost.

Tried and left out, since it gained nothing on sets left out: a prior on segment lengths, and judging again
along the cuts found (docs/internals/quality.md). Costs one online pass and little more; 20,000 messages
take seconds.
"""

import math
from collections import Counter, deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from itertools import pairwise
from typing import Any, Final, TypeVar

import numpy as np
from numpy.typing import NDArray

from episodic_agent.core.boundary.contract import (
    DRAIN_ALL,
    Arrival,
    Boundary,
    Input,
    ManualCut,
    Policy,
    Record,
)
from episodic_agent.core.boundary.conversation.cues import belief, compact
from episodic_agent.core.boundary.conversation.default import DefaultPolicy, reason_of
from episodic_agent.core.boundary.conversation.model import LONGEST_DELAY, sigmoid
from episodic_agent.core.boundary.machine import replay, run
from episodic_agent.schemas import Reason, Vector

Array = NDArray[np.float64]

_WINDOW: Final = 6  # messages on each side whose vectors are compared
_COHESION: Final = 0.3  # log-odds for each standard deviation under the thread's usual cohesion
_EARLY: Final = 6.0  # gaps after which a thread's own spread is believed by half
_BASELINE: Final = 0.85  # boundaries of a thread of n messages, about _USUAL * sqrt(n)
_LONGEST: Final = 600  # messages; beyond, the number grows with the length
_DOUBT: Final = 0.4  # standard deviation of the log of that number
_SHIFT: Final = 1.6  # standard deviation of how far the networks are off on a new kind of talk, in log-odds
_TIMED: Final = 0.5  # share of cohesion and shift where all times are given: silences tell most of it
_LATE: Final = 12  # messages at which half of that is believed: a short talk may well have one topic
_SHIFTS: Final = np.linspace(-4.0, 0.8, 97)
_LEAST: Final = 1e-3  # probabilities nearer to 0 or 1 say no more
_MUTE: Final = -50.0  # evidence for a cut before a message that only acknowledges


# How the pass works, stored with what it made: a change that may move a cut is a new name.
THREAD: Final = "whole-2026-12"


@dataclass(frozen=True, slots=True)
class Segmented:
    """What a pass made of a thread: its cuts in order, and the record of every observation."""

    cuts: Sequence[Boundary]
    records: Sequence[Record]


def whole_thread(inputs: Sequence[Input], policy: Policy[Any]) -> Segmented:
    """Cut a thread that is known to its end; manual, clock and long-silence cuts stay as they are.

    What was not closed stays open: after the last cut there may be messages left. A gap that the policy had
    not decided yet is cut only where the length leaves no other: more messages may tell. A policy other than
    `default` is replayed. Pure and deterministic.
    """
    if not isinstance(policy, DefaultPolicy):
        step = replay(inputs, policy)
        return Segmented(step.cuts, list({record.seq: record for record in step.records}.values()))
    # a digression is known by what comes after it: networks that see less would cut it off
    seeing = replace(policy, hindsight=LONGEST_DELAY, together=False)
    step = run(seeing.begin(), inputs, seeing)
    last = {record.seq: record for record in step.records}
    seen = [item for item in inputs if isinstance(item, Arrival)]
    records = [last[item.observation.seq] for item in seen]
    opens = np.array([not record.cues and record.action != "pending" for record in records], bool)
    opened = {record.seq for record, opening in zip(records, opens.tolist(), strict=True) if opening}
    fixed = [cut for cut in step.cuts if cut.edge == DRAIN_ALL or cut.before_seq in opened]
    if any(record.cues for record in records):
        cohesion = _cohesion(seen, opens) if policy.vectors else np.zeros(len(seen))
        records = _weighed(records, opens, cohesion, policy)
    return Segmented(_in_order([*fixed, *_soft(records, opens, policy)], records), records)


def _weighed(
    records: Sequence[Record], opens: NDArray[np.bool_], cohesion: Array, policy: DefaultPolicy
) -> list[Record]:
    """Return the records with this thread's cohesion in their probabilities and its threshold."""
    probabilities = np.array([record.probability for record in records])
    speaking = ~opens & (probabilities > 0.0)
    timed = float(np.mean(["silence" in record.cues for record in records if record.cues]))
    share = 1.0 - (1.0 - _TIMED) * timed
    spread = _SHIFT * share * belief(len(records), _LATE)
    logits = _logit(probabilities) - _COHESION * share * cohesion
    shift = _shift(logits[speaking], int(opens.sum()) - 1, len(records), spread)
    threshold = round(sigmoid(float(_logit(np.array(policy.threshold))) - shift), 4)
    result = []
    for record, logit, speaks in zip(records, logits.tolist(), speaking.tolist(), strict=True):
        probability = round(sigmoid(logit), 4) if speaks else 0.0
        action = "cut" if probability >= threshold else "keep"
        now = replace(record, action=action, probability=probability, threshold=threshold)
        result.append(now if record.cues else record)
    return result


def _shift(logits: Array, known: int, size: int, spread: float) -> float:
    """Return what to add to all log-odds: no more than the usual number of boundaries makes plausible.

    `known` boundaries are certain; `spread` is the standard deviation of the shift.
    """
    expected = np.array([known + float((1.0 / (1.0 + np.exp(-(logits + one)))).sum()) for one in _SHIFTS])
    baseline = _BASELINE * math.sqrt(min(size, _LONGEST)) * max(1.0, size / _LONGEST)
    surprise = (np.log(expected + 0.3) - math.log(baseline + 0.3)) / _DOUBT
    return round(float(_SHIFTS[int(np.argmin((_SHIFTS / spread) ** 2 + surprise**2))]), 3)


def _cohesion(seen: Sequence[Arrival], opens: NDArray[np.bool_]) -> Array:
    """Return the cosine of the messages on the two sides of each gap, as z-scores in this thread."""
    vectors = [_vector(item) for item in seen]
    sizes = Counter(one.size for one in vectors if one is not None)
    zeros = np.zeros(len(seen))
    if not sizes:
        return zeros
    size = sizes.most_common(1)[0][0]
    blank = np.zeros(size, np.float32)
    sums = np.zeros((len(seen) + 1, size))
    np.cumsum([blank if v is None or v.size != size else v for v in vectors], axis=0, out=sums[1:])
    place = np.arange(len(seen))
    opening = np.maximum.accumulate(np.where(opens, place, 0))
    ending = np.append(np.flatnonzero(opens), len(seen))
    ending = ending[np.searchsorted(ending, place, side="right")]
    left = sums[:-1] - sums[np.maximum(opening, place - _WINDOW)]
    right = sums[np.minimum(ending, place + _WINDOW)] - sums[:-1]
    lengths = np.linalg.norm(left, axis=1) * np.linalg.norm(right, axis=1)
    known = ~opens & (lengths > 1e-6)
    if known.sum() > 1:
        cosines = np.einsum("ij,ij->i", left[known], right[known]) / lengths[known]
        trust = known.sum() / (known.sum() + _EARLY)
        zeros[known] = trust * (cosines - cosines.mean()) / max(float(cosines.std()), 1e-3)
    return zeros.round(3)


def _vector(item: Arrival) -> Vector | None:
    """Return the unit vector of a message; blank text has none."""
    return compact(item.vector) if item.vector is not None and item.observation.text.strip() else None


def _logit(share: Array) -> Array:
    held = np.clip(share, _LEAST, 1.0 - _LEAST)
    return np.log(held / (1.0 - held))


def _soft(records: Sequence[Record], opens: NDArray[np.bool_], policy: DefaultPolicy) -> list[Boundary]:
    """Return the cuts of the evidence, and the forced ones where a span would reach the policy's length."""
    probabilities = np.array([record.probability for record in records])
    evidence = np.where(probabilities > 0.0, _logit(probabilities), _MUTE)
    cut = [place for place, record in enumerate(records) if record.cues and record.action == "cut"]
    edges = sorted({*cut, *np.flatnonzero(opens).tolist(), len(records)})
    newest = records[-1].seq if records else 0
    boundaries = [_boundary(records[place], newest) for place in cut]
    for low, high in pairwise(edges):
        if high - low < policy.max_length:  # under a high threshold evidence may be positive and not enough
            continue
        detail = {"size": high - low, "max_length": policy.max_length}
        for place in forced(evidence[low:high].tolist(), policy.max_length - 1):
            boundary = _boundary(records[low + place], newest)
            boundaries.append(replace(boundary, reason=Reason.SIZE_CAP, detail=detail))
    return boundaries


def forced(evidence: Sequence[float], longest: int) -> list[int]:
    """Return where to split a span into pieces of at most `longest`, losing the least evidence.

    Dynamic programming over places; the best of the last `longest` is kept in a falling queue.

    >>> forced([0.0, -9.0, -1.0, -9.0, -2.0, -9.0], 3)
    [2, 4]
    >>> forced([0.0, -1.0], 3)
    []
    """
    size = len(evidence)
    total, before = [0.0] * (size + 1), [0] * (size + 1)
    waiting: deque[int] = deque([0])
    for place in range(1, size + 1):
        if waiting[0] < place - longest:
            waiting.popleft()
        before[place] = waiting[0]
        total[place] = total[waiting[0]] + (evidence[place] if place < size else 0.0)
        while waiting and total[waiting[-1]] <= total[place]:
            waiting.pop()
        waiting.append(place)
    result, place = [], before[size]
    while place > 0:
        result.append(place)
        place = before[place]
    return result[::-1]


def _boundary(record: Record, newest: int) -> Boundary:
    """Return a cut before a message, with its record's grounds: known when the whole thread was."""
    probability, threshold = record.probability, record.threshold
    content = record.cues["content"] if "silence" in record.cues else probability
    reason = reason_of(probability, content, threshold, record.surprise)
    return Boundary(record.seq, newest, reason, probability, threshold, cues=record.cues)


def _in_order(cuts: Iterable[Boundary], records: Sequence[Record]) -> list[Boundary]:
    """Return the cuts in order, each with the peak surprise of the episode it ends."""
    surprises: Mapping[int, float] = {record.seq: record.surprise for record in records}
    seqs, result, place = list(surprises), [], 0
    for cut in sorted(cuts, key=lambda one: one.before_seq):
        peak = 0.0
        while place < len(seqs) and seqs[place] < cut.before_seq:
            peak = max(peak, surprises[seqs[place]])
            place += 1
        result.append(replace(cut, surprise=peak))
    return result


M = TypeVar("M")
_NEVER: Final = datetime(1970, 1, 1, tzinfo=UTC)  # when nobody asked for a cut: no policy reads it
_SURE: Final = 0.999999  # no probability reaches it but 1
_ENDLESS: Final = 1 << 31


def continued(inputs: Sequence[Input], cuts: Sequence[Boundary], policy: Policy[M]) -> M:
    """Return the policy's memory behind all inputs: its frames as `cuts` say, its habits those of the thread.

    The observations behind the last cut are its open frame; the newest of them may still be undecided, as
    they always may. With a policy whose cuts cannot be moved this is the memory of its replay.
    """
    steady = _without_own_cuts(policy)
    return replay(inputs if steady is policy else _with_cuts(inputs, cuts), steady).memory


def _without_own_cuts(policy: Policy[M]) -> Policy[M]:
    """Return the policy as it learns but does not cut; the same one where it cannot be kept from it."""
    if isinstance(policy, DefaultPolicy):
        return replace(policy, threshold=_SURE, idle_after=None, max_length=_ENDLESS)
    return policy


def _with_cuts(inputs: Sequence[Input], cuts: Sequence[Boundary]) -> list[Input]:
    """Return the inputs with a drain wherever a frame ends; the drains among them stay."""
    limits = {cut.before_seq for cut in cuts if cut.edge != DRAIN_ALL}
    placed: list[Input] = []
    for item in inputs:
        if isinstance(item, Arrival) and item.observation.seq in limits:
            placed.append(ManualCut(_NEVER))
        placed.append(item)
    return placed

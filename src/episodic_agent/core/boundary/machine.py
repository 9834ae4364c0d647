"""Drive a policy over inputs, one at a time, so that batching cannot matter (I7)."""

import json
from collections.abc import Callable, Iterable, Sequence
from typing import Final, TypeAlias, TypeVar

from episodic_agent.core.boundary.contract import (
    Arrival,
    Boundary,
    Check,
    Input,
    ManualCut,
    Policy,
    Question,
    Record,
    Step,
    Tick,
    Verdict,
)
from episodic_agent.schemas import Reason

M = TypeVar("M")
Answer: TypeAlias = Callable[[Question], Verdict | None]


def nobody(_question: Question) -> Verdict | None:
    """Answer as where there is no model: the deterministic fallback decides."""
    return None


def run(memory: M, inputs: Sequence[Input], policy: Policy[M]) -> Step[M]:
    """Feed `inputs` to `policy` from `memory` on, stopping early only at a question.

    Pure: the same memory and inputs give the same step, however they are split over calls. A `Tick`
    reaches here only when the caller found the frame silent past `policy.idle_after`; it drains.
    """
    cuts: list[Boundary] = []
    records: list[Record] = []
    consumed = 0
    question: Question | None = None
    for item in inputs:
        check = _check(memory, item, policy)
        memory, question, consumed = check.memory, check.question, consumed + 1
        cuts.extend(check.cuts)
        records.extend(check.records)
        if question is not None:
            break
    return Step(memory, cuts, records, question, consumed)


def settle(memory: M, question: Question, verdict: Verdict | None, policy: Policy[M]) -> Step[M]:
    """Put a model's verdict back in (None: the deterministic fallback); `run` goes on over the tail."""
    check = policy.settle(memory, question, verdict)
    return Step(check.memory, list(check.cuts), list(check.records), check.question, 0)


def replay(
    inputs: Iterable[Input], policy: Policy[M], memory: M | None = None, *, answer: Answer = nobody
) -> Step[M]:
    """Run a policy over all inputs (from a memory on); every question is answered at once by `answer`.

    The step's `records` may name a seq several times; the last one counts.
    """
    memory = policy.begin() if memory is None else memory
    cuts: list[Boundary] = []
    records: list[Record] = []
    waiting = list(inputs)
    total = len(waiting)
    while waiting:
        step = run(memory, waiting, policy)
        waiting = waiting[step.consumed :]
        cuts.extend(step.cuts)
        records.extend(step.records)
        while step.question is not None:
            step = settle(step.memory, step.question, answer(step.question), policy)
            cuts.extend(step.cuts)
            records.extend(step.records)
        memory = step.memory
    return Step(memory, cuts, records, None, total)


def _check(memory: M, item: Input, policy: Policy[M]) -> Check[M]:
    if isinstance(item, Arrival):
        return policy.check(memory, item)
    if isinstance(item, Tick):
        return policy.drain(memory, ManualCut(item.now, Reason.TIME_GAP))
    return policy.drain(memory, item)


_JSON: Final = json.JSONEncoder(separators=(",", ":"))  # json.dumps would build one for each record


def pack_record(record: Record) -> bytes:
    """Return the record as compact JSON; numbers were rounded before deciding, so nothing is lost.

    >>> unpack_record(7, pack_record(Record(7, "keep", 0.25, 0.5, 0.1, {"gap": 0.5}))).cues["gap"]
    0.5
    """
    body = [record.action, record.probability, record.threshold, record.surprise, dict(record.cues)]
    return _JSON.encode(body).encode()


def unpack_record(seq: int, packed: bytes) -> Record:
    """Undo `pack_record` for the observation at `seq`."""
    action, probability, threshold, surprise, cues = json.loads(packed)
    return Record(seq, action, probability, threshold, surprise, cues)

"""Build a thread's boundary trace from its stored records and decisions."""

from collections.abc import Callable, Sequence
from math import nan
from typing import Any
from uuid import UUID

from episodic_agent.core.boundary.contract import Policy, TwoThresholds
from episodic_agent.core.boundary.policies import STEP
from episodic_agent.core.boundary.steps.trail import label_of
from episodic_agent.engine.boundary.explain import read_records
from episodic_agent.engine.boundary.traces import BoundaryTrace
from episodic_agent.errors import InvalidInput, NotFound
from episodic_agent.protocols import Transaction, stored_decision
from episodic_agent.schemas import Decision, Episode, TimeSource

Resolve = Callable[[str], Policy[Any]]


def trace(tx: Transaction, thread_id: UUID, resolve: Resolve) -> BoundaryTrace:
    """Return the trace of a thread; what was not decided yet is NaN.

    `resolve` finds a policy by the name that is kept with a decision; one that is not there any more (a
    detector that cannot be imported) costs only its low threshold.
    """
    thread = tx.threads.get(thread_id)
    if thread is None:
        raise NotFound(f"no thread {thread_id} in this memory")
    frame = tx.threads.frame(thread_id)
    last = frame.next_seq - 1
    observations = tx.observations.read(thread_id, 0, last)
    records = read_records(tx, thread_id, 0, last)
    checks = [records.get(o.seq) for o in observations]
    names = sorted({name for r in records.values() for name in r.cues})
    episodes = tx.episodes.list(threads=[thread_id])
    starts = [e.last_seq + 1 for e in episodes if e.last_seq < last]
    steps = thread.modality == STEP
    decisions = [stored_decision(tx, e.decision_id) for e in episodes]
    spans = [
        (e.last_seq, d.policy_version) for e, d in zip(episodes, decisions, strict=True) if d is not None
    ]
    return BoundaryTrace(
        seqs=[o.seq for o in observations],
        times=[None if o.at_source == TimeSource.ASSUMED else o.at for o in observations],
        actors=[o.actor for o in observations],
        texts=[o.text for o in observations],
        probability=[nan if r is None else r.probability for r in checks],
        threshold=[nan if r is None else r.threshold for r in checks],
        surprise=[nan if r is None else r.surprise for r in checks],
        cues={name: [nan if r is None else r.cues.get(name, nan) for r in checks] for name in names},
        cuts=[(start, episode.reason) for start, episode in zip(starts, episodes, strict=False)],
        titles=[*(e.title for e in episodes), *(["(open)"] if frame.first_seq <= last else [])],
        title=thread.origin,
        freezes=[_freeze(e, d) for e, d in zip(episodes, decisions, strict=True)],
        unit="step" if steps else "message",
        places=[label_of(o) for o in observations] if steps else (),
        low=_low([o.seq for o in observations], [*spans, (last, frame.policy)], resolve) if steps else (),
    )


def _freeze(episode: Episode, decision: Decision | None) -> tuple[int, str]:
    """Return at which observation it was decided that an episode ends, and why."""
    at = None if decision is None else decision.detail.get("decided_at_seq")
    return (at if isinstance(at, int) else episode.last_seq), episode.reason


def _low(seqs: Sequence[int], spans: Sequence[tuple[int, str]], resolve: Resolve) -> list[float]:
    """Return the low threshold at each observation; `spans` are (last seq, policy's name), rising."""
    known: dict[str, float] = {}
    for name in {name for _, name in spans}:
        try:
            policy = resolve(name)
            known[name] = float(policy.low_threshold) if isinstance(policy, TwoThresholds) else nan
        except InvalidInput:
            known[name] = nan
    result, place = [], 0
    for seq in seqs:
        while place < len(spans) - 1 and seq > spans[place][0]:
            place += 1
        result.append(known[spans[place][1]])
    return result

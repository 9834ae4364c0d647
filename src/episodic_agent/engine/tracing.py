"""Build a thread's boundary trace from its stored records and decisions."""

from math import nan
from uuid import UUID

from episodic_agent.core.interfaces import Transaction
from episodic_agent.engine.explain import read_records
from episodic_agent.engine.trace import BoundaryTrace
from episodic_agent.errors import NotFound
from episodic_agent.schemas import TimeSource


def trace(tx: Transaction, thread_id: UUID) -> BoundaryTrace:
    """Return the trace of a thread; what was not decided yet is NaN."""
    thread = tx.threads.get(thread_id)
    if thread is None:
        raise NotFound(f"no thread {thread_id} in this memory")
    last = tx.threads.frame(thread_id).next_seq - 1
    observations = tx.threads.observations(thread_id, 0, last)
    records = read_records(tx, thread_id, 0, last)
    checks = [records.get(o.seq) for o in observations]
    names = sorted({name for r in records.values() for name in r.cues})
    episodes = tx.episodes.of_thread(thread_id)
    open_from = tx.threads.frame(thread_id).first_seq
    starts = [e.last_seq + 1 for e in episodes if e.last_seq < last]
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
        titles=[*(e.title for e in episodes), *(["(open)"] if open_from <= last else [])],
        title=thread.origin,
    )

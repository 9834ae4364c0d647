"""What an agent's run does to a memory: keep steps, read records, end the last episode."""

from collections.abc import Callable, Mapping, Sequence
from uuid import UUID

from episodic_agent.agents.run import Step, Verbs
from episodic_agent.core.boundary.contract import Record
from episodic_agent.core.ingest import Item, read_item
from episodic_agent.engine.boundary.closing import Closer
from episodic_agent.engine.boundary.explain import read_records
from episodic_agent.engine.deps import Deps
from episodic_agent.protocols import Transaction
from episodic_agent.schemas import Reason, Receipt, Scope


def verbs_of(
    deps: Deps,
    scope: Scope,
    origin: str,
    closer: Closer,
    keep: Callable[[Sequence[Item]], Sequence[Receipt]],
    run_jobs: Callable[[], object],
) -> Verbs:
    """Return what a run in the thread `origin` needs of the memory."""

    def result(tx: Transaction) -> UUID | None:
        thread = tx.threads.get(origin)
        return None if thread is None else thread.id

    def read(step: Step) -> Item:
        return read_item(step, default_actor="agent", largest=deps.limits.message)

    def flush(at_end: bool) -> int:
        with deps.store.begin(scope, write=False) as tx:
            thread = result(tx)
        reason = Reason.END_OF_STREAM if at_end else Reason.MANUAL
        return 0 if thread is None else closer.flush(scope, thread, reason=reason)

    def judged(first: int, last: int) -> Mapping[int, Record]:
        with deps.store.begin(scope, write=False) as tx:
            thread = result(tx)
            return {} if thread is None else read_records(tx, thread, first, last)

    def episodes() -> int:
        with deps.store.begin(scope, write=False) as tx:
            thread = result(tx)
            return 0 if thread is None else len(tx.episodes.of_thread(thread))

    return Verbs(read, keep, judged, episodes, flush, run_jobs)

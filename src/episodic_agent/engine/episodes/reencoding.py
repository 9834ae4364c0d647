"""Have closed episodes told again: by a better model, a newer prompt, or without one."""

from collections.abc import Sequence
from uuid import UUID

from episodic_agent.engine.deps import Deps
from episodic_agent.engine.episodes.encoding import ask_again
from episodic_agent.protocols import Transaction
from episodic_agent.schemas import Episode, Scope

_AT_ONCE = 256  # jobs asked for in one transaction


def reencode(deps: Deps, scope: Scope, thread_id: UUID | None, by: str | None) -> int:
    """Ask for the words of the closed episodes of a thread (None: of all) anew; return of how many.

    `by` narrows it to what was encoded by this, or by what begins so.
    """
    with deps.store.begin(scope, write=False) as tx:
        chosen = _encoded(tx, thread_id, by)
    for start in range(0, len(chosen), _AT_ONCE):
        with deps.store.begin(scope) as tx:
            ask_again(tx, chosen[start : start + _AT_ONCE], deps.clock())
    return len(chosen)


def _encoded(tx: Transaction, thread_id: UUID | None, by: str | None) -> Sequence[Episode]:
    """Return the current episodes that have words, and by whom it was asked for."""
    threads = [thread_id] if thread_id is not None else [one.id for one in tx.threads.list()]
    episodes = [episode for one in threads for episode in tx.episodes.list(threads=[one])]
    return [e for e in episodes if e.encoding_version and (by is None or e.encoded_by.startswith(by))]

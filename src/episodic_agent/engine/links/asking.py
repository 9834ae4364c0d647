"""When a thread's links are judged again: when it ends, by request, by the next message or by the clock."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

from episodic_agent.engine.deps import Deps
from episodic_agent.engine.jobs.kinds import LINK, LINK_END
from episodic_agent.protocols import Transaction
from episodic_agent.schemas import Thread

PAUSE: Final = timedelta(minutes=30)  # silence that ends a sitting


def ask_for_end(tx: Transaction, deps: Deps, thread_id: UUID, now: datetime) -> None:
    """Ask for the second judgement of a thread that ended, where the policy makes one."""
    if deps.judges_ends:
        tx.upkeep.ask(LINK_END, str(thread_id), LINK, now=now)


def unjudged(tx: Transaction, deps: Deps, threads: Sequence[Thread], now: datetime) -> list[UUID]:
    """Return which chosen threads fell silent, in event and in record time, and were not judged since."""
    result = []
    for thread in threads if deps.judges_ends else ():
        if not thread.explicit or thread.modality != "message" or now - thread.last_activity_at <= PAUSE:
            continue
        frame = tx.threads.frame(thread.id)
        received = frame.last_received_at
        silent = received is None or now - received > PAUSE
        if silent and judged_through(tx, thread.id) != frame.next_seq - 1:
            result.append(thread.id)
    return result


def judged_through(tx: Transaction, thread: UUID) -> int | None:
    """Return the last seq of the newest end of a thread that was judged."""
    ends = [d.detail.get("through") for d in tx.knowledge.decisions(subject=thread, type=LINK)]
    return max((end for end in ends if isinstance(end, int)), default=None)

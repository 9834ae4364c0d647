"""What became of messages that nobody waited for: an operation, which any process can tell the state of.

Nothing is kept of it: its id names the threads the messages are in and how far they reach there, and what
is decided and what waits is read from the memory itself. So no crash loses an operation.
"""

import base64
import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final
from uuid import UUID

from episodic_agent.engine.jobs.kinds import ASK, EMBED, PIECES
from episodic_agent.engine.scoped import Scoped
from episodic_agent.errors import InvalidInput, NotFound
from episodic_agent.protocols import Transaction
from episodic_agent.schemas import Job, Receipt
from episodic_agent.showing import described

IMPORTS: Final = "im_"  # how ids of imports begin (`imports.py`)
MESSAGES: Final = "op_"  # how those of added messages do
RUNNING: Final = "running"
OF_MESSAGES: Final = (EMBED, PIECES, ASK)  # jobs of one thread; what follows from them is the user's
MOST_THREADS: Final = 32  # an id names; of more it names those with the latest messages
_PLACE: Final = struct.Struct(">16sI")


@dataclass(frozen=True, slots=True)
class Operation:
    """Work that goes on after an answer. `state` is `running`, `done` or `failed`.

    It runs until the messages are embedded and their boundaries decided and no follow-up work of the user
    (titles, facts, links) is due; `waiting` counts the jobs before that. `error` is why it failed: the work
    stands among the dead jobs, where it can be tried again. An import runs until its file is read; then
    `counts` has the observations read, those added, duplicates, episodes and unreadable records. Before,
    the process that imports tells the observations read so far, and another none.
    """

    id: str
    state: str
    waiting: int = 0
    error: str | None = None
    counts: Mapping[str, int] | None = None

    def __repr__(self) -> str:
        return described(self, self.id, self.state, f"{self.waiting} waiting" if self.waiting else "")


def operation_id(receipts: Sequence[Receipt]) -> str:
    """Return the id of the work that follows from some messages.

    >>> operation_id([])
    'op_'
    """
    reach: dict[UUID, int] = {}
    for receipt in receipts:
        reach[receipt.thread_id] = max(receipt.seq, reach.pop(receipt.thread_id, 0))
    last = list(reach.items())[-MOST_THREADS:]
    packed = b"".join(_PLACE.pack(thread.bytes, seq) for thread, seq in last)
    return MESSAGES + base64.urlsafe_b64encode(packed).decode().rstrip("=")


def operation_of(at: Scoped, identity: str) -> Operation:
    """Return how an operation stands.

    Raises InvalidInput for what is no id, NotFound for an unknown user and for an id that names messages
    which this user never had, or whose whole thread was erased.
    """
    reach = _read(identity)
    with at.read() as tx:
        if not all(_was_kept(tx, thread, seq) for thread, seq in reach.items()):
            raise NotFound(
                f"no operation {identity[:60]!r} of this user; adding messages answers with one, "
                "which is told of until their thread is erased"
            )
        jobs = tx.upkeep.jobs()
        late = {str(thread) for thread, seq in reach.items() if _undecided(tx, thread, seq)}
    now = at.deps.clock()
    own = [job for job in jobs if job.kind in OF_MESSAGES and job.serial in late]
    dead = [job for job in own if job.state == "dead"]
    waiting = [job for job in own if job.state != "dead"]
    waiting += [job for job in jobs if job.kind not in OF_MESSAGES and _due(job, now)]
    if waiting:
        return Operation(identity, RUNNING, len(waiting))
    if dead:
        return Operation(identity, "failed", 0, dead[0].last_error)
    return Operation(identity, "done")


def _was_kept(tx: Transaction, thread: UUID, seq: int) -> bool:
    """Tell whether this user's thread has, or had before it was erased, a message at this place."""
    return bool(tx.threads.list(ids=[thread])) and seq < tx.threads.frame(thread).next_seq


def _undecided(tx: Transaction, thread: UUID, seq: int) -> bool:
    """Tell whether a thread's messages up to one still wait; not where the thread is gone."""
    return bool(tx.threads.list(ids=[thread])) and tx.threads.frame(thread).cursor <= seq


def _due(job: Job, now: datetime) -> bool:
    return job.state == "leased" or (job.state == "waiting" and job.run_after <= now)


def _read(identity: str) -> Mapping[UUID, int]:
    try:
        text = identity.removeprefix(MESSAGES) if identity.startswith(MESSAGES) else "?"
        packed = base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True)
        places = list(_PLACE.iter_unpack(packed))
    except (ValueError, TypeError, struct.error) as error:
        raise InvalidInput(f"{identity[:40]!r} is no operation; adding messages answers with one") from error
    return {UUID(bytes=thread): seq for thread, seq in places}

"""What became of messages or a file that nobody waited for: an operation, which any process can tell of.

Nothing is kept of messages: the id names the threads they are in and how far they reach there, and what is
decided and what waits is read from the memory itself. So no crash loses an operation. Of an import two rows
are kept for a day, where idempotency keys are kept: who does it, and how it ended. Of a process that ended
without saying so it is known that it is gone; what it had stored by then is kept, and the file sent again
goes on there.
"""

import base64
import hashlib
import json
import struct
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from contextvars import copy_context
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Final, Literal
from uuid import UUID

from episodic_agent.engine.jobs.kinds import ASK, EMBED, PIECES
from episodic_agent.engine.results import ImportReport
from episodic_agent.engine.scoped import Scoped
from episodic_agent.errors import EpisodicError, InvalidInput, NotFound, StoreUnavailable
from episodic_agent.protocols import Transaction
from episodic_agent.schemas import Job, Receipt
from episodic_agent.showing import described

IMPORTS: Final = "im_"  # how ids of imports begin
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


REMEMBERED: Final = timedelta(days=1)
AT_ONCE: Final = 2  # imports of a process that work; the others wait for their turn
MOST: Final = 8  # imports of a process
Work = Callable[..., ImportReport]  # it tells `progress` how many observations it has read
_NAME: Final = "episodic-import-"
_READ: Final[dict[str, int]] = {}  # observations read so far, of the imports under way in this process
_TURNS: Final = threading.BoundedSemaphore(AT_ONCE)
_GONE: Final = "the process that imported it ended; send the file again: it goes on where it was"
_UNREAD: Final = "nothing of it can be read; send it without `wait=false` to see why"  # no word of the file
_BROKE: Final = "it broke off; the log of the process that imported it says where"


def by_its_name(problem: str, file: Path) -> str:
    """Return what is wrong with a file without the folder it lies in, which says nothing to who sent it.

    >>> by_its_name("/tmp/import-1/chat.json is not text", Path("/tmp/import-1/chat.json"))
    'chat.json is not text'
    """
    return problem.replace(str(file), file.name)


def begin_import(at: Scoped, file: Path, work: Work, then: Callable[[], object] | None = None) -> Operation:
    """Let a thread import a file, and do `then` however it ended; return what the import is followed by.

    Raises StoreUnavailable where this process does too many already.
    """
    if sum(thread.name.startswith(_NAME) for thread in threading.enumerate()) >= MOST:
        raise StoreUnavailable(f"{MOST} imports are under way in this process; try again when one is done")
    identity = f"{IMPORTS}{at.fresh().hex}"
    _keep(at, identity, "begun", at.deps.owner)
    # no process waits for one when it ends: what is imported is durable, and the rest can be sent again
    thread = threading.Thread(
        target=copy_context().run,  # with who asked for it
        args=(_run, at, identity, file, work, then),
        name=_NAME + identity,
        daemon=True,
    )
    thread.start()
    return Operation(identity, RUNNING, 1)


def state_of_import(at: Scoped, identity: str) -> Operation:
    """Return how an import stands; NotFound where there was none by this id within a day."""
    owner = _recorded(at, identity, "begun")
    if owner is None:
        raise NotFound(f"no import {identity[:60]!r} of the last day; `POST …/import?wait=false` begins one")
    lives = _lives(at, identity, owner)  # looked at before the outcome is: who ends has written that first
    ended = _recorded(at, identity, "ended")
    if ended is None:
        read = _READ.get(identity)
        counts = None if read is None else {"observations": read}
        return (
            Operation(identity, RUNNING, 1, counts=counts)
            if lives
            else Operation(identity, "failed", 0, _GONE)
        )
    outcome = json.loads(ended)
    if "error" in outcome:
        return Operation(identity, "failed", 0, outcome["error"])
    return Operation(identity, "done", counts=outcome["counts"])


def _lives(at: Scoped, identity: str, owner: str) -> bool:
    """Tell whether who does an import may be doing it still."""
    if owner == at.deps.owner:
        return any(thread.name == _NAME + identity for thread in threading.enumerate())
    return not at.deps.gone(owner)


def _run(
    at: Scoped,
    identity: str,
    file: Path,
    work: Work,
    then: Callable[[], object] | None,
) -> None:
    outcome: dict[str, object] = {"error": _BROKE}
    try:
        with _TURNS:
            report = work(progress=partial(_READ.__setitem__, identity))
        unread = report.unreadable and not report.observations
        outcome = {"error": _UNREAD} if unread else {"counts": _counts(report)}
    except EpisodicError as error:
        outcome = {"error": by_its_name(str(error), file)}
    finally:
        if then is not None:
            with suppress(OSError):
                then()
        with suppress(EpisodicError):  # the memory was closed meanwhile: who asks finds nobody doing it
            _keep(at, identity, "ended", json.dumps(outcome))
        _READ.pop(identity, None)


def _counts(report: ImportReport) -> dict[str, int]:
    """Return what a report counts, without a word of the file: it outlives what may be erased."""
    return {
        "observations": report.observations,
        "added": report.added,
        "duplicates": report.duplicates,
        "episodes": report.episodes,
        "unreadable": len(report.unreadable),
    }


def _recorded(at: Scoped, identity: str, what: Literal["begun", "ended"]) -> str | None:
    with at.read() as tx:
        text = tx.request(_key(identity, what), at.deps.clock() - REMEMBERED)
    return None if text is None else text.decode()


def _keep(at: Scoped, identity: str, what: Literal["begun", "ended"], text: str) -> None:
    now: datetime = at.deps.clock()
    with at.deps.store.begin(at.scope) as tx:
        tx.keep_request(_key(identity, what), text.encode(), now=now, oldest=now - REMEMBERED)


def _key(identity: str, what: str) -> bytes:
    if not identity.isascii():
        raise InvalidInput(f"{identity[:40]!r} is no operation; an import answers with one")
    return hashlib.sha256(f"{what} {identity}".encode()).digest()

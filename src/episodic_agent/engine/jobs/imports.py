"""An import that nobody waits for: an operation, which any process can tell the state of.

Two rows are kept of it for a day, where idempotency keys are kept: who does it, and how it ended. Of a
process that ended without saying so it is known that it is gone; what it had stored by then is kept, and the
file sent again goes on there.
"""

import hashlib
import json
import threading
from collections.abc import Callable
from contextlib import suppress
from contextvars import copy_context
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Final, Literal

from episodic_agent.engine.jobs.operations import IMPORTS, RUNNING, Operation
from episodic_agent.engine.results import ImportReport
from episodic_agent.engine.scoped import Scoped
from episodic_agent.errors import EpisodicError, InvalidInput, NotFound, StoreUnavailable

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

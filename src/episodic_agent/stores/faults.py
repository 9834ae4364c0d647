"""Named points at which a test may stop, kill or fail a store, to prove what survives.

Nothing is armed in ordinary use; a point then costs one look at an empty dictionary. Kill tests arm a
point in a child process with an action such as `os.kill(os.getpid(), signal.SIGKILL)`.
"""

from collections.abc import Callable
from typing import Final

POINTS: Final = (
    "after-begin",  # a write transaction holds the lock, nothing is written
    "mid-append",  # half of a chunk is written (on a server its observations, not how often who spoke)
    "after-append",
    "mid-postings",
    "mid-vectors",
    "after-claim",  # jobs are marked as ours, the claim is not committed
    "before-commit",
    "after-commit",  # durable, but the caller has not heard of it
)
# Reached only where a thread is segmented again, or that is undone.
RESEGMENTING: Final = (
    "after-retire",  # the episodes of before are retired, none stands in their place
    "mid-revive",  # the episodes of a generation are deleted, those of before are not back
)
# Reached only where facts are learned.
LEARNING: Final = ("mid-facts",)  # facts are written, the words they rest on are not
# Reached only where something is erased.
ERASING: Final = (
    "mid-erasure",  # rows are gone, the receipt is not written
    "before-sweep",  # the deletion is committed, the file still holds what was deleted
    "after-sweep",  # the file is clean, its receipt still pending
)
# Reached where a log begins that the file knows nothing of.
MARKING: Final = (
    "marked-log",  # the mark stands in the log
    "marked-file",  # it stands in the file, and still in the log
)

_armed: dict[str, tuple[int, Callable[[], None]]] = {}


def arm(name: str, countdown: int, action: Callable[[], None]) -> None:
    """Run `action` when the point `name` is reached for the `countdown`-th time from now (1: the next).

    Raises ValueError for a point that does not exist, so that a renamed point cannot silence a test.
    """
    if name not in (known := (*POINTS, *RESEGMENTING, *LEARNING, *ERASING, *MARKING)):
        raise ValueError(f"no fault point {name!r}; known: {', '.join(known)}")
    _armed[name] = (countdown, action)


def disarm() -> None:
    """Forget every armed point."""
    _armed.clear()


def reach(name: str) -> None:
    """Say that the point `name` is reached."""
    if name not in _armed:
        return
    countdown, action = _armed[name]
    if countdown > 1:
        _armed[name] = (countdown - 1, action)
        return
    del _armed[name]
    action()

"""Repeat a short transaction that another writer was faster than."""

import logging
from collections.abc import Callable
from typing import TypeVar

from episodic_agent.errors import Conflict

AT_ONCE = 8  # tries before the caller hears of it; each begins by reading what the other writer left

T = TypeVar("T")
log = logging.getLogger(__name__)


def until_unopposed(work: Callable[[], T], *, tries: int = AT_ONCE) -> T:
    """Run `work`, again from its beginning while it raises Conflict; after `tries` the Conflict is raised.

    One that would come again (`IdTaken`) is raised at once.

    `work` must be one whole transaction: what a refused one wrote is gone, so repeating doubles nothing.

    >>> until_unopposed(lambda: "written")
    'written'
    """
    for left in reversed(range(tries)):
        try:
            return work()
        except Conflict as conflict:
            if not left or not conflict.retryable:
                raise
            log.info("another writer was faster, trying again: %s", conflict)
    raise ValueError("`tries` is 1 or more")

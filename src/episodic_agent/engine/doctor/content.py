"""Whether observations still are what was stored: content hashes, compared and filled in."""

from collections.abc import Iterator
from typing import Final

from episodic_agent.core.language import plural
from episodic_agent.protocols import Store, Transaction
from episodic_agent.schemas import Scope, Thread

PAGE: Final = 512
_NAMED: Final = 50  # of a thread; where its own row is damaged, all of its observations are


def altered_content(tx: Transaction, thread: Thread, count: int) -> Iterator[str]:
    """Say which of a thread's `count` observations are not what was stored."""
    number = 0
    for start in range(0, count, PAGE):
        for seq, identity in tx.observations.altered(thread.id, start, start + PAGE - 1):
            number += 1
            if number <= _NAMED:
                text = f"thread {thread.origin}: observation {seq} ({identity}) is not what was stored"
                yield f"{text}; see whether a backup has it"
    if number > _NAMED:
        yield (
            f"thread {thread.origin}: "
            f"{plural(number - _NAMED, 'more observation is', 'more observations are')} not what was stored"
        )


def hash_older(store: Store, scope: Scope, *, limit: int | None = None) -> int:
    """Hash observations that were stored before there were content hashes; return how many."""
    with store.begin(scope, write=False) as tx:
        missing = tx.count("unhashed")
    requested_limit = missing if limit is None else min(limit, missing)
    hashed = 0
    while hashed < requested_limit:
        with store.begin(scope) as tx:
            done = tx.observations.hash_older(limit=min(PAGE, requested_limit - hashed))
        if not done:
            break
        hashed += done
    return hashed

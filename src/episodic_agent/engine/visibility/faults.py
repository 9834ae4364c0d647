"""What `doctor` checks of care: marks that lie in a thread, words that hide something, a readable policy."""

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from itertools import pairwise
from typing import Final

from episodic_agent.core.language import plural
from episodic_agent.core.strength import read_retention
from episodic_agent.errors import InvalidInput
from episodic_agent.protocols import Mark, Transaction, split_ref

EVER: Final = datetime.max.replace(tzinfo=UTC)
_PAGE: Final = 512


def visibility_faults(tx: Transaction) -> Iterator[str]:
    """Yield a message for everything that is wrong with what is pinned, hidden, put away or to expire."""
    marks = tx.upkeep.marks()
    yield from _misplaced(tx, marks)
    for mark, other in pairwise(marks):  # by kind, then by place
        if mark.kind is other.kind and other.first_ref <= mark.last_ref:
            yield f"two marks ({mark.kind.value}) meet at {other.first_ref}; take both off and set one"
    if any(not words.words.strip() for words in tx.upkeep.settings().words):
        yield "the list of suppressed words has a row without words, which hides nothing"
    yield from _unreadable(tx)
    gone = _lost(tx, tx.upkeep.expired(None, EVER, limit=tx.count("expiring") or 1))
    if gone:
        yield (
            f"{plural(gone, 'observation is', 'observations are')} to expire but not there; "
            "`upkeep` cannot erase what is missing"
        )


def _misplaced(tx: Transaction, marks: Sequence[Mark]) -> Iterator[str]:
    threads = tx.threads.by_numbers(sorted({split_ref(mark.first_ref)[0] for mark in marks}))
    for mark in marks:
        number, last = split_ref(mark.first_ref)[0], split_ref(mark.last_ref)[0]
        if number != last or mark.last_ref < mark.first_ref:
            yield f"a mark ({mark.kind.value}) of {mark.first_ref} to {mark.last_ref} is in no one thread"
        elif number not in threads:
            yield f"a mark ({mark.kind.value}) lies in thread number {number}, which does not exist"


def _unreadable(tx: Transaction) -> Iterator[str]:
    try:
        read_retention(tx.upkeep.settings().retention or "")
    except InvalidInput as error:
        yield f"the retention policy cannot be read ({error}); set another with `episodic retention set`"


def _lost(tx: Transaction, refs: Sequence[int]) -> int:
    pages = (refs[start : start + _PAGE] for start in range(0, len(refs), _PAGE))
    return sum(len(set(page)) - len(tx.observations.get(page)) for page in pages)

"""Messages that hold words: those that are to go, and those that are kept and say what is erased.

The latter are named, never erased with it.
"""

from collections.abc import Iterator, Sequence
from typing import Final
from uuid import UUID

from episodic_agent.core.erasing import samples, telling_terms
from episodic_agent.core.language import fold
from episodic_agent.core.threads.turns import opens_turn
from episodic_agent.engine.visibility.hidden import pattern_of
from episodic_agent.errors import InvalidInput
from episodic_agent.protocols import OBSERVATIONS, Transaction
from episodic_agent.schemas import Observation

MOST: Final = 1000  # messages that repeat something, and erased ones whose turns are read
EVERY: Final = 2**31 - 1  # messages that hold words which are to go
AROUND: Final = 16  # messages before and after an erased one, among which its turn is
SELDOM: Final = 3  # messages that hold a word which is seldom said,
SELDOM_SHARE: Final = 0.01  # or so many of all


def repeated(tx: Transaction, gone: Sequence[Observation], language: str | None) -> tuple[UUID, ...]:
    """Return observations that are kept and repeat some that go, in order.

    Those anywhere that hold the same words, and in the same turn those that share a word which is seldom
    said: what an agent notes of a message it says in words of its own ("Noted: ramipril, no penicillin").
    """
    repeats = {one.id: one for one in quoting(tx, samples(one.text for one in gone))}
    repeats |= {one.id: one for one in _sharing(tx, gone[:MOST], language)}
    numbers = {thread: tx.threads.number(thread) for thread in {one.thread_id for one in repeats.values()}}
    ordered = sorted(repeats.values(), key=lambda one: (numbers[one.thread_id], one.seq))
    return tuple(one.id for one in ordered[:MOST])


def quoting(tx: Transaction, texts: Sequence[str]) -> list[Observation]:
    """Return observations that are kept and hold one of these strings, in any case, in order."""
    values = tx.observations.get(tx.observations.quoting(texts, limit=MOST))
    return [values[ref] for ref in sorted(values)]


def refs_of_words(tx: Transaction, words: str) -> list[int]:
    """Return the references of all messages that hold words whole, as suppressed words are compared.

    Raises InvalidInput where there are none to look for.
    """
    pieces = words.split()
    if not pieces:
        raise InvalidInput("`words` are empty; name what every message that is to go holds")
    pattern = pattern_of(words)
    near = tx.observations.quoting([max(pieces, key=len)], limit=EVERY)
    stored = tx.observations.get(near)
    return sorted(ref for ref, one in stored.items() if pattern.search(one.text))


def words_name(words: str) -> str:
    """Return what a receipt's fingerprint is of: the same words, however they are written.

    >>> words_name(" Tom  Adler ")
    'tom adler'
    """
    return " ".join(fold(words).split())


def _sharing(tx: Transaction, gone: Sequence[Observation], language: str | None) -> Iterator[Observation]:
    """Yield replies to what goes, or what it replies to, where both share a word that is seldom said."""
    terms = {one.id: telling_terms(one.text, language) for one in gone}
    asked = sorted({term for some in terms.values() for term in some})
    index = tx.index.statistics(OBSERVATIONS, asked)
    most = max(SELDOM, int(index.documents * SELDOM_SHARE))
    seldom = {term for term in asked if index.frequencies.get(term, 0) <= most}
    for messages in _turns(tx, gone):
        for replies in (True, False):
            staying = [one for one in messages if opens_turn(one) != replies and one.id not in terms]
            going = [one for one in messages if opens_turn(one) == replies and one.id in terms]
            rare = {term for one in going for term in terms[one.id] if term in seldom}
            yield from (one for one in staying if not rare.isdisjoint(telling_terms(one.text, language)))


def _turns(tx: Transaction, gone: Sequence[Observation]) -> Iterator[list[Observation]]:
    """Yield what was said in a row with the replies to it, kept and gone, around messages that go.

    Nothing is left of a thread that goes as a whole.
    """
    there = {thread.id for thread in tx.threads.list(ids=list({one.thread_id for one in gone}))}
    erased = [one for one in gone if one.thread_id in there]
    spans = [(one.thread_id, max(one.seq - AROUND, 0), one.seq + AROUND) for one in erased]
    read = [one for messages in tx.observations.read(spans) for one in messages]
    around = {(one.thread_id, one.seq): one for one in (*read, *erased)}
    waiting: list[Observation] = []
    for place in sorted(around):
        message = around[place]
        last = waiting[-1] if waiting else message
        if last.thread_id != message.thread_id or (opens_turn(message) and not opens_turn(last)):
            yield waiting
            waiting = []
        waiting.append(message)
    if waiting:
        yield waiting

"""The thread or channel that a question names as such: what was said there is preferred.

With a time beside it and nothing else it is what is asked for. A customer may be talked of elsewhere, so with
any other matter it is a preference and no filter.
"""

from datetime import datetime, timedelta
from typing import NamedTuple

from episodic_agent.core.language import fold
from episodic_agent.core.recall.alone import asks_what_happened, asks_what_was_said
from episodic_agent.core.recall.talks import TalkName, talk_names
from episodic_agent.engine.recall.filtering import refs_of_threads, threads_of_channel
from episodic_agent.engine.threads.resolving import given_name, is_place
from episodic_agent.protocols import Refs, Transaction


class NamedTalk(NamedTuple):
    """What was said in the thread or channel a question names; `alone`: else it holds a time at most."""

    refs: Refs
    alone: bool


def named_talk(
    tx: Transaction, question: str, now: datetime, utc_offset: timedelta | None = None
) -> NamedTalk | None:
    """Return what was said in the thread or channel that a question names as such, if it names one."""
    for called in talk_names(question):
        refs = _refs_called(tx, called)
        if refs is not None and len(refs):
            rest = called.rest, now, utc_offset
            return NamedTalk(refs, asks_what_was_said(*rest) or asks_what_happened(*rest))
    return None


def _refs_called(tx: Transaction, called: TalkName) -> Refs | None:
    """Return what was said in a thread of a name that its caller gave, or by a channel that is surely meant.

    Who says "in" may mean a town: then it is a thread that people come back to.
    """
    for spelling in dict.fromkeys([called.name, called.name.replace(" ", "-"), fold(called.name)]):
        thread = tx.threads.get(spelling)
        if thread is not None and given_name(thread) and (called.sure or is_place(thread)):
            return refs_of_threads(tx, [thread.id])
    threads = threads_of_channel(tx, called.name) if called.sure else ()
    return refs_of_threads(tx, threads) if threads else None

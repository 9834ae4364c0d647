"""The thread or channel that a question names as such: what was said there is preferred.

With a time beside it and nothing else it is what is asked for. A customer may be talked of elsewhere, so with
any other matter it is a preference and no filter.
"""

from collections.abc import Set as AbstractSet
from dataclasses import replace
from datetime import datetime, timedelta
from typing import NamedTuple

import numpy as np

from episodic_agent.core.language import fold
from episodic_agent.core.language.pastdays import asked_time
from episodic_agent.core.recall.alone import asks_what_happened, asks_what_was_said, looks_back
from episodic_agent.core.recall.query import ROLES, Query
from episodic_agent.core.recall.talks import TalkName, talk_names
from episodic_agent.core.threads.channels import channels_meant
from episodic_agent.engine.recall.filtering import (
    SearchBounds,
    channels_known,
    refs_of_channels,
    refs_of_threads,
)
from episodic_agent.engine.recall.gathering import within
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
    named = talk_names(question)
    channels = channels_known(tx) if named else frozenset()
    for called in named:
        refs = _refs_called(tx, called, channels)
        if refs is not None and len(refs):
            rest = called.rest, now, utc_offset
            return NamedTalk(refs, asks_what_was_said(*rest) or asks_what_happened(*rest))
    return None


def asked_alone(query: Query, talk: NamedTalk, now: datetime) -> Query | None:
    """Return a query as for what happened in a time and nothing else; None where it asks for more.

    With the name of the talk in it, a day that is over was read as one to come.
    """
    if not talk.alone or (query.ahead is not None and not looks_back(query.text)):
        return None
    time = query.time if query.ahead is None else asked_time(query.text, now, query.time.utc_offset)
    return (
        replace(query, ahead=None, time=time, said_alone=False, happened_alone=True) if time.ranges else None
    )


def refs_of_people(tx: Transaction, query: Query, bounds: SearchBounds) -> Refs | None:
    """Return what people said within bounds whom a query names and who speak here; None: it names none."""
    if not any(fold(one) not in ROLES for one in query.speakers):
        return None  # "I" and "you" are whoever writes
    marks = tx.index.observation_marks(within(tx, bounds))
    return np.array([mark.ref for mark in marks if mark.actor in query.speakers], np.int64)


def known_names(tx: Transaction, query: Query) -> Query:
    """Return a query without the names by which a channel is meant: nobody mentions what they write by."""
    names = [fold(one) for one in query.written]
    if not names:
        return query
    channels = channels_known(tx)
    left = [n for n, name in enumerate(names) if not channels_meant(name, channels)]
    return replace(
        query,
        names=tuple(query.names[n] for n in left),
        written=tuple(query.written[n] for n in left),
    )


def _refs_called(tx: Transaction, called: TalkName, channels: AbstractSet[str]) -> Refs | None:
    """Return what was said in a thread of a name that its caller gave, or what came by channels so called.

    Who says "in" may mean a town: then it is a thread that people come back to.
    """
    for spelling in dict.fromkeys([called.name, called.name.replace(" ", "-"), fold(called.name)]):
        thread = tx.threads.get(spelling)
        if thread is not None and given_name(thread) and (called.sure or is_place(thread)):
            return refs_of_threads(tx, [thread.id])
    meant = channels_meant(called.name, channels)
    return refs_of_channels(tx, meant) if meant else None

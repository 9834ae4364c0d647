"""What happened in a time that a question asks about and nothing else, for search and contexts alike.

What happened on Tuesday is told on Tuesday, or later with its day: "yesterday the server was down". What
other days tell is no answer, however well it is worded.
"""

from dataclasses import replace
from datetime import datetime, timedelta
from functools import cache
from typing import Final

import numpy as np

from episodic_agent.core.echo import own_words
from episodic_agent.core.language import tokens
from episodic_agent.core.language.glued import glued_days, glued_weekdays
from episodic_agent.core.language.pastdays import asked_time, speaks_of_days_over
from episodic_agent.core.language.timewords import date_words
from episodic_agent.core.recall.bm25 import K1
from episodic_agent.core.recall.query import Query
from episodic_agent.data import pairs, phrases
from episodic_agent.engine.recall.filtering import SearchBounds
from episodic_agent.engine.recall.gathering import within
from episodic_agent.engine.recall.times import span
from episodic_agent.engine.visibility.hidden import Visibility
from episodic_agent.protocols import OBSERVATIONS, Refs, Transaction

LATER: Final = timedelta(days=7)  # so long what happened on a day is told by its name
MOST_LATER: Final = 200  # newest messages that are read for that
_DAY: Final = timedelta(days=1)


def happened_refs(
    tx: Transaction, query: Query, bounds: SearchBounds, now: datetime, visibility: Visibility
) -> Refs:
    """Return what was said in the times a question names, or soon after of them; rising.

    Nothing where nothing was said in them: then others know best what happened.
    """
    since, until = span(query)
    end = min(until, now + timedelta.resolution)
    if since >= end:
        return np.zeros(0, np.int64)
    there = visibility.shown(within(tx, _between(bounds, since, end)))
    if not len(there) or end >= now:
        return there
    later = within(tx, _between(bounds, end, min(end + LATER, now)))
    return np.union1d(there, visibility.shown(_telling_of(tx, later, since, end)))


def bounds_of_review(
    tx: Transaction, query: Query, bounds: SearchBounds, now: datetime, visibility: Visibility
) -> SearchBounds:
    """Return bounds with what was said of the time alone in which a question asks what became of a matter.

    They are the same for another question, and where nothing was said in that time.
    """
    if not query.reviews or query.happened_alone or query.ahead is not None:
        return bounds
    refs = happened_refs(tx, query, bounds, now, visibility)
    return replace(bounds, about=refs) if len(refs) else bounds


def _between(bounds: SearchBounds, since: datetime, until: datetime) -> SearchBounds:
    return SearchBounds(since, until, bounds.thread_id, bounds.place, bounds.about)


def _telling_of(tx: Transaction, refs: Refs, since: datetime, until: datetime) -> Refs:
    """Return of some messages those that name a day of a time, and none beside it."""
    days = {since + n * _DAY for n in range(min((until - since).days + 1, LATER.days))}
    weekdays = {word for day in days for word in date_words(day) if word.isalpha()}
    glued = {term for day in days for form in glued_weekdays(day.weekday()) for term in tokens(form)}
    weights = dict.fromkeys([*_days_over(), *weekdays, *glued], 1.0)
    scores = tx.index.text_scores(OBSERVATIONS, weights, refs, k1=K1, b=0.0, average_length=1.0)[1]
    stored = tx.observations.get(refs[scores > 0][-MOST_LATER:].tolist())
    telling = []
    for ref, item in stored.items():
        text = own_words(item).text
        if _days_over().isdisjoint(tokens(text)) and not speaks_of_days_over(text):
            continue  # "I do it on Thursday"
        offset = None if item.utc_offset is None else timedelta(seconds=item.utc_offset)
        ranges = asked_time(text, item.at, offset).ranges
        if ranges and all(since <= part.start and part.end <= until for part in ranges):
            telling.append(ref)
    return np.array(sorted(telling), np.int64)


@cache
def _days_over() -> frozenset[str]:
    """Return the terms of days that are over: "yesterday", "vorgestern"."""
    days = [form for form, value in pairs("entities/times.days").items() if value.startswith("-")]
    days += glued_days(phrases("language/pastdays.days_han"))
    return frozenset(term for form in days for term in tokens(form))

"""Find what was said to be due on the days a question asks about, for search and contexts alike.

The few ways to name a day are looked up in the index of words, what comes again by the marks of its days, and
the texts found are read from the moment each was said.
"""

from collections import ChainMap, Counter
from collections.abc import Collection, Iterator, Mapping
from datetime import UTC, datetime, time, timedelta
from typing import Final

import numpy as np

from episodic_agent.core.echo import is_echo, own_words
from episodic_agent.core.facts.stating import KNOWN_EMBEDDERS
from episodic_agent.core.language.coming import moves
from episodic_agent.core.language.timewords import normal
from episodic_agent.core.recall.due import (
    APART,
    DATED,
    REACH,
    STANDS,
    WEEKDAY,
    DaysAsked,
    Matter,
    Schedule,
    again_on,
    closeness,
    dated_terms,
    day_of,
    due,
    marks_of,
    matter_of,
    moving_terms,
    near_terms,
    schedule_of,
    stands,
)
from episodic_agent.engine.visibility.hidden import Visibility
from episodic_agent.protocols import OBSERVATIONS, Refs, Scores, Transaction
from episodic_agent.schemas import Observation

DAY: Final = 86_400.0
MOST_NEAR: Final = 4_000  # newest messages of the last weeks that are looked through by their words
MOST_DATED: Final = 400  # that may name a date by its month
MOST_READ: Final = 400  # newest texts that are read
WEEKS: Final = 16.0  # days; a weekday is named no longer before
CLOSEST: Final = 3.0  # "tomorrow", "today"
RARE: Final = 4  # of the newest messages that a word may stand in to name a matter by itself,
RARE_SHARE: Final = 0.01  # or this share of them
MOST_MOVED: Final = 60  # newest of those that may move something
MOST_MARKED: Final = 4_000  # that name one of the days asked about as one that comes again
MOST_NAMED: Final = 24  # newest of those that do, of which is asked what changed them
MOST_BROUGHT: Final = 8  # newest of those due once that may bring one to another day
MOST_RELATED: Final = 40  # of a habit, newest and nearest by their words, that may change it


def due_shares(tx: Transaction, asked: DaysAsked, now: datetime, visibility: Visibility) -> dict[int, float]:
    """Return what was said before `now` of the days asked about, rising, each with how close it is to them.

    What a later message moves away or calls off is told by that message; of what comes again what changed it,
    too.
    """
    first = datetime.combine(asked.days[0], time(), UTC)
    near = tx.index.between(first - REACH, now, limit=MOST_NEAR, newest=True)
    once = _due_once(tx, near, asked, now, visibility)
    refs = np.union1d(once, _due_again(tx, near, once, asked, now, visibility))
    return {
        ref: closeness(own_words(item).text, item.at, _offset(item), asked)
        for ref, item in sorted(_read(tx, refs).items())
    }


def _due_once(tx: Transaction, near: Refs, asked: DaysAsked, now: datetime, visibility: Visibility) -> Refs:
    """Return what names one of the days asked about, or moves what does."""
    first = datetime.combine(asked.days[0], time(), UTC)
    refs = visibility.shown(_naming(tx, near, asked, first, now))
    texts = {
        ref: item
        for ref, item in _read(tx, refs).items()
        if due(own_words(item).text, item.at, _offset(item), asked)
    }
    if not texts:
        return np.zeros(0, np.int64)
    moving = near[_scores(tx, near, moving_terms()) > 0][-MOST_MOVED:]
    later = _read(tx, visibility.shown(moving)) | texts
    later = {ref: item for ref, item in later.items() if moves(normal(own_words(item).text))}
    matters = {ref: _matter(item, asked) for ref, item in {**later, **texts}.items()}
    movers = [other for other in later if matters[other].moves]
    pairs = (matters[other].terms & matters[ref].terms for ref in texts for other in movers if other != ref)
    common = _common(tx, near, {term for shared in pairs if len(shared) == 1 for term in shared})
    return np.array(sorted(_as_moved(texts, later, matters, common)), np.int64)


def _due_again(
    tx: Transaction, near: Refs, once: Refs, asked: DaysAsked, now: datetime, visibility: Visibility
) -> Refs:
    """Return what comes again on the days asked about, with what changed it; `once` may bring it there."""
    refs, _ = tx.index.text_scores(
        OBSERVATIONS, marks_of(asked), k1=0.0, b=0.0, average_length=1.0, limit=MOST_MARKED
    )
    refs = refs[np.argsort(-tx.index.times(refs), kind="stable")][:MOST_READ]
    once = once[np.argsort(-tx.index.times(once), kind="stable")][:MOST_BROUGHT]
    schedules = _schedules(tx, visibility.shown(np.union1d(refs, once)), asked, now)
    named = [ref for ref, one in schedules.items() if one.names(asked.days)]
    named = sorted(named, key=lambda ref: schedules[ref].at)[-MOST_NAMED:]
    named += [ref for ref in once.tolist() if ref in schedules and schedules[ref].skipped]
    related = {other for ref in named for other in _related(tx, near, schedules[ref].terms)} - {*schedules}
    refs = np.array(sorted(related), np.int64)
    refs = refs[np.argsort(-tx.index.times(refs), kind="stable")][:MOST_READ]
    schedules |= _schedules(tx, visibility.shown(np.unique(refs)), asked, now)
    shared = Counter(term for one in schedules.values() for term in one.terms)
    common = _common(tx, near, {term for term, number in shared.items() if number > 1})
    return np.array(sorted(again_on(asked, schedules, common)), np.int64)


def _related(tx: Transaction, near: Refs, terms: Collection[str]) -> Iterator[int]:
    """Yield texts that hold some of the terms: the newest of the last weeks, and those with most."""
    weights = dict.fromkeys(terms, 1.0)
    yield from near[_scores(tx, near, weights) > 0][-MOST_RELATED:].tolist()
    refs, _ = tx.index.text_scores(
        OBSERVATIONS, weights, k1=0.0, b=0.0, average_length=1.0, limit=MOST_RELATED
    )
    yield from refs.tolist()


def _schedules(tx: Transaction, refs: Refs, asked: DaysAsked, now: datetime) -> dict[int, Schedule]:
    """Return what texts say of days that come again; no weekday does by mere talk, a date stands anyway."""
    schedules = {}
    read = {ref: item for ref, item in _read(tx, refs).items() if item.at < now}
    for ref, item in read.items():
        today = day_of(item.at, _offset(item), asked)
        schedules[ref] = schedule_of(own_words(item).text, item.at, today)
    naming = [ref for ref, one in schedules.items() if one.days and one.names(asked.days)]
    vectors = ChainMap(*(dict(tx.index.vectors(OBSERVATIONS, name, naming)) for name in KNOWN_EMBEDDERS))
    for ref in naming:
        if stands(own_words(read[ref]).text, vectors.get(ref)) < STANDS:
            dates = tuple(one for one in schedules[ref].days if one.dates)
            schedules[ref] = schedules[ref]._replace(days=dates)
    return schedules


def _common(tx: Transaction, near: Refs, terms: Collection[str]) -> frozenset[str]:
    """Return the terms that so many of the last weeks' messages hold that none says which matter it is."""
    most = max(RARE, len(near) * RARE_SHARE)
    # few terms stand in so many messages of any time: those alone are counted in these
    frequencies = tx.index.statistics(OBSERVATIONS, sorted(terms)).frequencies if terms else {}
    terms = [term for term, count in frequencies.items() if count > most]
    return frozenset(term for term in terms if (_scores(tx, near, {term: 1.0}) > 0).sum() > most)


def _naming(tx: Transaction, near: Refs, asked: DaysAsked, first: datetime, now: datetime) -> Refs:
    """Return what may name the days asked about: the newest texts with terms that do, rising."""
    scores = _scores(tx, near, near_terms(asked))
    dated = _dated(tx, asked)
    refs = np.concatenate([near[scores > 0], dated])
    scores = np.concatenate([scores[scores > 0], np.full(len(dated), APART)])
    times = tx.index.times(refs) / 1e6
    days = (first.timestamp() - times) / DAY
    likely = (scores % WEEKDAY >= APART) | ((scores >= WEEKDAY) & (days <= WEEKS)) | (days <= CLOSEST)
    likely &= (times > 0) & (times < now.timestamp())
    newest = np.lexsort((refs[likely], -times[likely]))[:MOST_READ]
    return np.unique(refs[likely][newest])


def _dated(tx: Transaction, asked: DaysAsked) -> Refs:
    refs, scores = tx.index.text_scores(
        OBSERVATIONS, dated_terms(asked), k1=0.0, b=0.0, average_length=1.0, limit=MOST_DATED
    )
    return refs[scores >= DATED]


def _scores(tx: Transaction, refs: Refs, weights: Mapping[str, float]) -> Scores:
    """Return the sum of the weights of the terms that each text holds, as often as it holds them."""
    every = 1e9  # so slowly does BM25 grow tired of a term that it does not
    return tx.index.text_scores(OBSERVATIONS, weights, refs, k1=every, b=0.0, average_length=1.0)[1].round(2)


def _as_moved(
    texts: Mapping[int, Observation],
    later: Mapping[int, Observation],
    matters: Mapping[int, Matter],
    common: Collection[str],
) -> frozenset[int]:
    """Return the references with those of what moves some of it, and without what is moved away."""
    refs_told = set(texts)
    for ref, item in texts.items():
        for other, change in later.items():
            if change.at > item.at and matters[other].changes(matters[ref], common):
                refs_told.add(other)
                if matters[other].on_days:
                    refs_told.discard(ref)
    return frozenset(refs_told)


def _matter(item: Observation, asked: DaysAsked) -> Matter:
    return matter_of(own_words(item).text, item.at, _offset(item), asked)


def _read(tx: Transaction, refs: Refs) -> dict[int, Observation]:
    stored = tx.observations.get(refs.tolist())
    return {ref: item for ref, item in stored.items() if item.text.strip() and not is_echo(item)}


def _offset(item: Observation) -> timedelta | None:
    return None if item.utc_offset is None else timedelta(seconds=item.utc_offset)

"""Which earlier threads a message is compared with, read from the store: active, named, found by search."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

import numpy as np

from episodic_agent.core.interfaces import OBSERVATIONS, Refs, Transaction, split_ref
from episodic_agent.core.linking import Activity, Candidate, candidates, named_ranges
from episodic_agent.core.linking.candidates import MOST_ACTIVE, MOST_FOUND
from episodic_agent.core.linking.lexicon import own_words
from episodic_agent.core.ranking import kept_terms, reciprocal_ranks, term_weight
from episodic_agent.core.ranking.bm25 import K1, B
from episodic_agent.core.text import tokens
from episodic_agent.engine.parts import Parts
from episodic_agent.schemas import Thread, Vector

PER_LEG: Final = 100  # observations that words and vectors each bring
MORE: Final = 8  # times as many, where most of what was found came later
IN_RANGE: Final = 50  # threads looked at for each stretch of time that is named


@dataclass(frozen=True, slots=True)
class Wanted:
    """A message that may go on with an earlier thread, at its event time.

    `began` is when its thread began, `number` the thread's number (None: it is not stored): only threads
    from before are compared.
    """

    text: str
    at: datetime
    vector: Vector | None = None
    utc_offset: timedelta | None = None
    began: datetime | None = None
    number: int | None = None
    apart_from: frozenset[UUID] = frozenset()


@dataclass(frozen=True, slots=True)
class Found:
    """A candidate with its thread."""

    thread: Thread
    candidate: Candidate


def find(tx: Transaction, wanted: Wanted, parts: Parts) -> list[Found]:
    """Return the threads to compare a message with: those active lately, named by it, or found by search."""
    until = wanted.began or wanted.at
    ranges = named_ranges(wanted.text, wanted.at, wanted.utc_offset)
    threads = {t.id: t for t in tx.threads.begun(until, limit=MOST_ACTIVE + 1 + len(wanted.apart_from))}
    for stretch in ranges:
        within = tx.threads.begun(min(until, stretch.end), limit=IN_RANGE)
        threads |= {t.id: t for t in within if t.last_activity_at >= stretch.start}
    hits = _searched(tx, wanted, parts, threads)
    allowed = {t.id: t for t in threads.values() if _before(tx, t, wanted)}
    activities = [
        Activity(str(t.id), t.created_at, min(t.last_activity_at, wanted.at)) for t in allowed.values()
    ]
    found = candidates(
        activities,
        [str(identity) for identity in hits if identity in allowed],
        wanted.at,
        ranges,
        apart_from=frozenset(map(str, wanted.apart_from)),
    )
    return [Found(allowed[UUID(one.thread_id)], one) for one in found]


def _before(tx: Transaction, thread: Thread, wanted: Wanted) -> bool:
    """Tell whether a thread of messages began before the message's own; of equals, the one stored first."""
    if thread.modality != "message" or thread.id in wanted.apart_from:
        return False
    began = wanted.began or wanted.at
    if thread.created_at != began or wanted.number is None:
        return thread.created_at <= began
    return tx.threads.number(thread.id) < wanted.number


def _searched(tx: Transaction, wanted: Wanted, parts: Parts, threads: dict[UUID, Thread]) -> list[UUID]:
    """Return the threads that search finds, best first, and add them to those that are known."""
    numbers: list[int] = []
    for limit in (PER_LEG, PER_LEG * MORE):
        legs = [_by_words(tx, wanted, parts, limit), _by_vectors(tx, wanted, parts, limit)]
        full = any(len(leg) == limit for leg in legs)
        ranked = reciprocal_ranks(_threads_of(tx, legs, wanted))
        numbers = [int(n) for n in sorted(ranked, key=lambda n: (-ranked[n], int(n)))]
        if len(numbers) > MOST_FOUND or not full:
            break
    numbers = numbers[: 2 * MOST_FOUND]
    named = tx.threads.by_numbers(numbers)
    found = [named[n] for n in numbers if n in named]
    threads |= tx.threads.many([identity for identity in found if identity not in threads])
    return [identity for identity in found if identity in threads]


def _threads_of(tx: Transaction, legs: Sequence[Refs], wanted: Wanted) -> list[list[str]]:
    """Return for each leg the threads of what was said by the message's time, by their best hit."""
    until = int(wanted.at.timestamp() * 1e6)
    refs = np.concatenate(legs)
    times = dict(zip(refs.tolist(), tx.threads.times(refs).tolist(), strict=True)) if len(refs) else {}
    found = []
    for leg in legs:
        numbers = (split_ref(ref)[0] for ref in leg.tolist() if times[ref] <= until)
        found.append(list(dict.fromkeys(str(n) for n in numbers if n != wanted.number)))
    return found


def _by_words(tx: Transaction, wanted: Wanted, parts: Parts, limit: int) -> Refs:
    terms: Sequence[str] = list(dict.fromkeys(tokens(own_words(wanted.text), parts.language)))
    if not terms:
        return np.zeros(0, np.int64)
    statistics = tx.index.statistics(OBSERVATIONS, terms)
    kept = kept_terms({t: statistics.frequencies.get(t, 0) for t in terms}, statistics.documents)
    weights = {t: term_weight(t, df, statistics.documents) for t, df in kept.items()}
    if not weights:
        return np.zeros(0, np.int64)
    average = statistics.average_length
    refs, _ = tx.index.text_scores(OBSERVATIONS, weights, k1=K1, b=B, average_length=average, limit=limit)
    return refs


def _by_vectors(tx: Transaction, wanted: Wanted, parts: Parts, limit: int) -> Refs:
    if wanted.vector is None or not np.any(wanted.vector):
        return np.zeros(0, np.int64)
    refs, _ = tx.index.vector_scores(OBSERVATIONS, parts.embedder_name, wanted.vector, limit=limit)
    return refs

"""Which earlier threads a message is compared with, read from the store: active, named, found by search."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

import numpy as np

from episodic_agent.core.language import tokens
from episodic_agent.core.links.candidates import (
    CHOSEN_FOUND,
    CHOSEN_FROM,
    MOST_ACTIVE,
    MOST_FOUND,
    ActivePeriod,
    ThreadCandidate,
    candidates,
    named_ranges,
)
from episodic_agent.core.links.lexicon import own_words
from episodic_agent.core.recall import kept_terms, reciprocal_ranks, term_weight
from episodic_agent.core.recall.bm25 import K1, B
from episodic_agent.core.threads.channels import are_apart, projects_of
from episodic_agent.engine.deps import Deps
from episodic_agent.protocols import OBSERVATIONS, Refs, Transaction, split_ref
from episodic_agent.schemas import Thread, Vector

PER_LEG: Final = 100  # observations that words and vectors each bring
MORE: Final = 8  # times as many, where most of what was found came later
IN_RANGE: Final = 50  # threads looked at for each stretch of time that is named


@dataclass(frozen=True, slots=True)
class EarlierThreads:
    """A message that may go on with an earlier thread, at its event time.

    `began` is when its thread began, `number` the thread's number (None: it is not stored): only threads
    from before are compared. `projects` are those its thread declares: threads of others are not compared.
    """

    text: str
    at: datetime
    vector: Vector | None = None
    utc_offset: timedelta | None = None
    began: datetime | None = None
    number: int | None = None
    apart_from: frozenset[UUID] = frozenset()
    projects: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Reach:
    """How many threads are compared: of those active last (None: within a day), and of those search finds."""

    latest: int | None = None
    searched: int = MOST_FOUND


_OF_MESSAGES: Final = Reach()
OF_CHOICES: Final = Reach(CHOSEN_FROM, CHOSEN_FOUND)


@dataclass(frozen=True, slots=True)
class CandidateThread:
    """A candidate with its thread."""

    thread: Thread
    candidate: ThreadCandidate


def find(
    tx: Transaction, query: EarlierThreads, deps: Deps, reach: Reach = _OF_MESSAGES
) -> list[CandidateThread]:
    """Return the threads to compare a message with: those active lately, named by it, or found by search."""
    most = MOST_ACTIVE if reach.latest is None else reach.latest
    until = query.began or query.at
    ranges = named_ranges(query.text, query.at, query.utc_offset)
    threads = {t.id: t for t in tx.threads.list(begun=until, limit=most + 1 + len(query.apart_from))}
    for stretch in ranges:
        within = tx.threads.list(begun=min(until, stretch.end), limit=IN_RANGE)
        threads |= {t.id: t for t in within if t.last_activity_at >= stretch.start}
    hits = _searched(tx, query, deps, threads, reach.searched)
    allowed = {t.id: t for t in threads.values() if _before(tx, t, query)}
    activities = [
        ActivePeriod(str(t.id), t.created_at, min(t.last_activity_at, query.at)) for t in allowed.values()
    ]
    matching_candidates = candidates(
        activities,
        [str(identity) for identity in hits if identity in allowed],
        query.at,
        ranges,
        apart_from=frozenset(map(str, query.apart_from)),
        most_latest=reach.latest or 0,
        most_found=reach.searched,
    )
    return [CandidateThread(allowed[UUID(one.thread_id)], one) for one in matching_candidates]


def _before(tx: Transaction, thread: Thread, query: EarlierThreads) -> bool:
    """Tell whether a thread of messages may be gone on with: of no other project, and begun before.

    Of two that began at once it is the one stored first.
    """
    if thread.modality != "message" or thread.id in query.apart_from:
        return False
    if are_apart(projects_of(thread.channels), query.projects):
        return False
    began = query.began or query.at
    if thread.created_at != began or query.number is None:
        return thread.created_at <= began
    return tx.threads.number(thread.id) < query.number


def _searched(
    tx: Transaction, query: EarlierThreads, deps: Deps, threads: dict[UUID, Thread], most: int
) -> list[UUID]:
    """Return the threads that search finds, best first, and add them to those that are known."""
    numbers: list[int] = []
    for limit in (PER_LEG, PER_LEG * MORE):
        legs = [_by_words(tx, query, deps, limit), _by_vectors(tx, query, deps, limit)]
        full = any(len(leg) == limit for leg in legs)
        ranked = reciprocal_ranks(_threads_of(tx, legs, query))
        numbers = [int(n) for n in sorted(ranked, key=lambda n: (-ranked[n], int(n)))]
        if len(numbers) > most or not full:
            break
    numbers = numbers[: 2 * most]
    named = tx.threads.by_numbers(numbers)
    identifiers = [named[n] for n in numbers if n in named]
    threads |= {
        t.id: t
        for t in tx.threads.list(ids=[identity for identity in identifiers if identity not in threads])
    }
    return [identity for identity in identifiers if identity in threads]


def _threads_of(tx: Transaction, legs: Sequence[Refs], query: EarlierThreads) -> list[list[str]]:
    """Return for each leg the threads of what was said by the message's time, by their best hit."""
    until = int(query.at.timestamp() * 1e6)
    refs = np.concatenate(legs)
    times = dict(zip(refs.tolist(), tx.index.times(refs).tolist(), strict=True)) if len(refs) else {}
    result = []
    for leg in legs:
        numbers = (split_ref(ref)[0] for ref in leg.tolist() if times[ref] <= until)
        result.append(list(dict.fromkeys(str(n) for n in numbers if n != query.number)))
    return result


def _by_words(tx: Transaction, query: EarlierThreads, deps: Deps, limit: int) -> Refs:
    terms: Sequence[str] = list(dict.fromkeys(tokens(own_words(query.text), deps.language)))
    if not terms:
        return np.zeros(0, np.int64)
    statistics = tx.index.statistics(OBSERVATIONS, terms)
    limits = kept_terms({t: statistics.frequencies.get(t, 0) for t in terms}, statistics.documents)
    weights = {t: term_weight(t, df, statistics.documents) for t, df in limits.items()}
    if not weights:
        return np.zeros(0, np.int64)
    average = statistics.average_length
    refs, _ = tx.index.text_scores(OBSERVATIONS, weights, k1=K1, b=B, average_length=average, limit=limit)
    return refs


def _by_vectors(tx: Transaction, query: EarlierThreads, deps: Deps, limit: int) -> Refs:
    if query.vector is None or not np.any(query.vector):
        return np.zeros(0, np.int64)
    refs, _ = tx.index.vector_scores(OBSERVATIONS, deps.embedder_name, query.vector, limit=limit)
    return refs

"""What linking compares a message with, read from the store: threads, their features, their sittings.

Candidates are active, named, or found by search. What is read of stored messages and threads is kept in this
process for as long as nothing changed. A thread is the sum of its last messages, whoever spoke: a follow-up
follows the answer as often as the question, and the figures in docs/internals/linking.md were measured so.

A choice compares threads each for itself, or those of one sitting that nobody named together. On a channel
where users choose threads every message without one opens another. Such threads, half an hour or less apart,
are one stretch of talk: what is said in the second often means nothing without the first. A thread's links
are judged again when it ends, by request, by the next message or by the clock (`asking`).
"""

import threading
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Final, Generic, TypeAlias, TypeVar
from uuid import UUID

import numpy as np

from episodic_agent.core.echo import all_own_words
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
from episodic_agent.core.links.choice import Talk, talk_of
from episodic_agent.core.links.features import Features, ThreadFeatures, own_words, thread_of
from episodic_agent.core.links.reading import read_message
from episodic_agent.core.recall import CALIBRATED_FOR, kept_terms, reciprocal_ranks, term_weight
from episodic_agent.core.recall.bm25 import K1, B
from episodic_agent.core.threads.channels import are_apart, projects_of
from episodic_agent.core.threads.resolution import INACTIVITY
from episodic_agent.core.threads.turns import opens_turn
from episodic_agent.engine.deps import Deps
from episodic_agent.engine.jobs.kinds import LINK, LINK_END
from episodic_agent.engine.threads.resolving import is_unnamed
from episodic_agent.protocols import OBSERVATIONS, Refs, Transaction, ref_of, split_ref
from episodic_agent.schemas import Kind, Observation, Scope, Thread, Vector

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


LAST_MESSAGES: Final = 20  # of a thread that are compared
LONGEST: Final = 1000  # characters of a message that are read
PAGE: Final = 64
MOST_PAGES: Final = 8  # looked through for messages that were there at the time
KEPT_MESSAGES, KEPT_THREADS = 4096, 1024

SittingEnds: TypeAlias = tuple[tuple[UUID, int], ...]
"""The threads of a sitting, each with the seq that comes next in it."""

K = TypeVar("K")
V = TypeVar("V")


class _UsedLast(Generic[K, V]):
    """The values used last. Thread safe."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._values: OrderedDict[K, V] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, key: K) -> V | None:
        with self._lock:
            if key in self._values:
                self._values.move_to_end(key)
            return self._values.get(key)

    def put(self, key: K, value: V) -> None:
        with self._lock:
            self._values[key] = value
            while len(self._values) > self._most:
                self._values.popitem(last=False)


def weighs_vectors(deps: Deps) -> bool:
    """Tell whether the embedder's cosines mean what linking learned of them: the default's, or calibrated."""
    named = deps.embedder_name.startswith(CALIBRATED_FOR)
    return deps.embedder is not None and (named or deps.calibration is not None)


class ThreadReader:
    """Turns stored messages and threads into features."""

    def __init__(self, deps: Deps) -> None:
        self._deps = deps
        self._weighs = weighs_vectors(deps)
        self._messages: _UsedLast[tuple[Scope, UUID], Features] = _UsedLast(KEPT_MESSAGES)
        self._threads: _UsedLast[tuple[Scope, UUID, int], ThreadFeatures] = _UsedLast(KEPT_THREADS)
        self._talks: _UsedLast[tuple[Scope, SittingEnds], Talk] = _UsedLast(KEPT_THREADS)

    def messages(self, tx: Transaction, observations: Sequence[Observation]) -> list[Features]:
        """Return the features of messages."""
        known = [self._messages.get((tx.scope, o.id)) for o in observations]
        missing = [o for o, features in zip(observations, known, strict=True) if features is None]
        if not missing:
            return [features for features in known if features is not None]
        read = {o.id: features for o, features in zip(missing, self._read(tx, missing), strict=True)}
        return [
            features if features is not None else read[o.id]
            for o, features in zip(observations, known, strict=True)
        ]

    def _read(self, tx: Transaction, observations: Sequence[Observation]) -> list[Features]:
        refs = [ref_of(tx.threads.number(o.thread_id), o.seq) for o in observations]
        vectors = tx.index.vectors(OBSERVATIONS, self._deps.embedder_name, refs) if self._weighs else {}
        result = []
        for o, ref in zip(observations, refs, strict=True):
            language = self._deps.language
            features = read_message(o.text[:LONGEST], o.at, vector=vectors.get(ref), language=language)
            if self._complete(o, features):
                self._messages.put((tx.scope, o.id), features)
            result.append(features)
        return result

    def talk(self, scope: Scope, ends: SittingEnds) -> Talk | None:
        """Return a sitting that was read before, with as many messages in its threads."""
        return self._talks.get((scope, ends))

    def keep_talk(self, scope: Scope, ends: SittingEnds, talk: Talk) -> None:
        """Keep a sitting that was read."""
        self._talks.put((scope, ends), talk)

    def complete(self, observations: Sequence[Observation], read: Mapping[UUID, Features]) -> bool:
        """Tell whether nothing is to be added to messages as they were read: all have their vectors."""
        return all(self._complete(o, read[o.id]) for o in observations)

    def _complete(self, observation: Observation, features: Features) -> bool:
        """Tell whether nothing is to be added: a vector that is missing may come later."""
        return not self._weighs or features.vector is not None or not observation.text.strip()

    def threads(
        self, tx: Transaction, threads: Sequence[Thread], until: datetime
    ) -> list[ThreadFeatures | None]:
        """Return threads as they were at an event time; None for one that held nothing that was said."""
        ends = ends_of(tx, [thread.id for thread in threads])
        keys = {one: (tx.scope, one, end) for one, end in ends.items()}
        identifiers = {thread.id for thread in threads if thread.last_activity_at <= until}
        matching_features = {one: self._threads.get(keys[one]) for one in identifiers}
        missing = [thread for thread in threads if matching_features.get(thread.id) is None]
        observations = last_said(tx, {thread.id: ends[thread.id] for thread in missing}, until)
        every = [o for some in observations.values() for o in some]
        read = {o.id: features for o, features in zip(every, self.messages(tx, every), strict=True)}
        for thread in missing:
            inside = observations[thread.id]
            if not inside:
                continue
            made = thread_of(str(thread.id), ((o.at, read[o.id]) for o in inside))
            made = replace(made, first_at=min(made.first_at, thread.created_at))
            if thread.id in identifiers and all(self._complete(o, read[o.id]) for o in inside):
                self._threads.put(keys[thread.id], made)
            matching_features[thread.id] = made
        return [matching_features.get(thread.id) for thread in threads]


def ends_of(tx: Transaction, threads: Sequence[UUID]) -> dict[UUID, int]:
    """Return the seq that comes next in each of these threads."""
    return {identity: frame.next_seq for identity, frame in tx.threads.frame(threads).items()}


def last_said(
    tx: Transaction, ends: Mapping[UUID, int], until: datetime, *, most: int = LAST_MESSAGES
) -> dict[UUID, list[Observation]]:
    """Return the last messages of threads up to an event time, oldest first, whoever spoke.

    `ends` has the seq that comes next in each thread.
    """
    observations: dict[UUID, list[Observation]] = {thread: [] for thread in ends}
    for page in range(MOST_PAGES):
        lasts = {
            thread: end - page * PAGE - 1 for thread, end in ends.items() if len(observations[thread]) < most
        }
        spans = [(thread, max(0, last - PAGE + 1), last) for thread, last in lasts.items() if last >= 0]
        for (thread, *_), some in zip(spans, tx.observations.read(spans) if spans else (), strict=True):
            spoken_observations = all_own_words(some)
            statements = [
                o for o in spoken_observations if o.kind is Kind.MESSAGE and o.at <= until and o.text.strip()
            ]
            observations[thread] = [*statements, *observations[thread]]
    return {thread: some[-most:] for thread, some in observations.items()}


def sittings_of(threads: Sequence[Thread]) -> list[list[Thread]]:
    """Part threads into sittings, both in the order they began; most threads are one by themselves.

    Only threads that nobody named, selected or closed by hand are taken together, and only where one of the
    two was opened because its channel opens one each time.
    """
    groups: list[list[Thread]] = []
    last: list[Thread] = []  # the newest sitting of threads that nobody named
    for thread in sorted(threads, key=lambda t: (t.created_at, t.id.bytes)):
        shared = _is_shared(thread)
        if shared and last and _goes_on(last, thread):
            last.append(thread)
            continue
        groups.append([thread])
        if shared:
            last = groups[-1]
    return groups


def _is_shared(thread: Thread) -> bool:
    by_hand = thread.selected_at is not None or thread.closed_for not in ("", INACTIVITY)
    return thread.modality == "message" and not by_hand and is_unnamed(thread)


def _goes_on(sitting: Sequence[Thread], thread: Thread) -> bool:
    """Tell whether a thread began within the sitting's pause.

    One that was active again after that is known to have been active when it began, and no later.
    """
    began = thread.created_at
    ends = (t.last_activity_at if t.last_activity_at <= began else t.created_at for t in sitting)
    return began - max(ends) <= PAUSE and (thread.explicit or any(t.explicit for t in sitting))


def with_latest(
    tx: Transaction, shown: Sequence[str], ends: Mapping[str, datetime], named: Mapping[UUID, UUID], most: int
) -> list[str]:
    """Return sittings, by their first threads, each with the latest of its cross-thread episode behind it.

    There are at most `most`: none gives way to what is put behind another. `ends` says when each sitting was
    left, `named` has for each thread the first one of its sitting. Words go on with what a matter came to
    last, which they may have less in common with than with its beginning.
    """
    matters = {str(named[thread]): episode for thread, episode in tx.threads.joined(list(named)).items()}
    latest = {matters[name]: name for name in sorted(ends, key=lambda name: ends[name]) if name in matters}
    last = {name: latest[matters[name]] for name in shown if name in matters}
    more = [name for name in dict.fromkeys(last.values()) if name not in shown][: most - len(shown)]
    both = (one for name in shown for one in (name, last.get(name, name)) if one in shown or one in more)
    return list(dict.fromkeys(both))


def around(tx: Transaction, thread: Thread, limit: int = 16) -> list[Thread]:
    """Return the sitting a thread is in, in order, with what came after it; alone where it was named."""
    if not _is_shared(thread):
        return [thread]
    near = {t.id: t for t in tx.threads.list(begun=thread.last_activity_at + PAUSE, limit=limit)}
    groups = sittings_of([*({**near, thread.id: thread}).values()])
    return next(group for group in groups if any(one.id == thread.id for one in group))


def talks(
    tx: Transaction, reader: ThreadReader, groups: Sequence[Sequence[Thread]], until: datetime
) -> list[Talk | None]:
    """Return sittings as they were at an event time; None for one that held nothing that was said.

    Each is named after its first thread.
    """
    over = [all(t.last_activity_at <= until for t in group) for group in groups]
    ends = ends_of(tx, [t.id for group in groups for t in group])
    full = [tuple((t.id, ends[t.id]) for t in group) for group in groups]
    known = [reader.talk(tx.scope, key) if done else None for key, done in zip(full, over, strict=True)]
    missing = [n for n, talk in enumerate(known) if talk is None]
    inside = last_said(tx, {t.id: ends[t.id] for n in missing for t in groups[n]}, until)
    every = [o for observations in inside.values() for o in observations]
    read = {o.id: features for o, features in zip(every, reader.messages(tx, every), strict=True)}
    for n in missing:
        observations = [o for t in groups[n] for o in inside[t.id]]
        if not observations:
            continue
        talk = talk_from(str(groups[n][0].id), groups[n], observations, read)
        known[n] = talk
        if over[n] and reader.complete(observations, read):
            reader.keep_talk(tx.scope, full[n], talk)
    return known


def _own_matter(ordered: Sequence[Observation], read: Mapping[UUID, Features]) -> Sequence[Observation]:
    """Return messages without replies where people ask for nothing but what is due.

    The agent answers out of what was said elsewhere: that tells nothing of what this talk is about.
    """
    spoken = [o for o in ordered if opens_turn(o)]
    bare = all(read[o.id].cues.nothing for o in spoken) and any(read[o.id].asks_days for o in spoken)
    return spoken if bare else ordered


def talk_from(
    name: str, group: Sequence[Thread], observations: Sequence[Observation], read: Mapping[UUID, Features]
) -> Talk:
    """Return messages as one talk, in the order of time."""
    ordered = _own_matter(sorted(observations, key=lambda o: o.at), read)
    opening = next((o for o in ordered if opens_turn(o)), ordered[0])
    return talk_of(
        name,
        [(o.at, read[o.id]) for o in ordered],
        opening=read[opening.id],
        channels=[c for t in group for c in t.channels],
    )


PAUSE: Final = timedelta(minutes=30)  # silence that ends a sitting


def ask_for_end(tx: Transaction, deps: Deps, thread_id: UUID, now: datetime) -> None:
    """Ask for the second judgement of a thread that ended, where the policy makes one."""
    if deps.judges_ends:
        tx.upkeep.ask(LINK_END, str(thread_id), LINK, now=now)


def unjudged(tx: Transaction, deps: Deps, threads: Sequence[Thread], now: datetime) -> list[UUID]:
    """Return which chosen threads fell silent, in event and in record time, and were not judged since."""
    result = []
    for thread in threads if deps.judges_ends else ():
        if not thread.explicit or thread.modality != "message" or now - thread.last_activity_at <= PAUSE:
            continue
        frame = tx.threads.frame(thread.id)
        received = frame.last_received_at
        silent = received is None or now - received > PAUSE
        if silent and judged_through(tx, thread.id) != frame.next_seq - 1:
            result.append(thread.id)
    return result


def judged_through(tx: Transaction, thread: UUID) -> int | None:
    """Return the last seq of the newest end of a thread that was judged."""
    ends = [d.detail.get("through") for d in tx.knowledge.decisions(subject=thread, type=LINK)]
    return max((end for end in ends if isinstance(end, int)), default=None)

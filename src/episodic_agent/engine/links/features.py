"""What linking reads of stored messages and threads, kept in this process for as long as nothing changed.

A thread is the sum of its last messages, whoever spoke: a follow-up follows the answer as often as the
question, and the figures in docs/internals/linking.md were measured so.
"""

import threading
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Final, Generic, TypeAlias, TypeVar
from uuid import UUID

from episodic_agent.core.echo import all_own_words
from episodic_agent.core.links.choice import Talk
from episodic_agent.core.links.features import Features, ThreadFeatures, thread_of
from episodic_agent.core.links.reading import read_message
from episodic_agent.core.recall import CALIBRATED_FOR
from episodic_agent.engine.deps import Deps
from episodic_agent.protocols import OBSERVATIONS, Transaction, ref_of
from episodic_agent.schemas import Kind, Observation, Scope, Thread

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

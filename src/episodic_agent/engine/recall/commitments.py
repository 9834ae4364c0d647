"""Find what somebody took on to do, for search and contexts alike, with what came of it.

Messages that take something on lie in one direction of the judge's space: what lies farthest along it, alone
and toward the question, is read beside what answers to the question's words. No index has to know of it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from types import MappingProxyType
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from episodic_agent.core.echo import is_echo, own_words
from episodic_agent.core.episodes.languages import content_terms
from episodic_agent.core.facts.stating import KNOWN_EMBEDDERS
from episodic_agent.core.language import fold, tokens, words
from episodic_agent.core.recall import kept_terms, term_weight
from episodic_agent.core.recall.bm25 import K1, B
from episodic_agent.core.recall.commitments import (
    AskedPeople,
    Undertaking,
    answering,
    asks_for_commitments,
    people_asked,
    takes_on,
    towards_commitments,
)
from episodic_agent.engine.visibility.hidden import Visibility
from episodic_agent.protocols import OBSERVATIONS, Refs, Transaction
from episodic_agent.schemas import Observation, Vector

PER_LEG: Final = 160  # messages each way of looking brings
LIKELY: Final = 0.3  # from which a message may take something on
LEAST: Final = 0.15  # nothing less likely is the best there is
NEAR_BEST: Final = 0.4  # share of the best from which a commitment is told beside it
NEAR: Final = 3  # messages on either side that tell what is spoken of
FEW: Final = 8  # words of a message that says only with the one before it what is meant
TOGETHER: Final = timedelta(days=2)  # from then on nothing is an answer to what stands before it
_DAY: Final = 86_400.0
_BEHIND: Final = 0.9  # of the share of a commitment what it answers to has
Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class CommitmentQuestion:
    """A question that may be for commitments, as it is embedded by `embedder` (`vector` None: by none)."""

    text: str
    vector: Vector | None
    embedder: str
    language: str | None

    @property
    def judged(self) -> Vector | None:
        """Return the vector that the judges know, or None."""
        return self.vector if self.embedder in KNOWN_EMBEDDERS else None


class ReadUndertakings(NamedTuple):
    """What may answer a question for commitments: whose they are, and messages by reference, rising.

    `terms` is 1 where some of them hold a word of the question, else 0.
    """

    people: AskedPeople
    terms: int
    some: Mapping[int, Undertaking]


class Commitments(NamedTuple):
    """What tells of the commitments a question asks for: each one's share of the best, by reference, rising.

    `likely` is how likely the best is what is asked for, in [0, 1].
    """

    shares: Mapping[int, float] = MappingProxyType({})
    likely: float = 0.0


NONE_ASKED: Final = Commitments()


def commitments_asked(
    tx: Transaction, asked: CommitmentQuestion, now: datetime, visibility: Visibility
) -> Commitments:
    """Return what tells of the commitments that a question asks for, nothing where it asks for none.

    Of "ok, will do" the request before it is told too.
    """
    if not asks_for_commitments(asked.text, asked.judged):
        return NONE_ASKED
    read = read_undertakings(tx, asked, now, visibility)
    likely = answering(read.people, read.terms, list(read.some.values()))
    best = max(likely.max(initial=0.0), LEAST)
    shares: dict[int, float] = {}
    for (ref, undertaking), share in zip(read.some.items(), (likely / best).tolist(), strict=True):
        if share < NEAR_BEST:
            continue
        shares[ref] = max(shares.get(ref, 0.0), share)
        if undertaking.before and len(words(undertaking.text)) <= FEW:
            shares[ref - 1] = max(shares.get(ref - 1, 0.0), _BEHIND * share)
    return Commitments(dict(sorted(shares.items())), float(likely.max(initial=0.0)))


def read_undertakings(
    tx: Transaction, asked: CommitmentQuestion, now: datetime, visibility: Visibility
) -> ReadUndertakings:
    """Read the messages that may take on what a question asks for."""
    actors = tx.observations.actors()
    people = people_asked(asked.text, actors, tx.scope.user_id)
    named = people.whose | people.others
    names = {term for actor in actors if fold(actor) in named for term in tokens(actor)}
    terms = content_terms(asked.text, asked.language)
    weights = _weights(tx, [term for term in terms if term not in names])
    refs = visibility.shown(_candidates(tx, asked, weights))
    likely = _likely(tx, asked, _stored(tx, refs, now))
    likely = {ref: share for ref, share in likely.items() if share >= LIKELY}
    around = np.unique([ref + n for ref in likely for n in range(-NEAR, NEAR + 1)]).astype(np.int64)
    seen = _TalkAround(
        tx, asked, weights, people, _stored(tx, visibility.shown(around), now), frozenset(terms)
    )
    some = {ref: seen.undertaking(ref, share, now) for ref, share in likely.items()}
    return ReadUndertakings(people, int(any(one.held > 0 for one in some.values())), some)


def _stored(tx: Transaction, refs: Refs, now: datetime) -> dict[int, Observation]:
    return {
        ref: item
        for ref, item in sorted(tx.observations.get(refs.tolist()).items())
        if item.at <= now and not is_echo(item) and item.text.strip()
    }


def _weights(tx: Transaction, terms: Sequence[str]) -> Mapping[str, float]:
    statistics = tx.index.statistics(OBSERVATIONS, list(terms))
    frequent = kept_terms(dict(statistics.frequencies), statistics.documents)
    return {t: term_weight(t, n, statistics.documents) for t, n in frequent.items()}


def _candidates(tx: Transaction, asked: CommitmentQuestion, weights: Mapping[str, float]) -> Refs:
    """Return messages that may take something on and answer the question, rising."""
    legs = [np.zeros(0, np.int64)]
    if weights:
        length = tx.index.statistics(OBSERVATIONS, []).average_length
        legs.append(
            tx.index.text_scores(OBSERVATIONS, weights, k1=K1, b=B, average_length=length, limit=PER_LEG)[0]
        )
    if asked.vector is not None:
        queries = [asked.vector]
        if asked.judged is not None:
            towards = towards_commitments()
            queries += [towards, (towards + asked.vector / np.linalg.norm(asked.vector)).astype(np.float32)]
        for query in queries:
            legs.append(tx.index.vector_scores(OBSERVATIONS, asked.embedder, query, limit=PER_LEG)[0])
    refs = np.unique(np.concatenate(legs).astype(np.int64))
    return np.unique(np.concatenate([refs, refs + 1]))  # "leave it with me" stands behind what it answers


def _likely(
    tx: Transaction, asked: CommitmentQuestion, stored: Mapping[int, Observation]
) -> dict[int, float]:
    vectors: Mapping[int, Vector] = {}
    if asked.judged is not None and stored:
        vectors = tx.index.vectors(OBSERVATIONS, asked.embedder, list(stored))
    return {ref: takes_on(own_words(item).text, vectors.get(ref)) for ref, item in sorted(stored.items())}


class _TalkAround:
    """What stands around messages that may take something on, and what of a question it holds."""

    def __init__(
        self,
        tx: Transaction,
        asked: CommitmentQuestion,
        weights: Mapping[str, float],
        people: AskedPeople,
        stored: Mapping[int, Observation],
        terms: frozenset[str],
    ) -> None:
        refs = np.array([*stored], np.int64)
        held = _held(tx, weights, refs)
        self._stored = stored
        self._people = people
        self._cosines = dict(zip(stored, _cosines(tx, asked, refs).tolist(), strict=True))
        self._held = dict(zip(stored, (held / max(held.max(initial=0.0), 1e-9)).tolist(), strict=True))
        threads = {item.thread_id for item in stored.values()}
        names = {thread.id: tokens(thread.origin) for thread in map(tx.threads.get, threads) if thread}
        asked_for = terms.union(*map(tokens, people.others))
        self._named = {one for one, words_of in names.items() if not asked_for.isdisjoint(words_of)}

    def undertaking(self, ref: int, likelihood: float, now: datetime) -> Undertaking:
        """Return a message as the choice reads it."""
        item = self._stored[ref]
        near = [
            other
            for other in range(ref - NEAR, ref + NEAR + 1)
            if other != ref and other in self._stored and self._stored[other].thread_id == item.thread_id
        ]
        own = [ref, ref - 1] if ref - 1 in near and self._answers(ref) else [ref]
        return Undertaking(
            item.actor,
            own_words(item).text,
            self._stored[ref - 1].text if len(own) > 1 else "",
            likelihood,
            max(self._cosines[one] for one in own),
            max(self._held[one] for one in own),
            max((self._held[one] for one in near), default=0.0),
            item.thread_id in self._named,
            any(fold(self._stored[one].actor) in self._people.others for one in near),
            (now - item.at).total_seconds() / _DAY,
        )

    def _answers(self, ref: int) -> bool:
        item, before = self._stored[ref], self._stored[ref - 1]
        return item.at - before.at <= TOGETHER and before.actor != item.actor


def _cosines(tx: Transaction, asked: CommitmentQuestion, refs: Refs) -> Floats:
    if asked.vector is None or not len(refs):
        return np.zeros(len(refs))
    scores = tx.index.vector_scores(OBSERVATIONS, asked.embedder, asked.vector, refs)[1]
    return np.nan_to_num(scores.astype(np.float64))


def _held(tx: Transaction, weights: Mapping[str, float], refs: Refs) -> Floats:
    if not weights or not len(refs):
        return np.zeros(len(refs))
    length = tx.index.statistics(OBSERVATIONS, []).average_length
    scores = tx.index.text_scores(OBSERVATIONS, weights, refs, k1=K1, b=B, average_length=length)[1]
    return scores.astype(np.float64)

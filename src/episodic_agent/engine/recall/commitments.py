"""Find what somebody took on to do, for search and contexts alike.

Messages that take something on lie in one direction of the judge's space: what lies farthest along it, alone
and toward the question, is read beside what answers to the question's words. No index has to know of it.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
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
from episodic_agent.engine.threads.resolving import given_name
from episodic_agent.engine.visibility.hidden import Visibility
from episodic_agent.protocols import OBSERVATIONS, Refs, Scores, Transaction
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
    """A question that may be for commitments, as it is embedded by `embedder` (`vector` None: by none).

    Only among the messages that `among` gives is looked for what answers it, None: among all.
    """

    text: str
    vector: Vector | None
    embedder: str
    language: str | None
    among: Callable[[], Refs] | None = None

    @property
    def judged(self) -> Vector | None:
        """Return the vector that the judges know, or None."""
        return self.vector if self.embedder in KNOWN_EMBEDDERS else None


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
    people, some = read_undertakings(tx, asked, now, visibility)
    likely = answering(people, list(some.values()))
    best = max(likely.max(initial=0.0), LEAST)
    shares: dict[int, float] = {}
    for (ref, undertaking), share in zip(some.items(), (likely / best).tolist(), strict=True):
        if share < NEAR_BEST:
            continue
        shares[ref] = max(shares.get(ref, 0.0), share)
        if undertaking.answers and len(words(undertaking.text)) <= FEW:
            shares[ref - 1] = max(shares.get(ref - 1, 0.0), _BEHIND * share)
    return Commitments(dict(sorted(shares.items())), float(likely.max(initial=0.0)))


def read_undertakings(
    tx: Transaction, asked: CommitmentQuestion, now: datetime, visibility: Visibility
) -> tuple[AskedPeople, dict[int, Undertaking]]:
    """Return whose commitments a question asks for, and the messages that may tell of them, rising."""
    actors = tx.observations.actors()
    people = people_asked(asked.text, actors, tx.scope.user_id)
    named = people.whose | people.others
    names = {term for actor in actors if fold(actor) in named for term in tokens(actor)}
    terms = content_terms(asked.text, asked.language)
    legs = _CommitmentLegs(tx, asked, [term for term in terms if term not in names])
    likely = _likely(tx, asked, _stored(tx, visibility.shown(legs.candidates()), now))
    around = np.unique([ref + n for ref in likely for n in range(-NEAR, NEAR + 1)]).astype(np.int64)
    stored = _stored(tx, visibility.shown(around), now)
    seen = _TalkAround(tx, legs, people, stored, frozenset(terms))
    return people, {ref: seen.undertaking(ref, share, now) for ref, share in likely.items()}


def _stored(tx: Transaction, refs: Refs, now: datetime) -> dict[int, Observation]:
    return {
        ref: item
        for ref, item in sorted(tx.observations.get(refs.tolist()).items())
        if item.at <= now and not is_echo(item) and item.text.strip()
    }


class _CommitmentLegs:
    """The ways of looking: the question's words, its likeness, and where commitments lie."""

    def __init__(self, tx: Transaction, asked: CommitmentQuestion, terms: Sequence[str]) -> None:
        self._tx = tx
        self._asked = asked
        statistics = tx.index.statistics(OBSERVATIONS, list(terms))
        frequent = kept_terms(dict(statistics.frequencies), statistics.documents)
        self._weights = {t: term_weight(t, n, statistics.documents) for t, n in frequent.items()}
        self._length = statistics.average_length

    def candidates(self) -> Refs:
        """Return messages that may take something on and answer the question, rising."""
        asked = self._asked
        every = None if asked.among is None else asked.among()
        legs = [self._best(self._worded, every)] if self._weights else []
        if asked.vector is not None:
            queries = [asked.vector]
            if asked.judged is not None:
                towards = towards_commitments()
                queries += [
                    towards,
                    (towards + asked.vector / np.linalg.norm(asked.vector)).astype(np.float32),
                ]
            legs += [self._best(partial(self._like, query), every) for query in queries]
        refs = np.concatenate([np.zeros(0, np.int64), *legs]).astype(np.int64)
        refs = np.unique(np.concatenate([refs, refs + 1]))  # "leave it with me" stands behind what it answers
        return refs if every is None else np.intersect1d(refs, every)

    def _best(self, leg: Callable[[Refs | None], tuple[Refs, Scores]], among: Refs | None) -> Refs:
        refs, scores = leg(among)
        return refs if among is None else refs[np.lexsort((refs, -np.nan_to_num(scores)))[:PER_LEG]]

    def _worded(self, refs: Refs | None) -> tuple[Refs, Scores]:
        most = PER_LEG if refs is None else 0
        return self._tx.index.text_scores(
            OBSERVATIONS, self._weights, refs, k1=K1, b=B, average_length=self._length, limit=most
        )

    def _like(self, query: Vector, refs: Refs | None) -> tuple[Refs, Scores]:
        most = PER_LEG if refs is None else 0
        return self._tx.index.vector_scores(OBSERVATIONS, self._asked.embedder, query, refs, limit=most)

    def cosines(self, refs: Refs) -> Floats:
        """Return how alike messages are to the question, 0 without vectors."""
        if self._asked.vector is None or not len(refs):
            return np.zeros(len(refs))
        cosines: Floats = np.nan_to_num(self._like(self._asked.vector, refs)[1].astype(np.float64))
        return cosines

    def held(self, refs: Refs) -> Floats:
        """Return how much of the question's words messages hold, by rarity, of the best 1."""
        if not self._weights or not len(refs):
            return np.zeros(len(refs))
        scores: Floats = self._worded(refs)[1].astype(np.float64)
        shares: Floats = scores / max(float(scores.max()), 1e-9)
        return shares


def _likely(
    tx: Transaction, asked: CommitmentQuestion, stored: Mapping[int, Observation]
) -> dict[int, float]:
    """Return the messages that may take something on, each with how likely it does."""
    vectors: Mapping[int, Vector] = {}
    if asked.judged is not None and stored:
        vectors = tx.index.vectors(OBSERVATIONS, asked.embedder, list(stored))
    every = {ref: takes_on(own_words(item).text, vectors.get(ref)) for ref, item in stored.items()}
    return {ref: share for ref, share in every.items() if share >= LIKELY}


class _TalkAround:
    """What stands around messages that may take something on, and what of a question it holds."""

    def __init__(
        self,
        tx: Transaction,
        legs: _CommitmentLegs,
        people: AskedPeople,
        stored: Mapping[int, Observation],
        terms: frozenset[str],
    ) -> None:
        refs = np.array([*stored], np.int64)
        self._stored = stored
        self._people = people
        self._cosines = dict(zip(stored, legs.cosines(refs).tolist(), strict=True))
        self._held = dict(zip(stored, legs.held(refs).tolist(), strict=True))
        asked_for = terms.union(*map(tokens, people.others))
        ids = sorted({item.thread_id for item in stored.values()})
        threads = tx.threads.list(ids=ids) if ids else ()
        self._named = {one.id for one in threads if not asked_for.isdisjoint(tokens(given_name(one)))}

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
            len(own) > 1,
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

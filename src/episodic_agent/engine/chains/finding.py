"""Which episodes are of a topic: by the share of its words, by meaning, and by the names that go with it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final
from uuid import UUID

import numpy as np

from episodic_agent.core import recall as ranking
from episodic_agent.core.chains.relevance import LEAST_NAMED, background, names_of_matter, told_of
from episodic_agent.core.chains.sequences import LEAST_RELEVANCE
from episodic_agent.core.language import tokens
from episodic_agent.core.language.terms import BIGRAM_SCRIPTS
from episodic_agent.core.recall import Query, Signs, kept_terms, support, term_weight
from episodic_agent.core.recall.fusion import PER_LEG
from episodic_agent.core.recall.query import proper_names
from episodic_agent.engine.deps import Deps
from episodic_agent.engine.recall.filtering import refs_of
from episodic_agent.engine.recall.gathering import Floats, Gatherer
from episodic_agent.engine.threads.resolving import given_name
from episodic_agent.protocols import EPISODES, OBSERVATIONS, Refs, Transaction, ref_of
from episodic_agent.schemas import Episode
from episodic_agent.schemas.strength import Standing

Ranked = tuple[list[tuple[Episode, float]], bool]  # best first; whether there is no more to be found
_ALL: Final = 1.0 - 1e-6  # of the words of a topic: shares are sums of single precision
EACH: Final = 10  # observations looked for of an episode that is wanted: a long one takes many places
MOST_READ: Final = 60  # messages about a matter whose names are looked at, the newest
MOST_NAMED: Final = 500  # threads whose names are looked at, those active last
_MOST_OF_TOPIC: Final = 0.5  # share of a topic that the name of a thread is to hold
_TITLED: Final = 0.1  # what all of it in the name is worth over the floor


@dataclass(frozen=True, slots=True)
class Finder:
    """Ranks the episodes of one scope by their relevance to a topic.

    `spans` are of the episodes that a filter leaves; `alone` says that some of what is found is not told, so
    that what it says must not lead to anything else.
    """

    tx: Transaction
    deps: Deps
    query: Query
    gatherer: Gatherer
    spans: Sequence[Standing] | None
    alone: bool = False

    def best(self, asked: int) -> Ranked:
        """Return episodes by relevance, ties by time, from as many candidates as are asked for."""
        own = self._leg(EPISODES, asked)
        statements = self._leg(OBSERVATIONS, max(PER_LEG, EACH * asked))
        owners = self.tx.index.episode_marks(statements, covering=True) if len(statements) else {}
        statements = np.array([ref for ref in statements.tolist() if ref in owners], np.int64)
        signs: dict[int, list[tuple[float, float]]] = {}
        legs = [
            (kind, refs, self._cosines(kind, refs))
            for kind, refs in ((OBSERVATIONS, statements), (EPISODES, own))
        ]
        elsewhere = background(legs[0][2][~np.isnan(legs[0][2])].tolist())
        clear: dict[int, int] = {}  # messages that tell of the topic, each with its episode
        for kind, refs, nears in legs:
            for ref, held, near in zip(refs.tolist(), self._held(kind, refs), nears, strict=True):
                place = owners[ref].ref if kind == OBSERVATIONS else ref
                signs.setdefault(place, []).append((float(held), float(near)))
                if kind == OBSERVATIONS and self._relevance(signs[place][-1:], elsewhere) > LEAST_RELEVANCE:
                    clear[ref] = place
        relevance = {ref: self._relevance(seen, elsewhere) for ref, seen in signs.items()}
        for ref, share in self._by_names(clear).items():
            relevance[ref] = max(relevance.get(ref, 0.0), share)
        for ref, share in self._by_threads().items():
            relevance[ref] = max(relevance.get(ref, 0.0), share)
        exhausted = len(own) < asked and len(statements) < EACH * asked
        return self._ranked(relevance), exhausted

    def still_open(self) -> list[int]:
        """Return the messages in no episode yet that tell of the topic, rising.

        Of a thread that is named after the topic its last one does, whatever its words.
        """
        statements = self._leg(OBSERVATIONS, PER_LEG)
        owners = self.tx.index.episode_marks(statements, covering=True) if len(statements) else {}
        nears = self._cosines(OBSERVATIONS, statements)
        elsewhere = background(nears[~np.isnan(nears)].tolist())
        telling = {
            ref
            for ref, held, near in zip(
                statements.tolist(), self._held(OBSERVATIONS, statements), nears, strict=True
            )
            if ref not in owners and self._relevance([(held, near)], elsewhere) > LEAST_RELEVANCE
        }
        named = list(self._named_threads())
        for thread, frame in (self.tx.threads.frame(named) if named else {}).items():
            if frame.next_seq > frame.first_seq:
                telling.add(ref_of(self.tx.threads.number(thread), frame.next_seq - 1))
        return sorted(telling)

    def _by_threads(self) -> dict[int, float]:
        """Return the episodes of threads that are named after the topic, such as mails by their subject."""
        named = self._named_threads()
        passing = None if self.spans is None else {span.first_ref for span in self.spans}
        result: dict[int, float] = {}
        for episode in self.tx.episodes.list(threads=list(named)) if named else ():
            ref = ref_of(self.tx.threads.number(episode.thread_id), episode.first_seq)
            if passing is None or ref in passing:
                result[ref] = named[episode.thread_id]
        return result

    def _named_threads(self) -> dict[UUID, float]:
        """Return the threads whose name holds most of the topic, of several words more than one."""
        terms = frozenset(self.query.content or self.query.terms)
        statistics = self.tx.index.statistics(OBSERVATIONS, sorted(terms))
        weights = {
            t: term_weight(t, statistics.frequencies.get(t, 0), statistics.documents) for t in sorted(terms)
        }
        total = sum(weights.values())
        named: dict[UUID, float] = {}
        for thread in self.tx.threads.list(limit=MOST_NAMED) if total > 0 else ():
            shared = terms.intersection(tokens(given_name(thread), self.deps.language))
            share = sum(weights[t] for t in sorted(shared)) / total
            if len(shared) >= min(2, len(terms)) and share > _MOST_OF_TOPIC:
                named[thread.id] = LEAST_RELEVANCE + _TITLED * share
        return named

    def _leg(self, kind: str, limit: int) -> Refs:
        if self.spans is not None:
            first = np.array([span.first_ref for span in self.spans], np.int64)
            return self._best_of(kind, first if kind == EPISODES else refs_of(self.spans), limit)
        words = self.gatherer.best_shown(self.gatherer.best_text, kind, limit)
        meaning = self.gatherer.best_shown(self.gatherer.best_vectors, kind, limit)
        return np.unique(np.concatenate([words, meaning])).astype(np.int64)

    def _best_of(self, kind: str, refs: Refs, limit: int) -> Refs:
        """Return the best of these by words, and by meaning."""
        if len(refs) <= limit:
            return refs
        words = self.gatherer.text(kind, refs)
        meaning = np.nan_to_num(self.gatherer.cosines(kind, refs), nan=-1.0)
        best = [np.argsort(-scores, kind="stable")[:limit] for scores in (words, meaning)]
        chosen: Refs = refs[np.unique(np.concatenate(best))]
        return chosen

    def by_words(self, asked: int) -> list[tuple[Episode, float]]:
        """Return the best episodes by their own words and by their meaning, each with its share of words."""
        refs = self._leg(EPISODES, asked)
        held = dict(zip(refs.tolist(), self._held(EPISODES, refs).tolist(), strict=True))
        result = self.tx.episodes.get(refs.tolist())
        return [(episode, min(1.0, held[ref])) for ref, episode in result.items()]

    def _ranked(self, relevance: Mapping[int, float]) -> list[tuple[Episode, float]]:
        episodes = self.tx.episodes.get([ref for ref, score in relevance.items() if score > 0.0])
        ranked = [(episode, relevance[ref]) for ref, episode in episodes.items()]
        return sorted(
            ranked, key=lambda pair: (-pair[1], pair[0].start_at, pair[0].thread_id, pair[0].first_seq)
        )

    def _cosines(self, kind: str, refs: Refs) -> Floats:
        """Return cosines on the fitted scale; NaN where this embedder's say nothing there."""
        fitted = self.deps.calibration is not None
        if not (fitted or self.deps.embedder_name.startswith(ranking.CALIBRATED_FOR)):
            return np.full(len(refs), np.nan)
        return self.gatherer.cosines(kind, refs)

    def _held(self, kind: str, refs: Refs) -> Floats:
        """Return which share of the topic's words, weighed by rarity, each document holds."""
        terms = self.query.content or self.query.terms
        statistics = self.tx.index.statistics(kind, list(terms))
        documents = statistics.documents
        limits = kept_terms({t: statistics.frequencies.get(t, 0) for t in terms}, documents)
        weights = {t: term_weight(t, count, documents) for t, count in limits.items()}
        total = sum(term_weight(t, limits.get(t, 0), documents) for t in terms)
        if not weights or not len(refs) or total <= 0:
            return np.zeros(len(refs))
        held = self.tx.index.text_scores(
            kind, weights, refs, k1=0.0, b=0.0, average_length=statistics.average_length
        )[1]
        return held.astype(np.float64) / total

    def _relevance(self, seen: Sequence[tuple[float, float]], elsewhere: float) -> float:
        """Return how likely an episode is about the topic, by the best signs of its words and messages."""
        held = min(max(share for share, _ in seen), 1.0)
        cosines = [cosine for _, cosine in seen if not np.isnan(cosine)]
        if not cosines and held <= 0.0:
            return 0.0
        bigrams = self.query.script in BIGRAM_SCRIPTS
        likely = support(Signs(held, held, max(cosines) if cosines else None, bigrams=bigrams))
        if held >= _ALL:
            # A topic of a word or two is far from every sentence: where all its words stand, they decide.
            likely = max(likely, support(Signs(held, held, bigrams=bigrams)))
        if cosines and not bigrams:  # in bigrams any text holds a share of any topic
            likely = max(likely, told_of(held, max(cosines), elsewhere))
        return round(likely, 6)

    def _by_names(self, clear: Mapping[int, int]) -> dict[int, float]:
        """Return the episodes in which a name stands that is one of the matter's, each with its share of it.

        `clear` are the messages that tell of the matter, by reference, and their episodes. A topic that has
        a name of its own means no other: of Mrs Ruiz's León another León tells nothing.
        """
        if self.alone or self.query.names or len(set(clear.values())) < LEAST_NAMED:
            return {}
        stored = self.tx.observations.get(sorted(clear)[-MOST_READ:])
        holding: dict[str, list[int]] = {}
        for ref, observation in stored.items():
            for term in _names_in(observation.text, self.deps.language):
                holding.setdefault(term, []).append(clear[ref])
        statistics = self.tx.index.statistics(OBSERVATIONS, sorted(holding))
        speakers = {term for actor in self.tx.observations.actors() for term in tokens(actor)}
        shares = names_of_matter(holding, statistics.frequencies, speakers.union(self.query.terms))
        result: dict[int, float] = {}
        for name, share in shares.items():

            def holding_it(kind: str, limit: int, name: str = name) -> tuple[Refs, Floats]:
                refs, scores = self.tx.index.text_scores(
                    kind, {name: 1.0}, k1=0.0, b=0.0, average_length=statistics.average_length, limit=limit
                )
                return refs, scores.astype(np.float64)

            refs = self.gatherer.best_shown(holding_it, OBSERVATIONS, PER_LEG)
            if self.spans is not None:
                refs = np.intersect1d(refs, refs_of(self.spans))
            for mark in self.tx.index.episode_marks(refs, covering=True).values():
                result[mark.ref] = max(result.get(mark.ref, 0.0), share)
        return result


def _names_in(text: str, language: str | None) -> set[str]:
    return {term for name in proper_names(text, language) for word in name for term in word}

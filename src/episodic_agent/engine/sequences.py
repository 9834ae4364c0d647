"""The verbs `get_episode_sequence` and `replay_topic`: the episodes of a topic in order (seed 004).

Relevance is how likely an episode is about the topic: the curve that tells whether a question is answered,
read with this episode's own best cosine (calibrated) and share of words. A fused rank score would not do: of
it every first hit has nearly the most there is.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Final
from uuid import UUID

import numpy as np

from episodic_agent.core import ranking
from episodic_agent.core.chaining import Hit, Told, fetched, replay_text, selected
from episodic_agent.core.chaining.filters import MetadataFilter
from episodic_agent.core.chaining.metadata import Metadata, read_metadata
from episodic_agent.core.chaining.sequences import DEFAULT, LEAST_RELEVANCE, RECENT, RELEVANT, SEED
from episodic_agent.core.interfaces import EPISODES, OBSERVATIONS, Refs, Span, Transaction
from episodic_agent.core.ranking import Query, Signs, kept_terms, support, term_weight
from episodic_agent.core.ranking.candidates import PER_LEG
from episodic_agent.core.text.scripts import BIGRAM_SCRIPTS
from episodic_agent.engine.curtain import Curtain
from episodic_agent.engine.filtering import Where, filter_of, passing, refs_of
from episodic_agent.engine.gathering import Floats, Gatherer
from episodic_agent.engine.given import aware, counted, worded
from episodic_agent.engine.parts import Parts
from episodic_agent.engine.scoped import Scoped
from episodic_agent.engine.told import ToldText
from episodic_agent.errors import InvalidInput, ProviderError
from episodic_agent.schemas import Episode, Scope, Vector

EACH: Final = 10  # observations looked for of an episode that is wanted: a long one takes many places
WIDER: Final = 4  # times as many are looked through where filters leave too few
MOST: Final = 1_000  # episodes of one sequence


@dataclass(frozen=True, slots=True)
class Sequenced:
    """An episode of a sequence; `relevance` is in [0, 1], 0 where only time was asked for.

    `parent_episode_id` is the episode it goes on with, `parent_title` that one's title ("" where it is gone).
    """

    episode_id: UUID
    thread_id: UUID
    title: str
    summary: str
    start_at: datetime
    end_at: datetime
    relevance: float
    parent_episode_id: UUID | None = None
    parent_title: str = ""
    metadata: Metadata = field(default_factory=Metadata)


@dataclass(frozen=True, slots=True)
class _Wish:
    """What a sequence is asked for."""

    topic: str
    limit: int
    order: str
    policy: str
    wanted: MetadataFilter
    min_relevance: float


class SequenceVerbs(Scoped):
    """The verbs of `Memory` that tell episodes in the order of time. Nothing is written."""

    def get_episode_sequence(
        self,
        topic: str = "",
        limit: int = 10,
        min_relevance: float = LEAST_RELEVANCE,
        *,
        order: str = RELEVANT,
        since: datetime | None = None,
        until: datetime | None = None,
        where: Where = None,
        policy: str = DEFAULT,
        user_id: str | None = None,
    ) -> list[Sequenced]:
        """Return the closed episodes of a topic, earliest first: the `limit` most relevant, or the newest.

        Only what is over `min_relevance` (a calibrated probability, strict) counts. `order` is `relevant` or
        `recent`; an empty topic takes the newest whatever they are about. `since <= start < until`; `where`
        filters by metadata (`tool=bash tag=debugging`, see docs/chains.md). Policy `seed-004` is the seed's
        own. What is suppressed or archived is left out. Raises InvalidInput for what cannot be read.
        """
        wanted = _filter_of(where, aware(since), aware(until))
        if counted("limit", limit) > MOST:
            raise InvalidInput(f"a limit of {limit} tells nothing; use 1 to {MOST}")
        worded("topic", topic)
        if not isinstance(min_relevance, int | float) or not 0.0 <= min_relevance <= 1.0:
            raise InvalidInput(f"`min_relevance` is a probability from 0 to 1, not {min_relevance}")
        selected((), limit, order=order, policy=policy)  # refuses unknown names before anything is read
        scope = self._known(user_id)
        found = Sequences(self._parts).run(
            scope, _Wish(topic.strip(), limit, order, policy, wanted, min_relevance)
        )
        self._parts.told.note(scope, (ToldText(str(e.episode_id), e.summary) for e in found if e.summary))
        return found

    def replay_topic(
        self,
        topic: str,
        limit: int = 5,
        *,
        order: str = RELEVANT,
        since: datetime | None = None,
        until: datetime | None = None,
        where: Where = None,
        policy: str = DEFAULT,
        user_id: str | None = None,
    ) -> str:
        """Return the story of a topic as text, in seed 004's form; see `get_episode_sequence`."""
        found = self.get_episode_sequence(
            topic,
            limit,
            order=order,
            since=since,
            until=until,
            where=where,
            policy=policy,
            user_id=user_id,
        )
        return replay_text(topic, told_sequence(found), policy=policy)


def told_sequence(found: Iterable[Sequenced]) -> list[Told]:
    """Return episodes as a replay tells them."""
    return [
        Told(e.episode_id, e.start_at, e.title, e.summary, e.parent_episode_id, e.parent_title, e.metadata)
        for e in found
    ]


def _filter_of(where: Where, since: datetime | None, until: datetime | None) -> MetadataFilter:
    wanted = filter_of(where)
    begins = [time for time in (wanted.since, since) if time is not None]
    ends = [time for time in (wanted.until, until) if time is not None]
    narrowed = replace(wanted, since=max(begins, default=None), until=min(ends, default=None))
    if narrowed.since is not None and narrowed.until is not None and narrowed.since >= narrowed.until:
        raise InvalidInput("`since` must be before `until`")
    return narrowed


class Sequences:
    """Finds the sequences of one store."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts

    def run(self, scope: Scope, wish: _Wish) -> list[Sequenced]:
        """Find one sequence; see `Memory.get_episode_sequence`."""
        parts, now = self._parts, self._parts.clock()
        vector = self._embed(wish.topic)
        with parts.store.begin(scope, write=False) as tx:
            curtain = Curtain(tx, now)
            spans = None if wish.wanted.empty else passing(tx, wish.wanted, curtain)
            if wish.topic:
                query = ranking.analyse(wish.topic, (), now, language=parts.language)
                gatherer = Gatherer(
                    tx, query, vector, parts.embedder_name, parts.calibration, curtain=curtain
                )
                finder = _Finder(tx, parts, query, gatherer, wish, spans)
                found, relevance = _enough(finder.best, curtain, wish)
            else:
                found, relevance = _enough(_newest(tx, spans), curtain, wish)
            hits = [Hit(e.id, e.start_at, relevance.get(e.id, 0.0)) for e in found]
            chosen = selected(
                hits,
                wish.limit,
                topic=wish.topic,
                order=wish.order,
                min_relevance=wish.min_relevance,
                policy=wish.policy,
            )
            known = {e.id: e for e in found}
            return _sequenced(tx, curtain, [known[hit.id] for hit in chosen], relevance)

    def _embed(self, topic: str) -> Vector | None:
        if not topic or self._parts.embedder is None:
            return None
        try:
            vector: Vector = self._parts.embedder.embed([topic])[0]
            return vector
        except ProviderError:
            return None  # by words, as search does


Ranked = tuple[list[tuple[Episode, float]], bool]  # best first; whether there is no more to be found


def _enough(
    best: Callable[[int], Ranked], curtain: Curtain, wish: _Wish
) -> tuple[list[Episode], dict[UUID, float]]:
    """Ask for more and more candidates until enough are shown, or there are no more."""
    count = fetched(wish.limit, wish.policy)
    asked = count
    while True:
        ranked, exhausted = best(asked)
        hidden = curtain.why_all([episode for episode, _ in ranked])
        kept = [(episode, relevance) for episode, relevance in ranked if episode.id not in hidden]
        if len(kept) >= count or exhausted:
            break
        asked *= WIDER
    if wish.policy == SEED or not (wish.topic and wish.order == RECENT):
        kept = kept[:count]  # of the newest each relevant one counts, not only the most relevant
    return [episode for episode, _ in kept], {episode.id: relevance for episode, relevance in kept}


def _newest(tx: Transaction, spans: Sequence[Span] | None) -> Callable[[int], Ranked]:
    """Return what finds the newest episodes, of these where they are given."""
    ordered = sorted(spans or (), key=lambda span: (-span.end_at, span.name))

    def best(asked: int) -> Ranked:
        if spans is None:
            found = list(tx.episodes.recent(limit=asked))
            return [(episode, 0.0) for episode in found], len(found) < asked
        stored = tx.episodes.by_refs([span.first_ref for span in ordered[:asked]])
        newest = [stored[span.first_ref] for span in ordered[:asked]]
        return [(episode, 0.0) for episode in newest], len(ordered) <= asked

    return best


@dataclass(frozen=True, slots=True)
class _Finder:
    """Ranks the episodes of one scope by their relevance to a topic."""

    tx: Transaction
    parts: Parts
    query: Query
    gatherer: Gatherer
    wish: _Wish
    spans: Sequence[Span] | None  # of the episodes that a filter leaves

    def best(self, asked: int) -> Ranked:
        """Return episodes by relevance, ties by time, from as many candidates as are asked for."""
        if self.wish.policy == SEED:
            return self._by_own_text(asked)
        own = self._leg(EPISODES, asked)
        heard = self._leg(OBSERVATIONS, max(PER_LEG, EACH * asked))
        owners = self.tx.episodes.covering(heard) if len(heard) else {}
        heard = np.array([ref for ref in heard.tolist() if ref in owners], np.int64)
        signs: dict[int, list[tuple[float, float]]] = {}
        for kind, refs in ((OBSERVATIONS, heard), (EPISODES, own)):
            for ref, held, cosine in zip(
                refs.tolist(), self._held(kind, refs), self._cosines(kind, refs), strict=True
            ):
                place = owners[ref].ref if kind == OBSERVATIONS else ref
                signs.setdefault(place, []).append((float(held), float(cosine)))
        relevance = {ref: self._relevance(seen) for ref, seen in signs.items()}
        exhausted = len(own) < asked and len(heard) < EACH * asked
        return self._ranked(relevance), exhausted

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

    def _by_own_text(self, asked: int) -> Ranked:
        """Rank by the raw cosine of the topic and an episode's words; without vectors by shared words."""
        refs = self._leg(EPISODES, asked)
        raw = self.gatherer.raw_cosines(EPISODES, refs)
        scores = np.where(np.isnan(raw), self._held(EPISODES, refs), raw)
        relevance = dict(zip(refs.tolist(), np.clip(scores, 0.0, 1.0).tolist(), strict=True))
        return self._ranked(relevance), len(refs) < asked

    def _ranked(self, relevance: Mapping[int, float]) -> list[tuple[Episode, float]]:
        found = self.tx.episodes.by_refs([ref for ref, score in relevance.items() if score > 0.0])
        ranked = [(episode, relevance[ref]) for ref, episode in found.items()]
        return sorted(ranked, key=lambda pair: (-pair[1], pair[0].start_at, pair[0].id.bytes))

    def _cosines(self, kind: str, refs: Refs) -> Floats:
        """Return cosines on the fitted scale; NaN where this embedder's say nothing there."""
        fitted = self.parts.calibration is not None
        if not (fitted or self.parts.embedder_name.startswith(ranking.CALIBRATED_FOR)):
            return np.full(len(refs), np.nan)
        return self.gatherer.cosines(kind, refs)

    def _held(self, kind: str, refs: Refs) -> Floats:
        """Return which share of the topic's words, weighed by rarity, each document holds."""
        terms = self.query.content or self.query.terms
        statistics = self.tx.index.statistics(kind, list(terms))
        documents = statistics.documents
        kept = kept_terms({t: statistics.frequencies.get(t, 0) for t in terms}, documents)
        weights = {t: term_weight(t, count, documents) for t, count in kept.items()}
        total = sum(term_weight(t, kept.get(t, 0), documents) for t in terms)
        if not weights or not len(refs) or total <= 0:
            return np.zeros(len(refs))
        held = self.tx.index.text_scores_of(
            kind, weights, refs, k1=0.0, b=0.0, average_length=statistics.average_length
        )
        return held.astype(np.float64) / total

    def _relevance(self, seen: Sequence[tuple[float, float]]) -> float:
        """Return how likely an episode is about the topic, by the best signs of its words and messages."""
        held = min(max(share for share, _ in seen), 1.0)
        cosines = [cosine for _, cosine in seen if not np.isnan(cosine)]
        if not cosines and held <= 0.0:
            return 0.0
        bigrams = self.query.script in BIGRAM_SCRIPTS
        signs = Signs(held, held, max(cosines) if cosines else None, bigrams=bigrams)
        return round(support(signs), 6)


def _sequenced(
    tx: Transaction, curtain: Curtain, chosen: Sequence[Episode], relevance: Mapping[UUID, float]
) -> list[Sequenced]:
    parents = parents_of(tx, chosen)
    stored = tx.episodes.by_ids(list({parent for parent in parents.values() if parent is not None}))
    hidden = curtain.why_all(list(stored.values()))
    told = []
    for episode in map(curtain.worded, chosen):
        parent = stored.get(identity) if (identity := parents[episode.id]) is not None else None
        if parent is not None and parent.id in hidden:
            parent = None  # that it is not shown is not told either
        title = "" if parent is None else curtain.worded(parent).title
        told.append(
            Sequenced(
                episode_id=episode.id,
                thread_id=episode.thread_id,
                title=episode.title,
                summary=episode.summary,
                start_at=episode.start_at,
                end_at=episode.end_at,
                relevance=relevance.get(episode.id, 0.0),
                parent_episode_id=None if parent is None else parent.id,
                parent_title=title,
                metadata=read_metadata(episode.metadata),
            )
        )
    return told


def parents_of(tx: Transaction, chosen: Sequence[Episode]) -> dict[UUID, UUID | None]:
    """Return what each episode goes on with: its own parent, or that of the session it is the first of.

    Chains join sessions, a sequence tells what happened in them: where an episode of the session before is
    told too, the last of those stands for it.
    """
    parents: dict[UUID, UUID | None] = {}
    last_of: dict[UUID, UUID] = {}  # by session, the last of its episodes told so far
    for episode in chosen:
        part = tx.parts.at(episode.thread_id, episode.first_seq)
        own = episode.parent_episode_id
        if own is None and part is not None and part.episode_id not in last_of:
            session = tx.episodes.get(part.episode_id)
            own = None if session is None else session.parent_episode_id
        parents[episode.id] = last_of.get(own, own) if own is not None else None
        if part is not None:
            last_of[part.episode_id] = episode.id
    return parents

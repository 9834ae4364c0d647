"""Gather what may answer a query, in one read transaction: candidates from four legs and their episodes."""

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from episodic_agent.core.calibration import Calibration
from episodic_agent.core.echo import is_echo, own_words
from episodic_agent.core.facts.stating import STATEMENTS, lasting
from episodic_agent.core.language import tokens
from episodic_agent.core.language.timewords import date_words
from episodic_agent.core.recall import (
    Candidates,
    EpisodeArrays,
    Query,
    ceiling,
    kept_terms,
    surprise_at_strangers,
    term_weight,
    time_match,
)
from episodic_agent.core.recall.bm25 import K1, B
from episodic_agent.core.recall.fusion import FIRST_HITS, NEAR, PER_LEG, READ, shared_terms
from episodic_agent.core.recall.order import STRONG, Order
from episodic_agent.core.recall.places import sightings, tells_where, thing_asked
from episodic_agent.core.recall.query import Name, spoken
from episodic_agent.core.strength import retrievability
from episodic_agent.core.threads.turns import role_of
from episodic_agent.engine.embedding import FormerQuery
from episodic_agent.engine.episodes.listing import open_card, worded_open
from episodic_agent.engine.recall.concluding import conclusions
from episodic_agent.engine.recall.facts import replaced_words
from episodic_agent.engine.recall.filtering import SearchBounds
from episodic_agent.engine.recall.places import known_visits
from episodic_agent.engine.results import EpisodeCard
from episodic_agent.engine.visibility.hidden import WIDER, Visibility
from episodic_agent.protocols import (
    EPISODES,
    OBSERVATIONS,
    EpisodeMark,
    ObservationMark,
    Refs,
    Transaction,
    ref_of,
    split_ref,
)
from episodic_agent.schemas import Episode, Observation, TimeSource, Vector

AT_PLACES = 5_000  # newest observations at a place the question names that are looked through
STATED = 30  # first hits that are judged by what they state: sixty bring no more
REACH = 2_000  # of a leg, among which the newest of the good ones are looked for
OWN_TEXT = 20  # episodes of each leg that join by their own words, beside those of the candidates
DAY = 86_400.0
_AFTER_ALL = 0xFFFFFFFF  # a place in a thread behind which nothing is said: that of an open frame
Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Gathered:
    """Everything the fusion needs; what the answer shows is read afterwards, for the few that are shown.

    `refs` and `candidates` run parallel, and so do `episodes` and `cards`, where an open frame has the number
    of its thread. `ceiling` is the BM25 score of an average document with every content word of the query;
    `unknown` says how much it tells, in [0, 1], that the query names somebody or something no observation
    here holds, and `never` what of that has no word that anything here holds, as it is written.
    `documents` is how many observations there are to search, hidden ones with them.
    """

    refs: Refs
    candidates: Candidates
    episodes: EpisodeArrays
    cards: Sequence[EpisodeMark | int]
    ceiling: float
    unknown: float
    documents: int = 0
    never: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class _Leg:
    """One kind's text weights, ready for the store."""

    weights: Mapping[str, float]
    documents: int
    average_length: float
    ceiling: float
    unknown: float
    never: Sequence[str]  # names that have no word any document holds, as they are written
    named: float  # the ceiling of the words that name places


class Gatherer:
    """Reads candidates of one query inside a transaction."""

    def __init__(
        self,
        tx: Transaction,
        query: Query,
        vector: Vector | None,
        embedder: str,
        calibration: Calibration | None = None,
        *,
        visibility: Visibility | None = None,
        fades: bool = True,
        former: FormerQuery | None = None,
        besides: Refs | None = None,
        talk: Refs | None = None,
    ) -> None:
        """Take `calibration` to bring every cosine that is weighed to the default embedder's scale.

        `former` is the query for documents that have no vector of the embedder yet; `besides` are
        candidates whatever they say: what is due on the days it asks about, the commitments it asks for; of
        `talk`, the thread or channel it names, the best are.

        Without a `visibility` nothing is left out; `fades` False takes every episode to be as on its first
        day.
        """
        self._fades = fades
        self._tx = tx
        self._visibility = visibility
        self._calibration = calibration
        self._query = query
        self._vector = vector
        self._embedder = embedder
        self._former = former
        self._besides = besides
        self._talk = talk
        self._read: dict[int, Observation] = {}  # the best are asked for again and again
        self._visits = [stay for place in query.places for stay in tx.threads.visits(place=place)]
        self._legs = {kind: self._leg(kind) for kind in (OBSERVATIONS, EPISODES)}

    def _leg(self, kind: str) -> _Leg:
        terms = self._query.terms
        statistics = self._tx.index.statistics(kind, terms)
        frequencies = {t: statistics.frequencies.get(t, 0) for t in terms}
        limits = kept_terms(frequencies, statistics.documents)
        weights = {t: term_weight(t, df, statistics.documents) for t, df in limits.items()}
        strangers = _strangers(self._query, frequencies)
        surprise = surprise_at_strangers(statistics.documents)
        own = {term for name in strangers for word in name for term in word if not frequencies.get(term, 1)}
        known = [term for term in self._query.content if term not in own]
        # where next to nothing was said, that a name was not either counts as little against an answer
        top = ceiling(frequencies, statistics.documents, known)
        top += surprise * ceiling(frequencies, statistics.documents, own.intersection(self._query.content))
        named = ceiling(frequencies, statistics.documents, self._query.place_terms)
        unknown = surprise if len(strangers) > self._query.anonymous else 0.0
        written = dict(zip(self._query.names, self._query.written, strict=True))
        never = [written[one] for one in strangers if not any(_holds(word, frequencies) for word in one)]
        return _Leg(weights, statistics.documents, statistics.average_length, top, unknown, never, named)

    def best_text(self, kind: str, limit: int) -> tuple[Refs, Floats]:
        """Return the best documents by words."""
        leg = self._legs[kind]
        if not leg.weights:
            return np.zeros(0, np.int64), np.zeros(0)
        refs, scores = self._tx.index.text_scores(
            kind, leg.weights, k1=K1, b=B, average_length=leg.average_length, limit=limit
        )
        return refs, scores.astype(np.float64)

    def text(self, kind: str, refs: Refs, *, only: Sequence[str] | None = None) -> Floats:
        """Score these documents by words (by some of the query's words)."""
        leg = self._legs[kind]
        weights = leg.weights if only is None else {t: w for t, w in leg.weights.items() if t in only}
        if not weights or not len(refs):
            return np.zeros(len(refs))
        scores = self._tx.index.text_scores(
            kind, weights, refs, k1=K1, b=B, average_length=leg.average_length
        )[1]
        return scores.astype(np.float64)

    def best_vectors(self, kind: str, limit: int) -> tuple[Refs, Floats]:
        """Return the best documents by meaning."""
        if self._vector is None:
            return np.zeros(0, np.int64), np.zeros(0)
        refs, scores = self._tx.index.vector_scores(kind, self._embedder, self._vector, limit=limit)
        if self._former is None:
            return refs, scores.astype(np.float64)
        name, vector = self._former.name, self._former.vector
        every = np.union1d(refs, self._tx.index.vector_scores(kind, name, vector, limit=limit)[0])
        cosines = self.cosines(kind, every)
        best = np.lexsort((every, -cosines))[:limit]
        return every[best].astype(np.int64), cosines[best]

    def cosines(self, kind: str, refs: Refs) -> Floats:
        """Return cosines of these documents, NaN where there is no vector."""
        if self._vector is None or not len(refs):
            return np.full(len(refs), np.nan)
        scores = self._compared(kind, self._embedder, self._vector, refs, self._calibration)
        former = self._former
        if former is not None and (left := np.isnan(scores)).any():
            scores[left] = self._compared(kind, former.name, former.vector, refs[left], former.calibration)
        return scores

    def _compared(
        self, kind: str, embedder: str, vector: Vector, refs: Refs, calibration: Calibration | None
    ) -> Floats:
        scores = self._tx.index.vector_scores(kind, embedder, vector, refs)[1].astype(np.float64)
        return scores if calibration is None else calibration.as_default(scores)

    def gather(self, bounds: SearchBounds, now: datetime) -> Gathered:
        """Read candidates, their neighbours' scores, their episodes and strengths."""
        marks = self._tx.index.observation_marks(self._choose(bounds))
        refs = np.array([mark.ref for mark in marks], np.int64)
        echoes = self._echoes(refs)
        if echoes:
            marks = [mark for mark in marks if mark.ref not in echoes]
            refs = np.array([mark.ref for mark in marks], np.int64)
        cards, threads, rows = self._episodes(refs, bounds)
        candidates = self._candidates(refs, marks, rows)
        episodes = self._episode_arrays(cards, threads, now)
        leg = self._legs[OBSERVATIONS]
        top = leg.ceiling + leg.named
        return Gathered(refs, candidates, episodes, cards, top, leg.unknown, leg.documents, leg.never)

    def _echoes(self, refs: Refs) -> set[int]:
        """Return which of these only repeat recalled text: in no index, they come as neighbours."""
        silent = refs[(self.text(OBSERVATIONS, refs) == 0) & np.isnan(self.cosines(OBSERVATIONS, refs))]
        if not len(silent):
            return set()
        return {ref for ref, o in self._tx.observations.get(silent.tolist()).items() if is_echo(o)}

    def _choose(self, bounds: SearchBounds) -> Refs:
        if bounds:
            return self._uncovered(self._best_of(within(self._tx, bounds)))
        lexical = self.best_shown(self.best_text, OBSERVATIONS, PER_LEG)
        dense = self.best_shown(self.best_vectors, OBSERVATIONS, PER_LEG)
        seeds = np.concatenate([lexical[:NEAR], dense[:NEAR]])
        there = self._at_the_end()
        there += [self._best_of(self._there())] if self._query.places else []
        there += [] if self._talk is None else [self._best_of(self._talk)]
        there += [] if self._besides is None else [self._besides]
        chosen: Refs = np.unique(np.concatenate([lexical, dense, seeds - 1, seeds + 1, *there]))
        return self._uncovered(chosen.astype(np.int64))

    def _at_the_end(self) -> list[Refs]:
        """Return the newest (oldest) good documents of each leg, and their neighbours."""
        if self._query.order is None:
            return []
        legs = (self.best_text, self.best_vectors)
        ends = np.concatenate([self._outermost(*leg(OBSERVATIONS, REACH)) for leg in legs])
        return [ends - 1, ends, ends + 1]

    def _outermost(self, refs: Refs, scores: Floats) -> Refs:
        return outermost(self._tx, refs, scores, self._query.order, self._visibility)

    def best_shown(self, leg: Callable[[str, int], tuple[Refs, Floats]], kind: str, limit: int) -> Refs:
        """Return the best documents of a leg that are shown, best first; what is hidden takes no place."""
        if self._visibility is None or not self._visibility.drawn:
            return leg(kind, limit)[0]
        # for words every text is read: better a second look than twice as many texts
        asked = limit if self._visibility.reads else WIDER * limit
        while True:
            refs, _ = leg(kind, asked)
            if kind == OBSERVATIONS:
                shown = self._visibility.shown(refs)
            else:
                hidden = self._visibility.why_unfound(refs.tolist())
                shown = refs[[ref not in hidden for ref in refs.tolist()]] if hidden else refs
            if len(shown) >= limit or len(refs) < asked:
                return shown[:limit]
            asked *= WIDER * WIDER

    def _uncovered(self, refs: Refs) -> Refs:
        """Return the refs that are not hidden, nor in an episode that is."""
        if self._visibility is None or not self._visibility.drawn:
            return refs
        refs = self._visibility.shown(refs)
        owners = self._tx.index.episode_marks(refs, covering=True)
        hidden = self._visibility.why_episodes(list(dict.fromkeys(mark.ref for mark in owners.values())))
        return refs[[ref not in owners or owners[ref].ref not in hidden for ref in refs.tolist()]]

    def _there(self) -> Refs:
        """Return the newest observations at the places the question names."""
        refs: list[int] = []
        for visit in sorted(self._visits, key=lambda stay: stay.end_at, reverse=True):
            if len(refs) >= AT_PLACES:
                break
            refs.extend(range(visit.last_ref, max(visit.first_ref, visit.last_ref - AT_PLACES + 1) - 1, -1))
        return np.sort(np.array(refs[:AT_PLACES], np.int64))

    def _best_of(self, refs: Refs) -> Refs:
        """Choose exactly, by scoring everything there is that is shown."""
        if self._visibility is not None:
            refs = self._visibility.shown(refs)
        if len(refs) <= 2 * PER_LEG:
            return refs
        lexical, dense = self.text(OBSERVATIONS, refs), np.nan_to_num(self.cosines(OBSERVATIONS, refs))
        best = np.concatenate(
            [np.argsort(-lexical, kind="stable")[:PER_LEG], np.argsort(-dense, kind="stable")[:PER_LEG]]
        )
        ends = [self._outermost(refs, scores) for scores in (lexical, dense)]
        chosen: Refs = np.unique(np.concatenate([refs[best], *ends]))
        return chosen

    def _candidates(
        self, refs: Refs, marks: Sequence[ObservationMark], rows: NDArray[np.int64]
    ) -> Candidates:
        around = np.concatenate([refs - 1, refs, refs + 1])
        before, own, after = np.split(self.text(OBSERVATIONS, around), 3)
        cosine_before, cosine, cosine_after = np.split(self.cosines(OBSERVATIONS, around), 3)
        own_times = np.array([mark.at for mark in marks], np.int64) / 1e6
        event_times = np.where([mark.assumed for mark in marks], np.nan, own_times)
        beside = np.concatenate([refs - 1, refs + 1])
        time_before, time_after = np.split(_event_seconds(self._tx.index.times(beside)), 2)
        where, sighted = self._telling_where(refs)
        return Candidates(
            ids=[_place(mark.ref) for mark in marks],
            bm25=own,
            cosine=cosine,
            bm25_before=before,
            bm25_after=after,
            cosine_before=cosine_before,
            cosine_after=cosine_after,
            gap_before=np.abs(np.nan_to_num(own_times - time_before)),
            gap_after=np.abs(np.nan_to_num(time_after - own_times)),
            actors=[mark.actor for mark in marks],
            at=event_times,
            moment=own_times,
            octets=np.array([mark.octets for mark in marks], np.float64),
            episode=rows,
            phrase=self._phrase_shares(refs),
            parts=self._section_scores(refs),
            held=self._held(refs, event_times),
            place=self._at_places(refs),
            where=where,
            sighted=sighted,
        )

    def _at_places(self, refs: Refs) -> Floats:
        """Return 1 for each ref inside a visit of a place the question names, nothing when it names none."""
        if not self._query.places:
            return np.zeros(0)
        visits = sorted(self._visits)
        first = np.array([stay.first_ref for stay in visits], np.int64)
        last = np.array([stay.last_ref for stay in visits], np.int64)
        at = np.searchsorted(first, refs, side="right") - 1
        inside: Floats = ((at >= 0) & (refs <= last[np.maximum(at, 0)])).astype(np.float64)
        return inside

    def _telling_where(self, refs: Refs) -> tuple[Floats, Floats]:
        """Return 1 for what may tell where something is, and where the thing asked for was.

        Only where that is asked for are the texts read.
        """
        if self._query.order is None or not self._query.order.of_places:
            return np.zeros(0), np.zeros(0)
        around = np.unique(np.concatenate([refs - 1, refs, refs + 1]))
        stored = self._tx.observations.get(around[around >= 0].tolist())
        texts = [stored[ref] for ref in refs.tolist()]
        thing = thing_asked(self._query.text, self._query.content, self._query.language)
        beside = {(one.thread_id, one.seq): one for one in stored.values()}
        sighted = sightings(thing, texts, beside) if thing else [False] * len(texts)
        return np.array([tells_where(one.text) for one in texts], float), np.array(sighted, float)

    def _phrase_shares(self, refs: Refs) -> Floats:
        """Return the share of the quoted phrases, or of words to look for; only then are texts read."""
        phrases = [p.casefold() for p in self._query.phrases]
        if not (phrases or self._query.literal):
            return np.zeros(0)
        stored = self._tx.observations.get(refs.tolist())
        if not phrases:
            literal = re.compile(self._query.literal)
            return np.array([float(bool(literal.search(spoken(stored[ref].text)))) for ref in refs.tolist()])
        texts = [stored[ref].text.casefold() for ref in refs.tolist()]
        return np.array([sum(p in text for p in phrases) / len(phrases) for text in texts])

    def _held(self, refs: Refs, times: Floats) -> Floats:
        """Return which share of the question's words, weighed by rarity, each text holds.

        An expression of time counts as two words more ("last April"), held by what happened then. Words that
        name a place do not count: that it was there proves nothing. BM25 with k1 = 0 counts a word once
        however often it occurs and however long the text is.
        """
        leg, content = self._legs[OBSERVATIONS], self._query.content
        weights = {t: w for t, w in leg.weights.items() if t in content}
        held, total = np.zeros(len(refs)), leg.ceiling
        if weights and len(refs):
            held += self._tx.index.text_scores(
                OBSERVATIONS, weights, refs, k1=0.0, b=0.0, average_length=leg.average_length
            )[1]
        if self._query.time:
            weight = 2 * leg.ceiling / len(content) if content else 1.0
            held, total = held + weight * time_match(self._query.time, times), total + weight
        return held / total if total > 0 else held

    def _section_scores(self, refs: Refs) -> Floats:
        """Score each question of several asked at once by its own words."""
        parts = self._query.parts
        return np.array([self.text(OBSERVATIONS, refs, only=p) for p in parts]) if parts else np.zeros(0)

    def shared(self, gathered: Gathered, first: Sequence[int], scores: Floats) -> Floats:
        """Score the candidates by what they share with the first hits beyond the question's words.

        `first` are rows, best first, of which `FIRST_HITS` are read; `scores` those of all rows.
        """
        leg, language = self._legs[OBSERVATIONS], self._query.language
        stored = self.observations(gathered, first[:FIRST_HITS])
        counts = {row: _terms_of(observation, language) for row, observation in stored.items()}
        distinct = list(dict.fromkeys(term for terms in counts.values() for term in terms))
        skipped = {*leg.weights, *(t for one in stored.values() for t in tokens(one.actor, language))}
        frequencies = self._tx.index.statistics(OBSERVATIONS, distinct).frequencies
        hits = [(float(scores[row]), terms) for row, terms in counts.items()]
        weights = shared_terms(hits, frequencies, leg.documents, skipped)
        if not weights:
            return np.zeros(len(gathered.refs))
        scored = self._tx.index.text_scores(
            OBSERVATIONS, weights, gathered.refs, k1=K1, b=B, average_length=leg.average_length
        )[1]
        return scored.astype(np.float64)

    def stating(self, gathered: Gathered, first: Sequence[int]) -> Floats:
        """Tell how likely each of the first hits states what lasts, in [0, 1]; 0 for all others.

        `first` are rows, best first, of which `STATED` are read.
        """
        likely = np.zeros(len(gathered.refs))
        for row, observation in self.observations(gathered, first[:STATED]).items():
            likely[row] = lasting(role_of(observation), own_words(observation).text, most=STATEMENTS)
        return likely

    def replaced(
        self, gathered: Gathered, first: Sequence[int], now: datetime
    ) -> Sequence[tuple[int, Sequence[int]]]:
        """Return which of the first hits are no longer so at `now`, and the rows that say what is.

        `first` are rows, best first, of which `STATED` are read; the newest stand first.
        """
        read = self.observations(gathered, first[:STATED])
        row_of = {observation.id: row for row, observation in read.items()}
        pairs = replaced_words(self._tx, {o.id: o for o in read.values()}, now)
        return [(row_of[old], sorted(row_of[one] for one in newer & row_of.keys())) for old, newer in pairs]

    def _episodes(
        self, refs: Refs, bounds: SearchBounds
    ) -> "tuple[list[EpisodeMark | int], list[int], NDArray[np.int64]]":
        """Return the episodes of the candidates and those found by their own text, with the number of each
        one's thread, and the row of each candidate's episode.
        """
        covers = self._tx.index.episode_marks(refs, covering=True)
        cards: list[EpisodeMark | int] = []
        threads: list[int] = []
        row_of: dict[int, int] = {}  # by ref; a thread's open frame by its number below zero
        rows: list[int] = []
        for ref in refs.tolist():
            cover = covers.get(ref)
            number = split_ref(ref)[0]
            key = -number if cover is None else cover.ref
            if key not in row_of:
                row_of[key] = len(cards)
                cards.append(number if cover is None else cover)
                threads.append(number)
            rows.append(row_of[key])
        for mark in [] if bounds else self._by_own_text():
            if mark.ref not in row_of:
                cards.append(mark)
                threads.append(split_ref(mark.ref)[0])
        return cards, threads, np.array(rows, np.int64)

    def _open(self, number: int) -> EpisodeCard:
        thread_id = self._tx.threads.by_numbers([number])[number]
        thread, frame = self._tx.threads.get(thread_id), self._tx.threads.frame(thread_id)
        inside = self._tx.observations.read(thread_id, frame.first_seq, frame.next_seq - 1)
        if thread is None:  # a foreign key forbids it
            raise LookupError(f"observations without their thread {thread_id}")
        if self._visibility is not None:
            inside = self._visibility.visible(number, inside)
        card = open_card(thread, frame.first_seq, inside)
        return worded_open(self._tx, card, frame.first_seq, inside, self._visibility)

    def _by_own_text(self) -> list[EpisodeMark]:
        lexical = self.best_shown(self.best_text, EPISODES, OWN_TEXT)
        dense = self.best_shown(self.best_vectors, EPISODES, OWN_TEXT)
        refs = list(dict.fromkeys([*lexical.tolist(), *dense.tolist()]))
        marks = self._tx.index.episode_marks(refs)
        return [marks[r] for r in refs if r in marks]

    def _episode_arrays(
        self, cards: Sequence[EpisodeMark | int], threads: Sequence[int], now: datetime
    ) -> EpisodeArrays:
        refs = np.array([c.ref if isinstance(c, EpisodeMark) else -1 for c in cards], np.int64)
        ages = np.array([_age(c, now) for c in cards])
        ages[np.isin(refs, self.unfading([c.ref for c in cards if isinstance(c, EpisodeMark)]))] = 0.0
        stability = np.array([c.stability if isinstance(c, EpisodeMark) else 1.0 for c in cards])
        return EpisodeArrays(
            ids=[
                _place(c.ref if isinstance(c, EpisodeMark) else ref_of(number, _AFTER_ALL))
                for c, number in zip(cards, threads, strict=True)
            ],
            bm25=self.text(EPISODES, refs),
            cosine=self.cosines(EPISODES, refs),
            retrievability=np.asarray(retrievability(stability, ages), np.float64)
            if len(cards)
            else np.zeros(0),
            thread=np.array(threads, np.int64),
        )

    def unfading(self, refs: Sequence[int]) -> list[int]:
        """Return the episodes, by first ref, that are as strong as on their first day: the pinned ones."""
        if not self._fades:
            return list(refs)
        return [] if self._visibility is None else sorted(self._visibility.pinned(refs))

    def observations(self, gathered: Gathered, rows: Sequence[int]) -> Mapping[int, Observation]:
        """Read the candidates that are shown, by row."""
        refs = {row: int(gathered.refs[row]) for row in rows}
        missing = [ref for ref in refs.values() if ref not in self._read]
        if missing:
            self._read |= self._tx.observations.get(missing)
        return {row: self._read[ref] for row, ref in refs.items()}

    def episodes(self, gathered: Gathered, rows: Sequence[int]) -> "Mapping[int, Episode | EpisodeCard]":
        """Read the episodes that are shown, by row; those still open are cards."""
        marks = {row: card for row in rows if isinstance(card := gathered.cards[row], EpisodeMark)}
        stored = self._tx.episodes.get([mark.ref for mark in marks.values()])
        closed = {row: self.worded(stored[mark.ref]) for row, mark in marks.items()}
        opened = {row: self._open(card) for row in rows if isinstance(card := gathered.cards[row], int)}
        # an answer shows what was found in it word by word: no summary is needed
        cards = {row: replace(card, summary="") for row, card in opened.items()}
        return {**closed, **cards}

    def worded(self, episode: Episode) -> Episode:
        """Return an episode as it may be shown."""
        return episode if self._visibility is None else self._visibility.worded(episode)

    def candidate_vectors(self, gathered: Gathered, order: NDArray[np.int64]) -> Vector:
        """Return the vectors of the best candidates by row (zero rows elsewhere), to tell near-duplicates."""
        head = order[: 2 * PER_LEG // 4].tolist()
        refs = [int(gathered.refs[n]) for n in head]
        results = self._tx.index.vectors(OBSERVATIONS, self._embedder, refs)
        width = len(next(iter(results.values()))) if results else 1
        vectors = np.zeros((len(gathered.refs), width), np.float32)
        for row, ref in zip(head, refs, strict=True):
            if ref in results:
                vectors[row] = results[ref]
        return vectors

    def conclusions(self, requests: Sequence[Observation]) -> Mapping[UUID, Observation]:
        """Return what was concluded of requests where tools ran, as far as it is shown."""
        shown = (lambda refs: refs) if self._visibility is None else self._visibility.shown
        return conclusions(self._tx, requests, shown)

    def answers(self, questions: Sequence[Observation]) -> Mapping[UUID, Observation]:
        """Return what an agent said last in answer to questions, tools or not, as far as it is shown."""
        shown = (lambda refs: refs) if self._visibility is None else self._visibility.shown
        return conclusions(self._tx, questions, shown, tooled_only=False)

    def proof(self, episode: Episode, count: int) -> list[tuple[Observation, float]]:
        """Return the observations of an episode found by its summary alone that come nearest the query."""
        number = self._tx.threads.number(episode.thread_id)
        refs = np.arange(ref_of(number, episode.first_seq), ref_of(number, episode.last_seq) + 1)
        if self._visibility is not None:
            refs = self._visibility.shown(refs)
        scores = np.nan_to_num(self.cosines(OBSERVATIONS, refs)) + self.text(OBSERVATIONS, refs)
        best = refs[np.lexsort((refs, -scores))][:count]
        stored = self._tx.observations.get(best.tolist())
        return [(stored[r], 0.0) for r in best.tolist() if r in stored]


def outermost(
    tx: Transaction, refs: Refs, scores: Floats, order: Order | None, visibility: Visibility | None = None
) -> Refs:
    """Return the newest (oldest) of the good documents of a leg that are shown; none without an order.

    What is done every day stands there in the same words a hundred times: the best of a leg would be any.
    """
    if order is None or not len(refs):
        return np.zeros(0, np.int64)
    good = refs[scores >= max(STRONG * float(scores.max()), np.finfo(float).tiny)]
    if visibility is not None:
        good = good[np.isin(good, visibility.shown(np.sort(good)))]
    times = tx.index.times(good)
    ends: Refs = good[np.argsort(-times if order.latest else times, kind="stable")]
    return ends[: max(NEAR, order.count)].astype(np.int64)


def _terms_of(observation: Observation, language: str | None) -> Mapping[str, int]:
    """Return the first terms of what an observation says, and its day, as the index holds them."""
    counts: Counter[str] = Counter()
    for term in tokens(own_words(observation).text, language):
        if len(counts) >= READ:
            break
        counts[term] += 1
    if observation.at_source != TimeSource.ASSUMED:
        counts.update(dict.fromkeys(date_words(observation.at), 1))
    return counts


def _place(ref: int) -> str:
    """Return what sorts as observations do: thread by thread, in the order they were said."""
    return f"{ref:016x}"


def _strangers(query: Query, frequencies: Mapping[str, int]) -> list[Name]:
    """Return the names of which some word occurs nowhere, in none of its forms."""
    return [name for name in query.names if not all(_holds(word, frequencies) for word in name)]


def _holds(word: Sequence[str], frequencies: Mapping[str, int]) -> bool:
    """Tell whether a word occurs in some of its forms; one that is never counted may."""
    return any(frequencies.get(term, 1) for term in word)


def within(tx: Transaction, bounds: SearchBounds) -> Refs:
    """Return the refs a filter leaves."""
    refs = bounds.about
    if bounds.thread_id is not None:
        number, frame = tx.threads.number(bounds.thread_id), tx.threads.frame(bounds.thread_id)
        own = np.arange(ref_of(number, 0), ref_of(number, frame.next_seq), dtype=np.int64)
        refs = own if refs is None else np.intersect1d(refs, own)
    if bounds.place is not None:
        visits = known_visits(tx, bounds.place, bounds.thread_id)
        there = np.concatenate(
            [np.zeros(0, np.int64), *(np.arange(s.first_ref, s.last_ref + 1) for s in visits)]
        )
        refs = there if refs is None else np.intersect1d(refs, there)
    if bounds.since is not None or bounds.until is not None:
        start, end = bounds.since or FIRST, bounds.until or LAST
        timed = tx.index.between(start, end, limit=tx.count("observations"))
        refs = timed if refs is None else np.intersect1d(refs, timed)
    return np.sort(refs) if refs is not None else np.zeros(0, np.int64)


FIRST = datetime.fromisoformat("0001-01-01T00:00:00+00:00")
LAST = datetime.fromisoformat("9999-12-31T23:59:59+00:00")


def _event_seconds(times: NDArray[np.int64]) -> Floats:
    missing = times == np.iinfo(np.int64).min
    seconds: Floats = np.where(missing, np.nan, times / 1e6)
    return seconds


def _age(card: EpisodeMark | int, now: datetime) -> float:
    if not isinstance(card, EpisodeMark):
        return 0.0
    return max(0.0, (now.timestamp() - card.last_reviewed_at / 1e6) / DAY)

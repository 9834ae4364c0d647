"""The verb `search`: read the query, embed it, gather candidates, fuse, and show what proves each hit.

Never writes, and holds no transaction open while the query is embedded. A search is one read transaction. Who
speaks in a scope decides what is embedded, and is remembered from search to search; where that was not known
yet, and the question names one of them, the query is embedded again and a second transaction answers.
"""

from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta, timezone
from functools import cache, partial
from threading import Lock
from typing import NamedTuple
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from episodic_agent.core import recall as ranking
from episodic_agent.core.chains.metadata import EVERYTHING, MetadataFilter
from episodic_agent.core.context.retrieved import DETAILS, Detail
from episodic_agent.core.language import words
from episodic_agent.core.people.joining import People
from episodic_agent.core.recall.due import DATED_ONLY
from episodic_agent.core.recall.policies import FUSING, PER_LEG, SEED_003, policy_name
from episodic_agent.core.strength import retrievability
from episodic_agent.engine.arguments import (
    FEW_FACTS,
    MOST_EPISODES,
    MOST_FACTS,
    MOST_OBSERVATIONS,
    counted,
    out_of_order,
    worded,
)
from episodic_agent.engine.deps import Deps
from episodic_agent.engine.embedding import BetweenEmbedders, FormerQuery
from episodic_agent.engine.filters import Walls
from episodic_agent.engine.people.naming import NOBODY, analysed_by_name, people_of, reading_named
from episodic_agent.engine.recall import commitments, happening, sessions, settling
from episodic_agent.engine.recall.due import due_shares
from episodic_agent.engine.recall.elsewhere import projects_meant
from episodic_agent.engine.recall.facts import DIGITS, answering, category_of
from episodic_agent.engine.recall.filtering import SearchBounds, actors_called, refs_that_count, unheard
from episodic_agent.engine.recall.gathering import DAY, Floats, Gathered, Gatherer, within
from episodic_agent.engine.recall.happening import (
    asked_alone,
    bounds_of_review,
    happened_refs,
    in_its_time,
    known_names,
    named_talk,
    nothing_due,
    nothing_then,
    nothing_to_search,
    refs_of_people,
    silence,
    span,
    why_nothing,
    zone_of_writer,
    zone_then,
)
from episodic_agent.engine.recall.proving import (
    PROOFS,
    concluded,
    detailed,
    evidence_of,
    nearest_evidence,
    of_days,
    proofs_of,
    ranked_hits,
    why_hidden,
)
from episodic_agent.engine.recall.walls import check_place, reading, thread_asked_for, threads_called
from episodic_agent.engine.results import Evidence, FactHit, Recall, Suppressed, best_hits, hit_of
from episodic_agent.engine.scoped import check_known
from episodic_agent.engine.visibility.hidden import FADED, Visibility
from episodic_agent.errors import InvalidInput, ProviderError
from episodic_agent.protocols import EPISODES, Refs, Transaction, query_vector
from episodic_agent.schemas import Episode, Scope, Vector

PLACE = "place"  # what answers a question for a place alone, or for all that a filter leaves
HIDDEN = "what there is to search here is suppressed or archived; ask with suppressed=True"
SCENES = 256  # scopes of which a process remembers who speaks there
DUE_ALONE = 4.0  # of all that is due that stands first which is close to the day, however it is worded
TAKEN_ON = 1.0  # share of the best score that surely being a commitment which is asked for adds
SEED_DIGITS = 7  # rank fusion's scores are small


@dataclass(frozen=True, slots=True)
class SearchOptions:
    """How a search is to be done; see `UserMemory.search`."""

    limit: int = 5
    observations: int = 5
    policy: str = "default"
    since: datetime | None = None
    until: datetime | None = None
    thread: str | None = None
    asking: str | None = None
    place: str | None = None
    speaker: str | None = None
    channel: str | None = None
    projects: frozenset[str] = frozenset()
    only: Walls = ()
    names: Sequence[str] = ()  # those of `only` that the caller gave
    now: datetime | None = None
    explain: bool = False
    facts: int = FEW_FACTS
    category: str | None = None
    suppressed: bool = False
    where: MetadataFilter = EVERYTHING
    detail: Detail = "none"


class Answered(NamedTuple):
    """The answer to a query, and the thread that asked where one was named."""

    recall: Recall
    asker: UUID | None


@dataclass(frozen=True, slots=True)
class _Scene:
    """What reading a query takes of a scope: who spoke there, when last, the places by key, and the zone.

    `utc_offset` is that of who writes there, where they tell one; it is read for questions that name times.
    """

    speakers: tuple[str, ...] = ()
    last: datetime | None = None
    places: Mapping[str, str] = field(default_factory=dict)
    utc_offset: timedelta | None = None
    people: People = NOBODY


@dataclass(frozen=True, slots=True)
class _Embedded:
    """A text that was embedded; `vector` None where there is no embedder or it failed, as `notes` say."""

    text: str | None
    vector: Vector | None = None
    notes: Sequence[str] = ()
    former: FormerQuery | None = None
    between: BetweenEmbedders | None = None


@dataclass(frozen=True, slots=True)
class _SearchRequest:
    """A query that was read and embedded, and how it is to be answered."""

    query: ranking.Query
    policy: str
    filter_: SearchBounds
    options: SearchOptions
    now: datetime
    vector: Vector | None
    notes: Sequence[str]
    former: FormerQuery | None = None
    due: Mapping[int, float] | None = None
    taken_on: commitments.Commitments = commitments.NONE_ASKED
    talk: Refs | None = None
    everywhere: Refs | None = None
    silence: str = ""  # where nothing was said in the time alone that is asked about


class Recaller:
    """Answers queries over one store."""

    def __init__(self, deps: Deps) -> None:
        self._deps = deps
        self._scenes: OrderedDict[Scope, _Scene] = OrderedDict()  # of the scopes searched last
        self._lock = Lock()

    def run(self, scope: Scope, text: str, options: SearchOptions, *, known: bool = False) -> Answered:
        """Answer a query; see `UserMemory.search`. `known`: NotFound where nothing was ever written."""
        policy = _checked(text, options)
        now = options.now or self._deps.clock()
        scene = self._scenes.get(scope, _Scene())
        analysed = partial(self._analysed, scope, text, now=now, policy=policy, options=options)
        query = analysed(scene)
        embedded = self._embedded(query, policy, options)
        while True:
            with reading_named(self._deps.store, scope) as tx:
                seen = _scene(tx, scene, zoned=bool(query.time or query.ahead) and not now.utcoffset())
                if seen != scene:
                    query, scene = analysed(seen), seen
                if seen.last and (then := zone_then(tx, query, now, seen.last)) is not None:
                    query = analysed(replace(seen, utc_offset=then), now=now.astimezone(timezone(then)))
                between = None if self._deps.embedder is None else self._deps.former.between(tx)
                ready = embedded.text == query.dense_text and embedded.between == between
                ready = ready or _by_place(query, policy, options)
                if ready and not (known and not seen.speakers):
                    self._remember(scope, seen)
                    return self._answered(tx, _asked(tx, query, policy, options, now, embedded))
            if known and not seen.speakers:
                check_known(self._deps.store, scope)
                known = False  # something was written, but no message: that is an answer too
            if not ready:
                embedded = self._embedded(query, policy, options, between)

    def _remember(self, scope: Scope, scene: _Scene) -> None:
        with self._lock:
            self._scenes[scope] = scene
            self._scenes.move_to_end(scope)
            while len(self._scenes) > SCENES:
                self._scenes.popitem(last=False)

    def _answered(self, tx: Transaction, asked: "_SearchRequest") -> Answered:
        options = asked.options
        walled = bool(options.only)
        asker = None if options.asking is None else thread_asked_for(tx, options.asking, walled=walled)
        named = threads_called(tx, options.only) if walled else None
        only = None if named is None else named.ids
        if named is not None:
            named.check(options.names)
        tx = tx if named is None else reading(tx, options.only, named.outside)
        if only is not None and options.place is not None:
            check_place(tx, options.place, only)
        # who names a thread means that one, whatever project it is of
        folders = options.projects if options.thread is None else frozenset[str]()
        projects = projects_meant(tx, folders, only)
        clock = self._deps.clock()
        at = max(asked.now, clock)  # what has expired by now never shows, whenever is asked about
        visibility = Visibility(tx, at)
        actors = None if options.speaker is None else actors_called(tx, options.speaker)
        about = refs_that_count(
            tx,
            options.where,
            visibility,
            channel=options.channel,
            projects=projects.own,
            only=only,
            actors=actors,
        )
        if about is not None and named is not None:
            about = np.setdiff1d(about, [*named.outside])
        asked = replace(asked, filter_=replace(asked.filter_, about=about, only=only, actors=actors))
        listed = asked.policy == PLACE or (asked.policy != SEED_003 and FUSING[asked.policy].measured)
        ended = happening.steps_ended(tx, asked.query, asked.filter_, visibility) if listed else None
        if listed and ended is None:
            asked_for = sessions.sessions_asked(tx, self._question(tx, asked), asked.now, visibility)
            ended = np.unique(np.concatenate(asked_for)) if asked_for else None
        if ended is not None:
            asked = replace(asked, policy=PLACE, filter_=replace(asked.filter_, about=ended))
        unbounded = _with_happened(tx, _with_talk(tx, _with_speakers(tx, asked)), visibility)
        then = unbounded.filter_
        if unbounded.policy not in {PLACE, SEED_003} and options.since is options.until is None:
            then = bounds_of_review(tx, unbounded.query, then, unbounded.now, visibility)
        asked = replace(unbounded, filter_=then)
        recall = self._answer(tx, asked, visibility)
        if recall.abstained and then is not unbounded.filter_:  # nothing of the matter was said then
            asked, recall = unbounded, self._answer(tx, unbounded, visibility)
        recall = replace(recall, facts=self._facts(tx, asked, visibility))
        unknown = (*(() if named is None else named.notes), *projects.notes)
        if unknown:  # why nothing answers is the last of the notes
            recall = replace(recall, notes=[*unknown, *recall.notes])
        if options.suppressed:
            recall = replace(recall, suppressed=self._left_out(tx, asked, recall, visibility, at))
        recall = of_days(recall, asked.query.ahead)
        return Answered(detailed(tx, recall, options.detail, clock), asker)

    def _facts(self, tx: Transaction, asked: "_SearchRequest", visibility: Visibility) -> Sequence[FactHit]:
        """Return the facts that answer; of a place or of days to come alone what was said there tells all."""
        options, ahead = asked.options, asked.query.ahead
        listed = asked.policy == PLACE and not asked.query.places
        if not options.facts or options.place or listed or (ahead is not None and ahead.alone):
            return ()
        named = (options.thread, options.channel, options.speaker, options.since, options.until)
        unbound = options.where.empty and all(part is None for part in named)
        return answering(
            tx,
            self._deps,
            asked.query,
            asked.vector,
            visibility,
            asked.filter_,
            limit=options.facts,
            category=options.category,
            at=options.now if options.until is None else options.until,
            projects=options.projects if unbound else frozenset(),
        )

    def _answer(
        self, tx: Transaction, asked: "_SearchRequest", visibility: Visibility, *, fades: bool = True
    ) -> Recall:
        """Answer with what a curtain shows; `fades` False without what time has done."""
        query, options = asked.query, asked.options
        if asked.policy == PLACE:
            listed = happening.recall(
                tx,
                query,
                asked.filter_,
                asked.now,
                limit=options.limit,
                observations=options.observations,
                visibility=visibility,
            )
            if best_hits(listed):
                return listed
            unknown = unheard(tx, options.channel, options.speaker, asked.filter_.only)
            return replace(listed, notes=[unknown]) if unknown else listed
        asked = self._with_commitments(tx, _with_due(tx, asked, visibility), visibility)
        gatherer = Gatherer(
            tx,
            query,
            asked.vector,
            self._deps.embedder_name,
            self._deps.calibration,
            visibility=visibility,
            fades=fades,
            former=asked.former,
            talk=asked.talk,
            besides=np.array([*(asked.due or {}), *asked.taken_on.shares], np.int64),
        )
        if asked.policy == SEED_003:
            return self._by_ranks(tx, gatherer, asked)
        gathered = gatherer.gather(asked.filter_, asked.now)
        if not len(gathered.refs):
            nothing = HIDDEN if visibility.drawn else nothing_to_search(self._deps, tx.scope)
            if _of_its_time(query, asked.policy, options):
                nothing = silence(*span(query), drawn=visibility.drawn)
            if query.ahead is not None and query.ahead.alone:
                nothing = nothing_due(query.ahead.days, drawn=visibility.drawn)
            nothing = unheard(tx, options.channel, options.speaker, asked.filter_.only) or nothing
            return Recall(asked.query.text, (), (), 0.0, [*asked.notes, nothing])
        return self._fused(gatherer, gathered, asked)

    def _with_commitments(
        self, tx: Transaction, asked: "_SearchRequest", visibility: Visibility
    ) -> "_SearchRequest":
        """Return a request with what tells of the commitments that it asks for."""
        if asked.policy == SEED_003 or not FUSING[asked.policy].measured:
            return asked
        taken_on = commitments.commitments_asked(tx, self._question(tx, asked), asked.now, visibility)
        return replace(asked, taken_on=taken_on)

    def _question(self, tx: Transaction, asked: "_SearchRequest") -> settling.CommitmentQuestion:
        text, deps, bounds = asked.query.text, self._deps, asked.filter_
        among = partial(within, tx, bounds) if bounds else None
        return settling.CommitmentQuestion(text, asked.vector, deps.embedder_name, deps.language, among)

    def _left_out(
        self, tx: Transaction, asked: "_SearchRequest", recall: Recall, visibility: Visibility, at: datetime
    ) -> list[Suppressed]:
        """Return what would be a hit but for marks and suppressed words, then but for its strength."""
        shown = {hit.episode_id for hit in best_hits(recall)}
        left: list[Suppressed] = []
        lifted = Visibility(tx, at, lifted=True)
        for hit in best_hits(self._answer(tx, asked, lifted)) if visibility.drawn else ():
            # one that is shown for other messages, or was not good enough without these, is left out in part
            if why := why_hidden(tx, visibility, hit):
                left.append(Suppressed(hit, why))
        if asked.policy == PLACE:  # where somebody was counts, not how strong it is
            return left
        fresh = best_hits(self._answer(tx, asked, visibility, fades=False))
        stored = tx.episodes.get([hit.episode_id for hit in fresh])
        for hit in fresh:
            if hit.episode_id not in shown and hit.episode_id in stored:
                strength = round(_strength(stored[hit.episode_id], asked.now), DIGITS)
                left.append(Suppressed(replace(hit, retrievability=strength), f"{FADED}: {strength:.2f}"))
        return left

    def _analysed(
        self, scope: Scope, text: str, scene: _Scene, now: datetime, *, policy: str, options: SearchOptions
    ) -> ranking.Query:
        speakers, last, places = scene.speakers, scene.last, scene.places
        owner = None if scope.user_id == Scope().user_id else scope.user_id
        measured = policy != SEED_003 and FUSING[policy].measured
        language = self._deps.language
        filtered = _filtered(policy, options)
        analyse = partial(
            analysed_by_name, scene.people, text, speakers,
            owner=owner, language=language, places=places, filtered=filtered,
        )  # fmt: skip

        def read(at: datetime, zone: timedelta | None) -> ranking.Query:
            query = analyse(at, utc_offset=zone)
            query = ranking.in_order(query) if measured else query
            return ranking.looking_ahead(query, at, zone) if _looks_ahead(policy, options) else query

        return in_its_time(read, now, last, scene.utc_offset)

    def _embedded(
        self,
        query: ranking.Query,
        policy: str,
        options: SearchOptions,
        between: BetweenEmbedders | None = None,
    ) -> _Embedded:
        embedder, text = self._deps.embedder, query.dense_text
        if _by_place(query, policy, options):
            return _Embedded(None)
        if embedder is None:
            words_only = "no embedding model: recall by words only (`episodic models pull` fetches it)"
            return _Embedded(text, notes=[words_only])
        try:
            vector = query_vector(embedder, text)
        except ProviderError as error:
            return _Embedded(text, notes=[f"recall by words only: {error}"], between=between)
        if between is None:
            return _Embedded(text, vector)
        former, notes = self._deps.former.query(between, text)
        return _Embedded(text, vector, notes, former, between)

    def _fused(self, gatherer: Gatherer, gathered: Gathered, asked: "_SearchRequest") -> Recall:
        """Rank what was gathered, in one or two rounds, and show what proves the best."""
        query, options = asked.query, asked.options
        candidates, episodes, policy = gathered.candidates, gathered.episodes, FUSING[asked.policy]
        calibration = self._deps.calibration
        known = calibration is not None or self._deps.embedder_name.startswith(ranking.CALIBRATED_FOR)
        share = ranking.measured_share(query, candidates, policy.weights, known=known)
        observations = ranking.fuse(query, candidates, episodes, policy.weights, share=share)
        if policy.rounds > 1:
            shared = gatherer.shared(gathered, observations.order.tolist(), observations.scores)
            observations = ranking.with_second(observations, shared, candidates.ids, policy.weights)
        unlifted = observations  # what the question finds by itself: confidence is asked of that
        observations, over = self._lifted(gatherer, gathered, asked, unlifted)
        fused = ranking.fuse_episodes(query, observations, candidates, episodes, policy.weights, share=share)
        later = ranking.replaced_episodes(observations, candidates, over)
        fused = ranking.with_replaced(fused, later, episodes.ids)
        trust = ranking.assess(
            query,
            candidates,
            unlifted,
            gathered.ceiling,
            unknown=gathered.unknown,
            known=known,
            share=share,
            documents=gathered.documents if policy.measured else None,
            # a window of time is a part of the question; a conversation or a channel may be all there is
            filtered=policy.measured and (options.since is not None or options.until is not None),
        )
        if _asks_no_words(query, asked.policy, options):
            trust = ranking.certain(_shares(gathered, asked.due, 1.0))
        elif asked.taken_on.likely >= commitments.ANSWERING and not gathered.unknown:
            trust = trust.at_least(asked.taken_on.likely, _shares(gathered, asked.taken_on.shares))
        order = self._diverse(gatherer, gathered, observations.order, policy, share=share)
        chosen = order[: options.observations].tolist()
        rows = fused.order[: options.limit].tolist()
        proofs = {row: proofs_of(gathered, observations, row) for row in rows}
        fromkeys = dict.fromkeys([*chosen, *(n for inside in proofs.values() for n in inside)])
        stored = gatherer.observations(gathered, list(fromkeys))
        shown = {n: evidence_of(stored[n], observations, n, explain=options.explain) for n in fromkeys}
        cards = gatherer.episodes(gathered, rows)
        evidence = {
            row: [shown[n] for n in inside] if inside else nearest_evidence(gatherer, cards[row])
            for row, inside in proofs.items()
        }
        actors, until = asked.filter_.actors, options.until
        evidence = concluded(
            gatherer, gathered, observations, evidence, actors, explain=options.explain, until=until
        )
        hits = ranked_hits(gathered, fused, trust, rows, cards, evidence)
        abstains = trust.abstains(policy.threshold)
        why = asked.silence or why_nothing(trust, gathered, policy.threshold)
        return Recall(
            query=query.text,
            hits=[] if abstains else hits,
            observations=[shown[n] for n in chosen],
            confidence=round(trust.answerable, DIGITS),
            notes=[*asked.notes, *([why] if abstains else [])],
            candidates=hits if abstains else (),
            commitments=[one.commitment for one in asked.taken_on.listed],
        )

    def _lifted(
        self, gatherer: Gatherer, gathered: Gathered, asked: "_SearchRequest", first: ranking.Fused
    ) -> tuple[ranking.Fused, Sequence[tuple[int, Sequence[int]]]]:
        """Return messages with what states something, is due, or took the place of a hit above the rest.

        Beside them stands what is no longer so, with what took its place.
        """
        weights, ids = FUSING[asked.policy].weights, gathered.candidates.ids
        observations = first
        over: Sequence[tuple[int, Sequence[int]]] = ()
        if weights.states > 0:
            stating = gatherer.stating(gathered, first.order.tolist())
            observations = ranking.with_statements(first, stating, ids, weights)
        if asked.due is not None:
            due = _shares(gathered, asked.due)
            if asked.query.ahead is not None and asked.query.ahead.alone:
                observations = ranking.with_raised(observations, due, ids, DUE_ALONE, "due")
            else:  # beside a matter the hour tells nothing
                due = np.where(due >= DATED_ONLY, 1.0, due)
                observations = ranking.with_raised(observations, due, ids, weights.due, "due")
        taken_on = _shares(gathered, asked.taken_on.shares)
        raised = TAKEN_ON * (1 + 2 * len(asked.taken_on.listed) * asked.taken_on.alone)  # as they are listed
        observations = ranking.with_raised(observations, taken_on, ids, raised, "commitment")
        if asked.talk is not None:
            there = np.isin(gathered.refs, asked.talk).astype(np.float64)
            observations = ranking.with_raised(observations, there, ids, weights.due, "talk")
        if weights.states > 0:
            # last, as it only moves: what is no longer so may have been lifted by the day it named
            over = gatherer.replaced(gathered, observations.order.tolist(), asked.now)
            observations = ranking.with_replaced(observations, over, ids)
        return observations, over

    def _diverse(
        self,
        gatherer: Gatherer,
        gathered: Gathered,
        order: NDArray[np.int64],
        policy: ranking.RecallPolicy,
        *,
        share: float,
    ) -> NDArray[np.int64]:
        """Return an order in which what says the same as a better hit stands behind the others."""
        calibration = self._deps.calibration
        duplicates = (
            ranking.NEAR_DUPLICATE if calibration is None else calibration.as_own(ranking.NEAR_DUPLICATE)
        )
        foreign = policy.measured and share < policy.weights.dense

        @cache  # of many that say the same each is read once
        def terms_of(row: int) -> Sequence[str]:
            return words(gatherer.observations(gathered, [row])[row].text)

        def same(row: int, better: int) -> bool:
            return terms_of(row) == terms_of(better)

        vectors = gatherer.candidate_vectors(gathered, order)
        moved, _ = ranking.diversify(order, vectors, duplicates, same=same if foreign else None)
        return moved

    def _by_ranks(self, tx: Transaction, gatherer: Gatherer, asked: "_SearchRequest") -> Recall:
        """Recall by policy `seed-003`: rank fusion over summaries times retrievability, to the letter."""
        options = asked.options
        lexical = gatherer.best_shown(gatherer.best_text, EPISODES, PER_LEG)
        dense = gatherer.best_shown(gatherer.best_vectors, EPISODES, PER_LEG)
        refs = list(dict.fromkeys([*lexical.tolist(), *dense.tolist()]))
        results = tx.episodes.get(refs)
        stored = {str(e.id): e for e in results.values()}
        names = {r: str(e.id) for r, e in results.items()}
        strengths = {n: _strength(e, asked.now) for n, e in stored.items()}
        strengths |= {names[r]: 1.0 for r in gatherer.unfading(list(results))}
        by_words, by_meaning = ([names[r] for r in leg.tolist() if r in names] for leg in (lexical, dense))
        hits = []
        for name, score in ranking.seed_003(by_words, by_meaning, strengths, options.limit):
            proofs = [Evidence(o, s) for o, s in gatherer.proof(stored[name], PROOFS)]
            strength = round(strengths[name], DIGITS)
            card = gatherer.worded(stored[name])
            hits.append(hit_of(card, round(score, SEED_DIGITS), 0.0, strength, proofs, {}))
        observations = [e for h in hits for e in h.evidence][: options.observations]
        return Recall(asked.query.text, hits, observations, 0.0, asked.notes)


def _scene(tx: Transaction, before: _Scene, *, zoned: bool) -> _Scene:
    last = tx.observations.last_at()
    offset = zone_of_writer(tx, last) if zoned and last is not None else before.utc_offset
    return _Scene(tuple(tx.observations.actors()), last, dict(tx.threads.places()), offset, people_of(tx))


def _of_its_time(query: ranking.Query, policy: str, options: SearchOptions) -> bool:
    """Tell whether only the times that a question names are asked about.

    What was said yesterday was said yesterday, however well another day answers to the words.
    """
    return query.said_alone and policy != SEED_003 and options.since is options.until is None


def _shares(gathered: Gathered, shares: Mapping[int, float] | None, other: float = 0.0) -> Floats:
    return np.array([(shares or {}).get(ref, other) for ref in gathered.refs.tolist()])


def _asks_no_words(query: ranking.Query, policy: str, options: SearchOptions) -> bool:
    """Tell whether what was gathered is the answer, however it is worded: all of a time, or who came then."""
    due_alone = query.ahead is not None and query.ahead.alone
    of_its_time = query.happened_alone or _of_its_time(query, policy, options)
    return due_alone or query.who_came or of_its_time


def _filtered(policy: str, options: SearchOptions) -> bool:
    """Tell whether the caller says which part of the memory is meant: all of it may be what is asked for."""
    filters = (options.since, options.until, options.thread, options.place, options.channel)
    measured = policy != SEED_003 and FUSING[policy].measured
    return measured and (any(one is not None for one in filters) or not options.where.empty)


def _looks_ahead(policy: str, options: SearchOptions) -> bool:
    """Tell whether it counts which days to come a question asks about: who gives a time asks of that."""
    return policy != SEED_003 and FUSING[policy].measured and options.since is options.until is None


def _with_due(tx: Transaction, asked: _SearchRequest, visibility: Visibility) -> _SearchRequest:
    """Return a request with what was said of the days to come that it asks about: that alone, or first."""
    ahead = asked.query.ahead
    if ahead is None:
        return asked
    shares = due_shares(tx, ahead, asked.now, visibility)
    if not ahead.alone:
        return replace(asked, due=shares)
    refs = np.array([*shares], np.int64)
    about = asked.filter_.about
    only = refs if about is None else np.intersect1d(refs, about)
    return replace(asked, due=shares, filter_=replace(asked.filter_, about=only))


def _with_speakers(tx: Transaction, asked: _SearchRequest) -> _SearchRequest:
    """Return a request for what people said at a time, of that alone; as of words where it is nothing."""
    query, options, bounds = asked.query, asked.options, asked.filter_
    refs = refs_of_people(tx, query, bounds) if _of_its_time(query, asked.policy, options) else None
    if refs is None:
        return asked
    if len(refs):
        return replace(asked, filter_=replace(bounds, about=refs))
    bounds = replace(bounds, since=options.since, until=options.until)
    return replace(asked, query=replace(query, said_alone=False), filter_=bounds)


def _with_talk(tx: Transaction, asked: _SearchRequest) -> _SearchRequest:
    """Return a request with the thread or channel it names: that alone where only a time stands beside it."""
    options, query = asked.options, asked.query
    if asked.policy in {PLACE, SEED_003} or not FUSING[asked.policy].measured:
        return asked
    query = known_names(tx, query)
    asked = replace(asked, query=query)
    if options.thread is not None or options.place is not None:
        return asked
    talk = named_talk(tx, query.text, asked.now, query.time.utc_offset)
    alone = None if talk is None else asked_alone(query, talk, asked.now)
    if talk is None or alone is None:
        return asked if talk is None else replace(asked, talk=talk.refs)
    about = asked.filter_.about
    there = talk.refs if about is None else np.intersect1d(talk.refs, about)
    within_it = replace(asked, query=alone, filter_=replace(asked.filter_, about=there))
    return replace(within_it, talk=talk.refs, everywhere=about)


def _with_happened(tx: Transaction, asked: _SearchRequest, visibility: Visibility) -> _SearchRequest:
    """Return a request with what was said in the time alone that it asks about, where anything was."""
    options = asked.options
    if not asked.query.happened_alone or asked.policy in {PLACE, SEED_003}:
        return asked
    refs = np.zeros(0, np.int64)
    if options.since is options.until is None:
        refs = happened_refs(tx, asked.query, asked.filter_, asked.now, visibility)
    if not len(refs):
        query = replace(asked.query, happened_alone=False)
        about = asked.filter_.about if asked.talk is None else asked.everywhere
        silent = "" if options.since or options.until else nothing_then(asked.query, drawn=visibility.drawn)
        filter_ = replace(asked.filter_, about=about)
        return replace(asked, query=query, filter_=filter_, silence=silent)
    return replace(asked, filter_=replace(asked.filter_, about=refs))


def _by_place(query: ranking.Query, policy: str, options: SearchOptions) -> bool:
    """Tell whether a question asks for a place alone, or all that a filter leaves: nothing is embedded."""
    if _of_its_time(query, policy, options):
        return False
    return policy != SEED_003 and happening.answers(query, SearchBounds(place=options.place))


def _asked(
    tx: Transaction,
    query: ranking.Query,
    policy: str,
    options: SearchOptions,
    now: datetime,
    embedded: _Embedded,
) -> _SearchRequest:
    thread = (
        None if options.thread is None else thread_asked_for(tx, options.thread, walled=bool(options.only))
    )
    bounds = SearchBounds(options.since, options.until, thread, options.place)
    if _of_its_time(query, policy, options):
        since, until = span(query)
        bounds = replace(bounds, since=since, until=until)
    if _by_place(query, policy, options):
        return _SearchRequest(query, PLACE, bounds, options, now, None, [])
    return _SearchRequest(
        query, policy, bounds, options, now, embedded.vector, embedded.notes, embedded.former
    )


def _strength(episode: Episode, now: datetime) -> float:
    days = max(0.0, (now - episode.last_reviewed_at).total_seconds() / DAY)
    return float(retrievability(episode.stability, days))


def _checked(text: str, options: SearchOptions) -> str:
    if not worded("query", text).strip():
        raise InvalidInput("the query is empty; ask something")
    policy = policy_name(worded("policy", options.policy))
    if options.detail not in DETAILS:
        raise InvalidInput(f"no detail {options.detail!r}; there are {', '.join(DETAILS)}")
    counted("limit", options.limit, most=MOST_EPISODES)
    counted("observations", options.observations, most=MOST_OBSERVATIONS)
    counted("facts", options.facts, 0, MOST_FACTS)
    category_of(options.category)
    if options.since and options.until and options.since >= options.until:
        raise InvalidInput(out_of_order(options.since, options.until))
    where = (options.thread, options.channel, options.speaker, options.place, options.projects, options.only)
    filtered = options.since or options.until or any(where)
    if policy == SEED_003 and (filtered or not options.where.empty):
        raise InvalidInput("recall policy seed-003 knows no filters; leave them out or use `default`")
    return policy

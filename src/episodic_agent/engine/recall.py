"""The verb `search`: read the query, embed it, gather candidates, fuse, and show what proves each hit.

Never writes, and holds no transaction open while the query is embedded.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from uuid import UUID

from episodic_agent.core import ranking
from episodic_agent.core.chaining.filters import EVERYTHING, MetadataFilter
from episodic_agent.core.forgetting import retrievability
from episodic_agent.core.interfaces import EPISODES, Transaction, ref_of
from episodic_agent.core.ranking.seed import PER_LEG
from episodic_agent.engine import whereabouts
from episodic_agent.engine.curtain import FADED, Curtain
from episodic_agent.engine.fact_recall import answering, category_of
from episodic_agent.engine.filtering import refs_about
from episodic_agent.engine.gathering import DAY, Filter, Gathered, Gatherer
from episodic_agent.engine.given import counted, worded
from episodic_agent.engine.parts import Parts
from episodic_agent.engine.results import EpisodeCard, Evidence, FactHit, Hit, Recall, Suppressed, hit_of
from episodic_agent.errors import InvalidInput, ProviderError
from episodic_agent.schemas import Episode, Observation, Scope, Vector

POLICIES = ("default", "seed-003")
ALIASES = {"rrf-decay": "seed-003"}
FEW_FACTS = 20  # seed 003
PLACE = "place"  # what answers a question for a place alone
HIDDEN = "what there is to search here is suppressed or archived; ask with suppressed=True"
PROOFS = 5  # observations shown with a hit
SEED_DIGITS = 7  # rank fusion's scores are small
DIGITS = 6  # scores are rounded before they order anything, so that machines agree


@dataclass(frozen=True, slots=True)
class SearchOptions:
    """How a search is to be done; see `Memory.search`."""

    limit: int = 5
    observations: int = 5
    policy: str = "default"
    since: datetime | None = None
    until: datetime | None = None
    thread_id: UUID | None = None
    place: str | None = None
    now: datetime | None = None
    explain: bool = False
    facts: int = FEW_FACTS
    category: str | None = None
    suppressed: bool = False
    where: MetadataFilter = EVERYTHING


@dataclass(frozen=True, slots=True)
class _Asked:
    """A query that was read and embedded, and how it is to be answered."""

    query: ranking.Query
    text: str
    policy: str
    wanted: Filter
    options: SearchOptions
    now: datetime
    vector: Vector | None
    notes: Sequence[str]


class Recaller:
    """Answers queries over one store."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts

    def run(self, scope: Scope, text: str, options: SearchOptions) -> Recall:
        """Answer one query; see `Memory.search`."""
        policy = _checked(text, options)
        now = options.now or self._parts.clock()
        query = self._read(scope, text, now)
        wanted = Filter(options.since, options.until, options.thread_id, options.place)
        by_place = policy != "seed-003" and whereabouts.answers(query, wanted)
        vector, notes = (None, []) if by_place else self._embed(query.dense_text)
        asked = _Asked(query, text, PLACE if by_place else policy, wanted, options, now, vector, notes)
        with self._parts.store.begin(scope, write=False) as tx:
            at = max(now, self._parts.clock())  # what has expired by now never shows, whenever is asked about
            curtain = Curtain(tx, at)
            if not options.where.empty:
                about = refs_about(tx, options.where, curtain)
                asked = replace(asked, wanted=replace(wanted, about=about))
            found = replace(self._answer(tx, asked, curtain), facts=self._facts(tx, asked, curtain))
            if not options.suppressed:
                return found
            return replace(found, suppressed=self._left_out(tx, asked, found, curtain, at))

    def _facts(self, tx: Transaction, asked: "_Asked", curtain: Curtain) -> Sequence[FactHit]:
        """Return the facts that answer; those of a place alone are asked for nowhere."""
        options = asked.options
        if not options.facts or options.place:
            return ()
        return answering(
            tx,
            self._parts,
            asked.query,
            asked.vector,
            curtain,
            limit=options.facts,
            category=options.category,
            at=options.now if options.until is None else options.until,
            thread_id=options.thread_id,
            among=asked.wanted.about,
        )

    def _answer(self, tx: Transaction, asked: "_Asked", curtain: Curtain, *, fades: bool = True) -> Recall:
        """Answer with what a curtain shows; `fades` False without what time has done."""
        query, options = asked.query, asked.options
        if asked.policy == PLACE:
            return whereabouts.recall(
                tx,
                query,
                asked.wanted,
                asked.now,
                limit=options.limit,
                observations=options.observations,
                curtain=curtain,
            )
        gatherer = Gatherer(
            tx,
            query,
            asked.vector,
            self._parts.embedder_name,
            self._parts.calibration,
            curtain=curtain,
            fades=fades,
        )
        if asked.policy == "seed-003":
            return self._by_ranks(tx, gatherer, asked)
        gathered = gatherer.gather(asked.wanted, asked.now)
        if not len(gathered.refs):
            nothing = HIDDEN if curtain.drawn else self._nothing(tx.scope)
            return Recall(asked.text, (), (), True, 0.0, [*asked.notes, nothing])
        return self._fused(gatherer, query, gathered, options, list(asked.notes))

    def _left_out(
        self, tx: Transaction, asked: "_Asked", found: Recall, curtain: Curtain, at: datetime
    ) -> list[Suppressed]:
        """Return what would be a hit but for marks and suppressed words, then but for its strength."""
        shown = {hit.episode_id for hit in found.hits}
        left: list[Suppressed] = []
        for hit in self._answer(tx, asked, Curtain(tx, at, lifted=True)).hits if curtain.drawn else ():
            why = _why_hidden(tx, curtain, hit)
            if why and hit.episode_id not in shown:
                left.append(Suppressed(hit, why))
        if asked.policy == PLACE:  # where somebody was counts, not how strong it is
            return left
        fresh = self._answer(tx, asked, curtain, fades=False).hits
        stored = tx.episodes.by_ids([hit.episode_id for hit in fresh])
        for hit in fresh:
            if hit.episode_id not in shown and hit.episode_id in stored:
                strength = round(_strength(stored[hit.episode_id], asked.now), DIGITS)
                left.append(Suppressed(replace(hit, retrievability=strength), f"{FADED}: {strength:.2f}"))
        return left

    def _read(self, scope: Scope, text: str, now: datetime) -> ranking.Query:
        with self._parts.store.begin(scope, write=False) as tx:
            speakers, last = list(tx.threads.actors()), tx.threads.last_at()
            places = tx.places.labels()
        owner = None if scope.user_id == Scope().user_id else scope.user_id
        language = self._parts.language
        query = ranking.analyse(text, speakers, now, owner=owner, language=language, places=places)
        if last is None or not query.time.ranges or any(r.start <= last for r in query.time.ranges):
            return query
        # "in April" asked long after the last message means the April this memory knows
        return ranking.analyse(text, speakers, last, owner=owner, language=language, places=places)

    def _nothing(self, scope: Scope) -> str:
        store = self._parts.store
        users = sorted(s.user_id for s in store.scopes(scope.space))
        if store.exists(scope) or not users:
            return "the memory holds nothing to search here"
        return f"nothing is remembered of {scope.user_id!r}; known users: {', '.join(users[:10])}"

    def _embed(self, text: str) -> tuple[Vector | None, list[str]]:
        embedder = self._parts.embedder
        if embedder is None:
            return None, ["no embedding model: recall by words only (`episodic models pull` fetches it)"]
        try:
            return embedder.embed([text])[0], []
        except ProviderError as error:
            return None, [f"recall by words only: {error}"]

    def _fused(
        self,
        gatherer: Gatherer,
        query: ranking.Query,
        gathered: Gathered,
        options: SearchOptions,
        notes: list[str],
    ) -> Recall:
        found, episodes = gathered.found, gathered.episodes
        observations = ranking.fuse(query, found, episodes)
        fused = ranking.fuse_episodes(query, observations, found, episodes)
        calibration = self._parts.calibration
        known = calibration is not None or self._parts.embedder_name.startswith(ranking.CALIBRATED_FOR)
        trust = ranking.assess(
            query, found, observations, gathered.ceiling, unknown=gathered.unknown, known=known
        )
        twins = ranking.NEAR_DUPLICATE if calibration is None else calibration.as_own(ranking.NEAR_DUPLICATE)
        order, _ = ranking.diversify(
            observations.order, gatherer.candidate_vectors(gathered, observations.order), twins
        )
        chosen = order[: options.observations].tolist()
        rows = fused.order[: options.limit].tolist()
        proofs = {row: _proofs(gathered, observations, row) for row in rows}
        wanted = dict.fromkeys([*chosen, *(n for inside in proofs.values() for n in inside)])
        stored = gatherer.observations(gathered, list(wanted))
        shown = {n: _evidence(stored[n], observations, n, explain=options.explain) for n in wanted}
        cards = gatherer.episodes(gathered, rows)
        evidence = {
            row: [shown[n] for n in inside] if inside else _nearest(gatherer, cards[row])
            for row, inside in proofs.items()
        }
        return Recall(
            query=query.text,
            hits=[_hit(gathered, fused, trust, row, cards[row], evidence[row]) for row in rows],
            observations=[shown[n] for n in chosen],
            abstained=trust.abstains(),
            confidence=round(trust.answerable, DIGITS),
            notes=notes,
        )

    def _by_ranks(self, tx: Transaction, gatherer: Gatherer, asked: "_Asked") -> Recall:
        """Recall by policy `seed-003`: rank fusion over summaries times retrievability, to the letter."""
        options = asked.options
        lexical = gatherer.best_shown(gatherer.best_text, EPISODES, PER_LEG)
        dense = gatherer.best_shown(gatherer.best_vectors, EPISODES, PER_LEG)
        refs = list(dict.fromkeys([*lexical.tolist(), *dense.tolist()]))
        found = tx.episodes.by_refs(refs)
        stored = {str(e.id): e for e in found.values()}
        names = {r: str(e.id) for r, e in found.items()}
        strengths = {n: _strength(e, asked.now) for n, e in stored.items()}
        strengths |= {names[r]: 1.0 for r in gatherer.unfading(list(found))}
        by_words, by_meaning = ([names[r] for r in leg.tolist() if r in names] for leg in (lexical, dense))
        hits = []
        for name, score in ranking.seed_003(by_words, by_meaning, strengths, options.limit):
            proofs = [Evidence(o, s) for o, s in gatherer.proof(stored[name], PROOFS)]
            strength = round(strengths[name], DIGITS)
            card = gatherer.worded(stored[name])
            hits.append(hit_of(card, round(score, SEED_DIGITS), 0.0, strength, proofs, {}))
        observations = [e for h in hits for e in h.evidence][: options.observations]
        return Recall(asked.text, hits, observations, not hits, 0.0, asked.notes)


def _strength(episode: Episode, now: datetime) -> float:
    days = max(0.0, (now - episode.last_reviewed_at).total_seconds() / DAY)
    return float(retrievability(episode.stability, days))


def _why_hidden(tx: Transaction, curtain: Curtain, hit: Hit) -> str:
    """Return why a hit is left out: its episode is hidden, or what proves it."""
    closed = tx.episodes.get(hit.episode_id)
    if closed is not None and (why := curtain.why_episode(closed)):
        return why
    number = tx.threads.number(hit.thread_id)
    hidden = curtain.why([ref_of(number, one.observation.seq) for one in hit.evidence])
    return next(iter(hidden.values()), "")


def _checked(text: str, options: SearchOptions) -> str:
    if not isinstance(text, str) or not text.strip():
        raise InvalidInput("the query is empty; ask something")
    policy = ALIASES.get(named := worded("policy", options.policy), named)
    if policy not in POLICIES:
        raise InvalidInput(f"no recall policy {options.policy!r}; there are {', '.join(POLICIES)}")
    counted("limit", options.limit)
    counted("observations", options.observations)
    counted("facts", options.facts, 0)
    category_of(options.category)
    if options.since and options.until and options.since >= options.until:
        raise InvalidInput("`since` must be before `until`")
    filtered = options.since or options.until or options.thread_id or options.place
    if policy == "seed-003" and (filtered or not options.where.empty):
        raise InvalidInput("recall policy seed-003 knows no filters; leave them out or use `default`")
    return policy


def _evidence(observation: Observation, fused: ranking.Fused, n: int, *, explain: bool) -> Evidence:
    legs = {name: round(float(values[n]), DIGITS) for name, values in fused.legs.items()} if explain else {}
    return Evidence(observation, round(float(fused.scores[n]), DIGITS), legs)


def _proofs(gathered: Gathered, fused: ranking.Fused, row: int) -> list[int]:
    """Return the rows of the observations that made an episode a hit, best first."""
    inside: list[int] = fused.order[gathered.found.episode[fused.order] == row][:PROOFS].tolist()
    return inside


def _nearest(gatherer: Gatherer, card: "Episode | EpisodeCard") -> list[Evidence]:
    """Return what proves an episode found by its summary alone."""
    return [Evidence(o, s) for o, s in gatherer.proof(card, PROOFS)] if isinstance(card, Episode) else []


def _hit(
    gathered: Gathered,
    fused: ranking.Fused,
    trust: ranking.Confidence,
    row: int,
    card: "Episode | EpisodeCard",
    proofs: Sequence[Evidence],
) -> Hit:
    legs = {name: round(float(values[row]), DIGITS) for name, values in fused.legs.items()}
    inside = trust.hits[gathered.found.episode == row]
    confidence = float(inside.max()) if len(inside) else 0.0
    strength = float(gathered.episodes.retrievability[row])
    score = round(float(fused.scores[row]), DIGITS)
    return hit_of(card, score, round(confidence, DIGITS), round(strength, DIGITS), proofs, legs)

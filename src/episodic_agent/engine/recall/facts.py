"""Which facts answer a query: by words and by meaning, those that hold at a moment or all that ever did.

How well a short text of one kind answers is told here for skills as well.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING, Final
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from episodic_agent.core import recall as ranking
from episodic_agent.core.episodes.languages import guess_language
from episodic_agent.core.facts.amending import may_amend
from episodic_agent.core.facts.quoting import is_quotation, says_nothing, told_as
from episodic_agent.core.facts.rules import asks_for_rules
from episodic_agent.core.facts.speakers import OWNER
from episodic_agent.core.facts.stating import has_cue
from episodic_agent.core.language import tokens
from episodic_agent.core.language.terms import FAMILY, of_one_family
from episodic_agent.core.recall.bm25 import K1, B, kept_terms, term_weight
from episodic_agent.core.recall.confidence import CALIBRATED_FOR
from episodic_agent.core.recall.fusion import Candidates, measured_share
from episodic_agent.core.recall.policies import DEFAULT_WEIGHTS
from episodic_agent.engine.deps import Deps
from episodic_agent.engine.facts.quoting import knows_meaning, may_tell_of_changes
from episodic_agent.engine.recall.elsewhere import Elsewhere, projects_meant
from episodic_agent.engine.results import FactHit
from episodic_agent.engine.visibility.hidden import Visibility
from episodic_agent.errors import InvalidInput
from episodic_agent.protocols import FACTS, MarkKind, Refs, Transaction, ref_of
from episodic_agent.schemas import Observation, Vector
from episodic_agent.schemas.facts import Category, Fact, FactEvidence, StoredFact

if TYPE_CHECKING:
    from episodic_agent.engine.recall.filtering import SearchBounds


PER_LEG: Final = 200  # what is over is found too, and falls out after
ARCHIVED: Final = MarkKind.ARCHIVED.value  # put away, yet what it taught holds
_CHANGED: Final = 5  # of the best: it is looked for what may tell of a change of them,
_NEARBY: Final = 20  # among so many,
_PARTLY: Final = 0.45  # of which each must answer so much as well itself
_OF_OTHERS: Final = 0.4  # worth of what others say of themselves, where who asks means themselves
RELEVANT: Final = 0.2  # score below which a fact does not answer
# Share of the best one's score below which none answers: any two texts of a language are a little alike.
_AS_GOOD: Final = 0.6
_MOSTLY: Final = 0.5  # share of a text that a fact quotes
_AKIN: Final = 0.25  # worth of a word of the same family: half of the word itself
_AT_ONCE: Final = 40  # facts: mostly enough of them hold
MOST_RULES: Final = 16  # that are told where they are asked for
_ASKED_FOR: Final = 0.5  # score that each has there at least: it answers, whatever its words
DIGITS: Final = 6  # scores are rounded before they order anything, so that machines agree


def best_facts(
    tx: Transaction,
    deps: Deps,
    query: ranking.Query,
    vector: Vector | None,
    *,
    limit: int,
    category: "Category | str | None" = None,
    at: datetime | None = None,
    history: bool = False,
) -> Sequence[tuple[Fact, float]]:
    """Return the facts that share words or meaning with a query, best first, with scores in [0, 1].

    Only those that hold at `at` (event time; the present unless given), but with `history` past and future
    ones too. `vector` is that of `query.dense_text`, None: words alone answer. What may tell of a change of
    one of the best is as good as that one, and stands before it: a statement ends another only where that
    is sure.
    """
    refs, scores = matches(tx, deps, FACTS, query, vector, per_leg=max(PER_LEG, limit))
    moment = at or deps.clock()

    def worth(fact: Fact) -> float:
        fits = (history or fact.held_at(moment)) and category in (None, fact.category.value)
        return _for_asker(query, fact) if fits else 0.0

    known, rows = _read_best(tx, refs, scores, worth, max(limit, _NEARBY))
    ranked = sorted(rows.values(), key=_best_first)
    best = {fact.id for fact, score in ranked[:_CHANGED] if score >= RELEVANT}
    near = {fact.id for fact, score in ranked[:_NEARBY] if score >= _PARTLY * RELEVANT}
    some, others = ([kept for kept in known if kept.id in names] for names in (best, near))

    def would_rise(older: Fact, newer: Fact) -> bool:
        score = rows[older.id][1]
        return _PARTLY * score <= rows[newer.id][1] < score

    for older, newer in may_tell_of_changes(tx, deps, some, others, would_rise):
        rows[newer.id] = newer, rows[older.id][1]
    best_rows = sorted(rows.values(), key=_best_first)[:limit]
    if history:
        return best_rows
    shown = after_what_holds(tx, [fact for fact, _ in best_rows], moment)
    return [(shown[fact.id], score) for fact, score in best_rows if fact.id in shown]


def matching_facts(
    tx: Transaction, deps: Deps, query: ranking.Query, vector: Vector | None, *, limit: int
) -> Sequence[tuple[Fact, float]]:
    """Return all facts, past ones too, that share words, families of words or meaning with a query."""
    best = best_facts(tx, deps, query, vector, limit=limit, history=True)
    rows = {fact.id: (fact, score) for fact, score in best}
    for fact, score in akin_facts(tx, deps, query):
        if fact.id not in rows or rows[fact.id][1] < score:
            rows[fact.id] = fact, score
    return list(rows.values())


def akin_facts(tx: Transaction, deps: Deps, query: ranking.Query) -> Sequence[tuple[Fact, float]]:
    """Return the facts with words of the family of those asked for, with scores in [0, 1], in no order.

    A stem is that of one language: "allergie" and "allergique", or "allergy", are no two forms of a word to
    it, and a long sentence is not near to a single word by meaning. All facts are read: who lists them waits.
    """
    asked = {term for term in query.terms if len(term) >= FAMILY}
    rows = []
    for stored in tx.knowledge.facts() if asked else ():
        terms = set(tokens(stored.fact.fact, deps.language))
        share = sum(any(of_one_family(term, one) for one in terms) for term in asked) / len(query.terms)
        if share:
            rows.append((stored.fact, round(_AKIN * share, DIGITS)))
    return rows


def _read_best(
    tx: Transaction, refs: Refs, scores: NDArray[np.float64], worth: Callable[[Fact], float], limit: int
) -> tuple[Sequence[StoredFact], dict[UUID, tuple[Fact, float]]]:
    """Return at least the best `limit` facts of some that are worth anything, oldest first, and their scores.

    `worth` (at most 1) times its match is a fact's score. Those that match best are read first, and no more
    than can be among the best: many facts match a little, and reading them costs more than to find them.
    """
    order = np.argsort(-scores, kind="stable")
    numbers, matched = refs[order].tolist(), scores[order].tolist()
    rows: dict[UUID, tuple[Fact, float]] = {}
    stored: list[StoredFact] = []
    for start in range(0, len(numbers), _AT_ONCE):
        page = dict(zip(numbers[start : start + _AT_ONCE], matched[start:], strict=False))
        for fact in tx.knowledge.facts(numbers=list(page)):
            if share := worth(fact.fact):
                stored.append(fact)
                rows[fact.id] = fact.fact, round(page[fact.number] * share, DIGITS)
        least = round(min(page.values()), DIGITS)
        if sum(score > least for _, score in rows.values()) >= limit:
            break
    return sorted(stored, key=lambda fact: (fact.fact.valid_at, fact.id)), rows


def _for_asker(query: ranking.Query, fact: Fact) -> float:
    """Return what a fact's score is worth: less where who asks means themselves, and it another person."""
    others = query.by_asker and is_quotation(fact) and fact.subject != OWNER and has_cue(fact.value, "self")
    return _OF_OTHERS if others else 1.0


def after_what_holds(tx: Transaction, facts: Sequence[Fact], at: datetime) -> dict[UUID, Fact]:
    """Return facts by id, without the words before their own where those tell what is over at `at`.

    "… added a tablet at bedtime. … And she's allergic to penicillin" would tell of the tablet as known after
    it was stopped. A fact that says nothing without those words is left out, unless it took their place: "The
    vet is Dr. Marlow. … No, Dr. Barlow" says what is so.
    """
    leads = {one.observation_id for fact in facts for one in fact.leads}
    resting = tx.knowledge.facts(resting_on=sorted(leads)) if leads else []
    over = [(one, kept.fact) for kept in resting if not kept.fact.held_at(at) for one in kept.fact.telling]
    shown = {}
    for fact in facts:
        ended = [old for lead in fact.leads for one, old in over if _overlap(lead, one)]
        nothing = bool(ended) and (says_nothing(fact.value) or may_amend(fact.value))
        if not ended or (nothing and all(old.attribute == fact.attribute for old in ended)):
            shown[fact.id] = fact
        elif not nothing:
            shown[fact.id] = replace(fact, fact=told_as(fact.subject, fact.value))
    return shown


def _overlap(first: FactEvidence, other: FactEvidence) -> bool:
    same = first.observation_id == other.observation_id
    return same and first.start < other.end and other.start < first.end


def _best_first(row: tuple[Fact, float]) -> tuple[float, float, UUID]:
    fact, score = row
    return -score, -fact.stated_at.timestamp(), fact.id


def answering(
    tx: Transaction,
    deps: Deps,
    query: ranking.Query,
    vector: Vector | None,
    visibility: Visibility,
    bounds: "SearchBounds",
    *,
    limit: int,
    category: str | None = None,
    at: datetime | None = None,
    projects: frozenset[str] = frozenset(),
) -> Sequence[FactHit]:
    """Return the facts worth telling with the answer to a query, best first, and where they were said.

    `bounds` bind them by what proves them: something said in that stretch of event time, in that thread, one
    of those observations; where only some threads may be told, they are told as they were said there. Those
    stay untold that hold suppressed words, or that nothing proves but what is suppressed or expired. Where
    rules are asked for all of them answer, up to `MOST_RULES`: those of `projects`, where these alone bind
    them, and those that hold in every project.
    """
    requested_limit = PER_LEG if bounds else limit
    inside = None if bounds.about is None else frozenset(bounds.about.tolist())
    pairs = best_facts(tx, deps, query, vector, limit=requested_limit, category=category_of(category), at=at)
    rules_asked = category is None and asks_for_rules(query.text, vector if knows_meaning(deps) else None)
    if rules_asked:
        pairs = _rules_first(tx, pairs, deps.clock() if at is None else at)
    in_all = _not_elsewhere(tx, pairs, projects, bounds) if rules_asked else frozenset[UUID]()
    here = Elsewhere(only=bounds.only).proved(tx, (fact for fact, score in pairs if score >= RELEVANT))
    relevant = [(here[fact.id], score) for fact, score in pairs if fact.id in here]
    held = [one.observation_id for fact, _ in relevant for one in (*fact.telling, *fact.leads)]
    observations = tx.observations.get(held)
    hits = []
    numbers = {thread: tx.threads.number(thread) for thread in {o.thread_id for o in observations.values()}}
    refs = {one.id: ref_of(numbers[one.thread_id], one.seq) for one in observations.values()}
    hidden = {ref for ref, why in visibility.why(list(refs.values())).items() if not why.startswith(ARCHIVED)}
    for fact, score in relevant:
        proofs = [observations[e.observation_id] for e in fact.telling if e.observation_id in observations]
        places = [one.thread_id for one in proofs if refs[one.id] not in hidden]
        bound = [
            one
            for one in proofs
            if refs[one.id] not in hidden
            and (inside is None or refs[one.id] in inside)
            and bounds.thread_id in (None, one.thread_id)
            and (bounds.since is None or bounds.since <= one.at)
            and (bounds.until is None or one.at < bounds.until)
        ]
        if bounds and not bound and fact.id not in in_all:
            continue
        if (proofs and not places) or visibility.holds(fact.fact):
            continue
        if any(refs[one.observation_id] in hidden for one in fact.leads if one.observation_id in refs):
            continue  # its sentence holds those words
        hits.append(FactHit(fact, score, tuple(dict.fromkeys(places))))
    if rules_asked:
        return _with_origins(tx, hits[: max(limit, MOST_RULES)])
    least = _AS_GOOD * max((hit.score for hit in hits), default=0.0)
    return _with_origins(tx, [one for one in hits if one.score >= least][:limit])


def _with_origins(tx: Transaction, shown: Sequence[FactHit]) -> Sequence[FactHit]:
    first = {t.id: t for t in tx.threads.list(ids=[hit.threads[0] for hit in shown if hit.threads])}
    named = {identity: thread.origin for identity, thread in first.items()}
    return [replace(hit, origin=named.get(hit.threads[0], "")) if hit.threads else hit for hit in shown]


def _not_elsewhere(
    tx: Transaction, pairs: Sequence[tuple[Fact, float]], projects: frozenset[str], bounds: "SearchBounds"
) -> AbstractSet[UUID]:
    """Return the wishes that hold in these projects, wherever they were said; none without projects."""
    own = projects_meant(tx, projects, bounds.only).own
    wishes = [fact for fact, _ in pairs if fact.category is Category.GUIDELINE]
    return Elsewhere(own, only=bounds.only).proved(tx, wishes).keys() if own else frozenset()


def _rules_first(
    tx: Transaction, pairs: Sequence[tuple[Fact, float]], at: datetime
) -> Sequence[tuple[Fact, float]]:
    """Return every wish that holds at `at`, best matches first, then the newest; then other facts."""
    scores = {fact.id: score for fact, score in pairs}
    stored = [kept.fact for kept in tx.knowledge.facts()]
    holding = (fact for fact in stored if fact.holds and fact.held_at(at))
    some = [fact for fact in holding if fact.category is Category.GUIDELINE]
    rules = after_what_holds(tx, some, at).values()
    rows = [(fact, max(_ASKED_FOR, scores.get(fact.id, 0.0))) for fact in rules]
    named = {fact.id for fact, _ in rows}
    return [*sorted(rows, key=_best_first), *(pair for pair in pairs if pair[0].id not in named)]


def replaced_words(
    tx: Transaction, observations: Mapping[UUID, Observation], at: datetime
) -> Sequence[tuple[UUID, frozenset[UUID]]]:
    """Return what was said and is no longer so at `at`, with the observations that say what is, newest first.

    That is words which mostly are a fact whose place another took.
    """
    return [
        (proof.observation_id, frozenset(e.observation_id for one in changes for e in one.telling))
        for fact, changes in _ended(tx, observations, at)[0]
        for proof in fact.telling
        if _is_most(fact, observations.get(proof.observation_id))
    ]


def ended_words(
    tx: Transaction, observations: Mapping[UUID, Observation], at: datetime
) -> Mapping[UUID, Sequence[frozenset[UUID]]]:
    """Return what was said and is no longer so at `at`, with the observations that say what is, by each fact.

    That is words which mostly are a fact whose place another took, or which tell of no fact that still holds.
    However often a fact was changed since, the last of it counts.
    """
    over, holding = _ended(tx, observations, at)
    result: dict[UUID, list[frozenset[UUID]]] = {}
    for fact, changes in over:
        last = frozenset(one.observation_id for one in changes[-1].telling)
        for name in dict.fromkeys(proof.observation_id for proof in fact.telling):
            if name in observations and (name not in holding or _is_most(fact, observations[name])):
                result.setdefault(name, []).append(last)
    return {name: lasts for name, lasts in result.items() if not any(name in last for last in lasts)}


def _ended(
    tx: Transaction, observations: Mapping[UUID, Observation], at: datetime
) -> tuple[list[tuple[Fact, Sequence[Fact]]], AbstractSet[UUID]]:
    """Return the facts of some observations whose place others took by `at`, newest first, with these others.

    Each took the place of the one before it; the last of them holds. Then the observations that tell of what
    holds.
    """
    resting = (
        [kept.fact for kept in tx.knowledge.facts(resting_on=list(observations))] if observations else []
    )
    over = [
        fact
        for fact in resting
        if fact.superseded_by is not None and not fact.held_at(at) and fact.valid_at <= at
    ]
    known: dict[UUID, Fact] = {}
    followers = _followers(over, at)
    while followers:
        read = [kept.fact for kept in tx.knowledge.facts(ids=sorted(followers))]
        known |= {fact.id: fact for fact in read}
        followers = _followers(read, at) - known.keys()
    over.sort(key=lambda fact: (fact.valid_at, fact.id), reverse=True)
    chains = [(fact, _changes(fact, known, at)) for fact in over]
    holding = {proof.observation_id for fact in resting if fact.held_at(at) for proof in fact.telling}
    return [(fact, changes) for fact, changes in chains if changes], holding


def _changes(fact: Fact, known: Mapping[UUID, Fact], at: datetime) -> list[Fact]:
    """Return the facts that took the place of one by `at`, each that of the one before it."""
    result: list[Fact] = []
    newer = known.get(fact.superseded_by) if fact.superseded_by else None
    while newer is not None and newer not in result and newer.valid_at <= at:
        result.append(newer)
        newer = next((known[name] for name in _followers([newer], at) if name in known), None)
    return result


def _followers(facts: Iterable[Fact], at: datetime) -> set[UUID]:
    """Return what took the place of those of some facts that no longer hold at a moment."""
    return {one.superseded_by for one in facts if one.superseded_by is not None and not one.held_at(at)}


def _is_most(fact: Fact, observation: Observation | None) -> bool:
    return observation is not None and len(fact.value) >= _MOSTLY * len(observation.text)


def category_of(category: str | None) -> str | None:
    """Return a category's name; raises InvalidInput for one there is none of.

    >>> category_of(" Goal ")
    'goal'
    """
    if category is None:
        return None
    name = category.strip().lower() if isinstance(category, str) else ""
    if name not in list(Category):
        raise InvalidInput(f"no category {category!r}; there are {', '.join(Category)}")
    return name


SHORT_TEXTS_PER_LEG: Final = 100
LOW: Final = 0.3  # cosine below which meaning alone finds nothing


def matches(
    tx: Transaction,
    deps: Deps,
    kind: str,
    query: ranking.Query,
    vector: Vector | None,
    *,
    per_leg: int = SHORT_TEXTS_PER_LEG,
) -> tuple[Refs, NDArray[np.float64]]:
    """Return the refs of a kind that share words or meaning with a query, with scores in [0, 1], unordered.

    `per_leg` is how many candidates words bring, and how many meaning does.
    """
    refs, words, cosines = _legs(tx, deps, kind, query, vector, per_leg=per_leg)
    if vector is None:
        scores, near = words, np.zeros(len(refs), np.bool_)
    else:
        share = _meaning(deps, query, cosines)
        scores, near = share * np.maximum(cosines, 0.0) + (1 - share) * words, cosines >= LOW
    there = (words > 0) | near
    return refs[there], scores[there]


def as_shown(deps: Deps, cosines: NDArray[np.floating]) -> NDArray[np.float64]:
    """Return cosines on the scale of the default embedder; 0 where there is no vector."""
    results = cosines.astype(np.float64)
    own = deps.calibration
    return np.nan_to_num(results if own is None else own.as_default(results))


def _meaning(deps: Deps, query: ranking.Query, cosines: NDArray[np.float64]) -> float:
    """Return the share of a score that cosine is; the rest is the share of the query's words.

    In a language that the embedder does not know any two texts are near: there words decide, as in a search
    for messages. On a scale that was not measured nothing tells which languages it knows.
    """
    full = DEFAULT_WEIGHTS.dense
    known = deps.calibration is not None or deps.embedder_name.startswith(CALIBRATED_FOR)
    if not known:
        return full
    query = replace(query, language=query.language or guess_language(query.text))
    return measured_share(query, Candidates([""] * len(cosines), np.zeros(0), cosines))


def _legs(
    tx: Transaction,
    deps: Deps,
    kind: str,
    query: ranking.Query,
    vector: Vector | None,
    *,
    per_leg: int,
) -> tuple[Refs, NDArray[np.float64], NDArray[np.float64]]:
    """Return candidates with the share of the query's words each holds, by rarity, and their cosines."""
    statistics = tx.index.statistics(kind, query.terms)
    limits = kept_terms({t: statistics.frequencies.get(t, 0) for t in query.terms}, statistics.documents)
    weights = {t: term_weight(t, df, statistics.documents) for t, df in limits.items()}
    length = statistics.average_length
    refs = np.zeros(0, np.int64)
    if weights:
        refs, _ = tx.index.text_scores(kind, weights, k1=K1, b=B, average_length=length, limit=per_leg)
    if vector is not None:
        near, _ = tx.index.vector_scores(kind, deps.embedder_name, vector, limit=per_leg)
        refs = np.union1d(refs, near)
    words, cosines = np.zeros(len(refs)), np.zeros(len(refs))
    if weights and len(refs):
        held = tx.index.text_scores(kind, weights, refs, k1=0.0, b=0.0, average_length=length)[1]
        top = sum(term_weight(t, limits.get(t, 0), statistics.documents) for t in query.terms)
        words = held.astype(np.float64) / top
    if vector is not None and len(refs):
        cosines = as_shown(deps, tx.index.vector_scores(kind, deps.embedder_name, vector, refs)[1])
    return refs.astype(np.int64), words, cosines

"""What a model is asked for facts: what some episodes tell that lasts.

One question by default; policy `seed-003` asks first what is to be expected of them, then what goes beyond.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import datetime
from itertools import groupby
from typing import Final
from uuid import UUID

from episodic_agent.core import recall as ranking
from episodic_agent.core.facts.consolidating import reinforcing
from episodic_agent.core.facts.quoting import meant_words
from episodic_agent.core.facts.rereading import awaits_reading, before_these
from episodic_agent.core.facts.speakers import speaker_of
from episodic_agent.core.language import fold
from episodic_agent.core.prompts import digest
from episodic_agent.core.prompts import facts as question
from episodic_agent.core.prompts.quoting import MOST_BEFORE
from episodic_agent.engine.deps import SEED_FACTS, Deps
from episodic_agent.engine.facts.parts import ReadPart
from episodic_agent.engine.facts.transcripts import Transcript, speaks_for_people
from episodic_agent.engine.facts.writing import Vectors, embedded, slots_of
from episodic_agent.engine.jobs.asking import ROUNDS, ask
from episodic_agent.engine.recall.facts import RELEVANT, as_shown, best_facts
from episodic_agent.errors import ProviderError
from episodic_agent.protocols import FACTS, LanguageModel, Transaction, query_vector
from episodic_agent.schemas import Json, Observation, Scope, TimeSource
from episodic_agent.schemas.facts import Fact, FactCandidate

UNREAD: Final = 64  # more facts that are looked at, where some are only quoted of what is still to be read
NEAR: Final = 10  # known facts a new one is compared with
DEFAULT_USER: Final = "default"
_NAME: Final = re.compile(r"[^\W\d_]+(?:[ .'-][^\W\d_]+){0,3}\.?")  # of a user: no number, no address
_LONGEST_QUERY: Final = 2_000  # characters of an episode that known facts are looked for by
MOST_MESSAGES: Final = question.LONGEST_CONVERSATION // question.LEAST_OF_MESSAGE  # one question shows


@dataclass(frozen=True, slots=True)
class FactReply:
    """What a model told: candidates, what of its answers was refused and why, and what it had expected.

    `version` is that of the prompt, `parts` are titles and summaries that were asked for with the facts.

    `known` names the facts it was shown, or whose words it was taken to mean, each with the observation those
    words are from.
    """

    candidates: Sequence[FactCandidate] = ()
    refused: Sequence[str] = ()
    expected: str = ""
    model: str = ""
    known: Mapping[UUID, UUID] = field(default_factory=dict)
    version: str = question.VERSION
    parts: Sequence[ReadPart] = ()


@dataclass(frozen=True, slots=True)
class _Answers:
    """What the answers to all portions of some episodes hold together."""

    candidates: list[FactCandidate] = field(default_factory=list)
    actions: list[str] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)

    def add(self, answer: question.Reconciled) -> None:
        self.candidates.extend(answer.candidates)
        self.actions.extend(answer.actions)
        self.refused.extend(answer.refused)


def ask_for_facts(
    deps: Deps, scope: Scope, model: LanguageModel, group: Sequence[Transcript], *, rounds: int = ROUNDS
) -> FactReply:
    """Ask a model what episodes tell that lasts.

    No transaction is open meanwhile. Raises ProviderError: BadReply where its second answer is as bad.
    """
    if deps.fact_policy == SEED_FACTS:
        return _in_two_steps(deps, scope, model, group, rounds)
    known = _bearing(deps, scope, group)
    if deps.reads_once:
        return _in_one_reading(deps, scope, model, group, known, rounds=rounds)
    owner = owner_of(deps, scope, group)
    answers = _Answers()
    for conversations in _in_portions(group):
        messages = [o for one in conversations for o in one.observations]

        def read(value: Mapping[str, Json], shown: Sequence[Observation] = messages) -> question.Reconciled:
            return question.read_gathered(value, known, shown, owner)

        asked = question.gather(owner, known, conversations)
        answers.add(ask(model, asked, question.GATHERED_SCHEMA, question.STAGE, read, rounds=rounds))
    return _replied(deps, scope, group, model, known, answers)


def _in_one_reading(
    deps: Deps,
    scope: Scope,
    model: LanguageModel,
    group: Sequence[Transcript],
    known: Sequence[Fact],
    *,
    rounds: int,
) -> FactReply:
    """Ask where conversations change their subject and what is kept of each part, with what lasts of them."""
    owner = owner_of(deps, scope, group)
    ordered = sorted((one for one in group if one.observations), key=lambda one: one.observations[0].at)
    earlier = {one.observations[0].id: one.earlier[-MOST_BEFORE:] for one in ordered}
    spoken = [o for one in ordered for o in sorted(one.observations, key=lambda o: o.seq)]
    answers, parts = _Answers(), list[ReadPart]()
    by = f"{model.name} {digest.VERSION}"
    for portion in _portions(spoken):
        talks = [list(some) for _, some in groupby(portion, key=lambda o: o.thread_id)]
        finished = [digest.Finished(some, earlier.get(some[0].id, ())) for some in talks]

        def read(value: Mapping[str, Json], shown: Sequence[digest.Finished] = finished) -> digest.Digest:
            return digest.read(value, known, shown, owner)

        asked = digest.prompt(owner, known, finished)
        answer = ask(model, asked, digest.SCHEMA, digest.STAGE, read, rounds=rounds)
        answers.add(answer.facts)
        parts += [ReadPart(part.observations, part.words, by, portion) for part in answer.parts]
    reply = _replied(deps, scope, group, model, known, answers)
    return replace(reply, version=digest.VERSION, parts=parts)


def _in_two_steps(
    deps: Deps, scope: Scope, model: LanguageModel, group: Sequence[Transcript], rounds: int
) -> FactReply:
    """Ask what the known facts lead one to expect of episodes, then what these tell beyond that."""
    known = _related(deps, scope, group)
    expected = ""
    if known:  # who knows nothing expects nothing
        title = "; ".join(one.episode.title for one in group)
        asked = question.predict(title, known)
        schema, read_expected = question.EXPECTED_SCHEMA, question.read_expected
        expected = ask(model, asked, schema, question.STAGE, read_expected, rounds=rounds)
    answers = _Answers()
    for messages in _portions([o for one in group for o in one.observations]):

        def read(value: Mapping[str, Json], shown: Sequence[Observation] = messages) -> question.Reconciled:
            return question.read_stated_facts(value, known, shown)

        asked = question.reconcile(expected, known, messages)
        answers.add(ask(model, asked, question.SCHEMA, question.STAGE, read, rounds=rounds))
    reply = _replied(deps, scope, group, model, known, answers)
    return replace(reply, expected=expected, version=question.SEED_VERSION)


def _replied(
    deps: Deps,
    scope: Scope,
    group: Sequence[Transcript],
    model: LanguageModel,
    known: Sequence[Fact],
    answers: _Answers,
) -> FactReply:
    placed = [_placed(one, group) for one in answers.candidates]
    candidates, meant = _repeating(deps, scope, placed, answers.actions)
    sources = {fact.id: _source(fact) for fact in (*known, *meant)}
    return FactReply(candidates, answers.refused, model=model.name, known=sources)


def owner_of(deps: Deps, scope: Scope, group: Sequence[Transcript]) -> question.Owner:
    """Return whom a memory belongs to, and what they are called.

    They speak as "user" or under the user's own name, and are the subject that a quotation of theirs has.
    Their names are the user's, where it is one, and those that facts give them.
    """
    user = scope.user_id if _NAME.fullmatch(scope.user_id) and scope.user_id != DEFAULT_USER else ""
    speakers = dict.fromkeys(o.actor for one in group for o in one.people)
    own = next((actor for actor in speakers if user and fold(actor) == fold(user)), "")
    subject = speaker_of(own or "user")
    with deps.store.begin(scope, write=False) as tx:
        slots = [(subject, attribute) for attribute in ("name", "also_called")]
        facts = [kept.fact for kept in tx.knowledge.facts(slots=slots)]
    called = [fact.value for fact in facts if fact.holds and fact.invalid_at is None]
    return question.Owner(subject, tuple(dict.fromkeys(name for name in (user, *called) if name)))


def _in_portions(group: Sequence[Transcript]) -> Iterator[Sequence[question.Conversation]]:
    """Yield what one question shows: conversations in the order of time, each under its own heading."""
    ordered = sorted((one for one in group if one.observations), key=lambda one: one.observations[0].at)
    titles = {o.id: one.episode.title for one in ordered for o in one.observations}
    episodes = {o.id: one.episode.id for one in ordered for o in one.observations}
    spoken = [o for one in ordered for o in sorted(one.observations, key=lambda o: (o.at, o.seq))]
    for portion in _portions(spoken):
        parts = groupby(portion, key=lambda o: episodes[o.id])
        inside = [list(observations) for _, observations in parts]
        yield [question.Conversation(titles[some[0].id], some) for some in inside]


def _source(fact: Fact) -> UUID:
    """Return the observation that a fact's words are from."""
    return next((e for e in fact.telling if e.fact == fact.fact), fact.evidence[0]).observation_id


def _portions(observations: Sequence[Observation]) -> Iterator[Sequence[Observation]]:
    """Yield what one question shows: no message is left out, and none shortened to less than it must be."""
    portion: list[Observation] = []
    length = 0
    for observation in observations:
        size = min(len(observation.text), question.LONGEST_MESSAGE)
        if portion and (length + size > question.LONGEST_CONVERSATION or len(portion) == MOST_MESSAGES):
            if any(map(speaks_for_people, portion)):
                yield portion
            portion, length = [], 0
        portion.append(observation)
        length += size
    if any(map(speaks_for_people, portion)):
        yield portion


def _bearing(deps: Deps, scope: Scope, group: Sequence[Transcript]) -> list[Fact]:
    """Return the few known facts that bear most on what was said, the newest where too few do."""
    scores: dict[UUID, tuple[float, Fact]] = {}
    for transcript in group:
        text = "\n".join([transcript.episode.title, *(o.text for o in transcript.people)])[:_LONGEST_QUERY]
        for fact, score in _best(deps, scope, text, transcript.episode.end_at, question.MOST_BEARING):
            if score >= RELEVANT:
                scores[fact.id] = max(scores.get(fact.id, (0.0, fact)), (score, fact), key=lambda x: x[0])
    ranked = sorted(scores.values(), key=lambda pair: (-pair[0], pair[1].id))
    near = [fact for _, fact in ranked]
    most = question.MOST_BEARING
    with deps.store.begin(scope, write=False) as tx:
        first, newest = _ended_by_unread(tx, group), _newest(tx, deps.clock(), most)
        return _founded(tx, list({fact.id: fact for fact in (*first, *near, *newest)}.values()))[:most]


def _ended_by_unread(tx: Transaction, group: Sequence[Transcript]) -> list[Fact]:
    """Return the facts that quotations of these episodes ended, as they stand without these."""
    spoken = sorted({o.id for one in group for o in one.people})
    unread = [kept.fact for kept in tx.knowledge.facts(resting_on=spoken) if awaits_reading(kept.fact)]
    if not unread:
        return []
    known = [kept.fact for kept in tx.knowledge.facts(slots=slots_of(unread))]
    return before_these(known, {fact.id for fact in unread})


def _newest(tx: Transaction, now: datetime, most: int) -> list[Fact]:
    newest = [kept.fact for kept in reversed(tx.knowledge.facts(current=now, limit=most + UNREAD))]
    return [fact for fact in newest if not awaits_reading(fact)][:most]


def _best(deps: Deps, scope: Scope, text: str, at: datetime, limit: int) -> Sequence[tuple[Fact, float]]:
    """Return known facts that bear on a text; none that is only quoted of what is still to be read."""
    query = ranking.analyse(text, (), at, language=deps.language)
    vector = None
    if deps.embedder is not None and query.dense_text.strip():
        with suppress(ProviderError):
            vector = query_vector(deps.embedder, query.dense_text)
    with deps.store.begin(scope, write=False) as tx:
        ranked = best_facts(tx, deps, query, vector, limit=limit + UNREAD, at=at)
    return [(fact, score) for fact, score in ranked if not awaits_reading(fact)][:limit]


def _related(deps: Deps, scope: Scope, group: Sequence[Transcript]) -> list[Fact]:
    """Return known facts that bear on episodes, the nearest first, filled up with the newest."""
    text = "\n".join(f"{one.episode.title}\n{one.episode.summary}" for one in group)
    last = max(one.episode.end_at for one in group)
    most = question.MOST_FACTS
    near = [fact for fact, _ in _best(deps, scope, text, last, most)]
    with deps.store.begin(scope, write=False) as tx:
        first, newest = _ended_by_unread(tx, group), _newest(tx, deps.clock(), most)
        return _founded(tx, list({fact.id: fact for fact in (*first, *near, *newest)}.values())[:most])


def _founded(tx: Transaction, facts: Sequence[Fact]) -> list[Fact]:
    """Return the facts whose words are from an observation that is there: others are not told on."""
    there = tx.observations.get(list({_source(fact) for fact in facts}))
    return [fact for fact in facts if _source(fact) in there]


def _placed(candidate: FactCandidate, group: Sequence[Transcript]) -> FactCandidate:
    """Return a candidate whose evidence names the episode and record time of its own message."""
    spoken_evidence = candidate.evidence
    transcript, message = next(
        (h, o) for h in group for o in h.observations if o.id == spoken_evidence.observation_id
    )
    dated = message.at_source is not TimeSource.ASSUMED
    evidence = replace(
        spoken_evidence,
        episode_id=transcript.episode.id,
        learned_at=message.received_at,
        valid_at=spoken_evidence.valid_at if dated else spoken_evidence.said_at,
    )
    return replace(candidate, evidence=evidence)


def _repeating(
    deps: Deps, scope: Scope, candidates: Sequence[FactCandidate], actions: Sequence[str]
) -> tuple[Sequence[FactCandidate], Sequence[Fact]]:
    """Return candidates, of which a new one that only says a known fact in other words reinforces it.

    Returns the facts those were compared with, too.
    """
    new = [one for one, action in zip(candidates, actions, strict=True) if action == "new"]
    vectors = embedded(deps, new)
    if not vectors:
        return candidates, ()
    near: list[Fact] = []
    with deps.store.begin(scope, write=False) as tx:
        reported_candidates = [
            _reinforced(tx, deps, one, vectors, near) if action == "new" else one
            for one, action in zip(candidates, actions, strict=True)
        ]
        terms = {one.evidence.fact for one in reported_candidates}
        return reported_candidates, _founded(tx, [fact for fact in near if fact.fact in terms])


def _reinforced(
    tx: Transaction, deps: Deps, candidate: FactCandidate, vectors: Vectors, near: list[Fact]
) -> FactCandidate:
    name, vector = deps.embedder_name, vectors[meant_words(candidate)][0]
    refs, cosines = tx.index.vector_scores(FACTS, name, vector, limit=NEAR)
    known = {kept.number: kept for kept in tx.knowledge.facts(numbers=refs.tolist())}
    shown: dict[UUID, tuple[Fact, float]] = {
        known[ref].id: (known[ref].fact, float(cosine))
        for ref, cosine in zip(refs.tolist(), as_shown(deps, cosines), strict=True)
        if ref in known and not awaits_reading(known[ref].fact)
    }
    facts = [fact for fact, _ in shown.values()]
    near += facts
    return reinforcing(candidate, facts, [cosine for _, cosine in shown.values()])

"""What a model is asked for facts: what to expect of some episodes, then what they tell beyond that."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Final
from uuid import UUID

from episodic_agent.core import recall as ranking
from episodic_agent.core.facts.consolidating import reinforcing
from episodic_agent.core.prompts import facts as question
from episodic_agent.engine.deps import Deps
from episodic_agent.engine.facts.transcripts import Transcript, speaks_for_people
from episodic_agent.engine.facts.writing import Vectors, embedded
from episodic_agent.engine.jobs.asking import ROUNDS, ask
from episodic_agent.engine.recall.facts import best_facts
from episodic_agent.engine.recall.matching import as_shown
from episodic_agent.errors import ProviderError
from episodic_agent.protocols import FACTS, LanguageModel, Transaction
from episodic_agent.schemas import Json, Observation, Scope, TimeSource
from episodic_agent.schemas.facts import Fact, FactCandidate

NEAR: Final = 10  # known facts a new one is compared with
MOST_MESSAGES: Final = question.LONGEST_CONVERSATION // question.LEAST_OF_MESSAGE  # one question shows


@dataclass(frozen=True, slots=True)
class FactReply:
    """What a model told: candidates, what of its answers was refused and why, and what it had expected.

    `known` names the facts it was shown, or whose words it was taken to mean, each with the observation those
    words are from.
    """

    candidates: Sequence[FactCandidate] = ()
    refused: Sequence[str] = ()
    expected: str = ""
    model: str = ""
    known: Mapping[UUID, UUID] = field(default_factory=dict)


def ask_for_facts(
    deps: Deps, scope: Scope, model: LanguageModel, group: Sequence[Transcript], *, rounds: int = ROUNDS
) -> FactReply:
    """Ask a model what episodes tell beyond what the known facts lead it to expect.

    No transaction is open meanwhile. Raises ProviderError: BadReply where its second answer is as bad.
    """
    known = _related(deps, scope, group)
    expected = ""
    if known:  # who knows nothing expects nothing
        title = "; ".join(one.episode.title for one in group)
        asked = question.predict(title, known)
        schema, read_expected = question.EXPECTED_SCHEMA, question.read_expected
        expected = ask(model, asked, schema, question.STAGE, read_expected, rounds=rounds)
    matching_candidates: list[FactCandidate] = []
    actions: list[str] = []
    refused: list[str] = []
    for messages in _portions([o for one in group for o in one.observations]):

        def read(value: Mapping[str, Json], shown: Sequence[Observation] = messages) -> question.Reconciled:
            return question.read_stated_facts(value, known, shown)

        asked = question.reconcile(expected, known, messages)
        reconciled = ask(model, asked, question.SCHEMA, question.STAGE, read, rounds=rounds)
        matching_candidates += reconciled.candidates
        actions += reconciled.actions
        refused += reconciled.refused
    placed = [_placed(one, group) for one in matching_candidates]
    candidates, meant = _repeating(deps, scope, placed, actions)
    sources = {fact.id: _source(fact) for fact in (*known, *meant)}
    return FactReply(candidates, refused, expected, model.name, sources)


def _source(fact: Fact) -> UUID:
    """Return the observation that a fact's words are from."""
    return next((e for e in fact.evidence if e.fact == fact.fact), fact.evidence[0]).observation_id


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


def _related(deps: Deps, scope: Scope, group: Sequence[Transcript]) -> list[Fact]:
    """Return known facts that bear on episodes, the nearest first, filled up with the newest."""
    text = "\n".join(f"{one.episode.title}\n{one.episode.summary}" for one in group)
    last = max(one.episode.end_at for one in group)
    query = ranking.analyse(text, (), last, language=deps.language)
    vector = None
    if deps.embedder is not None and query.dense_text.strip():
        with suppress(ProviderError):
            vector = deps.embedder.embed([query.dense_text])[0]
    most = question.MOST_FACTS
    with deps.store.begin(scope, write=False) as tx:
        near = [fact for fact, _ in best_facts(tx, deps, query, vector, limit=most, at=last)]
        newest = [kept.fact for kept in reversed(tx.knowledge.facts(current=True, limit=most))]
        return _founded(tx, list({fact.id: fact for fact in (*near, *newest)}.values())[:most])


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
    new = [one.fact for one, action in zip(candidates, actions, strict=True) if action == "new"]
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
    name, vector = deps.embedder_name, vectors[candidate.fact][0]
    refs, cosines = tx.index.vector_scores(FACTS, name, vector, limit=NEAR)
    known = {kept.number: kept for kept in tx.knowledge.facts(numbers=refs.tolist())}
    shown: dict[UUID, tuple[Fact, float]] = {
        known[ref].id: (known[ref].fact, float(cosine))
        for ref, cosine in zip(refs.tolist(), as_shown(deps, cosines), strict=True)
        if ref in known
    }
    facts = [fact for fact, _ in shown.values()]
    near += facts
    return reinforcing(candidate, facts, [cosine for _, cosine in shown.values()])

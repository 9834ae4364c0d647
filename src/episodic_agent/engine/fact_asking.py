"""What a model is asked for facts: what to expect of some episodes, then what they tell beyond that."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Final
from uuid import UUID

from episodic_agent.core import ranking
from episodic_agent.core.fact_records import Candidate, Fact
from episodic_agent.core.facts.consolidating import reinforcing
from episodic_agent.core.interfaces import FACTS, LanguageModel, Transaction
from episodic_agent.core.prompts import facts as question
from episodic_agent.engine.asking import ask
from episodic_agent.engine.fact_recall import best_facts
from episodic_agent.engine.fact_writing import Vectors, embedded
from episodic_agent.engine.heard import Heard, speaks_for_people
from episodic_agent.engine.matching import as_shown
from episodic_agent.engine.parts import Parts
from episodic_agent.errors import ProviderError
from episodic_agent.schemas import Json, Observation, Scope, TimeSource

NEAR: Final = 10  # known facts a new one is compared with
MOST_MESSAGES: Final = question.LONGEST_CONVERSATION // question.LEAST_OF_MESSAGE  # one question shows


@dataclass(frozen=True, slots=True)
class Asked:
    """What a model told: candidates, what of its answers was refused and why, and what it had expected.

    `known` names the facts it was shown, or whose words it was taken to mean, each with the observation those
    words are from.
    """

    candidates: Sequence[Candidate] = ()
    refused: Sequence[str] = ()
    expected: str = ""
    model: str = ""
    known: Mapping[UUID, UUID] = field(default_factory=dict)


def ask_for_facts(parts: Parts, scope: Scope, model: LanguageModel, group: Sequence[Heard]) -> Asked:
    """Ask a model what episodes tell beyond what the known facts lead it to expect.

    No transaction is open meanwhile. Raises ProviderError: BadReply where its second answer is as bad.
    """
    known = _related(parts, scope, group)
    expected = ""
    if known:  # who knows nothing expects nothing
        title = "; ".join(one.episode.title for one in group)
        asked = question.predict(title, known)
        expected = ask(model, asked, question.EXPECTED_SCHEMA, question.STAGE, question.read_expected)
    found: list[Candidate] = []
    actions: list[str] = []
    refused: list[str] = []
    for messages in _portions([o for one in group for o in one.said]):

        def read(value: Mapping[str, Json], shown: Sequence[Observation] = messages) -> question.Calibrated:
            return question.read_facts_told(value, known, shown)

        asked = question.calibrate(expected, known, messages)
        told = ask(model, asked, question.SCHEMA, question.STAGE, read)
        found += told.candidates
        actions += told.actions
        refused += told.refused
    placed = [_placed(one, group) for one in found]
    candidates, meant = _repeating(parts, scope, placed, actions)
    sources = {fact.id: _source(fact) for fact in (*known, *meant)}
    return Asked(candidates, refused, expected, model.name, sources)


def _source(fact: Fact) -> UUID:
    """Return the observation that a fact's words are from."""
    return next((e for e in fact.evidence if e.fact == fact.fact), fact.evidence[0]).observation_id


def _portions(said: Sequence[Observation]) -> Iterator[Sequence[Observation]]:
    """Yield what one question shows: no message is left out, and none shortened to less than it must be."""
    portion: list[Observation] = []
    length = 0
    for one in said:
        size = min(len(one.text), question.LONGEST_MESSAGE)
        if portion and (length + size > question.LONGEST_CONVERSATION or len(portion) == MOST_MESSAGES):
            if any(map(speaks_for_people, portion)):
                yield portion
            portion, length = [], 0
        portion.append(one)
        length += size
    if any(map(speaks_for_people, portion)):
        yield portion


def _related(parts: Parts, scope: Scope, group: Sequence[Heard]) -> list[Fact]:
    """Return known facts that bear on episodes, the nearest first, filled up with the newest."""
    text = "\n".join(f"{one.episode.title}\n{one.episode.summary}" for one in group)
    last = max(one.episode.end_at for one in group)
    query = ranking.analyse(text, (), last, language=parts.language)
    vector = None
    if parts.embedder is not None and query.dense_text.strip():
        with suppress(ProviderError):
            vector = parts.embedder.embed([query.dense_text])[0]
    most = question.MOST_FACTS
    with parts.store.begin(scope, write=False) as tx:
        near = [fact for fact, _ in best_facts(tx, parts, query, vector, limit=most, at=last)]
        newest = [kept.fact for kept in reversed(tx.facts.list(current=True, limit=most))]
        return _founded(tx, list({fact.id: fact for fact in (*near, *newest)}.values())[:most])


def _founded(tx: Transaction, facts: Sequence[Fact]) -> list[Fact]:
    """Return the facts whose words are from an observation that is there: others are not told on."""
    there = tx.threads.by_ids(list({_source(fact) for fact in facts}))
    return [fact for fact in facts if _source(fact) in there]


def _placed(one: Candidate, group: Sequence[Heard]) -> Candidate:
    """Return a candidate whose evidence names the episode and record time of its own message."""
    said = one.evidence
    heard, message = next((h, o) for h in group for o in h.said if o.id == said.observation_id)
    dated = message.at_source is not TimeSource.ASSUMED
    evidence = replace(
        said,
        episode_id=heard.episode.id,
        learned_at=message.received_at,
        valid_at=said.valid_at if dated else said.said_at,
    )
    return replace(one, evidence=evidence)


def _repeating(
    parts: Parts, scope: Scope, found: Sequence[Candidate], actions: Sequence[str]
) -> tuple[Sequence[Candidate], Sequence[Fact]]:
    """Return candidates, of which a new one that only says a known fact in other words reinforces it.

    Returns the facts those were compared with, too.
    """
    new = [one.fact for one, action in zip(found, actions, strict=True) if action == "new"]
    vectors = embedded(parts, new)
    if not vectors:
        return found, ()
    near: list[Fact] = []
    with parts.store.begin(scope, write=False) as tx:
        told = [
            _reinforced(tx, parts, one, vectors, near) if action == "new" else one
            for one, action in zip(found, actions, strict=True)
        ]
        said = {one.evidence.fact for one in told}
        return told, _founded(tx, [fact for fact in near if fact.fact in said])


def _reinforced(
    tx: Transaction, parts: Parts, one: Candidate, vectors: Vectors, near: list[Fact]
) -> Candidate:
    name, vector = parts.embedder_name, vectors[one.fact][0]
    refs, cosines = tx.index.vector_scores(FACTS, name, vector, limit=NEAR)
    known = tx.facts.by_numbers(refs.tolist())
    shown: dict[UUID, tuple[Fact, float]] = {
        known[ref].id: (known[ref].fact, float(cosine))
        for ref, cosine in zip(refs.tolist(), as_shown(parts, cosines), strict=True)
        if ref in known
    }
    facts = [fact for fact, _ in shown.values()]
    near += facts
    return reinforcing(one, facts, [cosine for _, cosine in shown.values()])

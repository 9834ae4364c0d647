"""Facts in exports: written after the threads that prove them, and put back where they are not there yet."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from typing import TypeVar
from uuid import UUID

from episodic_agent.core.facts import marks, retold
from episodic_agent.core.facts.quoting import meant_words
from episodic_agent.engine.deps import Deps
from episodic_agent.engine.facts.job import due, request_facts
from episodic_agent.engine.facts.writing import embedded, index_facts, reworded, slots_of, write_facts
from episodic_agent.engine.files.own import FactLine, Moved, Noun
from episodic_agent.engine.jobs.retrying import until_unopposed
from episodic_agent.protocols import Transaction
from episodic_agent.schemas import Scope
from episodic_agent.schemas.facts import FactTombstone, StoredFact

N = TypeVar("N")


def fact_nouns(tx: Transaction, among: Collection[UUID] | None = None) -> Iterator[Noun]:
    """Yield every fact of a scope, what became of old ones, and what must not be learned again.

    With `among`, what rests on these threads alone.
    """
    if among is not None:
        yield from _some(tx, among)
        return
    for fact in tx.knowledge.facts():
        yield FactLine(fact.fact, fact.created_at)
    for old, holder in tx.knowledge.moves().items():
        yield Moved(old, holder)
    yield from tx.knowledge.tombstones()


def _some(tx: Transaction, among: Collection[UUID]) -> Iterator[Noun]:
    """Yield the facts that nothing outside of these threads proves, and what must not be learned here."""
    facts, stones = tx.knowledge.facts(), tx.knowledge.tombstones()
    observations = tx.observations.get([one.observation_id for kept in facts for one in kept.fact.evidence])
    inside = {one.id for one in observations.values() if one.thread_id in among}
    reported_facts = [
        kept for kept in facts if all(one.observation_id in inside for one in kept.fact.evidence)
    ]
    for fact in reported_facts:
        yield FactLine(fact.fact, fact.created_at)
    holders = {kept.fact.id for kept in reported_facts}
    for old, holder in tx.knowledge.moves().items():
        if holder in holders:
            yield Moved(old, holder)
    buried = tx.observations.get([stone.observation_id for stone in stones])
    for stone in stones:
        if stone.observation_id in buried and buried[stone.observation_id].thread_id in among:
            yield stone


def without_facts(nouns: Iterator[Noun], facts: list[Noun]) -> Iterator[Noun]:
    """Yield the other nouns; what belongs to facts is put into `facts`."""
    for noun in nouns:
        if isinstance(noun, FactLine | Moved | FactTombstone):
            facts.append(noun)
        else:
            yield noun


def restore_facts(deps: Deps, scope: Scope, nouns: Sequence[Noun]) -> None:
    """Put back the facts of an export that are not there, under what is; then ask for what is due."""
    until_unopposed(lambda: _restore(deps, scope, nouns))
    with deps.store.begin(scope) as tx:
        if due(tx, deps):
            request_facts(tx, deps.clock())


def _restore(deps: Deps, scope: Scope, nouns: Sequence[Noun]) -> None:
    if not nouns:
        return
    lines = _of(nouns, FactLine)
    vectors = embedded(deps, [line.fact for line in lines])
    now = deps.clock()
    with deps.store.begin(scope) as tx:
        tx.hold("facts")
        stones = _of(nouns, FactTombstone)
        there = tx.observations.get([stone.observation_id for stone in stones])
        tx.knowledge.bury([stone for stone in stones if stone.observation_id in there])
        new = _missing(tx, lines)
        facts = tx.knowledge.put_facts(new)
        index_facts(tx, deps, facts, vectors)
        here = {move.id: move.holder for move in _of(nouns, Moved)}
        held = {kept.id: kept for kept in tx.knowledge.facts(ids=[*here, *here.values()])}
        tx.knowledge.move_facts({old: to for old, to in here.items() if old not in held and to in held})
        # beside what was there already they may end one another
        slots = tx.knowledge.facts(slots=slots_of(one.fact for one in facts))
        changes = retold([one.fact for one in slots])
        complete = all(meant_words(fact) in vectors for fact in reworded(slots, changes))
        write_facts(tx, deps, slots, changes, vectors if complete else None, now=now)


def _missing(tx: Transaction, lines: Sequence[FactLine]) -> list[StoredFact]:
    """Return the facts of lines that are not there, by their ids, nor by all they rest on.

    What is no longer there to be read, since it was erased after the export, proves nothing.
    """
    spoken_observations = tx.observations.get(
        [one.observation_id for line in lines for one in line.fact.evidence]
    )
    known = {kept.id: kept for kept in tx.knowledge.facts(ids=[line.fact.id for line in lines])}
    new = []
    for line in lines:
        fact = line.fact
        if fact.id in known or tx.knowledge.moves(fact.id).get(fact.id) is not None:
            continue
        observations = [one.observation_id for one in fact.evidence]
        taken = {mark for kept in tx.knowledge.facts(resting_on=observations) for mark in marks(kept.fact)}
        taken |= {(stone.observation_id, stone.mark) for stone in tx.knowledge.tombstones(observations)}
        left = fact.left_without(set(observations) - spoken_observations.keys())
        evidence = tuple(one for one in left if not marks(replace(fact, evidence=(one,))) & taken)
        if len(left) < len(fact.evidence):  # how it read before may tell of what was erased since
            fact = replace(fact, versions=())
        if evidence:
            new.append(StoredFact(replace(fact, evidence=evidence), line.created_at))
    return new


def _of(nouns: Sequence[Noun], kind: type[N]) -> list[N]:
    return [noun for noun in nouns if isinstance(noun, kind)]

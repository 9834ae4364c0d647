"""Facts as they are said: what messages quote is read when they come, and weighed against what is known.

A message asks for a `facts` job of its own in the transaction that appends it. Where a language model reads
facts none is asked: it reads whole episodes. The same reading, of whole episodes, is what is left when a
model fails, and for what came before there were such jobs; what was read before changes nothing.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import product
from typing import Final
from uuid import UUID

import numpy as np

from episodic_agent.core.echo import own_words
from episodic_agent.core.facts import Changes, learn
from episodic_agent.core.facts.quoting import (
    MAY_CHANGE,
    KnownFact,
    Meaning,
    Quotation,
    in_its_matter,
    is_quotation,
    meant_words,
    probability_of_change,
    quotations,
)
from episodic_agent.core.facts.stating import KNOWN_EMBEDDERS
from episodic_agent.core.threads.channels import projects_of
from episodic_agent.engine.deps import Deps
from episodic_agent.engine.facts.writing import Vectors
from episodic_agent.engine.recall.elsewhere import Elsewhere
from episodic_agent.protocols import FACTS, OBSERVATIONS, Transaction, ref_of
from episodic_agent.schemas import Observation, Vector
from episodic_agent.schemas.facts import Fact, FactCandidate, Statement, StoredFact

NEAR: Final = 24  # known facts that one quotation may take the place of, the nearest by meaning
NEWEST: Final = 100  # or, without vectors, the newest


@dataclass(frozen=True, slots=True)
class Weighed:
    """What quotations became: candidates in their matters, the facts they bear on, what changes of those."""

    candidates: Sequence[FactCandidate] = ()
    known: Sequence[StoredFact] = ()
    changes: Changes = field(default_factory=Changes)


def knows_meaning(deps: Deps) -> bool:
    """Tell whether the embedder is the one that the judges of statements were trained with."""
    return deps.embedder is not None and deps.embedder_name in KNOWN_EMBEDDERS


def stored_vectors(tx: Transaction, deps: Deps, observations: Sequence[Observation]) -> dict[str, Vector]:
    """Return the vectors that the index holds of messages, by text: a short one is one statement.

    One that repeats what was recalled is left out: its vector is of its own words alone.
    """
    if deps.embedder is None or not observations:
        return {}
    numbers = {thread: tx.threads.number(thread) for thread in {o.thread_id for o in observations}}
    plain = [o for o in observations if own_words(o) is o]
    texts = {ref_of(numbers[o.thread_id], o.seq): o.text.strip() for o in plain}
    found_vectors = tx.index.vectors(OBSERVATIONS, deps.embedder_name, list(texts))
    return {texts[ref]: vector for ref, vector in found_vectors.items()}


def quoted(deps: Deps, statements: Sequence[Statement], there: dict[str, Vector]) -> list[Quotation]:
    """Return what statements say that lasts; ProviderError where they cannot be embedded.

    `there` are the vectors known by text; those of what was embedded are put beside them.
    """
    return quotations(statements, _meaning(deps, there))


def _meaning(deps: Deps, there: dict[str, Vector]) -> Meaning | None:
    embedder = deps.embedder
    if embedder is None or not knows_meaning(deps):
        return None

    def embed(texts: Sequence[str]) -> Sequence[Vector]:
        missing = [text for text in dict.fromkeys(texts) if text not in there]
        if missing:
            there.update(zip(missing, embedder.embed(missing), strict=True))
        return [there[text] for text in texts]

    return embed


def weighed(tx: Transaction, deps: Deps, spoken: Sequence[Quotation], vectors: Vectors) -> Weighed:
    """Put quotations into their matters, one after another, and say what they change.

    `vectors` are those of their words, as they are indexed.
    """
    if not spoken:
        return Weighed()
    identifiers = sorted({one.candidate.evidence.observation_id for one in spoken})
    stones = tx.knowledge.tombstones(identifiers)
    known_facts = _KnownFacts(tx, deps, identifiers)
    apart = _Apart(tx, identifiers)
    placed: list[FactCandidate] = []
    fresh: list[KnownFact] = []
    for quotation in sorted(spoken, key=lambda one: one.candidate.evidence.said_at):
        row = vectors.get(meant_words(quotation.candidate)) if knows_meaning(deps) else None
        mine = replace(quotation, vector=None if row is None else np.asarray(row[0]))
        if row is not None:
            mine = replace(mine, talk_vectors=_talk_vectors(tx, deps, quotation))
        candidate = in_its_matter(mine, apart.without([*known_facts.near(mine), *fresh], mine))
        if not quotation.lasts and candidate.attribute == quotation.candidate.attribute:
            continue  # it puts nothing right
        placed.append(candidate)
        fresh += [KnownFact(fact, mine.vector) for fact in learn((), [candidate], stones).added]
    known = tx.knowledge.facts(candidates=placed) if placed else []
    return Weighed(placed, known, learn([kept.fact for kept in known], placed, stones))


def _talk_vectors(tx: Transaction, deps: Deps, quotation: Quotation) -> tuple[Vector, ...]:
    """Return the vectors of what was said before a quotation in its sitting, of what has one."""
    if not quotation.talk:
        return ()
    there = tx.observations.get([line.observation_id for line in quotation.talk])
    rows = stored_vectors(tx, deps, list(there.values()))
    texts = [line.text.strip() for line in quotation.talk]
    return tuple(rows[text] for text in texts if text in rows)


class _Apart:
    """What is known of other projects than those where something was said: none of it changes for that."""

    def __init__(self, tx: Transaction, observations: Sequence[UUID]) -> None:
        self._tx = tx
        threads = {name: item.thread_id for name, item in tx.observations.get(observations).items()}
        ids = list(set(threads.values()))
        projects = {t.id: projects_of(t.channels) for t in tx.threads.list(ids=ids)} if ids else {}
        self._projects = {name: projects.get(thread, frozenset()) for name, thread in threads.items()}
        self._others: dict[frozenset[str], Elsewhere] = {}

    def without(self, known: Sequence[KnownFact], quotation: Quotation) -> Sequence[KnownFact]:
        """Return facts without those of other projects than a quotation's."""
        own = self._projects.get(quotation.candidate.evidence.observation_id, frozenset())
        if own not in self._others:
            self._others[own] = Elsewhere(own)
        elsewhere = self._others[own].hold(self._tx, (one.fact for one in known))
        return [one for one in known if one.fact.id not in elsewhere] if elsewhere else known


def may_tell_of_changes(
    tx: Transaction,
    deps: Deps,
    older: Sequence[StoredFact],
    newer: Sequence[StoredFact],
    matters: Callable[[Fact, Fact], bool],
) -> Iterator[tuple[Fact, Fact]]:
    """Yield pairs of an older quotation and a newer one that may tell of a change of it.

    It is no more than likely: neither ends the other. `matters` says of a pair, when its turn comes, whether
    it would make a difference: judging one costs more.
    """
    known = _KnownFacts(tx, deps, ())
    before, after = (known.of([kept for kept in some if is_quotation(kept.fact)]) for some in (older, newer))
    for old, new in product(before, after):
        if matters(old.fact, new.fact) and probability_of_change(old, new) >= MAY_CHANGE:
            yield old.fact, new.fact


class _KnownFacts:
    """The facts that quotations may belong to, each read once: nothing is written while they are weighed."""

    def __init__(self, tx: Transaction, deps: Deps, observations: Sequence[UUID]) -> None:
        self._tx = tx
        self._deps = deps
        self._means = knows_meaning(deps)
        self._read: dict[int, KnownFact] = {}
        self._own: dict[UUID, list[int]] = {}
        resting = self._take(tx.knowledge.facts(resting_on=observations))
        for number in resting:
            for proof in self._read[number].fact.evidence:
                numbers = self._own.setdefault(proof.observation_id, [])
                if number not in numbers:
                    numbers.append(number)

    def near(self, quotation: Quotation) -> list[KnownFact]:
        """Return those that a quotation's own message proves, and the nearest; without meaning the newest."""
        own = self._own.get(quotation.candidate.evidence.observation_id, [])
        near = list(self._nearest(quotation.vector))
        if quotation.vector is not None and quotation.talk_vectors:
            together = quotation.vector + quotation.talk_vectors[-1]
            near += self._nearest(together / (np.linalg.norm(together) or 1.0))
        return [self._read[number] for number in dict.fromkeys((*own, *near))]

    def of(self, facts: Sequence[StoredFact]) -> list[KnownFact]:
        """Return facts with the vectors of what they quote."""
        return [self._read[number] for number in self._take(facts)] if facts else []

    def _nearest(self, vector: Vector | None) -> Sequence[int]:
        if vector is None:
            return self._newest
        refs, _ = self._tx.index.vector_scores(FACTS, self._deps.embedder_name, vector, limit=NEAR)
        numbers = refs.tolist()
        missing = [number for number in numbers if number not in self._read]
        if missing:
            self._take(self._tx.knowledge.facts(numbers=missing))
        there = [number for number in numbers if number in self._read]
        return sorted(
            there, key=lambda number: (self._read[number].fact.valid_at, self._read[number].fact.id)
        )

    @cached_property
    def _newest(self) -> Sequence[int]:
        return self._take(self._tx.knowledge.facts(current=self._deps.clock(), limit=NEWEST))

    def _take(self, facts: Sequence[StoredFact]) -> list[int]:
        numbers = [kept.number for kept in facts]
        rows = self._tx.index.vectors(FACTS, self._deps.embedder_name, numbers) if self._means else {}
        self._read.update({kept.number: KnownFact(kept.fact, rows.get(kept.number)) for kept in facts})
        return numbers


def with_episodes(known: Sequence[StoredFact], owners: Mapping[UUID, UUID], changes: Changes) -> Changes:
    """Return changes in which evidence that was read before its episode closed names the episode.

    `owners` gives the episode of each observation that was read; `known` are the facts that rest on these.
    """
    after = {fact.id: fact for fact in changes.applied([kept.fact for kept in known])}
    named = []
    for fact in after.values():
        evidence = tuple(
            replace(one, episode_id=owners[one.observation_id])
            if one.episode_id is None and one.observation_id in owners
            else one
            for one in fact.evidence
        )
        if evidence != fact.evidence:
            named.append(replace(fact, evidence=evidence))
    if not named:
        return changes
    ids = {fact.id for fact in named}
    new = {fact.id for fact in changes.added}
    return Changes(
        added=(*(f for f in changes.added if f.id not in ids), *(f for f in named if f.id in new)),
        changed=(*(f for f in changes.changed if f.id not in ids), *(f for f in named if f.id not in new)),
        gone=changes.gone,
        conflicts=changes.conflicts,
    )

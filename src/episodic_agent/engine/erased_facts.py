"""What becomes of facts whose evidence is erased: they rest on what is left of it, or go."""

from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from itertools import groupby
from typing import Final
from uuid import UUID

from episodic_agent.core.fact_records import Fact
from episodic_agent.core.facts import retold
from episodic_agent.core.interfaces import FACTS, Transaction, split_ref
from episodic_agent.core.text import fold
from episodic_agent.engine.consolidating import FACTS as DECIDED
from episodic_agent.engine.consolidating import request_facts
from episodic_agent.engine.fact_writing import slots_of, write_facts
from episodic_agent.engine.parts import Parts

_PAGE: Final = 512


def drop_facts(parts: Parts, tx: Transaction, refs: Sequence[int], now: datetime) -> None:
    """Take the evidence that lies in these observations from facts, and tell their slots anew.

    What an erased statement had ended holds again. What a model told of other messages in the same answer
    goes too, for it may say what it read in these: their episodes are read again. To be called while the
    observations can still be read.
    """
    tx.facts.hold()
    concerned = _concerned(tx, refs)
    together = _forget_told(tx, concerned)
    for start in range(0, len(refs), _PAGE):
        said = sorted(one.id for one in tx.threads.by_refs(refs[start : start + _PAGE]).values())
        _unlearn(tx, parts, said, now, lambda fact, gone=set(said): _without(fact, gone))  # type: ignore[misc]
        tx.facts.unbury(said)
    for identity in sorted(together):
        episode = tx.episodes.get(identity)
        if episode is not None:
            heard = tx.threads.observations(episode.thread_id, episode.first_seq, episode.last_seq)
            told = {one.id: one.text for one in heard}
            _unlearn(tx, parts, sorted(told), now, lambda fact, told=told: _without_words(fact, told))  # type: ignore[misc]
    if waiting := sorted(together - concerned):
        tx.episodes.reconsider(waiting)
        request_facts(tx, now)


def _concerned(tx: Transaction, refs: Sequence[int]) -> set[UUID]:
    """Return the episodes these observations lie in, replaced ones too."""
    found = {UUID(hex=c.name) for c in tx.episodes.covers([(ref, ref) for ref in refs])}
    for number, group in groupby(sorted(refs), key=lambda ref: split_ref(ref)[0]):
        for thread in tx.threads.by_numbers([number]).values():
            found.update(tx.erasing.replaced(thread, [split_ref(ref)[1] for ref in group]))
    return found


def _unlearn(
    tx: Transaction, parts: Parts, said: Sequence[UUID], now: datetime, left_of: Callable[[Fact], Fact | None]
) -> None:
    """Let the facts that rest on observations be what is left of them, and tell their slots anew."""
    resting = tx.facts.resting_on(said)
    if not resting:
        return
    left = {kept.id: left_of(kept.fact) for kept in resting}
    known = tx.facts.of_slots(slots_of(kept.fact for kept in resting))
    changes = retold([kept.fact for kept in known], left)
    # an old sentence may hold what is erased: its vectors go with its words
    told = {fact.id: fact.fact for fact in changes.changed}
    stale = [kept.number for kept in known if told.get(kept.id, kept.fact.fact) != kept.fact.fact]
    tx.index.drop(FACTS, stale)
    write_facts(tx, parts, known, changes, None, now=now)


def _without(fact: Fact, gone: Container[UUID]) -> Fact | None:
    """Return a fact without some of its evidence, nor how it read before; None where nothing is left."""
    evidence = tuple(one for one in fact.evidence if one.observation_id not in gone)
    return replace(fact, evidence=evidence, versions=()) if evidence else None


def _without_words(fact: Fact, heard: Mapping[UUID, str]) -> Fact | None:
    """Return a fact without what a model made of these messages; one that a person wrote rests on them."""
    own = fold(" ".join(heard.get(one.observation_id, "") for one in fact.evidence) + f" {fact.fact}")
    if not (fact.edited and fold(fact.value) in own):
        return _without(fact, heard)
    evidence = tuple(
        replace(one, fact=fact.fact, value=one.value if fold(one.value) in own else fact.value)
        if one.observation_id in heard
        else one
        for one in fact.evidence
    )
    return replace(fact, evidence=evidence, versions=())


def _forget_told(tx: Transaction, concerned: set[UUID]) -> set[UUID]:
    """Delete the records of what was read in the episodes concerned, or by a model together with them.

    Others lose what a model expected. Returns the episodes that a model read together with them.
    """
    names, together = set(map(str, concerned)), set[UUID]()
    for decision in tx.episodes.decisions(type=DECIDED):
        read = decision.detail.get("together") or ()
        group = set(map(str, read)) if isinstance(read, Sequence) else set()
        if not names.isdisjoint(group):
            together.update(UUID(name) for name in group)
        if decision.subject in concerned or not names.isdisjoint(group):
            tx.episodes.revoke(decision.id)
        elif decision.detail.get("expected"):
            tx.episodes.amend(replace(decision, detail={**decision.detail, "expected": ""}))
    return together

"""Small nouns for store tests: everything has a default, times are minutes after one moment."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from uuid import UUID, uuid5

import numpy as np

from episodic_agent.core.vectors import rounded
from episodic_agent.protocols import EpisodeMark, ObservationMark, Posting, Store, Transaction
from episodic_agent.schemas import Episode, Frame, Observation, Scope, Thread, TimeSource, Vector
from episodic_agent.schemas.chains import Term
from episodic_agent.schemas.facts import Category, Fact, FactEvidence, FactTombstone, StoredFact, Version
from episodic_agent.schemas.skills import Skill, SkillKind, SkillState, StoredSkill
from episodic_agent.stores.tables.dialect import Rows

NOW = datetime(2024, 5, 1, 12, tzinfo=UTC)
ANA, BO = Scope("ana", "home"), Scope("bo", "home")
_NAMESPACE = UUID(int=42)


def minute(count: float) -> datetime:
    return NOW + timedelta(minutes=count)


def identity(name: str) -> UUID:
    return uuid5(_NAMESPACE, name)


def make_thread(name: str = "kitchen", *, at: float = 0) -> Thread:
    return Thread(identity(name), name, created_at=NOW, last_activity_at=minute(at))


def make_frame(name: str = "kitchen") -> Frame:
    return Frame(identity(name), policy="default", embedder="small")


def make_observations(
    thread: str, texts: Sequence[str], *, first: int = 0, actor: str = "ana"
) -> list[Observation]:
    return [
        Observation(
            id=identity(f"{thread}/{seq}"),
            thread_id=identity(thread),
            seq=seq,
            at=minute(seq),
            received_at=minute(seq + 0.5),
            actor=actor,
            text=text,
        )
        for seq, text in enumerate(texts, first)
    ]


def make_episode(thread: str, first: int, last: int, *, generation: int = 0) -> Episode:
    return Episode(
        id=identity(f"{thread}/{first}/{generation}"),
        thread_id=identity(thread),
        first_seq=first,
        last_seq=last,
        start_at=minute(first),
        end_at=minute(last),
        created_at=minute(last),
        reason="time_gap",
        surprise=0.25,
        stability=2.5,
        difficulty=5.0,
        last_reviewed_at=minute(last),
        generation_from=generation,
    )


def make_skill(
    pattern: str, name: str = "", *, state: SkillState = SkillState.ACTIVE, at: float = 0
) -> StoredSkill:
    skill = Skill(
        name=name or pattern,
        description=f"{name} told",
        kind=SkillKind.DECISION,
        steps=("hear", "answer\0with"),
        examples=("Should I?",),
        confidence=0.8125,
        frequency=3,
        last_used=minute(at),
        validation=0.875,
        checks={"frequent": True, "spread": False},
        initial=0.7,
        uses=2,
        successes=1,
    )
    return StoredSkill(identity(f"skill/{pattern}"), pattern, state, skill, minute(at))


def make_evidence(
    observation: str = "kitchen/0", value: str = "Porto", *, at: float = 0, start: int = 0
) -> FactEvidence:
    return FactEvidence(
        observation_id=identity(observation),
        start=start,
        end=start + 17,
        fact=f"Ana: {value}",
        value=value,
        said_at=minute(at),
        valid_at=minute(at - 60),
        episode_id=identity("kitchen/0/0"),
        learned_at=minute(at + 1),
        confidence=0.9,
    )


def make_fact(
    name: str, value: str = "Porto", *evidence: FactEvidence, attribute: str = "lives_in"
) -> StoredFact:
    """Build a fact that holds since its first evidence."""
    spoken_evidence = evidence or (make_evidence(value=value),)
    fact = Fact(
        id=identity(f"fact/{name}"),
        subject="Ana",
        attribute=attribute,
        value=value,
        category=Category.IDENTITY,
        fact=f"Ana: {value}",
        evidence=spoken_evidence,
        valid_at=spoken_evidence[0].valid_at,
        keywords=(value,),
        confidence=0.1 + 0.2,
    )
    return StoredFact(fact, minute(1))


def make_tombstone(observation: str, mark: str = "ab12", *, at: float = 0) -> FactTombstone:
    return FactTombstone(identity(observation), mark, minute(at))


def edited(fact: StoredFact, value: str) -> StoredFact:
    """Return a fact with everything about it that a hand and time may change."""
    versions = (Version(fact.fact.fact, fact.fact.value, minute(5)),)
    changed = replace(
        fact.fact,
        value=value,
        versions=versions,
        holds=False,
        edited=True,
        pinned=True,
        confirmed=True,
        invalid_at=minute(99),
        superseded_by=identity("fact/another"),
    )
    return replace(fact, fact=changed)


def mark_of(ref: int, item: Observation) -> ObservationMark:
    assumed = item.at_source == TimeSource.ASSUMED
    octets = len(item.text.encode())
    return ObservationMark(ref, item.id.hex, item.actor, round(item.at.timestamp() * 1e6), assumed, octets)


def episode_mark_of(ref: int, episode: Episode) -> EpisodeMark:
    reviewed = round(episode.last_reviewed_at.timestamp() * 1e6)
    return EpisodeMark(ref, episode.id.hex, episode.stability, reviewed)


def begin_thread(tx: Transaction, name: str = "kitchen", texts: Sequence[str] = ()) -> int:
    """Write a thread with observations; return its number."""
    tx.threads.create(make_thread(name), make_frame(name))
    tx.observations.append(make_observations(name, texts))
    frame = tx.threads.frame(identity(name))
    tx.threads.save(replace(frame, next_seq=len(texts)))
    return tx.threads.number(identity(name))


def fill(
    store: Store, scope: Scope = ANA, name: str = "kitchen", texts: Sequence[str] = ("a", "b", "c")
) -> int:
    with store.begin(scope) as tx:
        return begin_thread(tx, name, texts)


def posting(ref: int, text: str) -> Posting:
    words = text.split()
    return Posting(ref, {word: words.count(word) for word in words}, len(words))


def bm25(
    documents: Mapping[int, Posting], weights: Mapping[str, float], *, k1: float, b: float, average: float
) -> dict[int, float]:
    """Score documents straight from the formula; only those that hold a term."""
    scores: dict[int, float] = {}
    for ref, document in documents.items():
        for term, weight in weights.items():
            if count := document.terms.get(term, 0):
                damping = k1 * (1 - b + b * document.length / average)
                scores[ref] = scores.get(ref, 0.0) + weight * (k1 + 1) * count / (count + damping)
    return scores


def random_vectors(seed: int, count: int, width: int = 8) -> Vector:
    """Make rows of length 1 as stores keep them."""
    return rounded(np.random.default_rng(seed).standard_normal((count, width)).astype(np.float32))


def rewrite_terms(tx: Transaction, episode_id: UUID, *terms: Term) -> None:
    """Leave an episode with just these rows of metadata, as damage or an older release would."""
    session: Rows = tx.episodes._session  # type: ignore[attr-defined]
    session.alter("DELETE FROM metadata_term WHERE :mine AND episode = :id", id=episode_id.bytes)
    sql = "INSERT INTO metadata_term (:keys, field, value, episode) VALUES (:own, :field, :value, :id)"
    session.change_all(sql, [{"field": t.field, "value": t.value, "id": episode_id.bytes} for t in terms])

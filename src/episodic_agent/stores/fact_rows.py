"""Facts and skills as columns and back: what both stores write, in the order of their statements.

A quotation is most of a fact, of its sentence and of its evidence, so it is written once, as the fact's
`value`: bodies hold what stands around it, and nothing of what is as it mostly is. Older ones hold all.
"""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from hashlib import blake2b
from typing import Any, Final
from uuid import UUID

from episodic_agent.core.facts.slots import group_of
from episodic_agent.schemas.facts import (
    Category,
    Fact,
    FactCandidate,
    FactEvidence,
    FactTombstone,
    StoredFact,
    Version,
)
from episodic_agent.schemas.skills import Skill, SkillKind, SkillState, StoredSkill
from episodic_agent.stores.rows import (
    from_json,
    id_of,
    optional_microseconds,
    optional_time,
    readable,
    to_json,
    to_microseconds,
    to_time,
)

CHANGING: Final = "subject, attribute, value, slot, matter, valid_at, invalid_at, body"
FACT: Final = "number, id, subject, attribute, value, valid_at, invalid_at, body, created_at"
CURRENT: Final = "invalid_at IS NULL"
_FLAGS: Final = {"holds": True, "edited": False, "pinned": False, "confirmed": False}


def fact_columns(fact: Fact) -> tuple[Any, ...]:
    """Return the `CHANGING` columns of a fact."""
    body: dict[str, Any] = {
        "category": fact.category.value,
        "fact": _around(fact.value, fact.fact),
        "confidence": fact.confidence,
    }
    if fact.keywords:
        body["keywords"] = fact.keywords
    if fact.superseded_by:
        body["superseded_by"] = fact.superseded_by.hex
    if fact.versions:
        body["versions"] = [(one.fact, one.value, to_microseconds(one.changed_at)) for one in fact.versions]
    body |= {name: now for name, mostly in _FLAGS.items() if (now := getattr(fact, name)) != mostly}
    statements = (
        fact.subject,
        fact.attribute,
        fact.value,
        *group_columns(fact.subject, fact.attribute, fact.value),
    )
    return *statements, to_microseconds(fact.valid_at), optional_microseconds(fact.invalid_at), to_json(body)


@readable
@lru_cache(maxsize=4096)  # a search reads what bears on its question up to four times
def fact_of(columns: tuple[Any, ...], proofs: tuple[tuple[bytes, str], ...]) -> StoredFact:
    """Build a fact from the `FACT` columns and the `evidence_columns` of its evidence."""
    number, identity, subject, attribute, value, valid, invalid, text, created = columns
    body = from_json(text)
    by, sentence = body.get("superseded_by"), _filled(value, body["fact"])
    fact = Fact(
        id=id_of(identity),
        subject=subject,
        attribute=attribute,
        value=value,
        category=Category(body["category"]),
        fact=sentence,
        evidence=tuple(_evidence_of(*proof, sentence, value) for proof in proofs),
        valid_at=to_time(valid),
        keywords=tuple(body.get("keywords", ())),
        invalid_at=optional_time(invalid),
        superseded_by=None if by is None else id_of(bytes.fromhex(by)),
        confidence=body["confidence"],
        versions=tuple(Version(fact, held, to_time(at)) for fact, held, at in body.get("versions", ())),
        **{name: body.get(name, mostly) for name, mostly in _FLAGS.items()},
    )
    return StoredFact(fact, to_time(created), number)


def _around(value: str, sentence: str) -> str | list[str]:
    """Return what stands before and behind a value in a sentence; the sentence where it is not in it.

    >>> _around("tea", 'Ana: "tea"'), _around("tea", "Ana likes it")
    (['Ana: "', '"'], 'Ana likes it')
    """
    before, there, behind = sentence.partition(value) if value else (sentence, "", "")
    return [before, behind] if there else sentence


def _filled(value: str, around: str | list[str]) -> str:
    """Undo `_around`."""
    return around if isinstance(around, str) else value.join(around)


def group_columns(subject: str, attribute: str, value: str) -> tuple[bytes, bytes]:
    """Return the `slot` and the `matter` of a fact: equal where facts bear on each other.

    >>> group_columns("Maya", "lives_in", "Porto") == group_columns("maya", "lives_in", "Lisbon")
    True
    >>> group_columns("Ana", "likes", "tea") == group_columns("Ana", "dislikes", "fog")
    False
    """
    about, slot, matter = group_of(subject, attribute, value)
    return _hash(f"{about}\x1f{slot}"), _hash(matter)


def groups_of(candidates: Sequence[FactCandidate]) -> list[tuple[bytes, bytes]]:
    """Return what candidates bear on, each once."""
    return list(dict.fromkeys(group_columns(one.subject, one.attribute, one.value) for one in candidates))


def _hash(text: str) -> bytes:
    # Hashed: an index of PostgreSQL refuses the longest of them.
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()


def evidence_columns(evidence: FactEvidence, fact: Fact) -> tuple[bytes, str]:
    """Return the observation and the body of a piece of evidence of a fact."""
    body: dict[str, Any] = {
        "start": evidence.start,
        "end": evidence.end,
        "said_at": to_microseconds(evidence.said_at),
        "confidence": evidence.confidence,
    }
    if evidence.value != fact.value:
        body["value"] = evidence.value
    if evidence.fact != fact.fact:
        body["fact"] = _around(evidence.value, evidence.fact)
    if evidence.valid_at != evidence.said_at:
        body["valid_at"] = to_microseconds(evidence.valid_at)
    if evidence.episode_id is not None:
        body["episode"] = evidence.episode_id.hex
    if evidence.learned_at is not None:
        body["learned_at"] = to_microseconds(evidence.learned_at)
    if evidence.corrects:
        body["corrects"] = True
    if evidence.ended_by is not None:
        body["ended_by"] = evidence.ended_by.hex
    if evidence.leads_to is not None:
        body["leads_to"] = evidence.leads_to.hex
    if evidence.begins_at is not None:
        body["begins_at"] = to_microseconds(evidence.begins_at)
    return evidence.observation_id.bytes, to_json(body)


def _evidence_of(observation: bytes, text: str, sentence: str, value: str) -> FactEvidence:
    """Undo `evidence_columns`, given the sentence and the value of the fact."""
    body = from_json(text)
    by, to, episode = body.get("ended_by"), body.get("leads_to"), body.get("episode")
    own = body.get("value", value)
    return FactEvidence(
        observation_id=id_of(observation),
        start=body["start"],
        end=body["end"],
        fact=_filled(own, body.get("fact", sentence)),
        value=own,
        said_at=to_time(body["said_at"]),
        valid_at=to_time(body.get("valid_at", body["said_at"])),
        episode_id=None if episode is None else id_of(bytes.fromhex(episode)),
        learned_at=optional_time(body.get("learned_at")),
        confidence=body["confidence"],
        corrects=body.get("corrects", False),
        ended_by=None if by is None else id_of(bytes.fromhex(by)),
        leads_to=None if to is None else id_of(bytes.fromhex(to)),
        begins_at=optional_time(body.get("begins_at")),
    )


@readable
def tombstone_of(columns: tuple[Any, ...]) -> FactTombstone:
    """Build a tombstone from its observation, mark and time."""
    observation, mark, deleted_at = columns
    return FactTombstone(id_of(observation), mark, to_time(deleted_at))


def holders(gone: Mapping[UUID, UUID | None]) -> dict[UUID, UUID | None]:
    """Return where ids that are gone lead in the end, past others of them; in a circle nowhere.

    >>> a, b, c, d = (UUID(int=n) for n in range(4))
    >>> holders({a: b, b: c, c: d}) == {a: d, b: d, c: d}, holders({a: b, b: a}) == {a: None, b: None}
    (True, True)
    """
    return {old: _holder(old, gone) for old in gone}


def _holder(old: UUID, gone: Mapping[UUID, UUID | None]) -> UUID | None:
    passed: set[UUID] = set()
    holder: UUID | None = old
    while holder is not None and holder in gone:
        if holder in passed:
            return None
        passed.add(holder)
        holder = gone[holder]
    return holder


SKILL_CHANGING: Final = (
    "pattern, state, name, kind, body, confidence, initial, frequency, uses, successes, last_used, created_at"
)
SKILL: Final = f"id, number, {SKILL_CHANGING}"
_LISTS: Final = ("preconditions", "steps", "postconditions", "parameters", "examples")


def skill_columns(stored_skill: StoredSkill) -> tuple[Any, ...]:
    """Return the `CHANGING` columns of a skill."""
    skill = stored_skill.skill
    body = {
        "description": skill.description,
        "returns": skill.returns,
        "validation": skill.validation,
        "checks": skill.checks,
        **{name: getattr(skill, name) for name in _LISTS},
    }
    words = (stored_skill.pattern, stored_skill.state.value, skill.name, skill.kind.value, to_json(body))
    numbers = (skill.confidence, skill.initial, skill.frequency, skill.uses, skill.successes)
    return *words, *numbers, optional_microseconds(skill.last_used), to_microseconds(stored_skill.created_at)


@readable
def skill_of(columns: tuple[Any, ...]) -> StoredSkill:
    """Build a skill, without its evidence, from the `SKILL` columns."""
    identity, number, pattern, state, name, kind, text, *counts, last_used, created = columns
    confidence, initial, frequency, uses, successes = counts
    body = from_json(text)
    skill = Skill(
        name=name,
        description=body["description"],
        kind=SkillKind(kind),
        returns=body["returns"],
        validation=body["validation"],
        checks=body["checks"],
        confidence=confidence,
        initial=initial,
        frequency=frequency,
        uses=uses,
        successes=successes,
        last_used=optional_time(last_used),
        **{name: tuple(body[name]) for name in _LISTS},
    )
    return StoredSkill(id_of(identity), pattern, SkillState(state), skill, to_time(created), number)

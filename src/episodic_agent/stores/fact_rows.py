"""Facts as columns and back: what both stores write of one, in the order of their statements."""

from collections.abc import Mapping, Sequence
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
from episodic_agent.stores.rows import (
    from_json,
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
_FLAGS: Final = ("holds", "edited", "pinned", "confirmed")


def fact_columns(fact: Fact) -> tuple[Any, ...]:
    """Return the `CHANGING` columns of a fact."""
    body = {
        "category": fact.category.value,
        "fact": fact.fact,
        "keywords": fact.keywords,
        "superseded_by": fact.superseded_by.hex if fact.superseded_by else None,
        "confidence": fact.confidence,
        "versions": [(one.fact, one.value, to_microseconds(one.changed_at)) for one in fact.versions],
        **{name: getattr(fact, name) for name in _FLAGS},
    }
    statements = (
        fact.subject,
        fact.attribute,
        fact.value,
        *group_columns(fact.subject, fact.attribute, fact.value),
    )
    return *statements, to_microseconds(fact.valid_at), optional_microseconds(fact.invalid_at), to_json(body)


@readable
def fact_of(columns: tuple[Any, ...], evidence: Sequence[FactEvidence]) -> StoredFact:
    """Build a fact from the `FACT` columns and its evidence."""
    number, identity, subject, attribute, value, valid, invalid, text, created = columns
    body = from_json(text)
    by = body["superseded_by"]
    fact = Fact(
        id=UUID(bytes=bytes(identity)),
        subject=subject,
        attribute=attribute,
        value=value,
        category=Category(body["category"]),
        fact=body["fact"],
        evidence=tuple(evidence),
        valid_at=to_time(valid),
        keywords=tuple(body["keywords"]),
        invalid_at=optional_time(invalid),
        superseded_by=None if by is None else UUID(hex=by),
        confidence=body["confidence"],
        versions=tuple(Version(fact, held, to_time(at)) for fact, held, at in body["versions"]),
        **{name: body[name] for name in _FLAGS},
    )
    return StoredFact(fact, to_time(created), number)


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


def evidence_columns(evidence: FactEvidence) -> tuple[bytes, str]:
    """Return the observation and the body of a piece of evidence."""
    body = {
        "start": evidence.start,
        "end": evidence.end,
        "fact": evidence.fact,
        "value": evidence.value,
        "said_at": to_microseconds(evidence.said_at),
        "valid_at": to_microseconds(evidence.valid_at),
        "episode": evidence.episode_id.hex if evidence.episode_id else None,
        "learned_at": optional_microseconds(evidence.learned_at),
        "confidence": evidence.confidence,
        "corrects": evidence.corrects,
    }
    if evidence.ended_by is not None:
        body["ended_by"] = evidence.ended_by.hex
    if evidence.leads_to is not None:
        body["leads_to"] = evidence.leads_to.hex
    return evidence.observation_id.bytes, to_json(body)


def evidence_of(observation: bytes, text: str) -> FactEvidence:
    """Undo `evidence_columns`."""
    body = from_json(text)
    by, to = body.get("ended_by"), body.get("leads_to")
    return FactEvidence(
        observation_id=UUID(bytes=bytes(observation)),
        start=body["start"],
        end=body["end"],
        fact=body["fact"],
        value=body["value"],
        said_at=to_time(body["said_at"]),
        valid_at=to_time(body["valid_at"]),
        episode_id=None if body["episode"] is None else UUID(hex=body["episode"]),
        learned_at=optional_time(body["learned_at"]),
        confidence=body["confidence"],
        corrects=body["corrects"],
        ended_by=None if by is None else UUID(hex=by),
        leads_to=None if to is None else UUID(hex=to),
    )


@readable
def tombstone_of(columns: tuple[Any, ...]) -> FactTombstone:
    """Build a tombstone from its observation, mark and time."""
    observation, mark, deleted_at = columns
    return FactTombstone(UUID(bytes=bytes(observation)), mark, to_time(deleted_at))


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

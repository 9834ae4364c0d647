"""What becomes of quotations when a model has read the messages they are from: they give way to its reading.

Messages are quoted as they come, whether or not a model will read them. Once it has, its reading stands: what
it restates stands in its words alone, and what it left out did not last. Two things are believed once too
often rather than once too little, and stay though it left them out: what is surely a standing wish by its
words alone, and what may harm.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from uuid import UUID

from episodic_agent.core.facts.quoting import is_quotation
from episodic_agent.core.facts.reconciling import Changes, compared, learn, mark_of, marks, retold
from episodic_agent.core.facts.stating import SURE_WISH, has_cue, wish
from episodic_agent.schemas.facts import Category, Fact, FactCandidate, FactEvidence, FactTombstone


def awaits_reading(fact: Fact) -> bool:
    """Tell whether a fact is a quotation of what is still to be read, and no hand has touched it."""
    return _as_it_came(fact) and all(one.episode_id is None for one in fact.telling)


def before_these(known: Sequence[Fact], unread: Collection[UUID]) -> list[Fact]:
    """Return the facts that quotations ended which await a reading, as they stand without these."""
    after = retold(known, dict.fromkeys(unread)).applied(known)
    ended = {fact.id for fact in known if fact.superseded_by in unread and fact.id not in unread}
    return [fact for fact in after if fact.id in ended and fact.invalid_at is None]


def taken_up(
    known: Sequence[Fact],
    candidates: Sequence[FactCandidate],
    read: Collection[UUID],
    tombstones: Iterable[FactTombstone] = (),
) -> Changes:
    """Return what changes of known facts where a model has read these observations.

    `known` are the whole slots of what is quoted there and all that the candidates bear on. The id of a
    quotation that a candidate restates leads to the fact this became.
    """
    left = {fact.id: _left_of(fact, candidates, read) for fact in known if _as_it_came(fact)}
    less = {identity: fact for identity, fact in left.items() if fact not in known}
    base = retold(known, less).applied(known) if less else tuple(known)
    learned = learn(base, candidates, tombstones)
    after = learned.applied(base)
    changes = compared(known, after, learned.conflicts)
    return replace(changes, gone=_led_on(known, candidates, after, changes.gone))


def _led_on(
    known: Sequence[Fact],
    candidates: Sequence[FactCandidate],
    after: Sequence[Fact],
    gone: Mapping[UUID, UUID | None],
) -> dict[UUID, UUID | None]:
    where = {mark: fact.id for fact in after for mark in marks(fact)}
    evidence = {fact.id: fact.evidence for fact in known}
    led = dict(gone)
    for identity in [one for one, holder in gone.items() if holder is None]:
        restating = (one for one in candidates if any(_restates(one, e) for e in evidence[identity]))
        led[identity] = next((where[mark] for one in restating if (mark := mark_of(one)) in where), None)
    return led


def _as_it_came(fact: Fact) -> bool:
    return is_quotation(fact) and not (fact.pinned or fact.confirmed or fact.versions)


def _left_of(fact: Fact, candidates: Sequence[FactCandidate], read: Collection[UUID]) -> Fact | None:
    """Return what is left of a quotation: evidence that names its episode was read before, or by a model."""
    gone = {
        (one.observation_id, one.fact)
        for one in fact.evidence
        if one.leads_to is None
        and one.episode_id is None
        and one.observation_id in read
        and (any(_restates(other, one) for other in candidates) or not _stays(fact, one))
    }
    evidence = tuple(
        one for one in fact.evidence if (one.leads_to or one.observation_id, one.fact) not in gone
    )
    return replace(fact, evidence=evidence) if evidence else None


def _stays(fact: Fact, evidence: FactEvidence) -> bool:
    wished = fact.category is Category.GUIDELINE and wish(evidence.value) >= SURE_WISH
    return wished or has_cue(evidence.value, "care")


def _restates(candidate: FactCandidate, evidence: FactEvidence) -> bool:
    mine = candidate.evidence
    same = mine.observation_id == evidence.observation_id
    return same and mine.start < evidence.end and evidence.start < mine.end

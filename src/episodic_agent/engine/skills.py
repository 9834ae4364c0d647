"""The verbs about skills: list and find them, show one, say how using it went, forget it."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final
from uuid import UUID

from episodic_agent.core import ranking
from episodic_agent.core.identity import decision_id, uuid7
from episodic_agent.core.interfaces import SKILLS, Transaction
from episodic_agent.core.skills import (
    KeptSkill,
    Skill,
    SkillKind,
    SkillState,
    after_use,
    forgotten,
    present_confidence,
)
from episodic_agent.core.skills.keeping import DECISION, POLICY
from episodic_agent.engine.given import aware, counted, tidy
from episodic_agent.engine.matching import matches
from episodic_agent.engine.parts import Parts
from episodic_agent.engine.scoped import Scoped
from episodic_agent.errors import InvalidInput, NotFound, ProviderError
from episodic_agent.schemas import Decision, Json, Vector

USED: Final = "skill_use"
SUCCEEDED, FAILED = "success", "failure"
DIGITS: Final = 6
RANDOM_BITS: Final = 74  # of a UUIDv7
NAMED: Final = 10  # skills an error message names


@dataclass(frozen=True, slots=True)
class SkillCard:
    """A skill as it is shown: `confidence` is today's, idle time taken off; `score` is how well it answers.

    `decision` is the verdict that created it. Cards of a list carry neither it nor the evidence.
    """

    id: UUID
    skill: Skill
    confidence: float
    created_at: datetime
    score: float = 0.0
    decision: Decision | None = None

    @property
    def record(self) -> Mapping[str, Json]:
        """Return it as plain JSON, with seed 002's field names and what uses left."""
        return {
            "id": str(self.id),
            **self.skill.as_record(),
            "confidence": round(self.confidence, 4),
            "initial_confidence": round(self.skill.initial, 4),
            "uses": self.skill.uses,
            "successes": self.skill.successes,
            "validation": self.skill.validation,
            "checks": dict(self.skill.checks),
            "created_at": self.created_at.isoformat(),
        }


def card_of(kept: KeptSkill, now: datetime, score: float = 0.0) -> SkillCard:
    """Return the card of a skill as it stands at a time."""
    sure = present_confidence(kept.skill, now)
    return SkillCard(kept.id, kept.skill, sure, kept.created_at, round(score, DIGITS))


def find_skill(tx: Transaction, name: str) -> KeptSkill:
    """Return a skill by its name in any case, or its id; NotFound names what there is."""
    with suppress(ValueError):
        found = tx.skills.get(UUID(name))
        if found is not None and found.state is SkillState.ACTIVE:
            return found
    active = tx.skills.list(state=SkillState.ACTIVE)
    for kept in active:
        if kept.skill.name.casefold() == name.strip().casefold():
            return kept
    known = "; ".join(kept.skill.name for kept in active[:NAMED]) or "none yet"
    raise NotFound(f"no skill {name!r} in this memory; skills: {known}")


def use(tx: Transaction, name: str, at: datetime, decision: UUID, *, success: bool) -> KeptSkill:
    """Write down that a skill was used, well or not, and what that makes of its confidence."""
    before = find_skill(tx, name)
    kept = replace(before, skill=after_use(before.skill, success, at))
    features = {"before": before.skill.confidence, "uses": kept.skill.uses, "successes": kept.skill.successes}
    tx.episodes.decide(
        Decision(
            id=decision,
            type=USED,
            at=at,
            subject=kept.id,
            features={name: float(value) for name, value in features.items()},
            score=kept.skill.confidence,
            threshold=0.0,
            verdict=SUCCEEDED if success else FAILED,
            policy_version=POLICY,
        )
    )
    return tx.skills.put(kept)


def forget(tx: Transaction, name: str) -> KeptSkill:
    """Take a skill away, its words and vectors with it; neither its pattern nor its turns bring it back."""
    kept = find_skill(tx, name)
    tx.skills.put(forgotten(kept))
    tx.index.drop(SKILLS, [kept.number])
    return kept


def best(
    tx: Transaction, parts: Parts, query: ranking.Query, vector: Vector | None
) -> Sequence[tuple[KeptSkill, float]]:
    """Return the skills that share words or meaning with a query, best first, with scores in [0, 1]."""
    refs, scores = matches(tx, parts, SKILLS, query, vector)
    found = tx.skills.by_numbers(refs.tolist())
    rows = [
        (found[int(ref)], float(score)) for ref, score in zip(refs, scores, strict=True) if int(ref) in found
    ]
    rows.sort(key=lambda row: (-round(row[1], DIGITS), row[0].created_at, row[0].id))
    return rows


class SkillVerbs(Scoped):
    """The verbs of `Memory` about skills."""

    def skills(
        self,
        query: str | None = None,
        *,
        kind: "SkillKind | str | None" = None,
        limit: int = 20,
        user_id: str | None = None,
        now: datetime | None = None,
    ) -> list[SkillCard]:
        """Return skills: those that answer a query, best first, else the surest first.

        A query is matched by words and by meaning. Raises InvalidInput for a blank query or an unknown kind.
        """
        wanted, at = _kind(kind), aware(now) or self._parts.clock()
        most = counted("limit", limit)
        if query is None:
            with self._read(user_id) as tx:
                cards = [card_of(kept, at) for kept in tx.skills.list(state=SkillState.ACTIVE)]
            cards.sort(key=lambda card: (-round(card.confidence, DIGITS), card.skill.name, card.id))
        else:
            cards = self._answering(query, user_id, at)
        return [card for card in cards if wanted in (None, card.skill.kind)][:most]

    def skill(
        self, name: "str | UUID", *, user_id: str | None = None, now: datetime | None = None
    ) -> SkillCard:
        """Return one skill by its name or id, with the turns that show it and the verdict that created it."""
        at = aware(now) or self._parts.clock()
        with self._read(user_id) as tx:
            kept = find_skill(tx, tidy(name) or "")
            whole = replace(kept, skill=replace(kept.skill, evidence=tuple(tx.skills.evidence(kept.id))))
            decision = tx.episodes.decision(decision_id(kept.id, DECISION))
            return replace(card_of(whole, at), decision=decision)

    def skill_used(
        self, name: "str | UUID", success: bool, *, at: datetime | None = None, user_id: str | None = None
    ) -> SkillCard:
        """Say that a skill was used, and whether it served; its confidence follows (docs/skills.md)."""
        moment = aware(at) or self._parts.clock()
        decision = uuid7(self._parts.clock(), self._parts.entropy(RANDOM_BITS))
        with self._parts.store.begin(self._known(user_id)) as tx:
            return card_of(use(tx, tidy(name) or "", moment, decision, success=success), moment)

    def forget_skill(self, name: "str | UUID", *, user_id: str | None = None) -> SkillCard:
        """Forget a skill for good, and return what it was; what was observed stays."""
        with self._parts.store.begin(self._known(user_id)) as tx:
            return card_of(forget(tx, tidy(name) or ""), self._parts.clock())

    def _answering(self, text: str, user_id: str | None, at: datetime) -> list[SkillCard]:
        if not isinstance(text, str) or not text.strip():
            raise InvalidInput("the query is empty; ask something, or leave it out")
        scope = self._known(user_id)
        query = ranking.analyse(text, (), at, language=self._parts.language)
        vector = None
        if self._parts.embedder is not None:
            with suppress(ProviderError):  # words alone then answer
                vector = self._parts.embedder.embed([query.dense_text])[0]
        with self._parts.store.begin(scope, write=False) as tx:
            return [card_of(kept, at, score) for kept, score in best(tx, self._parts, query, vector)]


def _kind(kind: "SkillKind | str | None") -> SkillKind | None:
    if kind is None or isinstance(kind, SkillKind):
        return kind
    try:
        return SkillKind(kind.strip().lower())
    except (ValueError, AttributeError) as error:
        raise InvalidInput(f"no kind of skills {kind!r}; there are {', '.join(SkillKind)}") from error

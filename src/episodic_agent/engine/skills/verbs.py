"""The verbs about skills: list and find them, show one, say how using it went, forget it."""

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING, Final
from uuid import UUID

from episodic_agent.core.identity import decision_id, uuid7
from episodic_agent.core.skills.confidence import after_use, present_confidence
from episodic_agent.core.skills.keeping import DECISION, POLICY, erased
from episodic_agent.engine.arguments import aware, clean_name, counted
from episodic_agent.engine.deps import Deps
from episodic_agent.engine.scoped import RoomOf, Scoped
from episodic_agent.engine.trace.acts import acts
from episodic_agent.errors import InvalidInput, NotFound, ProviderError
from episodic_agent.lazily import module
from episodic_agent.protocols import SKILLS, Transaction, query_vector, stored_decision
from episodic_agent.schemas import Decision, Json, Vector
from episodic_agent.schemas.skills import Skill, SkillKind, SkillState, StoredSkill
from episodic_agent.showing import described

if TYPE_CHECKING:
    from episodic_agent.core import recall as ranking
    from episodic_agent.engine.recall import facts
else:
    facts = module("episodic_agent.engine.recall.facts")
    ranking = module("episodic_agent.core.recall")


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

    def __repr__(self) -> str:
        return described(
            self, self.skill.name, self.skill.kind.value, self.confidence, self.skill.description
        )

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


def card_of(skill: StoredSkill, now: datetime, score: float = 0.0) -> SkillCard:
    """Return the card of a skill as it stands at a time."""
    sure = present_confidence(skill.skill, now)
    return SkillCard(skill.id, skill.skill, sure, skill.created_at, round(score, DIGITS))


def find_skill(tx: Transaction, name: str) -> StoredSkill:
    """Return a skill by its name in any case, or its id; NotFound names what there is."""
    with suppress(ValueError):
        skill = next(iter(tx.knowledge.skills(ids=[UUID(name)])), None)
        if skill is not None and skill.state is SkillState.ACTIVE:
            return skill
    active = tx.knowledge.skills(state=SkillState.ACTIVE)
    for stored_skill in active:
        if _typed(stored_skill.skill.name) == _typed(name):
            return stored_skill
    known = "; ".join(kept.skill.name for kept in active[:NAMED]) or "none yet"
    raise NotFound(f"no skill {name!r} in this memory; skills: {known}")


def _typed(name: str) -> str:
    """Return a name as it is compared: what a keyboard lacks and how a sentence ends make no difference.

    >>> _typed("What's the weather in …?") == _typed("what's the weather in ...")
    True
    """
    return name.replace("...", "…").casefold().strip(" .?!")


def use(tx: Transaction, name: str, at: datetime, decision: UUID, *, success: bool) -> StoredSkill:
    """Write down that a skill was used, well or not, and what that makes of its confidence."""
    before = find_skill(tx, name)
    skill = replace(before, skill=after_use(before.skill, success, at))
    features = {
        "before": before.skill.confidence,
        "uses": skill.skill.uses,
        "successes": skill.skill.successes,
    }
    tx.knowledge.decide(
        Decision(
            id=decision,
            type=USED,
            at=at,
            subject=skill.id,
            features={name: float(value) for name, value in features.items()},
            score=skill.skill.confidence,
            threshold=0.0,
            verdict=SUCCEEDED if success else FAILED,
            policy_version=POLICY,
        )
    )
    return tx.knowledge.put_skill(skill)


def erase(tx: Transaction, name: str) -> StoredSkill:
    """Take a skill away, its words and vectors with it; neither its pattern nor its turns bring it back."""
    skill = find_skill(tx, name)
    tx.knowledge.put_skill(erased(skill))
    tx.index.drop(SKILLS, [skill.number])
    return skill


def best(
    tx: Transaction, deps: Deps, query: "ranking.Query", vector: Vector | None
) -> Sequence[tuple[StoredSkill, float]]:
    """Return the skills that share words or meaning with a query, best first, with scores in [0, 1]."""
    refs, scores = facts.matches(tx, deps, SKILLS, query, vector)
    skills = {kept.number: kept for kept in tx.knowledge.skills(numbers=refs.tolist())}
    rows = [
        (skills[int(ref)], float(score))
        for ref, score in zip(refs, scores, strict=True)
        if int(ref) in skills
    ]
    rows.sort(key=lambda row: (-round(row[1], DIGITS), row[0].created_at, row[0].id))
    return rows


@acts("skills")
class SkillRoom(RoomOf):
    """What a user's agent has learnt to do."""

    def __init__(self, at: Scoped) -> None:
        self._at = at
        self._deps = at.deps

    def list(
        self,
        query: str | None = None,
        *,
        kind: "SkillKind | str | None" = None,
        limit: int = 20,
        now: datetime | None = None,
    ) -> Sequence[SkillCard]:
        """Return skills: those that answer a query, best first, else the surest first.

        A query is matched by words and by meaning. Raises InvalidInput for a blank query or an unknown kind.
        """
        requested_kind, at = _kind(kind), aware(now) or self._deps.clock()
        most = counted("limit", limit)
        if query is None:
            with self._at.read() as tx:
                matching_cards = [card_of(kept, at) for kept in tx.knowledge.skills(state=SkillState.ACTIVE)]
            matching_cards.sort(key=lambda card: (-round(card.confidence, DIGITS), card.skill.name, card.id))
            cards: Iterable[SkillCard] = matching_cards
        else:
            cards = self._answering(query, at)
        return [card for card in cards if requested_kind in (None, card.skill.kind)][:most]

    def get(self, name: "str | UUID", *, now: datetime | None = None) -> SkillCard:
        """Return one skill by its name or id, with the turns that show it and the verdict that created it."""
        at = aware(now) or self._deps.clock()
        with self._at.read() as tx:
            skill = find_skill(tx, clean_name(name) or "")
            full_skill = replace(
                skill, skill=replace(skill.skill, evidence=tuple(tx.knowledge.evidence(skill.id)))
            )
            decision = stored_decision(tx, decision_id(skill.id, DECISION))
            return replace(card_of(full_skill, at), decision=decision)

    def used(self, name: "str | UUID", success: bool, *, at: datetime | None = None) -> SkillCard:
        """Say that a skill was used and whether it served; its confidence follows (docs/chains.md#skills)."""
        moment = aware(at) or self._deps.clock()
        decision = uuid7(self._deps.clock(), self._deps.entropy(RANDOM_BITS))
        with self._at.write() as tx:
            return card_of(use(tx, clean_name(name) or "", moment, decision, success=success), moment)

    def delete(self, name: "str | UUID") -> SkillCard:
        """Forget a skill for good, and return what it was; what was observed stays."""
        with self._at.write() as tx:
            return card_of(erase(tx, clean_name(name) or ""), self._deps.clock())

    def _answering(self, text: str, at: datetime) -> Iterable[SkillCard]:
        if not isinstance(text, str) or not text.strip():
            raise InvalidInput("the query is empty; ask something, or leave it out")
        scope = self._at.known()
        query = ranking.analyse(text, (), at, language=self._deps.language)
        vector = None
        if self._deps.embedder is not None:
            with suppress(ProviderError):  # words alone then answer
                vector = query_vector(self._deps.embedder, query.dense_text)
        with self._deps.store.begin(scope, write=False) as tx:
            return [card_of(kept, at, score) for kept, score in best(tx, self._deps, query, vector)]


def _kind(kind: "SkillKind | str | None") -> SkillKind | None:
    if kind is None or isinstance(kind, SkillKind):
        return kind
    try:
        return SkillKind(kind.strip().lower())
    except (ValueError, AttributeError) as error:
        raise InvalidInput(f"no kind of skills {kind!r}; there are {', '.join(SkillKind)}") from error

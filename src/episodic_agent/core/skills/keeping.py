"""What a memory does with what mining found: new skills, known ones that grow, patterns that are none yet.

Mining looks at a window of episodes. A pattern that is not sure enough is kept as a candidate with the turns
it was seen in, so that its count goes on where the window ends. A skill that was forgotten is kept without
its words, so that neither its pattern nor its turns bring it back.
"""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from hashlib import blake2b
from typing import Final
from uuid import UUID

from episodic_agent.core.identity import decision_id
from episodic_agent.core.skills.confidence import THRESHOLD, initial_confidence
from episodic_agent.core.skills.mining import CHECKS, SAME_TURNS, seen_again
from episodic_agent.schemas import Decision
from episodic_agent.schemas.skills import Skill, SkillKind, SkillState, StoredSkill, TurnRef

POLICY: Final = "skills-1"
DECISION: Final = "skill"
CREATED, REJECTED = "created", "rejected"
_MOST_CANDIDATES: Final = 200
_UNSURE: Final = 0.05  # a score nearer the threshold is marked as uncertain
_REMAINS: Final = ("frequent", "spread", "lasting", "varied")  # checks that more occurrences cannot undo
_DIGITS: Final = 9
_DONE, _ASKED = "done:", "asked:"

Shown = Mapping[TurnRef, Sequence[UUID]]
Named = Callable[[str], UUID]


@dataclass(frozen=True, slots=True)
class Change:
    """A skill as it is to be written, and the turns its evidence gains; `created`: it was none before."""

    skill: StoredSkill
    turns: tuple[TurnRef, ...]
    created: bool = False


def pattern_of(skill: Skill) -> str:
    """Return what tells a mined pattern from others, as a hash that may outlive its words.

    Of tool calls it is their names in order, arguments may vary; of requests the words they share.

    >>> one = Skill("book", "", SkillKind.PROCEDURAL, ("find(q=…)", "book(id from before)"))
    >>> pattern_of(one) == pattern_of(replace(one, steps=("find(q=Rome)", "book"), description="anything"))
    True
    """
    done = skill.kind is SkillKind.PROCEDURAL
    parts = [step.partition("(")[0] for step in skill.steps] if done else [skill.name]
    return f"{_DONE if done else _ASKED}{blake2b(json.dumps(parts).encode(), digest_size=16).hexdigest()}"


def changes(
    skills: Iterable[Skill], known: Sequence[StoredSkill], shown: Shown, named: Named, now: datetime
) -> list[Change]:
    """Return what to write of what mining found, surest first; the same findings again change nothing.

    `known` are all kept ones, `shown` what found turns show already; `named` gives a new pattern its id.
    """
    by_pattern = {kept.pattern: kept for kept in known}
    taking = {kept.id for kept in known if kept.state is not SkillState.CANDIDATE}
    taken = {turn for turn, ids in shown.items() if not taking.isdisjoint(ids)}
    made: list[Change] = []
    for this_skill in skills:
        pattern = pattern_of(this_skill)
        skill = by_pattern.get(pattern) or _drifted(this_skill, known, shown)
        change = None
        if skill is not None and skill.state is SkillState.ACTIVE:
            change = _grown(skill, this_skill, shown)
        elif skill is None or skill.state is SkillState.CANDIDATE:
            if sum(turn in taken for turn in this_skill.evidence) >= SAME_TURNS * len(this_skill.evidence):
                continue  # a surer one rests on these turns
            new = StoredSkill(
                named(pattern), pattern, SkillState.CANDIDATE, replace(this_skill, frequency=0), now
            )
            change = _judged(skill or new, this_skill, shown)
        if change is not None:
            made.append(change)
            by_pattern[pattern] = change.skill
            if change.created:
                taken.update(this_skill.evidence)
    return made


def _drifted(skill: Skill, known: Sequence[StoredSkill], shown: Shown) -> StoredSkill | None:
    """Return the known request that rests on most of these turns: the words requests share may change."""
    if skill.kind is SkillKind.PROCEDURAL:
        return None
    for stored_skill in known:
        if stored_skill.pattern.startswith(_ASKED):  # a model may have changed its kind
            shared = sum(stored_skill.id in shown.get(turn, ()) for turn in skill.evidence)
            if shared >= SAME_TURNS * len(skill.evidence):
                return stored_skill
    return None


def _new_turns(stored_skill: StoredSkill, skill: Skill, shown: Shown) -> tuple[TurnRef, ...]:
    return tuple(turn for turn in skill.evidence if stored_skill.id not in shown.get(turn, ()))


def _grown(stored_skill: StoredSkill, skill: Skill, shown: Shown) -> Change | None:
    turns = _new_turns(stored_skill, skill, shown)
    if not turns:
        return None
    grown = seen_again(stored_skill.skill, replace(skill, evidence=turns))
    grown = replace(grown, evidence=(), frequency=stored_skill.skill.frequency + len(turns))
    return Change(replace(stored_skill, skill=grown), turns)


def _judged(stored_skill: StoredSkill, matching_skill: Skill, shown: Shown) -> Change | None:
    """Return a candidate with what was found of it now, a skill where that makes it sure enough."""
    turns = _new_turns(stored_skill, matching_skill, shown)
    count, before = (
        stored_skill.skill.frequency + len(turns),
        stored_skill.skill.checks if stored_skill.number else {},
    )
    checks = {
        name: bool(matching_skill.checks.get(name)) or (name in _REMAINS and bool(before.get(name)))
        for name in CHECKS
    }
    if not turns and checks == before:
        return None
    validation = sum(checks.values()) / len(checks)
    sure = initial_confidence(count, validation)
    skill = replace(
        matching_skill,
        evidence=(),
        frequency=count,
        checks=checks,
        validation=validation,
        confidence=sure,
        initial=sure,
    )
    created = sure > THRESHOLD
    state = SkillState.ACTIVE if created else SkillState.CANDIDATE
    return Change(replace(stored_skill, skill=skill, state=state), turns, created)


def overflowing(known: Iterable[StoredSkill], most: int = _MOST_CANDIDATES) -> list[StoredSkill]:
    """Return the candidates to be given up where there are too many: the least sure, then the oldest."""
    waiting = [kept for kept in known if kept.state is SkillState.CANDIDATE]
    waiting.sort(key=lambda kept: (-kept.skill.confidence, -kept.created_at.timestamp(), kept.id))
    return waiting[most:]


def in_words_of(skill: Skill, other: Skill) -> Skill:
    """Return a skill in another's words: whatever a model may change of it."""
    return replace(
        skill,
        name=other.name,
        description=other.description,
        kind=other.kind,
        preconditions=other.preconditions,
        steps=other.steps,
        postconditions=other.postconditions,
        parameters=other.parameters,
        returns=other.returns,
    )


def erased(skill: StoredSkill) -> StoredSkill:
    """Return what is kept of a skill that was forgotten: its pattern, and none of its words."""
    old = skill.skill
    blank = Skill("", "", old.kind, (), frequency=old.frequency, uses=old.uses, successes=old.successes)
    return replace(skill, state=SkillState.DROPPED, skill=blank)


def verdict_on(stored_skill: StoredSkill, now: datetime) -> Decision:
    """Return the record of a pattern's verdict; it holds counts and checks, no words."""
    skill = stored_skill.skill
    score = initial_confidence(skill.frequency, skill.validation)
    features = {"count": float(skill.frequency), "validation": skill.validation}
    return Decision(
        id=decision_id(stored_skill.id, DECISION),
        type=DECISION,
        at=now,
        subject=stored_skill.id,
        features=features | {name: float(held) for name, held in skill.checks.items()},
        score=score,
        threshold=THRESHOLD,
        verdict=CREATED if score > THRESHOLD else REJECTED,
        policy_version=POLICY,
        confidence_label="UNCERTAIN" if abs(score - THRESHOLD) < _UNSURE else "HIGH",
        detail={"kind": skill.kind.value, "pattern": stored_skill.pattern},
    )


def follows(decision: Decision) -> bool:
    """Recompute a verdict on a pattern from its record (I6): validation, score and verdict."""
    features = decision.features
    held = [features[name] for name in CHECKS if name in features]
    if "count" not in features or not held:
        return False
    validation = sum(held) / len(held)
    score = initial_confidence(int(features["count"]), validation)
    verdict = CREATED if score > decision.threshold else REJECTED
    same = round(score - decision.score, _DIGITS) == 0 and validation == features.get("validation")
    return same and decision.verdict == verdict

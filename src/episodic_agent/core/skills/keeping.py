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
from episodic_agent.core.skill_records import KeptSkill, Skill, SkillKind, SkillState, TurnRef
from episodic_agent.core.skills.confidence import THRESHOLD, initial_confidence
from episodic_agent.core.skills.mining import CHECKS, SAME_TURNS, seen_again
from episodic_agent.schemas import Decision

POLICY: Final = "skills-1"
DECISION: Final = "skill"
CREATED, REJECTED = "created", "rejected"
_MOST_CANDIDATES: Final = 200
_UNSURE: Final = 0.05  # a score nearer the threshold is marked as uncertain
_STAYS: Final = ("frequent", "spread", "lasting", "varied")  # checks that more occurrences cannot undo
_DIGITS: Final = 9
_DONE, _ASKED = "done:", "asked:"

Shown = Mapping[TurnRef, Sequence[UUID]]
Named = Callable[[str], UUID]


@dataclass(frozen=True, slots=True)
class Change:
    """A skill as it is to be written, and the turns its evidence gains; `created`: it was none before."""

    kept: KeptSkill
    turns: tuple[TurnRef, ...]
    created: bool = False


def pattern_of(found: Skill) -> str:
    """Return what tells a mined pattern from others, as a hash that may outlive its words.

    Of tool calls it is their names in order, arguments may vary; of requests the words they share.

    >>> one = Skill("book", "", SkillKind.PROCEDURAL, ("find(q=…)", "book(id from before)"))
    >>> pattern_of(one) == pattern_of(replace(one, steps=("find(q=Rome)", "book"), description="anything"))
    True
    """
    done = found.kind is SkillKind.PROCEDURAL
    parts = [step.partition("(")[0] for step in found.steps] if done else [found.name]
    return f"{_DONE if done else _ASKED}{blake2b(json.dumps(parts).encode(), digest_size=16).hexdigest()}"


def changes(
    found: Iterable[Skill], known: Sequence[KeptSkill], shown: Shown, named: Named, now: datetime
) -> list[Change]:
    """Return what to write of what mining found, surest first; the same findings again change nothing.

    `known` are all kept ones, `shown` what found turns show already; `named` gives a new pattern its id.
    """
    by_pattern = {kept.pattern: kept for kept in known}
    taking = {kept.id for kept in known if kept.state is not SkillState.CANDIDATE}
    taken = {turn for turn, ids in shown.items() if not taking.isdisjoint(ids)}
    made: list[Change] = []
    for one in found:
        pattern = pattern_of(one)
        kept = by_pattern.get(pattern) or _drifted(one, known, shown)
        change = None
        if kept is not None and kept.state is SkillState.ACTIVE:
            change = _grown(kept, one, shown)
        elif kept is None or kept.state is SkillState.CANDIDATE:
            if sum(turn in taken for turn in one.evidence) >= SAME_TURNS * len(one.evidence):
                continue  # a surer one rests on these turns
            new = KeptSkill(named(pattern), pattern, SkillState.CANDIDATE, replace(one, frequency=0), now)
            change = _judged(kept or new, one, shown)
        if change is not None:
            made.append(change)
            by_pattern[pattern] = change.kept
            if change.created:
                taken.update(one.evidence)
    return made


def _drifted(found: Skill, known: Sequence[KeptSkill], shown: Shown) -> KeptSkill | None:
    """Return the known request that rests on most of these turns: the words requests share may change."""
    if found.kind is SkillKind.PROCEDURAL:
        return None
    for kept in known:
        if kept.pattern.startswith(_ASKED):  # a model may have changed its kind
            shared = sum(kept.id in shown.get(turn, ()) for turn in found.evidence)
            if shared >= SAME_TURNS * len(found.evidence):
                return kept
    return None


def _new_turns(kept: KeptSkill, found: Skill, shown: Shown) -> tuple[TurnRef, ...]:
    return tuple(turn for turn in found.evidence if kept.id not in shown.get(turn, ()))


def _grown(kept: KeptSkill, found: Skill, shown: Shown) -> Change | None:
    turns = _new_turns(kept, found, shown)
    if not turns:
        return None
    grown = seen_again(kept.skill, replace(found, evidence=turns))
    grown = replace(grown, evidence=(), frequency=kept.skill.frequency + len(turns))
    return Change(replace(kept, skill=grown), turns)


def _judged(kept: KeptSkill, found: Skill, shown: Shown) -> Change | None:
    """Return a candidate with what was found of it now, a skill where that makes it sure enough."""
    turns = _new_turns(kept, found, shown)
    count, before = kept.skill.frequency + len(turns), kept.skill.checks if kept.number else {}
    checks = {
        name: bool(found.checks.get(name)) or (name in _STAYS and bool(before.get(name))) for name in CHECKS
    }
    if not turns and checks == before:
        return None
    validation = sum(checks.values()) / len(checks)
    sure = initial_confidence(count, validation)
    skill = replace(
        found,
        evidence=(),
        frequency=count,
        checks=checks,
        validation=validation,
        confidence=sure,
        initial=sure,
    )
    created = sure > THRESHOLD
    state = SkillState.ACTIVE if created else SkillState.CANDIDATE
    return Change(replace(kept, skill=skill, state=state), turns, created)


def overflowing(known: Iterable[KeptSkill], most: int = _MOST_CANDIDATES) -> list[KeptSkill]:
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


def forgotten(kept: KeptSkill) -> KeptSkill:
    """Return what is kept of a skill that was forgotten: its pattern, and none of its words."""
    old = kept.skill
    blank = Skill("", "", old.kind, (), frequency=old.frequency, uses=old.uses, successes=old.successes)
    return replace(kept, state=SkillState.DROPPED, skill=blank)


def verdict_on(kept: KeptSkill, now: datetime) -> Decision:
    """Return the record of a pattern's verdict; it holds counts and checks, no words."""
    skill = kept.skill
    score = initial_confidence(skill.frequency, skill.validation)
    features = {"count": float(skill.frequency), "validation": skill.validation}
    return Decision(
        id=decision_id(kept.id, DECISION),
        type=DECISION,
        at=now,
        subject=kept.id,
        features=features | {name: float(held) for name, held in skill.checks.items()},
        score=score,
        threshold=THRESHOLD,
        verdict=CREATED if score > THRESHOLD else REJECTED,
        policy_version=POLICY,
        confidence_label="UNCERTAIN" if abs(score - THRESHOLD) < _UNSURE else "HIGH",
        detail={"kind": skill.kind.value, "pattern": kept.pattern},
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

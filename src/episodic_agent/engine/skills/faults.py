"""What `doctor` checks of skills: numbers in range, evidence that exists, verdicts that follow (I6)."""

from collections.abc import Iterator, Sequence
from typing import Final

from episodic_agent.core.identity import decision_id
from episodic_agent.core.language import plural
from episodic_agent.core.skills.keeping import DECISION, follows
from episodic_agent.protocols import Transaction, ref_of, stored_decision
from episodic_agent.schemas.skills import SkillState, StoredSkill, TurnRef

_PAGE: Final = 512


def skill_faults(tx: Transaction) -> Iterator[tuple[str, str]]:
    """Yield (invariant, message) for everything that is wrong with the skills of a scope."""
    for stored_skill in tx.knowledge.skills():
        skill, named = stored_skill.skill, stored_skill.skill.name or str(stored_skill.id)
        if not (0.0 <= skill.confidence <= 1.0 and 0.0 <= skill.initial <= 1.0):
            yield "skills", f"skill {named!r}: its confidence {skill.confidence} is not between 0 and 1"
        if not 0 <= skill.successes <= skill.uses:
            yield "skills", f"skill {named!r}: {skill.successes} of {plural(skill.uses, 'use')} succeeded"
        turns = tx.knowledge.evidence(stored_skill.id)
        missing = len(turns) - sum(_there(tx, turns[n : n + _PAGE]) for n in range(0, len(turns), _PAGE))
        if missing:
            yield "skills", f"skill {named!r}: {missing} of {plural(len(turns), 'turn')} behind it missing"
        yield from _verdict(tx, stored_skill)


def _there(tx: Transaction, turns: Sequence[TurnRef]) -> int:
    numbers = {thread: tx.threads.number(thread) for thread in {turn.thread_id for turn in turns}}
    return len(tx.observations.get([ref_of(numbers[turn.thread_id], turn.seq) for turn in turns]))


def _verdict(tx: Transaction, skill: StoredSkill) -> Iterator[tuple[str, str]]:
    decision = stored_decision(tx, decision_id(skill.id, DECISION))
    if decision is None:
        yield "I6", f"skill {skill.skill.name!r} ({skill.id}) has no decision"
    elif not follows(decision):
        yield "I6", f"the verdict on skill {skill.skill.name!r} does not follow from its record"
    elif skill.state is SkillState.ACTIVE and decision.score <= decision.threshold:
        yield "I6", f"skill {skill.skill.name!r} is one though its score {decision.score} is not enough"

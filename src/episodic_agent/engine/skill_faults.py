"""What `doctor` checks of skills: numbers in range, evidence that exists, verdicts that follow (I6)."""

from collections.abc import Iterator, Sequence
from typing import Final

from episodic_agent.core.identity import decision_id
from episodic_agent.core.interfaces import Transaction, ref_of
from episodic_agent.core.skills import KeptSkill, SkillState, TurnRef, follows
from episodic_agent.core.skills.keeping import DECISION

_PAGE: Final = 512


def skill_faults(tx: Transaction) -> Iterator[tuple[str, str]]:
    """Yield (invariant, message) for everything that is wrong with the skills of a scope."""
    for kept in tx.skills.list():
        skill, named = kept.skill, kept.skill.name or str(kept.id)
        if not (0.0 <= skill.confidence <= 1.0 and 0.0 <= skill.initial <= 1.0):
            yield "skills", f"skill {named!r}: its confidence {skill.confidence} is not between 0 and 1"
        if not 0 <= skill.successes <= skill.uses:
            yield "skills", f"skill {named!r}: {skill.successes} of {skill.uses} uses succeeded"
        turns = tx.skills.evidence(kept.id)
        missing = len(turns) - sum(_there(tx, turns[n : n + _PAGE]) for n in range(0, len(turns), _PAGE))
        if missing:
            yield "skills", f"skill {named!r}: {missing} of the {len(turns)} turns that show it do not exist"
        yield from _verdict(tx, kept)


def _there(tx: Transaction, turns: Sequence[TurnRef]) -> int:
    numbers = {thread: tx.threads.number(thread) for thread in {turn.thread_id for turn in turns}}
    return len(tx.threads.by_refs([ref_of(numbers[turn.thread_id], turn.seq) for turn in turns]))


def _verdict(tx: Transaction, kept: KeptSkill) -> Iterator[tuple[str, str]]:
    decision = tx.episodes.decision(decision_id(kept.id, DECISION))
    if decision is None:
        yield "I6", f"skill {kept.skill.name!r} ({kept.id}) has no decision"
    elif not follows(decision):
        yield "I6", f"the verdict on skill {kept.skill.name!r} does not follow from its record"
    elif kept.state is SkillState.ACTIVE and decision.score <= decision.threshold:
        yield "I6", f"skill {kept.skill.name!r} is one though its score {decision.score} is not enough"

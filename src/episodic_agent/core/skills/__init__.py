"""Skills: patterns that served again and again, and how sure one may be of them."""

from episodic_agent.core.skill_records import KeptSkill, Skill, SkillKind, SkillState, TurnRef
from episodic_agent.core.skills.confidence import (
    THRESHOLD,
    after_use,
    faded,
    initial_confidence,
    is_created,
    present_confidence,
    settled,
)
from episodic_agent.core.skills.keeping import (
    Change,
    changes,
    follows,
    forgotten,
    in_words_of,
    overflowing,
    pattern_of,
    verdict_on,
)
from episodic_agent.core.skills.mining import CHECKS, Mined, distinct, mine, seen_again
from episodic_agent.core.skills.requests import Exchange, Recurring, exchanges_of, recurring
from episodic_agent.core.skills.sequences import (
    Action,
    Bounds,
    Course,
    Occurrence,
    Pattern,
    actions_of,
    frequent,
)

__all__ = [
    "CHECKS",
    "THRESHOLD",
    "Action",
    "Bounds",
    "Change",
    "Course",
    "Exchange",
    "KeptSkill",
    "Mined",
    "Occurrence",
    "Pattern",
    "Recurring",
    "Skill",
    "SkillKind",
    "SkillState",
    "TurnRef",
    "actions_of",
    "after_use",
    "changes",
    "distinct",
    "exchanges_of",
    "faded",
    "follows",
    "forgotten",
    "frequent",
    "in_words_of",
    "initial_confidence",
    "is_created",
    "mine",
    "overflowing",
    "pattern_of",
    "present_confidence",
    "recurring",
    "seen_again",
    "settled",
    "verdict_on",
]

"""Skills: patterns that served again and again, and how sure one may be of them."""

from episodic_agent.core.skills.confidence import (
    THRESHOLD,
    after_use,
    faded,
    initial_confidence,
    is_created,
    present_confidence,
    settled,
)
from episodic_agent.core.skills.mining import CHECKS, Mined, distinct, mine, seen_again
from episodic_agent.core.skills.records import Skill, SkillKind, TurnRef
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
    "Course",
    "Exchange",
    "Mined",
    "Occurrence",
    "Pattern",
    "Recurring",
    "Skill",
    "SkillKind",
    "TurnRef",
    "actions_of",
    "after_use",
    "distinct",
    "exchanges_of",
    "faded",
    "frequent",
    "initial_confidence",
    "is_created",
    "mine",
    "present_confidence",
    "recurring",
    "seen_again",
    "settled",
]

"""Find patterns that served again and again, and say how sure one may be of them (seed 002, section 5.3).

`mine` looks through courses of actions and requests for what recurs: tool calls or an agent's steps in the
same order, and requests answered alike. `changes` joins that with what is known from earlier windows;
`confidence` holds the arithmetic.

**Rules of the room.**
1. Deterministic and of bounded cost; no model. One may word a skill afterwards, and changes nothing counted.
2. Eight checks decide with the count: a skill is created above .7, which takes fifteen occurrences at the
   least.
3. A turn counts once, however many episodes show it; patterns on the same turns are one, the surer stands.
4. What is not sure enough stays a candidate with its turns; its count goes on in the next window.
5. What was forgotten is kept without words, so that neither its pattern nor its turns bring it back.
6. A verdict is recomputed from its record (I6).

**To add** a kind of pattern, return it from `mining.py` with its turns and steps; the checks then apply to
it. A check is a number in [0, 1]; adding one changes every confidence, so it needs new vectors in the tests.
"""

from typing import TYPE_CHECKING

from episodic_agent.lazily import names_from

if TYPE_CHECKING:
    from episodic_agent.core.skills.confidence import (
        THRESHOLD,
        after_use,
        faded,
        initial_confidence,
        is_created,
        present_confidence,
        settled,
    )
    from episodic_agent.core.skills.courses import courses_of
    from episodic_agent.core.skills.keeping import (
        Change,
        changes,
        erased,
        follows,
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
        has_actions,
    )
    from episodic_agent.schemas.skills import Skill, SkillKind, SkillState, StoredSkill, TurnRef
else:
    __getattr__ = names_from(
        __name__,
        {
            "episodic_agent.schemas.skills": "StoredSkill Skill SkillKind SkillState TurnRef",
            "confidence": (
                "THRESHOLD after_use faded initial_confidence is_created present_confidence settled"
            ),
            "courses": "courses_of",
            "keeping": "Change changes follows erased in_words_of overflowing pattern_of verdict_on",
            "mining": "CHECKS Mined distinct mine seen_again",
            "requests": "Exchange Recurring exchanges_of recurring",
            "sequences": "Action Bounds Course Occurrence Pattern actions_of frequent has_actions",
        },
    )

__all__ = [
    "CHECKS",
    "THRESHOLD",
    "Action",
    "Bounds",
    "Change",
    "Course",
    "Exchange",
    "Mined",
    "Occurrence",
    "Pattern",
    "Recurring",
    "Skill",
    "SkillKind",
    "SkillState",
    "StoredSkill",
    "TurnRef",
    "actions_of",
    "after_use",
    "changes",
    "courses_of",
    "distinct",
    "erased",
    "exchanges_of",
    "faded",
    "follows",
    "frequent",
    "has_actions",
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

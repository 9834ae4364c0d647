"""Skills as columns and back: what both stores write of one, in the order of their statements."""

from typing import Any, Final

from episodic_agent.schemas.skills import Skill, SkillKind, SkillState, StoredSkill
from episodic_agent.stores.rows import (
    from_json,
    id_of,
    optional_microseconds,
    optional_time,
    readable,
    to_json,
    to_microseconds,
    to_time,
)

CHANGING: Final = (
    "pattern, state, name, kind, body, confidence, initial, frequency, uses, successes, last_used, created_at"
)
SKILL: Final = f"id, number, {CHANGING}"
_LISTS: Final = ("preconditions", "steps", "postconditions", "parameters", "examples")


def skill_columns(stored_skill: StoredSkill) -> tuple[Any, ...]:
    """Return the `CHANGING` columns of a skill."""
    skill = stored_skill.skill
    body = {
        "description": skill.description,
        "returns": skill.returns,
        "validation": skill.validation,
        "checks": skill.checks,
        **{name: getattr(skill, name) for name in _LISTS},
    }
    words = (stored_skill.pattern, stored_skill.state.value, skill.name, skill.kind.value, to_json(body))
    numbers = (skill.confidence, skill.initial, skill.frequency, skill.uses, skill.successes)
    return *words, *numbers, optional_microseconds(skill.last_used), to_microseconds(stored_skill.created_at)


@readable
def skill_of(columns: tuple[Any, ...]) -> StoredSkill:
    """Build a skill, without its evidence, from the `SKILL` columns."""
    identity, number, pattern, state, name, kind, text, *counts, last_used, created = columns
    confidence, initial, frequency, uses, successes = counts
    body = from_json(text)
    skill = Skill(
        name=name,
        description=body["description"],
        kind=SkillKind(kind),
        returns=body["returns"],
        validation=body["validation"],
        checks=body["checks"],
        confidence=confidence,
        initial=initial,
        frequency=frequency,
        uses=uses,
        successes=successes,
        last_used=optional_time(last_used),
        **{name: tuple(body[name]) for name in _LISTS},
    )
    return StoredSkill(id_of(identity), pattern, SkillState(state), skill, to_time(created), number)

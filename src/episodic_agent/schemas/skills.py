"""What a skill is: a pattern that served again and again, where it was seen, and how sure it is."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from uuid import UUID

from episodic_agent.schemas import Json
from episodic_agent.showing import described


class SkillKind(StrEnum):
    """What a skill is about (seed 002): doing, deciding, asking for something, or how to answer."""

    PROCEDURAL = "procedural"
    DECISION = "decision"
    INTERACTION = "interaction"
    COMMUNICATION = "communication"


class SkillState(StrEnum):
    """Where a pattern stands: not sure enough yet, a skill, or forgotten on request for good."""

    CANDIDATE = "candidate"
    ACTIVE = "active"
    DROPPED = "dropped"


@dataclass(frozen=True, slots=True, order=True)
class TurnRef:
    """A turn that shows a skill: its thread and the seq it begins at."""

    thread_id: UUID
    seq: int


@dataclass(frozen=True, slots=True)
class Skill:
    """A reusable pattern drawn from episodes (seed 002).

    `steps` are in order, `parameters` are what differs from time to time, `examples` are stored requests.
    `frequency` counts the times it was seen, `validation` is the share of checks it passed. `initial` is the
    confidence it was created with; `uses` and `successes` count since then. `evidence` are its source turns.
    """

    name: str
    description: str
    kind: SkillKind
    steps: tuple[str, ...]
    preconditions: tuple[str, ...] = ()
    postconditions: tuple[str, ...] = ()
    parameters: tuple[str, ...] = ()
    returns: str = ""
    examples: tuple[str, ...] = ()
    confidence: float = 0.0
    frequency: int = 0
    last_used: datetime | None = None
    evidence: tuple[TurnRef, ...] = ()
    validation: float = 0.0
    checks: Mapping[str, bool] = field(default_factory=dict)
    initial: float = 0.0
    uses: int = 0
    successes: int = 0

    def __repr__(self) -> str:
        return described(self, self.name, self.kind.value, self.description, f"seen {self.frequency}×")

    def as_record(self) -> Mapping[str, Json]:
        """Return the skill as plain JSON, with seed 002's field names."""
        return {
            "name": self.name,
            "description": self.description,
            "kind": self.kind.value,
            "preconditions": list(self.preconditions),
            "steps": list(self.steps),
            "postconditions": list(self.postconditions),
            "parameters": list(self.parameters),
            "returns": self.returns,
            "examples": list(self.examples),
            "confidence": round(self.confidence, 4),
            "frequency": self.frequency,
            "last_used": self.last_used.isoformat() if self.last_used else None,
            "evidence": [{"thread_id": str(e.thread_id), "seq": e.seq} for e in self.evidence],
        }


@dataclass(frozen=True, slots=True)
class StoredSkill:
    """A skill, or what may become one, as a memory keeps it.

    `pattern` tells what was mined apart, whatever it is called; `number` is its reference in the index, given
    by the store (0: not yet). Its evidence is kept beside it: `skill.evidence` is empty unless asked for.
    """

    id: UUID
    pattern: str
    state: SkillState
    skill: Skill
    created_at: datetime
    number: int = 0

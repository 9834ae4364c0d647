"""A decision with the evidence it was made from."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final
from uuid import UUID

from episodic_agent.schemas.values import Json
from episodic_agent.showing import described

PERSON: Final = "person"  # the type of a decision about names: whose they are
PEOPLE: Final = UUID("70656f70-6c65-5000-8000-000000000000")  # what all decisions about names are about


@dataclass(frozen=True, slots=True)
class Decision:
    """The record of an automatic verdict; from it the verdict can be recomputed (I6)."""

    id: UUID
    type: str
    at: datetime
    subject: UUID
    features: Mapping[str, float]
    score: float
    threshold: float
    verdict: str
    policy_version: str
    confidence_label: str = "HIGH"
    alternatives: Sequence[Mapping[str, Json]] = ()
    detail: Mapping[str, Json] = field(default_factory=dict)
    outcome: str | None = None

    def __repr__(self) -> str:
        return described(
            self, self.at, self.type, self.verdict, f"score {self.score:.2f} of {self.threshold:.2f}", self.id
        )

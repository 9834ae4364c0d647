"""Later work: what waits, what it took, what language models cost."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from uuid import UUID

from episodic_agent.schemas.values import Json


@dataclass(frozen=True, slots=True)
class Job:
    """Later work, written in the transaction of its cause; unique per (kind, key) while waiting."""

    id: UUID
    kind: str
    key: str
    serial: str
    run_after: datetime
    attempts: int = 0
    state: str = "waiting"
    token: int = 0
    last_error: str | None = None


@dataclass(frozen=True, slots=True)
class ModelUse:
    """What calls of a language model cost on one day (UTC), by stage and model.

    `calls` counts failed ones too. Of these, `refused` are answers that came and could not be used, `late`
    those that had not come when nobody waited any longer; tokens are the server's, or estimated where it does
    not tell; `seconds` is how long answers were waited for, together.
    """

    day: date
    stage: str
    model: str
    calls: int = 0
    failures: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    seconds: float = 0.0
    refused: int = 0
    late: int = 0

    @property
    def used(self) -> int:
        """Return how many calls brought something that was used."""
        return self.calls - self.failures

    @property
    def tokens(self) -> int:
        """Return what a budget counts: tokens of prompts and answers."""
        return self.prompt_tokens + self.completion_tokens


@dataclass(frozen=True, slots=True)
class WorkRow:
    """What one piece of work for turns took, as it is kept: which observations it was for, when, how long.

    `first_ref..last_ref` lie in one thread, at most 256 of them; `body` is the packed span.
    """

    first_ref: int
    last_ref: int
    at: datetime
    name: str
    body: str


@dataclass(frozen=True, slots=True)
class Span:
    """Something that took time: its start and length in seconds, what is known of it, and what lay in it.

    `start` counts in ticks while it is recorded, from its root's beginning once it was packed.
    """

    name: str
    start: float
    seconds: float
    attributes: Mapping[str, Json] = field(default_factory=dict)
    children: Sequence["Span"] = ()

"""What the routes of seed 003 take and return, as their OpenAPI page shows it."""

from datetime import datetime
from typing import Annotated, Any
from uuid import UUID

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, StringConstraints

from episodic_agent.core.context.retrieved import Detail

Name = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=512)]


def _no_truth(value: object) -> object:
    """Refuse true and false where a number is asked for: they are no 1 and no 0."""
    if value is True or value is False:
        raise ValueError("true and false are no numbers")
    return value


Count = Annotated[int, BeforeValidator(_no_truth)]
NOBODY = "name whose memory it is: give conversation_id or user_id"


class Message(BaseModel):
    """One chat message; the time is milliseconds since 1970 or ISO 8601, now where it is left out."""

    role: Name
    content: str
    timestamp: Annotated[int | float | str | None, BeforeValidator(_no_truth)] = None
    id: Annotated[str | int | None, BeforeValidator(_no_truth)] = None
    name: str | None = None


class AddMessage(BaseModel):
    """A message of a conversation; `user_id` is whose memory it is, the conversation's own unless given."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "conversation_id": "ana-42",
                    "message": {"role": "user", "content": "I'm moving to Lisbon in May", "id": "m1"},
                }
            ]
        }
    )

    conversation_id: Name
    user_id: Name | None = None
    message: Message


class Accepted(BaseModel):
    """The message is kept, unless `accepted` is false: it was erased; `id` is the observation's."""

    accepted: bool = True
    id: UUID


class _AskingBody(BaseModel):
    conversation_id: Name | None = None
    user_id: Name | None = None


class Retrieve(_AskingBody):
    """A question to one conversation, or to all a user said."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [{"conversation_id": "ana-42", "query": "where is Ana moving?", "detail": "auto"}]
        }
    )

    query: str
    episodic_limit: Count | None = Field(default=None, description="Episodes, 1 to 100; 5 unless given.")
    limit: Count | None = Field(default=None, description="The same by its older name.")
    semantic_limit: Count = Field(default=20, description="Facts, 0 to 100.")
    detail: Detail = "auto"
    category: str | None = Field(default=None, description="Only facts of this category.")
    where: str | None = Field(
        default=None, description="Only episodes about this: tag=memory outcome=failure."
    )


class Recent(_AskingBody):
    """The newest episodes of one conversation, or of a user."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"conversation_id": "ana-42", "days_limit": 30, "limit": 10}]}
    )

    days_limit: Annotated[float | None, BeforeValidator(_no_truth)] = Field(
        default=None, ge=0, description="Only those that ended so lately."
    )
    limit: Count = Field(default=10, description="Episodes, 1 to 100.")
    where: str | None = Field(
        default=None, description="Only episodes about this: outcome=failure topic~billing."
    )


class EpisodeMessage(BaseModel):
    """One message of an episode."""

    role: str
    content: str
    timestamp: datetime


class EpisodeRecord(BaseModel):
    """An episode with the fields of seed 003; one that is still open has no summary and fades later."""

    id: UUID
    conversation_id: str
    messages: list[EpisodeMessage]
    title: str
    summary: str
    stability: float
    difficulty: float
    surprise: float
    start_at: datetime
    end_at: datetime
    created_at: datetime
    last_reviewed_at: datetime
    consolidated_at: datetime | None


class RecalledEpisode(EpisodeRecord):
    """An episode with the score that ranks it in one answer."""

    score: float


class FactRecord(BaseModel):
    """A lasting statement with the episodes it rests on."""

    id: UUID
    conversation_id: str
    category: str
    fact: str
    keywords: list[str]
    source_episodic_ids: list[UUID]
    valid_at: datetime | None
    invalid_at: datetime | None
    score: float


class Retrieved(BaseModel):
    """Facts and episodes that answer a question."""

    semantic: list[FactRecord]
    episodic: list[RecalledEpisode]


class Problem(BaseModel):
    """An error as RFC 9457 writes it: `detail` names the remedy."""

    type: str = "about:blank"
    title: str
    status: int
    detail: str
    errors: list[dict[str, Any]] | None = None

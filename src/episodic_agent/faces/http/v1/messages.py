"""Messages of a user: a batch is kept, exactly once, and durable when it is acknowledged."""

import asyncio
from collections.abc import Sequence
from functools import cache
from time import monotonic
from typing import Annotated, Any, Final
from urllib.parse import quote
from uuid import UUID

from fastapi import APIRouter, Body, Depends, Header, Path, Query, Request, Response
from pydantic import BaseModel, ConfigDict, Field
from starlette.concurrency import run_in_threadpool

from episodic_agent.engine.jobs.operations import RUNNING, Operation
from episodic_agent.engine.user import UserMemory
from episodic_agent.faces.http.v1.asking import PREFIX, adding_to, answered, name_in_path, needs, v1_router
from episodic_agent.faces.http.v1.nouns import noun_model
from episodic_agent.schemas import Receipt
from episodic_agent.schemas.keys import Role
from episodic_agent.showing import plain

MOST_MESSAGES: Final = 1000
PATIENCE: Final = 10.0  # seconds a caller waits for what other processes do
EVERY: Final = 0.1  # seconds between looks at how far they are


class NewMessage(BaseModel):
    """A message: `content` and what else is known of it. Other fields are kept with it.

    A step of an agent has `kind` step, and any of action, location, objects, events, outcome, content.
    """

    model_config = ConfigDict(extra="allow")

    content: Any = Field(
        default=None,
        description="The text, or parts of it as OpenAI and Anthropic write them; `text` is read as well.",
    )
    kind: str | None = Field(default=None, description="message, tool or step.")
    role: str = Field(default="user", description="user, assistant, system, tool, or somebody's name.")
    name: str | None = None
    timestamp: str | float | None = Field(default=None, description="ISO 8601 or Unix time; else now.")
    id: str | int | None = Field(
        default=None, description="Your own id: again in its thread (or `source`) it adds nothing."
    )
    action: Any = Field(default=None, description="Of a step: what was done, as words or as a number.")
    location: Any = Field(default=None, description="Where it was: a name, or an object with a label.")
    objects: Any = Field(default=None, description="Of a step: with what, a text or a list.")
    events: list[Any] | None = Field(
        default=None, description="Of a step: what happened, texts, or objects with a type and a label."
    )
    outcome: str | bool | None = Field(default=None, description="Of a step: how it ended, or whether well.")
    reward: float | None = Field(default=None, description="Of a step: its reward.")


class NewMessages(BaseModel):
    """A batch of messages in order; all of them are kept, or none."""

    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={
            "examples": [
                {
                    "thread": "work",
                    "messages": [
                        {"role": "user", "content": "I'm moving to Lisbon in May", "id": "m1"},
                        {"role": "assistant", "content": "How exciting! Have you found a flat?"},
                    ],
                }
            ]
        },
    )

    messages: list[NewMessage] = Field(min_length=1, max_length=MOST_MESSAGES)
    thread: str | None = Field(default=None, description="Without it each joins the thread that fits.")
    channel: str | None = None
    source: str | None = None
    ttl: str | float | None = Field(default=None, description="Erased so long after its time: 30d.")
    expires_at: str | float | None = None


class MessageReceipt(BaseModel):
    """What was kept of one message; `added` is false where its id was known already.

    `state` is `open`, or `erased` where the message of this id was erased: it is not kept again.
    """

    id: UUID
    thread_id: UUID
    seq: int
    added: bool
    state: str


class BatchReceipts(BaseModel):
    """The receipts of a batch, in its order, and the operation that does what follows from it."""

    receipts: list[MessageReceipt]
    operation: noun_model(Operation)  # type: ignore[valid-type]


@cache
def message_routes() -> APIRouter:
    """Return the route that adds messages."""
    router = v1_router()

    @router.post(
        "/users/{user}/messages",
        status_code=202,
        response_model=BatchReceipts,
        responses={200: {"model": BatchReceipts, "description": "With `wait`: nothing runs any more"}},
        operation_id="add",
        tags=["memory"],
        dependencies=[Depends(needs(Role.WRITE))],
        openapi_extra={"x-role": "write", "x-verb": "add"},
    )
    async def add(
        request: Request,
        user: Annotated[str, Path(min_length=1)],
        batch: Annotated[NewMessages, Body()],
        wait: Annotated[
            bool, Query(description="Answer when titles and links are made, too, or after ten seconds.")
        ] = False,
        idempotency_key: Annotated[
            str | None, Header(min_length=1, max_length=255, description="The same key adds nothing again.")
        ] = None,
    ) -> Response:
        """Keep messages, exactly once: durable and found by their words when this answers.

        What follows (vectors, episodes, facts, links) is done in the background: by the operation, of which
        `Location` tells the state. With an `Idempotency-Key` a batch that is sent again adds nothing;
        another batch with the key is a conflict. With `wait` the answer is 200 once that is done, else 202 as
        without it: workers, to whom it is left, are waited for ten seconds.
        """
        name = name_in_path("user", user)
        messages = [message.model_dump(exclude_unset=True) for message in batch.messages]
        about = batch.model_dump(exclude={"messages"}, exclude_none=True)

        def keep() -> tuple[UserMemory, Sequence[Receipt], Operation]:
            memory = adding_to(request, user)
            receipts = memory.add(messages, wait=wait, idempotency_key=idempotency_key, **about)
            return memory, receipts, memory.jobs.follow(receipts)

        memory, receipts, operation = await run_in_threadpool(keep)
        until = monotonic() + PATIENCE
        while wait and operation.state == RUNNING and monotonic() < until:
            await asyncio.sleep(EVERY)  # a thread that waits would be missed by other requests
            operation = await run_in_threadpool(memory.jobs.follow, receipts)
        response = answered(request, {"receipts": plain(receipts), "operation": plain(operation)})
        response.status_code = 200 if wait and operation.state != RUNNING else 202
        response.headers["Location"] = f"{PREFIX}/users/{quote(name, safe='')}/operations/{operation.id}"
        return response

    return router

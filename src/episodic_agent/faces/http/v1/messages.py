"""Messages of a user: a batch is kept, exactly once, and durable when it is acknowledged."""

import hashlib
import json
import threading
from collections import OrderedDict
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Annotated, Any, Final
from uuid import UUID

from fastapi import APIRouter, Body, Depends, Header, Path, Query, Request, Response
from pydantic import BaseModel, ConfigDict, Field

from episodic_agent.errors import IdTaken
from episodic_agent.faces.http.v1.asking import answered, key_of, memory_of, name_in_path, needs
from episodic_agent.schemas.keys import Role
from episodic_agent.showing import plain

MOST_MESSAGES: Final = 1000
REMEMBERED: Final = timedelta(days=1)
_MOST_KEYS: Final = 100_000  # idempotency keys one process remembers


class NewMessage(BaseModel):
    """A message: `content` and what else is known of it. Other fields are kept with it."""

    model_config = ConfigDict(extra="allow")

    content: Any = Field(description="The text, or parts of it as OpenAI and Anthropic write them.")
    role: str = Field(default="user", description="user, assistant, system, tool, or somebody's name.")
    name: str | None = None
    timestamp: str | float | None = Field(default=None, description="ISO 8601 or Unix time; else now.")
    id: str | int | None = Field(default=None, description="Your own id: again it adds nothing.")


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
    """What was kept of one message; `added` is false where its id was known already."""

    id: UUID
    thread_id: UUID
    seq: int
    added: bool
    state: str


class BatchReceipts(BaseModel):
    """The receipts of a batch, in its order."""

    receipts: list[MessageReceipt]


class Batches:
    """Remembers for a day which batch came with which idempotency key, in this process.

    That a batch is kept once does not rest on it: its messages have ids made from the key, so that the store
    knows them again in any process, at any time. It tells a changed batch by all that it says.
    """

    def __init__(self, clock: Callable[[], datetime]) -> None:
        self._clock = clock
        self._digests: OrderedDict[tuple[str, str, str], tuple[datetime, str]] = OrderedDict()
        self._lock = threading.Lock()

    def check(self, space: str, user: str, key: str, digest: str) -> None:
        """Raise IdTaken where another batch came with this key within a day; else remember this one."""
        now, name = self._clock(), (space, user, key)
        with self._lock:
            while self._digests:
                oldest, (at, _) = next(iter(self._digests.items()))
                if now - at < REMEMBERED and len(self._digests) < _MOST_KEYS:
                    break
                del self._digests[oldest]
            _, known = self._digests.setdefault(name, (now, digest))
        if known != digest:
            raise IdTaken(f"the Idempotency-Key {key!r} came with other messages before; give a new one")


def message_routes(batches: Batches) -> APIRouter:
    """Return the route that adds messages."""
    router = APIRouter()

    @router.post(
        "/users/{user}/messages",
        status_code=202,
        response_model=BatchReceipts,
        responses={200: {"model": BatchReceipts, "description": "With `wait`: done, not only durable"}},
        operation_id="add",
        tags=["memory"],
        dependencies=[Depends(needs(Role.WRITE))],
        openapi_extra={"x-role": "write", "x-verb": "add"},
    )
    def add(
        request: Request,
        user: Annotated[str, Path(min_length=1)],
        batch: Annotated[NewMessages, Body()],
        wait: Annotated[bool, Query(description="Answer when titles and links are made, too.")] = False,
        idempotency_key: Annotated[
            str | None, Header(min_length=1, max_length=255, description="The same key adds nothing again.")
        ] = None,
    ) -> Response:
        """Keep messages, exactly once: durable and found by their words when this answers.

        What follows (vectors, episodes, facts, links) is done in the background; `GET …/jobs` tells what
        waits. With an `Idempotency-Key` a batch that is sent again adds nothing; another batch with the key
        is a conflict.
        """
        name = name_in_path("user", user)
        messages = [message.model_dump(exclude_unset=True) for message in batch.messages]
        if idempotency_key is not None:
            key = key_of(request)
            batches.check(key.space if key else "", name, idempotency_key, _digest(batch))
            messages = [
                {**message, "id": message.get("id") or f"{idempotency_key}#{n}"}
                for n, message in enumerate(messages)
            ]
        about = batch.model_dump(exclude={"messages"}, exclude_none=True)
        receipts = memory_of(request).user(name).add(messages, wait=wait, **about)
        response = answered(request, {"receipts": plain(receipts)})
        response.status_code = 200 if wait else 202
        return response

    return router


def _digest(batch: NewMessages) -> str:
    text = json.dumps(batch.model_dump(mode="json", exclude_unset=True), sort_keys=True)
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()

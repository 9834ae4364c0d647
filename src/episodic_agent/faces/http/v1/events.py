"""`GET /v1/users/{user}/events`: what is new in a user's memory, told as it comes (server-sent events).

An event's id says when it was decided and by which decision; who comes back with it (`Last-Event-ID`) hears
what was decided since. A transaction that began earlier may commit later: while somebody listens, what is
`LATE` seconds old or younger is looked at again, and nothing is told twice.
"""

import asyncio
import json
from collections.abc import AsyncIterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import cache
from typing import Any, Final
from uuid import UUID

from fastapi import APIRouter, Depends, Request, Response
from starlette.concurrency import run_in_threadpool
from starlette.responses import StreamingResponse

from episodic_agent.engine.memory import Memory
from episodic_agent.engine.user import UserMemory
from episodic_agent.errors import InvalidInput, NotFound
from episodic_agent.faces.guard import header_values
from episodic_agent.faces.http.v1.asking import memory_of, name_in_path, needs, v1_router
from episodic_agent.faces.http.v1.nouns import shown_item
from episodic_agent.schemas import Decision
from episodic_agent.schemas.keys import Role

EVERY: Final = 1.0  # seconds between two looks
LATE: Final = timedelta(seconds=10)
QUIET: Final = 15.0  # seconds after which a comment keeps the connection
MOST: Final = 200  # events of one look; the rest comes with the next
EVERYTHING: Final = 1 << 31
TEXT: Final = "text/event-stream"
_ABOUT: Final = (
    "New episodes and decisions of the user, as server-sent events: `episode` (the decision that closed it, "
    "and the episode), `decision` (any other), `messages` (how many there are now). `Last-Event-ID` goes on "
    "behind an event; without it only what is new from now on is told."
)


@dataclass(slots=True)
class EventCursor:
    """How far a listener has heard: the time of the last decision, and those it was told lately."""

    at: datetime | None = None
    lately: dict[UUID, datetime] = field(default_factory=dict)
    messages: int = -1

    def unheard(self, decisions: list[Decision], after: "tuple[datetime, bytes] | None") -> list[Decision]:
        """Return what was not told yet, in its order; `after` is where a listener came back from."""
        new = [
            one
            for one in decisions
            if one.id not in self.lately and (after is None or (one.at, one.id.bytes) > after)
        ]
        for decision in new:
            self.lately[decision.id] = decision.at
            self.at = max(decision.at, self.at or decision.at)
        if self.at is not None:
            edge = self.at - LATE
            self.lately = {name: at for name, at in self.lately.items() if at >= edge}
        return new


@cache
def event_routes() -> APIRouter:
    """Return the route of a user's events."""
    router = v1_router()

    @router.get(
        "/users/{user}/events",
        operation_id="events",
        tags=["memory"],
        summary="Listen to what is new",
        description=_ABOUT,
        dependencies=[Depends(needs(Role.READ))],
        response_class=StreamingResponse,
        responses={200: {"content": {TEXT: {"schema": {"type": "string"}}}, "description": "Events"}},
        openapi_extra={"x-role": Role.READ.value},
    )
    def events(request: Request, user: str) -> Response:
        return event_stream(request, memory_of(request).user(name_in_path("user", user)))

    return router


def event_stream(request: Request, ana: UserMemory) -> Response:
    """Return the stream of a user's events; InvalidInput for an id that is none, NotFound for a stranger."""
    name = request.headers.get("last-event-id", "")
    after = read_event_id(name) if name else None
    newest = ana.trace.decisions(limit=1)
    cursor = EventCursor(at=newest[-1].at if newest else None)
    if after is not None:
        cursor.at = after[0]
    else:  # what is there already is no news
        there = ana.trace.decisions(since=cursor.at - LATE, limit=EVERYTHING) if cursor.at else []
        cursor.lately = {one.id: one.at for one in there}
    cursor.messages = ana.stats().observations
    headers = {"Cache-Control": "no-store", "X-Accel-Buffering": "no", "X-Content-Type-Options": "nosniff"}
    lines = _listen(request, memory_of(request), ana, cursor, after)
    return StreamingResponse(lines, media_type=TEXT, headers=headers)


def read_event_id(name: str) -> tuple[datetime, bytes]:
    """Read the id of an event; InvalidInput for anything else."""
    moment, _, identity = name.partition("_")
    try:
        at = datetime.fromisoformat(moment)
        return at.astimezone(UTC), UUID(identity).bytes
    except ValueError as error:
        raise InvalidInput(f"{name[:60]!r} is the id of no event; send the `id` of one, or none") from error


async def _listen(
    request: Request,
    memory: Memory,
    ana: UserMemory,
    cursor: EventCursor,
    after: tuple[datetime, bytes] | None,
) -> AsyncIterator[str]:
    yield "retry: 2000\n\n"
    quiet = 0.0
    while True:
        if not await run_in_threadpool(_may_listen, request, memory):
            return
        try:
            new = await run_in_threadpool(_news, ana, cursor, after)
        except NotFound:
            return  # all of the user was erased
        for line in new:
            yield line
        quiet = 0.0 if new else quiet + EVERY
        if quiet >= QUIET:
            quiet = 0.0
            yield ": nothing new\n\n"
        await asyncio.sleep(EVERY)


def _may_listen(request: Request, memory: Memory) -> bool:
    """Tell whether the key still opens: one that is revoked hears nothing more."""
    if getattr(request.state, "key", None) is None:
        return True
    scheme, _, token = header_values(request.scope, b"authorization")[0].partition(" ")
    return scheme.lower() == "bearer" and memory.keys.check(token.strip()) is not None


def _news(ana: UserMemory, cursor: EventCursor, after: tuple[datetime, bytes] | None) -> list[str]:
    """Return what is new, as the lines of events."""
    lines = [_event(_kind(one), _body(ana, one), one) for one in cursor.unheard(_since(ana, cursor), after)]
    count = ana.stats().observations
    if count != cursor.messages:
        cursor.messages = count
        lines.append(_event("messages", {"observations": count}))
    return lines


def _since(ana: UserMemory, cursor: EventCursor) -> list[Decision]:
    if cursor.at is None:
        return list(ana.trace.decisions(limit=MOST))
    return list(ana.trace.decisions(since=cursor.at - LATE, limit=len(cursor.lately) + MOST))


def _kind(decision: Decision) -> str:
    return "episode" if decision.type == "boundary" else "decision"


def _body(ana: UserMemory, decision: Decision) -> Mapping[str, Any]:
    body = {"decision": shown_item(decision)}
    if decision.type == "boundary":
        with suppress(NotFound):  # it was replaced or erased since
            body["episode"] = shown_item(ana.episodes.get(decision.subject))
    return body


def _event(kind: str, body: Mapping[str, Any], decision: Decision | None = None) -> str:
    text = json.dumps(body, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    name = "" if decision is None else f"id: {decision.at.isoformat()}_{decision.id}\n"
    return f"{name}event: {kind}\ndata: {text}\n\n"

"""The end of a server: what came before is finished, what comes now is refused and told when to try again."""

from dataclasses import dataclass
from http import HTTPStatus
from typing import Final

from starlette.types import ASGIApp, Receive, Scope, Send

from episodic_agent.faces.guard import body_of, refuse

ALIVE: Final = frozenset(("/healthz", "/health/live"))
_ENDS: Final = "this process ends; what it acknowledged is durable: send this again in {seconds} s"
AGAIN: Final = "2"  # seconds until another process serves, or this one has started again


@dataclass(slots=True)
class EndOfService:
    """Whether the process was told to stop."""

    begun: bool = False


class Draining:
    """Refuse what comes after the end began (503 with Retry-After), readiness too; it still says it lives."""

    def __init__(self, app: ASGIApp, *, end: EndOfService) -> None:
        self._app = app
        self._end = end

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request, or answer 503."""
        if self._end.begun and scope["type"] == "http" and scope["path"] not in ALIVE:
            detail = _ENDS.format(seconds=AGAIN)
            again, rest = {"Retry-After": AGAIN}, body_of(scope, receive)
            await refuse(send, HTTPStatus.SERVICE_UNAVAILABLE, detail, again, rest=rest)
            return
        await self._app(scope, receive, send)

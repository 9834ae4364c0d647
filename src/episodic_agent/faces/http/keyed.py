"""Who may ask: with keys whoever holds one, within its limits; without any key this machine alone."""

from collections import Counter
from collections.abc import Callable
from contextvars import ContextVar
from http import HTTPStatus
from math import ceil
from time import monotonic
from typing import Final

from starlette.concurrency import run_in_threadpool
from starlette.types import ASGIApp, Receive, Scope, Send

from episodic_agent.engine.keys import KeyRoom
from episodic_agent.engine.trace.acts import called_by
from episodic_agent.errors import EpisodicError
from episodic_agent.faces.dashboard.door import is_page
from episodic_agent.faces.guard import LocalOnly, body_of, header_values, lacking, refuse
from episodic_agent.faces.http.allowances import Allowances, OwnAllowances
from episodic_agent.schemas import Caller
from episodic_agent.schemas.keys import ApiKey, Role

RATE: Final = 100.0  # requests a second of one key
AT_ONCE: Final = 32  # requests of one key under way in a process
# they tell nothing of a memory
OPEN: Final = frozenset(
    ("/healthz", "/readyz", "/health/live", "/health/ready", "/version", "/docs", "/openapi.json", "/login")
)
ASSETS: Final = "/assets/"  # what the pages of the dashboard look like
_ADDING: Final = "/api/v0/add_message"
_MISSING: Final = "send a key, `Authorization: Bearer ek_…`; whoever runs the service makes one"
_UNKNOWN: Final = "the key is not known here, or was revoked; ask whoever runs the service for another"
_ROLES: Final = {"/metrics": Role.ADMIN, _ADDING: Role.WRITE}

space_asked: ContextVar[str | None] = ContextVar("space_asked", default=None)
"""The space that the key of the request under way opens; None where no keys are asked for."""


class Keyed:
    """Let in requests with a key, once any key was made; before that those of this machine alone.

    `keys` finds the keys of the memory that is served. `rate` is how many requests a second one key has, in
    all processes that share its `allowances`.
    """

    def __init__(
        self,
        app: ASGIApp,
        *,
        keys: Callable[[], KeyRoom],
        rate: float = RATE,
        tick: Callable[[], float] = monotonic,
        allowances: Allowances | None = None,
    ) -> None:
        self._app = app
        self._local = LocalOnly(app)
        self._keys = keys
        self._rate = rate
        self._tick = tick
        self._allowances = allowances or OwnAllowances()
        self._running: Counter[str] = Counter()  # one event loop alone changes them

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request, or answer 401, 403, 429 (with a key) or 403, 421 (without)."""
        face = _face(scope["path"]) if scope["type"] == "http" else ""
        called_by(Caller(face))
        if not face:
            await self._local(scope, receive, send)
            return
        keys, token = self._keys(), _token(scope)
        try:  # a token is looked for even where nobody seemed to have one: the first may be a moment old
            key = None if token is None else await run_in_threadpool(keys.check, token)
            locked = key is not None or await run_in_threadpool(keys.exist)
        except EpisodicError as error:
            if scope["path"] in OPEN:  # that the process lives is so all the same
                await self._app(scope, receive, send)
                return
            await refuse(send, HTTPStatus(error.status_hint), str(error), rest=body_of(scope, receive))
            return
        if key is not None:
            await self._limited(key, scope, receive, send)
        elif not locked:
            await self._local(scope, receive, send)
        elif scope["path"] in OPEN or scope["path"].startswith(ASSETS):
            await self._app(scope, receive, send)
        else:
            problem = _MISSING if token is None else _UNKNOWN
            asks, rest = {"WWW-Authenticate": "Bearer"}, body_of(scope, receive)
            await refuse(send, HTTPStatus.UNAUTHORIZED, problem, asks, rest=rest)

    async def _limited(self, key: ApiKey, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve a request of a key within its limits."""
        needed = _ROLES.get(scope["path"], Role.READ)
        if not key.role.allows(needed):
            await refuse(send, HTTPStatus.FORBIDDEN, lacking(key, needed), rest=body_of(scope, receive))
            return
        now = self._tick()
        if self._running[key.id] >= AT_ONCE:
            wait, why = 1.0, f"{AT_ONCE} requests of this key are being answered already"
        else:
            wait = self._allowances.wait(key.id, now, self._rate)
            why = f"this key has {self._rate:g} requests a second"
        if wait:
            seconds = str(max(1, ceil(wait)))
            detail = f"{why}; try again in {seconds} s"
            again, rest = {"Retry-After": seconds}, body_of(scope, receive)
            await refuse(send, HTTPStatus.TOO_MANY_REQUESTS, detail, again, rest=rest)
            return
        scope.setdefault("state", {})["key"] = key
        space_asked.set(key.space)  # a request is a task of its own: nobody else sees it
        called_by(Caller(_face(scope["path"]), key.id, key.role.value))
        self._running[key.id] += 1
        try:
            await self._app(scope, receive, send)
        finally:
            self._running[key.id] -= 1


def _face(path: str) -> str:
    return "dashboard" if is_page(path) else "http"


def _token(scope: Scope) -> str | None:
    """Return the bearer token of a request; None where there is none, or more than one."""
    values = header_values(scope, b"authorization")
    scheme, _, token = values[0].partition(" ") if len(values) == 1 else ("", "", "")
    return token.strip() or None if scheme.lower() == "bearer" else None

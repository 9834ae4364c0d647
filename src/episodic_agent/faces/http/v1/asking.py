"""What every route of `/v1` asks of a request: whose memory, with which role; and how it answers."""

import hashlib
import json
from collections.abc import Callable
from typing import Any, Final
from urllib.parse import unquote_to_bytes

from fastapi import APIRouter, Depends, HTTPException, Request, Response
from fastapi.exceptions import RequestValidationError
from starlette.types import ASGIApp, Receive, Scope, Send

from episodic_agent.engine.memory import Memory
from episodic_agent.engine.user import UserMemory
from episodic_agent.errors import InvalidInput
from episodic_agent.faces.guard import lacking
from episodic_agent.faces.http.v1.problems import PROBLEMS
from episodic_agent.faces.http.validation import taken_by
from episodic_agent.schemas.keys import ApiKey, Role

PREFIX: Final = "/v1"
LONGEST_NAME: Final = 255  # characters of a new user's name
AS_OF: Final = "A moment of record time: answer as the memory stood then."


class KeepsSlashes:
    """Let a name in the path hold a slash, written as %2F: paths of `/v1` are split before they are read."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request by its path as it was sent."""
        raw: bytes = scope.get("raw_path") or b""
        if scope["type"] == "http" and raw.startswith(f"{PREFIX}/".encode()):
            scope["path"] = raw.decode("latin-1")
        await self._app(scope, receive, send)


def name_in_path(name: str, value: str) -> str:
    """Read a name as it stands in a path; InvalidInput where it is not UTF-8.

    >>> name_in_path("user", "ana%2Fwork")
    'ana/work'
    """
    try:
        return unquote_to_bytes(value.encode("latin-1")).decode()
    except UnicodeError as error:
        raise InvalidInput(f"the {name} in the path is not UTF-8; write it percent-encoded") from error


def adding_to(request: Request, user: str) -> UserMemory:
    """Return the memory that a request adds to; InvalidInput for a user's name that is too long for one."""
    name = name_in_path("user", user)
    if len(name) > LONGEST_NAME:
        raise InvalidInput(f"the user's name has {len(name)} characters; give one of at most {LONGEST_NAME}")
    return memory_of(request).user(name)


def memory_of(request: Request) -> Memory:
    """Return the memory of the space that the request's key opens; without keys the one that is served."""
    memory_asked: Callable[[], Memory] = request.app.state.memory_asked
    return memory_asked()


def refuse_unknown(request: Request) -> None:
    """Raise RequestValidationError (422) for what stands behind the path and no parameter is called.

    FastAPI itself refuses it where one model takes all of them, and says nothing elsewhere.
    """
    route = request.scope["route"]
    taken = taken_by(route.dependant.query_params)
    unknown = [name for name in dict.fromkeys(request.query_params) if name not in taken]
    if "as_of" in unknown:
        refuse_past(request)
    if unknown:
        faults = [{"type": "extra_forbidden", "loc": ("query", n), "input": None, "msg": n} for n in unknown]
        raise RequestValidationError(faults)


def v1_router(*tags: str) -> APIRouter:
    """Return where a room puts its routes: below `/v1`, with the errors that each may answer."""
    return APIRouter(prefix=PREFIX, responses=PROBLEMS, tags=[*tags], dependencies=[Depends(refuse_unknown)])


def key_of(request: Request) -> ApiKey | None:
    """Return the key a request came with; None where no keys are asked for."""
    key: ApiKey | None = getattr(request.state, "key", None)
    return key


def needs(role: Role, *, reads: bool = False) -> Callable[[Request], None]:
    """Return what refuses a request (403) whose key has a lesser role.

    What `reads` with a greater role than `read` may still be asked for a past.
    """

    def check(request: Request) -> None:
        if role is not Role.READ and not reads:
            refuse_past(request)
        key = key_of(request)
        if key is not None and not key.role.allows(role):
            raise HTTPException(403, lacking(key, role))

    return check


def refuse_past(request: Request) -> None:
    """Raise InvalidInput where a route is asked for a past that it does not have."""
    if "as_of" in request.query_params:
        raise InvalidInput("`as_of` is for what reads a user's memory; leave it out here")


def answered(request: Request, answer: Any) -> Response:
    """Return an answer as JSON; one that a caller has already (`If-None-Match`) without its body."""
    body = json.dumps(answer, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode(
        "utf-8", "replace"
    )
    if request.method != "GET":
        return Response(body, media_type="application/json")
    tag = f'"{hashlib.sha256(body).hexdigest()[:32]}"'
    known = [one.strip().removeprefix("W/") for one in request.headers.get("if-none-match", "").split(",")]
    if tag in known or "*" in known:
        return Response(status_code=304, headers={"ETag": tag})
    return Response(body, media_type="application/json", headers={"ETag": tag})

"""What every route of `/v1` asks of a request: whose memory, with which role; and how it answers."""

import hashlib
import json
import re
import shlex
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final
from urllib.parse import quote, unquote_to_bytes

from fastapi import APIRouter, Depends, HTTPException, Request, Response
from fastapi.exceptions import RequestValidationError
from starlette.types import ASGIApp, Receive, Scope, Send

from episodic_agent.engine.memory import Memory
from episodic_agent.engine.user import UserMemory
from episodic_agent.errors import InvalidInput
from episodic_agent.faces.guard import PROBLEM, lacking
from episodic_agent.faces.http.bodies import Problem
from episodic_agent.faces.http.validation import taken_by
from episodic_agent.faces.wording import for_no_terminal
from episodic_agent.schemas.keys import ApiKey, Role

# By its name, which `/health/ready` declares: a model is compiled anew for each answer of each route.
_SCHEMA: Final = {"schema": {"$ref": f"#/components/schemas/{Problem.__name__}"}}
PROBLEMS: Final[dict[int | str, dict[str, Any]]] = {
    status: {"description": words, "content": {PROBLEM: {}, "application/json": _SCHEMA}}
    for status, words in (
        (400, "Something in it cannot be used"),
        (401, "No key, or none that is known"),
        (403, "The key's role does not allow it, or a page of another site asks"),
        (404, "There is no such thing"),
        (408, "It takes too long to arrive"),
        (409, "Something else stands in its place, or another writer was faster"),
        (413, "The request is too large"),
        (421, "For another host than this machine"),
        (422, "Of the wrong form"),
        (429, "Too many requests of this key"),
        (502, "A model does not answer as it should"),
        (503, "Try again later"),
    )
}


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


USER: Final = "/v1/users/{user}"
_LISTED: Final[Mapping[str, str]] = {  # the path that lists what a command does
    "episodes": "episodes",
    "show": "episodes/{episode_id}/messages",
    "facts list": "facts",
    "summaries": "sessions",
    "session list": "sessions",
    "chain": "chains/{episode}",
    "link list": "links",
    "link explain": "threads/{thread}/links",
    "places": "places",
    "threads": "threads",
    "jobs list": "jobs",
    "forget receipts": "erasures",
    "tune history": "tuning",
}
REMEDIES: Final[Mapping[str, str]] = {
    **{command: f"`GET {USER}/{path}` lists them" for command, path in _LISTED.items()},
    "tune outcome": f"`POST {USER}/decisions/{{decision}}/outcome` labels any type",
}
_USERS: Final = re.compile(r"; known users: .*$")
_OPTION: Final = r"--(encoding|dates|timezone|source|began|speaker|me)\b"
_PASSED: Final = re.compile(rf"\bpass((?: {_OPTION}(?: (?:'[^']*'|\"[^\"]*\"|[^\s;,'\"])+)?)+)")
_SETTING: Final = re.compile(r"\b(raise|lower|set) (?=EPISODIC_)")


def _query(words: Iterable[str]) -> str:
    """Write options of a command line as a query."""
    query = "".join(f"&{word[2:]}=" if word.startswith("--") else quote(word) for word in words)
    return f"?{query[1:]}"


def for_http(problem: str) -> str:
    """Return an error for who calls over HTTP; other users are not named, but where they are listed.

    >>> for_http("no fact begins with 'x'; `episodic facts list` shows the ids")
    "no fact begins with 'x'; `GET /v1/users/{user}/facts` lists them"
    >>> for_http("no user 'bo' in this memory; known users: ana")
    "no user 'bo' in this memory; `GET /v1/users` lists those there are"
    >>> for_http("if they are day first, pass --dates dmy"), for_http("convert it or pass --encoding")
    ('if they are day first, give ?dates=dmy', 'convert it or give ?encoding=')
    >>> for_http("nobody is 'Al', as --me says; pass --me 'Bo M.' --me Bo")
    "nobody is 'Al', as ?me= says; give ?me=Bo%20M.&me=Bo"
    >>> for_http("send it in parts, or raise EPISODIC_MESSAGE_BYTES")
    'send it in parts, or ask whoever runs the service to raise EPISODIC_MESSAGE_BYTES'
    """
    problem = _USERS.sub("; `GET /v1/users` lists those there are", for_no_terminal(problem, REMEDIES))
    problem = _PASSED.sub(lambda passed: f"give {_query(shlex.split(passed[1]))}", problem)
    problem = re.sub(_OPTION, r"?\1=", problem)
    return _SETTING.sub(r"ask whoever runs the service to \1 ", problem)

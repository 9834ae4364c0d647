"""The HTTP application: routes, health, and every error as one problem document (RFC 9457)."""

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractContextManager, asynccontextmanager
from datetime import datetime
from http import HTTPStatus
from typing import Final

from fastapi import FastAPI, Request, Response
from fastapi.encoders import jsonable_encoder
from fastapi.exceptions import RequestValidationError
from fastapi.responses import HTMLResponse, JSONResponse
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from episodic_agent import __version__
from episodic_agent.engine.memory import Memory
from episodic_agent.errors import EpisodicError
from episodic_agent.faces.http.bodies import Problem
from episodic_agent.faces.http.page import page
from episodic_agent.faces.http.v0 import routes

LARGEST: Final = 4 << 20  # bytes of a request
PROBLEM: Final = "application/problem+json"
POLICY: Final = "default-src 'none'; style-src 'unsafe-inline'"  # a page may load nothing
MISSED: Final = "there is no such route; /docs lists them, each with its method"
SOON: Final = "1"  # seconds after which a caller may try again


def make_app(
    opened: Callable[[], AbstractContextManager[Memory]],
    clock: Callable[[], datetime],
    *,
    largest: int = LARGEST,
) -> FastAPI:
    """Return the application; it opens the memory when it starts and closes it when it ends.

    `largest` bounds a request in bytes.
    """
    memories: list[Memory] = []

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        with opened() as memory:
            memories.append(memory)
            yield
            memories.clear()

    app = FastAPI(
        title="episodic-agent",
        version=__version__,
        summary="Episodic memory for AI agents",
        lifespan=lifespan,
        responses={},
        docs_url=None,  # FastAPI's own pages load their scripts from another host
        redoc_url=None,
    )
    app.add_middleware(Bounded, largest=largest)
    app.include_router(routes(lambda: memories[0], clock))
    _add_health(app, lambda: memories[0])
    _add_docs(app)
    app.add_exception_handler(EpisodicError, _engine_error)
    app.add_exception_handler(RequestValidationError, _invalid)
    app.add_exception_handler(HTTPException, _http_error)
    return app


def _add_health(app: FastAPI, memory_of: Callable[[], Memory]) -> None:
    @app.get("/health/live", tags=["health"])
    def live() -> dict[str, str]:
        """Tell that the process answers."""
        return {"status": "ok"}

    @app.get("/health/ready", tags=["health"], responses={503: {"model": Problem}})
    def ready() -> dict[str, str]:
        """Tell that the memory can be read."""
        memory_of().users()
        return {"status": "ok"}

    @app.get("/version", tags=["health"])
    def version() -> dict[str, str]:
        """Return the version of the program."""
        return {"version": __version__}


def _add_docs(app: FastAPI) -> None:
    @app.get("/docs", include_in_schema=False)
    def docs() -> HTMLResponse:
        """Return every route with examples, as one page without scripts."""
        return HTMLResponse(page(app.openapi()), headers={"Content-Security-Policy": POLICY})


def problem(status: int, detail: str, **more: object) -> JSONResponse:
    """Return an error document; one that may pass says when to try again."""
    body = {"type": "about:blank", "title": HTTPStatus(status).phrase, "status": status, "detail": detail}
    headers = {"Retry-After": SOON} if status == HTTPStatus.SERVICE_UNAVAILABLE else None
    return JSONResponse(jsonable_encoder({**body, **more}), status, headers, media_type=PROBLEM)


def _engine_error(_: Request, error: Exception) -> Response:
    if not isinstance(error, EpisodicError):
        raise error
    return problem(error.status_hint, str(error))


def _invalid(_: Request, error: Exception) -> Response:
    if not isinstance(error, RequestValidationError):
        raise error
    found = [{"where": ".".join(map(str, e["loc"])), "problem": e["msg"]} for e in error.errors()]
    told = "; ".join(f"{e['where']}: {e['problem']}" for e in found)
    return problem(HTTPStatus.UNPROCESSABLE_ENTITY, told, errors=found)


def _http_error(_: Request, error: Exception) -> Response:
    if not isinstance(error, HTTPException):
        raise error
    known = HTTPStatus(error.status_code).phrase
    answer = problem(error.status_code, MISSED if error.detail == known else str(error.detail))
    answer.headers.update(error.headers or {})
    return answer


class Bounded:
    """Refuse requests that are too large, by what they say and by what they send."""

    def __init__(self, app: ASGIApp, *, largest: int) -> None:
        self._app = app
        self._largest = largest

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request, or answer 413."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        said = [value for name, value in scope["headers"] if name == b"content-length"]
        if said and said[0].isdigit() and int(said[0]) > self._largest:
            await self._refused()(scope, receive, send)
            return
        body = bytearray()
        more = True
        while more:
            message = await receive()
            if message["type"] != "http.request":
                return  # the caller went away
            body += message.get("body", b"")
            more = message.get("more_body", False)
            if len(body) > self._largest:
                await self._refused()(scope, receive, send)
                return
        whole: list[Message] = [{"type": "http.request", "body": bytes(body), "more_body": False}]

        async def again() -> Message:
            return whole.pop() if whole else await receive()

        await self._app(scope, again, send)

    def _refused(self) -> Response:
        detail = f"the request is larger than {self._largest} bytes; send less at once"
        return problem(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, detail)

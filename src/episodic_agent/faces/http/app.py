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

from episodic_agent import __version__
from episodic_agent.engine.memory import Memory
from episodic_agent.errors import EpisodicError
from episodic_agent.faces.guard import (
    LARGEST,
    MOST_BODIES,
    PROBLEM,
    SLOWEST,
    guarded,
    problem_document,
    problem_headers,
)
from episodic_agent.faces.http.bodies import Problem
from episodic_agent.faces.http.page import page
from episodic_agent.faces.http.v0 import routes

POLICY: Final = "default-src 'none'; style-src 'unsafe-inline'"  # a page may load nothing
MISSED: Final = "there is no such route; /docs lists them, each with its method"


def make_app(
    opened: Callable[[], AbstractContextManager[Memory]],
    clock: Callable[[], datetime],
    *,
    largest: int = LARGEST,
    most: int = MOST_BODIES,
    slowest: float = SLOWEST,
) -> FastAPI:
    """Return the application; it opens the memory when it starts and closes it when it ends.

    `largest` bounds a request in bytes, `most` the requests with a body at a time, `slowest` the seconds one
    may take to arrive.
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
    app.add_middleware(guarded, largest=largest, most=most, slowest=slowest)
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
    body = jsonable_encoder(problem_document(status, detail, **more))
    return JSONResponse(body, status, problem_headers(status), media_type=PROBLEM)


def _engine_error(_: Request, error: Exception) -> Response:
    if not isinstance(error, EpisodicError):
        raise error
    return problem(error.status_hint, str(error))


def _invalid(_: Request, error: Exception) -> Response:
    if not isinstance(error, RequestValidationError):
        raise error
    results = [{"where": ".".join(map(str, e["loc"])), "problem": e["msg"]} for e in error.errors()]
    text = "; ".join(f"{e['where']}: {e['problem']}" for e in results)
    return problem(HTTPStatus.UNPROCESSABLE_ENTITY, text, errors=results)


def _http_error(_: Request, error: Exception) -> Response:
    if not isinstance(error, HTTPException):
        raise error
    known = HTTPStatus(error.status_code).phrase
    answer = problem(error.status_code, MISSED if error.detail == known else str(error.detail))
    answer.headers.update(error.headers or {})
    return answer

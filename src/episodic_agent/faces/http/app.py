"""The HTTP application: routes, health, and every error as one problem document (RFC 9457)."""

import secrets
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AbstractContextManager, asynccontextmanager, closing
from datetime import datetime
from http import HTTPStatus
from typing import Final

from fastapi import FastAPI, Request, Response
from fastapi.encoders import jsonable_encoder
from fastapi.exceptions import RequestValidationError
from fastapi.responses import HTMLResponse, JSONResponse, PlainTextResponse
from fastapi.routing import APIRoute
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException

from episodic_agent import __version__
from episodic_agent.engine.memory import Memory, Spaces
from episodic_agent.errors import Conflict, EpisodicError
from episodic_agent.faces.dashboard import dashboard_routes
from episodic_agent.faces.dashboard.door import DashboardDoor
from episodic_agent.faces.guard import (
    LARGEST,
    MOST_BODIES,
    PROBLEM,
    SLOWEST,
    Bounded,
    problem_document,
    problem_headers,
)
from episodic_agent.faces.http.allowances import Allowances
from episodic_agent.faces.http.bodies import Problem
from episodic_agent.faces.http.keyed import RATE, Keyed, space_asked
from episodic_agent.faces.http.metrics import TEXT, RequestCounts, RequestMeter
from episodic_agent.faces.http.opening import Draining, EndOfService
from episodic_agent.faces.http.page import page
from episodic_agent.faces.http.v0 import routes
from episodic_agent.faces.http.v1 import v1_routes
from episodic_agent.faces.http.v1.asking import PREFIX, KeepsSlashes, for_http
from episodic_agent.faces.http.v1.files import LARGEST_FILE, streams
from episodic_agent.faces.http.validation import explained, taken_by, unread

POLICY: Final = "default-src 'none'; style-src 'unsafe-inline'"  # a page may load nothing
UNREAD: Final = "There was an error parsing the body"  # FastAPI's words, with the reason as its cause
MISSED: Final = "there is no such route; /docs lists them, each with its method"


def make_app(
    opened: Callable[[], AbstractContextManager[Memory]],
    clock: Callable[[], datetime],
    *,
    largest: int = LARGEST,
    most: int = MOST_BODIES,
    slowest: float = SLOWEST,
    largest_file: int = LARGEST_FILE,
    rate: float = RATE,
    end: EndOfService | None = None,
    allowances: Allowances | None = None,
    counts: RequestCounts | None = None,
) -> FastAPI:
    """Return the application; it opens the memory when it starts and closes it when it ends.

    `largest` bounds a request in bytes, `most` the requests with a body at a time, `slowest` the seconds one
    may take to arrive; `largest_file` bounds a file that is imported, in bytes; `rate` the requests a second
    of one key. `end` tells that the process ends; `allowances` and `counts` are those of all processes, its
    own unless given.
    """
    served: list[tuple[Memory, Spaces]] = []

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        with opened() as memory, closing(Spaces(memory)) as spaces:
            served.append((memory, spaces))
            await run_in_threadpool(spaces.resume)
            yield
            served.clear()

    def asked() -> Memory:
        return served[0][1].of(space_asked.get())

    app = FastAPI(
        title="episodic-agent",
        version=__version__,
        summary="Episodic memory for AI agents",
        lifespan=lifespan,
        responses={},
        docs_url=None,  # FastAPI's own pages load their scripts from another host
        redoc_url=None,
    )
    app.add_middleware(KeepsSlashes)
    app.add_middleware(Bounded, largest=largest, most=most, slowest=slowest, streams=streams)
    counts = counts or RequestCounts()
    app.add_middleware(Keyed, keys=lambda: served[0][0].keys, rate=rate, allowances=allowances)
    app.add_middleware(DashboardDoor)
    app.add_middleware(RequestMeter, counts=counts)
    app.add_middleware(Draining, end=end or EndOfService())
    app.state.memory_asked = asked
    # Taken as they are: what is included FastAPI builds again, most of what a start takes.
    app.router.routes += [*v1_routes(largest_file), *dashboard_routes(clock, secrets.randbits)]
    _add_health(app, lambda: served[0][0])
    _add_metrics(app, asked, counts)
    app.router.routes += routes(asked, clock).routes  # seed 003's, which /docs shows behind today's
    _add_docs(app)
    _add_problems(app)
    return app


def _add_problems(app: FastAPI) -> None:
    app.add_exception_handler(EpisodicError, _engine_error)
    app.add_exception_handler(RequestValidationError, _invalid)
    app.add_exception_handler(HTTPException, _http_error)


def _add_health(app: FastAPI, memory_of: Callable[[], Memory]) -> None:
    @app.get("/health/live", tags=["health"])
    def live() -> dict[str, str]:
        """Tell that the process answers."""
        return {"status": "ok"}

    @app.get("/health/ready", tags=["health"], responses={503: {"model": Problem}})
    def ready() -> dict[str, str]:
        """Tell that the memory can be read."""
        if wrong := memory_of().doctor(quick=True):
            raise HTTPException(HTTPStatus.SERVICE_UNAVAILABLE, wrong[0].message)
        return {"status": "ok"}

    app.add_api_route("/healthz", live, tags=["health"], operation_id="healthz")
    app.add_api_route(
        "/readyz", ready, tags=["health"], operation_id="readyz", responses={503: {"model": Problem}}
    )

    @app.get("/version", tags=["health"])
    def version() -> dict[str, str]:
        """Return the version of the program."""
        return {"version": __version__}


def _add_metrics(app: FastAPI, memory_of: Callable[[], Memory], counts: RequestCounts) -> None:
    def waiting() -> Mapping[str, int]:
        return memory_of().jobs.counts()

    @app.get("/metrics", tags=["health"], response_class=PlainTextResponse)
    async def metrics() -> Response:
        """Return what was asked, how long it took and what waits, as Prometheus reads it."""
        jobs = await run_in_threadpool(waiting)
        gauges = {f"episodic_jobs_{state}": count for state, count in jobs.items()}
        return Response("\n".join(counts.together().lines(gauges)) + "\n", media_type=TEXT)


def _add_docs(app: FastAPI) -> None:
    @app.get("/docs", include_in_schema=False)
    def docs() -> HTMLResponse:
        """Return every route with examples, as one page without scripts."""
        return HTMLResponse(page(app.openapi()), headers={"Content-Security-Policy": POLICY})


def problem(status: int, detail: str, **more: object) -> JSONResponse:
    """Return an error document; one that may pass says when to try again."""
    body = jsonable_encoder(problem_document(status, detail, **more))
    return JSONResponse(body, status, problem_headers(status), media_type=PROBLEM)


def _in_terms_of_http(request: Request, problem: str) -> str:
    """Return an error in terms of HTTP; what seed 003's routes answer stays."""
    return for_http(problem) if request.url.path.startswith(f"{PREFIX}/") else problem


def _engine_error(request: Request, error: Exception) -> Response:
    if not isinstance(error, EpisodicError):
        raise error
    more = {"retryable": error.retryable} if isinstance(error, Conflict) else {}
    return problem(error.status_hint, _in_terms_of_http(request, str(error)), **more)


def _invalid(request: Request, error: Exception) -> Response:
    if not isinstance(error, RequestValidationError):
        raise error
    if request.url.path.startswith(f"{PREFIX}/"):
        results = explained(error.errors(), *_taken(request))
        text = "; ".join(one["problem"] for one in results)
    else:  # what seed 003's routes answer stays
        results = [{"where": ".".join(map(str, e["loc"])), "problem": e["msg"]} for e in error.errors()]
        text = "; ".join(f"{e['where']}: {e['problem']}" for e in results)
    return problem(HTTPStatus.UNPROCESSABLE_ENTITY, text, errors=results)


def _taken(request: Request) -> tuple[list[str], list[str]]:
    """Return the names of what a request's route takes in its body, and of what behind its path."""
    route = request.scope.get("route")
    if not isinstance(route, APIRoute):
        return [], []
    return taken_by(route.dependant.body_params), taken_by(route.dependant.query_params)


def _http_error(request: Request, error: Exception) -> Response:
    if not isinstance(error, HTTPException):
        raise error
    allowed = (error.headers or {}).get("Allow")
    detail = _in_terms_of_http(request, str(error.detail))
    if error.status_code == HTTPStatus.METHOD_NOT_ALLOWED and allowed:
        detail = f"this route takes {allowed}, not {request.method}; /docs lists the routes"
    elif error.detail == HTTPStatus(error.status_code).phrase:
        detail = MISSED
    elif error.detail == UNREAD:
        detail = unread(error.__cause__)
    answer = problem(error.status_code, detail)
    answer.headers.update(error.headers or {})
    return answer

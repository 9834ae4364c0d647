"""How a page is made: templates, what every page knows, and what a browser may do with it."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import wraps
from http import HTTPStatus
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote, unquote
from uuid import UUID

from fastapi import APIRouter, Request, Response
from fastapi.responses import HTMLResponse, JSONResponse, RedirectResponse
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from episodic_agent import __version__
from episodic_agent.core.language import plural
from episodic_agent.engine.memory import Memory
from episodic_agent.engine.user import UserMemory
from episodic_agent.errors import EpisodicError, NotFound
from episodic_agent.faces.dashboard import wording
from episodic_agent.faces.dashboard.door import cookie_of
from episodic_agent.faces.dashboard.forms import VISITOR, path_here, token_of
from episodic_agent.faces.guard import lacking
from episodic_agent.faces.http.v1.asking import key_of, memory_of, name_in_path
from episodic_agent.faces.wording import for_no_terminal
from episodic_agent.schemas.keys import ApiKey, Role
from episodic_agent.showing import clipped, visible

HERE: Final = Path(__file__).parent
POLICY: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "form-action 'self'; frame-ancestors 'none'; base-uri 'none'"
)
HEADERS: Final = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "same-origin",
    "Cache-Control": "no-store",
    "Cross-Origin-Opener-Policy": "same-origin",
}
NOTICE: Final = "episodic_notice"
_VISITOR_BITS: Final = 192
_THEME: Final = "episodic_theme"
_HUED: Final = 500  # threads of a memory whose colours are told apart; of more each has its id's
Endpoint = Callable[..., Response]


@dataclass(frozen=True, slots=True)
class Notice:
    """What a page says of what was just done; `undo` names the action that takes it back, with its fields."""

    text: str
    kind: str = "done"
    undo: Mapping[str, str] | None = None

    def packed(self) -> str:
        """Return it as the value of a cookie."""
        return quote(json.dumps([self.text[:600], self.kind, self.undo]), safe="")


def read_notice(packed: str) -> Notice | None:
    """Undo `Notice.packed`; None for anything else.

    >>> read_notice(Notice("saved").packed())
    Notice(text='saved', kind='done', undo=None)
    """
    try:
        text, kind, undo = json.loads(unquote(packed))
    except ValueError:
        return None
    fields = {str(name): str(value) for name, value in undo.items()} if isinstance(undo, dict) else None
    return Notice(str(text), "wrong" if kind == "wrong" else "done", fields)


class ThreadHues:
    """Says which colour a thread has, the same on every page of its memory; read when the first is drawn."""

    def __init__(self, memory: UserMemory) -> None:
        self._memory = memory
        self._hues: Mapping[UUID, int] | None = None

    def __call__(self, thread: UUID) -> int:
        """Return one of twelve colours."""
        if self._hues is None:
            threads = self._memory.threads.list(limit=_HUED + 1)
            self._hues = {} if len(threads) > _HUED else wording.thread_hues(threads)
        return self._hues.get(thread, wording.own_hue(thread))


class ThreadTitles:
    """Says what a thread is called, the same on every page of its memory; read when it is first named."""

    def __init__(self, memory: UserMemory) -> None:
        self._memory = memory
        self._titles: dict[str, str] = {}

    def __call__(self, thread: UUID | str) -> str:
        """Return its title, else its name."""
        name = str(thread)
        if name not in self._titles:
            try:
                known = self._memory.threads.get(name).thread
            except NotFound:  # erased by now
                return name
            self._titles[name] = known.title or known.origin
        return self._titles[name]


@dataclass(frozen=True, slots=True)
class Rights:
    """What the visitor may do: everything on this machine without keys, else what the key's role allows."""

    key: ApiKey | None

    def allows(self, role: str) -> bool:
        """Tell whether a role's verbs are open."""
        return self.key is None or self.key.role.allows(Role(role))


class Pages:
    """Makes pages of templates; one for the whole application."""

    def __init__(self, clock: Callable[[], datetime], entropy: Callable[[int], int]) -> None:
        self.clock = clock
        self._entropy = entropy
        self._templates = Environment(
            loader=FileSystemLoader(HERE / "templates"),
            autoescape=True,
            undefined=StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
            finalize=_shown,
        )
        self._templates.filters |= wording.FILTERS | {"plural": plural, "clipped": clipped, "q": in_path}

    def page(
        self, request: Request, template: str, *, status: int = 200, user: str | None = None, **values: Any
    ) -> Response:
        """Return a page as HTML; `user` is whose memory it shows, `values` what its template takes."""
        visitor = cookie_of(request.scope, VISITOR) or f"{self._entropy(_VISITOR_BITS):048x}"
        notice = read_notice(cookie_of(request.scope, NOTICE)) if cookie_of(request.scope, NOTICE) else None
        key = key_of(request)
        theme = cookie_of(request.scope, _THEME)
        asked = str(request.scope.get("raw_path", b"/"), "latin-1")
        query = str(request.scope.get("query_string", b""), "latin-1")
        body = self._templates.get_template(template).render(
            values
            | {
                "user": user,
                "rights": Rights(key),
                "key": key,
                "here": path_here(f"{asked}?{query}" if query else asked),
                "now": self.clock(),
                "token": token_of(visitor),
                "notice": notice,
                "thread_hue": None if user is None else ThreadHues(user_of(request, user)[1]),
                "thread_title": None if user is None else ThreadTitles(user_of(request, user)[1]),
                "theme": theme if theme in ("dark", "light") else "",
                "version": __version__,
            }
        )
        answer = HTMLResponse(body.encode("utf-8", "replace"), status, HEADERS)
        secure = request.url.scheme == "https"
        if not cookie_of(request.scope, VISITOR):
            answer.set_cookie(VISITOR, visitor, httponly=True, samesite="strict", secure=secure)
        if notice is not None:
            answer.delete_cookie(NOTICE, httponly=True, samesite="strict")
        return answer

    def wrong(self, request: Request, error: EpisodicError, user: str | None = None) -> Response:
        """Return a page that says what went wrong and where to go from there."""
        status = HTTPStatus(error.status_hint)
        return self.page(
            request,
            "wrong.html",
            status=status,
            user=user,
            problem=for_no_terminal(str(error)),
            status_words=status.phrase,
        )

    def router(self) -> APIRouter:
        """Return where a room puts its pages; no document of the service tells of them."""
        return APIRouter(include_in_schema=False)

    def endpoint(self, function: Callable[..., Response]) -> Endpoint:
        """Let errors of the engine be pages, and of data be problems in JSON."""

        @wraps(function)
        def safe(*args: Any, **named: Any) -> Response:
            request: Request = named["request"]
            try:
                return function(*args, **named)
            except EpisodicError as error:
                if request.url.path.endswith(".json"):
                    return data({"problem": visible(str(error))}, error.status_hint)
                return self.wrong(request, error, _known(request, named.get("user")))

        return safe


def data(value: Any, status: int = 200) -> Response:
    """Return JSON for the page's script."""
    return JSONResponse(value, status, {"Cache-Control": "no-store", "X-Content-Type-Options": "nosniff"})


def done(request: Request, back: str, notice: Notice) -> Response:
    """Go back to a page, which says what was done."""
    answer = RedirectResponse(back, HTTPStatus.SEE_OTHER)
    secure = request.url.scheme == "https"
    answer.set_cookie(NOTICE, notice.packed(), max_age=60, httponly=True, samesite="strict", secure=secure)
    return answer


def _known(request: Request, user: str | None) -> str | None:
    """Return whose memory the way back leads to; None where nobody is known by the name in the path."""
    if user is None:
        return None
    try:
        name, memory = user_of(request, user)
        return None if memory.missing else name
    except EpisodicError:
        return None


def user_of(request: Request, user: str) -> tuple[str, UserMemory]:
    """Return whose memory a page shows, and it."""
    name = name_in_path("user", user)
    return name, memory_of(request).user(name)


def space_of(request: Request) -> Memory:
    """Return the memory of the space a visitor sees."""
    return memory_of(request)


def check_role(request: Request, role: Role) -> None:
    """Refuse what the visitor's key does not allow."""
    key = key_of(request)
    if key is not None and not key.role.allows(role):
        raise NotAllowed(lacking(key, role))


class NotAllowed(EpisodicError):
    """The visitor's key is of a lesser role."""

    status_hint = 403


def in_path(name: object) -> str:
    """Return a name as a part of a path.

    >>> in_path("ana/work?")
    'ana%2Fwork%3F'
    """
    return quote(str(name), safe="", errors="replace")


def _shown(value: Any) -> Any:
    """Show what acts unseen (control characters, marks that turn the order of a text) as an escape."""
    return visible(value) if isinstance(value, str) and not isinstance(value, Markup) else value

"""Who did what to a memory: the entries of the audit in words, narrowed by kind, by whom and by days."""

import re
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, Final
from uuid import UUID

from fastapi import APIRouter, Request, Response

from episodic_agent.engine.arguments import aware
from episodic_agent.engine.user import UserMemory
from episodic_agent.errors import NotFound
from episodic_agent.faces.dashboard.pages import Pages, check_role, data, in_path, space_of, user_of
from episodic_agent.faces.http.v1.asking import key_of
from episodic_agent.faces.http.v1.pages import page
from episodic_agent.faces.wording import FACES, fact_words
from episodic_agent.schemas import AuditEntry, AuditKind
from episodic_agent.schemas.keys import Role
from episodic_agent.showing import plain

MOST: Final = 50  # entries of a page
EVERY_ENTRY: Final = (1 << 31) - 1
_DAY: Final = timedelta(days=1)
_A_DAY: Final = re.compile(r"\d{4}-\d\d-\d\d")
_KINDS: Final[Mapping[str, str]] = {
    AuditKind.WRITE: "written",
    AuditKind.MODEL: "a model asked",
    AuditKind.DELETION: "deleted",
}
_NAMED: Final[Mapping[str, tuple[str, Callable[[UserMemory, str], str]]]] = {  # the page, what to call it
    "thread": ("threads", lambda ana, one: _titled(ana.threads.get(one).thread)),
    "episode": ("episodes", lambda ana, one: ana.episodes.card(one).heading),
    "fact": ("facts", lambda ana, one: fact_words(ana.facts.get(one).fact.fact, ana.name)),
}


def routes(pages: Pages) -> APIRouter:
    """Return the routes of the audit: the page, and all of it as a file."""
    router = pages.router()

    @router.get("/users/{user}/audit")
    @pages.endpoint
    def audit(
        request: Request,
        user: str,
        *,
        kind: str = "",
        by: str = "",
        since: str = "",
        until: str = "",
        cursor: str = "",
    ) -> Response:
        """List who did what, the newest first."""
        name, ana = user_of(request, user)
        check_role(request, Role.ADMIN)
        asked = {"kind": kind, "by": by, "since": since, "until": until}
        entries, following = page(
            lambda count: _entries(ana, asked, count), MOST, cursor or None, {"user": name, **asked}
        )
        return pages.page(
            request,
            "audit.html",
            user=name,
            section="audit",
            entries=entries,
            subjects=subjects_of(ana, entries),
            following=following,
            cursor=cursor,
            asked=asked,
            query="".join(f"&{field}={in_path(value)}" for field, value in asked.items() if value),
            kinds=_KINDS,
            callers=_callers(request, by),
        )

    @router.get("/users/{user}/audit.json")
    @pages.endpoint
    def audit_file(
        request: Request, user: str, *, kind: str = "", by: str = "", since: str = "", until: str = ""
    ) -> Response:
        """Return every entry that was asked for, as `episodic audit --json` prints them."""
        _, ana = user_of(request, user)
        check_role(request, Role.ADMIN)
        asked = {"kind": kind, "by": by, "since": since, "until": until}
        answer = data({"entries": plain(_entries(ana, asked, EVERY_ENTRY))})
        answer.headers["Content-Disposition"] = 'attachment; filename="audit.json"'
        return answer

    return router


def _entries(ana: UserMemory, asked: Mapping[str, str], count: int) -> Sequence[AuditEntry]:
    """Return the newest entries of what a form asks for; a day it ends with belongs to it."""
    return ana.trace.audit(
        aware(asked["since"] or None),
        until=_behind(asked["until"]),
        kind=asked["kind"] or None,
        by=asked["by"] or None,
        limit=count,
    )


def _behind(until: str) -> datetime | None:
    """Return the end of a day, as a browser writes it, and any other moment as it is.

    >>> f"{_behind('2026-03-04'):%d %H:%M}", f"{_behind('2026-03-04T09:00:00Z'):%d %H:%M}", _behind("")
    ('05 00:00', '04 09:00', None)
    """
    moment = aware(until or None)
    if moment is None or not _A_DAY.fullmatch(until):
        return moment
    return moment + _DAY


def subjects_of(ana: UserMemory, entries: Sequence[AuditEntry]) -> Mapping[UUID, tuple[str, str]]:
    """Return the page and the title of each thing entries are about; not of what is there no more."""
    subjects: dict[UUID, tuple[str, str]] = {}
    for thing, subject in dict.fromkeys((one.thing, one.subject) for one in entries):
        if subject is None or thing not in _NAMED:
            continue
        room, titled = _NAMED[thing]
        try:
            subjects[subject] = f"{room}/{subject}", titled(ana, str(subject))
        except NotFound:
            continue  # it was erased, or segmented anew
    return subjects


def _titled(thread: Any) -> str:
    return str(thread.title or thread.origin)


def _callers(request: Request, by: str) -> Mapping[str, str]:
    """Return by whom a visitor may narrow: the faces, and the keys of the visitor's own space."""
    mine = key_of(request)
    keys = () if mine is None else [one for one in space_of(request).keys.list() if one.space == mine.space]
    callers = {**FACES, **{one.id: f"key {one.id} ({one.role.value})" for one in keys}}
    return callers if not by else {**callers, by: callers.get(by, by)}

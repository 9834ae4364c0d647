"""Log in with a key, and out again: a session is a cookie that no script reads and no other site sends."""

from typing import Annotated

from fastapi import APIRouter, Depends, Request, Response
from fastapi.responses import RedirectResponse

from episodic_agent.faces.dashboard.door import SESSION
from episodic_agent.faces.dashboard.forms import Form, form_of, path_here
from episodic_agent.faces.dashboard.pages import Pages, space_of

REFUSED = "this key is not known here, or was revoked; ask whoever runs this memory for another"


def routes(pages: Pages) -> APIRouter:
    """Return the routes of logging in and out."""
    router = pages.router()

    @router.get("/login")
    @pages.endpoint
    def login(request: Request, back: str = "/") -> Response:
        """Ask for a key."""
        return pages.page(request, "login.html", back=path_here(back), problem="")

    @router.post("/login")
    @pages.endpoint
    def enter(request: Request, form: Annotated[Form, Depends(form_of)]) -> Response:
        """Keep the key for this session, if it opens."""
        token = form.text("key")
        keys = space_of(request).keys
        if keys.exist() and (not token.isascii() or keys.check(token) is None):
            return pages.page(request, "login.html", status=403, back=form.back, problem=REFUSED)
        answer = RedirectResponse(form.back, 303)
        secure = request.url.scheme == "https"
        answer.set_cookie(SESSION, token, httponly=True, samesite="strict", secure=secure)
        return answer

    @router.post("/logout")
    @pages.endpoint
    def leave(request: Request, form: Annotated[Form, Depends(form_of)]) -> Response:
        """End the session."""
        answer = RedirectResponse("/login", 303)
        answer.delete_cookie(SESSION, httponly=True, samesite="strict")
        return answer

    return router

"""The door of the dashboard: a session's cookie holds a key, and who has none is asked for one."""

from http.cookies import CookieError, SimpleCookie
from typing import Final
from urllib.parse import quote

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from episodic_agent.faces.guard import header_values

SESSION: Final = "episodic_key"
LOGIN: Final = "/login"
PREFIXES: Final = ("/users/", "/jobs", "/usage", "/receipts", "/logout")
LIVE: Final = "/live"


def is_page(path: str) -> bool:
    """Tell whether a path is one of the dashboard's.

    >>> is_page("/"), is_page("/users/ana"), is_page("/v1/users"), is_page("/jobs")
    (True, True, False, True)
    """
    return path in ("/", LOGIN) or path.startswith(PREFIXES)


class DashboardDoor:
    """Let in who holds a session; send everybody else of a page to where a key is asked for."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request; names in its path may hold a slash, written as %2F."""
        if scope["type"] != "http" or not is_page(scope["path"]):
            await self._app(scope, receive, send)
            return
        raw: bytes = scope.get("raw_path") or b""
        inner = {**scope, "path": raw.decode("latin-1")} if raw.startswith(b"/users/") else dict(scope)
        key = cookie_of(scope, SESSION)
        if key and not header_values(scope, b"authorization"):
            bearer = (b"authorization", f"Bearer {key}".encode("latin-1", "replace"))
            inner["headers"] = [*scope["headers"], bearer]
        turned = []

        async def answered(message: Message) -> None:
            if message["type"] == "http.response.start" and message["status"] == 401:
                turned.append(True)
                await _to_login(scope, send)
            elif not turned:
                await send(message)

        await self._app(inner, receive, answered)


async def _to_login(scope: Scope, send: Send) -> None:
    """Ask for a key, and come back to where one was missing."""
    asked = scope.get("raw_path") or b"/"
    back = asked.decode("latin-1") if scope["method"] == "GET" and not asked.endswith(LIVE.encode()) else "/"
    where = f"{LOGIN}?back={quote(back, safe='/')}"
    headers = [(b"location", where.encode()), (b"content-length", b"0"), (b"cache-control", b"no-store")]
    await send({"type": "http.response.start", "status": 303, "headers": headers})
    await send({"type": "http.response.body", "body": b""})


def cookie_of(scope: Scope, name: str) -> str:
    """Return the value of a request's cookie; "" where there is none."""
    try:
        cookies = SimpleCookie("; ".join(header_values(scope, b"cookie")))
    except CookieError:
        return ""
    return cookies[name].value if name in cookies else ""

"""What every HTTP face asks of a request before anything reads it: that it is local, small and in time.

Every refusal is a problem document (RFC 9457).
"""

import asyncio
import json
from collections.abc import Callable, Mapping
from contextlib import suppress
from http import HTTPStatus
from typing import Any, Final

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from episodic_agent.core.language import plural
from episodic_agent.faces.loopback import refusal
from episodic_agent.schemas.keys import ApiKey, Role

LARGEST: Final = 4 << 20  # bytes of a request
MOST_BODIES: Final = 64  # requests with a body at the same time: each is whole in memory until it is answered
SLOWEST: Final = 20.0  # seconds a request's body may take to arrive
PROBLEM: Final = "application/problem+json"
LINGERS: Final = (2 * LARGEST, 2.0)  # bytes and seconds of a body that is refused and still read
SOON: Final = "1"  # seconds after which a caller may try again


def problem_document(status: int, detail: str, **more: object) -> dict[str, object]:
    """Return an error as RFC 9457 writes it."""
    return {
        "type": "about:blank",
        "title": HTTPStatus(status).phrase,
        "status": status,
        "detail": detail,
        **more,
    }


def problem_headers(status: int) -> dict[str, str]:
    """Return the headers of an error besides its type; one that may pass says when to try again."""
    return {"Retry-After": SOON} if status == HTTPStatus.SERVICE_UNAVAILABLE else {}


def guarded(
    app: ASGIApp, *, largest: int = LARGEST, most: int = MOST_BODIES, slowest: float = SLOWEST
) -> ASGIApp:
    """Return an application that answers local requests alone, whose bodies are bounded.

    `largest` is in bytes, `most` counts the bodies held at a time, `slowest` is in seconds.
    """
    return LocalOnly(Bounded(app, largest=largest, most=most, slowest=slowest))


class LocalOnly:
    """Refuse requests that name another host than this machine, or come from another site's page."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request, or answer 421 (another host) or 403 (another site)."""
        if scope["type"] == "http":
            refused = refusal(header_values(scope, b"host"), header_values(scope, b"origin"))
            if refused is not None:
                await refuse(send, *refused, rest=body_of(scope, receive))
                return
        await self._app(scope, receive, send)


def _none_streams(_: Scope) -> bool:
    return False


class Bounded:
    """Refuse requests that are too large (by what they say and by what they send), too slow or too many.

    Those of which `streams` is true are not held in memory: whoever reads them bounds them.
    """

    def __init__(
        self,
        app: ASGIApp,
        *,
        largest: int,
        most: int,
        slowest: float,
        streams: Callable[[Scope], bool] = _none_streams,
    ) -> None:
        self._streams = streams
        self._app = app
        self._largest = largest
        self._most = most
        self._slowest = slowest
        self._held = 0  # bodies in memory; one event loop alone counts them

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request, or answer 408, 413 or 503; cut who does not take what is sent."""
        if scope["type"] == "http":
            send = self._taken_in_time(send)
        if scope["type"] != "http" or not _has_body(scope) or self._streams(scope):
            await self._app(scope, receive, send)
            return
        if any(
            said.isdigit() and int(said) > self._largest for said in header_values(scope, b"content-length")
        ):
            await self._too_large(send, receive)
            return
        if self._held >= self._most:
            detail = (
                f"{plural(self._held, 'request is', 'requests are')} being answered already; "
                f"try again in {SOON} s"
            )
            await refuse(send, HTTPStatus.SERVICE_UNAVAILABLE, detail, rest=receive)
            return
        self._held += 1
        try:
            await self._serve(scope, receive, send)
        finally:
            self._held -= 1

    def _taken_in_time(self, send: Send) -> Send:
        """Return a `send` that raises TimeoutError where the caller takes nothing for long."""

        async def sending(message: Message) -> None:
            async with asyncio.timeout(self._slowest):
                await send(message)

        return sending

    async def _serve(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            async with asyncio.timeout(self._slowest):
                body, more = await self._read(receive)
        except TimeoutError:
            detail = f"the request did not arrive within {self._slowest:g} s; send it again, faster"
            await refuse(send, HTTPStatus.REQUEST_TIMEOUT, detail)
            return
        if body is None:
            return
        if len(body) > self._largest:
            await self._too_large(send, receive if more else None)
            return
        full: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

        async def again() -> Message:
            return full.pop() if full else await receive()

        await self._app(scope, again, send)

    async def _read(self, receive: Receive) -> tuple[bytes | None, bool]:
        """Return the body, or its beginning where it is too large, and whether there is more of it.

        None stands for it where the caller went away.
        """
        body = bytearray()
        more = True
        while more and len(body) <= self._largest:
            message = await receive()
            if message["type"] != "http.request":
                return None, False
            body += message.get("body", b"")
            more = message.get("more_body", False)
        return bytes(body), more

    async def _too_large(self, send: Send, rest: Receive | None) -> None:
        detail = f"the request is larger than {self._largest} bytes; send less at once"
        await refuse(send, HTTPStatus.REQUEST_ENTITY_TOO_LARGE, detail, rest=rest)


def header_values(scope: Scope, name: bytes) -> list[str]:
    """Return all values of a header, whose name is in small letters."""
    return [value.decode("latin-1") for key, value in scope["headers"] if key == name]


def _has_body(scope: Scope) -> bool:
    """Tell whether a body follows: HTTP/1.1 says so in one of two headers, later versions need not."""
    if not str(scope.get("http_version", "1.1")).startswith("1"):
        return scope["method"] not in ("GET", "HEAD")
    texts = header_values(scope, b"content-length")
    return bool(header_values(scope, b"transfer-encoding")) or any(value != "0" for value in texts)


async def refuse(
    send: Send,
    status: HTTPStatus,
    detail: str,
    more: Mapping[str, str] | None = None,
    *,
    rest: Receive | None = None,
) -> None:
    """Answer with a problem document and close; `rest` is what still brings a body that nobody reads.

    A connection that is closed with something unread is reset, and a caller that still sends may lose the
    answer with it: what comes is thrown away for a moment, and only then it is closed.
    """
    body = json.dumps(problem_document(status, detail)).encode()
    headers: Mapping[str, Any] = {
        "content-type": PROBLEM,
        "content-length": str(len(body)),
        "connection": "close",
        **problem_headers(status),
        **(more or {}),
    }
    encoded = [(name.lower().encode(), value.encode("latin-1")) for name, value in headers.items()]
    await send({"type": "http.response.start", "status": int(status), "headers": encoded})
    if rest is not None:
        await send({"type": "http.response.body", "body": body, "more_body": True})
        await _thrown_away(rest)
        body = b""
    await send({"type": "http.response.body", "body": body})


async def _thrown_away(receive: Receive) -> None:
    """Read what is left of a body, `LINGERS` bytes and seconds of it at most."""
    size, seconds = LINGERS
    with suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            while size > 0:
                message = await receive()
                if message["type"] != "http.request" or not message.get("more_body", False):
                    return
                size -= len(message.get("body", b""))


def body_of(scope: Scope, receive: Receive) -> Receive | None:
    """Return what brings the body of a request, for `refuse`; None where none follows."""
    return receive if _has_body(scope) else None


def lacking(key: ApiKey, needed: Role) -> str:
    """Say which role a key would need."""
    return f"this takes a key of role {needed.value}; {key.id} has role {key.role.value}"

"""The beginning and the end of a server: what comes while it cannot answer is told when to try again.

While a memory is opened, which takes long where its schema is brought up to date, a small server of its own
answers. When the end has begun, what came before is finished and what comes now is refused.
"""

import json
import socket
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from time import monotonic
from typing import Final

from starlette.types import ASGIApp, Receive, Scope, Send

from episodic_agent.faces.guard import (
    LINGERS,
    PROBLEM,
    SLOWEST,
    body_of,
    problem_document,
    problem_headers,
    refuse,
)

ALIVE: Final = frozenset(("/healthz", "/health/live"))
_ENDS: Final = "this process ends; what it acknowledged is durable: send this again in {seconds} s"
AGAIN: Final = "2"  # seconds until another process serves, or this one has started again


@dataclass(slots=True)
class EndOfService:
    """Whether the process was told to stop."""

    begun: bool = False


class Draining:
    """Refuse what comes after the end began (503 with Retry-After), readiness too; it still says it lives."""

    def __init__(self, app: ASGIApp, *, end: EndOfService) -> None:
        self._app = app
        self._end = end

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request, or answer 503."""
        if self._end.begun and scope["type"] == "http" and scope["path"] not in ALIVE:
            detail = _ENDS.format(seconds=AGAIN)
            again, rest = {"Retry-After": AGAIN}, body_of(scope, receive)
            await refuse(send, HTTPStatus.SERVICE_UNAVAILABLE, detail, again, rest=rest)
            return
        await self._app(scope, receive, send)


BACKLOG: Final = 2048  # connections that wait to be taken
_OPENS: Final = "the memory is being opened and its schema brought up to date; try again in 1 s"


class _Opening(BaseHTTPRequestHandler):
    """Says that the process lives and is not ready."""

    timeout = SLOWEST
    server_version, sys_version = "episodic-agent", ""

    def _answer(self) -> None:
        lives = self.path.partition("?")[0] in ALIVE
        status = HTTPStatus.OK if lives else HTTPStatus.SERVICE_UNAVAILABLE
        body = json.dumps({"status": "ok"} if lives else problem_document(status, _OPENS)).encode()
        self.send_response(status)
        for name, value in problem_headers(status).items():
            self.send_header(name, value)
        self.send_header("Content-Type", "application/json" if lives else PROBLEM)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Connection", "close")
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)
        self._throw_away()

    def _throw_away(self) -> None:
        """Read what the caller still sends, for a moment: closed with something unread it would be reset."""
        size, seconds = LINGERS
        ends = monotonic() + seconds
        with suppress(OSError):
            self.connection.shutdown(socket.SHUT_WR)  # the answer is whole: a caller that has it closes
            while size > 0 and (left := ends - monotonic()) > 0:
                self.connection.settimeout(left)
                some = self.connection.recv(1 << 16)
                if not some:
                    return
                size -= len(some)

    do_GET = do_HEAD = do_POST = do_PUT = do_PATCH = do_DELETE = _answer  # noqa: N815 - the library's names

    def log_message(self, format: str, *_: object) -> None:
        """Say nothing."""


def listen(host: str, port: int) -> socket.socket:
    """Return a socket that listens: who opens and who serves take turns at it, and nobody is turned away."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    return socket.create_server((host, port), family=family, backlog=BACKLOG)


@contextmanager
def answering(listener: socket.socket) -> Iterator[None]:
    """Answer requests on a socket until the block ends: alive, not ready (503 with Retry-After).

    The socket goes on listening: what comes when the block has ended waits for whoever serves on it.
    """

    class Server(ThreadingHTTPServer):
        daemon_threads = True
        block_on_close = False

    server = Server(listener.getsockname()[:2], _Opening, bind_and_activate=False)
    server.socket.close()
    server.socket = listener
    thread = Thread(target=server.serve_forever, args=(0.02,), name="episodic-opening")
    thread.start()
    try:
        yield
    finally:
        server.shutdown()
        thread.join()

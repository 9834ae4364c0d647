"""Who answers while a memory is opened, which takes long where its schema is brought up to date."""

import json
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Final

from episodic_agent.faces.guard import PROBLEM, SLOWEST, problem_document, problem_headers
from episodic_agent.faces.http.draining import ALIVE

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

    do_GET = do_HEAD = do_POST = do_PUT = do_PATCH = do_DELETE = _answer  # noqa: N815 - the library's names

    def log_message(self, format: str, *_: object) -> None:
        """Say nothing."""


@contextmanager
def answering(host: str, port: int) -> Iterator[None]:
    """Answer requests until the block ends: alive, not ready (503 with Retry-After)."""

    class Server(ThreadingHTTPServer):
        address_family = socket.AF_INET6 if ":" in host else socket.AF_INET
        daemon_threads = True
        block_on_close = False

    with Server((host, port), _Opening) as server:
        thread = Thread(target=server.serve_forever, args=(0.02,), name="episodic-opening")
        thread.start()
        try:
            yield
        finally:
            server.shutdown()
            thread.join()

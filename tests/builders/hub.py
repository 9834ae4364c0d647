"""A Hugging Face hub on this machine."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import sha256
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import ClassVar


class Hub(BaseHTTPRequestHandler):
    """A Hugging Face hub on this machine that serves the files of one folder in one repository."""

    files: Path
    asked: ClassVar[list[str]] = []

    def do_HEAD(self) -> None:
        self.answer(with_body=False)

    def do_GET(self) -> None:
        self.answer(with_body=True)

    def answer(self, *, with_body: bool) -> None:
        self.asked.append(f"{self.command} {self.path}")
        prefix = "/somebody/model/resolve/main/"
        file = self.files / self.path.removeprefix(prefix)
        if not self.path.startswith(prefix) or not file.is_file():
            self.send_response(404)
            known = self.path.startswith(prefix)
            self.send_header("X-Error-Code", "EntryNotFound" if known else "RepoNotFound")
            self.send_header("Content-Length", "0")
            self.end_headers()
            return
        body = file.read_bytes()
        self.send_response(200)
        self.send_header("ETag", f'"{sha256(body).hexdigest()}"')
        self.send_header("X-Repo-Commit", "0" * 40)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if with_body:
            self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@contextmanager
def serving_hub(folder: Path) -> Iterator[str]:
    """Serve a folder as the repository somebody/model, and give the hub's address."""
    handler = type("_Hub", (Hub,), {"files": folder, "asked": []})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, args=(0.005,), daemon=True).start()
    yield f"http://127.0.0.1:{server.server_address[1]}"
    server.shutdown()
    server.server_close()

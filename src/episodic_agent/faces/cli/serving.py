"""The command that serves a memory over HTTP."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from importlib import import_module
from ipaddress import ip_address
from typing import Any

import click

from episodic_agent.engine.memory import Memory
from episodic_agent.errors import InvalidInput
from episodic_agent.faces.cli.app import App, say


@click.command()
@click.option(
    "--host", default="127.0.0.1", show_default=True, help="The address to listen on: of this machine."
)
@click.option("--port", type=click.IntRange(0, 65535), default=8765, show_default=True, help="The port.")
@click.pass_obj
def serve(app: App, host: str, port: int) -> None:
    """Answer over HTTP (`/api/v0`, `/docs`) until told to stop; needs the extra `serve`.

    There are no keys yet, so only this machine is listened to.
    """
    if not _is_loopback(host):
        raise InvalidInput(
            f"--host {host}: there are no keys yet, so only 127.0.0.1, ::1 or localhost is served"
        )

    serving = _serving()
    with ExitStack() as stack:  # what is wrong with the memory is said at once, in one line
        memory = stack.enter_context(app.memory(create=True, resume=True))
        say(f"serving {app.shown_url} on http://{host}:{port} for this machine only; /docs tells the routes")
        serving.serve(lambda: _handed_over(memory, stack), host, port)


@contextmanager
def _handed_over(memory: Memory, stack: ExitStack) -> Iterator[Memory]:
    """Let the server close the memory when it ends: a signal may leave nobody else to do it."""
    with stack.pop_all():
        yield memory


def _serving() -> Any:
    try:
        return import_module("episodic_agent.faces.http.serving")
    except ImportError as error:
        if (error.name or "").startswith("episodic_agent"):
            raise
        raise InvalidInput("serving needs a web server; run pip install 'episodic-agent[serve]'") from error


def _is_loopback(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"

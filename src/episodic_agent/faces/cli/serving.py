"""The commands that serve until they are stopped: HTTP, and MCP tools for agents.

It imports as little as it can: an agent's client waits for the answer to its first request, which the greeter
gives while everything else loads.
"""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import click

from episodic_agent.errors import InvalidInput
from episodic_agent.faces.cli.app import App
from episodic_agent.faces.cli.saying import say
from episodic_agent.faces.loopback import is_loopback
from episodic_agent.faces.mcp.greeting import Greeter
from episodic_agent.lazily import load, module

if TYPE_CHECKING:
    from episodic_agent import wiring
    from episodic_agent.engine.memory import Memory
    from episodic_agent.faces.mcp import serving
    from episodic_agent.faces.tools import answers
else:
    wiring = module("episodic_agent.wiring")
    serving = module("episodic_agent.faces.mcp.serving")
    answers = module("episodic_agent.faces.tools.answers")

MISSING = "`mcp` needs its library; run pip install 'episodic-agent[mcp]'"


@click.command()
@click.option("--http", "port", type=click.IntRange(1, 65535), metavar="PORT", help="Serve HTTP at /mcp.")
@click.option("--user", metavar="NAME", help="Whose memory (default: EPISODIC_USER).")
@click.pass_obj
def mcp(app: App, port: int | None, user: str | None) -> None:
    """Give an agent the memory as MCP tools, on standard input and output; needs the extra `mcp`.

    Over HTTP only this machine is listened to; the header X-Episodic-User may name the user.
    """
    if find_spec("mcp") is None:
        raise InvalidInput(MISSING)
    greeter = Greeter() if port is None else None
    budget = answers.check_budget(wiring.load_settings().tool_budget)
    with app.memory(create=True, resume=True) as memory:
        memory.warm()  # on a thread of its own, while the library is imported
        host = _host()
        fallback = wiring.load_settings().user or serving.FALLBACK
        if greeter is not None:
            serving.serve_stdio(memory, user, fallback, budget, greeter)
        elif port is not None:
            say(f"serving {app.shown_url} on http://{host}:{port}/mcp for this machine only")
            serving.serve_http(memory, user, fallback, budget, port)


def _host() -> str:
    """Return where HTTP is served; InvalidInput where the library cannot be loaded."""
    try:
        return serving.HOST
    except ImportError as error:
        if (error.name or "").startswith("episodic_agent"):
            raise
        raise InvalidInput(MISSING) from error


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
    if not is_loopback(host):
        raise InvalidInput(
            f"--host {host}: there are no keys yet, so only 127.0.0.1, ::1 or localhost is served"
        )

    http = _http()
    with ExitStack() as stack:  # what is wrong with the memory is said at once, in one line
        memory = stack.enter_context(app.memory(create=True, resume=True))
        shown = f"[{host}]" if ":" in host else host
        say(f"serving {app.shown_url} on http://{shown}:{port} for this machine only; /docs tells the routes")
        http.serve(lambda: _handed_over(memory, stack), host, port)


@contextmanager
def _handed_over(memory: "Memory", stack: ExitStack) -> "Iterator[Memory]":
    """Let the server close the memory when it ends: a signal may leave nobody else to do it."""
    with stack.pop_all():
        yield memory


def _http() -> Any:
    try:
        return load("episodic_agent.faces.http.serving")
    except ImportError as error:
        if (error.name or "").startswith("episodic_agent"):
            raise
        raise InvalidInput("serving needs a web server; run pip install 'episodic-agent[serve]'") from error

"""The commands that serve until they are stopped: HTTP, and MCP tools for agents.

It imports as little as it can: an agent's client waits for the answer to its first request, which the greeter
gives while everything else loads.
"""

import socket
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, nullcontext
from dataclasses import dataclass
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import click

from episodic_agent.errors import InvalidInput, NotFound, StoreError
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

ONE_PROCESS = (
    "--workers {workers}: {url} is a file, which one process serves; give --db postgresql://… for several, "
    "or leave --workers out"
)
NO_KEYS = (
    "--host {host}: there are no keys, so only 127.0.0.1, ::1 or localhost is served; "
    "`episodic keys create --role write` makes one"
)


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
    if port is not None:
        _check_free("127.0.0.1", port, "--http")
    greeter = Greeter() if port is None else None
    budget = answers.check_budget(wiring.load_settings().tool_budget)
    with app.memory(create=True, resume=True) as memory:
        host = _host()
        memory.warm()  # not before the library is there: the client waits for the list of tools
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
    "--host",
    default="127.0.0.1",
    show_default=True,
    help="The address to listen on; any, once there is a key.",
)
@click.option("--port", type=click.IntRange(0, 65535), default=8765, show_default=True, help="The port.")
@click.option(
    "--rate",
    type=click.FloatRange(0.1, 100_000),
    default=100.0,
    show_default=True,
    help="Requests a second each key may make of one process.",
)
@click.option(
    "--workers",
    type=click.IntRange(1, 64),
    default=1,
    show_default=True,
    help="Processes that serve; more than one on PostgreSQL only.",
)
@click.pass_obj
def serve(app: App, host: str, port: int, rate: float, workers: int) -> None:
    """Answer over HTTP (`/v1`, `/docs`) until told to stop; needs the extra `serve`.

    Without keys (`episodic keys create`) only this machine is listened to; with them whoever holds one may
    ask, of the space it was made for.
    """
    http = _http()
    if workers > 1 and not wiring.is_server(app.url):
        raise InvalidInput(ONE_PROCESS.format(workers=workers, url=app.shown_url))
    _check_free(host, port, "--port")
    with ExitStack() as stack:  # what is wrong with the memory is said at once, in one line
        with http.answering(host, port) if port else nullcontext():
            try:
                memory = stack.enter_context(app.memory(create=is_loopback(host), resume=workers == 1))
            except NotFound as error:
                raise InvalidInput(NO_KEYS.format(host=host)) from error
            keyed = _reads_keys(memory, host)
        whom = "for whoever holds a key" if keyed and memory.keys.exist() else "for this machine only"
        shown = f"[{host}]" if ":" in host else host
        many = f", {workers} processes" if workers > 1 else ""
        say(f"serving {app.shown_url} on http://{shown}:{port} {whom}{many}; /docs tells the routes")
        if workers == 1:
            memory.warm()
            http.serve(lambda: _handed_over(memory, stack), host, port, rate=rate, keyed=keyed)
            return
    http.serve_many(WarmMemory(app), http.Limits(host, port, rate, keyed), workers)


@dataclass(frozen=True, slots=True)
class WarmMemory:
    """How each of several processes opens the memory; it can be sent to them."""

    app: App

    @contextmanager
    def __call__(self) -> "Iterator[Memory]":
        """Open it, its background too."""
        with self.app.memory(resume=True) as memory:
            memory.warm()
            yield memory


def _reads_keys(memory: "Memory", host: str) -> bool:
    """Tell whether keys are looked at; InvalidInput where others than this machine would need none."""
    try:
        there = memory.keys.exist()
    except StoreError as error:  # a login that acts in one space may not look at them
        if not is_loopback(host):
            raise
        say(f"keys are not looked at: {error}")
        return False
    if not there and not is_loopback(host):
        raise InvalidInput(NO_KEYS.format(host=host))
    return True


def _check_free(host: str, port: int, option: str) -> None:
    """Raise InvalidInput where something listens already: the server would say so after all is opened."""
    try:
        with socket.create_server((host, port), family=socket.AF_INET6 if ":" in host else socket.AF_INET):
            pass
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        remedy = f"stop the program that has it, or choose another with {option}"
        raise InvalidInput(f"port {port} of {host} cannot be had ({reason}); {remedy}") from error


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

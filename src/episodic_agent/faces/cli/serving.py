"""The commands that serve: HTTP and MCP tools until they are stopped, and hooks whenever an agent calls.

It imports as little as it can: an agent's client waits for the answer to its first request, which the greeter
gives while everything else loads.
"""

import hashlib
import shlex
import socket
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, nullcontext
from dataclasses import dataclass
from difflib import unified_diff
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from episodic_agent.errors import InvalidInput, NotFound, StoreError, install_extra
from episodic_agent.faces.cli.app import WHOSE, App, print_json, whose, with_json, with_user
from episodic_agent.faces.cli.saying import say, tell
from episodic_agent.faces.loopback import is_loopback
from episodic_agent.faces.mcp.greeting import Greeter
from episodic_agent.lazily import load, module

if TYPE_CHECKING:
    from episodic_agent import wiring
    from episodic_agent.engine import arguments
    from episodic_agent.engine import memory as engine
    from episodic_agent.engine.memory import Memory
    from episodic_agent.engine.user import UserMemory
    from episodic_agent.faces.hooks import agents, running, settings_file
    from episodic_agent.faces.hooks import spool as spools
    from episodic_agent.faces.mcp import serving
    from episodic_agent.faces.tools import answers
else:
    engine = module("episodic_agent.engine.memory")
    arguments = module("episodic_agent.engine.arguments")
    wiring = module("episodic_agent.wiring")
    agents = module("episodic_agent.faces.hooks.agents")
    running = module("episodic_agent.faces.hooks.running")
    settings_file = module("episodic_agent.faces.hooks.settings_file")
    spools = module("episodic_agent.faces.hooks.spool")
    serving = module("episodic_agent.faces.mcp.serving")
    answers = module("episodic_agent.faces.tools.answers")

MISSING = f"`mcp` needs its library; {install_extra('mcp')}"

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
@with_user
@click.option("--only", multiple=True, metavar="NAME", help="Nothing but of these threads and channels.")
@click.pass_obj
def mcp(app: App, port: int | None, only: tuple[str, ...]) -> None:
    """Give an agent the memory as MCP tools, on standard input and output; needs the extra `mcp`.

    Over HTTP only this machine is listened to; the header X-Episodic-User may name the user. Where nobody is
    named or remembered yet, the first message is kept for `default`. With --only no tool and no resource
    tells what was said elsewhere, whatever a model asks for.
    """
    if find_spec("mcp") is None:
        raise InvalidInput(MISSING)
    if port is not None:
        _check_free("127.0.0.1", port, "--http")
    greeter = Greeter() if port is None else None
    budget = answers.check_budget(wiring.load_settings().tool_budget)
    only = arguments.names_or_none("only", only or None) or ()
    with app.memory(create=True, resume=True) as memory:
        host = _host()
        memory.warm()  # not before the library is there: the client waits for the list of tools
        user = app.user_name or wiring.load_settings().user or None
        if greeter is not None:
            serving.serve_stdio(memory, user, budget, greeter, only)
        elif port is not None:
            say(f"serving {app.shown_url} on http://{host}:{port}/mcp for this machine only")
            serving.serve_http(memory, user, budget, port, only)


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
    help="Requests a second each key may make, of all processes together.",
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
    # One socket from the first moment on: whoever asks early is answered, or waits, and is never turned away.
    with http.listen(host, port) if port else nullcontext() as listener:
        with ExitStack() as stack:  # what is wrong with the memory is said at once, in one line
            with http.answering(listener) if listener else nullcontext():
                try:
                    memory = stack.enter_context(app.memory(create=is_loopback(host), resume=workers == 1))
                except NotFound as error:
                    raise InvalidInput(NO_KEYS.format(host=host)) from error
                keyed = _has_keys(memory, host)
                whom = "for whoever holds a key" if keyed else "for this machine only"
                whom = f"{whom}, {workers} processes" if workers > 1 else whom
                _say_where(app, host, port, whom + _if_it_knows_nobody(memory, keyed=keyed))
                if workers == 1:
                    memory.warm()
            if workers == 1:
                sockets = [listener] if listener else None
                opened = partial(_handed_over, memory, stack)
                http.serve(opened, host, port, rate=rate, sockets=sockets)
                return
        http.serve_many(WarmMemory(app), http.Limits(host, port, rate), workers, listener=listener)


def _if_it_knows_nobody(memory: "Memory", *, keyed: bool) -> str:
    """Return what is said of a memory that holds nobody in what is served: its file may be misspelt."""
    spaces = engine.Spaces(memory)
    served = spaces.opened_by_keys() if keyed else []
    known = spaces.remembering() if served else []
    return "" if memory.users() or not set(served).isdisjoint(known) else ", and knows nobody yet"


def _say_where(app: App, host: str, port: int, whom: str) -> None:
    place = f"http://{f'[{host}]' if ':' in host else host}:{port}"
    say(f"serving {app.shown_url} on {place} {whom}; the dashboard is there, /docs tells the routes")


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


def _has_keys(memory: "Memory", host: str) -> bool:
    """Tell whether there are keys; InvalidInput where others than this machine would need none.

    Raises StoreError where the login may not look at them, as one that acts in a single space may not:
    nobody would be asked for a key.
    """
    try:
        there = memory.keys.exist()
    except StoreError as error:
        raise type(error)(f"keys cannot be looked at, so nothing is served: {error}") from error
    if not there and not is_loopback(host):
        raise InvalidInput(NO_KEYS.format(host=host))
    return there


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
        raise InvalidInput(f"serving needs a web server; {install_extra('serve')}") from error


# --- hooks of coding agents ------------------------------------------------------------------------------

AGENT = "claude-code|codex"
_file = click.option(
    "--file", type=click.Path(path_type=Path), help="The agent's settings file (default: the user's own)."
)
_dry_run = click.option("--dry-run", is_flag=True, help="Show what would be written, and write nothing.")


@click.group()
def hooks() -> None:
    """Let a coding agent remember by itself: write its hooks, show them, undo them."""


@hooks.command()
@click.argument("agent", metavar=AGENT)
@_file
@_dry_run
@with_user
@click.pass_obj
def install(app: App, agent: str, file: Path | None, dry_run: bool) -> None:
    """Write the hooks into the agent's settings; what stands there stays."""
    coding = agents.agent_of(agent)
    url, name = _absolute(app), _whose(app)
    path = file or coding.file(Path.home())
    entries = agents.entries(coding, sys.executable, [*_opening(app), "--user", name])
    change = settings_file.installing(path, entries)
    if dry_run:
        _show(change)
        return
    settings_file.check_writable(change.path)  # before a memory is made for nothing
    with app.memory(create=True):  # whatever a first opening takes, no turn of the agent waits for it
        pass
    settings_file.apply(change)
    tell(
        f"{'written' if change.needed else 'already written'}: {path}\n"
        f"memory: {wiring.without_password(url)}, of {name}"
    )
    if coding.after and change.needed:
        tell(coding.after)


@hooks.command()
@click.argument("agent", metavar=AGENT)
@_file
@_dry_run
@click.pass_obj
def remove(app: App, agent: str, file: Path | None, dry_run: bool) -> None:
    """Take the hooks out of the agent's settings; what was remembered stays."""
    del app
    path = file or agents.agent_of(agent).file(Path.home())
    change = settings_file.removing(path)
    if dry_run:
        _show(change)
        return
    settings_file.apply(change)
    tell(f"removed: {path}" if change.needed else f"nothing to remove: {path} has no hooks of episodic")


@hooks.command()
@with_json
@click.pass_obj
def status(app: App) -> None:
    """Show which agents have hooks, with which memory, and what went wrong last."""
    cache = _cache()
    listed: list[dict[str, Any]] = []
    for coding in agents.AGENTS.values():
        path = coding.file(Path.home())
        commands = settings_file.installed(path)
        missing = [event for event in coding.events if event not in commands]
        listed.append({"agent": coding.name, "file": str(path), "commands": commands, "missing": missing})
    memories = [_shown_waiting(one) for one in spools.waiting_everywhere(cache)]
    waiting = sum(one["waiting"] for one in memories)
    last_error = spools.last_error(cache)
    if app.as_json:
        shown = {"agents": listed, "waiting": waiting, "memories": memories, "last_error": last_error}
        print_json(shown)
        return
    for entry in listed:
        state = "no hooks" if not entry["commands"] else "hooks" if not entry["missing"] else "some hooks"
        tell(f"{entry['agent']}: {state} in {entry['file']}")
        for event, command in entry["commands"].items():
            tell(f"  {event}: {command}")
    tell(f"events that wait: {waiting}")
    for place in memories:
        keeping = place["keep"]
        remedy = f"keep them: {keeping}" if keeping else "the next hook there says for which memory"
        tell(f"  {place['waiting']} in {place['folder']}; {remedy}")
    if last_error:
        tell(f"last error: {last_error}")


# An agent reads exit code 2 as a refusal of what its user asked: nothing here may end with it.
@hooks.command(name="run", context_settings={"ignore_unknown_options": True, "allow_extra_args": True})
@click.argument("event")
@click.option("--agent", default="claude-code", show_default=True, metavar=AGENT)
@with_user
@click.pass_obj
def run_hook(app: App, event: str, agent: str) -> None:
    """Handle one EVENT, its JSON on standard input; the agent calls this."""

    def act() -> str:
        text = sys.stdin.buffer.read().decode("utf-8", "replace")  # whatever the locale: JSON is UTF-8
        name = _whose(app)
        return running.run(
            agents.agent_of(agent).name,
            event,
            text,
            spool=_spool(app, name),
            opened=lambda answer: _answered(app, name, answer),
            detach=lambda: running.detach(["hooks", "keep", *_opening(app), "--user", name]),
            now=wiring.utc_now,
            largest=wiring.load_settings().message_bytes,
        )

    answer = running.unbroken(act, cache=_cache(), now=wiring.utc_now, say=say)
    if answer:
        tell(answer)


@hooks.command()
@click.option(
    "--from",
    "folder",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    metavar="FOLDER",
    help="Keep here what waits in FOLDER for another memory (`hooks status` lists folders).",
)
@with_user
@click.pass_obj
def keep(app: App, folder: Path | None) -> None:
    """Keep the events that wait, as the process does that a hook leaves behind."""

    def act() -> str:
        name = _whose(app)
        spool = _spool(app, name) if folder is None else spools.Spool(folder, ())
        with app.memory(create=True, resume=True) as memory:
            count = running.keep(memory.user(name, new=True), spool, _report)
        return f"{count} kept"

    tell(running.unbroken(act, cache=_cache(), now=wiring.utc_now, say=say))


def _answered(app: App, name: str, answer: "Callable[[UserMemory], str]") -> str:
    with app.memory(create=True) as memory:
        return answer(memory.user(name, new=True))


def _report(line: str) -> None:
    spools.log_error(_cache(), f"{wiring.utc_now():%Y-%m-%dT%H:%M:%SZ} {line}")
    say(line)


def _cache() -> Path:
    return Path(wiring.load_settings().cache).expanduser()


def _spool(app: App, name: str) -> "spools.Spool":
    key = f"{_absolute(app)}\n{name}".encode()
    opening = [*_opening(app), "--user", name]
    folder = _cache() / spools.FOLDER / hashlib.blake2b(key, digest_size=8).hexdigest()
    return spools.Spool(folder, opening)


def _shown_waiting(events: "spools.WaitingEvents") -> dict[str, Any]:
    """Return what waits for one memory as it is shown, with the command that keeps it."""
    words = [wiring.without_password(word) if wiring.is_server(word) else word for word in events.opening]
    keeping = shlex.join(["episodic", "hooks", "keep", *words]) if words else ""
    return {"folder": str(events.folder), "waiting": events.count, "keep": keeping}


def _absolute(app: App) -> str:
    """Return the memory as it is called from any folder: an agent runs its hooks in that of the project."""
    return app.url if wiring.is_server(app.url) else str(wiring.database_path(app.url).absolute())


def _opening(app: App) -> list[str]:
    """Return the options that open the same memory in the same way from anywhere."""
    values = {"--db": _absolute(app), "--embedder": app.embedder, "--policy": app.policy}
    values |= {"--calibration": app.calibration, "--llm": app.llm}
    return [word for name, value in values.items() if value for word in (name, value)]


def _whose(app: App) -> str:
    """Return the name of the user meant; InvalidInput where nobody says whose memory it is."""
    name = app.user_name or wiring.load_settings().user
    if name:
        return name
    if wiring.is_server(app.url) or wiring.database_path(app.url).exists():
        with app.memory() as memory:
            return whose(memory, None).name
    raise InvalidInput(f"{WHOSE}; nobody is remembered here yet")


def _show(change: "settings_file.SettingsChange") -> None:
    """Show a change of a settings file line by line."""
    before, after = ((text or "").splitlines() for text in (change.before, change.after))
    lines = list(unified_diff(before, after, str(change.path), str(change.path), lineterm="", n=2))
    tell("\n".join(lines) if lines else f"nothing would change in {change.path}")

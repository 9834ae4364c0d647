"""Every public verb of Python has a route, a command, a tool and a heading, or a reason why not."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import pytest
from builders.web import LocalClient

from episodic_agent import Memory
from episodic_agent.engine.async_memory import is_room
from episodic_agent.engine.keys import KeyRoom
from episodic_agent.faces.cli.main import cli
from episodic_agent.faces.http.app import make_app
from episodic_agent.faces.tools.table import TOOLS
from episodic_agent.faces.verbs import ROOMS
from episodic_agent.wiring import utc_now

ROOT = Path(__file__).parents[2]
# Verb: its command and its tool; "-" where there is none, for the reason in WHY.
FACES = {
    "add": ("add", "add_memory"),
    "context": ("context", "get_context"),
    "search": ("search", "search_memory"),
    "retrieve": ("retrieve", "-"),
    "run": ("run", "-"),
    "import_file": ("import", "-"),
    "export": ("export", "-"),
    "erase": ("forget", "forget_memory"),
    "flush": ("flush", "-"),
    "stats": ("stats", "-"),
    "upkeep": ("upkeep", "-"),
    "episodes.list": ("episodes", "-"),
    "episodes.recent": ("recent", "recent_memory"),
    "episodes.get": ("show", "explain_memory"),
    "episodes.rename": ("rename", "-"),
    "episodes.messages": ("show", "explain_memory"),
    "episodes.pin": ("pin", "-"),
    "episodes.unpin": ("unpin", "-"),
    "episodes.pinned": ("pinned", "-"),
    "episodes.suppress": ("suppress", "-"),
    "episodes.unsuppress": ("unsuppress", "-"),
    "episodes.suppressed": ("suppressed", "-"),
    "episodes.reencode": ("reencode", "-"),
    "threads.list": ("threads", "list_threads"),
    "threads.get": ("thread show", "-"),
    "threads.close": ("thread close", "-"),
    "threads.select": ("thread select", "-"),
    "threads.rename": ("thread rename", "-"),
    "threads.set_timeout": ("thread timeout", "-"),
    "sessions.start": ("session start", "start_session"),
    "sessions.end": ("session end", "end_session"),
    "sessions.list": ("session list", "-"),
    "sessions.get": ("session show", "-"),
    "facts.list": ("facts list", "get_facts"),
    "facts.get": ("facts show", "-"),
    "facts.history": ("facts history", "-"),
    "facts.edit": ("facts edit", "-"),
    "facts.pin": ("facts pin", "-"),
    "facts.confirm": ("facts confirm", "-"),
    "facts.delete": ("facts delete", "-"),
    "facts.consolidate": ("facts learn", "-"),
    "links.list": ("link list", "-"),
    "links.explain": ("link explain", "-"),
    "links.add": ("link add", "-"),
    "links.remove": ("link unlink", "-"),
    "links.outcome": ("link outcome", "-"),
    "chains.get": ("chain", "-"),
    "chains.arc": ("arc", "-"),
    "chains.sequence": ("sequence", "replay_topic"),
    "chains.replay": ("replay", "replay_topic"),
    "skills.list": ("skills", "-"),
    "skills.get": ("skill show", "-"),
    "skills.used": ("skill used", "-"),
    "skills.delete": ("skill forget", "-"),
    "sections.list": ("summaries", "-"),
    "sections.compact": ("compact", "-"),
    "people.list": ("people list", "-"),
    "people.same": ("people same", "-"),
    "people.apart": ("people apart", "-"),
    "places.list": ("places", "-"),
    "places.visits": ("visits", "-"),
    "places.route": ("route", "-"),
    "boundaries.explain": ("explain", "explain_memory"),
    "boundaries.whatif": ("whatif", "-"),
    "boundaries.resegment": ("resegment", "-"),
    "boundaries.undo": ("resegment", "-"),
    "boundaries.trace": ("plot", "-"),
    "retention.get": ("retention show", "-"),
    "retention.set": ("retention set", "-"),
    "retention.preview": ("retention preview", "-"),
    "retention.apply": ("retention apply", "-"),
    "tuning.run": ("tune run", "-"),
    "tuning.list": ("tune history", "-"),
    "tuning.rollback": ("tune rollback", "-"),
    "tuning.outcome": ("tune outcome", "-"),
    "trace.turn": ("trace", "-"),
    "trace.decisions": ("decisions", "-"),
    "trace.changes": ("changes", "-"),
    "trace.audit": ("audit", "-"),
    "erasures.list": ("forget receipts", "-"),
    "erasures.residue": ("forget check", "-"),
    "erasures.repeats": ("forget check", "-"),
    "jobs.list": ("jobs list", "-"),
    "jobs.counts": ("jobs list", "-"),
    "jobs.retry": ("jobs retry", "-"),
    "jobs.retry_dead": ("jobs retry", "-"),
    "jobs.cancel": ("jobs cancel", "-"),
    "jobs.run": ("upkeep", "-"),
    "jobs.worker": ("worker", "-"),
    "jobs.reembed": ("jobs reembed", "-"),
    "Memory.doctor": ("doctor", "-"),
    "Memory.backup": ("backup", "-"),
    "Memory.usage": ("usage", "-"),
    "Memory.upkeep": ("upkeep", "-"),
    "Memory.erasures": ("forget receipts", "-"),
    "Memory.keys.create": ("keys create", "-"),
    "Memory.keys.list": ("keys list", "-"),
    "Memory.keys.revoke": ("keys revoke", "-"),
    "Memory.keys.rotate": ("keys rotate", "-"),
}  # fmt: skip
WHY_NO_TOOL = "a model has few tools: what it needs in a talk, not what people do to a memory"
WHY_NO_COMMAND = {
    "as_of": "`--as-of` is it, of each command that reads",
    "only": "`--only` is it, of the commands that recall and list, and of `mcp`",
    "episodes.card": "`show` prints it",
    "episodes.contents": "it reads several at once, for programs",
    "episodes.history": "a program's look at versions; `export` holds them all",
    "episodes.reviews": "a program's look at judgements; `export` holds them all",
    "episodes.successor": "`show` follows it by itself",
    "episodes.replaced": "commands complete ids by it",
    "sections.ids": "commands complete ids by it",
    "links.episodes": "`episodes` lists them",
    "links.foresee": "a program asks before it stores",
    "chains.tree": "`arc` draws it",
    "chains.heads": "a program's list of where stories may go on",
    "chains.add": "a program's correction of a chain",
    "chains.remove": "a program's correction of a chain",
    "chains.refusals": "a program's look at corrections",
    "jobs.follow": "a command waits for what it adds, or `jobs list` shows it",
    "jobs.import_file": "`import` tells how far it is, and goes on where it was when it is called again",
    "jobs.operation": "a command waits for what it adds, or `jobs list` shows it",
    "Memory.users": "errors name the users there are; `export` is one user's",
    "Memory.user": "`--user` is it",
    "Memory.close": "a command closes what it opened",
    "Memory.resume": "`serve` and `mcp` do it",
    "Memory.warm": "`mcp` does it",
    "Memory.keys.exist": "`serve` asks it",
    "Memory.keys.check": "the service asks it",
}
WHY_NO_ROUTE = {
    "as_of": "`?as_of=` is it, of each route that reads",
    "only": "a handle of a program's own; `only` narrows what a route recalls or lists",
    "run": "a sensor is a device beside the program, not behind a request",
    "episodes.contents": "it takes cards a program holds; `…/messages` reads one",
    "sections.ids": "`/sections` has them",
    "jobs.follow": "`POST …/messages` answers with it",
    "jobs.import_file": "`POST …/import?wait=false` is it",
    "jobs.worker": "a worker is a process; `episodic worker` starts one",
    "jobs.reembed": "whoever changes the embedder of a service does it by `episodic jobs reembed`",
    "Memory.user": "the user stands in the path",
    "Memory.close": "whoever serves closes it",
    "Memory.resume": "whoever serves does it",
    "Memory.warm": "whoever serves does it",
    "Memory.doctor": "it reads the whole file; `episodic doctor` runs beside the service",
    "Memory.backup": "it writes a file on the server's disk; `episodic backup` does while it serves",
    "Memory.keys.create": "no key makes keys: `episodic keys`, beside the database",
    "Memory.keys.list": "no key lists keys: `episodic keys`, beside the database",
    "Memory.keys.revoke": "no key ends keys: `episodic keys`, beside the database",
    "Memory.keys.rotate": "no key makes keys: `episodic keys`, beside the database",
    "Memory.keys.exist": "the service asks it",
    "Memory.keys.check": "the service asks it",
}


def verbs(tree: Any, path: str = "") -> Iterator[str]:
    for name in dir(tree):
        member = None if name.startswith("_") else getattr(tree, name)
        if is_room(member):
            yield from verbs(member, f"{path}{name}.")
        elif callable(member):
            yield path + name


@pytest.fixture(scope="module")
def all_verbs() -> set[str]:
    with Memory.open(":memory:", embedder="none", resume=False) as memory:
        own = set(verbs(memory.user("ana", new=True)))
        space = {
            f"Memory.{verb}" for verb in verbs(memory) if verb != "open" and not verb.startswith("jobs.")
        }
        return own | space


def commands(above: click.Group, path: str = "") -> Iterator[str]:
    for name, command in above.commands.items():
        yield path + name
        if isinstance(command, click.Group):
            yield from commands(command, f"{path}{name} ")


def test_every_verb_has_a_route_or_a_reason(all_verbs: set[str]) -> None:
    app = make_app(lambda: Memory.open(":memory:", embedder="none", resume=False), utc_now)
    with LocalClient(app) as client:
        paths = client.get("/openapi.json").json()["paths"]
    operations = [o for methods in paths.values() for o in methods.values() if "x-verb" in o]
    routed = {("Memory." if o["tags"] == ["space"] else "") + o["x-verb"] for o in operations}
    routed = {verb.replace("Memory.jobs.", "jobs.") for verb in routed}
    assert all_verbs - routed == WHY_NO_ROUTE.keys()
    assert routed <= all_verbs


def test_every_verb_has_a_command_or_a_reason(all_verbs: set[str]) -> None:
    assert all_verbs - FACES.keys() == WHY_NO_COMMAND.keys()
    assert {command for command, _ in FACES.values()} <= set(commands(cli))


def test_every_tool_is_a_verb_and_few_verbs_are_tools() -> None:
    assert {tool for _, tool in FACES.values()} - {"-"} == {tool.name for tool in TOOLS}
    assert all(WHY_NO_TOOL for _, tool in FACES.values() if tool == "-")


def test_every_verb_stands_under_a_heading_of_the_reference(all_verbs: set[str]) -> None:
    # docs/api.md is made from docstrings: a class that it names has a heading for each of its verbs
    named = set(re.findall(r"^::: ([\w.]+)$", (ROOT / "docs" / "api.md").read_text(encoding="utf-8"), re.M))
    rooms = {f"{kind.__module__}.{kind.__name__}" for kind in (*ROOMS.values(), KeyRoom)}
    assert rooms | {f"episodic_agent.{name}" for name in ("Memory", "UserMemory", "Client")} <= named
    assert {verb.rpartition(".")[0] for verb in all_verbs} <= {"", "Memory", "Memory.keys", *ROOMS}

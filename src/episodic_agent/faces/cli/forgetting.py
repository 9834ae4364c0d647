"""The command `forget`: erase an observation, an episode, a thread or a user; receipts; what is left."""

import sys
from collections.abc import Callable, Mapping
from typing import Any

import click
from rich.table import Table

from episodic_agent.core.erasing import Erasure
from episodic_agent.errors import InvalidInput
from episodic_agent.faces.cli.app import App, common, out, parse_id, plain, print_json, say

LISTED = ("observations", "episodes", "threads", "summaries", "decisions", "vectors", "skills")  # told first
NAMED = 5  # messages that hold the same words


@click.group()
def forget() -> None:
    """Erase for good; what was made of it is made again without it."""


def erasing(function: Callable[..., None]) -> Callable[..., None]:
    """Give a command the options of those that erase."""
    dry = click.option("--dry-run", is_flag=True, help="Only count what would go; write nothing.")
    yes = click.option("--yes", is_flag=True, help="Do not ask.")
    later = click.option("--later", is_flag=True, help="Leave cleaning the file to `upkeep`.")
    return dry(yes(later(common(function))))


@forget.command("observation")
@click.argument("id")
@erasing
def forget_observation(app: App, id: str, **given: Any) -> None:
    """Erase one message or step by its ID, as `show --json` prints it."""
    _erase(app, {"observation": id}, f"observation {id}", given)


@forget.command("episode")
@click.argument("id")
@erasing
def forget_episode(app: App, id: str, **given: Any) -> None:
    """Erase an episode with all of its messages, by its ID or the beginning of one."""
    with app.memory() as memory:
        whole = parse_id(id, memory, given["user"])
    _erase(app, {"episode": whole}, f"episode {whole}", given)


@forget.command("thread")
@click.argument("name")
@erasing
def forget_thread(app: App, name: str, **given: Any) -> None:
    """Erase a thread with everything in it."""
    _erase(app, {"thread": name}, f"thread {name!r}", given)


@forget.command("user")
@click.argument("name")
@click.option("--dry-run", is_flag=True, help="Only count what would go; write nothing.")
@click.option("--yes", is_flag=True, help="Do not ask.")
@click.option("--later", is_flag=True, help="Leave cleaning the file to `upkeep`.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object for scripts.")
@click.pass_obj
def forget_user(app: App, /, name: str, **given: Any) -> None:
    """Erase everything of a user, who must be named."""
    _erase(app, {"everything": True}, f"everything of user {name!r}", {**given, "user": name})


@forget.command()
@common
def receipts(app: App, user: str | None, as_json: bool) -> None:
    """List what was erased in this space, or of one user, oldest first."""
    with app.memory() as memory:
        found = memory.receipts(user_id=user)
    if as_json:
        print_json({"receipts": found})
        return
    if not found:
        say("nothing was erased")
        return
    table = Table(box=None, header_style="bold")
    table.add_column("receipt", no_wrap=True)
    for name in ("at", "what", "reason", "state", "residue", "counts"):
        table.add_column(name, overflow="fold")
    for one in found:
        residue = "" if one.residue is None else str(one.residue)
        when = f"{one.at:%Y-%m-%d %H:%M}"
        table.add_row(str(one.id), when, one.what.value, one.reason, one.state, residue, _counted(one.counts))
    out().print(table)


@forget.command()
@click.argument("texts", metavar="TEXT...", nargs=-1, required=True)
@common
def check(app: App, texts: tuple[str, ...], user: str | None, as_json: bool) -> None:
    """Look for texts in the database beside messages that are kept; exit code 1 when one is found."""
    with app.memory() as memory:
        found = memory.residue(texts, user_id=user)
    if as_json:
        print_json({"found": found, "clean": not found})
    else:
        for text in found:
            out().print(f"still there: {text}", markup=False)
        out().print("nothing of it is left" if not found else f"{len(found)} of {len(texts)} are still there")
    if found:
        sys.exit(1)


def _erase(app: App, what: Mapping[str, Any], told: str, given: Mapping[str, Any]) -> None:
    user, as_json = given["user"], given["as_json"]
    with app.memory() as memory:
        preview = memory.forget(**what, user_id=user, dry_run=True)
        if given["dry_run"]:
            would = f"{told} would go: {_counted(preview.counts)}{_repeats(preview)}"
            _tell(preview, would, as_json=as_json)
            return
        if not given["yes"]:
            _confirm(told, preview)
        done = memory.forget(**what, user_id=user, sweep=not given["later"])
    gone = f"{told} is erased: {_counted(done.counts)}\n{_state(done)}{_repeats(done)}"
    _tell(done, gone, as_json=as_json)


def _confirm(told: str, preview: Erasure) -> None:
    if not sys.stdin.isatty():
        raise InvalidInput(f"{told} would be erased for good; say so with --yes, or look with --dry-run")
    asked = f"Erase {told} for good ({_counted(preview.counts)})?{_repeats(preview)}"
    click.confirm(asked, abort=True, err=True)


def _tell(erasure: Erasure, told: str, *, as_json: bool) -> None:
    if as_json:
        print_json({**plain(erasure), "done": erasure.is_done})
    else:
        out().print(told, markup=False)


def _state(erasure: Erasure) -> str:
    if not erasure.is_done:
        why = erasure.waits_for or "the file is not cleaned yet"
        return f"receipt {erasure.id}: pending, {why}; `episodic upkeep` completes it"
    left = "" if erasure.residue is None else f", residue {erasure.residue}"
    return f"receipt {erasure.id}: done{left}"


def _repeats(erasure: Erasure) -> str:
    """Say which messages that stay hold the same words, "" where none does."""
    if not erasure.repeated_by:
        return ""
    named = ", ".join(str(one) for one in erasure.repeated_by[:NAMED])
    more = ", …" if len(erasure.repeated_by) > NAMED else ""
    return f"\nkept, though they hold the same words: {len(erasure.repeated_by)} messages ({named}{more})"


def _counted(counts: Mapping[str, int]) -> str:
    """Say what was counted, what matters most first.

    >>> _counted({"stays": 1, "observations": 3})
    '3 observations, 1 stays'
    """
    order = [*(n for n in LISTED if n in counts), *(n for n in counts if n not in LISTED)]
    return ", ".join(f"{counts[name]:,} {name}" for name in order) or "nothing"

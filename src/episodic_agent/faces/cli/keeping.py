"""Commands of care: pin, unpin, pinned, suppress, unsuppress, suppressed, and `retention`."""

import sys
from collections.abc import Callable, Sequence
from typing import Any

import click
from rich.table import Table
from rich.text import Text

from episodic_agent.engine.caring import LetGo, Marked, RetentionState
from episodic_agent.engine.memory import Memory as Engine
from episodic_agent.errors import InvalidInput
from episodic_agent.faces.cli.app import ID, App, common, moment, out, parse_id, print_json, say


def _about(function: Callable[..., None]) -> Callable[..., None]:
    """Give a command an EPISODE, or a thread in its place."""
    episode = click.argument("episode", required=False)
    thread = click.option("--thread", metavar="NAME", help="A whole thread, with what is still to come.")
    return episode(thread(function))


def _meant(memory: Engine, episode: str | None, thread: str | None, user: str | None) -> dict[str, Any]:
    identity = None if episode is None else parse_id(episode, memory, user)
    return {"episode_id": identity, "thread": thread, "user_id": user}


@click.command()
@_about
@click.option("--reason", default="", help="Why, for later readers.")
@common
def pin(
    app: App, episode: str | None, thread: str | None, reason: str, user: str | None, as_json: bool
) -> None:
    """Pin an EPISODE: no policy lets it go, and it does not fade."""
    with app.memory() as memory:
        marked = memory.pin(**_meant(memory, episode, thread, user), reason=reason)
    _tell(marked, as_json=as_json)


@click.command()
@_about
@common
def unpin(app: App, episode: str | None, thread: str | None, user: str | None, as_json: bool) -> None:
    """Take the pin off an EPISODE."""
    with app.memory() as memory:
        taken = memory.unpin(**_meant(memory, episode, thread, user))
    _tell_taken("unpinned", taken, as_json=as_json)


@click.command()
@common
def pinned(app: App, user: str | None, as_json: bool) -> None:
    """List what is pinned."""
    with app.memory() as memory:
        found = memory.pinned(user_id=user)
    _list("pinned", found, as_json=as_json)


@click.command()
@_about
@click.option("--words", help="Whatever holds these words.")
@click.option("--reason", default="", help="Why, for later readers.")
@common
def suppress(
    app: App,
    episode: str | None,
    thread: str | None,
    words: str | None,
    reason: str,
    user: str | None,
    as_json: bool,
) -> None:
    """Keep an EPISODE, but show it no more."""
    with app.memory() as memory:
        marked = memory.suppress(**_meant(memory, episode, thread, user), words=words, reason=reason)
    _tell(marked, as_json=as_json)


@click.command()
@_about
@click.option("--words", help="Words on the list.")
@common
def unsuppress(
    app: App, episode: str | None, thread: str | None, words: str | None, user: str | None, as_json: bool
) -> None:
    """Show an EPISODE again."""
    with app.memory() as memory:
        taken = memory.unsuppress(**_meant(memory, episode, thread, user), words=words)
    _tell_taken("unsuppressed", taken, as_json=as_json)


@click.command()
@common
def suppressed(app: App, user: str | None, as_json: bool) -> None:
    """List what is suppressed, with reasons and times."""
    with app.memory() as memory:
        found = memory.suppressed(user_id=user)
    _list("suppressed", found, as_json=as_json)


@click.group()
def retention() -> None:
    """Say what is put away and erased with time, and see it beforehand."""


@retention.command("show")
@common
def show_retention(app: App, user: str | None, as_json: bool) -> None:
    """Show the policy and what it has put away."""
    with app.memory() as memory:
        state = memory.retention(user_id=user)
    _print_state(state, as_json=as_json)


@retention.command("set")
@click.argument("policy", required=False)
@click.option("--default", "as_setting", is_flag=True, help="Go back to EPISODIC_RETENTION.")
@common
def set_retention(app: App, policy: str | None, as_setting: bool, user: str | None, as_json: bool) -> None:
    """Set the POLICY: rules such as `age=365d,strength=0.2,count=10000,grace=30d`, or `none`."""
    if (policy is None) != as_setting:
        raise InvalidInput("give a policy, or --default")
    with app.memory(create=True) as memory:
        state = memory.set_retention(policy, user_id=user)
    _print_state(state, as_json=as_json)


@retention.command("preview")
@click.option("--policy", metavar="RULES", help="What these rules would do (default: those that are set).")
@click.option("--now", help="As if it were this time.")
@common
def preview_retention(app: App, policy: str | None, now: str | None, user: str | None, as_json: bool) -> None:
    """Show what would be put away or erased, and why; nothing is written."""
    with app.memory() as memory:
        found = memory.preview_retention(policy, user_id=user, now=moment(now))
    if as_json:
        print_json({"episodes": found})
    elif not found:
        say("nothing would go")
    else:
        _print_plan(found)


@retention.command("apply")
@click.option("--yes", is_flag=True, help="Do not ask.")
@common
def apply_retention(app: App, yes: bool, user: str | None, as_json: bool) -> None:
    """Do now what upkeep does bit by bit."""
    with app.memory() as memory:
        going = [one for one in memory.preview_retention(user_id=user) if one.action == "erase"]
        if going and not yes and not sys.stdin.isatty():
            raise InvalidInput(f"{len(going)} episodes would be erased for good; say so with --yes")
        if going and not yes:
            click.confirm(f"{len(going)} episodes are erased for good. Go on?", abort=True, err=True)
        done = memory.apply_retention(user_id=user)
    if as_json:
        print_json(done)
    else:
        told = f"{done.archived} episodes archived, {done.returned} returned, {done.erased} erased"
        say(f"{told}; {done.expired} expired messages erased")


def _tell(marked: Marked, *, as_json: bool) -> None:
    if as_json:
        print_json(marked)
    else:
        say(f"{marked.kind}: {_what(marked)}")


def _tell_taken(verb: str, taken: bool, *, as_json: bool) -> None:
    if as_json:
        print_json({verb: taken})
    else:
        say(verb if taken else "it was not on the list")


def _what(marked: Marked) -> str:
    if marked.words:
        return f"the words {marked.words!r}"
    if marked.last_seq is None:
        return f"thread {marked.thread}"
    named = ", ".join(str(one)[:ID] for one in marked.episodes) or "the open frame"
    return f"{marked.title} ({named}, thread {marked.thread})"


def _list(kind: str, found: Sequence[Marked], *, as_json: bool) -> None:
    if as_json:
        print_json({kind: found})
        return
    if not found:
        say(f"nothing is {kind}")
        return
    table = Table(box=None, header_style="bold")
    for name in ("what", "since", "reason"):
        table.add_column(name, overflow="fold")
    for marked in found:
        table.add_row(Text(_what(marked)), f"{marked.at:%Y-%m-%d %H:%M}", Text(marked.reason))
    out().print(table)


def _print_state(state: RetentionState, *, as_json: bool) -> None:
    if as_json:
        print_json(state)
        return
    whose = "own" if state.own else "EPISODIC_RETENTION"
    console = out()
    console.print(Text(f"{state.policy} ({whose})"))
    console.print(f"{state.archived} archived, {state.pinned} pinned, {state.expiring} messages expire")


def _print_plan(found: Sequence[LetGo]) -> None:
    table = Table(box=None, header_style="bold")
    for name in ("action", "when", "episode", "ended", "why", "title"):
        table.add_column(name, overflow="fold")
    for one in found:
        when = "" if one.at is None else f"{one.at:%Y-%m-%d}"
        ended = f"{one.end_at:%Y-%m-%d}"
        table.add_row(one.action, when, str(one.episode_id)[:ID], ended, one.reason, Text(one.title))
    out().print(table)
    if any(one.action != "return" for one in found):
        say("an archived episode keeps all, its facts too; erasing takes the messages they rest on")

"""Commands about threads: threads, and `thread` show, select, close, rename, timeout."""

import click
from rich.table import Table

from episodic_agent.engine.threads import ThreadCard
from episodic_agent.faces.cli.app import App, common, out, print_json, say


@click.command()
@click.option("--limit", type=click.IntRange(1, 100_000), default=50, show_default=True)
@common
def threads(app: App, limit: int, user: str | None, as_json: bool) -> None:
    """List threads by last activity, newest first."""
    with app.memory() as memory:
        found = list(memory.threads(user_id=user))[:limit]
        cards = [memory.thread(t.origin, user_id=user) for t in found] if as_json else []
    if as_json:
        print_json([{**card.record, "name": card.thread.origin} for card in cards])
        return
    if not found:
        say("no threads yet; `episodic add` begins one")
        return
    table = Table(box=None, header_style="bold")
    for name in ("thread", "title", "channels", "status"):
        table.add_column(name, overflow="fold")
    table.add_column("turns", justify="right")
    table.add_column("last activity", no_wrap=True)
    for thread in found:
        table.add_row(
            thread.origin,
            thread.title or "",
            ", ".join(thread.channels),
            thread.status + (f" ({thread.closed_for})" if thread.closed_for else ""),
            str(thread.turn_count),
            f"{thread.last_activity_at:%Y-%m-%d %H:%M}",
        )
    out().print(table)


@click.group()
def thread() -> None:
    """Show or change one thread; it is called by its name as `threads` lists it, or by its id."""


@thread.command()
@click.argument("name")
@common
def show(app: App, name: str, user: str | None, as_json: bool) -> None:
    """Show a thread's metadata."""
    with app.memory() as memory:
        card = memory.thread(name, user_id=user)
    if as_json:
        print_json(card.record)
    else:
        _print(card)


@thread.command()
@click.argument("name")
@common
def select(app: App, name: str, user: str | None, as_json: bool) -> None:
    """Let the next message go on with a thread, however long it was silent."""
    with app.memory() as memory:
        memory.select_thread(name, user_id=user)
        card = memory.thread(name, user_id=user)
    _tell(card, f"the next message goes on with {card.thread.origin}", as_json=as_json)


@thread.command()
@click.argument("name")
@common
def close(app: App, name: str, user: str | None, as_json: bool) -> None:
    """Close a thread and its open episode; the next message begins another."""
    with app.memory() as memory:
        memory.close_thread(name, user_id=user)
        card = memory.thread(name, user_id=user)
    _tell(card, f"{card.thread.origin} is closed", as_json=as_json)


@thread.command()
@click.argument("name")
@click.argument("title")
@common
def rename(app: App, name: str, title: str, user: str | None, as_json: bool) -> None:
    """Give a thread a title; it is still called by its name."""
    with app.memory() as memory:
        memory.rename_thread(name, title, user_id=user)
        card = memory.thread(name, user_id=user)
    _tell(card, f"{card.thread.origin} is titled {card.thread.title!r}", as_json=as_json)


@thread.command()
@click.argument("minutes", type=float, required=False)
@click.option("--thread", "name", help="Only this thread.")
@click.option("--channel", help="Only this channel.")
@common
def timeout(
    app: App, minutes: float | None, name: str | None, channel: str | None, user: str | None, as_json: bool
) -> None:
    """Say after how many minutes of silence a thread ends; without MINUTES the usual number again."""
    with app.memory() as memory:
        memory.set_timeout(minutes, user_id=user, thread=name, channel=channel)
    where = f"thread {name}" if name else f"channel {channel}" if channel else "all channels"
    if as_json:
        print_json({"minutes": minutes, "thread": name, "channel": channel})
    else:
        say(f"{where}: {'as usual' if minutes is None else f'{minutes:g} minutes'}")


def _tell(card: ThreadCard, told: str, *, as_json: bool) -> None:
    if as_json:
        print_json(card.record)
    else:
        say(told)


def _print(card: ThreadCard) -> None:
    table = Table(box=None, show_header=False)
    table.add_column(style="bold")
    table.add_column(overflow="fold")
    table.add_row("name", card.thread.origin)
    for name, value in card.record.items():
        shown = ", ".join(map(str, value)) if isinstance(value, list) else value
        table.add_row(name, "" if shown is None else str(shown))
    out().print(table)

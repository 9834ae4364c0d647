"""Commands of threads and sessions, and the compaction of long threads."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click
from rich.table import Table
from rich.text import Text

from episodic_agent.core.chains.metadata import OUTCOMES
from episodic_agent.core.language import plural
from episodic_agent.engine.arguments import RESOLUTIONS, SESSION_STATES
from episodic_agent.faces import wording
from episodic_agent.faces.cli.app import (
    ID,
    App,
    Listing,
    common,
    moment,
    out,
    past,
    print_json,
    say,
    say_more,
    table,
    tell,
)

if TYPE_CHECKING:
    from episodic_agent.engine.sections.verbs import SectionCard
    from episodic_agent.engine.threads.sessions import Session
    from episodic_agent.engine.threads.verbs import ThreadCard


@click.command()
@click.option("--limit", type=click.IntRange(1, 100_000), default=50, show_default=True)
@common
@past
def threads(app: App, limit: int) -> None:
    """List threads by last activity, newest first."""
    with app.user() as memory:
        threads = memory.threads.list(limit=limit + 1)
        threads = app.shown(memory, threads)
        cards = [memory.threads.get(t.origin) for t in threads[:limit]] if app.as_json else []
    if app.as_json:
        print_json([{**card.record, "name": card.thread.origin} for card in cards])
        return
    if not threads:
        say("no threads yet; `episodic add` begins one")
        return
    listed = table("thread", "title or newest episode", "channels", "status", "turns", right=("turns",))
    listed.add_column("last activity", no_wrap=True)
    for thread in threads[:limit]:
        listed.add_row(
            thread.origin,
            thread.title or "",
            ", ".join(thread.channels),
            thread.status + (f" ({thread.closed_for})" if thread.closed_for else ""),
            str(thread.turn_count),
            wording.minute(thread.last_activity_at),
        )
    out().print(listed)
    say_more(len(threads), limit)


@click.group()
def thread() -> None:
    """Show or change one thread; it is called by its name or title as `threads` lists them, or by its id."""


@thread.command()
@click.argument("name")
@common
@past
def show(app: App, name: str) -> None:
    """Show a thread's metadata."""
    with app.user() as memory:
        card = memory.threads.get(name)
    if app.as_json:
        print_json(card.record)
    else:
        _print(card)


@thread.command()
@click.argument("name")
@common
def select(app: App, name: str) -> None:
    """Let the next message go on with a thread, however long it was silent."""
    with app.user() as memory:
        memory.threads.select(name)
        card = memory.threads.get(name)
    app.remark(card.record, f"the next message goes on with {card.thread.origin}")


@thread.command()
@click.argument("name")
@common
def close(app: App, name: str) -> None:
    """Close a thread and its open episode; the next message begins another."""
    with app.user() as memory:
        memory.threads.close(name)
        card = memory.threads.get(name)
    app.remark(card.record, f"{card.thread.origin} is closed")


@thread.command()
@click.argument("name")
@click.argument("title")
@common
def rename(app: App, name: str, title: str) -> None:
    """Give a thread a title; it is still called by its name."""
    with app.user() as memory:
        memory.threads.rename(name, title)
        card = memory.threads.get(name)
    app.remark(card.record, f"{card.thread.origin} is titled {card.thread.title!r}")


@thread.command()
@click.argument("minutes", type=float, required=False)
@click.option("--thread", "name", help="Only this thread.")
@click.option("--channel", help="Only this channel.")
@common
def timeout(app: App, minutes: float | None, name: str | None, channel: str | None) -> None:
    """Say after how many minutes of silence a thread ends; without MINUTES the usual number again."""
    with app.user() as memory:
        memory.threads.set_timeout(minutes, thread=name, channel=channel)
    where = f"thread {name}" if name else f"channel {channel}" if channel else "all channels"
    app.remark(
        {"minutes": minutes, "thread": name, "channel": channel},
        f"{where}: {'as usual' if minutes is None else plural(minutes, 'minute')}",
    )


def _print(card: "ThreadCard") -> None:
    table = Table(box=None, show_header=False)
    table.add_column(style="bold")
    table.add_column(overflow="fold")
    table.add_row("name", card.thread.origin)
    for name, value in card.record.items():
        shown = ", ".join(map(str, value)) if isinstance(value, list) else value
        table.add_row(name, "" if shown is None else str(shown))
    out().print(table)


@click.group(cls=Listing)
def session() -> None:
    """Frame a piece of work: start it with a topic, add to its thread, end it with an outcome."""


@session.command("start")
@click.argument("topic")
@click.option("--thread", metavar="NAME", help="Begin a new part of this thread (default: one of its own).")
@click.option("--channel", metavar="NAME", help="By which it comes; a folder is its project.")
@click.option("--parent", metavar="SESSION", help="It goes on from this one, whatever it is about.")
@click.option("--key", metavar="KEY", help="A second start with the same key is the same session.")
@click.option("--agent", metavar="NAME", help="Which agent holds it: only its own sessions are gone on from.")
@click.option("--participant", "participants", metavar="NAME", multiple=True, help="Who takes part.")
@click.option("--tool", "tools", metavar="NAME", multiple=True, help="What is used.")
@click.option("--at", "timestamp", type=moment, help="When it begins (default: now).")
@common
def start(app: App, topic: str, parent: str | None, agent: str | None, **options: Any) -> None:
    """Start a session about TOPIC; what is added to its thread belongs to it until its end."""
    with app.user(create=True) as memory:
        started = memory.sessions.start(topic, parent_episode_id=parent, agent_id=agent, **options)
    _tell_session(app, started)


@session.command("end")
@click.argument("session_id", metavar="SESSION")
@click.option("--outcome", type=click.Choice(OUTCOMES, case_sensitive=False), help="How it ended.")
@click.option("--decision", "key_decisions", metavar="TEXT", multiple=True, help="What was decided in it.")
@click.option("--participant", "participants", metavar="NAME", multiple=True, help="Who else took part.")
@click.option("--tool", "tools", metavar="NAME", multiple=True, help="What else was used.")
@click.option("--at", "timestamp", type=moment, help="When it ended (default: now).")
@common
def end(app: App, session_id: str, **options: Any) -> None:
    """End a session; ended twice it stays as it is."""
    with app.user() as memory:
        ended = memory.sessions.end(session_id, **options)
    _tell_session(app, ended)


@session.command("show")
@click.argument("session_id", metavar="SESSION")
@common
@past
def show_session(app: App, session_id: str) -> None:
    """Show a session as it stands."""
    with app.user() as memory:
        session = memory.sessions.get(session_id)
    _tell_session(app, session)


@session.command("list")
@click.option("--state", type=click.Choice(SESSION_STATES), help="Only these.")
@click.option("--limit", type=click.IntRange(1, 100_000), default=50, show_default=True)
@common
@past
def list_(app: App, state: str | None, limit: int) -> None:
    """List sessions that were started, the newest first."""
    with app.user() as memory:
        sessions = app.shown(memory, memory.sessions.list(state=state, limit=limit + 1))
    nothing = "nobody started a session here; `episodic session start TOPIC` does, "
    nothing += "`episodic summaries` lists those that began by themselves"
    if app.answered({"sessions": sessions[:limit]}, sessions, nothing):
        return
    for session in sessions[:limit]:
        how = f", {session.outcome}" if session.outcome else ""
        tell(f"[{wording.minute(session.started_at)}] {session.title} ({session.state}{how})  {session.id}")
    say_more(len(sessions), limit)


def _tell_session(app: App, session: "Session") -> None:
    if app.as_json:
        print_json(session)
        return
    values = {
        "session": session.id,
        "thread": session.thread,
        "topic": session.topic,
        "state": session.state,
        "continues": session.parent_episode_id,
        "outcome": session.outcome,
        "people": ", ".join(session.participants),
        "tools": ", ".join(session.tools),
        "decided": "; ".join(session.key_decisions),
    }
    for name, value in values.items():
        if value:
            tell(f"{name:<10}{value}")


@click.command()
@click.option("--thread", help="Only this thread.")
@common
def compact(app: App, thread: str | None) -> None:
    """Give the parts of threads their summaries now, without waiting until they are due."""
    with app.user() as memory:
        cards = app.shown(memory, memory.sections.compact(thread=thread))
    if app.as_json:
        print_json({"parts": cards})
        return
    waiting = [card for card in cards if card.compacted_through is None]
    _print_parts([card for card in cards if card.compacted_through is not None])
    if waiting:
        say(
            f"{plural(len(waiting), 'part waits', 'parts wait')} for a worker, or for another try "
            "(`episodic jobs`)"
        )
    elif not cards:
        say("nothing to compact: everything is told already; `episodic summaries` shows it")


@click.command()
@click.argument("query", required=False)
@click.option("--thread", help="Only this thread.")
@click.option("--resolution", type=click.Choice(RESOLUTIONS), default="meso", show_default=True)
@click.option("--limit", type=click.IntRange(1, 100_000), default=10, show_default=True)
@common
@past
def summaries(app: App, query: str | None, thread: str | None, resolution: str, limit: int) -> None:
    """Show what threads were about, the newest first, or what a QUERY finds."""
    with app.user() as memory:
        cards = memory.sections.list(query, thread=thread, resolution=resolution, limit=limit + 1)
        cards = app.shown(memory, cards)
    nothing = "no summaries here yet; `episodic compact` makes them, `upkeep` where they are due"
    if not app.answered({"summaries": cards[:limit]}, cards, nothing):
        _print_parts(cards[:limit])
        say_more(len(cards), limit)


def _print_parts(cards: "Sequence[SectionCard]") -> None:
    console = out()
    for card in cards:
        console.print(Text(card.title, style="bold"))
        span = f"{wording.minute(card.start_at)} to {wording.minute(card.end_at)}"
        size = f"messages {card.first_seq}-{card.last_seq}"
        cells = (str(card.episode_id)[:ID], span, card.thread, size, wording.compacted(card.trigger))
        console.print(Text(" · ".join(cells), style="dim"))
        console.print(Text(f"{card.text}\n"))

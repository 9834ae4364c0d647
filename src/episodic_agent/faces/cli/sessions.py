"""Commands about sessions that an agent frames: `session` start, end, show, list."""

import click

from episodic_agent.core.chaining.outcomes import OUTCOMES
from episodic_agent.engine.sessions import STATES, Session
from episodic_agent.faces.cli.app import App, common, moment, print_json


@click.group()
def session() -> None:
    """Frame a piece of work: start it with a topic, add to its thread, end it with an outcome."""


@session.command("start")
@click.argument("topic")
@click.option("--thread", metavar="NAME", help="Begin a new part of this thread (default: one of its own).")
@click.option("--parent", metavar="SESSION", help="It goes on from this one, whatever it is about.")
@click.option("--key", metavar="KEY", help="A second start with the same key is the same session.")
@click.option("--agent", metavar="NAME", help="Which agent holds it: only its own sessions are gone on from.")
@click.option("--participant", "participants", metavar="NAME", multiple=True, help="Who takes part.")
@click.option("--tool", "tools", metavar="NAME", multiple=True, help="What is used.")
@click.option("--at", metavar="TIME", help="When it begins (default: now).")
@common
def start(
    app: App,
    topic: str,
    thread: str | None,
    parent: str | None,
    key: str | None,
    agent: str | None,
    participants: tuple[str, ...],
    tools: tuple[str, ...],
    at: str | None,
    user: str | None,
    as_json: bool,
) -> None:
    """Start a session about TOPIC; what is added to its thread belongs to it until its end."""
    with app.memory(create=True) as memory:
        started = memory.start_episode(
            topic,
            parent_episode_id=parent,
            thread=thread,
            key=key,
            agent_id=agent,
            participants=participants,
            tools=tools,
            timestamp=moment(at),
            user_id=user,
        )
    _tell(started, as_json=as_json)


@session.command("end")
@click.argument("session_id", metavar="SESSION")
@click.option("--outcome", type=click.Choice(OUTCOMES, case_sensitive=False), help="How it ended.")
@click.option("--decision", "decisions", metavar="TEXT", multiple=True, help="What was decided in it.")
@common
def end(
    app: App,
    session_id: str,
    outcome: str | None,
    decisions: tuple[str, ...],
    user: str | None,
    as_json: bool,
) -> None:
    """End a session; ended twice it stays as it is."""
    with app.memory() as memory:
        ended = memory.end_episode(session_id, outcome, decisions, user_id=user)
    _tell(ended, as_json=as_json)


@session.command("show")
@click.argument("session_id", metavar="SESSION")
@common
def show(app: App, session_id: str, user: str | None, as_json: bool) -> None:
    """Show a session as it stands."""
    with app.memory() as memory:
        found = memory.session(session_id, user_id=user)
    _tell(found, as_json=as_json)


@session.command("list")
@click.option("--state", type=click.Choice(STATES), help="Only these.")
@click.option("--limit", type=click.IntRange(1, 100_000), default=50, show_default=True)
@common
def list_(app: App, state: str | None, limit: int, user: str | None, as_json: bool) -> None:
    """List sessions that were started, the newest first."""
    with app.memory() as memory:
        found = memory.sessions(state=state, limit=limit, user_id=user)
    if as_json:
        print_json({"sessions": found})
        return
    for one in found:
        how = f", {one.outcome}" if one.outcome else ""
        click.echo(f"[{one.started_at:%Y-%m-%d %H:%M}] {one.title} ({one.state}{how})  {one.id}")


def _tell(one: Session, *, as_json: bool) -> None:
    if as_json:
        print_json(one)
        return
    told = {
        "session": one.id,
        "thread": one.thread,
        "topic": one.topic,
        "state": one.state,
        "continues": one.parent_episode_id,
        "outcome": one.outcome,
    }
    for name, value in told.items():
        if value:
            click.echo(f"{name:<10}{value}")

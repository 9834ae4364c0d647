"""The command `context`: what the next prompt should be told of the past."""

import click

from episodic_agent.engine.context import MAX_TOKENS, ThreadContext
from episodic_agent.faces.cli.app import ID, App, common, print_json, say


@click.command()
@click.argument("message")
@click.option("--thread", help="The thread it is for (default: the one it would join).")
@click.option("--channel", help="The channel it comes by.")
@click.option("--at", help="When it was said (default: now).")
@click.option(
    "--max-tokens", type=click.IntRange(1), default=MAX_TOKENS, show_default=True, help="The text's budget."
)
@click.option("--sources", is_flag=True, help="Say on standard error where each line is from.")
@common
def context(
    app: App,
    message: str,
    thread: str | None,
    channel: str | None,
    at: str | None,
    max_tokens: int,
    sources: bool,
    user: str | None,
    as_json: bool,
) -> None:
    """Print what a prompt should be told before MESSAGE is answered; stores nothing."""
    with app.memory() as memory:
        found = memory.context(
            message, user_id=user, thread=thread, channel=channel, at=at, max_tokens=max_tokens
        )
    if as_json:
        print_json(found)
        return
    for note in found.notes:
        say(note)
    click.echo(found.text)
    if sources:
        _say_sources(found)


def _say_sources(found: ThreadContext) -> None:
    """Say of each recalled line, counted from 1, its thread, its episode and how many messages it is of."""
    for item in found.items:
        episode = f"episode {str(item.episode_id)[:ID]}, " if item.episode_id else ""
        span = f"{len(item.observations)} of its messages"
        say(f"line {item.line + 1}: {item.kind} from {item.thread}, {episode}{span}")

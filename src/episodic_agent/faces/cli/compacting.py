"""Commands about compaction: compact, summaries."""

import click
from rich.text import Text

from episodic_agent.engine.summaries import RESOLUTIONS, PartCard
from episodic_agent.faces.cli.app import ID, App, common, out, print_json, say


@click.command()
@click.option("--thread", help="Only this thread.")
@common
def compact(app: App, thread: str | None, user: str | None, as_json: bool) -> None:
    """Give the parts of threads their summaries now, without waiting until they are due."""
    with app.memory() as memory:
        found = memory.compact(thread=thread, user_id=user)
    if as_json:
        print_json({"parts": found})
        return
    waiting = [card for card in found if card.compacted_through is None]
    _print([card for card in found if card.compacted_through is not None])
    if waiting:
        say(f"{len(waiting)} parts wait for a worker, or for another try (`episodic jobs`)")
    elif not found:
        say("nothing to compact: everything is told already; `episodic summaries` shows it")


@click.command()
@click.argument("query", required=False)
@click.option("--thread", help="Only this thread.")
@click.option("--resolution", type=click.Choice(RESOLUTIONS), default="meso", show_default=True)
@click.option("--limit", type=click.IntRange(1, 100_000), default=10, show_default=True)
@common
def summaries(
    app: App,
    query: str | None,
    thread: str | None,
    resolution: str,
    limit: int,
    user: str | None,
    as_json: bool,
) -> None:
    """Show what threads were about, the newest first, or what a QUERY finds."""
    with app.memory() as memory:
        found = memory.summaries(query, thread=thread, resolution=resolution, limit=limit, user_id=user)
    if as_json:
        print_json({"summaries": found})
    elif found:
        _print(found)
    else:
        say("no summaries here yet; `episodic compact` makes them, `upkeep` where they are due")


def _print(cards: list[PartCard]) -> None:
    console = out()
    for card in cards:
        console.print(Text(card.title, style="bold"))
        span = f"{card.start_at:%Y-%m-%d %H:%M} to {card.end_at:%Y-%m-%d %H:%M}"
        size = f"messages {card.first_seq}-{card.last_seq}"
        console.print(
            Text(
                f"{str(card.episode_id)[:ID]} · {span} · {card.thread} · {size} · {card.trigger}", style="dim"
            )
        )
        console.print(Text(f"{card.text}\n"))

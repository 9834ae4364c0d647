"""Commands about links: `link` list, explain, add, unlink."""

import click
from rich.table import Table
from rich.text import Text

from episodic_agent.engine.link_explaining import JudgedLink
from episodic_agent.faces.cli.app import App, common, out, print_json, say
from episodic_agent.faces.cli.tuning import link_outcome

HEAVIEST = 8  # contributions shown to people


@click.group()
def link() -> None:
    """Show, explain or change which threads belong together; threads are called as `threads` lists them."""


@link.command("list")
@click.option("--thread", "name", help="Only this thread's.")
@click.option("--taken-back", is_flag=True, help="Also those that were taken back.")
@click.option("--limit", type=click.IntRange(1, 100_000), default=50, show_default=True)
@common
def list_(app: App, name: str | None, taken_back: bool, limit: int, user: str | None, as_json: bool) -> None:
    """List links, newest first."""
    with app.memory() as memory:
        found = memory.links(user_id=user, thread=name, taken_back=taken_back, limit=limit)
        wholes = memory.cross_thread_episodes(user_id=user)
    if as_json:
        print_json({"links": found, "cross_thread_episodes": wholes})
        return
    if not found:
        say("no threads are linked")
        return
    table = Table(box=None, header_style="bold")
    for column in ("later thread", "goes on with", "by", "sure", "score"):
        table.add_column(column, overflow="fold")
    for card in found:
        table.add_row(
            card.later.origin,
            card.earlier.origin,
            card.link.basis + (" (taken back)" if card.link.unlinked_at else ""),
            card.link.label,
            "" if card.decision is None else f"{card.decision.score:.3f}",
        )
    out().print(table)
    for whole in wholes:
        say(f"cross-thread episode {whole.id}: {whole.title}")


@link.command()
@click.argument("thread")
@click.argument("other", required=False)
@common
def explain(app: App, thread: str, other: str | None, user: str | None, as_json: bool) -> None:
    """Say why THREAD was linked to earlier threads (to OTHER), or was not."""
    with app.memory() as memory:
        told = memory.link_explain(thread, other, user_id=user)
    if as_json:
        print_json(told)
        return
    if not told.judged:
        say("nothing was decided: no message of this thread was compared with that of another")
    for judged in told.judged:
        _print(judged)


def _print(judged: JudgedLink) -> None:
    console, decision = out(), judged.decision
    name = judged.candidate.origin if judged.candidate else str(decision.detail["candidate"])
    console.print(Text(f"{name}: {decision.verdict}, {decision.confidence_label}", style="bold"))
    for sentence in judged.sentences:
        console.print(Text(f"  {sentence}"))
    for one in judged.contributions[:HEAVIEST]:
        console.print(Text(f"  {one.adds:+.3f}  {one.words} ({one.name} {one.value:.3f})", style="dim"))


@link.command()
@click.argument("thread")
@click.argument("other")
@common
def add(app: App, thread: str, other: str, user: str | None, as_json: bool) -> None:
    """Link two threads by hand."""
    with app.memory() as memory:
        made = memory.link(thread, other, user_id=user)
    _tell(made, f"{thread} and {other} are linked", as_json=as_json)


@link.command()
@click.argument("thread")
@click.argument("other")
@common
def unlink(app: App, thread: str, other: str, user: str | None, as_json: bool) -> None:
    """Take the link of two threads back; they stay apart until `link add`."""
    with app.memory() as memory:
        gone = memory.unlink(thread, other, user_id=user)
    _tell(gone, f"{thread} and {other} are apart", as_json=as_json)


def _tell(changed: object, told: str, *, as_json: bool) -> None:
    if as_json:
        print_json(changed)
    else:
        say(told)


link.add_command(link_outcome)

"""Commands about chains: which session goes on from which, and the arc they make."""

from collections.abc import Sequence
from pathlib import Path

import click

from episodic_agent.errors import InvalidInput
from episodic_agent.faces.cli.app import App, common, out, print_json
from episodic_agent.faces.plot import arc_png, arc_svg, arc_terminal
from episodic_agent.schemas import Episode

WRITERS = {".svg": arc_svg, ".png": arc_png}


@click.command()
@click.argument("episode")
@click.option("--to", "parent", metavar="EPISODE", help="Let it go on from this one, by hand.")
@click.option("--unlink", "apart", is_flag=True, help="Take the link to its parent back, for good.")
@common
def chain(app: App, episode: str, parent: str | None, apart: bool, user: str | None, as_json: bool) -> None:
    """Show a session with those before it in its chain, the first one first; `summaries` lists sessions."""
    if parent is not None and apart:
        raise InvalidInput("--to and --unlink do not go together; name one")
    with app.memory() as memory:
        if parent is not None:
            memory.chain(episode, parent, user_id=user)
        if apart:
            memory.unchain(episode, user_id=user)
        found = memory.get_episode_chain(episode, user_id=user)
    _print(found, as_json=as_json)


@click.command()
@click.argument("episode", required=False)
@click.option("--heads", "ends", is_flag=True, help="The sessions that nothing goes on from yet instead.")
@click.option("--limit", type=click.IntRange(1, 100_000), default=20, show_default=True, help="Of --heads.")
@click.option(
    "-o", "--output", type=click.Path(path_type=Path), help="Write an .svg or .png instead of the terminal."
)
@common
def arc(
    app: App,
    episode: str | None,
    ends: bool,
    limit: int,
    output: Path | None,
    user: str | None,
    as_json: bool,
) -> None:
    """Draw the whole tree a session stands in: its branches, and how surely each session goes on."""
    if (episode is None) != ends:
        raise InvalidInput("name a session, or --heads for those that nothing goes on from")
    if output is not None and output.suffix not in WRITERS:
        raise InvalidInput(f"{output} must end in .svg or .png")
    if output is not None and ends:
        raise InvalidInput("--output draws one arc; name a session in place of --heads")
    with app.memory() as memory:
        if episode is None:
            _print(memory.get_episode_heads(limit=limit, user_id=user), as_json=as_json)
            return
        found = memory.arc(episode, user_id=user)
    if as_json:
        print_json(found)
    if output is not None:
        WRITERS[output.suffix](found, output)
    elif not as_json:
        out().print(arc_terminal(found, out().width), markup=False)


def _print(found: Sequence[Episode], *, as_json: bool) -> None:
    if as_json:
        print_json(found)
        return
    titles = {one.id: one.title or "Untitled" for one in found}
    for one in found:
        before = titles.get(one.parent_episode_id) if one.parent_episode_id is not None else None
        told = f' (continues from "{before}")' if before is not None else ""
        click.echo(f"[{one.start_at:%Y-%m-%d}] {titles[one.id]}{told}  {one.id}")

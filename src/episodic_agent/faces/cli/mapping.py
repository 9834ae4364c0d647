"""The command `map`: where an agent was, and how it moved between places."""

from pathlib import Path

import click

from episodic_agent.errors import InvalidInput, NotFound
from episodic_agent.faces.cli.app import App, common, out, print_json
from episodic_agent.faces.plot import map_png, map_svg, map_terminal

WRITERS = {".svg": map_svg, ".png": map_png}


@click.command("map")
@click.option("--thread", help="Only the places of this thread (default: of all).")
@click.option(
    "-o", "--output", type=click.Path(path_type=Path), help="Write an .svg or .png instead of the terminal."
)
@common
def map_(app: App, thread: str | None, output: Path | None, user: str | None, as_json: bool) -> None:
    """Map the places of an agent's steps, with episodes, visits and moves."""
    if output is not None and output.suffix not in WRITERS:
        raise InvalidInput(f"{output} must end in .svg or .png")
    with app.memory() as memory:
        seen = memory.places(user_id=user, thread=thread)
    if as_json:
        print_json(seen)
    if not seen.places and not as_json:
        where = f"thread {thread!r} has" if thread else "this memory has"
        raise NotFound(
            f"{where} no places: no step told its `location`; `episodic run` fills a thread that has"
        )
    title = thread or ""
    if output is not None and seen.places:
        WRITERS[output.suffix](seen, output, title=title)
    elif not as_json:
        out().print(map_terminal(seen, out().width, title=title), markup=False)

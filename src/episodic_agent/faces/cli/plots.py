"""Commands that draw: plot, map and arc."""

from dataclasses import replace
from pathlib import Path

import click
from rich.text import Text

from episodic_agent.core.language import plural
from episodic_agent.engine import lived
from episodic_agent.errors import InvalidInput, NotFound
from episodic_agent.faces.cli.app import (
    App,
    check_output,
    common,
    force,
    out,
    parse_id,
    past,
    print_json,
    say_more,
)
from episodic_agent.faces.cli.links import print_chain
from episodic_agent.faces.plot.arc import arc_png, arc_svg, arc_terminal
from episodic_agent.faces.plot.figure import plot_png, plot_svg
from episodic_agent.faces.plot.map import map_png, map_svg, map_terminal
from episodic_agent.faces.plot.terminal import plot_terminal

_picture = click.option(
    "-o", "--output", type=click.Path(path_type=Path), help="Write an .svg or .png instead of the terminal."
)
MAPS = {".svg": map_svg, ".png": map_png}
ARCS = {".svg": arc_svg, ".png": arc_png}


@click.command()
@click.argument("thread")
@_picture
@click.option("--from", "first", type=click.IntRange(min=0), default=0, help="Begin at this number.")
@click.option("--to", "last", type=click.IntRange(min=0), help="End with this number.")
@force
@common
def plot(app: App, thread: str, output: Path | None, first: int, last: int | None, overwrite: bool) -> None:
    """Plot the cues, probabilities, thresholds and cuts of THREAD (`stats` names them).

    Of an agent's steps: the score with its factors, both thresholds, the freezes and the places.
    """
    check_output(output, overwrite=overwrite)
    with app.user() as memory:
        traced = memory.boundaries.trace(thread)
        if not app.as_json:
            traced = replace(traced, times=lived.moments_as_lived(memory, traced.times))
    held = len(traced.seqs)
    traced = traced.between(first, held if last is None else last)
    if held and not traced.seqs:
        raise InvalidInput(
            f"thread {thread!r} has {plural(held, traced.unit)}, numbered from 0: none from --from to --to"
        )
    if app.as_json:
        print_json(traced)
    if output is not None:
        writers = {".svg": plot_svg, ".png": plot_png}
        if output.suffix not in writers:
            raise InvalidInput(f"{output} must end in .svg or .png")
        writers[output.suffix](traced, output)
    elif not app.as_json:
        out().print(Text.from_ansi(plot_terminal(traced, out().width)))


@click.command("map")
@click.option("--thread", help="Only the places of this thread (default: of all).")
@_picture
@force
@common
def map_(app: App, thread: str | None, output: Path | None, overwrite: bool) -> None:
    """Map the places of an agent's steps, with episodes, visits and moves."""
    if output is not None and output.suffix not in MAPS:
        raise InvalidInput(f"{output} must end in .svg or .png")
    check_output(output, overwrite=overwrite)
    with app.user() as memory:
        seen = memory.places.list(thread=thread)
    if app.as_json:
        print_json(seen)
    if not seen.places and not app.as_json:
        where = f"thread {thread!r} has" if thread else "this memory has"
        raise NotFound(
            f"{where} no places: no step told its `location`; `episodic run` fills a thread that has"
        )
    title = thread or ""
    if output is not None and seen.places:
        MAPS[output.suffix](seen, output, title=title)
    elif not app.as_json:
        out().print(map_terminal(seen, out().width, title=title))


@click.command()
@click.argument("episode", required=False)
@click.option("--heads", "ends", is_flag=True, help="The sessions that nothing goes on from yet instead.")
@click.option("--limit", type=click.IntRange(1, 100_000), default=20, show_default=True, help="Of --heads.")
@_picture
@force
@common
@past
def arc(app: App, episode: str | None, ends: bool, limit: int, output: Path | None, overwrite: bool) -> None:
    """Draw the whole tree a session stands in: its branches, and how surely each session goes on."""
    if (episode is None) != ends:
        raise InvalidInput("name a session, or --heads for those that nothing goes on from")
    if output is not None and output.suffix not in ARCS:
        raise InvalidInput(f"{output} must end in .svg or .png")
    if output is not None and ends:
        raise InvalidInput("--output draws one arc; name a session in place of --heads")
    check_output(output, overwrite=overwrite)
    with app.user() as memory:
        if episode is None:
            heads = app.shown(memory, memory.chains.heads(limit=limit + 1))
            print_chain(app, heads[:limit])
            if not app.as_json:
                say_more(len(heads), limit)
            return
        arc = memory.chains.arc(parse_id(episode, memory))
    if app.as_json:
        print_json(arc)
    if output is not None:
        ARCS[output.suffix](arc, output)
    elif not app.as_json:
        out().print(arc_terminal(arc, out().width))

"""Commands that explain: explain, whatif, plot."""

from pathlib import Path

import click
from rich.text import Text

from episodic_agent.engine.explain import Edge, Explanation, Span
from episodic_agent.errors import InvalidInput
from episodic_agent.faces.cli.app import App, common, out, parse_id, print_json
from episodic_agent.faces.plot import plot_png, plot_svg, plot_terminal


@click.command()
@click.argument("episode")
@common
def explain(app: App, episode: str, user: str | None, as_json: bool) -> None:
    """Say why an episode begins and ends where it does."""
    with app.memory() as memory:
        told = memory.explain(parse_id(episode, memory, user), user_id=user)
    if as_json:
        print_json(told)
    else:
        render_explanation(told)


def render_explanation(told: Explanation) -> None:
    """Print an explanation for people."""
    console = out()
    console.print(Text(told.episode.title, style="bold"))
    console.print(Text(f"messages {told.episode.first_seq}-{told.episode.last_seq}", style="dim"))
    for name, edge in (("begins", told.begins), ("ends", told.ends)):
        at = f"{name} at {edge.seq}: " if edge.decision is not None or name == "begins" else ""
        console.print(Text(at + edge.sentence))
        _quote(edge)
        if edge.decision is not None and edge.decision.features:
            cues = "  ".join(f"{k} {v:.2f}" for k, v in sorted(edge.decision.features.items()))
            console.print(Text(f"    cues: {cues}", style="dim"))
    for near in told.runners_up:
        quoted = f' "{_short(near.observation.text)}"' if near.observation is not None else ""
        console.print(
            Text(f"nearly cut at {near.seq}: {near.probability:.2f} of {near.threshold:.2f}{quoted}")
        )
    for line in told.what_would_change:
        console.print(Text(f"→ {line}"))


def _quote(edge: Edge) -> None:
    if edge.observation is not None:
        out().print(Text(f'    "{edge.observation.actor}: {_short(edge.observation.text)}"', style="italic"))


def _short(text: str, width: int = 90) -> str:
    one = " ".join(text.split())
    return one if len(one) <= width else one[: width - 1] + "…"


@click.command()
@click.argument("thread")
@click.option(
    "--policy", "other", required=True, help="The policy to try, e.g. seed-001 or default?threshold=0.6."
)
@common
def whatif(app: App, thread: str, other: str, user: str | None, as_json: bool) -> None:
    """Show what another policy would have made of THREAD (`stats` names them); nothing is written."""
    with app.memory() as memory:
        compared = memory.whatif(thread, other, user_id=user)
    if as_json:
        print_json(compared)
        return
    console = out()
    console.print(
        f"{compared.policy}: {len(compared.proposed)} episodes instead of {len(compared.stored)}, "
        f"{compared.same} the same"
    )
    stored, proposed = set(compared.stored), set(compared.proposed)
    for span in sorted(stored ^ proposed, key=lambda s: (s.first_seq, s.last_seq, s in proposed)):
        console.print(_diff(span, added=span in proposed))


def _diff(span: Span, *, added: bool) -> Text:
    sign, style = ("+", "green") if added else ("-", "red")
    return Text(f"{sign} {span.first_seq}-{span.last_seq} {span.reason}", style=style)


@click.command()
@click.argument("thread")
@click.option(
    "--output", type=click.Path(path_type=Path), help="Write an .svg or .png instead of the terminal."
)
@common
def plot(app: App, thread: str, output: Path | None, user: str | None, as_json: bool) -> None:
    """Plot the cues, probabilities, thresholds and cuts of THREAD (`stats` names them)."""
    with app.memory() as memory:
        traced = memory.trace(thread, user_id=user)
    if as_json:
        print_json(traced)
    if output is not None:
        writers = {".svg": plot_svg, ".png": plot_png}
        if output.suffix not in writers:
            raise InvalidInput(f"{output} must end in .svg or .png")
        writers[output.suffix](traced, output)
    elif not as_json:
        out().print(Text.from_ansi(plot_terminal(traced, out().width)))

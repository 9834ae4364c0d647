"""Commands that explain and change boundaries: explain, whatif, resegment, plot."""

import shlex
from collections.abc import Sequence
from pathlib import Path

import click
from rich.text import Text

from episodic_agent.engine.explain import Edge, Explanation, Span
from episodic_agent.engine.resegmenting import Resegmented, Undone
from episodic_agent.errors import InvalidInput
from episodic_agent.faces.cli.app import App, common, out, parse_id, print_json, say, say_replaced
from episodic_agent.faces.plot import plot_png, plot_svg, plot_terminal
from episodic_agent.schemas import Kind


@click.command()
@click.argument("episode")
@common
def explain(app: App, episode: str, user: str | None, as_json: bool) -> None:
    """Say why an episode begins and ends where it does."""
    with app.memory() as memory:
        told = memory.explain(parse_id(episode, memory, user), user_id=user)
    if as_json:
        print_json(told)
        return
    if told.asked is not None:
        say_replaced(told.asked, told.episode.id)
    render_explanation(told)


def render_explanation(told: Explanation) -> None:
    """Print an explanation for people."""
    console = out()
    console.print(Text(told.episode.title, style="bold"))
    told_of = told.begins.observation
    unit = "steps" if told_of is not None and told_of.kind is Kind.STEP else "messages"
    console.print(Text(f"{unit} {told.episode.first_seq}-{told.episode.last_seq}", style="dim"))
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
    for line in told.echoes:
        console.print(Text(line, style="dim"))
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
    _render_diff(compared.stored, compared.proposed)


def _render_diff(stored: Sequence[Span], proposed: Sequence[Span]) -> None:
    before, after = set(stored), set(proposed)
    for span in sorted(before ^ after, key=lambda s: (s.first_seq, s.last_seq, s in after)):
        out().print(_diff(span, added=span in after))


@click.command()
@click.argument("thread")
@click.option(
    "--policy", "other", help="The policy to segment by (default: the memory's); parameters may follow."
)
@click.option(
    "--online", is_flag=True, help="As if the messages came again one by one, not the whole at once."
)
@click.option("--dry-run", is_flag=True, help="Show what would change; write nothing.")
@click.option("--undo", is_flag=True, help="Go back to the episodes before the last resegment.")
@common
def resegment(
    app: App,
    thread: str,
    other: str | None,
    online: bool,
    dry_run: bool,
    undo: bool,
    user: str | None,
    as_json: bool,
) -> None:
    """Segment THREAD again (`stats` names them), with the whole of it known; --undo takes it back."""
    if undo and (other or online or dry_run):
        raise InvalidInput("--undo goes back to what was before: leave --policy, --online and --dry-run out")
    with app.memory() as memory:
        if undo:
            undone = memory.undo_resegment(thread, user_id=user)
        else:
            done = memory.resegment(thread, other, whole=not online, dry_run=dry_run, user_id=user)
    if as_json:
        print_json(undone if undo else done)
    elif undo:
        render_undone(undone)
    else:
        render_resegmented(done, dry_run=dry_run, undo=_undo_command(app, thread, user))


def _undo_command(app: App, thread: str, user: str | None) -> str:
    place = ["--db", app.shown_url] if app.db else []
    return shlex.join(
        ["episodic", *place, "resegment", thread, "--undo", *(["--user", user] if user else [])]
    )


def render_resegmented(done: Resegmented, *, dry_run: bool, undo: str) -> None:
    """Print what segmenting again did, and how to take it back; `undo` is the command for that."""
    console = out()
    if not (done.replaced or done.new):
        console.print(Text(f"{done.policy}: the same episodes as stored; nothing to change"))
        return
    counts = f"{done.kept} kept, {done.replaced} replaced, {done.new} new"
    console.print(Text(f"{done.policy} ({done.mode}): {counts}{' (nothing written)' if dry_run else ''}"))
    _render_diff(done.stored, _as_kept(done))
    if done.unembedded:
        say(
            f"{done.unembedded} messages without a vector were judged by words; `doctor --repair` embeds them"
        )
    if done.written:
        say(f"`{undo}` takes it back")


def _as_kept(done: Resegmented) -> list[Span]:
    """Return the proposed spans, those that are there already with the reason they keep."""
    there = {(s.first_seq, s.last_seq): s for s in done.stored if s.reason != "open"}
    last = len(done.proposed) - 1
    return [
        s if n == last and s.reason == "open" else there.get((s.first_seq, s.last_seq), s)
        for n, s in enumerate(done.proposed)
    ]


def render_undone(undone: Undone) -> None:
    """Print what undoing did."""
    later = f"; {undone.later} messages came since, segmented as they came" if undone.later else ""
    counts = f"{undone.restored} episodes restored, {undone.removed} removed, {undone.kept} kept"
    out().print(Text(f"back at generation {undone.generation}: {counts}{later}"))


def _diff(span: Span, *, added: bool) -> Text:
    sign, style = ("+", "green") if added else ("-", "red")
    return Text(f"{sign} {span.first_seq}-{span.last_seq} {span.reason}", style=style)


@click.command()
@click.argument("thread")
@click.option(
    "-o", "--output", type=click.Path(path_type=Path), help="Write an .svg or .png instead of the terminal."
)
@click.option("--from", "first", type=click.IntRange(min=0), default=0, help="Begin at this number.")
@click.option("--to", "last", type=click.IntRange(min=0), help="End with this number.")
@common
def plot(
    app: App,
    thread: str,
    output: Path | None,
    first: int,
    last: int | None,
    user: str | None,
    as_json: bool,
) -> None:
    """Plot the cues, probabilities, thresholds and cuts of THREAD (`stats` names them).

    Of an agent's steps: the score with its factors, both thresholds, the freezes and the places.
    """
    with app.memory() as memory:
        traced = memory.trace(thread, user_id=user)
    held = len(traced.seqs)
    traced = traced.between(first, held if last is None else last)
    if held and not traced.seqs:
        raise InvalidInput(
            f"thread {thread!r} has {held} {traced.unit}s, numbered from 0: none from --from to --to"
        )
    if as_json:
        print_json(traced)
    if output is not None:
        writers = {".svg": plot_svg, ".png": plot_png}
        if output.suffix not in writers:
            raise InvalidInput(f"{output} must end in .svg or .png")
        writers[output.suffix](traced, output)
    elif not as_json:
        out().print(Text.from_ansi(plot_terminal(traced, out().width)))

"""`episodic calibrate`: fit the scale of an embedder that is not the default one."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import click

from episodic_agent.core.calibration import Statistics
from episodic_agent.engine.calibrating import Conversation, Fitted, conversations_in, conversations_of
from episodic_agent.faces.cli.app import App, common, out, print_json, say
from episodic_agent.wiring import calibrate as fit
from episodic_agent.wiring import calibration_file, demo_conversations, load_settings


@click.command()
@click.option(
    "--data",
    multiple=True,
    type=click.Path(path_type=Path),
    help="Chat files to fit on (default: the shipped conversations).",
)
@click.option("--own", is_flag=True, help="Fit on this memory's own threads.")
@click.option(
    "--labelled",
    multiple=True,
    type=click.Path(path_type=Path),
    help="Labelled dialogues as for `evaluate segmentation`: fit the threshold too.",
)
@click.option(
    "--output",
    type=click.Path(path_type=Path),
    help="The file to write (default: where it is looked for).",
)
@common
def calibrate(
    app: App,
    data: tuple[Path, ...],
    own: bool,
    labelled: tuple[Path, ...],
    output: Path | None,
    user: str | None,
    as_json: bool,
) -> None:
    """Fit another embedder's scale of cosines, for boundaries, recall and confidence."""
    name = app.embedder or load_settings().embedder
    found = fit(name, _conversations(app, data, own, user), labelled=labelled, output=output, say=say)
    path = output or calibration_file(found.calibration.embedder, load_settings())
    if as_json:
        scores = [{"policy": policy, "score": score} for policy, score in found.scores]
        print_json({"calibration": found.calibration.as_json(), "path": str(path), "scores": scores})
        return
    _tell(found, path)


def _conversations(app: App, data: Sequence[Path], own: bool, user: str | None) -> Sequence[Conversation]:
    found = [conversation for path in data for conversation in conversations_in(path)]
    if own:
        # without the calibration there is: a damaged one must not stand in its own way
        with replace(app, calibration="none").memory(user=user) as memory:
            found.extend(conversations_of(memory, user))
    return found or demo_conversations()


def _tell(found: Fitted, path: Path) -> None:
    console, fitted = out(), found.calibration
    console.print(f"{fitted.texts} texts           neighbours        unrelated")
    for name, statistics in ((fitted.embedder, found.statistics), ("the default", found.default)):
        console.print(f"{name:20} {_figures(statistics)}")
    console.print(f"agreement with the default embedder on neighbours: {fitted.agreement:.3f}")
    if fitted.scale is None:
        console.print("boundaries: by words alone, these vectors would cost more than they give")
    else:
        console.print("boundaries: neighbours at {:.3f}, spread {:.3f}".format(*fitted.scale))
    for policy, score in found.scores:
        console.print(f"Score {score:.3f}  {policy}")
    console.print(f"written to {path}")


def _figures(statistics: Statistics) -> str:
    near, far = statistics.neighbours, statistics.unrelated
    return f"{near[0]:.3f} +- {near[1]:.3f}   {far[0]:.3f} +- {far[1]:.3f}"

"""Commands that measure: evaluate and calibrate."""

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from episodic_agent.core.calibration import Calibration, Statistics
from episodic_agent.core.links.policies import PAIRWISE as LINKING
from episodic_agent.core.links.policies import link_policy
from episodic_agent.engine.evaluate.calibrating import (
    Conversation,
    Fitted,
    conversations_in,
    conversations_of,
)
from episodic_agent.engine.evaluate.cases import digest
from episodic_agent.engine.evaluate.cases import rows as rows_of
from episodic_agent.engine.evaluate.lives import evaluate_file as evaluate_life
from episodic_agent.engine.evaluate.lives import mean_figures, read_lives
from episodic_agent.engine.evaluate.retrieval import evaluate_file as evaluate_retrieval
from episodic_agent.engine.evaluate.segmentation import evaluate_file as evaluate_segmentation
from episodic_agent.engine.evaluate.threads import EVERY, HELD_OUT, TRAINING
from episodic_agent.engine.evaluate.threads import evaluate_file as evaluate_threads
from episodic_agent.errors import InvalidInput
from episodic_agent.faces.cli.app import App, check_output, common, force, out, print_json, progress_bar, say
from episodic_agent.private import replacing
from episodic_agent.protocols import Embedder
from episodic_agent.wiring import calibrate as fit
from episodic_agent.wiring import (
    calibration_file,
    demo_conversations,
    find_calibration,
    load_settings,
    make_embedder,
    make_language_model,
    resolve_policy,
    temporary_memory,
)

FILES = click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path))

LIFE_FIGURES = {
    "sittings": ("f1",),
    "links": ("precision", "recall", "f1", "elliptical_f1", "largest"),
    "episodes": ("f1", "f1_tol1", "score", "density"),
    "facts": ("precision", "recall", "f1", "tempted", "stale"),
    "needs": ("covered@800", "covered@2000", "noise"),
    "changes": ("outdated@300", "outdated@800", "outdated@1500"),
    "questions": ("recall@5", "recall@10", "any@5", "abstained", "changed"),
    "titles": ("topic_words", "phrase"),
}  # what is printed of a life, a line each


MODEL_FIGURES = ("calls_per_100", "tokens_per_100", "answers_refused", "wrong_high_links")


@click.group()
def evaluate() -> None:
    """Score the engine on labelled data."""


def _embedder(app: App) -> tuple[Embedder | None, Calibration | None]:
    """Build the embedder to evaluate with, and find what was fitted for it."""
    settings = load_settings()
    embedder = make_embedder(app.embedder or settings.embedder, settings, say)
    return embedder, find_calibration(embedder, settings, app.calibration)


def _check(files: tuple[Path, ...]) -> None:
    missing = [str(f) for f in files if not f.is_file()]
    if missing:
        raise InvalidInput(f"no such file: {', '.join(missing)}")


@evaluate.command()
@FILES
@click.option("--policy", default="default", show_default=True, help="The boundary policy to score.")
@click.option("--delay", type=click.IntRange(0, 8), help="Hindsight in units (default: the policy's own).")
@click.option("--no-times", is_flag=True, help="Hide the units' times.")
@common
def segmentation(app: App, files: tuple[Path, ...], policy: str, delay: int | None, no_times: bool) -> None:
    """Score a boundary policy: Pk, WindowDiff, F1, density."""
    _check(files)
    embedder, calibration = _embedder(app)
    overrides = {} if delay is None else {"hindsight": delay}
    chosen = resolve_policy(policy, overrides, embedder=embedder, calibration=calibration)
    scores: dict[str, Any] = {}
    for path in files:
        scores[path.name] = evaluate_segmentation(path, chosen, embedder, use_times=not no_times).as_json()
        if not app.as_json:
            _line(path.name, scores[path.name], ("pk", "wd", "f1", "f1_tol1", "score", "density"))
    if app.as_json:
        print_json(scores)


@evaluate.command()
@FILES
@click.option(
    "--limit", type=click.IntRange(1, 1000), default=50, show_default=True, help="Observations ranked."
)
@click.option("--policy", "ranking", default="default", show_default=True, help="The recall policy to score.")
@click.option(
    "--details", type=click.Path(path_type=Path), help="Write per-question results (JSON lines) here."
)
@force
@common
def retrieval(
    app: App, files: tuple[Path, ...], limit: int, ranking: str, details: Path | None, overwrite: bool
) -> None:
    """Score recall through the real path: ingest each case into a fresh memory, then ask its questions."""
    check_output(details, overwrite=overwrite)
    _check(files)
    embedder, calibration = _embedder(app)
    boundaries = app.policy or load_settings().policy
    scores: dict[str, Any] = {}
    rows: list[dict[str, Any]] = []
    for path in files:
        with progress_bar(path.name, sum(1 for _ in rows_of(path))) as progress:
            result = evaluate_retrieval(
                path,
                lambda now, language: temporary_memory(
                    embedder, policy=boundaries, now=now, language=language, calibration=calibration
                ),
                limit=limit,
                policy=ranking,
                progress=progress,
            )
        scores[path.name] = result.as_json()
        rows.extend({"file": path.name, "sha256": digest(path), **row} for row in result.details)
        if not app.as_json:
            observation = scores[path.name]["observation"]
            _line(path.name, observation, ("recall@5", "recall@10", "recall@50", "any@10", "ndcg@10", "mrr"))
    if details is not None:
        with replacing(details) as file:
            file.writelines(json.dumps(r, ensure_ascii=False) + "\n" for r in rows)
    if app.as_json:
        print_json(scores)


@evaluate.command()
@FILES
@click.option("--policy", default=LINKING, show_default=True, help="The linking policy to score.")
@click.option(
    "--split",
    type=click.Choice([HELD_OUT, TRAINING, EVERY]),
    help="Part of a file that has parts (default: all that is not for training).",
)
@common
def threads(app: App, files: tuple[Path, ...], policy: str, split: str | None) -> None:
    """Score who answers what in a channel: links, clusters, exact threads."""
    _check(files)
    chosen = link_policy(policy)
    embedder, calibration = _embedder(app)
    scores: dict[str, Any] = {}
    for path in files:
        result = evaluate_threads(path, chosen, embedder, split=split, calibration=calibration)
        scores[path.name] = result.as_json()
        if not app.as_json:
            shown = ("link_precision", "link_recall", "link_f1", "scaled_vi", "one_to_one", "exact_f1")
            _line(path.name, scores[path.name], shown)
    if app.as_json:
        print_json(scores)


@evaluate.command()
@FILES
@click.option(
    "--messages", type=click.IntRange(1), help="Play so many messages of each life (default: all of them)."
)
@common
def lives(app: App, files: tuple[Path, ...], messages: int | None) -> None:
    """Play weeks of somebody's life: threads, links, episodes, facts, contexts, answers, titles.

    Where a language model is named (--llm, EPISODIC_LLM) it is asked, as it would be in use, and what that
    took is counted.
    """
    _check(files)
    embedder, calibration = _embedder(app)
    settings = load_settings()
    policy = app.policy or settings.policy
    model = make_language_model(app.llm or settings.llm, settings)
    scores: dict[str, Any] = {}
    for path in files:
        total = sum(len(life.lines) for life in read_lives(path, messages))
        with progress_bar(path.name, total) as progress:
            scores[path.name] = evaluate_life(
                path,
                lambda clock, language: temporary_memory(
                    embedder,
                    policy=policy,
                    now=clock,
                    language=language,
                    calibration=calibration,
                    language_model=model,
                ),
                messages=messages,
                progress=progress,
            )
    if app.as_json:
        print_json(scores)
        return
    shown = {**scores, "mean": mean_figures(list(scores.values()))} if len(scores) > 1 else scores
    for group, keys in LIFE_FIGURES.items():
        for name, figures in shown.items():
            _line(f"{name} {group}", figures[group], keys)
    if model is not None:
        for name, figures in shown.items():
            _line(f"{name} model", figures, MODEL_FIGURES)


def _line(name: str, scores: dict[str, Any], keys: tuple[str, ...]) -> None:
    shown = "  ".join(f"{k} -" if scores.get(k) is None else f"{k} {scores[k]:.3f}" for k in keys)
    out().print(f"{name:34} {shown}")


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
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    help="The file to write (default: where it is looked for).",
)
@force
@common
def calibrate(
    app: App,
    data: tuple[Path, ...],
    own: bool,
    labelled: tuple[Path, ...],
    output: Path | None,
    overwrite: bool,
) -> None:
    """Fit another embedder's scale of cosines, for boundaries, recall and confidence."""
    check_output(output, overwrite=overwrite)
    name = app.embedder or load_settings().embedder
    fitted = fit(name, _conversations(app, data, own), labelled=labelled, output=output, say=say)
    path = output or calibration_file(fitted.calibration.embedder, load_settings())
    if app.as_json:
        scores = [{"policy": policy, "score": score} for policy, score in fitted.scores]
        print_json({"calibration": fitted.calibration.as_json(), "path": str(path), "scores": scores})
        return
    _tell(fitted, path)


def _conversations(app: App, data: Sequence[Path], own: bool) -> Sequence[Conversation]:
    texts = [conversation for path in data for conversation in conversations_in(path)]
    if own:
        # without the calibration there is: a damaged one must not stand in its own way
        with replace(app, calibration="none").user() as memory:
            texts.extend(conversations_of(memory))
    return texts or demo_conversations()


def _tell(matching_fitted: Fitted, path: Path) -> None:
    console, fitted = out(), matching_fitted.calibration
    console.print(f"{fitted.texts} texts           neighbours        unrelated")
    for name, statistics in (
        (fitted.embedder, matching_fitted.statistics),
        ("the default", matching_fitted.default),
    ):
        console.print(f"{name:20} {_figures(statistics)}")
    console.print(f"agreement with the default embedder on neighbours: {fitted.agreement:.3f}")
    if fitted.scale is None:
        console.print("boundaries: by words alone, these vectors would cost more than they give")
    else:
        console.print("boundaries: neighbours at {:.3f}, spread {:.3f}".format(*fitted.scale))
    for policy, score in matching_fitted.scores:
        console.print(f"Score {score:.3f}  {policy}")
    console.print(f"written to {path}")


def _figures(statistics: Statistics) -> str:
    near, far = statistics.neighbours, statistics.unrelated
    return f"{near[0]:.3f} +- {near[1]:.3f}   {far[0]:.3f} +- {far[1]:.3f}"

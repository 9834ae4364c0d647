"""`episodic evaluate`: score segmentation, retrieval and threads on labelled files."""

import json
from pathlib import Path
from typing import Any

import click

from episodic_agent.core.calibration import Calibration
from episodic_agent.core.interfaces import Embedder
from episodic_agent.core.linking import link_policy
from episodic_agent.core.linking.policies import DEFAULT as LINKING
from episodic_agent.engine.evaluate.cases import digest
from episodic_agent.engine.evaluate.retrieval import evaluate_file as evaluate_retrieval
from episodic_agent.engine.evaluate.segmentation import evaluate_file as evaluate_segmentation
from episodic_agent.engine.evaluate.threads import EVERY, HELD_OUT, TRAINING
from episodic_agent.engine.evaluate.threads import evaluate_file as evaluate_threads
from episodic_agent.errors import InvalidInput
from episodic_agent.faces.cli.app import App, common, out, print_json, progress_bar, say
from episodic_agent.wiring import (
    find_calibration,
    load_settings,
    make_embedder,
    resolve_policy,
    temporary_memory,
)

FILES = click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path))


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
def segmentation(
    app: App,
    files: tuple[Path, ...],
    policy: str,
    delay: int | None,
    no_times: bool,
    user: str | None,
    as_json: bool,
) -> None:
    """Score a boundary policy: Pk, WindowDiff, F1, density."""
    del user
    _check(files)
    embedder, calibration = _embedder(app)
    overrides = {} if delay is None else {"hindsight": delay}
    chosen = resolve_policy(policy, overrides, embedder=embedder, calibration=calibration)
    scores: dict[str, Any] = {}
    for path in files:
        scores[path.name] = evaluate_segmentation(path, chosen, embedder, use_times=not no_times).as_json()
        if not as_json:
            _line(path.name, scores[path.name], ("pk", "wd", "f1", "f1_tol1", "score", "density"))
    if as_json:
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
@common
def retrieval(
    app: App,
    files: tuple[Path, ...],
    limit: int,
    ranking: str,
    details: Path | None,
    user: str | None,
    as_json: bool,
) -> None:
    """Score recall through the real path: ingest each case into a fresh memory, then ask its questions."""
    del user
    _check(files)
    embedder, calibration = _embedder(app)
    boundaries = app.policy or load_settings().policy
    scores: dict[str, Any] = {}
    rows: list[dict[str, Any]] = []
    for path in files:
        with progress_bar(path.name) as progress:
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
        if not as_json:
            observation = scores[path.name]["observation"]
            _line(path.name, observation, ("recall@5", "recall@10", "recall@50", "any@10", "ndcg@10", "mrr"))
    if details is not None:
        details.write_text("".join(json.dumps(r, ensure_ascii=False) + "\n" for r in rows), encoding="utf-8")
    if as_json:
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
def threads(
    app: App, files: tuple[Path, ...], policy: str, split: str | None, user: str | None, as_json: bool
) -> None:
    """Score who answers what in a channel: links, clusters, exact threads."""
    del user
    _check(files)
    chosen = link_policy(policy)
    embedder, calibration = _embedder(app)
    scores: dict[str, Any] = {}
    for path in files:
        result = evaluate_threads(path, chosen, embedder, split=split, calibration=calibration)
        scores[path.name] = result.as_json()
        if not as_json:
            shown = ("link_precision", "link_recall", "link_f1", "scaled_vi", "one_to_one", "exact_f1")
            _line(path.name, scores[path.name], shown)
    if as_json:
        print_json(scores)


def _line(name: str, scores: dict[str, Any], keys: tuple[str, ...]) -> None:
    shown = "  ".join(f"{k} {scores[k]:.3f}" if scores[k] is not None else f"{k} -" for k in keys)
    out().print(f"{name:34} {shown}")

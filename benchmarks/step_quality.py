"""Where activities end, by networks that did not see what they judge; and what prediction is worth.

Models come from the trainer (`tools/train_steps.py`): `train` makes them and keeps them in the cache, and
without it those of the cache are judged, or nothing where there are none and the committed rows stay. Every
figure is of the policy online, along its own cuts. Errors are bootstrapped over streams. *Left out* means the
whole family of a set: the days and houses of ALFRED are told by the same people and count as one.
"""

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import train_steps as trainer
from boundary_steps.data import SETS, Course
from boundary_steps.models import by_family, by_fold

from benchmarks.trained import kept_or_trained, stamp_of
from benchmarks.uncertainty import compare_streams, estimate_streams
from episodic_agent.core.boundary.contract import Policy
from episodic_agent.core.boundary.policies import policy
from episodic_agent.core.boundary.steps.learned import LearnedStepsPolicy, StepsModel
from episodic_agent.core.evaluation.segmentation import StreamScore, score_stream
from episodic_agent.engine.evaluate.segmentation import segment

SEED = 7
EMPTY = 0.0  # F1 of a stream without any boundary on either side, as in the other tables
QUICK = 5  # streams of a set
RULED = "steps-2026-12"
NEEDED = tuple(f"steps_{source}" for source in SETS)
CODE = (
    "tools/boundary_steps", "tools/train_steps.py", "tools/boundary/training.py",
    "src/episodic_agent/core/boundary/steps", "src/episodic_agent/core/boundary/conversation/model.py",
)  # fmt: skip
UNDER = {"steps unseen": "streams not trained on", "steps left out": "the whole family not trained on"}

Row: TypeAlias = dict[str, Any]
Labelled: TypeAlias = Mapping[str, Sequence[Course]]


@dataclass(frozen=True)
class Trained:
    """Models of every fold and without every family; `blind` ones foresee nothing."""

    folds: Sequence[StepsModel]
    families: Mapping[str, StepsModel]
    blind: Sequence[StepsModel]
    seconds: float


def measure(
    data: Path, cache: Path, *, train: bool = False, quick: bool = False
) -> Iterator[tuple[str, Row]]:
    """Yield (key, row): the default unseen and left out, and F1 with prediction on less F1 with it off."""
    labelled = trainer.gather(data)
    file = cache / f"steps-{_stamp(data)}.pickle"
    trained = kept_or_trained(file, lambda: _trained(labelled), train=train)
    for name, courses in labelled.items():
        some = courses[:QUICK] if quick else courses
        ruled = [scored(c, policy(RULED, predict=on)) for on in (1, 0) for c in some]
        row: Row = {"rules": _change(ruled[: len(some)], ruled[len(some) :])}
        if trained is not None:
            seen = [scored(c, LearnedStepsPolicy(model=trained.folds[c.fold])) for c in some]
            off = [scored(c, LearnedStepsPolicy(model=trained.blind[c.fold], predict=0)) for c in some]
            row["default"] = _change(seen, off)
            strange = [scored(c, LearnedStepsPolicy(model=trained.families[c.family])) for c in some]
            for kind, rows in (("steps unseen", seen), ("steps left out", strange)):
                figures = _judged(some, rows) | {"seconds_of_training": round(trained.seconds)}
                yield f"{kind} | {name}", {"under": UNDER[kind], **figures}
            yield f"steps prediction | {name}", {"under": UNDER["steps unseen"], "f1": row}


def missing(data: Path) -> list[str]:
    """Return the files that are needed and not there."""
    return [f"{name}.jsonl.gz" for name in NEEDED if not (data / f"{name}.jsonl.gz").is_file()]


def scored(course: Course, rules: Policy[Any]) -> StreamScore:
    """Cut a stream online and score it."""
    return score_stream(course.starts, segment(course.units, rules, [None] * len(course.units)))


def _judged(courses: Sequence[Course], rows: Sequence[StreamScore]) -> Row:
    figures = estimate_streams(rows, SEED, empty_f1=EMPTY)
    counts = {"threads": len(courses), "units": sum(len(c.units) for c in courses)}
    return counts | {name: figure.as_json() for name, figure in figures.items()}


def _change(on: Sequence[StreamScore], off: Sequence[StreamScore]) -> Row:
    return compare_streams(on, off, SEED, empty_f1=EMPTY, names=("f1",))["f1"].as_json()


def _trained(labelled: Labelled) -> Trained:
    began = time.perf_counter()
    rows = trainer.rows_of(dict(labelled))
    results = by_fold(rows), by_family(rows), by_fold(rows.blind())
    return Trained(*results, time.perf_counter() - began)


def _stamp(data: Path) -> str:
    return stamp_of(CODE, [data / f"{name}.jsonl.gz" for name in NEEDED])

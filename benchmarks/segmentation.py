"""Boundaries on the labelled streams: the shipped policies at each delay beside plain rules."""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from pathlib import Path
from typing import Any

from benchmarks.baselines import (
    another_room,
    lexical_depth,
    long_silence,
    no_boundary,
    short_silence,
    vector_depth,
)
from benchmarks.uncertainty import Estimate, compare_streams, estimate_streams
from benchmarks.vectors import embedded
from episodic_agent.core.boundary.policies import STEP, for_modality
from episodic_agent.core.evaluation.segmentation import StreamScore, score_stream, score_streams
from episodic_agent.core.language.windows import windows
from episodic_agent.engine.evaluate.cases import LabelledStream, LabelledUnit, digest, streams
from episodic_agent.engine.evaluate.segmentation import segment
from episodic_agent.protocols import Embedder
from episodic_agent.schemas import Vector
from episodic_agent.wiring import resolve_policy

FILES = ("seg_tiage", "seg_superdialseg", "seg_topiocqa", "seg_realtalk", "seg_qmsum")
STEPS = ("steps_alfred_days", "steps_alfred_houses", "steps_homes", "steps_hdepic")
WITHOUT_TIMES = ("seg_realtalk",)
DELAYS = (0, 1, 2)
DEPTH = "vector depth, offline"  # the strongest of the plain rules: what the default is compared with
SEED = 7

Cutter = Callable[[LabelledStream, Sequence[Vector]], list[int]]


@dataclass(frozen=True, slots=True)
class System:
    """A way of cutting, by the name its rows carry."""

    name: str
    cut: Cutter
    needs_times: bool = False
    needs_vectors: bool = False


def measure(
    path: Path, embedder: Embedder, *, cache: Path | None = None, quick: bool = False
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield (key, figures) for each system on one file; vectors are made once and shared."""
    labelled = list(streams(path))
    if quick:
        labelled = labelled[:20]
    texts = [windows(u.text)[0] for s in labelled for u in s.units]
    vectors, seconds = embedded(texts, embedder, cache, digest(path) + ("-quick" if quick else ""))
    ends = [0, *accumulate(len(s.units) for s in labelled)]
    parts = [list(vectors[a:b]) for a, b in pairwise(ends)]
    stem = path.name.partition(".")[0]
    shared = {
        "file": path.name,
        "embedder": embedder.name,
        "embedding_ms_per_unit": None if seconds is None else round(1000 * seconds / max(len(texts), 1), 3),
        "quick": quick,
    }
    for use_times in (True, False) if stem in WITHOUT_TIMES else (True,):
        timed = use_times and any(u.at is not None for s in labelled for u in s.units)
        named = step_systems(use_times=use_times) if stem in STEPS else systems(use_times=use_times)
        compared = [s for s in named if timed or not s.needs_times]
        pairs = {s.name: _score(s, labelled, parts) for s in compared}
        plain = pairs[DEPTH][1]
        for name, (figures, scored) in pairs.items():
            row = {**shared, "system": name, "times": timed, **figures}
            if name.startswith("default"):
                row["over_depth"] = _as_json(compare_streams(scored, plain, SEED, empty_f1=0.0))
            yield f"{stem}{'' if use_times else ' without times'} | {name}", row


def _score(
    system: System, labelled: Sequence[LabelledStream], parts: Sequence[Sequence[Vector]]
) -> tuple[dict[str, Any], list[StreamScore]]:
    """Return a system's figures, with the errors of those that are compared, and each stream's own."""
    started = time.process_time()  # what others do on this machine must not count
    predicted = [system.cut(s, v) for s, v in zip(labelled, parts, strict=True)]
    spent = time.process_time() - started
    truth = [s.starts for s in labelled]
    report = score_streams(truth, predicted, empty_f1=0.0)
    rows = [score_stream(*pair) for pair in zip(truth, predicted, strict=True)]
    errors = estimate_streams(rows, SEED, empty_f1=0.0, names=("score", "segeval_f1", "density"))
    units = sum(len(s.units) for s in labelled)
    cost = {"ms_per_unit": round(1000 * spent / max(units, 1), 4)}
    return {**report.as_json(), "errors": _as_json(errors), **cost}, rows


def _as_json(estimates: Mapping[str, Estimate]) -> dict[str, Any]:
    return {name: found.as_json() for name, found in estimates.items()}


def systems(*, use_times: bool) -> list[System]:
    """Return what is compared, the shipped default first."""
    systems = [
        System(f"default, delay {delay}", _policy("default", use_times, hindsight=delay), needs_vectors=True)
        for delay in reversed(DELAYS)
    ]
    systems.append(System("seed-001", _policy("seed-001", use_times), needs_vectors=True))
    return systems + _plain()


def step_systems(*, use_times: bool) -> list[System]:
    """Return what is compared on steps: what `default` means there, the rules alone, the letter."""
    systems = [System("default", _policy(for_modality("default", STEP), use_times))]
    systems += [System(name, _policy(name, use_times)) for name in ("steps-2026-12", "seed-000")]
    systems.append(System("another room", _rule(another_room)))
    systems.append(System("gap > 5 min", _rule(short_silence), needs_times=True))
    return systems + _plain()


def _plain() -> list[System]:
    return [
        System("gap > 6 h", _rule(long_silence), needs_times=True),
        System("lexical depth, offline", _rule(lexical_depth)),
        System(DEPTH, lambda _, vectors: vector_depth(vectors), needs_vectors=True),
        System("no boundary", _rule(no_boundary)),
    ]


def _policy(name: str, use_times: bool, **parameters: int) -> Cutter:
    policy = resolve_policy(name, parameters)

    def cut(stream: LabelledStream, vectors: Sequence[Vector]) -> list[int]:
        return segment(stream.units, policy, vectors, use_times=use_times)

    return cut


def _rule(rule: Callable[[Sequence[LabelledUnit]], list[int]]) -> Cutter:
    def cut(stream: LabelledStream, vectors: Sequence[Vector]) -> list[int]:
        del vectors
        return rule(stream.units)

    return cut

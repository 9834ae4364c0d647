"""Boundaries on the labelled streams: the shipped policies at each delay beside plain rules."""

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from pathlib import Path
from typing import Any

from benchmarks.baselines import lexical_depth, long_silence, no_boundary, vector_depth
from benchmarks.vectors import embedded
from episodic_agent.core.evaluation import score_streams
from episodic_agent.core.interfaces import Embedder
from episodic_agent.core.windows import windows
from episodic_agent.engine.evaluate.cases import Stream, Unit, digest, streams
from episodic_agent.engine.evaluate.segmentation import segment
from episodic_agent.schemas import Vector
from episodic_agent.wiring import resolve_policy

FILES = ("seg_tiage", "seg_superdialseg", "seg_topiocqa", "seg_realtalk", "seg_qmsum")
STEPS = ("steps_alfred_days", "steps_alfred_houses", "steps_homes", "steps_hdepic")
WITHOUT_TIMES = ("seg_realtalk",)
DELAYS = (0, 1, 2)

Cutter = Callable[[Stream, Sequence[Vector]], list[int]]


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
        for system in systems(use_times=use_times):
            if system.needs_times and not timed:
                continue
            row = {**shared, "system": system.name, "times": timed, **_score(system, labelled, parts)}
            yield f"{stem}{'' if use_times else ' without times'} | {system.name}", row


def _score(system: System, labelled: Sequence[Stream], parts: Sequence[Sequence[Vector]]) -> dict[str, Any]:
    started = time.perf_counter()
    predicted = [system.cut(s, v) for s, v in zip(labelled, parts, strict=True)]
    spent = time.perf_counter() - started
    report = score_streams([s.starts for s in labelled], predicted, empty_f1=0.0)
    units = sum(len(s.units) for s in labelled)
    return {**report.as_json(), "ms_per_unit": round(1000 * spent / max(units, 1), 4)}


def systems(*, use_times: bool) -> list[System]:
    """Return what is compared, the shipped default first."""
    found = [
        System(f"default, delay {delay}", _policy("default", use_times, hindsight=delay), needs_vectors=True)
        for delay in reversed(DELAYS)
    ]
    found.append(System("seed-001", _policy("seed-001", use_times), needs_vectors=True))
    found.append(System("gap > 6 h", _rule(long_silence), needs_times=True))
    found.append(System("lexical depth, offline", _rule(lexical_depth)))
    found.append(
        System("vector depth, offline", lambda _, vectors: vector_depth(vectors), needs_vectors=True)
    )
    found.append(System("no boundary", _rule(no_boundary)))
    return found


def _policy(name: str, use_times: bool, **parameters: int) -> Cutter:
    policy = resolve_policy(name, parameters)

    def cut(stream: Stream, vectors: Sequence[Vector]) -> list[int]:
        return segment(stream.units, policy, vectors, use_times=use_times)

    return cut


def _rule(rule: Callable[[Sequence[Unit]], list[int]]) -> Cutter:
    def cut(stream: Stream, vectors: Sequence[Vector]) -> list[int]:
        del vectors
        return rule(stream.units)

    return cut

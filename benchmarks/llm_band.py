"""What a language model could add to `default` in its uncertain band: a simulated one, right so often.

No real model is asked. The simulated one knows the labels and tells the truth with a given probability, with
a confidence drawn from 0.6 to 1 whether it is right or not, as overconfident models do. So the rows are what
the stage would gain or lose with a model of that quality, not what any model does.
"""

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import accumulate, pairwise
from multiprocessing import get_context
from pathlib import Path
from typing import Any, Final

from benchmarks.vectors import embedded
from episodic_agent.core.boundary.contract import Question, Verdict
from episodic_agent.core.boundary.conversation.default import DefaultPolicy
from episodic_agent.core.boundary.policies import policy
from episodic_agent.core.evaluation.segmentation import score_streams
from episodic_agent.core.language.windows import windows
from episodic_agent.engine.evaluate.cases import LabelledStream, digest, streams
from episodic_agent.engine.evaluate.segmentation import segment
from episodic_agent.protocols import Embedder
from episodic_agent.schemas import Vector

FILES: Final = ("seg_tiage", "seg_superdialseg", "seg_topiocqa", "seg_realtalk", "seg_qmsum")
RIGHT: Final = (1.0, 0.9, 0.8, 0.5)
BANDS: Final = (0.15, 0.3, 0.5, 1.0)
MOST_STREAMS: Final = {"seg_qmsum": 24}  # of meetings: 15,000 turns, as many as of the largest other set
SEED: Final = 11
LEAST_SURE: Final = 0.6


@dataclass(slots=True)
class Simulated:
    """A model that knows where segments begin and says so with probability `right`; counts its answers."""

    starts: Sequence[int]
    right: float
    rng: random.Random
    calls: int = field(default=0)

    def answer(self, question: Question) -> Verdict:
        """Answer a question about a gap."""
        self.calls += 1
        truth = bool(self.starts[question.asked_of])
        is_stated = truth if self.rng.random() < self.right else not truth
        return Verdict(is_stated, self.rng.uniform(LEAST_SURE, 1.0))


def measure(
    data: Path, embedder: Embedder, *, cache: Path | None = None, quick: bool = False
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield (key, figures) for each file: without a model, then for each band and model."""
    for name in FILES:
        path = data / f"{name}.jsonl.gz"
        labelled = list(streams(path))
        texts = [windows(u.text)[0] for s in labelled for u in s.units]
        vectors, _ = embedded(texts, embedder, cache, digest(path))
        ends = [0, *accumulate(len(s.units) for s in labelled)]
        parts = [vectors[a:b] for a, b in pairwise(ends)]
        most = 10 if quick else MOST_STREAMS.get(name, len(labelled))
        case = labelled[:most], parts[:most]
        pairs: list[tuple[float, float | None]] = [(0.0, None)]
        pairs += [(band, right) for band in BANDS for right in RIGHT]
        with get_context("fork").Pool(2) as pool:
            for (band, right), row in zip(pairs, pool.map(partial(_row, case), pairs), strict=True):
                text = "without a model" if right is None else f"band {band}, {right:.0%} right"
                yield (
                    f"{name} | {text}",
                    {"file": path.name, "data": digest(path), "embedder": embedder.name, **row},
                )


def _row(
    case: tuple[Sequence[LabelledStream], Sequence[Vector]], pair: tuple[float, float | None]
) -> dict[str, Any]:
    (labelled, parts), (band, right) = case, pair
    chosen = policy("default", band=band)
    assert isinstance(chosen, DefaultPolicy)
    predicted, calls = [], 0
    for number, (stream, vectors) in enumerate(zip(labelled, parts, strict=True)):
        asks = replace(chosen, asks=right is not None)
        model = Simulated(stream.starts, right or 0.0, random.Random(f"{SEED} {number}"))
        predicted.append(segment(stream.units, asks, list(vectors), answer=model.answer))
        calls += model.calls
    report = score_streams([s.starts for s in labelled], predicted, empty_f1=0.0).as_json()
    units = sum(len(s.units) for s in labelled)
    return {
        "simulated": right is not None,
        "band": band,
        "right": right,
        "streams": len(labelled),
        "units": units,
        "calls": calls,
        "calls_per_100": round(100 * calls / max(units, 1), 2),
        **report,
    }

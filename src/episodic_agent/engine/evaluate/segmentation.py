"""Score a boundary policy on labelled streams, online: a unit is judged by what came before and a delay."""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import UUID

from episodic_agent.core.boundary.contract import Arrival, ManualCut, Policy
from episodic_agent.core.boundary.machine import Answer, nobody, replay
from episodic_agent.core.boundary.policies import DEFAULT, STEP, for_modality
from episodic_agent.core.boundary.policies import policy as named_policy
from episodic_agent.core.evaluation.segmentation import SegmentationReport, score_streams
from episodic_agent.core.language.windows import windows
from episodic_agent.engine.evaluate.cases import LabelledStream, LabelledUnit, streams
from episodic_agent.protocols import Embedder
from episodic_agent.schemas import Json, Kind, Observation, TimeSource, Vector

BEGINNING = datetime(2000, 1, 1, tzinfo=UTC)
THREAD = UUID(int=1)


@dataclass(frozen=True, slots=True)
class SegmentationResult:
    """The scores of one file, and what a unit cost (embedding included), in milliseconds."""

    report: SegmentationReport
    ms_per_unit: float
    predicted: Sequence[Sequence[int]]

    def as_json(self) -> dict[str, Any]:
        """Return the scores as plain JSON."""
        return {**self.report.as_json(), "ms_per_unit": round(self.ms_per_unit, 4)}


def evaluate_file(
    path: Path, policy: Policy[Any], embedder: Embedder | None, *, use_times: bool = True
) -> SegmentationResult:
    """Score `policy` on one file; `use_times=False` hides the times, to see what they are worth.

    Streams of steps are judged by what `default` means for steps where it was asked for (`judging`).
    A dialogue without any labelled or predicted boundary counts F1 0, as in the published tables.
    """
    labelled = list(streams(path))
    started = time.perf_counter()
    predicted = [_segmented(s, judging(policy, s), embedder, use_times=use_times) for s in labelled]
    spent = time.perf_counter() - started
    units = sum(len(s.units) for s in labelled)
    report = score_streams([s.starts for s in labelled], predicted, empty_f1=0.0)
    return SegmentationResult(report, 1000 * spent / max(units, 1), predicted)


def judging(policy: Policy[Any], stream: LabelledStream) -> Policy[Any]:
    """Return the policy that judges a stream: `default` means another one for steps, as in a memory.

    >>> from episodic_agent.core.boundary.policies import policy
    >>> told = LabelledStream("s", [LabelledUnit("agent", "take it", None, step=True)], [0])
    >>> judging(policy("default"), told).name, judging(policy("seed-000"), told).name
    ('steps-2027-02', 'seed-000')
    """
    steps = bool(stream.units) and stream.units[0].step
    if not steps or policy.name.partition("?")[0] != named_policy(DEFAULT).name:
        return policy
    return named_policy(for_modality(DEFAULT, STEP))


def _segmented(
    stream: LabelledStream, policy: Policy[Any], embedder: Embedder | None, *, use_times: bool
) -> list[int]:
    reads = embedder if policy.needs_vectors else None
    return segment(stream.units, policy, vectors_of(stream, reads), use_times=use_times)


def vectors_of(stream: LabelledStream, embedder: Embedder | None) -> Sequence[Vector | None]:
    """Embed a stream's units by the first window of each text, as ingest does for segmentation."""
    if embedder is None:
        return [None] * len(stream.units)
    return list(embedder.embed([windows(u.text)[0] for u in stream.units]))


def segment(
    units: Sequence[LabelledUnit],
    policy: Policy[Any],
    vectors: Sequence[Vector | None],
    *,
    use_times: bool = True,
    answer: Answer = nobody,
) -> list[int]:
    """Return the starts a policy gives a stream; what is pending at the end is decided with what there is.

    `answer` speaks for a language model; questions are put to it as they arise.
    """
    inputs: list[Any] = [
        Arrival(observation(n, u, use_times=use_times), v)
        for n, (u, v) in enumerate(zip(units, vectors, strict=True))
    ]
    starts = [0] * len(units)
    for cut in replay([*inputs, ManualCut(BEGINNING)], policy, answer=answer).cuts:
        if cut.before_seq < len(units):
            starts[cut.before_seq] = 1
    return starts


def observation(seq: int, unit: LabelledUnit, *, use_times: bool = True) -> Observation:
    """Return a unit as the observation it would be: the one at `seq` of a thread."""
    is_known = use_times and unit.at is not None
    at = unit.at if is_known and unit.at is not None else BEGINNING
    return Observation(
        UUID(int=seq),
        THREAD,
        seq,
        at,
        BEGINNING,
        unit.speaker,
        unit.text,
        kind=Kind.STEP if unit.step else Kind.MESSAGE,
        at_source=TimeSource.GIVEN if is_known else TimeSource.ASSUMED,
        location=unit.location,
        extras=_step_extras(unit),
    )


def _step_extras(unit: LabelledUnit) -> dict[str, Json]:
    """Return what a step says beside its words, as intake keeps it."""
    extras: dict[str, Json] = {} if unit.action is None else {"action": unit.action}
    return extras | {"objects": list(unit.objects)} if unit.objects else extras

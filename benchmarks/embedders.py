"""Another embedder before and after `calibrate`: boundaries, recall and confidence.

Fitted on the shipped conversations alone, measured on labelled data that played no part in it. The second
real model is asked over HTTP, as any OpenAI-compatible server is: averaged word vectors, or a sentence model
of one's own, then measured alone (`python -m benchmarks.embedders --data DIR --model FILE.onnx`).
"""

import argparse
import gzip
import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from benchmarks.served import Sentences, WordAverage, served
from episodic_agent.core.calibration import Calibration
from episodic_agent.core.evaluation.retrieval import QuestionResult, score_questions
from episodic_agent.core.evaluation.segmentation import score_streams
from episodic_agent.engine.evaluate.calibrating import calibrate
from episodic_agent.engine.evaluate.cases import LabelledStream, rows, streams
from episodic_agent.engine.evaluate.retrieval import evaluate_file
from episodic_agent.engine.evaluate.segmentation import segment, vectors_of
from episodic_agent.protocols import Embedder
from episodic_agent.providers.embedders.hashing import HashingEmbedder
from episodic_agent.providers.embedders.openai import EmbedderLimits, OpenAIEmbedder
from episodic_agent.schemas import Vector
from episodic_agent.wiring import (
    demo_conversations,
    load_settings,
    make_embedder,
    resolve_policy,
    temporary_memory,
)

DIALOGUES = {"seg_tiage": 60, "seg_superdialseg": 60, "seg_realtalk": 4}  # times hidden
CASES = {"ret_realtalk": 2, "ret_beam100k": 1}
FOREIGN = {
    "ret_realtalk": "ret_beam100k",
    "ret_beam100k": "ret_realtalk",
}  # whose questions nobody can answer
ASKED = 40  # foreign questions a case
KIND = "foreign"
Row = dict[str, Any]


class Once:
    """Passes on to an embedder only what it was never asked, so that a second run costs nothing."""

    def __init__(self, inner: Embedder) -> None:
        self._inner = inner
        self._kept: dict[str, Vector] = {}
        self.name = inner.name

    @property
    def dimensions(self) -> int:
        """Return the inner embedder's."""
        return self._inner.dimensions

    def embed(self, texts: Sequence[str]) -> Vector:
        """Embed texts, remembering them."""
        missing = list(dict.fromkeys(t for t in texts if t not in self._kept))
        if missing:
            self._kept.update(zip(missing, self._inner.embed(missing), strict=True))
        return np.stack([self._kept[t] for t in texts])


def measure(
    data: Path, *, quick: bool = False, model: Path | None = None, hidden: str = ""
) -> Iterator[tuple[str, Row]]:
    """Yield (key, figures) for each embedder and file: the default, hashing, and a model on a server."""
    default = make_embedder("minilm", load_settings())
    cache = Path(load_settings().cache).expanduser()
    second = WordAverage(cache) if model is None else Sentences(model, cache, hidden)
    with served(second.embed) as endpoint:
        remote = OpenAIEmbedder(second.name, base_url=endpoint.url, limits=EmbedderLimits(timeout=600.0))
        chosen = [default, HashingEmbedder(), remote] if model is None else [remote]
        for embedder in chosen:
            if embedder is None:
                continue
            fitted = None if embedder is default else _fitted(embedder, default)
            once = Once(embedder)
            for key, row in (*_dialogues(data, once, fitted, quick), *_cases(data, once, fitted, quick)):
                yield f"{key} | {embedder.name}", {**row, "embedder": embedder.name}


def _fitted(embedder: Embedder, default: Embedder | None) -> Calibration:
    if default is None:
        raise LookupError("the default embedder is missing; run `episodic models pull`")
    return calibrate(embedder, default, demo_conversations()).calibration


def _states(fitted: Calibration | None) -> Sequence[tuple[str, Calibration | None]]:
    return (("as it is", None),) if fitted is None else (("before", None), ("after", fitted))


def _dialogues(
    data: Path, embedder: Embedder, fitted: Calibration | None, quick: bool
) -> Iterator[tuple[str, Row]]:
    for name, most in DIALOGUES.items():
        path = data / f"{name}.jsonl.gz"
        if not path.is_file():
            continue
        cases = list(islice(streams(path), 20 if quick else most))
        vectors = [vectors_of(case, embedder) for case in cases]
        row: Row = {"file": path.name, "streams": len(cases)}
        for state, calibration in _states(fitted):
            row[state] = _boundaries(cases, vectors, embedder, calibration)
        if fitted is not None:
            row["words alone"] = _boundaries(cases, [[None] * len(c.units) for c in cases], embedder, None)
        yield name, row


def _boundaries(
    cases: Sequence[LabelledStream],
    vectors: Sequence[Sequence[Vector | None]],
    embedder: Embedder,
    calibration: Calibration | None,
) -> Row:
    policy = resolve_policy("default", embedder=embedder, calibration=calibration)
    predicted = [segment(c.units, policy, v, use_times=False) for c, v in zip(cases, vectors, strict=True)]
    report = score_streams([c.starts for c in cases], predicted, empty_f1=0.0)
    return {
        "policy": policy.name,
        "score": round(report.score, 4),
        "f1": round(report.f1, 4),
        "density": round(report.density, 3),
    }


def _cases(
    data: Path, embedder: Embedder, fitted: Calibration | None, quick: bool
) -> Iterator[tuple[str, Row]]:
    for name, most in CASES.items():
        path, other = (data / f"{stem}.jsonl.gz" for stem in (name, FOREIGN[name]))
        if not path.is_file() or not other.is_file():
            continue
        with _with_foreign(path, other, 1 if quick else most) as mixed:
            row: Row = {"file": path.name}
            for state, calibration in _states(fitted):
                row[state] = _recalled(mixed, embedder, calibration)
        yield name, row


@contextmanager
def _with_foreign(path: Path, other: Path, most: int) -> Iterator[Path]:
    """Give the first cases with questions of another set added, which are to be turned away."""
    asked = [q for case in rows(other) for q in case["questions"]]
    step = max(1, len(asked) // ASKED)
    foreign = [
        {"id": f"foreign-{n}", "question": q["question"], "type": KIND, "evidence": []}
        for n, q in enumerate(asked[::step][:ASKED])
    ]
    with TemporaryDirectory(prefix="episodic-") as folder:
        mixed = Path(folder) / path.name
        with gzip.open(mixed, "wt", encoding="utf-8") as file:
            for case in islice(rows(path), most):
                questions = [*case["questions"], *foreign]
                file.write(json.dumps({**case, "questions": questions}, ensure_ascii=False) + "\n")
        yield mixed


def _recalled(path: Path, embedder: Embedder, calibration: Calibration | None) -> Row:
    results = evaluate_file(
        path,
        lambda now, language: temporary_memory(embedder, now=now, language=language, calibration=calibration),
        limit=10,
    ).observations
    own = [q for q in results if q.evidence]
    foreign = [q for q in results if q.type == KIND]
    return {
        "questions": len(own),
        "recall@10": round(float(score_questions(own).as_json()["recall@10"] or 0.0), 4),
        "own answered": _answered(own),
        "foreign answered": _answered(foreign),
        "brier": round((_off(own, 1.0) + _off(foreign, 0.0)) / 2, 3),
    }


def _answered(asked: Sequence[QuestionResult]) -> float:
    return round(float(np.mean([not q.abstained for q in asked])), 3)


def _off(asked: Sequence[QuestionResult], truth: float) -> float:
    return float(np.mean([(q.confidence - truth) ** 2 for q in asked]))


def table(results: Mapping[str, Row]) -> str:
    """Return the figures as two Markdown tables."""
    lines = [
        "| dialogues | embedder | before: Score | F1 | density | after: Score | F1 | density |",
        "| :-- | :-- | --: | --: | --: | --: | --: | --: |",
    ]
    asked = [
        "| questions | embedder | recall@10 before | after | foreign answered before | after "
        "| own answered before | after | Brier before | after |",
        "| :-- | :-- | --: | --: | --: | --: | --: | --: | --: | --: |",
    ]
    for key, row in results.items():
        states = [row.get("before", row.get("as it is")), row.get("after")]
        name = f"| {key.partition(' | ')[0]} | {row['embedder']} |"
        if "recall@10" in states[0]:
            names = ("recall@10", "foreign answered", "own answered", "brier")
            asked.append(name + "".join(f" {_cell(s, n)} |" for n in names for s in states))
        else:
            lines.append(
                name + "".join(f" {_cell(s, n)} |" for s in states for n in ("score", "f1", "density"))
            )
    return "\n".join([*lines, "", *asked])


def _cell(state: Row | None, name: str) -> str:
    return "-" if state is None else f"{state[name]:.3f}".removeprefix("0")


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and print the tables."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.embedders", description=__doc__)
    parser.add_argument("--data", type=Path, default=Path("../shared/data"), help="folder of labelled files")
    parser.add_argument("--quick", action="store_true", help="parts of the files")
    parser.add_argument("--model", type=Path, help="an ONNX sentence model with the default's vocabulary")
    parser.add_argument("--hidden", default="last_hidden_state", help="its output of hidden states")
    options = parser.parse_args(arguments)
    results: dict[str, Row] = {}
    for key, row in measure(options.data, quick=options.quick, model=options.model, hidden=options.hidden):
        print(key, json.dumps(row), file=sys.stderr, flush=True)
        results[key] = row
    print(table(results))
    return 0


if __name__ == "__main__":
    sys.exit(main())

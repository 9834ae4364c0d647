"""Recall on the labelled cases: the engine through its real path beside plain BM25 and the raw embedder."""

import gzip
import time
from collections.abc import Hashable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from benchmarks.baselines import Bm25, Floats, Mask, cosines, top
from benchmarks.uncertainty import (
    bootstrap_sums,
    by_case,
    difference_of_means,
    mean_of_sums,
)
from benchmarks.vectors import Remembering
from episodic_agent.core.evaluation.retrieval import (
    QuestionResult,
    question_metrics,
    rounded,
    score_abstention,
    score_by_type,
    score_questions,
)
from episodic_agent.engine.evaluate.cases import rows, unit_time
from episodic_agent.engine.evaluate.retrieval import RetrievalResult, evaluate_file, unique, window
from episodic_agent.wiring import temporary_memory

FILES = (
    "ret_realtalk",
    "ret_beam100k",
    "ret_memdaily",
    "ret_lifebench",
    "ret_llqa",
    "ret_alfred",
    "ret_qmsum",
)
QUICK = {"ret_qmsum": 30, "ret_memdaily": 100, "ret_alfred": 30, "ret_lifebench": 1, "ret_beam100k": 2}
LIMIT = 50
KEPT = 10  # ids of a question's ranking that are committed
COMPARED = "recall@10"
OF_FIRST_TEN = ("recall@1", "recall@5", "recall@10", "any@10", "ndcg@10")  # what the kept ids decide
SYSTEMS = ("default", "bm25", "embedder")  # as the details name them
SEED = 7


@dataclass(slots=True)
class Plain:
    """What a baseline answered, one result for each question."""

    observations: list[QuestionResult] = field(default_factory=list)
    sessions: list[QuestionResult] = field(default_factory=list)
    query_seconds: float = 0.0
    index_seconds: float = 0.0
    messages: int = 0

    def as_json(self) -> dict[str, Any]:
        """Return the same figures as the engine's."""
        sessions = [q for q in self.sessions if q.evidence]
        return {
            "observation": score_questions(self.observations).as_json(),
            "session": score_questions(sessions).as_json() if sessions else {},
            "by_type": {k: r.as_json() for k, r in score_by_type(self.observations).items()},
            "abstention": score_abstention(self.observations).as_json(),
            "questions": len(self.observations),
            "ms_per_query": round(1000 * self.query_seconds / max(len(self.observations), 1), 3),
            "ms_per_message": round(1000 * self.index_seconds / max(self.messages, 1), 3),
        }


@dataclass(frozen=True, slots=True)
class Measured:
    """The rows of one file, and what each system answered to each question."""

    rows: dict[str, dict[str, Any]]
    details: list[dict[str, Any]]


def measure(path: Path, embedder: Remembering, *, quick: bool = False) -> Measured:
    """Run the engine and both baselines over one file, the engine with everything a user would pay."""
    stem = path.name.partition(".")[0]
    with first(path, QUICK.get(stem) if quick else None) as chosen:
        engine = evaluate_file(
            chosen,
            lambda now, language: temporary_memory(embedder, now=now, language=language),
            limit=LIMIT,
        )
        bm25, dense = _baselines(chosen, embedder)
    shared = {"file": path.name, "quick": quick, "messages": engine.messages}
    figures = {"default": engine.as_json(), "bm25": bm25.as_json(), embedder.name: dense.as_json()}
    results = {
        f"{stem} | {name}": {**shared, "system": name, "embedder": _embedder(name, embedder), **row}
        for name, row in figures.items()
    }
    details = _details(engine, bm25, dense)
    for name, text in zip(figures, SYSTEMS, strict=True):
        results[f"{stem} | {name}"]["se"] = errors(details, text)
    results[f"{stem} | default"]["over_bm25"] = gain(details, "bm25")
    results[f"{stem} | default"]["over_embedder"] = gain(details, "embedder")
    embedder.forget()
    return Measured(results, details)


def _embedder(system: str, embedder: Remembering) -> str:
    return "none" if system == "bm25" else embedder.name


def errors(details: Sequence[Mapping[str, Any]], system: str) -> dict[str, Any]:
    """Return the standard errors of what the first ten places decide, drawn anew by case.

    Computed from the details that are kept, so that they can be had of any committed run. Where a set has
    fewer than eight cases questions are drawn, and the error is too small.
    """
    values, cases = _first_ten(details, system)
    if not values:
        return {}
    columns = {name: by_case([row[name] for row in values], cases) for name in OF_FIRST_TEN}
    estimates = {name: bootstrap_sums(rows, mean_of_sums, SEED) for name, rows in columns.items()}
    return {name: rounded(estimate.error) for name, estimate in estimates.items()}


def gain(details: Sequence[Mapping[str, Any]], other: str) -> dict[str, Any]:
    """Return the mean difference in recall@10 over the same questions, with its error and 95 % interval."""
    ours, cases = _first_ten(details, "default")
    theirs, _ = _first_ten(details, other)
    if not ours:
        return {}
    sides = [by_case([row[COMPARED] for row in rows], cases) for rows in (ours, theirs)]
    estimate = bootstrap_sums(np.hstack(sides), difference_of_means, SEED)
    return {
        "metric": COMPARED,
        "mean": round(estimate.value, 4),
        "se": rounded(estimate.error),
        "interval": [round(estimate.low, 4), round(estimate.high, 4)],
    }


def _first_ten(
    details: Sequence[Mapping[str, Any]], system: str
) -> tuple[list[dict[str, float]], list[Hashable]]:
    mine = [row for row in details if row["evidence"]]
    return [question_metrics(QuestionResult(r[system], r["evidence"])) for r in mine], [
        r["case"] for r in mine
    ]


@contextmanager
def first(path: Path, cases: int | None) -> Iterator[Path]:
    """Give a file of the first cases only, or the whole one where no number is given."""
    if cases is None:
        yield path
        return
    with TemporaryDirectory(prefix="episodic-") as folder:
        part = Path(folder) / path.name
        opener = gzip.open if path.suffix == ".gz" else open
        with opener(path, "rt", encoding="utf-8") as source, opener(part, "wt", encoding="utf-8") as target:
            target.writelines(islice(source, cases))
        yield part


@dataclass(frozen=True, slots=True)
class _Case:
    """One case's messages as the baselines need them: ids, times and sessions, row by row."""

    ids: Sequence[str]
    times: Sequence[datetime | None]
    sessions: Mapping[str, str]

    @classmethod
    def of(cls, messages: Sequence[Mapping[str, Any]]) -> "_Case":
        """Read what the labelled messages say."""
        return cls(
            [str(m["id"]) for m in messages],
            [unit_time(m.get("time")) for m in messages],
            {str(m["id"]): str(m["session"]) for m in messages if m.get("session") is not None},
        )

    def within(self, question: Mapping[str, Any]) -> Mask | None:
        """Tell which messages a question's own time filter leaves (the engine is given it too); None: all."""
        since, until = window(question)
        if since is None or until is None:
            return None
        return np.array([at is not None and since <= at < until for at in self.times], np.bool_)


def _baselines(path: Path, embedder: Remembering) -> tuple[Plain, Plain]:
    bm25, dense = Plain(), Plain()
    for row in rows(path):
        questions, case = row["questions"], _Case.of(row["messages"])
        texts = [str(m.get("text", "")) for m in row["messages"]]
        started = time.perf_counter()
        index = Bm25(texts, str(row["lang"]) if row.get("lang") else None)
        bm25.index_seconds += time.perf_counter() - started
        matrix = embedder.recall(texts)  # not timed: the embedder alone is measured by the speed benchmark
        asked = embedder.recall([str(q["question"]) for q in questions])
        for plain in (bm25, dense):
            plain.messages += len(texts)
        for question, vector in zip(questions, asked, strict=True):
            allowed = case.within(question)
            started = time.perf_counter()
            scores = index.scores(str(question["question"]))
            indexes = top(scores, LIMIT, allowed, above=0.0)
            bm25.query_seconds += time.perf_counter() - started
            _keep(bm25, case, question, indexes, scores)
            started = time.perf_counter()
            scores = cosines(matrix, vector)
            indexes = top(scores, LIMIT, allowed)
            dense.query_seconds += time.perf_counter() - started
            _keep(dense, case, question, indexes, scores)
    return bm25, dense


def _keep(
    plain: Plain, case: _Case, question: Mapping[str, Any], indexes: Sequence[int], scores: Floats
) -> None:
    ranked = [case.ids[n] for n in indexes]
    evidence = [str(e) for e in question.get("evidence", ())]
    kind, best = str(question.get("type", "")), float(scores[indexes[0]]) if indexes else 0.0
    plain.observations.append(QuestionResult(ranked, evidence, kind, not ranked, best))
    if case.sessions:
        targets = unique(case.sessions[e] for e in evidence if e in case.sessions)
        seen = unique(case.sessions[r] for r in ranked if r in case.sessions)
        plain.sessions.append(QuestionResult(seen, targets, kind, not ranked, best))


def _details(engine: RetrievalResult, bm25: Plain, dense: Plain) -> list[dict[str, Any]]:
    """Return one row for each question: what there was to find, and the first ten of each system."""
    return [
        {
            "case": detail["case"],
            "question": detail["question"],
            "type": detail["type"],
            "evidence": detail["evidence"],
            "default": list(detail["ranked"][:KEPT]),
            "confidence": round(float(detail["confidence"]), 3),
            "abstained": detail["abstained"],
            "bm25": list(lexical.ranked[:KEPT]),
            "embedder": list(meaning.ranked[:KEPT]),
        }
        for detail, lexical, meaning in zip(
            engine.details, bm25.observations, dense.observations, strict=True
        )
    ]

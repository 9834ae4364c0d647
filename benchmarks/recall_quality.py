"""Recall with its standard errors, without each leg, and how well confidence tells what is not there.

Every ranking is made from what the engine gathered (`asked`), by the very functions recall calls; how sure
recall is, `search` itself says. It is asked by its policy of one round, `recall-2026-12`: what a second round
reads of the first hits' texts is not kept. Errors are bootstrapped over cases, over questions where a set
has fewer than eight cases (then they are too small).
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any, Final, TypeAlias

import numpy as np

from benchmarks.abstention import Sides, curves
from benchmarks.asked import Asked, Case, asked_cases
from benchmarks.retrieval import FILES, LIMIT
from benchmarks.uncertainty import (
    Estimate,
    bootstrap_sums,
    by_case,
    difference_of_means,
    mean_of_estimates,
    mean_of_sums,
)
from episodic_agent.core import recall as ranking
from episodic_agent.core.evaluation.retrieval import QuestionResult, question_metrics
from episodic_agent.core.recall import WEIGHTS_2026_12, FusionWeights
from episodic_agent.core.recall.bm25 import IntArray
from episodic_agent.engine.evaluate.retrieval import unique
from episodic_agent.protocols import Embedder

SEED: Final = 7
MAIN: Final = {  # the figure a set is judged by
    "ret_realtalk": "recall@10", "ret_beam100k": "recall@10", "ret_memdaily": "recall@5",
    "ret_lifebench": "recall@10", "ret_llqa": "any@5", "ret_llqa open": "any@5", "ret_qmsum": "any@10",
    "ret_alfred": "session recall@1",
}  # fmt: skip
SHOWN: Final = ("recall@1", "recall@5", "recall@10", "recall@50", "any@10", "mrr")
OF_EPISODES: Final = ("more", "own", "thread", "floor")  # do not order observations
BIGRAMS: Final = "_bigrams"  # ends the name of a weight that stands for another in some scripts

Row: TypeAlias = dict[str, Any]
Order: TypeAlias = Callable[[Asked, Case], IntArray]


@dataclass(frozen=True)
class Judged:
    """One question after ranking: its case and group, what it scored, how sure recall was."""

    case: str
    kind: str
    confidence: float
    answerable: bool
    metrics: Mapping[str, float]


def measure(
    data: Path, embedder: Embedder, cache: Path, *, weights: str = "", quick: bool = False
) -> Iterator[tuple[str, Row]]:
    """Yield (key, row): every set's figures, each leg off, the curves of abstention."""
    off: dict[str, dict[str, Estimate]] = {}
    confidences: dict[str, list[Judged]] = {}
    variants = ablations() | trial(weights)
    for stem in FILES:
        if not (data / f"{stem}.jsonl.gz").is_file():
            continue
        cases = asked_cases(data, stem, embedder, cache, quick=quick)
        for group, mine in groups(cases).items():
            base = judge(mine, default_order)
            confidences[group] = base
            answerable = [one for one in base if one.answerable]
            if not answerable:
                continue
            yield f"recall | {group}", figures(group, answerable) | compared(mine)
            if group != "ret_llqa":  # a window leaves a handful of candidates: no leg matters
                for name, order in variants.items():
                    changed = [one for one in judge(mine, order) if one.answerable]
                    off.setdefault(name, {})[group] = difference(group, changed, answerable)
    for name, by_set in off.items():
        row: Row = {group: found.as_json() for group, found in by_set.items()}
        yield f"off | {name}", {"change": row | {"mean": mean_of_estimates([*by_set.values()]).as_json()}}
    yield from curves({group: sides(judged) for group, judged in confidences.items()})


def groups(cases: Sequence[Case]) -> dict[str, list[tuple[Case, Asked]]]:
    """Return the questions of a set, LLQA's without their window apart (with those nothing answers)."""
    pairs: dict[str, list[tuple[Case, Asked]]] = {}
    for case in cases:
        opened = any(asked.kind == "open" for asked in case.asked)
        for asked in case.asked:
            group = f"{case.set} open" if opened and asked.kind != "own" else case.set
            pairs.setdefault(group, []).append((case, asked))
    return pairs


def default_order(asked: Asked, case: Case, weights: FusionWeights = WEIGHTS_2026_12) -> IntArray:
    """Rank a question's candidates as recall does, near-duplicates giving way."""
    order = fused(asked, case, weights).order
    moved, _ = ranking.diversify(order, case.vectors[np.searchsorted(case.refs, asked.gathered.refs)])
    return moved


def fused(asked: Asked, case: Case, weights: FusionWeights = WEIGHTS_2026_12) -> ranking.Fused:
    """Fuse a question's candidates."""
    places = np.array(
        [f"{ref:016x}" for ref in asked.gathered.refs.tolist()]
    )  # by which the engine parts ties
    candidates = replace(asked.gathered.candidates, ids=places)
    return ranking.fuse(asked.query, candidates, asked.gathered.episodes, weights)


def ablations() -> dict[str, Order]:
    """Return each leg and weight off, by name."""
    names = [f.name for f in fields(FusionWeights) if not f.name.endswith(BIGRAMS)]
    duplicates = {f.name for f in fields(FusionWeights)}
    off = {
        name: replace(WEIGHTS_2026_12, **{n: 0.0 for n in (name, name + BIGRAMS) if n in duplicates})
        for name in names
    }
    # no set has places; a second round, statements and trust in vectors are taken where a question is asked
    asked = ("second", "states", "known_below", "foreign_from")
    for name in (*OF_EPISODES, "neighbour_hours", "dense", "dense_foreign", "place", *asked):
        off.pop(name, None)
    legs = {
        "words": replace(WEIGHTS_2026_12, dense=1.0, dense_foreign=1.0),
        "vectors": replace(WEIGHTS_2026_12, dense=0.0, dense_foreign=0.0),
        "both neighbours": replace(
            WEIGHTS_2026_12, neighbour_lexical=0.0, neighbour_lexical_bigrams=0.0, neighbour_dense=0.0
        ),
    }
    results = {name.replace("_", " "): _with(weights) for name, weights in (legs | off).items()}
    return results | {"near-duplicates give way": lambda asked, case: fused(asked, case).order}


def _with(weights: FusionWeights) -> Order:
    return lambda asked, case: default_order(asked, case, weights)


def trial(pairs: str) -> dict[str, Order]:
    """Return the default with other weights, named as they are written: `dense=.4 length=0`.

    >>> list(trial("dense=.4")), trial("")
    (['with dense=.4'], {})
    """
    changed = {name: float(value) for name, value in (pair.split("=") for pair in pairs.split())}
    return {f"with {pairs}": _with(replace(WEIGHTS_2026_12, **changed))} if changed else {}


def judge(questions: Sequence[tuple[Case, Asked]], order: Order) -> list[Judged]:
    """Rank and score every question that has evidence; how sure recall was is what `search` said."""
    result = []
    for case, asked in questions:
        metrics: Mapping[str, float] = {}
        if asked.evidence:
            ranked = order(asked, case) if len(asked.gathered.refs) else np.zeros(0, np.int64)
            metrics = _metrics(_ids(case, asked, ranked), asked, case)
        result.append(Judged(case.name, asked.kind, asked.confidence, bool(asked.evidence), metrics))
    return result


def _ids(case: Case, asked: Asked, order: IntArray) -> list[str]:
    rows = np.searchsorted(case.refs, asked.gathered.refs[order[:LIMIT]])
    return [case.ids[row] for row in rows.tolist()]


def _metrics(ranked: Sequence[str], asked: Asked, case: Case) -> dict[str, float]:
    values = question_metrics(QuestionResult(ranked, asked.evidence))
    targets = unique(case.sessions[e] for e in asked.evidence if e in case.sessions)
    if targets:
        seen = unique(case.sessions[one] for one in ranked if one in case.sessions)
        inside = question_metrics(QuestionResult(seen, targets))
        values |= {f"session {name}": inside[name] for name in ("recall@1", "recall@5")}
    return values


def figures(group: str, answerable: Sequence[Judged]) -> Row:
    """Return a set's figures with their errors."""
    main = MAIN.get(group, SHOWN[2])
    names = dict.fromkeys([*SHOWN, main])
    results = {name: estimate(name, answerable).as_json() for name in names}
    cases = len({one.case for one in answerable})
    return {"questions": len(answerable), "cases": cases, "main": main, "figures": results}


def estimate(name: str, answerable: Sequence[Judged]) -> Estimate:
    """Return the mean of a metric over the questions that have it."""
    mine = [one for one in answerable if name in one.metrics]
    return bootstrap_sums(
        by_case([m.metrics[name] for m in mine], [m.case for m in mine]), mean_of_sums, SEED
    )


def difference(group: str, changed: Sequence[Judged], base: Sequence[Judged]) -> Estimate:
    """Return how much a change adds to a set's main figure, paired by question."""
    name = MAIN.get(group, SHOWN[2])
    pairs = [(a, b) for a, b in zip(changed, base, strict=True) if name in b.metrics]
    cases = [b.case for _, b in pairs]
    sides = [by_case([pair[side].metrics[name] for pair in pairs], cases) for side in (0, 1)]
    return bootstrap_sums(np.hstack(sides), difference_of_means, SEED)


def compared(questions: Sequence[tuple[Case, Asked]]) -> Row:
    """Say how many of the rankings made here are those the engine itself returned: all, or trust nothing."""
    mine = [(c, a) for c, a in questions if a.evidence]
    other = sum(_ids(c, a, default_order(a, c)) != list(a.ranked) for c, a in mine)
    return {"compared_with_search": len(mine), "ranked_otherwise": other}


def sides(questions: Sequence[Judged]) -> Sides:
    """Return the confidences of a set; "open" questions without evidence are its own."""
    answerable = [(one.confidence, one.metrics["recall@10"]) for one in questions if one.answerable]
    others: dict[str, list[float]] = {}
    for judged in questions:
        if not judged.answerable:
            others.setdefault("own" if judged.kind == "open" else judged.kind, []).append(judged.confidence)
    return Sides.of(answerable, others)

"""Try fusions on what recall saw for the labelled questions (see `recall_cache.py`), all sets in a minute.

    python tools/recall_lab.py --cache FOLDER                      the committed default, with standard errors
    python tools/recall_lab.py --cache FOLDER --set dense=.4 …      the default with other weights
    python tools/recall_lab.py --cache FOLDER --ablate              each leg and weight off, one at a time

Standard errors are bootstrapped over people or cases where a set has at least eight, else over questions.
"""

import argparse
import os
import pickle
from collections.abc import Callable, Iterable, Mapping
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np

from episodic_agent.core import ranking
from episodic_agent.core.ranking import DEFAULT_WEIGHTS, Weights

SETS = (
    "ret_realtalk",
    "ret_beam100k",
    "ret_memdaily",
    "ret_lifebench",
    "ret_llqa",
    "ret_qmsum",
    "ret_alfred",
)
MAIN = {  # the figure each set is judged by
    "ret_realtalk": "recall@10",
    "ret_beam100k": "recall@10",
    "ret_memdaily": "recall@5",
    "ret_lifebench": "recall@10",
    "ret_llqa": "any@5",
    "ret_llqa open": "any@5",
    "ret_qmsum": "any@10",
    "ret_alfred": "session@1",
}
SEED, SAMPLES = 7, 1000
HEAD = 50

Asked = dict[str, Any]
Case = dict[str, Any]
Scorer = Callable[[Asked, Case], Any]


def load(folder: Path, only: Iterable[str] = SETS) -> list[Case]:
    """Read the cached cases; each question's candidates get ids that sort like their refs."""
    cases = []
    for stem in only:
        if (folder / f"{stem}.pkl").is_file():
            with (folder / f"{stem}.pkl").open("rb") as source:
                cases.extend(pickle.load(source))
    for case in cases:
        names = np.array(case["ids"])
        for asked in case["asked"]:
            rows = np.searchsorted(case["refs"], asked["refs"])
            wanted = set(asked["evidence"])
            asked["rows"] = rows
            asked["relevant"] = np.array([name in wanted for name in names[rows].tolist()], np.bool_)
            asked["session"] = case["session"][rows]
            found, episodes = asked["found"], asked["episodes"]
            asked["found"] = replace(found, ids=[f"{r:020}" for r in asked["refs"].tolist()])
            asked["episodes"] = replace(episodes, ids=[f"{n:06}" for n in range(len(episodes.thread))])
            by_name = dict(zip(case["ids"], case["session"].tolist(), strict=True))
            asked["sessions"] = {by_name[e] for e in wanted if by_name.get(e, -1) >= 0}
    return cases


def group(case: Case, asked: Asked) -> str:
    """Name the set a question counts for."""
    return f"{case['set']} open" if asked["kind"] == "open" else str(case["set"])


def default_order(asked: Asked, case: Case, weights: Weights = DEFAULT_WEIGHTS) -> Any:
    """Rank a question's candidates as `Recaller` does."""
    fused = ranking.fuse(asked["query"], asked["found"], asked["episodes"], weights)
    return spread(fused.order, asked, case)


def spread(order: Any, asked: Asked, case: Case) -> Any:
    """Let near-duplicates give way."""
    head = order[:HEAD]
    moved, _ = ranking.diversify(np.arange(len(head)), case["vectors"][asked["rows"][head]])
    return np.concatenate([head[moved], order[HEAD:]])


def metrics(order: Any, asked: Asked) -> dict[str, float]:
    """Score one ranking of an answerable question."""
    count = len(set(asked["evidence"]))
    hits = asked["relevant"][order[:HEAD]]
    row = {f"recall@{k}": float(hits[:k].sum()) / count for k in (1, 5, 10, 50)}
    row |= {f"any@{k}": float(hits[:k].any()) for k in (1, 5, 10)}
    first = np.flatnonzero(hits)
    row["mrr"] = 1 / (1 + int(first[0])) if len(first) else 0.0
    if asked["sessions"]:
        seen = [s for s in dict.fromkeys(asked["session"][order[:HEAD]].tolist()) if s >= 0]
        row["session@1"] = float(bool(seen) and seen[0] in asked["sessions"]) / len(asked["sessions"])
        row["session any@5"] = float(any(s in asked["sessions"] for s in seen[:5]))
    return row


def evaluate(cases: Iterable[Case], order: Scorer) -> dict[str, list[tuple[str, dict[str, float]]]]:
    """Return (case, metrics) of every answerable question by set."""
    found: dict[str, list[tuple[str, dict[str, float]]]] = {}
    for case in cases:
        for asked in case["asked"]:
            if asked["evidence"]:
                row = metrics(order(asked, case), asked)
                found.setdefault(group(case, asked), []).append((case["case"], row))
    return found


def mean_error(rows: list[tuple[str, dict[str, float]]], name: str) -> tuple[float, float]:
    """Return the mean of a metric and its bootstrap standard error, over cases if there are eight or more."""
    kept = [(case, row[name]) for case, row in rows if name in row]
    if not kept:
        return float("nan"), float("nan")
    values = np.array([v for _, v in kept])
    labels = {c: n for n, c in enumerate(dict.fromkeys(c for c, _ in kept))}
    lot = np.random.default_rng(SEED)
    if len(labels) < 8:
        draws = values[lot.integers(0, len(values), (SAMPLES, len(values)))].mean(axis=1)
    else:
        member = np.array([labels[c] for c, _ in kept])
        sums, counts = np.bincount(member, values), np.bincount(member)
        picks = lot.integers(0, len(labels), (SAMPLES, len(labels)))
        draws = sums[picks].sum(axis=1) / counts[picks].sum(axis=1)
    return float(values.mean()), float(draws.std())


def table(found: Mapping[str, list[tuple[str, dict[str, float]]]]) -> str:
    """Lay out every set's figures."""
    names = (
        "recall@1",
        "recall@5",
        "recall@10",
        "recall@50",
        "any@5",
        "any@10",
        "mrr",
        "session@1",
        "session any@5",
    )
    lines = [f"{'set':20}{'n':>6}{'main':>11}{'value':>7} se    " + "".join(f"{n:>14}" for n in names)]
    for stem, rows in found.items():
        value, error = mean_error(rows, MAIN[stem])
        rest = "".join(f"{mean_error(rows, n)[0]:14.4f}" for n in names)
        lines.append(f"{stem:20}{len(rows):6}{MAIN[stem]:>11}{value:7.4f} {error:.4f}{rest}")
    return "\n".join(lines)


def main_figures(found: Mapping[str, list[tuple[str, dict[str, float]]]]) -> dict[str, float]:
    """Return each set's figure."""
    return {stem: mean_error(rows, MAIN[stem])[0] for stem, rows in found.items()}


def ablations() -> dict[str, Scorer]:
    """Return each leg and weight off, by name."""
    off = {f.name: replace(DEFAULT_WEIGHTS, **{f.name: 0.0}) for f in fields(Weights)}
    off["lexical (dense = 1)"] = replace(DEFAULT_WEIGHTS, dense=1.0, dense_foreign=1.0)
    off["dense (both)"] = replace(DEFAULT_WEIGHTS, dense=0.0, dense_foreign=0.0)
    off["neighbours (both)"] = replace(DEFAULT_WEIGHTS, neighbour_lexical=0.0, neighbour_dense=0.0)
    for name in ("more", "own", "thread", "floor"):  # of episodes: they do not order observations
        off.pop(name)
    scorers: dict[str, Scorer] = {
        name: (lambda asked, case, w=weights: default_order(asked, case, w)) for name, weights in off.items()
    }
    scorers["diversity"] = lambda a, _: ranking.fuse(a["query"], a["found"], a["episodes"]).order
    return scorers


def main() -> None:
    """Print the tables asked for."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--cache", type=Path, required=True)
    parser.add_argument("--only", default=",".join(SETS))
    parser.add_argument("--set", nargs="*", default=[])
    parser.add_argument("--ablate", action="store_true")
    options = parser.parse_args()
    cases = load(options.cache, options.only.split(","))
    changed = {k: float(v) for k, v in (pair.split("=") for pair in options.set)}
    weights = replace(DEFAULT_WEIGHTS, **changed)
    base = evaluate(cases, lambda asked, case: default_order(asked, case, weights))
    print(table(base))
    if options.ablate:
        before = main_figures(base)
        print(f"\n{'off':24}" + "".join(f"{s.removeprefix('ret_'):>12}" for s in before) + "        mean")
        for name, scorer in ablations().items():
            after = main_figures(evaluate(cases, scorer))
            deltas = [after[s] - before[s] for s in before]
            print(
                f"{name:24}" + "".join(f"{d:+12.4f}" for d in deltas) + f"{np.mean(deltas):+12.4f}",
                flush=True,
            )


if __name__ == "__main__":
    main()

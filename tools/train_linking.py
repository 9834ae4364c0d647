"""Fit the weights of the `link-2026-12` policy and report how well it links cases held out.

    python tools/train_linking.py --labels FILE [--data DIR] [--model DIR] [--report FILE] [--write]

Learns from `benchmarks/cases/links_own.jsonl`, from the development half of a file of labelled cases, and,
with a small weight, from cases made of labelled dialogues. The frozen half is never read here.
"""

import argparse
import json
import os
import sys
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
from linking.cases import dialogues, load, read
from linking.fitting import Row, figures, fit, held_out, probabilities, rows_of
from shipping import Origin, ship_numbers

from episodic_agent.core.links.policies import FittedPolicy, SeedPolicy
from episodic_agent.providers.embedders.minilm import MiniLM

HERE = Path(__file__).resolve().parent.parent
SOURCES, COUNT, SEED = ("topiocqa", "superdialseg"), 700, 5
SHARE = 0.05  # weight of a case made of dialogues beside one written for the purpose
THRESHOLD = FittedPolicy().threshold


def judged(own: list[Row], dev: list[Row], made: list[Row], *, vectors: bool) -> dict[str, object]:
    """Return figures of cases by weights that have not seen them."""
    alone = fit([*own, *made], vectors=vectors)
    return {
        "development cases, fitted without any": figures(dev, probabilities(dev, alone), THRESHOLD),
        "development cases, ten folds": figures(
            dev, held_out(dev, [*own, *made], vectors=vectors), THRESHOLD
        ),
        "own cases, ten folds": figures(own, held_out(own, [*dev, *made], vectors=vectors), THRESHOLD),
        "development cases, all of them learnt": figures(
            dev, probabilities(dev, fit([*own, *dev, *made], vectors=vectors)), THRESHOLD
        ),
    }


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, default=HERE.parent / "shared" / "data")
    parser.add_argument("--labels", type=Path, required=True, help="labelled cases with halves")
    parser.add_argument("--model", type=Path, default=Path.home() / ".cache" / "episodic-agent")
    parser.add_argument("--report", type=Path, help="where to write the figures as JSON")
    parser.add_argument("--write", action="store_true", help="write data/links/weights.json")
    options = parser.parse_args()
    if not options.data.is_dir():
        sys.exit(f"no folder {options.data}: name the labelled data with --data")
    embedder = MiniLM(options.model)
    own = list(read(load(HERE / "benchmarks/cases/links_own.jsonl"), embedder))
    dev = list(read(load(options.labels, "dev"), embedder))
    made = list(read(dialogues(options.data, SOURCES, COUNT, SEED), embedder))
    values: dict[str, object] = {"cases": {"own": len(own), "development": len(dev), "made": len(made)}}
    tables = {}
    for name, vectors in (("vectors", True), ("words", False)):
        parts = [
            rows_of(some, weight, vectors=vectors) for some, weight in ((own, 1.0), (dev, 1.0), (made, SHARE))
        ]
        tables[name] = fit([row for part in parts for row in part], vectors=vectors)
        values[name] = judged(*parts, vectors=vectors)
        seed = SeedPolicy()
        statements = [seed.score(row.features) for row in parts[1]]
        values[f"seed-002, {name}"] = figures(parts[1], np.array(statements), seed.threshold)
    print(json.dumps(values, indent=1))
    if options.report:
        options.report.write_text(json.dumps(values, indent=1) + "\n")
    if options.write:
        made_from = (
            "benchmarks/cases/links_own.jsonl, the development half of labelled cases, "
            f"cases made of labelled dialogues ({', '.join(SOURCES)})"
        )
        what = "weights of the linking policy link-2026-12, with vectors and by words alone"
        ship_numbers("links/weights.json", tables, Origin("tools/train_linking.py", made_from, what))


if __name__ == "__main__":
    main()

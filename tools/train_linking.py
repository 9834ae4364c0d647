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

from episodic_agent.core.linking.policies import SeedPolicy
from episodic_agent.providers.minilm import MiniLM

HERE = Path(__file__).resolve().parent.parent
SOURCES, COUNT, SEED = ("topiocqa", "superdialseg"), 700, 5
SHARE = 0.05  # weight of a case made of dialogues beside one written for the purpose
THRESHOLD = 0.45  # between the two best of the held-out halves


def write(path: Path, tables: dict[str, dict[str, float]]) -> None:
    """Write the module that the policy reads."""
    lines = ['"""Weights of `link-2026-12`: written by `tools/train_linking.py`, not by hand."""', "",
             "from typing import Final", "", f"THRESHOLD: Final = {THRESHOLD}"]  # fmt: skip
    for name, table in tables.items():
        lines.append(f"{name}: Final[dict[str, float]] = {{")
        lines += [f'    "{key}": {value},' for key, value in table.items()]
        lines.append("}")
    path.write_text("\n".join([*lines, ""]))


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
    parser.add_argument("--write", action="store_true", help="write weights.py")
    options = parser.parse_args()
    if not options.data.is_dir():
        sys.exit(f"no folder {options.data}: name the labelled data with --data")
    embedder = MiniLM(options.model)
    own = list(read(load(HERE / "benchmarks/cases/links_own.jsonl"), embedder))
    dev = list(read(load(options.labels, "dev"), embedder))
    made = list(read(dialogues(options.data, SOURCES, COUNT, SEED), embedder))
    found: dict[str, object] = {"cases": {"own": len(own), "development": len(dev), "made": len(made)}}
    tables = {}
    for name, vectors in (("VECTORS", True), ("WORDS", False)):
        parts = [
            rows_of(some, weight, vectors=vectors) for some, weight in ((own, 1.0), (dev, 1.0), (made, SHARE))
        ]
        tables[name] = fit([row for part in parts for row in part], vectors=vectors)
        found[name.lower()] = judged(*parts, vectors=vectors)
        seed = SeedPolicy()
        said = [seed.score(row.features) for row in parts[1]]
        found[f"seed-002, {name.lower()}"] = figures(parts[1], np.array(said), seed.threshold)
    print(json.dumps(found, indent=1))
    if options.report:
        options.report.write_text(json.dumps(found, indent=1) + "\n")
    if options.write:
        write(HERE / "src/episodic_agent/core/linking/weights.py", tables)


if __name__ == "__main__":
    main()

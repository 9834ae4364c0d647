"""Fit the weights of the `chain-2026-12` policy: `python -m benchmarks.chain_training --data DIR [--write]`.

Learns from the development half of the labelled stories and, with a small weight, from dealt chats; the
frozen half is never read here. What is printed of a story is by weights that have not seen it.
"""

import argparse
import json
import math
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from shipping import DATA, Origin, ship_numbers
from sklearn.linear_model import LogisticRegression

from benchmarks.chain_cases import ARCS, BEAM, World, dealt, stories
from benchmarks.chain_quality import Reader, chained, judged
from episodic_agent.core.chains.deciding import eligible
from episodic_agent.core.chains.evidence import judge
from episodic_agent.core.chains.policies import FittedChain
from episodic_agent.core.chains.records import EpisodeView
from episodic_agent.core.chains.trees import roots
from episodic_agent.protocols import Embedder
from episodic_agent.wiring import load_settings, make_embedder

INPUTS = (
    "arc_link", "arc_cosine", "arc_lead", "arc_rare", "arc_age", "arc_newest", "new", "others", "asks"
)  # fmt: skip
VECTOR_INPUTS = frozenset({"arc_cosine", "arc_lead"})
PENALTY = 0.2  # scikit-learn's C on standardised inputs
SHARE = 0.3  # weight of a session of a dealt chat beside one of a story
DIGITS = 4
THRESHOLDS = (0.2, 0.25, 0.3, 0.35, 0.4, 0.45)
THRESHOLD = FittedChain().threshold
BY_WORDS = 0.25  # the same for the weights without vectors
Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Row:
    """A chain that a session may go on with: its numbers, whether it does, and what an error weighs."""

    features: Mapping[str, float]
    goes_on: bool
    weight: float


def rows(world: World, read: Reader, weight: float = 1.0) -> list[Row]:
    """Return a row for each chain there is when a session opens and when it closes; true chains are known."""
    rows: list[Row] = []
    true = {s.id: s.parent for s in world.sessions}
    ids = {s.id: read(world, s).closed.id for s in world.sessions}
    before: list[EpisodeView] = []
    for session in world.sessions:
        this_read = read(world, session)
        for view in (this_read.opened, this_read.closed):
            rows += _rows(view, before, ids.get(true[session.id] or ""), weight / 2)
        parent = ids.get(true[session.id] or "")
        before.append(replace(this_read.closed, parent=parent))
    return rows


def _rows(view: EpisodeView, before: Sequence[EpisodeView], parent: object, weight: float) -> list[Row]:
    root = roots({one.id: one.parent for one in before})
    true = root.get(parent) if parent else None  # type: ignore[call-overload]
    evidence = judge(view, eligible(view, before), FittedChain())
    chains = {root[one.episode_id]: one.features for one in evidence}
    return [Row(features, one == true, weight) for one, features in chains.items()]


def fit(learnt: Sequence[Row], *, vectors: bool) -> dict[str, float]:
    """Return weights by input, for inputs as they come."""
    names = [name for name in INPUTS if vectors or name not in VECTOR_INPUTS]
    x = np.array([[row.features.get(name, 0.0) for name in names] for row in learnt])
    y, w = np.array([row.goes_on for row in learnt]), np.array([row.weight for row in learnt])
    middle, spread = np.average(x, axis=0, weights=w), x.std(axis=0) + 1e-9
    model = LogisticRegression(C=PENALTY, max_iter=5000).fit((x - middle) / spread, y, sample_weight=w)
    slopes: Floats = model.coef_[0] / spread
    bias = float(model.intercept_[0] - slopes @ middle)
    table = {name: round(float(slope), DIGITS) for name, slope in zip(names, slopes, strict=True)}
    return {"bias": round(bias, DIGITS)} | table


def moved(table: Mapping[str, float], best: float) -> dict[str, float]:
    """Return weights by which a score of `best` becomes the one threshold of the policy."""
    shift = math.log(THRESHOLD / (1 - THRESHOLD)) - math.log(best / (1 - best))
    return {**table, "bias": round(table["bias"] + shift, DIGITS)}


@dataclass(frozen=True, slots=True)
class Tried(FittedChain):
    """The fitted policy with other weights."""

    table: Mapping[str, float] | None = None

    def score(self, features: Mapping[str, float]) -> float:
        """Return the probability by its own weights."""
        probability = sum(
            weight * (1.0 if name == "bias" else features.get(name, 0.0))
            for name, weight in (self.table or {}).items()
        )
        return float(1.0 / (1.0 + np.exp(-probability)))


def held_out(
    worlds: Sequence[World], also: Sequence[Row], read: Reader, *, vectors: bool
) -> dict[str, dict[str, object]]:
    """Return the figures of the stories by threshold, each chained by weights that have not seen it."""
    by_story = {world.name: rows(world, read) for world in worlds}
    tables = {
        name: fit([*also, *(r for n, some in by_story.items() if n != name for r in some)], vectors=vectors)
        for name in by_story
    }
    values: dict[str, dict[str, object]] = {}
    for threshold in THRESHOLDS:
        for closing in (False, True):
            row = judged(
                worlds,
                lambda world, t=threshold, c=closing: chained(  # type: ignore[misc]
                    world, read, Tried(t, table=tables[world.name]), closing=c
                ),
            )
            values[f"{threshold}, at {'close' if closing else 'open'}"] = row
    return values


def write(tables: Mapping[str, Mapping[str, float]], folder: Path = DATA) -> None:
    """Write what the policy reads."""
    made_from = "development stories of benchmarks/cases/arcs, chats dealt of BEAM"
    what = "weights of the chaining policy chain-2026-12, with vectors and by words alone"
    origin = Origin("benchmarks/chain_training.py", made_from, what)
    ship_numbers("chains/weights.json", tables, origin, folder)


def main() -> None:
    """Fit, print what is held out, and write the weights where asked to."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.chain_training", description=__doc__)
    parser.add_argument("--data", type=Path, default=Path("../shared/data"), help="folder of labelled files")
    parser.add_argument("--arcs", type=Path, default=ARCS, help="folder of labelled stories")
    parser.add_argument("--write", action="store_true", help="write the weights; without it print them")
    options = parser.parse_args()
    if not (options.data / BEAM).is_file():
        sys.exit(f"no {BEAM} in {options.data}: name the folder of labelled data with --data")
    worlds, made = list(stories(options.arcs, "dev")), list(dealt(options.data / BEAM))
    default = make_embedder("minilm", load_settings())
    readers: tuple[tuple[str, Embedder | None], ...] = (("vectors", default), ("words", None))
    tables = {}
    for name, embedder in readers:
        read, vectors = Reader(embedder), name == "vectors"
        also = [row for world in made for row in rows(world, read, SHARE)]
        own = [row for world in worlds for row in rows(world, read)]
        tables[name] = fit([*also, *own], vectors=vectors)
        alone = fit(own, vectors=vectors)
        for threshold, row in held_out(worlds, also, read, vectors=vectors).items():
            print(name, "held-out stories,", threshold, json.dumps(row), file=sys.stderr)
        for threshold in THRESHOLDS:
            row = judged(made, lambda w, t=threshold, r=read, a=alone: chained(w, r, Tried(t, table=a)))  # type: ignore[misc]
            print(name, "dealt chats by stories alone,", threshold, json.dumps(row), file=sys.stderr)
    tables["words"] = moved(tables["words"], BY_WORDS)
    if options.write:
        write(tables)
    else:
        print(json.dumps(tables, indent=1))


if __name__ == "__main__":
    main()

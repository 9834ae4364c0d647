"""Threads in a crowded channel: who answers what in the Ubuntu IRC set.

`python -m benchmarks --only threads` judges what is shipped on the development files: with vectors, by words,
by the linking policy alone, and by names alone. `python -m benchmarks.thread_quality --fit` fits the weights
of `core.links.disentanglement` on training files anew and writes them; the development files are not
looked at.
"""

import argparse
import json
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from shipping import DATA, Origin, ship_numbers

from benchmarks.provenance import ROOT
from episodic_agent.core.evaluation.threads import score_threads
from episodic_agent.core.links.disentanglement import INPUTS, REACH, Channel, ReadLine, alone, chosen
from episodic_agent.core.links.policies import PAIRWISE, link_policy
from episodic_agent.engine.evaluate.threads import LabelledChannel, Links, channels, choices, links
from episodic_agent.protocols import Embedder
from episodic_agent.wiring import load_settings, make_embedder

FILE = "thr_irc.jsonl.gz"
TRAIN = 24  # training files to learn from
PENALTY, STEPS, RATE = 1e-4, 1_500, 0.05
BY_VECTORS, BY_WORDS = "default", "default, words alone"
POLICY, NAMES = "the policy alone, nobody known", "names alone"

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Example:
    """What a line may answer, last nothing: a row of numbers for each, and which are right."""

    rows: Floats
    right: NDArray[np.bool_]


# --- judge what is shipped ---


def measure(data: Path, embedder: Embedder, *, quick: bool = False) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the figures of the development files (quick: two of them), a row a system."""
    judged = list(channels(data / FILE))[: 2 if quick else None]
    policy = link_policy(PAIRWISE)
    for name, reads, rule in (
        (BY_VECTORS, embedder, chosen),
        (BY_WORDS, None, chosen),
        (POLICY, embedder, alone),
    ):
        began = time.perf_counter()
        pairs = [links(one, policy, reads, verdict=rule) for one in judged]
        yield (
            name,
            _row(judged, pairs, time.perf_counter() - began) | {"embedder": getattr(reads, "name", "")},
        )
    began = time.perf_counter()
    yield NAMES, _row(judged, [by_names(one) for one in judged], time.perf_counter() - began)


def _row(judged: Sequence[LabelledChannel], results: Sequence[Links], seconds: float) -> dict[str, Any]:
    report = score_threads([(c.scored, c.links, p) for c, p in zip(judged, results, strict=True)])
    lines = sum(len(one.lines) for one in judged)
    return {**report.as_json(), "ms_per_line": round(1000 * seconds / lines, 4)}


def by_names(channel: LabelledChannel) -> Links:
    """Return links by names alone: the last line of who is addressed, else one's own last line."""
    before: list[ReadLine] = []
    texts: dict[str, str] = {}
    disentanglement = Channel(link_policy(PAIRWISE))
    for line in map(disentanglement.hear, channel.lines):
        addressed = [o for o in before if o.speaker in line.names]
        mine = [o for o in before if o.speaker == line.speaker]
        for other in (addressed or mine)[-1:]:
            texts[line.line.id] = other.line.id
        before = [*before, line][-REACH:]
    return [(message, texts.get(message, message)) for message in channel.scored]


# --- fit what is shipped ---


def examples(channel: LabelledChannel, embedder: Embedder | None) -> Iterator[Example]:
    """Yield what each scored line may answer, and what it does answer."""
    truth: dict[str, set[str]] = {}
    for newer, older in channel.links:
        truth.setdefault(newer, set()).add(older)
    for choice in choices(channel, link_policy(PAIRWISE), embedder):
        options = [*(e.thread_id for e in choice.evidence), choice.line.id]
        yield Example(choice.rows, np.array([o in truth.get(choice.line.id, ()) for o in options]))


def fit(learnt: Sequence[Example]) -> Floats:
    """Fit a conditional logit by Adam: the right options of a line share its probability."""
    examples = [one for one in learnt if one.right.any()]
    sizes = np.array([len(one.right) for one in examples])
    starts = np.concatenate(([0], np.cumsum(sizes)[:-1]))
    owner = np.repeat(np.arange(len(examples)), sizes)
    x = np.vstack([one.rows for one in examples])
    scale = 1.0 / np.maximum(np.abs(x).max(axis=0), 1e-6)
    x = x * scale
    right = np.concatenate([one.right for one in examples])
    weights = np.zeros(x.shape[1])
    first, second = np.zeros_like(weights), np.zeros_like(weights)
    for step in range(1, STEPS + 1):
        odds = x @ weights
        odds = np.exp(odds - np.maximum.reduceat(odds, starts)[owner])
        p = odds / np.add.reduceat(odds, starts)[owner]
        share = np.where(right, odds, 0.0)
        share = share / np.add.reduceat(share, starts)[owner]
        slope = x.T @ (p - share) / len(examples) + PENALTY * weights
        first, second = 0.9 * first + 0.1 * slope, 0.999 * second + 0.001 * slope**2
        weights -= RATE * (first / (1 - 0.9**step)) / (np.sqrt(second / (1 - 0.999**step)) + 1e-8)
    return weights * scale


def write(tables: Mapping[str, Mapping[str, float]], folder: Path = DATA) -> None:
    """Write what `core.links.disentanglement` reads."""
    made_from = f"training files of {FILE} (the IRC disentanglement corpus)"
    what = (
        "weights of disentanglement: which earlier line a line of a crowd answers, with vectors and by words"
    )
    origin = Origin("benchmarks/thread_quality.py", made_from, what)
    ship_numbers("links/crowd.json", tables, origin, folder)


def rounded(weights: Floats) -> dict[str, float]:
    """Return weights by what they weigh."""
    return {name: round(float(weight), 4) for name, weight in zip(INPUTS, weights, strict=True)}


def main() -> None:
    """Fit the weights and write them, or print them."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--data", type=Path, default=ROOT.parent / "shared" / "data")
    parser.add_argument("--train", type=int, default=TRAIN, help="training files to learn from")
    parser.add_argument("--fit", action="store_true", help="write the weights; without it they are printed")
    options = parser.parse_args()
    taken = [
        one for one, _ in zip(channels(options.data / FILE, "train"), range(options.train), strict=False)
    ]
    embedder = make_embedder("minilm", load_settings(), print)
    fitted = {
        name: rounded(fit([example for one in taken for example in examples(one, reads)]))
        for name, reads in (("vectors", embedder), ("words", None))
    }
    if options.fit:
        write(fitted)
    else:
        print(json.dumps(fitted, indent=1))


if __name__ == "__main__":
    main()

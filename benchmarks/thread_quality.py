"""Threads in a crowded channel: who answers what in the Ubuntu IRC set.

`python -m benchmarks --only threads` judges what is shipped on the development files: with vectors, by words,
by the linking policy alone, and by names alone. `python -m benchmarks.thread_quality --fit` fits the weights
of `core.linking.crowd` on training files anew and writes them; the development files are not looked at.
"""

import argparse
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.provenance import ROOT
from episodic_agent.core.evaluation.threads import score_threads
from episodic_agent.core.interfaces import Embedder
from episodic_agent.core.linking.crowd import INPUTS, REACH, Channel, Heard, alone, chosen
from episodic_agent.core.linking.policies import link_policy
from episodic_agent.engine.evaluate.threads import LabelledChannel, Links, channels, choices, links
from episodic_agent.wiring import load_settings, make_embedder

FILE = "thr_irc.jsonl.gz"
TRAIN = 24  # training files to learn from
PENALTY, STEPS, RATE = 1e-4, 1_500, 0.05
WEIGHTS = ROOT / "src" / "episodic_agent" / "core" / "linking" / "crowd_weights.py"
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
    policy = link_policy()
    for name, reads, rule in (
        (BY_VECTORS, embedder, chosen),
        (BY_WORDS, None, chosen),
        (POLICY, embedder, alone),
    ):
        began = time.perf_counter()
        found = [links(one, policy, reads, verdict=rule) for one in judged]
        yield (
            name,
            _row(judged, found, time.perf_counter() - began) | {"embedder": getattr(reads, "name", "")},
        )
    began = time.perf_counter()
    yield NAMES, _row(judged, [by_names(one) for one in judged], time.perf_counter() - began)


def _row(judged: Sequence[LabelledChannel], found: Sequence[Links], seconds: float) -> dict[str, Any]:
    report = score_threads([(c.scored, c.links, p) for c, p in zip(judged, found, strict=True)])
    lines = sum(len(one.lines) for one in judged)
    return {**report.as_json(), "ms_per_line": round(1000 * seconds / lines, 4)}


def by_names(channel: LabelledChannel) -> Links:
    """Return links by names alone: the last line of who is addressed, else one's own last line."""
    before: list[Heard] = []
    found: dict[str, str] = {}
    crowd = Channel(link_policy())
    for said in map(crowd.hear, channel.lines):
        addressed = [o for o in before if o.speaker in said.names]
        mine = [o for o in before if o.speaker == said.speaker]
        for other in (addressed or mine)[-1:]:
            found[said.line.id] = other.line.id
        before = [*before, said][-REACH:]
    return [(message, found.get(message, message)) for message in channel.scored]


# --- fit what is shipped ---


def examples(channel: LabelledChannel, embedder: Embedder | None) -> Iterator[Example]:
    """Yield what each scored line may answer, and what it does answer."""
    truth: dict[str, set[str]] = {}
    for newer, older in channel.links:
        truth.setdefault(newer, set()).add(older)
    for choice in choices(channel, link_policy(), embedder):
        options = [*(e.thread_id for e in choice.evidence), choice.line.id]
        yield Example(choice.rows, np.array([o in truth.get(choice.line.id, ()) for o in options]))


def fit(learnt: Sequence[Example]) -> Floats:
    """Fit a conditional logit by Adam: the right options of a line share its probability."""
    kept = [one for one in learnt if one.right.any()]
    sizes = np.array([len(one.right) for one in kept])
    starts = np.concatenate(([0], np.cumsum(sizes)[:-1]))
    owner = np.repeat(np.arange(len(kept)), sizes)
    x = np.vstack([one.rows for one in kept])
    scale = 1.0 / np.maximum(np.abs(x).max(axis=0), 1e-6)
    x = x * scale
    right = np.concatenate([one.right for one in kept])
    weights = np.zeros(x.shape[1])
    first, second = np.zeros_like(weights), np.zeros_like(weights)
    for step in range(1, STEPS + 1):
        odds = x @ weights
        odds = np.exp(odds - np.maximum.reduceat(odds, starts)[owner])
        p = odds / np.add.reduceat(odds, starts)[owner]
        share = np.where(right, odds, 0.0)
        share = share / np.add.reduceat(share, starts)[owner]
        slope = x.T @ (p - share) / len(kept) + PENALTY * weights
        first, second = 0.9 * first + 0.1 * slope, 0.999 * second + 0.001 * slope**2
        weights -= RATE * (first / (1 - 0.9**step)) / (np.sqrt(second / (1 - 0.999**step)) + 1e-8)
    return weights * scale


def source(tables: dict[str, Floats]) -> str:
    """Return the module of weights."""
    lines = [
        '"""Weights of `core.linking.crowd`: written by `benchmarks.thread_quality --fit`, not by hand."""'
    ]
    lines += ["", "from typing import Final", ""]
    for name, weights in tables.items():
        lines += [f"{name}: Final[dict[str, float]] = {{"]
        lines += [f'    "{one}": {round(float(w), 4)},' for one, w in zip(INPUTS, weights, strict=True)]
        lines += ["}"]
    return "\n".join(lines) + "\n"


def main() -> None:
    """Fit the weights and write them, or print the module."""
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
        name: fit([example for one in taken for example in examples(one, reads)])
        for name, reads in (("VECTORS", embedder), ("WORDS", None))
    }
    if options.fit:
        WEIGHTS.write_text(source(fitted), encoding="utf-8")
    else:
        print(source(fitted), end="")


if __name__ == "__main__":
    main()

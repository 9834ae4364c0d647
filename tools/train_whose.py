"""Train whose commitments a question asks for (`core/recall/commitments.py`) and ship the judge.

    python tools/train_whose.py
    python tools/train_whose.py --only-measure

It learns from `tools/facts/asked_whose.tsv` ("+": what others took on or owe to who asks; "-": what who asks
took on; what stands under both, who does something or what "we" owe, asks for neither), written by hand in
six languages. A second judge tells whether whoever is spoken to is asked for their own ("what did you promise
me?"), by `asked_you.tsv`. Printed: how they do on a fifth that they are not taught.
"""

import argparse
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from judges import HERE, Row, fit_judge, likely, listed_rows, packed
from shipping import Origin, ship_arrays
from sklearn.metrics import roc_auc_score

from episodic_agent.core.facts.stating import EMBEDDER
from episodic_agent.core.recall.commitments import ADDRESSED, SURE, WHOSE
from episodic_agent.wiring import load_settings, make_embedder

PARTS = 5
PAIR = 2  # lines that stand side by side are often alike: they are left out together
WORDS, TRUST, LEAST = 2.0, 10.0, 2  # of the judge: who owes whom is told by the order of few words


def main() -> None:
    """Train, print the figures, and write the weights."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only-measure", action="store_true")
    options = parser.parse_args()
    embedder = make_embedder("minilm", load_settings(), lambda *_, **__: None)
    if embedder is None or embedder.name != EMBEDDER:
        raise SystemExit(f"the judge learns the vectors of {EMBEDDER} alone")
    others, addressed = (
        listed_rows(HERE / "facts" / name, embedder) for name in ("asked_whose.tsv", "asked_you.tsv")
    )
    judged = {
        "others": (WHOSE, others, "asked_whose.tsv", "asks for those of others"),
        "addressed": (
            ADDRESSED,
            addressed + [replace(row, lasts=False) for row in others],
            "asked_whose.tsv, asked_you.tsv",
            "asks whoever it speaks to for their own",
        ),
    }
    for name, (into, rows, lists, asks) in judged.items():
        arrays = _fitted(name, rows)
        if not options.only_measure:
            what = f"judge of whether a question for commitments {asks}"
            ship_arrays(into, arrays, Origin("tools/train_whose.py", f"tools/facts ({lists})", what))


def _fitted(name: str, rows: Sequence[Row]) -> dict[str, Any]:
    """Return a judge's arrays, and print how it does on what it is not taught."""
    part, truth = np.arange(len(rows)) // PAIR % PARTS, np.array([row.lasts for row in rows])
    arrays: dict[str, Any] = {}
    for kind in ("meaning", "words"):
        shares = np.zeros(len(rows))
        for one in range(PARTS):
            taught = [row for row, other in zip(rows, part, strict=True) if other != one]
            left = [row for row, other in zip(rows, part, strict=True) if other == one]
            judge = fit_judge(taught, meaning=kind == "meaning", words=WORDS, trust=TRUST, least=LEAST)
            shares[part == one] = likely(judge, left)
        sure = shares >= SURE
        print(
            f"{name}, {kind}: {len(rows)} lines, AUC {roc_auc_score(truth, shares):.3f}; from {SURE} "
            f"precision {truth[sure].mean():.2f}, recall {sure[truth].mean():.2f}"
        )
        judge = fit_judge(rows, meaning=kind == "meaning", words=WORDS, trust=TRUST, least=LEAST)
        arrays |= packed(kind, judge)
    return arrays


if __name__ == "__main__":
    main()

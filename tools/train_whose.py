"""Train whose commitments a question asks for (`core/recall/commitments.py`) and ship the judge.

    python tools/train_whose.py
    python tools/train_whose.py --only-measure

It learns from `tools/facts/asked_whose.tsv` ("+": what others took on or owe to who asks; "-": what who asks
took on; what stands under both, who does something or what "we" owe, asks for neither), written by hand in
six languages. Printed: how it does on a fifth that it is not taught.
"""

import argparse

import numpy as np
from judges import HERE, fit_judge, likely, listed_rows, packed
from shipping import Origin, ship_arrays
from sklearn.metrics import roc_auc_score

from episodic_agent.core.facts.stating import EMBEDDER
from episodic_agent.core.recall.commitments import WHOSE
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
    rows, arrays = listed_rows(HERE / "facts" / "asked_whose.tsv", embedder), {}
    part, truth = np.arange(len(rows)) // PAIR % PARTS, np.array([row.lasts for row in rows])
    for kind in ("meaning", "words"):
        shares = np.zeros(len(rows))
        for one in range(PARTS):
            taught = [row for row, other in zip(rows, part, strict=True) if other != one]
            left = [row for row, other in zip(rows, part, strict=True) if other == one]
            judge = fit_judge(taught, meaning=kind == "meaning", words=WORDS, trust=TRUST, least=LEAST)
            shares[part == one] = likely(judge, left)
        print(f"{kind}: {len(rows)} lines, AUC {roc_auc_score(truth, shares):.3f}")
        judge = fit_judge(rows, meaning=kind == "meaning", words=WORDS, trust=TRUST, least=LEAST)
        arrays |= packed(kind, judge)
    if options.only_measure:
        return
    what = "judge of whether a question for commitments asks for those of others"
    ship_arrays(WHOSE, arrays, Origin("tools/train_whose.py", "tools/facts (asked_whose.tsv)", what))


if __name__ == "__main__":
    main()

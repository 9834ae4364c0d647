"""Train the judge of what comes again (`stands` of `core/recall/due.py`) and ship it.

    python tools/train_habits.py
    python tools/train_habits.py --only-measure

Of a message that names days that come again it tells whether something stands in a calendar on them ("physio
is every Tuesday") or nothing does ("every Tuesday I swear I'll start running"). It learns from
`tools/facts/habits_*.tsv` ("+": it does, "-": it does not), written by hands that had not seen the rules of
`core/language/recurring.py`. Printed: how it does on a fifth of the messages that it is not taught.
"""

import argparse
from collections.abc import Sequence
from typing import Any

import numpy as np
from judges import HERE, Row, fit_judge, likely, listed_rows, packed
from shipping import Origin, ship_arrays
from sklearn.metrics import roc_auc_score

from episodic_agent.core.facts.stating import EMBEDDER
from episodic_agent.core.recall.due import STANDS, WEIGHTS
from episodic_agent.wiring import load_settings, make_embedder

FOLDS = 5
PAIR = 2  # messages that stand side by side are often alike: they are left out together
WORDS = 0.3  # what words weigh beside vectors


def measure(rows: Sequence[Row], *, meaning: bool) -> None:
    """Print how the judge does on messages it was not taught."""
    fold = np.arange(len(rows)) // PAIR % FOLDS
    shares = np.zeros(len(rows))
    for one in range(FOLDS):
        taught = [row for row, other in zip(rows, fold, strict=True) if other != one]
        left = [row for row, other in zip(rows, fold, strict=True) if other == one]
        shares[fold == one] = likely(fit_judge(taught, meaning=meaning, words=WORDS), left)
    truth = np.array([row.lasts for row in rows])
    kept = shares >= STANDS
    print(
        f"by {'meaning' if meaning else 'words'}: AUC {roc_auc_score(truth, shares):.3f}; from {STANDS}: "
        f"kept of what stands {kept[truth].mean():.3f}, of what does not {kept[~truth].mean():.3f}"
    )


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
    lists = sorted((HERE / "facts").glob("habits_*.tsv"))
    rows = [row for path in lists for row in listed_rows(path, embedder)]
    arrays: dict[str, Any] = {}
    for kind in ("meaning", "words"):
        measure(rows, meaning=kind == "meaning")
        judge = fit_judge(rows, meaning=kind == "meaning", words=WORDS)
        arrays |= packed(kind, judge)
    if not options.only_measure:
        what = "judges of what comes again: whether it stands in a calendar; with vectors and without"
        ship_arrays(WEIGHTS, arrays, Origin("tools/train_habits.py", "tools/facts (habits)", what))


if __name__ == "__main__":
    main()

"""Train the judge of what comes again (`stands` of `core/recall/recurring.py`) and ship it.

    python tools/train_habits.py
    python tools/train_habits.py --only-measure

Of a message that names days that come again it tells whether something stands in a calendar on them ("physio
is every Tuesday") or nothing does ("every Tuesday I swear I'll start running"). It learns from
`tools/facts/habits_*.tsv` ("+": it does, "-": it does not), written by hands that had not seen the rules of
`core/language/recurring.py`. Printed: how it does on a fifth of the messages that it is not taught.
"""

import argparse
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from judges import FORM, HERE, LEAST, WORD, Row, Weights, listed_rows, matrix, packed
from numpy.typing import NDArray
from scipy import sparse
from shipping import Origin, ship_arrays
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score

from episodic_agent.core.facts.stating import EMBEDDER, signs
from episodic_agent.core.recall.recurring import STANDS, WEIGHTS
from episodic_agent.wiring import load_settings, make_embedder

FOLDS = 5
PAIR = 2  # messages that stand side by side are often alike: they are left out together
WORDS = 0.3  # what words weigh beside vectors


def fit_habits(rows: Sequence[Row], *, meaning: bool) -> Weights:
    """Return the judge that messages teach; `meaning` False: without vectors."""
    counts = Counter(sign for row in rows for sign in signs(row.text))
    names = sorted(sign for sign, count in counts.items() if count >= LEAST)
    weight = WORDS if meaning else 1.0
    scales = np.array([weight / np.sqrt(FORM if name.startswith(":") else WORD) for name in names])
    parts: list[Any] = [matrix([replace(row, before="") for row in rows], names, scales)]
    if meaning:
        parts.append(np.stack([row.vector for row in rows]))
    model = LogisticRegression(C=1.0, max_iter=1000).fit(
        sparse.hstack(parts).tocsr(), [row.lasts for row in rows]
    )
    weights, vector = model.coef_[0, : len(names)] * scales, model.coef_[0, len(names) :]
    return Weights(names, weights[:, None], vector[:, None] if meaning else None, model.intercept_)


def likely(judge: Weights, rows: Sequence[Row]) -> NDArray[np.float64]:
    """Return how likely each message tells of what stands in a calendar."""
    result: NDArray[np.float64] = 1 / (1 + np.exp(-judge.scores(rows)[:, 0]))
    return result


def measure(rows: Sequence[Row], *, meaning: bool) -> None:
    """Print how the judge does on messages it was not taught."""
    fold = np.arange(len(rows)) // PAIR % FOLDS
    shares = np.zeros(len(rows))
    for one in range(FOLDS):
        taught = [row for row, other in zip(rows, fold, strict=True) if other != one]
        left = [row for row, other in zip(rows, fold, strict=True) if other == one]
        shares[fold == one] = likely(fit_habits(taught, meaning=meaning), left)
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
        judge = fit_habits(rows, meaning=kind == "meaning")
        arrays |= packed(kind, judge)
    if not options.only_measure:
        what = "judges of what comes again: whether it stands in a calendar; with vectors and without"
        ship_arrays(WEIGHTS, arrays, Origin("tools/train_habits.py", "tools/facts (habits)", what))


if __name__ == "__main__":
    main()

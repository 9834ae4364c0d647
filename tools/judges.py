"""What trainers of judges of statements share: statements to learn from, and weighed sums of their signs."""

import csv
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.linear_model import LogisticRegression

from episodic_agent.core.facts.stating import EVEN, signs
from episodic_agent.protocols import Embedder
from episodic_agent.schemas.facts import Category

HERE = Path(__file__).resolve().parent
LEAST = 3  # times a sign must occur to be learned
FORM, WORD = 1.5, 8.0  # ridges: of form, of words
NEXT_TO_NOTHING = 0.01
Floats = NDArray[np.float64]


@dataclass(slots=True)
class Row:
    """A statement to learn from: whether it lasts, and its category where that is known."""

    text: str
    before: str
    lasts: bool
    kind: Category | None
    vector: Floats
    message: str = ""
    certain: bool = True
    share: float = EVEN  # of what lasts in the talk before it


def rows_of(statements: Sequence[tuple[str, bool, Category | None]], embedder: Embedder) -> list[Row]:
    vectors = np.asarray(embedder.embed([text for text, _, _ in statements]), float)
    return [Row(t, "", lasts, kind, v) for (t, lasts, kind), v in zip(statements, vectors, strict=True)]


def listed_rows(path: Path, embedder: Embedder) -> list[Row]:
    """Read a list of "+" or "-", language and text: what a judge looks for, and what only looks like it."""
    rows = csv.reader(path.open(encoding="utf-8"), delimiter="\t", quoting=csv.QUOTE_NONE)
    return rows_of([(text, label == "+", None) for label, _, text in rows], embedder)


@dataclass(slots=True)
class Weights:
    """One way of judging: the signs it knows, [signs, 9] weights, [d, 9] of the vector or None, [9] base."""

    names: list[str]
    weights: Floats
    vector: Floats | None
    base: Floats

    def scores(self, rows: Sequence[Row]) -> Floats:
        """Return the sums of rows, [n, 9]."""
        places = {name: place for place, name in enumerate(self.names)}
        total = np.tile(self.base, (len(rows), 1))
        for n, row in enumerate(rows):
            total[n] += self.weights[[places[s] for s in signs(row.text, row.before) if s in places]].sum(0)
        if self.vector is not None:
            total += np.stack([row.vector for row in rows]) @ self.vector
        return total


def matrix(rows: Sequence[Row], names: Sequence[str], scales: Floats) -> sparse.csr_matrix:
    places = {name: place for place, name in enumerate(names)}
    cells = [(n, places[s]) for n, row in enumerate(rows) for s in signs(row.text, row.before) if s in places]
    values = [scales[place] for _, place in cells]
    where = tuple(np.array(cells, int).T) if cells else ([], [])
    return sparse.csr_matrix((values, where), shape=(len(rows), len(names)))


def fit_judge(
    rows: Sequence[Row],
    *,
    meaning: bool,
    words: float,
    trust: float = 1.0,
    least: int = LEAST,
    shares: Floats | None = None,
) -> Weights:
    """Return the judge of one column that messages teach; `meaning` False: without vectors.

    `words` is what words weigh beside vectors, `trust` the inverse of the ridge's strength, `least` how
    often a sign must occur to be learned, `shares` what each row weighs.
    """
    counts = Counter(sign for row in rows for sign in signs(row.text))
    names = sorted(sign for sign, count in counts.items() if count >= least)
    weight = words if meaning else 1.0
    scales = np.array([weight / np.sqrt(FORM if name.startswith(":") else WORD) for name in names])
    parts: list[Any] = [matrix([replace(row, before="") for row in rows], names, scales)]
    if meaning:
        parts.append(np.stack([row.vector for row in rows]))
    model = LogisticRegression(C=trust, max_iter=2000).fit(
        sparse.hstack(parts).tocsr(), [row.lasts for row in rows], sample_weight=shares
    )
    weights, vector = model.coef_[0, : len(names)] * scales, model.coef_[0, len(names) :]
    return Weights(names, weights[:, None], vector[:, None] if meaning else None, model.intercept_)


def likely(judge: Weights, rows: Sequence[Row]) -> Floats:
    """Return how likely each message is what a judge of one column looks for, in [0, 1]."""
    result: Floats = 1 / (1 + np.exp(-judge.scores(rows)[:, 0]))
    return result


def packed(kind: str, judge: Weights, least: float = NEXT_TO_NOTHING) -> dict[str, Any]:
    """Return the arrays of one way of judging as `stating` reads them, without weights below `least`."""
    large = np.abs(judge.weights).max(1) > least
    names = [name for name, keeps in zip(judge.names, large, strict=True) if keeps]
    arrays = {
        f"{kind}_signs": np.frombuffer("\n".join(names).encode(), np.uint8),
        f"{kind}_weights": judge.weights[large].astype(np.float16),
        f"{kind}_base": judge.base.astype(np.float32),
    }
    return arrays if judge.vector is None else {**arrays, f"{kind}_vector": judge.vector.astype(np.float16)}

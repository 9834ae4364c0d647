"""Fit the logistic weights of the linking policy and say how well cases held out are linked."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from linking.cases import Read
from sklearn.linear_model import LogisticRegression

from episodic_agent.core.links.evidence import judge
from episodic_agent.core.links.policies import VECTOR_INPUTS, SeedPolicy, inputs

PENALTY = 0.2  # scikit-learn's C on standardised inputs
FOLDS = 10
DIGITS = 4


@dataclass(frozen=True)
class Row:
    """A candidate of a case: its numbers, whether it is to be linked, and what its error weighs."""

    case: str
    features: Mapping[str, float]
    linked: bool
    weight: float = 1.0


def rows_of(reads: Sequence[Read], weight: float = 1.0, *, vectors: bool = True) -> list[Row]:
    """Return a row for each candidate; bare thanks are left out, since a rule decides them."""
    result = []
    for item in reads:
        for evidence in judge(item.message, item.threads, item.case.message.at, SeedPolicy()):
            features = dict(evidence.features)
            if not vectors:
                features = {k: v for k, v in features.items() if k not in VECTOR_INPUTS}
            result.append(Row(item.case.id, features, evidence.thread_id in item.case.links, weight))
    return result


def fit(rows: Sequence[Row], *, vectors: bool) -> dict[str, float]:
    """Return weights by input, for inputs as they come."""
    rows = [row for row in rows if not row.features.get("says_nothing")]
    names = [n for n in inputs({}) if n != "bias" and (vectors or n not in VECTOR_INPUTS)]
    x = np.array([[inputs(row.features)[name] for name in names] for row in rows])
    y, w = np.array([row.linked for row in rows]), np.array([row.weight for row in rows])
    middle, spread = np.average(x, axis=0, weights=w), x.std(axis=0) + 1e-9
    model = LogisticRegression(C=PENALTY, max_iter=5000).fit((x - middle) / spread, y, sample_weight=w)
    slopes = model.coef_[0] / spread
    bias = float(model.intercept_[0] - slopes @ middle)
    return {"bias": round(bias, DIGITS)} | {
        n: round(float(s), DIGITS) for n, s in zip(names, slopes, strict=True)
    }


def probabilities(rows: Sequence[Row], weights: Mapping[str, float]) -> np.ndarray:
    """Return what weights say of each row."""
    probability = [sum(weights.get(k, 0.0) * v for k, v in inputs(row.features).items()) for row in rows]
    silent = np.array([bool(row.features.get("says_nothing")) for row in rows])
    return np.where(silent, 0.0, 1.0 / (1.0 + np.exp(-np.array(probability))))


def held_out(rows: Sequence[Row], also: Sequence[Row], *, vectors: bool, seed: int = 0) -> np.ndarray:
    """Return what weights fitted without a row's case, and with `also`, say of it."""
    cases = sorted({row.case for row in rows})
    fold = dict(zip(cases, np.random.default_rng(seed).permutation(len(cases)) % FOLDS, strict=True))
    zeros = np.zeros(len(rows))
    for part in range(FOLDS):
        inside = [n for n, row in enumerate(rows) if fold[row.case] == part]
        weights = fit([*(row for row in rows if fold[row.case] != part), *also], vectors=vectors)
        zeros[inside] = probabilities([rows[n] for n in inside], weights)
    return zeros


def figures(rows: Sequence[Row], statements: np.ndarray, threshold: float) -> dict[str, float]:
    """Return precision, recall and F1 of links, and the Brier score of the probabilities."""
    truth = np.array([row.linked for row in rows])
    linked = statements > threshold
    right = int((truth & linked).sum())
    precision, recall = right / max(1, int(linked.sum())), right / max(1, int(truth.sum()))
    f1 = 2 * precision * recall / max(precision + recall, 1e-9)
    brier = float(np.mean((statements - truth) ** 2))
    return {name: round(value, 3) for name, value in
            (("precision", precision), ("recall", recall), ("f1", f1), ("brier", brier))}  # fmt: skip

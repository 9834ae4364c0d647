"""How sure a figure is: bootstrap over cases of any figure that is made of sums over cases.

A mean is a sum over a count, pooled F1 and density are made of three counts, the difference of two systems
of six: all are functions of sums over cases. So cases are drawn with replacement (Efron 1979), summed, and
the figure is computed anew from the sums. A case is what is independent of the others: a dialogue, a
person; where there are too few of them, a question (`by_case`), and then the error is too small.
"""

import math
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from episodic_agent.core.evaluation.retrieval import rounded
from episodic_agent.core.evaluation.segmentation import StreamScore, boundary_f1
from episodic_agent.errors import InvalidInput
from episodic_agent.schemas import Json

Floats: TypeAlias = NDArray[np.float64]
Figure: TypeAlias = Callable[[Floats], Floats]

FEWEST_CASES: Final = 8  # fewer people tell nothing of how people differ
ROUNDS: Final = 1000
SUMS: Final = ("streams", "score", "f1", "pk", "wd", "matched", "boundaries", "predicted")


@dataclass(frozen=True, slots=True)
class Estimate:
    """A figure, its bootstrap standard error and 95 % percentile interval; NaN where one case is all."""

    value: float
    error: float
    low: float
    high: float

    def as_json(self) -> dict[str, Json]:
        """Return `value`, `se` and `interval` with six decimals; None for NaN.

        >>> Estimate(0.5, float("nan"), 0.25, 1.0).as_json()
        {'value': 0.5, 'se': None, 'interval': [0.25, 1.0]}
        """
        bounds: list[Json] = [rounded(self.low), rounded(self.high)]
        return {"value": rounded(self.value), "se": rounded(self.error), "interval": bounds}


def bootstrap_sums(cases: ArrayLike, figure: Figure, seed: int, rounds: int = ROUNDS) -> Estimate:
    """Return a figure of sums over cases with its error; `cases` has a row for each case.

    `figure` takes sums in its last axis, any shape before, and gives one number for each. Draws of which
    the figure is NaN are left out. Raises InvalidInput for no cases or less than one round.

    >>> found = bootstrap_sums([[0.0, 1.0], [1.0, 1.0]] * 50, mean_of_sums, seed=7)
    >>> found.value, 0.04 < found.error < 0.06, 0.38 < found.low < 0.5 < found.high < 0.62
    (0.5, True, True)
    """
    rows = np.asarray(cases, np.float64)
    if rows.ndim != 2 or not len(rows) or rounds < 1:
        raise InvalidInput("a bootstrap needs at least one round and one case, a row of sums each")
    value = float(figure(rows.sum(axis=0)))
    if len(rows) < 2:
        return Estimate(value, math.nan, math.nan, math.nan)
    times = np.random.default_rng(seed).multinomial(len(rows), [1.0 / len(rows)] * len(rows), size=rounds)
    drawn = figure(times @ rows)
    drawn = drawn[np.isfinite(drawn)]
    if not len(drawn):
        return Estimate(value, math.nan, math.nan, math.nan)
    low, high = np.quantile(drawn, [0.025, 0.975])
    return Estimate(value, float(drawn.std()), float(low), float(high))


def mean_of_sums(sums: Floats) -> Floats:
    """Return the first sum over the second: a mean.

    >>> mean_of_sums(np.array([[3.0, 4.0], [1.0, 0.0]])).tolist()
    [0.75, nan]
    """
    return _ratio(sums[..., 0], sums[..., 1])


def difference_of_means(sums: Floats) -> Floats:
    """Return the mean of sums 0 and 1 less that of sums 2 and 3.

    >>> float(difference_of_means(np.array([3.0, 4.0, 1.0, 4.0])))
    0.5
    """
    return mean_of_sums(sums[..., :2]) - mean_of_sums(sums[..., 2:])


def by_case(values: Sequence[float], cases: Sequence[Hashable]) -> Floats:
    """Return sums and counts of `values` by case, or one row a value where there are fewer than eight cases.

    >>> by_case([1.0, 0.0, 1.0], ["a", "a", "b"]).tolist()
    [[1.0, 1.0], [0.0, 1.0], [1.0, 1.0]]
    >>> by_case([1.0] * 9, "abcdefghh")[-1].tolist()
    [2.0, 2.0]
    """
    number = {case: n for n, case in enumerate(dict.fromkeys(cases))}
    flat = np.column_stack([np.asarray(values, np.float64), np.ones(len(values))])
    if len(number) < FEWEST_CASES:
        return flat
    rows = np.zeros((len(number), 2))
    np.add.at(rows, [number[case] for case in cases], flat)
    return rows


def stream_sums(row: StreamScore, *, empty_f1: float = 1.0) -> list[float]:
    """Return what one stream adds to the sums named in `SUMS`; `empty_f1` as in `score_streams`."""
    f1 = boundary_f1(row.matched[0], row.boundaries, row.predicted, empty=empty_f1)
    score = (2 * f1 + (1 - row.pk) + (1 - row.wd)) / 4
    return [1.0, score, f1, row.pk, row.wd, row.matched[0], row.boundaries, row.predicted]


def stream_figures(empty_f1: float = 1.0) -> dict[str, Figure]:
    """Return the figures of streams that can be computed from `SUMS`, by the name reports give them."""

    def pooled(sums: Floats) -> Floats:
        either = sums[..., 6] + sums[..., 7]
        return np.where(either > 0, _ratio(2 * sums[..., 5], either), empty_f1)

    def density(sums: Floats) -> Floats:
        return _ratio(sums[..., 7], sums[..., 6])

    means = {name: _mean_of(SUMS.index(name)) for name in ("score", "f1", "pk", "wd")}
    return means | {"segeval_f1": pooled, "density": density}


def _mean_of(place: int) -> Figure:
    return lambda sums: _ratio(sums[..., place], sums[..., 0])


def estimate_streams(
    rows: Sequence[StreamScore], seed: int, *, empty_f1: float = 1.0, names: Sequence[str] = ()
) -> dict[str, Estimate]:
    """Return figures of scored streams, drawn anew stream by stream; all of `stream_figures` by default."""
    figures = stream_figures(empty_f1)
    sums = [stream_sums(row, empty_f1=empty_f1) for row in rows]
    return {name: bootstrap_sums(sums, figures[name], seed) for name in names or figures}


def compare_streams(
    ours: Sequence[StreamScore],
    theirs: Sequence[StreamScore],
    seed: int,
    *,
    empty_f1: float = 1.0,
    names: Sequence[str] = ("score", "segeval_f1"),
) -> dict[str, Estimate]:
    """Return how much better `ours` is than `theirs` on the same streams: the same ones drawn for both."""
    if len(ours) != len(theirs):
        raise InvalidInput(f"compare as many streams: there are {len(ours)} and {len(theirs)}")
    figures, width = stream_figures(empty_f1), len(SUMS)
    sums = [
        [*stream_sums(a, empty_f1=empty_f1), *stream_sums(b, empty_f1=empty_f1)]
        for a, b in zip(ours, theirs, strict=True)
    ]

    def gain(figure: Figure) -> Figure:
        return lambda both: figure(both[..., :width]) - figure(both[..., width:])

    return {name: bootstrap_sums(sums, gain(figures[name]), seed) for name in names}


def mean_of_estimates(parts: Sequence[Estimate]) -> Estimate:
    """Return the mean of independent estimates (sets that weigh the same); the interval is normal.

    >>> found = mean_of_estimates([Estimate(0.0, 0.3, 0.0, 0.0), Estimate(1.0, 0.4, 0.0, 0.0)])
    >>> found.value, found.error, round(found.high, 3)
    (0.5, 0.25, 0.99)
    """
    if not parts:
        raise InvalidInput("a mean needs at least one estimate")
    value = float(np.mean([part.value for part in parts]))
    known = [part.error for part in parts if math.isfinite(part.error)]
    error = math.sqrt(sum(e * e for e in known)) / len(parts) if len(known) == len(parts) else math.nan
    return Estimate(value, error, value - 1.96 * error, value + 1.96 * error)


def _ratio(above: Floats, below: Floats) -> Floats:
    """Divide, NaN where there is nothing to divide by."""
    results: Floats = np.divide(
        above, below, out=np.full(np.shape(below), math.nan), where=np.asarray(below) > 0
    )
    return results

"""How well predicted boundaries match labelled ones, under the two protocols found in print.

A stream is its list of `starts`: 1 where a unit opens a new segment. `starts[0]` is ignored, the first
unit opens a segment whatever it says. Both protocols slide a window of k units, k half the mean
reference segment (rounded half to even, at least 2), and count the windows in which the two sides
disagree: whether there is a boundary (Pk, Beeferman et al. 1999), how many there are (WindowDiff,
Pevzner and Hearst 2002). They differ in one window and in the averaging of F1:

- `nltk`: `nltk.metrics.pk` and `windowdiff` on strings of segment *ends*. The last unit is never marked
  as an end. n - k + 1 windows, the last of which sees one place less; F1 per stream, then averaged.
- `segeval`: the `segeval` package on masses. n - k windows; F1 pooled over all units of all streams.

Pk and WindowDiff are errors: 0 is perfect. A stream too short for a single window scores 0.0 there, as
`segeval.pk` has it (`segeval.window_diff` and nltk fail to divide). That is one unit under `nltk`, one
or two under `segeval`.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from episodic_agent.core.evaluation.retrieval import rounded
from episodic_agent.core.language import plural
from episodic_agent.errors import InvalidInput
from episodic_agent.schemas import Json

Starts: TypeAlias = "Sequence[int] | NDArray[np.int64] | NDArray[np.bool_]"
_Flags: TypeAlias = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class StreamScore:
    """One stream: errors under both protocols, and what F1 is made of.

    `boundaries` and `predicted` count the 1s after the first unit; `matched` holds the pairs found with
    tolerance 0, 1 and 2.
    """

    units: int
    boundaries: int
    predicted: int
    matched: tuple[int, int, int]
    pk: float
    wd: float
    segeval_pk: float
    segeval_wd: float


@dataclass(frozen=True, slots=True)
class SegmentationReport:
    """A set of streams: `pk` to `score` are means over streams under `nltk`, `segeval_*` the other protocol.

    `segeval_f1` and `density` (predicted boundaries per labelled one) are pooled over all streams.
    `density` is infinite where boundaries are predicted and none is labelled, 1.0 where both are absent.
    """

    streams: int
    units: int
    pk: float
    wd: float
    f1: float
    f1_tol1: float
    f1_tol2: float
    score: float
    density: float
    segeval_pk: float
    segeval_wd: float
    segeval_f1: float

    def as_json(self) -> dict[str, Json]:
        """Return the report for a results file: six decimals, an infinite density as None."""
        headline = ("pk", "wd", "f1", "f1_tol1", "f1_tol2", "score", "density")
        return {
            "streams": self.streams,
            "units": self.units,
            **{name: rounded(getattr(self, name)) for name in headline},
            "segeval": {name: rounded(getattr(self, f"segeval_{name}")) for name in ("pk", "wd", "f1")},
        }


def score_streams(
    reference: Sequence[Starts], hypothesis: Sequence[Starts], *, empty_f1: float = 1.0
) -> SegmentationReport:
    """Score predicted `starts` against labelled ones, stream by stream.

    `empty_f1` is the F1 of a stream without any boundary on either side: 1.0, since the prediction is
    right. Published tables computed with scikit-learn's `zero_division=0` (SuperDialseg's) give 0.0 there;
    pass 0.0 to compare with them. Where only one side has boundaries F1 is 0.0. `score` is
    (2 F1 + (1 - Pk) + (1 - WindowDiff)) / 4. Raises InvalidInput for no streams, for streams that do not
    pair up in number or length, for an empty stream and for values other than 0 and 1.

    >>> report = score_streams([[0, 0, 0, 1, 0, 0]], [[0, 0, 1, 0, 0, 0]])
    >>> report.pk, report.wd, report.f1, report.f1_tol1, report.density
    (0.4, 0.4, 0.0, 1.0, 1.0)
    >>> score_streams([[0, 1], [0, 0]], [[0, 1], [0, 0]]).as_json()["f1"]
    1.0
    """
    if len(reference) != len(hypothesis) or not len(reference):
        raise InvalidInput("score at least one stream, with as many hypotheses as references")
    rows = [score_stream(*pair) for pair in zip(reference, hypothesis, strict=True)]
    boundaries, predicted = sum(row.boundaries for row in rows), sum(row.predicted for row in rows)
    by_tolerance = [fmean(_f1_of(row, tolerance, empty_f1) for row in rows) for tolerance in range(3)]
    pk, wd = fmean(row.pk for row in rows), fmean(row.wd for row in rows)
    return SegmentationReport(
        streams=len(rows),
        units=sum(row.units for row in rows),
        pk=pk,
        wd=wd,
        f1=by_tolerance[0],
        f1_tol1=by_tolerance[1],
        f1_tol2=by_tolerance[2],
        score=(2 * by_tolerance[0] + (1 - pk) + (1 - wd)) / 4,
        density=_density(boundaries, predicted),
        segeval_pk=fmean(row.segeval_pk for row in rows),
        segeval_wd=fmean(row.segeval_wd for row in rows),
        segeval_f1=boundary_f1(sum(row.matched[0] for row in rows), boundaries, predicted, empty=empty_f1),
    )


def score_stream(reference: Starts, hypothesis: Starts) -> StreamScore:
    """Score one stream; the same rules and errors as `score_streams`.

    >>> score_stream([0, 0, 1, 0], [0, 0, 0, 1]).matched
    (0, 1, 1)
    """
    truth, guess = _ends(reference), _ends(hypothesis)
    if truth.size != guess.size:
        raise InvalidInput(f"a stream of {plural(truth.size, 'unit')} has a hypothesis of {guess.size}")
    differ_any, differ_count = _disagreements(truth, guess, window_size(reference))
    at, guessed = np.flatnonzero(truth).tolist(), np.flatnonzero(guess).tolist()
    return StreamScore(
        units=int(truth.size),
        boundaries=len(at),
        predicted=len(guessed),
        matched=(match_count(at, guessed, 0), match_count(at, guessed, 1), match_count(at, guessed, 2)),
        pk=_share(differ_any),
        wd=_share(differ_count),
        segeval_pk=_share(differ_any[:-1]),
        segeval_wd=_share(differ_count[:-1]),
    )


def window_size(reference: Starts) -> int:
    """Return k of both protocols: half the mean reference segment, rounded half to even, at least 2.

    >>> window_size([0] * 10), window_size([0, 0, 0, 0, 0, 1, 0, 0, 0, 0]), window_size([0])
    (5, 2, 2)
    """
    ends = _ends(reference)
    return max(2, round(ends.size / (int(ends.sum()) + 1) / 2))


def match_count(reference: Sequence[int], hypothesis: Sequence[int], tolerance: int) -> int:
    """Count the most one-to-one pairs of sorted positions that lie at most `tolerance` units apart.

    Left to right, each position takes the earliest partner in reach. With one tolerance for all that is
    a maximum matching: any other can be rearranged into it pair by pair without losing one.

    >>> match_count([3, 5], [4, 6], 1), match_count([3, 5], [4], 1), match_count([3], [5], 1)
    (2, 1, 0)
    """
    left = right = pairs = 0
    while left < len(reference) and right < len(hypothesis):
        offset = hypothesis[right] - reference[left]
        if abs(offset) <= tolerance:
            pairs, left, right = pairs + 1, left + 1, right + 1
        elif offset < 0:
            right += 1
        else:
            left += 1
    return pairs


def boundary_f1(matched: int, boundaries: int, predicted: int, *, empty: float = 1.0) -> float:
    """Return the harmonic mean of matched / predicted and matched / boundaries; `empty` if neither exists.

    >>> boundary_f1(1, 2, 2), boundary_f1(0, 0, 3), boundary_f1(0, 0, 0)
    (0.5, 0.0, 1.0)
    """
    total = boundaries + predicted
    return 2 * matched / total if total else empty


def _ends(starts: Starts) -> _Flags:
    """Mark the units that end a segment; the last unit stays 0, its end is no decision of anybody's."""
    flags = np.asarray(starts)
    if flags.ndim != 1 or flags.size == 0:
        raise InvalidInput("a stream is a flat list of at least one 0 or 1")
    # A list of scores instead of decisions would otherwise pass as "everything is a boundary".
    if not np.isin(flags, (0, 1)).all():
        raise InvalidInput("starts are 0 or 1; threshold scores before evaluating them")
    return np.append(flags[1:], 0).astype(np.int64)


def _disagreements(truth: _Flags, guess: _Flags, k: int) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Say for each window of k ends whether Pk, and whether WindowDiff, counts it as an error.

    The windows are nltk's. All but the last are segeval's: the k places between unit i and unit i + k.
    """
    counts_truth, counts_guess = _window_sums(truth, k), _window_sums(guess, k)
    return (counts_truth > 0) != (counts_guess > 0), counts_truth != counts_guess


def _window_sums(ends: _Flags, k: int) -> _Flags:
    running = np.concatenate(([0], np.cumsum(ends)))
    return running[k:] - running[:-k]


def _share(errors: NDArray[np.bool_]) -> float:
    return float(errors.mean()) if errors.size else 0.0


def _f1_of(row: StreamScore, tolerance: int, empty: float) -> float:
    return boundary_f1(row.matched[tolerance], row.boundaries, row.predicted, empty=empty)


def _density(boundaries: int, predicted: int) -> float:
    if boundaries:
        return predicted / boundaries
    return math.inf if predicted else 1.0

"""How another embedder's cosines compare with those of the default one, fitted on texts that both embedded.

Every number of this house that is a cosine was fitted on the default embedder: the boundary policy's scale of
neighbours, the recall's least cosine, the curve of confidence. Another embedder may give unrelated texts .7
and neighbours .8. It is not the numbers that are fitted again for each, but the scale: what this embedder
says is brought to what the default one says of the same texts.

**For boundaries** mean and spread of neighbouring texts are laid over each other. An embedder whose cosines
agree too little with the default's is not read at all there: the networks for words alone are better than
those for vectors fed with noise. **For recall** the distributions of all pairs of texts are laid over each
other at three ranks, two identical texts staying identical. (A regression on the default's cosines flattens
what is far from the mean: it cut too seldom on unseen talks, and the confidence of a best hit lives there.)
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Final

from episodic_agent.core.language import plural
from episodic_agent.errors import InvalidInput
from episodic_agent.lazily import module
from episodic_agent.schemas import Json, Vector

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
else:
    np = module("numpy")

LEAST_AGREEMENT: Final = 0.6
"""Correlation with the default embedder's cosines of neighbours; below it vectors cost boundaries more than
they give (hashing and averaged words have .52, another sentence model .74)."""
LEAST_NEIGHBOURS: Final = 100  # pairs; with fewer the figures are chance
MOST_TEXTS: Final = 2_000  # the pairs grow with the square
_SHARES: Final = (0.01, 0.5, 0.99)  # more would copy the noise of these texts
_DIGITS: Final = 3  # of what stands in a policy's name; machines differ in the last bits of a cosine
_LEAST_STEP: Final = 10.0**-_DIGITS

Pair = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Calibration:
    """What was fitted for one embedder, by the name its vectors carry.

    `agreement` is the correlation of its cosines of neighbouring texts with the default embedder's. `scale`
    is its (mean, spread) for the boundary policy, None where boundaries go by words alone. `curve` holds
    rising (this embedder's cosine, the default's) from -1 to 1. `threshold` is fitted on labelled dialogues,
    None without any. `texts` counts what it was fitted on.
    """

    embedder: str
    agreement: float
    scale: Pair | None
    curve: tuple[Pair, ...]
    threshold: float | None = None
    texts: int = 0

    def as_default(self, cosines: "Floats") -> "Floats":
        """Return cosines as the default embedder would give them, NaN where there is none.

        >>> fitted = Calibration("mine", 1.0, None, ((-1.0, -1.0), (0.7, 0.1), (1.0, 1.0)))
        >>> fitted.as_default(np.array([0.7, 0.85, np.nan])).round(2).tolist()
        [0.1, 0.55, nan]
        """
        theirs, ours = np.array(self.curve).T
        mapped: Floats = np.where(np.isnan(cosines), np.nan, np.interp(np.nan_to_num(cosines), theirs, ours))
        return mapped

    def as_own(self, cosine: float) -> float:
        """Return the cosine of this embedder that means what a cosine of the default one does.

        >>> fitted = Calibration("mine", 1.0, None, ((-1.0, -1.0), (0.7, 0.1), (1.0, 1.0)))
        >>> round(fitted.as_own(0.55), 2)
        0.85
        """
        theirs, ours = np.array(self.curve).T
        return float(np.interp(cosine, ours, theirs))

    def as_json(self) -> dict[str, Json]:
        """Return the calibration as plain JSON; `read` undoes it."""
        return {
            "embedder": self.embedder,
            "agreement": self.agreement,
            "scale": None if self.scale is None else list(self.scale),
            "curve": [list(pair) for pair in self.curve],
            "threshold": self.threshold,
            "texts": self.texts,
        }


@dataclass(frozen=True, slots=True)
class Statistics:
    """Mean and spread of an embedder's cosines: of neighbouring texts, and of texts of different talks."""

    neighbours: Pair
    unrelated: Pair


def fit(
    embedder: str, conversations: Sequence[Vector], default: Sequence[Vector], scale: Pair
) -> tuple[Calibration, Statistics]:
    """Fit an embedder's scale from conversations it embedded, beside the default embedder's vectors of them.

    Each conversation is float32 [n, d], rows in the order they were said, of length 1 (or 0: left out).
    `scale` is the (mean, spread) that the boundary policy knows of the default embedder. Raises InvalidInput
    for too few texts, or where all are alike to the embedder.
    """
    remaining = [_with_content(one, other) for one, other in zip(conversations, default, strict=True)]
    near, near_default = (_neighbours([pair[side] for pair in remaining]) for side in (0, 1))
    if len(near) < LEAST_NEIGHBOURS:
        raise InvalidInput(
            f"{plural(len(near), 'message that follows another is', 'messages that follow another are')} "
            f"too few to calibrate on; give conversations with at least {LEAST_NEIGHBOURS}"
        )
    if min(near.std(), near_default.std()) < _LEAST_STEP:
        raise InvalidInput(f"{embedder} gives all these texts the same cosine; is it the right model?")
    agreement = float(np.corrcoef(near, near_default)[0, 1])
    pairs, pairs_default = (_pairs([pair[side] for pair in remaining]) for side in (0, 1))
    texts = sum(len(pair[0]) for pair in remaining)
    fitted = Calibration(
        embedder,
        round(agreement, _DIGITS),
        _scale(near, near_default, agreement, scale),
        _curve(pairs, pairs_default),
        texts=texts,
    )
    return fitted, Statistics(_moments(near), _moments(_unrelated([pair[0] for pair in remaining])))


def read(raw: object) -> Calibration:
    """Rebuild a calibration from JSON; raises InvalidInput when it is none.

    >>> fitted = Calibration("mine", 0.7, (0.5, 0.1), ((-1.0, -1.0), (1.0, 1.0)))
    >>> read(fitted.as_json()) == fitted
    True
    """
    try:
        return _read(raw)
    except (KeyError, TypeError, ValueError) as error:
        raise InvalidInput(f"no calibration ({error}); run `episodic calibrate` again") from error


def _read(raw: object) -> Calibration:
    if not isinstance(raw, Mapping):
        raise TypeError("no object")
    scale, threshold = raw["scale"], raw["threshold"]
    curve = tuple(_pair(pair) for pair in raw["curve"])
    falling = any(b[n] <= a[n] for a, b in pairwise(curve) for n in (0, 1))
    if len(curve) < 2 or falling or not isinstance(raw["embedder"], str):
        raise ValueError("its curve does not rise, or it names no embedder")
    return Calibration(
        raw["embedder"],
        float(raw["agreement"]),
        None if scale is None else _pair(scale),
        curve,
        None if threshold is None else float(threshold),
        int(raw["texts"]),
    )


def _pair(raw: Sequence[float]) -> Pair:
    first, second = raw
    return float(first), float(second)


def _with_content(vector: Vector, other: Vector) -> tuple[Vector, Vector]:
    """Keep the texts that say something to both."""
    statement = (np.abs(vector).sum(axis=1) > 0) & (np.abs(other).sum(axis=1) > 0)
    return vector[statement], other[statement]


def _neighbours(conversations: Sequence[Vector]) -> "Floats":
    results = [np.einsum("ij,ij->i", v[1:], v[:-1]) for v in conversations]
    return np.concatenate(results).astype(np.float64)


def _pairs(conversations: Sequence[Vector]) -> "Floats":
    every = np.concatenate(list(conversations))
    results: Floats = (every @ every.T)[np.triu_indices(len(every), 1)].astype(np.float64)
    return results


def _unrelated(conversations: Sequence[Vector]) -> "Floats":
    every = np.concatenate(list(conversations))
    owner = np.repeat(np.arange(len(conversations)), [len(v) for v in conversations])
    apart = (owner[:, None] != owner) & np.tri(len(every), k=-1, dtype=np.bool_)
    results: Floats = (every @ every.T)[apart].astype(np.float64)
    return results


def _moments(cosines: "Floats") -> Pair:
    if not len(cosines):
        return 0.0, 0.0
    return round(float(cosines.mean()), _DIGITS), round(float(cosines.std()), _DIGITS)


def _scale(near: "Floats", default: "Floats", agreement: float, known: Pair) -> Pair | None:
    """Return where the default's known mean and spread lie on this embedder's scale."""
    if agreement < LEAST_AGREEMENT:
        return None
    factor = near.std() / default.std()
    mean, spread = known
    return (
        round(float(near.mean() + (mean - default.mean()) * factor), _DIGITS),
        round(float(spread * factor), _DIGITS),
    )


def _curve(pairs: "Floats", default: "Floats") -> tuple[Pair, ...]:
    """Return equal ranks among all pairs of texts as (this, default) cosines, rising on both sides."""
    theirs, ours = np.quantile(pairs, _SHARES), np.quantile(default, _SHARES)
    curve = [(-1.0, -1.0)]
    for this, other in zip(theirs.round(_DIGITS).tolist(), ours.round(_DIGITS).tolist(), strict=True):
        before = curve[-1]
        if this - before[0] >= _LEAST_STEP and other - before[1] >= _LEAST_STEP and max(this, other) < 1.0:
            curve.append((this, other))
    return (*curve, (1.0, 1.0))

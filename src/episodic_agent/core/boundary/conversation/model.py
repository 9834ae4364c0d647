"""The learned part of `default`: small neural networks stored as plain arrays, evaluated in numpy.

One network for each delay (0, 1, 2 further messages) and each kind: words alone, words and vectors (learnt
more broadly, and from dialogues alone as before `default-2027-03`). `tools/train_boundary.py` writes
`data/boundary/default.npz`; a better model replaces that file and this one.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from typing import Final, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from episodic_agent.core.boundary.conversation.cues import BaselineCues, how_far
from episodic_agent.core.boundary.conversation.gap import LEXICAL as _LEXICAL
from episodic_agent.data import arrays
from episodic_agent.errors import InvalidInput

# log(1 + minutes): 1.7, 6.4, 19, 54 min, 2.5 h, 6.7 h, 18 h; below the first one reads and types
KNOTS: Final = (1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0)


def log_minutes(seconds: float) -> float:
    """Return log(1 + minutes) of a gap; a late arrival's negative gap counts as none.

    >>> log_minutes(0.0), round(log_minutes(3600.0), 3), log_minutes(-5.0)
    (0.0, 4.111, 0.0)
    """
    return round(math.log1p(max(0.0, seconds) / 60.0), 4)


def ramps(value: float, knots: Sequence[float] = KNOTS) -> list[float]:
    """Return how much of each stretch from knot to knot lies below a value, each in [0, 1].

    Weighted by rises that are not negative they make a broken line that never falls.

    >>> ramps(1.25, (0.0, 1.0, 2.0)), ramps(9.0, (0.0, 1.0, 2.0))
    ([1.0, 0.25], [1.0, 1.0])
    """
    return [min(1.0, max(0.0, (value - low) / (high - low))) for low, high in pairwise(knots)]


_LIMIT: Final = 4.0  # standardised cues are clipped here: an unseen kind of text must not run away
LONGEST_DELAY: Final = 2
LEXICAL: Final = len(_LEXICAL)
WORDS: Final = "words"
VECTORS: Final = "vectors"
BROAD: Final = "broad"  # vectors too, learnt from people's weeks of talk and crowded channels as well


Cues: TypeAlias = Sequence[float] | NDArray[np.float64]


class Network(NamedTuple):
    """Standardise, a layer of tanh units, one log-odds; the mean of several trainings has this form too.

    Its inputs are all cues, then what is usual for each of them in the thread, so that it sees how far a gap
    is from its own thread, and last how long the thread is.
    """

    shift: NDArray[np.float32]
    factor: NDArray[np.float32]
    hidden: NDArray[np.float32]
    bias: NDArray[np.float32]
    out: NDArray[np.float32]
    out_bias: float

    def probability(self, cues: Cues, baseline: BaselineCues, position: int) -> float:
        """Return the probability of a boundary after `position` messages of a thread."""
        size = len(cues)
        x = np.empty(2 * size + 1, np.float32)
        x[:size], x[size:-1], x[-1] = cues, baseline.means[:size], how_far(position)
        x -= self.shift
        x *= self.factor
        np.maximum(x, -_LIMIT, out=x)  # what `np.clip` does, without its overhead
        np.minimum(x, _LIMIT, out=x)
        x[size:-1] *= baseline.shares(LEXICAL, size)
        units = self.hidden.dot(x)
        units += self.bias
        return sigmoid(float(np.tanh(units).dot(self.out)) + self.out_bias)

    def logits(self, rows: NDArray[np.float64], baseline: BaselineCues, position: int) -> NDArray[np.float64]:
        """Return the log-odds for each row of cues, (rows, cues), of one gap as it might have been.

        As `probability` has them but for the last bits: many rows at once are summed in another order.
        """
        size = rows.shape[1]
        x = np.empty((len(rows), 2 * size + 1), np.float32)
        x[:, :size], x[:, size:-1], x[:, -1] = rows, baseline.means[:size], how_far(position)
        x = np.clip((x - self.shift) * self.factor, -_LIMIT, _LIMIT)
        x[:, size:-1] *= baseline.shares(LEXICAL, size)
        units = np.tanh(x.dot(self.hidden.T) + self.bias)
        return np.asarray(units.dot(self.out) + self.out_bias, np.float64)


class Silence(NamedTuple):
    """The gap before a message: log(1 + minutes) and how unusual that is in this thread (z-score)."""

    logged: float
    z: float


@dataclass(frozen=True, slots=True)
class BoundaryModel:
    """Networks by kind and delay ("words-0", "vectors-2", "broad-1") and the weights of the clock.

    `time` is what a standard deviation of unusual silence is worth, then how much evidence rises from each
    knot to the next, all in log-odds. None is negative, so silence can only speak for a boundary: a talk
    without pauses is judged as if no times were known. InvalidInput otherwise.
    """

    networks: Mapping[str, Network]
    time: Sequence[float]

    def __post_init__(self) -> None:
        if len(self.time) != len(KNOTS) or not all(weight >= 0.0 for weight in self.time):
            raise InvalidInput(f"time must be {len(KNOTS)} weights, none below 0, not {list(self.time)}")

    def content(
        self, cues: Cues, delay: int, baseline: BaselineCues, position: int, *, broad: bool = True
    ) -> float:
        """Return the probability of a boundary from content alone, `delay` messages later."""
        kind = WORDS if len(cues) <= LEXICAL else BROAD if broad else VECTORS
        return self.networks[f"{kind}-{min(delay, LONGEST_DELAY)}"].probability(cues, baseline, position)

    def together(
        self, cues: Cues, delay: int, baseline: BaselineCues, position: int, *, broad: bool = True
    ) -> float:
        """Return the probability by the networks of this delay and all shorter ones: their mean log-odds.

        A network of a shorter delay reads the same cues and passes over those of later messages: they were
        always 0 where it learnt, so its factors for them are.
        """
        delays = range(min(delay, LONGEST_DELAY) + 1)
        odds = [logit(self.content(cues, one, baseline, position, broad=broad)) for one in delays]
        return sigmoid(sum(odds) / len(odds))

    def with_time(self, content: float, silence: Silence) -> float:
        """Return the probability when the silence before the message is known too, never less than without.

        A message that cannot open anything (`content` 0) does not open anything after a silence either.
        """
        evidence = self.evidence(silence)
        return max(content, moved(content, evidence)) if evidence and content else content

    def evidence(self, silence: Silence) -> float:
        """Return the log-odds that a silence adds: never negative, and never less for a longer one."""
        unusual, *rises = self.time
        grown = sum([share * rise for share, rise in zip(ramps(silence.logged), rises, strict=True)])
        return unusual * max(0.0, silence.z) + grown


def moved(probability: float, evidence: float) -> float:
    """Return a probability with evidence added to its log-odds.

    >>> moved(0.5, 0.0), round(moved(0.5, 2.0), 2)
    (0.5, 0.88)
    """
    return sigmoid(logit(probability) + evidence)


def logit(probability: float) -> float:
    """Return the log-odds of a probability, of 0 and 1 as of what is nearly so.

    >>> logit(0.5), round(logit(1.0), 1)
    (0.0, 9.2)
    """
    held = min(max(probability, 1e-4), 1.0 - 1e-4)
    return math.log(held / (1.0 - held))


def sigmoid(logit: float) -> float:
    """Return the probability of a log-odds.

    >>> sigmoid(0.0), sigmoid(-800.0)
    (0.5, 0.0)
    """
    return 0.0 if logit < -700.0 else 1.0 / (1.0 + math.exp(-logit))


@cache
def shipped() -> BoundaryModel:
    """Return the model that comes with the package, decoded on first use."""
    networks = arrays("boundary/default.npz")
    time = tuple(networks.pop("time").tolist())
    return BoundaryModel({name: decode(packed) for name, packed in networks.items()}, time)


def decode(packed: NDArray[np.floating]) -> Network:
    """Undo `encode`: the number of hidden units, then the arrays in their order, all in float16."""
    flat = packed.astype(np.float32)
    units, flat = int(flat[0]), flat[1:]
    inputs = (flat.size - 2 * units - 1) // (2 + units)
    cuts = np.cumsum([inputs, inputs, inputs * units, units, units])
    shift, factor, matrix, bias, out, last = np.split(flat, cuts)
    return Network(shift, factor, matrix.reshape(units, inputs), bias, out, float(last[0]))


def encode(network: Network) -> NDArray[np.float16]:
    """Return a network as one array of float16, as the archive holds it."""
    parts = [[len(network.bias)], network.shift, network.factor, network.hidden.ravel(), network.bias]
    flat = np.concatenate([*parts, network.out, [network.out_bias]])
    return flat.astype(np.float16)

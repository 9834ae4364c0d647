"""The learned part of `default`: small neural networks stored as plain arrays, evaluated in numpy.

One network for each delay (0, 1, 2 further messages) and each kind of input (words alone, words and
vectors). `tools/train_boundary.py` writes `weights.py`; a better model replaces that file and this one.
"""

import base64
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Final, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from episodic_agent.core.boundary import weights
from episodic_agent.core.boundary.cues.gap import LEXICAL as _LEXICAL
from episodic_agent.core.boundary.cues.timing import hats
from episodic_agent.core.boundary.cues.usual import Usual, how_far

_LIMIT: Final = 4.0  # standardised cues are clipped here: an unseen kind of text must not run away
LONGEST_DELAY: Final = 2
LEXICAL: Final = len(_LEXICAL)


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

    def odds(self, cues: Cues, usual: Usual, position: int) -> float:
        """Return the probability of a boundary after `position` messages of a thread."""
        size = len(cues)
        x = np.empty(2 * size + 1, np.float32)
        x[:size], x[size:-1], x[-1] = cues, usual.means[:size], how_far(position)
        x -= self.shift
        x *= self.factor
        np.maximum(x, -_LIMIT, out=x)  # what `np.clip` does, without its overhead
        np.minimum(x, _LIMIT, out=x)
        x[size:-1] *= usual.shares(LEXICAL, size)
        units = self.hidden.dot(x)
        units += self.bias
        return sigmoid(float(np.tanh(units).dot(self.out)) + self.out_bias)


class Silence(NamedTuple):
    """The gap before a message: log(1 + minutes) and how unusual that is in this thread (z-score)."""

    logged: float
    z: float


@dataclass(frozen=True, slots=True)
class Model:
    """Networks by kind and delay ("words-0", "vectors-2") and the weights of the clock."""

    networks: Mapping[str, Network]
    time: Sequence[float]

    def content(self, cues: Cues, delay: int, usual: Usual, position: int) -> float:
        """Return the probability of a boundary from content alone, `delay` messages later."""
        kind = "vectors" if len(cues) > LEXICAL else "words"
        return self.networks[f"{kind}-{min(delay, LONGEST_DELAY)}"].odds(cues, usual, position)

    def with_time(self, content: float, silence: Silence) -> float:
        """Return the probability when the silence before the message is known too (sum of log-odds)."""
        slope, z_weight, *heights = self.time
        content = min(max(content, 1e-4), 1.0 - 1e-4)
        logit = math.log(content / (1.0 - content))
        evidence = sum([share * height for share, height in zip(hats(silence.logged), heights, strict=True)])
        return sigmoid(slope * logit + z_weight * silence.z + evidence)


def sigmoid(logit: float) -> float:
    """Return the probability of a log-odds.

    >>> sigmoid(0.0), sigmoid(-800.0)
    (0.5, 0.0)
    """
    return 0.0 if logit < -700.0 else 1.0 / (1.0 + math.exp(-logit))


@cache
def shipped() -> Model:
    """Return the model that comes with the package, decoded on first use."""
    return Model({name: decode("".join(lines)) for name, lines in weights.NETWORKS.items()}, weights.TIME)


def decode(packed: str) -> Network:
    """Undo `encode`: float16 in base64; the number of hidden units, then the arrays in their order."""
    flat = np.frombuffer(base64.b64decode(packed), dtype=np.float16).astype(np.float32)
    units, flat = int(flat[0]), flat[1:]
    inputs = (flat.size - 2 * units - 1) // (2 + units)
    cuts = np.cumsum([inputs, inputs, inputs * units, units, units])
    shift, factor, matrix, bias, out, last = np.split(flat, cuts)
    return Network(shift, factor, matrix.reshape(units, inputs), bias, out, float(last[0]))


def encode(network: Network) -> str:
    """Return a network as base64 of float16, as `weights.py` holds it."""
    parts = [[len(network.bias)], network.shift, network.factor, network.hidden.ravel(), network.bias]
    flat = np.concatenate([*parts, network.out, [network.out_bias]])
    return base64.b64encode(flat.astype(np.float16).tobytes()).decode()

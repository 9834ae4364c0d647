"""The network of the learned default and what its training promised, as `tools/train_steps.py` wrote them."""

from collections.abc import Sequence
from functools import cache
from typing import NamedTuple

from episodic_agent.core.boundary.default_model import Network, decode
from episodic_agent.core.boundary.steps import weights


class Model(NamedTuple):
    """A network over `cues.NAMES`, and the share of the training's gaps at each probability."""

    network: Network
    prior: Sequence[float]


@cache
def shipped() -> Model:
    """Return the model that comes with the package, decoded on first use."""
    return Model(decode("".join(weights.NETWORK)), weights.PRIOR)

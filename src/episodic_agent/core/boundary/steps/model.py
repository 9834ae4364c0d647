"""The network of the learned default and what its training promised, as `tools/train_steps.py` wrote them."""

from collections.abc import Sequence
from functools import cache
from typing import NamedTuple

from episodic_agent.core.boundary.conversation.model import Network, decode
from episodic_agent.data import arrays


class StepsModel(NamedTuple):
    """A network over `cues.NAMES`, and the share of the training's gaps at each probability."""

    network: Network
    prior: Sequence[float]


@cache
def shipped() -> StepsModel:
    """Return the model that comes with the package, decoded on first use."""
    packed = arrays("boundary/steps.npz")
    return StepsModel(decode(packed["network"]), tuple(packed["prior"].tolist()))

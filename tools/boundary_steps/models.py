"""Models of the learned default: trained on everything, without a fold, or without a family of sets."""

import numpy as np
from boundary.training import fit_network

from boundary_steps.data import FAMILY, FOLDS, SETS
from boundary_steps.rows import Rows
from episodic_agent.core.boundary.conversation.model import Network
from episodic_agent.core.boundary.steps.activity import BINS
from episodic_agent.core.boundary.steps.learned import StepsModel

BAGS = 3  # networks averaged
FAMILIES = tuple(dict.fromkeys(FAMILY.get(source, source) for source in SETS))


def whole(rows: Rows) -> StepsModel:
    """Train on everything, as shipped."""
    return _model(rows, rows.weights())


def by_fold(rows: Rows) -> list[StepsModel]:
    """Train without each fold in turn."""
    return [_model(rows, rows.weights(but_fold=fold)) for fold in range(FOLDS)]


def by_family(rows: Rows) -> dict[str, StepsModel]:
    """Train without each family of sets in turn."""
    return {one: _model(rows, rows.weights(but=frozenset({one}))) for one in FAMILIES}


def _model(rows: Rows, weights: np.ndarray) -> StepsModel:
    network = fit_network(rows.table, weights, BAGS)
    return StepsModel(network, prior(network, rows, weights))


def prior(network: Network, rows: Rows, weights: np.ndarray) -> tuple[float, ...]:
    """Return the share of the training's gaps that the network gives each probability."""
    mine = np.flatnonzero(weights > 0)
    probabilities = odds_of(network, rows, mine)
    shares = np.bincount(
        np.minimum(BINS - 1, (np.sqrt(probabilities) * BINS).astype(int)), weights[mine], BINS
    )
    return tuple((shares / shares.sum()).round(4).tolist())


def odds_of(network: Network, rows: Rows, mine: np.ndarray) -> np.ndarray:
    """Return what `Network.odds` gives rows, all at once."""
    table = rows.table
    size = table.cues.shape[1]
    x = np.hstack([table.cues[mine], table.means[mine].astype(np.float32), table.positions[mine][:, None]])
    x = np.clip((x - network.shift) * network.factor, -4.0, 4.0)
    x[:, size:-1] *= table.shares[mine]
    logits = np.tanh(x @ network.hidden.T + network.bias) @ network.out + network.out_bias
    return 1.0 / (1.0 + np.exp(-logits))

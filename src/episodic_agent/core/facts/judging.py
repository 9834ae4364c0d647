"""Is a proposal a fact? A weighed sum of its signs, with weights learnt once from the labelled statements.

`tools/train_fact_judge.py` writes `weights.py`; the weights can be read, and are the whole of the judge.
"""

from math import exp

from episodic_agent.core.facts.proposing import Proposal
from episodic_agent.core.facts.weights import BASE, THRESHOLD, WEIGHTS


def chance(one: Proposal) -> float:
    """Return how likely a proposal is a fact by its signs, 0 to 1; signs never seen weigh nothing."""
    return 1.0 / (1.0 + exp(-(BASE + sum(WEIGHTS.get(sign, 0.0) for sign in set(one.signs)))))


def accepted(one: Proposal) -> bool:
    """Tell whether a proposal is sure enough to be believed."""
    return chance(one) >= THRESHOLD

"""Is a proposal a fact? A weighed sum of its signs, with weights learnt once from the labelled statements.

`tools/train_fact_judge.py` writes `data/facts/judge.json`; the weights can be read, and are the whole of the
judge.
"""

from math import exp

from episodic_agent.core.facts.proposing import Proposal
from episodic_agent.data import number, numbers


def probability(proposal: Proposal) -> float:
    """Return how likely a proposal is a fact by its signs, 0 to 1; signs never seen weigh nothing."""
    weights = numbers("facts/judge.weights")
    answer = sum(weights.get(sign, 0.0) for sign in set(proposal.signs))
    return 1.0 / (1.0 + exp(-(number("facts/judge.base") + answer)))


def accepted(proposal: Proposal) -> bool:
    """Tell whether a proposal is sure enough to be believed."""
    return probability(proposal) >= number("facts/judge.threshold")

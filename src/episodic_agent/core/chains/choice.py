"""One choice over all earlier sessions: which of them a session goes on from, or that it begins anew.

A conditional logit. The options are sessions, not chains: a session that was chained wrongly would else lead
whatever goes on with either matter to the latest of both. What speaks for an option is its own, and partly
its rank among the others; what speaks for "none of them" is how the session opens and how many there are.
`benchmarks.chain_choice_training` fits the weights, with vectors and by words alone.
"""

import math
from collections.abc import Mapping, Sequence
from typing import Final, TypeAlias

import numpy as np

from episodic_agent.core.links.choice import ranks
from episodic_agent.core.links.policies import NONE, choice_utility, none_utility
from episodic_agent.data import numbers

MOST_LEAD: Final = 7.0  # log-odds that a choice gives, either way
OF_ROWS: Final = ("words", "opening_words", "opening_near", "mean_edge")
OF_VECTORS: Final = frozenset(("cosine", "opening_near", "mean_edge"))
Numbers: TypeAlias = Mapping[str, float]


def option_inputs(
    own: Sequence[Numbers], rows: Sequence[Numbers], followed: Sequence[bool], opening: Numbers
) -> tuple[list[dict[str, float]], dict[str, float]]:
    """Return what the choice reads of each earlier session, and of "none of them".

    `own` are the numbers of each as a candidate, `rows` as an option of linking, empty where it has no words;
    `followed` tells that a session goes on from it already. `opening` is how the new session opens.
    """
    age = np.log1p(np.maximum([one["hours"] for one in own], 0.0))
    words = np.array([row.get("words", 0.0) for row in rows])
    options = [
        {
            "link": numbers_of["link"],
            "cosine": numbers_of.get("cosine", 0.0),
            **{name: row.get(name, 0.0) for name in OF_ROWS},
            "utility": _clipped(choice_utility(row) - none_utility(row)) if row else 0.0,
            "age": float(age[place]),
            "later": later,
            "worded": worded,
            "head": float(not followed[place]),
        }
        for place, (numbers_of, row, later, worded) in enumerate(
            zip(own, rows, ranks(-age).tolist(), ranks(words).tolist(), strict=True)
        )
    ]
    none = {f"{NONE}_{name}": opening.get(name, 0.0) for name in ("new", "others", "asks")}
    return options, {**none, f"{NONE}_options": math.log(len(options))}


def fitted_weights(*, vectors: bool) -> Numbers:
    """Return the weights of `chain-2027-02` by input."""
    return numbers(f"chains/choice.{'vectors' if vectors else 'words'}")


def leads(
    options: Sequence[Numbers], none: Numbers, chains: Sequence[object], *, weights: Numbers
) -> list[float]:
    """Return the log-odds of each session against all others and none of them, in [-7, 7].

    `chains` names the chain of each. The best of a chain has the share of the whole chain: that others of it
    are near as well is no doubt about it.
    """
    utilities = [
        sum(weight * one[name] for name, weight in weights.items() if not name.startswith(NONE))
        for one in options
    ]
    against = sum(weight * none.get(name, 0.0) for name, weight in weights.items() if name.startswith(NONE))
    against += weights[NONE]
    best: dict[object, int] = {}
    for place, (chain, utility) in enumerate(zip(chains, utilities, strict=True)):
        if chain not in best or utility >= utilities[best[chain]]:
            best[chain] = place
    result = []
    for place, chain in enumerate(chains):
        inside = [n for n, other in enumerate(chains) if other == chain] if best[chain] == place else [place]
        rest = [utilities[n] for n in range(len(utilities)) if n not in inside]
        mine = _summed([utilities[n] for n in inside])
        result.append(_clipped(mine - _summed([against, *rest])))
    return result


def _summed(values: Sequence[float]) -> float:
    return float(np.logaddexp.reduce(sorted(values)))


def _clipped(value: float) -> float:
    return max(-MOST_LEAD, min(MOST_LEAD, value))

"""When `default` asks a language model about a gap, and what an answer is worth.

A probability near its threshold says little, and only there a second opinion can help: far from it the
answer would have to be worth more than everything the cues know. The band is measured in log-odds around the
threshold the gap is held against, so that it means the same for a thread whose threshold has moved.

**An audit** looks further where nothing was cut for long: talk drifts from subject to subject without one
plain change, and every gap of it lies below the band. There the gap that is likelier than each of the `LONG`
before it is asked about if a sure answer could cut it. Such gaps are rare: the benchmark finds at most three
in a hundred messages.

An answer is evidence, not an order. It adds the log-odds of a witness who is right as often as `BELIEVED`
says where the model is sure, and no oftener than a coin where it is not. `benchmarks/llm_band.py` shows what
the stage can gain, and lose, with models that are right more or less often.
"""

import math
from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

from episodic_agent.core.boundary.contract import Verdict
from episodic_agent.core.boundary.conversation.model import logit, sigmoid

BAND: Final = 0.3  # log-odds on either side of the threshold
BELIEVED: Final = 0.8  # how often a model that is sure of its answer is taken to be right
REACH: Final = math.log(BELIEVED / (1.0 - BELIEVED))  # log-odds that a sure answer is worth
LONG: Final = 8  # messages without a cut after which the likeliest gap of them is asked about as well
BEFORE: Final = 32  # messages before the gap that are shown: more cost tokens and tell nothing new
PLACES: Final = 4  # that records keep of a probability
UNASKED, WEIGHED, SURE = "unasked", "model_boundary", "model_confidence"  # the cues an answer leaves
LEFT: Final = (UNASKED, WEIGHED, SURE)


class WeighedVerdict(NamedTuple):
    """What a model said of a gap, and the probability without it: enough to weigh it again."""

    unasked: float
    boundary: bool
    confidence: float

    @property
    def probability(self) -> float:
        """Return the probability with the answer."""
        return weighed(self.unasked, boundary=self.boundary, confidence=self.confidence)


def uncertain(probability: float, threshold: float, band: float) -> bool:
    """Say whether a probability is so near its threshold that a model is worth asking.

    >>> uncertain(0.38, 0.4, 0.3), uncertain(0.9, 0.4, 0.3), uncertain(0.4, 0.4, 0.0)
    (True, False, False)
    """
    return band > 0.0 and abs(logit(probability) - logit(threshold)) <= band


def audited(probability: float, threshold: float, before: Sequence[float]) -> bool:
    """Say whether a gap is worth asking about since nothing was cut for long.

    `before` are the probabilities of the open frame's gaps, oldest first.

    >>> calm = [0.0, 0.02, 0.05, 0.04, 0.03, 0.06, 0.02, 0.04]
    >>> audited(0.2, 0.4, calm), audited(0.05, 0.4, calm), audited(0.2, 0.4, calm[1:])
    (True, False, False)
    """
    drifted = len(before) >= LONG and probability > max(before[-LONG:])
    return drifted and 0.0 <= logit(threshold) - logit(probability) <= REACH


def weighed(probability: float, *, boundary: bool, confidence: float) -> float:
    """Return the probability of a boundary once a model answered, to four places.

    >>> weighed(0.4, boundary=True, confidence=1.0), weighed(0.4, boundary=True, confidence=0.0)
    (0.7273, 0.4)
    >>> weighed(0.4, boundary=False, confidence=0.5)
    0.2642
    """
    right = 0.5 + (BELIEVED - 0.5) * min(max(confidence, 0.0), 1.0)
    weight = math.log(right / (1.0 - right))
    return round(sigmoid(logit(probability) + (weight if boundary else -weight)), PLACES)


def weigh(verdict: Verdict, probability: float) -> WeighedVerdict:
    """Return an answer as it is weighed: its confidence to as many places as records keep."""
    return WeighedVerdict(
        probability, verdict.is_boundary, round(min(max(verdict.confidence, 0.0), 1.0), PLACES)
    )


def shown(weighed: WeighedVerdict) -> dict[str, float]:
    """Return what a record keeps of an answer, as cues; `read` undoes it."""
    return {UNASKED: weighed.unasked, WEIGHED: float(weighed.boundary), SURE: weighed.confidence}


def read(cues: Mapping[str, float]) -> WeighedVerdict | None:
    """Return the answer a record keeps; None where no model spoke in it, or to another policy.

    >>> read(shown(WeighedVerdict(0.38, True, 0.9))).probability, read({"content": 0.4})
    (0.6723, None)
    """
    if UNASKED not in cues:
        return None
    return WeighedVerdict(cues[UNASKED], cues[WEIGHED] >= 0.5, cues[SURE])

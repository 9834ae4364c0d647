"""What two judges say together: the algorithm's score and a language model's opinion (seed 002, 2.3)."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from episodic_agent.core.linking.evidence import Evidence
from episodic_agent.core.linking.policies import LinkPolicy, link_policy

LINK: Final = "LINK"
NO_LINK: Final = "DON'T_LINK"
HIGH: Final = "HIGH"
UNCERTAIN: Final = "UNCERTAIN"
CLOSE: Final = 0.05  # to the threshold: without a second judge the verdict is uncertain
_RELATED, _CONFIDENCE = "llm_related", "llm_confidence"


@dataclass(frozen=True, slots=True)
class Opinion:
    """A language model's checked answer about one candidate; confidence in its own answer, in [0, 1]."""

    related: bool
    confidence: float
    reasoning: str = ""
    key_signals: tuple[str, ...] = ()

    @property
    def probability(self) -> float:
        """Return the probability that the threads are related.

        >>> Opinion(related=False, confidence=0.88).probability
        0.12
        """
        return self.confidence if self.related else round(1.0 - self.confidence, 12)


@dataclass(frozen=True, slots=True)
class LinkVerdict:
    """Whether a candidate is linked, how sure that is, and everything it was concluded from.

    `confidence` is that of the verdict taken. `disagreement` says that the two judges did not agree.
    """

    thread_id: str
    link: bool
    label: str
    confidence: float
    disagreement: bool
    algorithmic: float
    threshold: float
    policy: str
    features: Mapping[str, float]
    opinion: Opinion | None = None

    @property
    def verdict(self) -> str:
        """Return the word a decision keeps."""
        return LINK if self.link else NO_LINK

    def recorded(self) -> dict[str, float]:
        """Return the flat numbers a decision keeps, from which `recomputed` gives this verdict again."""
        said = self.opinion
        spoken = {} if said is None else {_RELATED: float(said.related), _CONFIDENCE: said.confidence}
        return {**self.features, **spoken}


def decide(evidence: Evidence, policy: LinkPolicy, opinion: Opinion | None = None) -> LinkVerdict:
    """Return the verdict on a candidate: both agree, or the more confident wins, ties to the language model.

    Without an opinion the algorithm decides alone, uncertain within .05 of its threshold.

    >>> found = decide(Evidence("a", {}, 0.72), link_policy("seed-002"), Opinion(False, 0.65))
    >>> found.verdict, found.label, found.disagreement
    ('LINK', 'UNCERTAIN', True)
    """
    score, threshold = evidence.score, policy.threshold
    own = score > threshold
    confidence = score if own else 1.0 - score
    link, label, differ = own, HIGH, False
    if opinion is None:
        label = UNCERTAIN if round(abs(score - threshold), 9) < CLOSE else HIGH
    elif opinion.related != own:
        differ, label = True, UNCERTAIN
        if round(opinion.confidence, 9) >= round(confidence, 9):
            link, confidence = opinion.related, opinion.confidence
    else:
        confidence = max(confidence, opinion.confidence)
    return LinkVerdict(
        evidence.thread_id, link, label, confidence, differ, score, threshold, policy.name,
        dict(evidence.features), opinion,
    )  # fmt: skip


def recomputed(thread_id: str, policy: str, recorded: Mapping[str, float]) -> LinkVerdict:
    """Return the verdict again from a decision's policy version and numbers alone (I6).

    >>> first = decide(Evidence("a", {"recency": 1.0}, 0.2), link_policy("seed-002"), Opinion(True, 0.9))
    >>> recomputed("a", first.policy, first.recorded()).link
    True
    """
    features = {name: value for name, value in recorded.items() if name not in (_RELATED, _CONFIDENCE)}
    chosen = link_policy(policy)
    spoken = None
    if _CONFIDENCE in recorded:
        spoken = Opinion(bool(recorded[_RELATED]), recorded[_CONFIDENCE])
    return decide(Evidence(thread_id, features, chosen.score(features)), chosen, spoken)

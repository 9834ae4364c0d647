"""What two judges say together: the algorithm's score, a language model's opinion (seed 002, section 2.3)."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from episodic_agent.core.links.evidence import LinkEvidence
from episodic_agent.core.links.policies import CLOSE, LinkPolicy, link_policy

LINK: Final = "LINK"
NO_LINK: Final = "DON'T_LINK"
HIGH: Final = "HIGH"
UNCERTAIN: Final = "UNCERTAIN"
_RELATED, _CONFIDENCE = "llm_related", "llm_confidence"
_RIVAL, _YIELDS = "rival", "yields"
SETTLES: Final = "llm_settles"  # of a choice that a language model made: the algorithm adds nothing to it
SURE: Final = 0.75  # a model's confidence that needs no second look


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

    `confidence` is that of the verdict taken. `disagreement` says that the two judges did not agree. `rival`
    is the support of the best other candidate that would have been linked, None where there was none; one
    that `yields` is not linked because another candidate of the message is better. `settled` says that a
    language model chose among all candidates: what it did not choose is not linked, seen or not.
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
    rival: float | None = None
    yields: bool = False
    settled: bool = False

    @property
    def verdict(self) -> str:
        """Return the word a decision keeps."""
        return LINK if self.link else NO_LINK

    @property
    def support(self) -> float:
        """Return the probability by which candidates of one message compete: the mean of those who judged."""
        opinion = self.opinion
        return self.algorithmic if opinion is None else (self.algorithmic + opinion.probability) / 2.0

    def recorded(self) -> dict[str, float]:
        """Return the flat numbers a decision keeps, from which `recomputed` gives this verdict again."""
        opinion = self.opinion
        spoken = (
            {} if opinion is None else {_RELATED: float(opinion.related), _CONFIDENCE: opinion.confidence}
        )
        rival = {} if self.rival is None else {_RIVAL: self.rival, _YIELDS: float(self.yields)}
        settled = {SETTLES: 1.0} if self.settled else {}
        return {**self.features, **spoken, **rival, **settled}


def settled(evidence: LinkEvidence, policy: LinkPolicy, opinion: Opinion | None) -> LinkVerdict:
    """Return the verdict on a candidate of a choice that a language model made; None: it was not shown it.

    Linked is what the model chose, unless it believes the opposite more. Sure is a verdict that the model is
    sure of, or that the algorithm clearly shares.

    >>> policy, likely = link_policy("default"), LinkEvidence("a", {"none_few": 0.0}, 0.9)
    >>> verdicts = [settled(likely, policy, one) for one in (Opinion(False, 0.8), Opinion(True, 0.6), None)]
    >>> [(one.verdict, one.label) for one in verdicts]
    [("DON'T_LINK", 'HIGH'), ('LINK', 'HIGH'), ("DON'T_LINK", 'UNCERTAIN')]
    """
    score, threshold = evidence.score, policy.limit(evidence.features)
    own = score > threshold
    link = opinion is not None and opinion.related and opinion.confidence >= 0.5
    confidence = 1.0 - score if opinion is None else max(opinion.confidence, 1.0 - opinion.confidence)
    shared = link == own and not policy.unsure(score, evidence.features)
    sure = shared or (opinion is not None and opinion.confidence >= SURE)
    differ = opinion is not None and opinion.related != own
    return LinkVerdict(
        evidence.thread_id, link, HIGH if sure else UNCERTAIN, confidence, differ, score, threshold,
        policy.name, dict(evidence.features), opinion, settled=True,
    )  # fmt: skip


def decide(evidence: LinkEvidence, policy: LinkPolicy, opinion: Opinion | None = None) -> LinkVerdict:
    """Return the verdict on a candidate: both agree, or the more confident wins, ties to the language model.

    Without an opinion the algorithm decides alone, uncertain where its policy is: mostly within .05 of its
    threshold.

    >>> found = decide(LinkEvidence("a", {}, 0.72), link_policy("seed-002"), Opinion(False, 0.65))
    >>> found.verdict, found.label, found.disagreement
    ('LINK', 'UNCERTAIN', True)
    """
    score, threshold = evidence.score, policy.limit(evidence.features)
    own = score > threshold
    confidence = score if own else 1.0 - score
    link, label, differ = own, HIGH, False
    if opinion is None:
        label = UNCERTAIN if policy.unsure(score, evidence.features) else HIGH
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

    >>> first = decide(LinkEvidence("a", {"recency": 1.0}, 0.2), link_policy("seed-002"), Opinion(True, 0.9))
    >>> recomputed("a", first.policy, first.recorded()).link
    True
    """
    added = (_RELATED, _CONFIDENCE, _RIVAL, _YIELDS, SETTLES)
    features = {name: value for name, value in recorded.items() if name not in added}
    chosen = link_policy(policy)
    spoken = None
    if _CONFIDENCE in recorded:
        spoken = Opinion(bool(recorded[_RELATED]), recorded[_CONFIDENCE])
    evidence = LinkEvidence(thread_id, features, chosen.score(features))
    if recorded.get(SETTLES):
        return settled(evidence, chosen, spoken)
    alone = decide(evidence, chosen, spoken)
    if _RIVAL not in recorded or not alone.link or not chosen.competes:
        return alone
    return _beside(alone, recorded[_RIVAL], yields=bool(recorded.get(_YIELDS)))


def compete(
    verdicts: Sequence[LinkVerdict], most: int | None, apart: Collection[str] = ()
) -> list[LinkVerdict]:
    """Let the candidates of one message compete: the best of those that would be linked is, the others yield.

    `verdicts` come best first, as `judge` orders them, and stay in that order; a tie goes to the first.
    `most` is how many threads the message may speak of: one, or as many as "both cities" or "the two" mean
    (None: any number); where the best one has what is meant, only such as have it too. `apart` names threads
    that can be linked to nothing any more: they neither win nor yield. Where a rival is within .05 the
    verdict is UNCERTAIN. A policy that lets candidates stand side by side, as seed 002, is left alone, and so
    is what a language model settled.

    >>> policy = link_policy("link-2026-12")
    >>> sure, less = (decide(LinkEvidence(name, {}, score), policy) for name, score in (("a", .9), ("b", .8)))
    >>> [(v.thread_id, v.verdict, v.rival) for v in compete([sure, less], 1)]
    [('a', 'LINK', 0.8), ('b', "DON'T_LINK", 0.9)]
    """
    linked = [v for v in verdicts if v.link and not v.settled and v.thread_id not in apart]
    rivals = [v for v in linked if link_policy(v.policy).competes]
    if len(rivals) < 2:
        return list(verdicts)
    ranked = sorted(rivals, key=lambda v: -v.support)
    fitting = [v for v in ranked if v.features.get("sets", 0.0) > 0.0]
    together = (fitting if ranked[0] in fitting else ranked)[:most]
    names = {v.thread_id for v in together}
    best, next_best = ranked[0].support, next((v.support for v in ranked if v.thread_id not in names), None)
    settled = {}
    for verdict in rivals:
        rival = next_best if verdict.thread_id in names else best
        if rival is not None:
            settled[verdict.thread_id] = _beside(verdict, rival, yields=verdict.thread_id not in names)
    return [settled.get(v.thread_id, v) for v in verdicts]


def _beside(alone: LinkVerdict, rival: float, *, yields: bool) -> LinkVerdict:
    """Return what a verdict to link becomes beside the best other candidate.

    One that is better than its rival does not yield, whatever is said of it: who computes it again sees that.
    """
    close = round(abs(alone.support - rival), 9) < CLOSE
    if not yields or alone.support > rival:
        label = UNCERTAIN if close else alone.label
        return replace(alone, label=label, rival=rival)
    label, confidence = UNCERTAIN if close else HIGH, 1.0 - alone.confidence
    return replace(alone, link=False, label=label, confidence=confidence, rival=rival, yields=True)

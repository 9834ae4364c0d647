"""Which episode a session goes on from: when it opens, for good when it closes, and by whose word.

A verdict keeps what it was concluded from, so that it can be computed again from the record alone (I6).
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final
from uuid import UUID

from episodic_agent.core.calibration import Calibration
from episodic_agent.core.chains.evidence import judge
from episodic_agent.core.chains.policies import ChainPolicy, Stage, chain_policy
from episodic_agent.core.chains.records import ChainEvidence, EpisodeView
from episodic_agent.core.chains.trees import roots
from episodic_agent.core.identity import decision_id
from episodic_agent.core.threads.channels import are_apart
from episodic_agent.errors import InvalidInput
from episodic_agent.schemas import Decision, Json
from episodic_agent.schemas.chains import Refusal

DECISION: Final = "chain"
CHAIN: Final = "CHAIN"
NO_CHAIN: Final = "DON'T_CHAIN"
HIGH, UNCERTAIN = "HIGH", "UNCERTAIN"
AUTO, EXPLICIT, HAND, ROLL = "auto", "explicit", "hand", "roll"
METHODS: Final = (AUTO, EXPLICIT, HAND, ROLL)
CLOSE: Final = 0.05  # to the threshold: the verdict is uncertain
MOST_ALTERNATIVES: Final = 5
RECENT: Final = 50  # candidates to read for an episode: the latest closed ones,
SIMILAR: Final = 10  # and the best hits of its topic or summary over all time; each with its ancestors
_AT_CLOSE, _PROVISIONAL = "at_close", "provisional"


@dataclass(frozen=True, slots=True)
class ChainVerdict:
    """Whether an episode goes on from a candidate, and everything that was concluded from.

    `method` is `auto` (a policy), `explicit` (the caller named it), `hand` (linked later) or `roll` (a part
    that began because of size, age or compaction).
    """

    parent: UUID
    link: bool
    stage: Stage
    provisional: bool
    score: float
    threshold: float
    policy: str
    features: Mapping[str, float]
    method: str = AUTO

    @property
    def verdict(self) -> str:
        """Return the word a decision keeps."""
        return CHAIN if self.link else NO_CHAIN

    @property
    def label(self) -> str:
        """Return HIGH, or UNCERTAIN within .05 of the threshold."""
        return UNCERTAIN if round(abs(self.score - self.threshold), 9) < CLOSE else HIGH

    def recorded(self) -> dict[str, float]:
        """Return the flat numbers a decision keeps, from which `recomputed` gives this verdict again."""
        stage = {_AT_CLOSE: float(self.stage == "close"), _PROVISIONAL: float(self.provisional)}
        return {**self.features, **stage}


@dataclass(frozen=True, slots=True)
class ChainChoice:
    """What chaining concluded for one episode.

    `parent` is the verdict that links, None where nothing does. `verdicts` are those on every candidate,
    best first. `related` are episodes of other chains that would have done as well: undirected links.
    """

    parent: ChainVerdict | None
    verdicts: tuple[ChainVerdict, ...] = ()
    related: tuple[UUID, ...] = ()


def eligible(
    new: EpisodeView, candidates: Sequence[EpisodeView], refusals: Collection[Refusal] = ()
) -> tuple[EpisodeView, ...]:
    """Return who may be the parent of an episode: closed before it began, of one user, agent and project.

    What declares no project may go on from any, and anything from it.

    Trivial and abandoned episodes are left out, the chain of what was refused, and what goes on from this
    one. Windows are the policies' business.
    """
    root = roots({c.id: c.parent for c in candidates})
    # a chain's other members would be proposed in the place of the one that was refused
    refused = {root.get(one.parent, one.parent) for one in refusals if one.child == new.id}
    parents = {c.id: c.parent for c in candidates} | {new.id: new.parent}
    below = {c.id for c in candidates if new.id in _above(c.id, parents)}
    return tuple(
        c
        for c in candidates
        if c.closed
        and (c.user_id, c.agent_id) == (new.user_id, new.agent_id)
        and not are_apart(c.projects, new.projects)
        and c.end_at <= new.start_at
        and not (c.trivial or c.abandoned)
        and c.id != new.id
        and root[c.id] not in refused
        and c.id not in below
    )


def _above(episode_id: UUID, parents: Mapping[UUID, UUID | None]) -> set[UUID]:
    identifiers: set[UUID] = set()
    here = parents.get(episode_id)
    while here is not None and here not in identifiers:
        identifiers.add(here)
        here = parents.get(here)
    return identifiers


def decide(
    new: EpisodeView,
    candidates: Sequence[EpisodeView],
    policy: ChainPolicy,
    *,
    stage: Stage,
    provisional: UUID | None = None,
    refusals: Collection[Refusal] = (),
    calibration: Calibration | None = None,
) -> ChainChoice:
    """Choose an episode's parent among candidates, when it opens or when it closes.

    `candidates` come in any order; chains are read from their `parent`s, so give the ancestors of each where
    they are known. `provisional` is the parent chosen when it opened: at close it stays where it is
    confirmed, whoever else scores higher. A trivial episode goes on from nothing.
    """
    if new.trivial and stage == "close":
        return ChainChoice(None)
    parents = {c.id: c.parent for c in candidates}
    allowed = eligible(new, candidates, refusals)
    evidence = judge(new, allowed, policy, parents=parents, calibration=calibration)
    reached = [one for one in evidence if policy.reaches(one.features)]
    if stage == "close" and provisional is not None and provisional not in {e.episode_id for e in reached}:
        provisional = None
    considered = reached if policy.most is None else _first(reached, policy.most, provisional)
    verdicts = tuple(_verdict(e, policy, stage, e.episode_id == provisional) for e in considered)
    linked = [one for one in verdicts if one.link]
    if not linked:
        return ChainChoice(None, verdicts)
    stored_verdicts = [one for one in linked if stage == "close" and one.provisional]
    parent = (stored_verdicts or linked)[0]
    return ChainChoice(parent, verdicts, _related(parent, linked, candidates))


def _first(evidence: Sequence[ChainEvidence], most: int, provisional: UUID | None) -> list[ChainEvidence]:
    first = list(evidence[:most])
    return first + [e for e in evidence[most:] if e.episode_id == provisional]


def _verdict(evidence: ChainEvidence, policy: ChainPolicy, stage: Stage, provisional: bool) -> ChainVerdict:
    return ChainVerdict(
        parent=evidence.episode_id,
        link=policy.links(evidence.features, stage, provisional=provisional),
        stage=stage,
        provisional=provisional,
        score=evidence.score,
        threshold=policy.threshold,
        policy=policy.name,
        features=dict(evidence.features),
    )


def _related(
    parent: ChainVerdict, linked: Sequence[ChainVerdict], candidates: Sequence[EpisodeView]
) -> tuple[UUID, ...]:
    """Return the best episode of each other chain that would have been linked too."""
    root = roots({c.id: c.parent for c in candidates})
    best: dict[UUID, UUID] = {}
    for verdict in linked:
        best.setdefault(root[verdict.parent], verdict.parent)
    best.pop(root[parent.parent], None)
    return tuple(best.values())


def unjudged_verdict(parent: UUID, method: str, stage: Stage = "open") -> ChainVerdict:
    """Return the verdict of a link that was not judged: `explicit`, by `hand`, or a part's `roll`.

    >>> unjudged_verdict(UUID(int=1), "roll").verdict
    'CHAIN'
    """
    if method not in METHODS[1:]:
        raise InvalidInput(f"no method {method!r}; use one of {', '.join(METHODS[1:])}")
    return ChainVerdict(parent, True, stage, False, 1.0, 0.0, method, {}, method)


def recomputed(parent: UUID, policy: str, recorded: Mapping[str, float]) -> ChainVerdict:
    """Return a verdict again from a decision's policy version and numbers alone (I6).

    Raises InvalidInput for a policy that is not known.

    >>> numbers = {"raw": 0.9, "hours": 2.0, "at_close": 0.0, "provisional": 0.0}
    >>> recomputed(UUID(int=1), "seed-004", numbers).link
    True
    """
    stage: Stage = "close" if recorded.get(_AT_CLOSE) else "open"
    if policy in METHODS[1:]:
        return unjudged_verdict(parent, policy, stage)
    features = {name: value for name, value in recorded.items() if name not in (_AT_CLOSE, _PROVISIONAL)}
    chosen = chain_policy(policy)
    evidence = ChainEvidence(parent, features, chosen.score(features))
    return _verdict(evidence, chosen, stage, bool(recorded.get(_PROVISIONAL)))


def decision_of(child: UUID, choice: ChainChoice, at: datetime, stage: Stage) -> Decision | None:
    """Return the record of a choice: of the link made, else of the best candidate that was turned down.

    None where nothing was considered. `at` is record time; one record for each episode and stage.
    """
    verdict = choice.parent or next(iter(choice.verdicts), None)
    if verdict is None:
        return None
    others: list[Mapping[str, Json]] = [
        {"episode": str(v.parent), "score": round(v.score, 6)} for v in choice.verdicts if v is not verdict
    ]
    return Decision(
        id=decision_id(child, f"{DECISION}:{stage}"),
        type=DECISION,
        at=at,
        subject=child,
        features=verdict.recorded(),
        score=verdict.score,
        threshold=verdict.threshold,
        verdict=verdict.verdict,
        policy_version=verdict.policy,
        confidence_label=verdict.label,
        alternatives=others[:MOST_ALTERNATIVES],
        detail={"candidate": str(verdict.parent), "stage": stage, "method": verdict.method},
    )


def follows(decision: Decision) -> bool:
    """Say whether a chain decision's verdict follows from what it recorded; the check of `doctor` (I6).

    Raises InvalidInput where it names an unknown policy, or no candidate.
    """
    candidate = decision.detail.get("candidate")
    if not isinstance(candidate, str):
        raise InvalidInput(f"the chain decision {decision.id} names no candidate; make the link again")
    again = recomputed(UUID(candidate), decision.policy_version, decision.features)
    return (again.verdict, again.label) == (decision.verdict, decision.confidence_label)

"""Decisions about links as the linking job leaves them, with and without an outcome."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from uuid import UUID, uuid5

from episodic_agent.core.links.policies import link_policy
from episodic_agent.engine.memory import Memory
from episodic_agent.schemas import Decision, Json, Scope

NAMES = UUID(int=40)
NOBODYS = UUID(int=0)
DAY = datetime(2024, 5, 30, tzinfo=UTC)


def link_decision(
    name: str,
    score: float,
    *,
    policy: str = "seed-002",
    at: datetime = DAY,
    features: Mapping[str, float] | None = None,
    thread: UUID = NOBODYS,
    candidate: UUID = NOBODYS,
    message: UUID = NOBODYS,
    related: bool | None = None,
) -> Decision:
    """Make the decision that the linking job would leave; `related` is the language model's opinion."""
    chosen = link_policy(policy)
    llm: Json = None if related is None else {"related": related, "confidence": 0.6, "reasoning": "because"}
    return Decision(
        id=uuid5(NAMES, name),
        type="link",
        at=at,
        subject=thread,
        features={"keyword": score, "recency": score, **(features or {})},  # weighted: the score itself
        score=score,
        threshold=chosen.threshold,
        verdict="LINK" if score > chosen.threshold else "DON'T_LINK",
        policy_version=chosen.name,
        detail={"candidate": str(candidate), "observation": str(message), "why": ["active"], "llm": llm},
    )


def known(decision: Decision, truth: bool, strength: float = 1.0) -> Decision:
    """Return a decision with the outcome it has where linking was right (`truth`) or wrong."""
    outcome = "CORRECT" if (decision.verdict == "LINK") == truth else "INCORRECT"
    how: Json = {"strength": strength, "by": "words", "turn": None, "why": ""}
    return replace(decision, outcome=outcome, detail={**decision.detail, "outcome": how})


def decide(memory: Memory, decisions: Iterable[Decision], scope: Scope | None = None) -> None:
    """Write decisions as a job does."""
    with memory._deps.store.begin(scope or Scope()) as tx:
        for decision in decisions:
            tx.knowledge.decide(decision)


def between_70_and_72(*, policy: str = "seed-002") -> list[Decision]:
    """Twenty right links, eighty right refusals, and seven wrong links between .70 and .72."""
    scores = [
        *((0.75 + n / 100, True) for n in range(20)),
        *((0.2 + n / 200, False) for n in range(80)),
        *((0.702 + n * 0.0025, False) for n in range(7)),
    ]
    return [
        known(link_decision(f"fixture-{n}", score, policy=policy, at=DAY + timedelta(minutes=n)), truth)
        for n, (score, truth) in enumerate(scores)
    ]


def the_documents_example(*, policy: str = "seed-002") -> list[Decision]:
    """A hundred links and a hundred refusals: 8 false alarms, of which .72 ends 3, and 2 misses, then 3.

    The errors are known by words, most of what was right by behaviour alone, as is a link that .72 loses.
    """
    sure = [(0.712, False), (0.714, False), (0.716, False), *[(0.8, False)] * 5, *[(0.6, True)] * 2]
    right = [*[(0.3, False)] * 92, *[(0.9, True)] * 97]
    words = [(score, truth, 1.0) for score, truth in (*sure, *right[:20], *right[-20:])]
    behaviour = [(score, truth, 0.5) for score, truth in ((0.715, True), *right[20:-20])]
    return [
        known(
            link_decision(f"example-{n}", score, policy=policy, at=DAY + timedelta(minutes=n)),
            truth,
            strength,
        )
        for n, (score, truth, strength) in enumerate([*words, *behaviour])
    ]

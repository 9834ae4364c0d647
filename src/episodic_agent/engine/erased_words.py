"""Take words out of the records of verdicts when what they were about is erased; their numbers stay (I6)."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Final
from uuid import UUID

from episodic_agent.core.interfaces import Transaction
from episodic_agent.engine.generations import ERASED, RESEGMENT, without_history
from episodic_agent.engine.outcomes import OUTCOME
from episodic_agent.engine.reviewing import REVIEW
from episodic_agent.engine.tuning import LINK
from episodic_agent.schemas import Decision, Episode, Json

# What a boundary's record keeps: where it fell and what was counted, not what was there.
PLAIN: Final = (
    "before_seq",
    "decided_at_seq",
    "edge",
    "surprise",
    "input",
    "mode",
    "size",
    "max_length",
    "action",
)
_REASONING: Final = ("reasoning", "failure")


def forget_verdict(tx: Transaction, episode: Episode) -> None:
    """Take out of an episode's records what they say beside numbers."""
    decision = tx.episodes.decision(episode.decision_id) if episode.decision_id else None
    if decision is not None:
        plain = {name: value for name, value in decision.detail.items() if name in PLAIN}
        _keep(tx, decision, plain)
    for review in tx.episodes.decisions(subject=episode.id, type=REVIEW):
        _keep(tx, review, {**review.detail, "why": ""})


def forget_pass(tx: Transaction, thread_id: UUID) -> None:
    """Take the frames and check records of before out of a thread's resegmentations: none can be undone."""
    for decision in tx.episodes.decisions(subject=thread_id, type=RESEGMENT):
        _keep(tx, decision, {**without_history(decision).detail, ERASED: True})


def forget_asked(tx: Transaction, thread_id: UUID) -> None:
    """Let recalls of a thread that wait to be judged go: their queries are what was said there."""
    tx.reviews.settle(list(tx.reviews.pending(thread_id)))


def forget_history(tx: Transaction, threads: Iterable[UUID], *, gone: bool = False) -> None:
    """Take queries of threads, and what a model said of them, out of the records of reviews and links.

    All records of both kinds are read: once for an erasure. `gone` tells that the threads themselves go: then
    no record names them any more.
    """
    names = set(map(str, threads))
    for review in tx.episodes.decisions(type=REVIEW):
        if str(review.detail.get("thread")) in names:
            blank = {**review.detail, "query": "", "why": ""}
            _keep(tx, review, {**blank, "thread": ""} if gone else blank)
    for decision in tx.episodes.decisions(type=LINK):
        about = not names.isdisjoint((str(decision.subject), str(decision.detail.get("candidate"))))
        if about and gone:
            tx.episodes.revoke(decision.id)
        elif about:
            _keep(tx, decision, _silent(decision.detail))
        elif gone and any(str(one.get("candidate")) in names for one in decision.alternatives):
            others = tuple(one for one in decision.alternatives if str(one.get("candidate")) not in names)
            tx.episodes.amend(replace(decision, alternatives=others))


def _silent(detail: Mapping[str, Json]) -> Mapping[str, Json]:
    """Return a linking decision's detail without what a model, or a listener, said in words."""
    said, told = detail.get("llm"), detail.get(OUTCOME)
    changed: dict[str, Json] = {}
    if isinstance(said, Mapping):
        changed["llm"] = {k: "" if k in _REASONING else v for k, v in said.items()}
    if isinstance(told, Mapping):
        changed[OUTCOME] = {**told, "why": ""}
    return {**detail, **changed}


def _keep(tx: Transaction, decision: Decision, detail: Mapping[str, Json]) -> None:
    if detail != decision.detail:
        tx.episodes.amend(replace(decision, detail=detail))

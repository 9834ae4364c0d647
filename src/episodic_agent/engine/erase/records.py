"""Take words out of the records of verdicts when what they were about is erased; their numbers stay (I6)."""

from bisect import bisect_left, bisect_right
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Final
from uuid import UUID

from episodic_agent.core.erasing import Quotable
from episodic_agent.core.language import tokens
from episodic_agent.engine.boundary.generations import ERASED, RESEGMENT, without_history
from episodic_agent.engine.jobs.kinds import LINK, OUTCOME, REVIEW
from episodic_agent.engine.sections.faults import with_ends
from episodic_agent.protocols import Transaction, split_ref, stored_decision
from episodic_agent.schemas import Decision, Episode, Json

PAGE: Final = 1024
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


def erase_verdict(tx: Transaction, episode: Episode) -> None:
    """Take out of an episode's records what they say beside numbers."""
    decision = stored_decision(tx, episode.decision_id)
    if decision is not None:
        plain = {name: value for name, value in decision.detail.items() if name in PLAIN}
        _keep(tx, decision, plain)
    for review in tx.knowledge.decisions(subject=episode.id, type=REVIEW):
        _keep(tx, review, {**review.detail, "why": ""})


def erase_pass(tx: Transaction, thread_id: UUID) -> None:
    """Take the frames and check records of before out of a thread's resegmentations: none can be undone."""
    for decision in tx.knowledge.decisions(subject=thread_id, type=RESEGMENT):
        _keep(tx, decision, {**without_history(decision).detail, ERASED: True})


@dataclass(frozen=True, slots=True)
class Goes:
    """What an erasure takes away, for records that say something of it: episodes and the texts' terms."""

    episodes: frozenset[UUID]
    texts: Quotable
    language: str | None = None

    def appears_in(self, query: str, episodes: Iterable[UUID]) -> bool:
        """Tell whether a recall rests on what goes: on an episode it showed, or in words of its query."""
        return not self.episodes.isdisjoint(episodes) or self.texts.quoted_in(tokens(query, self.language))


def what_goes(tx: Transaction, refs: Sequence[int], language: str | None) -> Goes:
    """Read what records may say of observations that go; to be called while they can still be read."""
    texts: list[list[str]] = []
    for start in range(0, len(refs), PAGE):
        texts += [tokens(o.text, language) for o in tx.observations.get(refs[start : start + PAGE]).values()]
    episodes = episodes_of(tx, refs)
    for number, group in groupby(sorted(refs), key=lambda ref: split_ref(ref)[0]):
        seqs = [split_ref(ref)[1] for ref in group]
        for thread in tx.threads.by_numbers([number]).values():
            episodes.update(tx.threads.joined([thread]).values())
            sections = tx.threads.sections(thread)
            for section, last in with_ends(sections, tx.threads.frame(thread).next_seq) if sections else []:
                if bisect_left(seqs, section.first_seq) < bisect_right(seqs, last):
                    episodes.add(section.episode_id)
    return Goes(frozenset(episodes), Quotable(texts), language)


def episodes_of(tx: Transaction, refs: Sequence[int]) -> set[UUID]:
    """Return the episodes these observations lie in, replaced ones too."""
    spans = [(ref, ref) for ref in refs]
    covers = (*tx.index.covers(spans), *tx.index.covers(spans, replaced=True))
    return {UUID(hex=cover.name) for cover in covers}


def erase_asked(tx: Transaction, threads: Collection[UUID], goes: Goes) -> None:
    """Let recalls that wait to be judged go: those of threads, and those that rest on what goes."""
    waiting = tx.upkeep.reviews()
    gone = [one for one in waiting if one.thread_id in threads or goes.appears_in(one.query, one.shown)]
    tx.upkeep.drop(*gone)


def erase_history(tx: Transaction, threads: Iterable[UUID], goes: Goes, *, gone: bool = False) -> None:
    """Take queries of threads, and what a model said of them, out of the records of reviews and links.

    Queries of other threads go where they rest on what goes. All records of both kinds are read: once for an
    erasure. `gone` tells that the threads themselves go: then no record names them any more.
    """
    names = set(map(str, threads))
    for review in tx.knowledge.decisions(type=REVIEW):
        query, asking = str(review.detail.get("query", "")), str(review.detail.get("thread")) in names
        if asking or goes.appears_in(query, [review.subject]):
            blank = {**review.detail, "query": "", "why": ""}
            _keep(tx, review, {**blank, "thread": ""} if gone and asking else blank)
    for decision in tx.knowledge.decisions(type=LINK):
        about = not names.isdisjoint((str(decision.subject), str(decision.detail.get("candidate"))))
        if about and gone:
            tx.knowledge.revoke(decision.id)
            continue
        # one answer of a model judges all candidates: what it says of one may tell of another
        others = tuple(one for one in decision.alternatives if str(one.get("candidate")) not in names)
        beside = len(others) < len(decision.alternatives)
        stored_decision = _keep(tx, decision, _silent(decision.detail)) if about or beside else decision
        if beside and gone:
            tx.knowledge.decide(replace(stored_decision, alternatives=others), amend=True)


def _silent(detail: Mapping[str, Json]) -> Mapping[str, Json]:
    """Return a linking decision's detail without what a model, or a listener, said in words."""
    statement, answer = detail.get("llm"), detail.get(OUTCOME)
    changed: dict[str, Json] = {}
    if isinstance(statement, Mapping):
        changed["llm"] = {k: "" if k in _REASONING else v for k, v in statement.items()}
    if isinstance(answer, Mapping):
        changed[OUTCOME] = {**answer, "why": ""}
    return {**detail, **changed}


def _keep(tx: Transaction, decision: Decision, detail: Mapping[str, Json]) -> Decision:
    """Write a decision with another detail, where it is another; return it."""
    if detail == decision.detail:
        return decision
    changed = replace(decision, detail=detail)
    tx.knowledge.decide(changed, amend=True)
    return changed

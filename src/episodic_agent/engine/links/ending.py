"""The second judgement of a thread's links, when it is over: one choice, from all that was said in it.

What opens a thread often says little. When it ends, a `link_end` job asks the same policy again, adds the
link that was missed, and takes back what the algorithm alone had linked and is clearly unlikely by now. What
a person linked, the user recalled, or a language model agreed to stays.

Where a language model chose as the thread began, what it said stands: the algorithm links nothing it refused
or was not shown. It is asked once more only where it is not sure of a link yet and a candidate that is not
clearly unlikely was not shown to it, or not refused for sure.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from uuid import UUID

import numpy as np

from episodic_agent.core.echo import all_own_words
from episodic_agent.core.links.choice import Talk, choose
from episodic_agent.core.links.evidence import LinkEvidence
from episodic_agent.core.links.policies import ChoicePolicy
from episodic_agent.core.links.verdict import SURE, UNCERTAIN, LinkVerdict, Opinion, compete
from episodic_agent.core.prompts.thread_link import LAST_TURNS, STAGE
from episodic_agent.core.threads.channels import projects_of
from episodic_agent.core.threads.turns import opens_turn
from episodic_agent.engine.deps import NO_LINKING, Deps
from episodic_agent.engine.jobs.kinds import LINK
from episodic_agent.engine.links.candidates import (
    LONGEST,
    CandidateThread,
    EarlierThreads,
    around,
    judged_through,
)
from episodic_agent.engine.links.job import (
    BEST,
    CONTINUITY,
    Linker,
    Options,
    decision_of,
    verdicts_of,
)
from episodic_agent.engine.links.joining import HAND, MATTER, other_end, settle
from episodic_agent.engine.links.linked import RECALL, holds
from episodic_agent.engine.links.opinions import LinkQuestion, OpinionAnswer, opinions_of
from episodic_agent.engine.tuning.runs import policy_in_force
from episodic_agent.protocols import Transaction, stored_decision
from episodic_agent.schemas import Decision, Job, Json, Link, Observation, Scope, Thread, Vector


@dataclass(frozen=True, slots=True)
class _EndCase:
    """A thread that is over, with everything its judgement needs.

    `first` tells that it is the first of its sitting: only it is linked, the others of the sitting are looked
    at for links that turned out wrong. `none` is the share of "none of them". `named` has for each
    thread that is compared the one that stands for its sitting, `together` for each of these those in one
    cross-thread episode with it. `opinions` are what a model said while the thread began, `question` what it
    is to be asked now, if anything, and `answer` what it said to that.
    """

    thread: Thread
    through: int
    first: bool
    policy: ChoicePolicy
    talk: Talk
    candidates: Sequence[CandidateThread]
    evidence: Sequence[LinkEvidence]
    apart: frozenset[str]
    none: float
    named: Mapping[UUID, UUID]
    together: Mapping[str, frozenset[str]]
    without_vectors: str
    opinions: Mapping[str, Opinion]
    question: LinkQuestion | None = None
    answer: OpinionAnswer | None = None

    @property
    def verdicts(self) -> Sequence[LinkVerdict]:
        """Return the verdict on each candidate, best first."""
        fresh = {} if self.answer is None else self.answer.opinions
        alone = verdicts_of(self.evidence, self.policy, {**self.opinions, **fresh})
        return compete(alone, self.talk.opening.most, self.apart)

    def matter(self, candidate: str) -> float:
        """Return the share of a candidate with all that it is an episode with: that of its matter."""
        together = self.together.get(candidate, frozenset((candidate,)))
        return sum(one.score for one in self.evidence if one.thread_id in together)


class Ender:
    """The handler of `link_end` jobs."""

    def __init__(self, deps: Deps, linker: Linker) -> None:
        """Take the linker for its candidates: both moments compare the same."""
        self._deps = deps
        self._linker = linker

    def handle(self, scope: Scope, jobs: Sequence[Job]) -> None:
        """Judge each thread; one that was judged as it is, or has nothing before it, only ends its job."""
        model = None if self._deps.link_policy == NO_LINKING else self._deps.model_for(scope, STAGE)
        for job in jobs:
            with self._deps.store.begin(scope, write=False) as tx:
                case = self._read(tx, UUID(job.key), asks=model is not None)
            if model is not None and case is not None and case.question is not None:
                case = replace(case, answer=self._linker.asked(model, case.question))
            with self._deps.store.begin(scope) as tx:
                tx.hold("threads")
                if case is not None:
                    self._write(tx, case, self._deps.clock())
                tx.upkeep.drop(job)

    def _read(self, tx: Transaction, identity: UUID, *, asks: bool) -> _EndCase | None:
        thread = tx.threads.get(identity)
        if thread is None or thread.modality != "message" or self._deps.link_policy == NO_LINKING:
            return None
        policy = policy_in_force(tx, self._deps.link_policy)
        through = tx.threads.frame(identity).next_seq - 1
        if not isinstance(policy, ChoicePolicy) or through < 0 or judged_through(tx, identity) == through:
            return None
        group = around(tx, thread)
        talk = self._linker.talk(tx, group)
        if talk is None:
            return None
        query = EarlierThreads(
            text=self._asked(tx, group),
            at=talk.last_at,
            vector=_centre(talk),
            began=group[0].created_at,
            number=tx.threads.number(group[0].id),
            apart_from=frozenset(t.id for t in group),
            projects=projects_of(name for t in group for name in t.channels),
        )
        links = tx.threads.links([identity], taken_back=True)
        apart = frozenset(str(other_end(link, identity)) for link in links if link.unlinked_at is not None)
        linked = [other_end(link, identity) for link in links if link.unlinked_at is None]
        options = self._linker.options(tx, query, also=linked, but=apart)
        calibration = self._deps.calibration
        evidence = choose(talk, options.talks, policy, at_end=True, calibration=calibration)
        if not evidence:
            return None
        opinions = _opinions(tx, identity, options)
        question = None
        if asks and group[0].id == identity and _is_open(evidence, opinions, policy):
            question = self._linker.to_ask_at_end(tx, talk, _spoken(tx, group), options, evidence)
        return _EndCase(
            thread,
            through,
            group[0].id == identity,
            policy,
            talk,
            options.candidates,
            evidence,
            apart,
            max(0.0, 1.0 - sum(one.score for one in evidence)),
            options.named,
            _together(tx, [UUID(one.thread_id) for one in evidence], options.named),
            self._linker.bare(talk.opening),
            opinions,
            question,
        )

    def _asked(self, tx: Transaction, group: Sequence[Thread]) -> str:
        """Return words to search with: what was said in the sitting, from its beginning on."""
        spans = [(t.id, 0, tx.threads.frame(t.id).next_seq - 1) for t in group]
        texts = [o.text for some in tx.observations.read(spans) for o in some]
        return " ".join(texts)[:LONGEST]

    def _write(self, tx: Transaction, case: _EndCase, now: datetime) -> None:
        identity = case.thread.id
        there: dict[UUID, Link] = {}
        for link in tx.threads.links([identity], taken_back=True):
            other = case.named.get(other_end(link, identity), other_end(link, identity))
            if other not in there or there[other].unlinked_at is not None:
                there[other] = link
        touched: set[UUID] = set()
        fresh = () if case.answer is None else case.answer.opinions
        for place, verdict in enumerate(case.verdicts):
            before = there.get(UUID(verdict.thread_id))
            gone = before is not None and _is_refuted(tx, case, verdict, before)
            asked = verdict.thread_id in fresh
            if not (gone or verdict.link or place < BEST or before is not None or asked):
                continue
            decision = _decision(case, verdict, place, before, now, gone=gone)
            tx.knowledge.decide(decision)
            after = _after(case, verdict, decision, before, now, gone=gone)
            if after is not None and (before is None or gone or holds(tx, before)):
                tx.threads.save(after)
                touched.add(other_end(after, identity))
        if touched:
            settle(tx, [identity, *sorted(touched)], now)


def _centre(talk: Talk) -> Vector | None:
    if talk.vectors is None:
        return None
    centre: Vector = talk.vectors.mean(axis=0).astype(np.float32)
    return centre


def _opinions(tx: Transaction, identity: UUID, options: Options) -> dict[str, Opinion]:
    """Return what a model thought of the candidates while the thread began, by what stands for them now."""
    opinions = opinions_of(tx.knowledge.decisions(subject=identity, type=LINK))
    return {str(options.named.get(UUID(name), name)): opinion for name, opinion in opinions.items()}


def _is_open(evidence: Sequence[LinkEvidence], opinions: Mapping[str, Opinion], policy: ChoicePolicy) -> bool:
    """Tell whether a model is to be asked of a thread that is over.

    One that was not asked yet is where the choice is in doubt: anything is not clearly unlikely, and nothing
    is sure.
    """
    if not opinions:
        return policy.doubt <= max(one.score for one in evidence) < policy.sure
    sure = {name for name, opinion in opinions.items() if opinion.confidence >= SURE}
    if any(opinions[name].related for name in sure):
        return False
    return any(one.score >= policy.drop and one.thread_id not in sure for one in evidence)


def _spoken(tx: Transaction, group: Sequence[Thread]) -> list[Observation]:
    """Return how the user began and ended a sitting."""
    spans = [(t.id, 0, tx.threads.frame(t.id).next_seq - 1) for t in group]
    turns = [o for some in tx.observations.read(spans) for o in all_own_words(some) if opens_turn(o)]
    half = LAST_TURNS // 2
    return turns if len(turns) <= LAST_TURNS else [*turns[:half], *turns[-half:]]


def _together(
    tx: Transaction, candidates: Sequence[UUID], named: Mapping[UUID, UUID]
) -> dict[str, frozenset[str]]:
    """Return for each candidate those that are in one cross-thread episode with it, itself among them."""
    held = tx.threads.joined(list(named))
    episodes: dict[UUID, set[str]] = {}
    for thread, episode in held.items():
        episodes.setdefault(episode, set()).add(str(named[thread]))
    own = {str(one): {str(one)} for one in candidates}
    for thread, episode in held.items():
        own.setdefault(str(named[thread]), set()).update(episodes[episode])
    return {name: frozenset(some) for name, some in own.items()}


def _is_refuted(tx: Transaction, case: _EndCase, verdict: LinkVerdict, before: Link) -> bool:
    """Tell whether a link that the algorithm alone made is clearly unlikely by now, or a model refuses it."""
    made_here = before.later == case.thread.id and before.unlinked_at is None
    if not made_here or before.basis in (HAND, RECALL):
        return False
    opinion = verdict.opinion
    if verdict.settled and opinion is not None and not opinion.related and opinion.confidence >= SURE:
        return True
    if verdict.support >= case.policy.drop:
        return False
    decision = stored_decision(tx, before.decision_id)
    answer = None if decision is None else decision.detail.get("llm")
    return not (isinstance(answer, Mapping) and answer.get("related"))


def _after(
    case: _EndCase,
    verdict: LinkVerdict,
    decision: Decision,
    before: Link | None,
    now: datetime,
    *,
    gone: bool,
) -> Link | None:
    """Return the link to be written; None where nothing changes.

    A link made before is as sure as it is now; one a person made, took back or asked for stays as it is.
    """
    if gone:
        return None if before is None else replace(before, unlinked_at=now)
    chosen = verdict.settled and verdict.link and verdict.label != UNCERTAIN
    sure = chosen or case.matter(verdict.thread_id) >= case.policy.end_sure
    basis = MATTER if sure else CONTINUITY
    if before is None:
        linked = verdict.link and case.first
        other = UUID(verdict.thread_id)
        return Link(other, case.thread.id, now, basis, verdict.label, decision.id) if linked else None
    if before.unlinked_at is not None or before.later != case.thread.id or before.basis in (HAND, RECALL):
        return None
    label = verdict.label if verdict.link else UNCERTAIN
    basis = basis if verdict.link else CONTINUITY
    if (before.label, before.basis) == (label, basis):
        return None
    return replace(before, label=label, basis=basis, decision_id=decision.id)


def _decision(
    case: _EndCase, verdict: LinkVerdict, place: int, before: Link | None, now: datetime, *, gone: bool
) -> Decision:
    why = {one.candidate.thread_id: list(one.candidate.why) for one in case.candidates}
    opinion = verdict.opinion
    llm: Json = None
    if case.answer is not None and verdict.thread_id in case.answer.opinions:
        llm = case.answer.as_json(verdict.thread_id)
    elif opinion is not None:
        llm = {
            "related": opinion.related,
            "confidence": opinion.confidence,
            "probability": opinion.probability,
        }
    others: list[Mapping[str, Json]] = [
        {"candidate": v.thread_id, "score": round(v.algorithmic, 6), "why": why.get(v.thread_id, [])}
        for v in case.verdicts[BEST:]
    ]
    detail: Mapping[str, Json] = {
        "stage": "end",
        "through": case.through,
        "explicit": case.thread.explicit,
        "candidate": verdict.thread_id,
        "why": why.get(verdict.thread_id, []),
        "rank": place,
        "none": round(case.none, 6),
        "matter": round(case.matter(verdict.thread_id), 6),
        "confidence": verdict.confidence,
        "disagreement": verdict.disagreement,
        "taken_back": before is not None and before.unlinked_at is not None,
        "takes_back": gone,
        "llm": llm,
        "vectors": case.talk.vectors is not None,
        "without_vectors": case.without_vectors,
    }
    return decision_of(verdict, case.thread.id, f"end-{case.through}", detail, () if place else others, now)
